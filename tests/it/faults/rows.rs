//! Every command that writes, as it is killed in [`super::killed`].

use serde_json::{Value, json};

use super::calls::begun;
use super::killed::{
    HOOK, RECORDS, Row, USUAL, WITHHELD, amended, commit, entries, killed, noted, open, other_shares, push, reflect,
    reflected, stage,
};
use crate::anchoring::clones::Clone;
use crate::anchoring::killed::finish;
use crate::rounds::ROUNDS;
use crate::store::scratch::{Scratch, text};

macro_rules! rows {
    ($($name:ident: $row:expr;)*) => {
        $(#[test]
        fn $name() {
            killed(&$row);
        })*

        /// What each row runs.
        const COMMANDS: &[&[&str]] = &[$($row.command),*];
    };
}

rows! {
    start: Row {
        command: &["--json", "start", "--intent", "try it", "--session-id", "s"],
        prepare: |_| {},
        again: |clone, row| if clone.run(&["log", "--session", "s"]).exit != Some(0) {
            finish(clone, row.command, "again");
        },
        ..RECORDS
    };
    record: Row { command: &["--json", "record", "--type", "analysis", "--content", "seen"], ..RECORDS };
    reflection_with_something_staged: Row {
        command: &["--json", "record", "--type", "reflection", "--content", "it is changed"],
        prepare: |clone| {
            open(clone);
            stage(clone);
        },
        ..RECORDS
    };
    attest: Row { command: &["--json", "attest", "something was done"], again: USUAL.again, ..RECORDS };
    end: Row { command: &["--json", "end"], prepare: reflected, again: USUAL.again, ..RECORDS };
    finalize: Row { command: &["--json", "finalize"], prepare: reflected, ..USUAL };
    anchor: Row { command: &["--json", "anchor", "--session", "s", "--commit", "HEAD"], prepare: amended, ..USUAL };
    carry: Row { command: &["--json", "carry", "--from", "HEAD@{1}", "--to", "HEAD"], prepare: amended, ..USUAL };
    cover: Row {
        command: &["--json", "cover", "HEAD", "-m", "it is changed"],
        prepare: |clone| {
            stage(clone);
            clone.git(&["commit", "--quiet", "--message", "s\n\nProof-Grade: true"]);
            push(clone);
        },
        ..USUAL
    };
    sign: Row {
        command: &["--json", "sign", "HEAD"],
        holds: |_, fresh, what| noted(fresh, "HEAD", "\"signature\"", what),
        ..USUAL
    };
    vouch: Row {
        command: &["--json", "vouch", "HEAD", "--reason", "Read line by line."],
        prepare: |clone| {
            let key = clone.signs_as("ada");
            std::fs::create_dir(clone.path.join(".proof")).unwrap();
            std::fs::write(clone.path.join(".proof/policy.toml"), "[proof]\nvouchers = [\"ada@x\"]\n").unwrap();
            std::fs::write(clone.path.join(".proof/allowed_signers"), format!("ada@x {key}\n")).unwrap();
            clone.git(&["add", ".proof"]);
            clone.git(&["commit", "--quiet", "--message", "Policy"]);
            stage(clone);
            clone.git(&["commit", "--quiet", "--message", "s\n\nProof-Grade: true"]);
            push(clone);
        },
        holds: |_, fresh, what| {
            let (exit, answer) = fresh.verdict("HEAD");
            assert_eq!((exit, text(&answer, "verdict")), (Some(0), "vouched"), "{what}: {answer}");
            noted(fresh, "HEAD", "Read line by line.", what);
        },
        ..USUAL
    };
    seal: Row { command: &["--json", "seal", "--sign"], holds: sealed_and_signed, ..USUAL };
    sign_round: Row {
        command: &["--json", "sign", "--round", "1"],
        prepare: |clone| {
            clone.json(&["seal"]);
        },
        holds: sealed_and_signed,
        ..USUAL
    };
    rounds_accept: Row {
        command: &["--json", "rounds", "accept", "origin"],
        prepare: forked,
        holds: |clone, fresh, what| assert_eq!(clone.tip(ROUNDS), fresh.tip(ROUNDS), "{what}"),
        syncs_before: false,
        ..USUAL
    };
    sync: Row { command: &["--json", "sync"], prepare: other_shares, holds: has_theirs, ..USUAL };
    sync_fetch_only: Row {
        command: &["--json", "sync", "--fetch-only"],
        prepare: other_shares,
        holds: has_theirs,
        ..USUAL
    };
    accept: Row {
        command: &["--json", "accept", "../fork"],
        prepare: |clone| {
            let fork = Clone::at(clone.scratch, "remote").clone("fork", &["--template="]);
            let head = fork.explain("theirs");
            clone.git(&["pull", "--quiet", "../fork", &head]);
            push(clone);
        },
        ..USUAL
    };
    disclose: Row {
        command: &["--json", "disclose", WITHHELD],
        prepare: |clone| {
            open(clone);
            clone.json(&["record", "--type", "analysis", "--private", "--content", "between us"]);
            commit(clone);
            reflect(clone);
            clone.json(&["finalize"]);
            push(clone);
        },
        holds: |_, fresh, what| {
            fresh.passes("HEAD");
            let shown = fresh.run(&["show", "HEAD", "--full"]);
            assert!(shown.out.contains("between us"), "{what}: {shown:?}");
        },
        ..USUAL
    };
    retain: Row {
        command: &["--json", "retain"],
        prepare: |clone| {
            clone.json(&["seal"]);
            clone.git(&["config", "proof.warmRounds", "0"]);
            clone.git(&["config", "proof.warmDays", "0"]);
        },
        holds: |clone, fresh, what| {
            let log = clone.json(&["log", "--session", "before"]);
            assert_eq!(log["entries"][0]["content"], "change a file", "{what}: {log}");
            fresh.passes("HEAD");
        },
        ..USUAL
    };
    memory_put: Row {
        command: &["--json", "memory", "put", "--key", "k", "--text", "a note"],
        holds: |clone, _, what| {
            let list = clone.json(&["memory", "list"]);
            assert!(list.to_string().contains("a note"), "{what}: {list}");
        },
        again: USUAL.again,
        ..RECORDS
    };
    memory_pack: Row {
        command: &["--json", "memory", "pack"],
        prepare: |clone| {
            open(clone);
            clone.json(&["memory", "put", "--text", "a note"]);
        },
        again: USUAL.again,
        holds: |clone, _, _| {
            clone.json(&["memory", "prove", "--text", "a note"]);
        },
        ..RECORDS
    };
    memory_drop: Row {
        command: &["--json", "memory", "drop", "1"],
        prepare: |clone| {
            open(clone);
            clone.json(&["memory", "put", "--key", "k", "--text", "a note"]);
        },
        again: |clone, row| if clone.json(&["memory", "list"]).to_string().contains("a note") {
            finish(clone, row.command, "again");
        },
        holds: |clone, _, what| {
            let list = clone.json(&["memory", "list"]);
            assert!(!list.to_string().contains("a note"), "{what}: {list}");
        },
        ..RECORDS
    };
    backup: Row {
        command: &["--json", "backup", ".git/backup"],
        again: |clone, _| {
            clone.json(&["backup", "--force", ".git/backup"]);
        },
        holds: |clone, fresh, _| {
            fresh.json(&["import", clone.path.join(".git/backup").to_str().unwrap()]);
            fresh.json(&["log", "--session", "before"]);
        },
        ..USUAL
    };
    import: Row {
        command: &["--json", "import", "../other.backup"],
        prepare: |clone| {
            let other = begun(clone.scratch, "other");
            other.explain("elsewhere");
            other.json(&["backup", "../other.backup"]);
        },
        holds: |clone, _, _| {
            clone.json(&["check", "--session", "elsewhere"]);
            clone.json(&["log", "--session", "elsewhere"]);
        },
        ..USUAL
    };
    import_from_refs: Row {
        command: &["--json", "import", "--from-refs"],
        prepare: |clone| {
            other_shares(clone);
            clone.git(&["fetch", "--quiet", "../remote", "refs/proof/evidence:refs/proof/remote/origin/evidence"]);
        },
        holds: |clone, _, _| {
            clone.json(&["log", "--session", "theirs"]);
        },
        ..USUAL
    };
    init: Row {
        command: &["--json", "init"],
        // Whatever is there of the hooks when it is killed, git can commit.
        again: |clone, row| {
            clone.git(&["commit", "--quiet", "--allow-empty", "--message", "after the kill"]);
            clone.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
            finish(clone, row.command, "again");
        },
        ..USUAL
    };
    doctor_fix: Row {
        command: &["--json", "doctor", "--fix"],
        prepare: |clone| {
            clone.git(&["update-ref", "-d", "refs/notes/proof"]);
            clone.git(&["update-ref", "-d", "refs/proof/evidence"]);
        },
        // It ends with 1 where something is not wired, such as the hooks here.
        again: |clone, row| {
            clone.run(row.command);
        },
        ..USUAL
    };
    hook_commit_msg: Row {
        command: &["hook", "commit-msg", ".git/COMMIT_EDITMSG"],
        prepare: |clone| {
            open(clone);
            stage(clone);
            std::fs::write(clone.path.join(".git/COMMIT_EDITMSG"), "s\n").unwrap();
        },
        // Git makes no commit where this hook was killed, so it is tried again.
        again: |clone, row| {
            std::fs::write(clone.path.join(".git/COMMIT_EDITMSG"), "s\n").unwrap();
            assert_eq!(clone.run(row.command).exit, Some(0));
            clone.git(&["commit", "--quiet", "--no-verify", "--file", ".git/COMMIT_EDITMSG"]);
            assert_eq!(clone.run(&["hook", "post-commit"]).exit, Some(0));
        },
        holds: |_, _, _| {},
        goes_on: true,
        ..HOOK
    };
    hook_post_commit: Row {
        command: &["hook", "post-commit"],
        prepare: |clone| {
            open(clone);
            stage(clone);
            // The hook that runs before it, called by git, has left a file that says which session the commit is for.
            clone.hook("commit-msg", &format!("exec '{}' hook commit-msg \"$1\"", env!("CARGO_BIN_EXE_git-proof")));
            clone.git(&["commit", "--quiet", "--message", "s"]);
            std::fs::remove_file(clone.path.join(".git/hooks/commit-msg")).unwrap();
            push(clone);
        },
        again: |clone, _| {
            let attested = entries(clone).iter().filter(|entry| entry["attest"].is_string()).count();
            assert_eq!(attested, 1, "sync has heard of the commit");
        },
        holds: |_, _, _| {},
        goes_on: true,
        ..HOOK
    };
    hook_post_rewrite: Row {
        command: &["hook", "post-rewrite", "amend"],
        input: |clone| format!("{} {}\n", clone.tip("HEAD@{1}").unwrap(), clone.tip("HEAD").unwrap()),
        prepare: amended,
        again: |_, _| {},
        ..HOOK
    };
    hook_pre_push: Row {
        command: &["hook", "pre-push", "origin", "../remote.run"],
        input: |clone| {
            let (head, was) = (clone.tip("HEAD").unwrap(), clone.tip("HEAD~1").unwrap());
            format!("refs/heads/main {head} refs/heads/main {was}\n")
        },
        prepare: |clone| {
            open(clone);
            commit(clone);
            reflect(clone);
            clone.json(&["finalize"]);
        },
        again: |clone, _| {
            clone.git(&["push", "--quiet", "--no-verify", "origin", "main"]);
        },
        ..HOOK
    };
    hook_of_an_agent: Row {
        command: &["hook", "claude-code"],
        input: |_| json!({"hook_event_name": "SessionStart", "session_id": "abc", "source": "startup"}).to_string(),
        again: |clone, row| {
            assert_eq!(clone.run(row.command).exit, Some(0));
        },
        ..HOOK
    };
    mcp: Row {
        command: &["mcp"],
        input: |_| {
            let call = json!({"name": "merkle_finalize", "arguments": {"session_id": "s"}});
            let version = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "tester", "version": "1"}});
            [
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": version}),
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
                json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
            ]
            .map(|line| line.to_string() + "\n")
            .concat()
        },
        prepare: reflected,
        acknowledged: |out| {
            let answers = out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            answers.into_iter().any(|answer| answer["id"] == 2 && answer["result"]["isError"] == false)
        },
        again: |clone, _| {
            clone.json(&["finalize", "--session", "s"]);
        },
        ..USUAL
    };
}

