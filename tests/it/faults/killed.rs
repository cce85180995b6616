//! `kill -9` at any write of any command that writes, or of a git process below it; then `sync`. What was acknowledged is
//! proven in a fresh clone, with no step by hand but removing a lock that git left and that `sync` names. One row a command.
//!
//! `GIT_PROOF_TEST_KILLS` says how many moments of each command are tried (a large number: all of them), and
//! `GIT_PROOF_TEST_SEED` which.

use serde_json::{Value, json};

use super::calls::begun;
use super::points::{Point, Victim};
use crate::anchoring::clones::Clone;
use crate::anchoring::killed::{again, finish};
use crate::rounds::ROUNDS;
use crate::store::scratch::{Dice, Scratch, no_strace, text};

/// A command that writes.
struct Row {
    /// Its arguments.
    command: &'static [&'static str],
    /// What it reads.
    input: fn(&Clone<'_>) -> String,
    /// Makes the state in which it runs. Session `before` and its commit are there, acknowledged and not shared yet.
    prepare: fn(&Clone<'_>),
    /// Whether the command said that it did its work. That must be there after `sync`, as `holds` says.
    acknowledged: fn(&str) -> bool,
    /// Runs the command again where it was not acknowledged.
    again: fn(&Clone<'_>, &Row),
    /// What must hold of an acknowledged command, in its clone (first) and in a fresh one.
    holds: fn(&Clone<'_>, &Clone<'_>, &str),
    /// Whether session `s` is brought to its end afterwards, so that the commit at HEAD is proven in the fresh clone.
    goes_on: bool,
    /// Whether `sync` can do its work before the command is run again: two chains of rounds stay apart until one is accepted.
    syncs_before: bool,
}

/// A command that prints JSON, that can be run again, and after which the commit at HEAD is proven.
const USUAL: Row = Row {
    command: &[],
    input: |_| String::new(),
    prepare: |_| {},
    acknowledged: |out| serde_json::from_str::<Value>(out).is_ok(),
    again: |clone, row| {
        finish(clone, row.command, "again");
    },
    holds: |_, fresh, _| fresh.passes("HEAD"),
    goes_on: false,
    syncs_before: true,
};

/// A command that records the text behind `--content` in session `s`, which goes on.
const RECORDS: Row = Row {
    prepare: open,
    again: |clone, row| {
        if !row.is_done(clone) {
            finish(clone, row.command, "again");
        }
    },
    holds: |_, _, _| {},
    goes_on: true,
    ..USUAL
};

/// A hook of git. Only its exit code says that it is done, so it counts as not acknowledged.
const HOOK: Row = Row { acknowledged: |_| false, ..USUAL };

impl Row {
    /// Whether the entry that a killed command was to record is there: then it is not run again.
    fn is_done(&self, clone: &Clone<'_>) -> bool {
        let Some(text) = self.command.iter().skip_while(|part| **part != "--content").nth(1) else { return false };
        entries(clone).iter().any(|entry| entry["content"] == **text)
    }
}

/// The entries of session `s`.
fn entries(clone: &Clone<'_>) -> Vec<Value> {
    let ran = clone.run(&["--json", "log", "--session", "s"]);
    if ran.exit == Some(0) { ran.json()["entries"].as_array().unwrap().clone() } else { Vec::new() }
}

fn open(clone: &Clone<'_>) {
    clone.json(&["start", "--intent", "try it", "--session-id", "s"]);
    clone.json(&["record", "--type", "plan", "--content", "change a file"]);
}

/// Stages a file that is new.
fn stage(clone: &Clone<'_>) {
    std::fs::write(clone.path.join("s"), "s\n").unwrap();
    clone.git(&["add", "s"]);
}

/// The commit of session `s`, of which the session has heard.
fn commit(clone: &Clone<'_>) {
    stage(clone);
    clone.git(&["commit", "--quiet", "--message", "s"]);
    assert_eq!(clone.run(&["hook", "post-commit"]).exit, Some(0));
}

fn reflect(clone: &Clone<'_>) {
    clone.json(&["record", "--session", "s", "--type", "reflection", "--content", "it is changed"]);
}

/// A session with its commit and its reflection.
fn reflected(clone: &Clone<'_>) {
    open(clone);
    commit(clone);
    reflect(clone);
    push(clone);
}

/// A finalized session whose commit was amended and then pushed by somebody without hooks.
fn amended(clone: &Clone<'_>) {
    reflected(clone);
    clone.json(&["finalize"]);
    clone.git(&["commit", "--quiet", "--amend", "--message", "in other words"]);
    push(clone);
}

/// Pushes from the state that is being prepared, which is not the one that the remote of a clone names.
fn push(clone: &Clone<'_>) {
    clone.git(&["push", "--quiet", "--force", "--no-verify", "../remote", "main"]);
}

/// Brings session `s` to its end from wherever it is, and pushes its commit.
fn conclude(clone: &Clone<'_>) {
    if entries(clone).is_empty() && clone.run(&["log", "--session", "s"]).exit != Some(0) {
        clone.json(&["start", "--intent", "try it", "--session-id", "s"]);
    }
    if clone.git(&["log", "-1", "--format=%s"]) != "s" {
        commit(clone);
    }
    if !entries(clone).iter().any(|entry| entry["type"] == "reflection") {
        reflect(clone);
    }
    clone.json(&["finalize", "--session", "s"]);
    clone.git(&["push", "--quiet", "--no-verify", "origin", "main"]);
}

/// Another clone, which has shared a session of its own with the remote.
fn other_shares(clone: &Clone<'_>) {
    let other = Clone::at(clone.scratch, "remote").clone("other", &["--template="]);
    other.explain("theirs");
    other.git(&["push", "--quiet", "--no-verify", "origin", "HEAD:refs/heads/theirs"]);
    other.json(&["sync"]);
}

/// That the word stands in the note of HEAD, once.
fn noted(clone: &Clone<'_>, commit: &str, word: &str, what: &str) {
    let lines = clone.notes().remove(&clone.tip(commit).unwrap()).unwrap_or_default();
    assert_eq!(lines.iter().filter(|line| line.contains(word)).count(), 1, "{what}: {word} in {lines:?}");
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |value| value.parse().unwrap())
}

/// Kills the command of a row at as many of its moments as are asked for.
fn killed(row: &Row) {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let repo = begun(&scratch, "repo");
    Clone::init(&scratch, "remote", &["--bare", "--template="]);
    repo.git(&["remote", "add", "origin", "../remote.run"]);
    repo.signs_as("ada");
    let before = repo.explain("before");
    push(&repo);
    (row.prepare)(&repo);

    let mut victim = Victim { scratch: &scratch, arguments: row.command, input: String::new(), threads: false };
    victim.threads = row.command == ["mcp"];
    let fresh_copy = || {
        again(&scratch, &["repo", "remote"]);
        Clone::at(&scratch, "repo.run")
    };
    let clone = fresh_copy();
    victim.input = (row.input)(&clone);
    let (ran, mut points) = victim.watch(&clone);
    assert!((row.acknowledged)(&ran.out) || ran.exit == Some(0), "{:?}: {ran:?}", row.command);
    points.extend(victim.watch_git(&fresh_copy()));
    assert!(points.len() > 1, "{:?} writes nothing", row.command);

    let seed = setting("GIT_PROOF_TEST_SEED", 20_261_118);
    let wanted = usize::try_from(setting("GIT_PROOF_TEST_KILLS", 1)).unwrap().min(points.len());
    let mut dice = Dice(seed);
    let all = points.len();
    let (mut kills, mut locks) = (0, 0);
    for _ in 0..wanted {
        let point = points.swap_remove(usize::try_from(dice.below(points.len() as u64)).unwrap());
        let what = format!("{:?} killed at {point:?}, seed {seed}", row.command);
        let clone = fresh_copy();
        let (ran, hit) = victim.kill(&clone, &point);
        kills += usize::from(hit);
        assert_ne!(ran.exit, Some(101), "{what}: {ran:?}");
        locks += after(row, &clone, &before, (&point, (row.acknowledged)(&ran.out)), &what);
    }
    eprintln!("{kills} kills of {:?} at {wanted} of {all} moments, seed {seed}; git left {locks} locks", row.command);
}

/// What must hold after a kill. The answer is how many locks git had left.
fn after(row: &Row, clone: &Clone<'_>, before: &str, (point, acknowledged): (&Point, bool), what: &str) -> usize {
    let scratch = clone.scratch;
    let _ = std::fs::remove_dir_all(scratch.around().join("fresh")); // the first time there is none
    if !acknowledged && !row.syncs_before {
        (row.again)(clone, row);
    }
    let locks = finish(clone, &["--json", "sync"], what);
    assert!(locks == 0 || point.child.is_some(), "{what}: a lock is named, and no git was killed");
    let fresh = Clone::at(scratch, "remote.run").clone("fresh", &["--template="]);
    fresh.json(&["sync"]);
    fresh.passes(before);
    let share = || {
        finish(clone, &["--json", "sync"], what);
        fresh.git(&["fetch", "--quiet"]);
        fresh.git(&["reset", "--quiet", "--hard", "origin/main"]);
        fresh.json(&["sync"]);
    };
    if !acknowledged {
        (row.again)(clone, row);
        share();
    }
    (row.holds)(clone, &fresh, what);
    if row.goes_on {
        conclude(clone);
        share();
        fresh.passes("HEAD");
    }
    let check = clone.run(&["check", "--session", "before"]);
    assert_eq!(check.exit, Some(0), "{what}: {check:?}");
    locks
}

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
    /// `decide` and `done` run what `record`, the reflection and `finalize` run. `disclose` takes the id of a record, which is
    /// random, and publishes through what `sync` runs. So does `accept`, which acknowledges nothing before that.
    const WITHOUT_ROW: [&str; 4] = ["accept", "decide", "disclose", "done"];
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
