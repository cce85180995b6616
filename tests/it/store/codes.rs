//! Every code can happen, and docs/errors.md lists exactly those that there are.

use std::collections::BTreeSet;

use git_proof::error::Code;

use super::scratch::{Ran, Scratch, text};

/// Drives the program into every error that there is.
fn provoke() -> Vec<Ran> {
    let mut ran = Vec::new();
    let outside = Scratch::without_repository();
    ran.push(outside.run(["--json", "log"]));
    ran.push(outside.run(["--json", "check-proof", "nowhere"]));
    std::fs::write(outside.place.join("empty"), "").unwrap();
    ran.push(outside.run(["--json", "check-proof", "empty"]));
    ran.push(outside.run(["--json", "check-evidence", "empty"]));

    let scratch = Scratch::new();
    ran.push(scratch.run(["--json", "log"]));
    scratch.start("s", &[]);
    let mut run = |arguments: &[&str]| ran.push(scratch.run(["--json"].iter().chain(arguments)));
    run(&["record", "--type", "fact", "--content", "x"]);
    run(&["start", "--intent", "x", "--session-id", "s"]);
    run(&["log", "--session", "nowhere"]);
    run(&["finalize"]);
    run(&["memory", "pack"]);
    run(&["root"]);
    run(&["show", "nobody"]);
    run(&["record", "--type", "plan", "--content", "x", "--parent", "nobody"]);
    run(&["start", "--intent", &"x".repeat(70_000)]);
    run(&["attest", &["gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat()]);
    let entry = scratch.record("plan", "x");
    run(&["finalize"]);
    std::fs::write(scratch.place.join("proof"), &scratch.run(["prove", "--record", text(&entry, "id")]).out).unwrap();
    run(&["check-proof", "proof"]);
    run(&["end"]);
    run(&["attest", "x"]);
    scratch.start("done", &["--not-proof-grade"]);
    scratch.record("plan", "x");
    scratch.json(&["finalize"]);
    run(&["attest", "x"]);

    std::fs::write(scratch.place.join(".mcp.json"), "{").unwrap();
    run(&["init", "--agent", "claude-code"]);

    let other = scratch.database();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut waiting = scratch.proof(["--json", "end"]);
    ran.push(waiting.env("GIT_PROOF_PATIENCE", "10").output().unwrap().into());
    drop(other);
    let backup = scratch.around().join("backup");
    scratch.json(&["backup", backup.to_str().unwrap()]);
    let other = Scratch::with_session();
    ran.push(other.run(["--json", "import", backup.to_str().unwrap()]));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    ran.push(scratch.proof(["--json", "log"]).stdout(full).output().unwrap().into());
    scratch.without_triggers().execute("UPDATE thought_records SET chain_hash = zeroblob(32)", []).unwrap();
    ran.push(scratch.run(["--json", "check"]));
    scratch.database().pragma_update(None, "user_version", 99).unwrap();
    ran.push(scratch.run(["--json", "check"]));
    std::fs::write(scratch.store(), "no store at all, whatever its name may say".repeat(9)).unwrap();
    ran.push(scratch.run(["--json", "check"]));
    ran
}

/// The same for what git has to say.
fn provoke_git() -> Vec<Ran> {
    let mut ran = Vec::new();
    let scratch = Scratch::new();
    let run = |arguments: &[&str]| {
        let mut command = scratch.proof(["--json"].iter().chain(arguments));
        Ran::from(command.env("GIT_PROOF_PATIENCE", "10").output().unwrap())
    };
    let commit = |message: &str| scratch.git(["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", message]);
    std::fs::write(scratch.place.join("file"), "x").unwrap();
    scratch.git(["add", "file"]);
    commit("first");
    scratch.start("s", &["--not-proof-grade"]);
    scratch.record("plan", "x");
    scratch.json(&["finalize"]);
    ran.push(run(&["verify", "nowhere"]));
    scratch.git(["branch", "twice"]);
    let other = scratch.git(["commit-tree", "HEAD^{tree}", "-m", "other"]);
    scratch.git(["tag", "twice", other.trim_end()]);
    ran.push(run(&["verify", "twice"]));
    std::fs::write(scratch.place.join("long"), "line\n".repeat(1 << 20)).unwrap();
    let long = scratch.git(["commit-tree", "HEAD^{tree}", "-F", "long"]);
    ran.push(run(&["cover", long.trim_end()]));
    std::fs::remove_file(scratch.place.join("long")).unwrap();
    scratch.git(["remote", "add", "gone", "../gone"]);
    ran.push(run(&["sync", "gone"]));
    scratch.git(["remote", "remove", "gone"]);
    std::fs::write(scratch.place.join(".git/refs/proof"), "no directory").unwrap();
    ran.push(run(&["anchor"]));
    std::fs::remove_file(scratch.place.join(".git/refs/proof")).unwrap();
    let tree = scratch.git(["rev-parse", "HEAD^{tree}"]).trim().to_owned();
    let object = scratch.place.join(".git/objects").join(&tree[..2]).join(&tree[2..]);
    let kept = std::fs::read(&object).unwrap();
    std::fs::remove_file(&object).unwrap();
    ran.push(run(&["anchor"]));
    std::fs::write(&object, "no object").unwrap();
    ran.push(run(&["anchor"]));
    std::fs::remove_file(&object).unwrap();
    std::fs::write(&object, kept).unwrap();
    std::fs::create_dir(scratch.place.join(".proof")).unwrap();
    std::fs::write(scratch.place.join(".proof/policy.toml"), "[proof]\nrootd = true\n").unwrap();
    scratch.git(["add", ".proof"]);
    commit("policy");
    ran.push(run(&["verify", "--rules", "HEAD"]));
    scratch.start("open", &[]);
    ran.push(run(&["seal"]));
    scratch.git(["config", "core.repositoryFormatVersion", "1"]);
    scratch.git(["config", "extensions.unheardOf", "true"]);
    ran.push(run(&["verify"]));
    ran
}

/// The same for chains of rounds that were tampered with.
fn provoke_rounds() -> Vec<Ran> {
    let scratch = Scratch::new();
    let repo = crate::rounds::with_rounds(&scratch, 2);
    scratch.git(["update-ref", "refs/proof/rounds", "refs/proof/rounds~1"]);
    let (rolled_back, no_such) = (repo.run(&["--json", "seal"]), repo.run(&["--json", "rounds", "show", "7"]));
    scratch.git(["update-ref", "refs/proof/rounds", "HEAD"]);
    vec![rolled_back, no_such, repo.run(&["--json", "seal"])]
}

/// The same for an anchor that stands on another commit than its own.
fn provoke_left_out() -> Vec<Ran> {
    let scratch = Scratch::new();
    let repo = crate::rounds::with_rounds(&scratch, 1);
    std::fs::remove_dir_all(scratch.place.join(".git/proof")).unwrap();
    let notes = scratch.git(["notes", "--ref=proof", "list"]);
    let line = notes.lines().find_map(|line| {
        let text = scratch.git(["notes", "--ref=proof", "show", line.split(' ').nth(1)?]);
        text.contains("\"anchored_at\"").then_some(text)
    });
    scratch.git(["update-ref", "-d", "refs/proof/rounds"]);
    scratch.git(["update-ref", "-d", "refs/notes/proof"]);
    scratch.git(["commit", "--quiet", "--allow-empty", "-m", "another"]);
    scratch.git(["notes", "--ref=proof", "add", "-m", line.unwrap().trim_end(), "HEAD"]);
    vec![repo.run(&["--json", "seal"])]
}

/// The same for an archive that is gone.
fn provoke_archives() -> Vec<Ran> {
    let scratch = crate::retention::with_cold(&["one", "two"]);
    std::fs::remove_dir_all(scratch.place.join(".git/proof/archive")).unwrap();
    vec![scratch.run(["--json", "log", "--session", "one"])]
}

/// The same for what nobody should vouch for.
fn provoke_vouch() -> Vec<Ran> {
    let scratch = Scratch::new();
    let commit = |message: &str| scratch.git(["commit", "--quiet", "--allow-empty", "-m", message]);
    commit("first");
    scratch.start("s", &["--not-proof-grade"]);
    scratch.record("plan", "x");
    scratch.json(&["finalize"]);
    scratch.json(&["anchor"]);
    scratch.git(["branch", "topic"]);
    commit("squashed\n\nProof-Grade: true");
    scratch.git(["checkout", "--quiet", "topic"]);
    commit("unproven\n\nProof-Grade: true");
    vec![scratch.run(["--json", "vouch", "main", "--for", "main..topic", "--reason", "x"])]
}

/// The codes of signatures that cannot be made, whatever the settings of who runs the test: with git's other format, and
/// with a key that is not there.
fn unsigned() -> [String; 2] {
    [["openpgp", "x"], ["ssh", "/nowhere/key"]].map(|[format, key]| {
        let scratch = Scratch::new();
        scratch.git(["config", "gpg.format", format]);
        scratch.git(["config", "user.signingkey", key]);
        let error = git_proof::git::sign(&git_proof::context::Context::new(scratch.place.clone()), b"x").unwrap_err();
        assert!(error.hint.is_some_and(|hint| !hint.to_string().is_empty()));
        error.code.as_str().to_owned()
    })
}

#[test]
fn every_code_is_reached_with_its_exit_code_and_a_hint() {
    let mut reached = BTreeSet::new();
    let all = provoke().into_iter().chain(provoke_git()).chain(provoke_rounds()).chain(provoke_left_out());
    for ran in all.chain(provoke_archives()).chain(provoke_vouch()) {
        if ran.exit == Some(0) {
            continue;
        }
        let error: serde_json::Value = serde_json::from_str(&ran.err).unwrap_or_else(|_| panic!("{ran:?}"));
        let name = text(&error["error"], "code").to_owned();
        let code = Code::ALL.iter().find(|code| code.as_str() == name).unwrap_or_else(|| panic!("{name} is no code"));
        ran.error(&name, i32::from(code.exit_code()));
        reached.insert(name);
    }
    // No command signs yet.
    reached.extend(unsigned());
    let missing: Vec<&str> =
        Code::ALL.iter().map(|code| code.as_str()).filter(|code| !reached.contains(*code)).collect();
    assert!(missing.is_empty(), "not reached: {missing:?}");
}

#[test]
fn page_of_errors_lists_exactly_the_codes_with_their_exit_codes() {
    let page = include_str!("../../../docs/errors.md");
    let listed: Vec<(String, String)> = page
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, code, exit, meaning, remedy, _] = cells[..] else { return None };
            let code = code.strip_prefix('`')?.strip_suffix('`')?;
            assert!(!meaning.is_empty() && !remedy.is_empty(), "{code}");
            Some((code.to_owned(), exit.to_owned()))
        })
        .collect();
    let codes: Vec<(String, String)> =
        Code::ALL.iter().map(|code| (code.as_str().to_owned(), code.exit_code().to_string())).collect();
    assert_eq!(listed, codes);
}