fn has_theirs(_: &Clone<'_>, fresh: &Clone<'_>, _: &str) {
    fresh.passes("origin/theirs");
}

fn sealed_and_signed(_: &Clone<'_>, fresh: &Clone<'_>, what: &str) {
    assert_eq!(fresh.sealed(), [["before"]], "{what}");
    noted(fresh, ROUNDS, "\"seal\"", what);
}

/// Two chains that were both published: the remote was wound back between.
fn forked(clone: &Clone<'_>) {
    let remote = Clone::at(clone.scratch, "remote");
    let other = remote.clone("other", &["--template="]);
    other.explain("theirs");
    other.git(&["push", "--quiet", "--no-verify", "origin", "HEAD:refs/heads/theirs"]);
    other.json(&["seal"]);
    clone.json(&["seal", "--sign"]);
    clone.git(&["config", "remote.origin.url", "../remote"]);
    clone.json(&["sync"]);
    remote.git(&["update-ref", "-d", ROUNDS]);
    other.json(&["sync"]);
    clone.git(&["config", "remote.origin.url", "../remote.run"]);
}

#[test]
fn every_command_that_writes_has_a_row() {
    /// `decide` and `done` run what `record`, the reflection and `finalize` run.
    const WITHOUT_ROW: [&str; 2] = ["decide", "done"];
    /// `policy` writes one file of the worktree, at once.
    const READ: [&str; 21] = [
        "blame",
        "check",
        "check-evidence",
        "check-proof",
        "check-transcript",
        "completions",
        "demo",
        "gate",
        "help",
        "log",
        "man",
        "policy",
        "prove",
        "report",
        "root",
        "search",
        "show",
        "status",
        "trail",
        "tree",
        "why",
    ];
    let scratch = Scratch::without_repository();
    let help = scratch.run(["--help"]);
    let listed = help.text().lines().take_while(|line| !line.starts_with("Options"));
    let named: Vec<&str> = listed
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()))
        .filter_map(|line| line.split_ascii_whitespace().next())
        .collect();
    assert!(named.len() > 30, "{named:?}");
    for command in named {
        let has_row = COMMANDS.iter().any(|row| row.iter().find(|part| **part != "--json") == Some(&command));
        let needs_none = READ.contains(&command) || WITHOUT_ROW.contains(&command) || command == "verify";
        assert!(has_row != needs_none, "{command}");
    }
}
