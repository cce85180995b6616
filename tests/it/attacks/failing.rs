//! Whatever goes wrong while judging, it does not end as a yes.

use std::process::Command;

use super::Proven;
use crate::store::scratch::Ran;

/// A repository whose proof is broken: nothing may end in 0.
fn broken() -> Proven {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines[3] = lines[3].replace("nothing", "everything");
    proven.set_evidence(&lines);
    proven.gate().fails("CHAIN_BROKEN");
    proven
}

/// Runs the gate by a shell, which may take something from it before.
fn shell(proven: &Proven, before: &str, after: &str) -> Option<i32> {
    let program = env!("CARGO_BIN_EXE_git-proof");
    let script = format!("{before}; exec {program} gate --base {} --head HEAD {after}", proven.base);
    let mut command: Command = proven.scratch.command("sh");
    command.args(["-c", &script]).output().unwrap().status.code()
}

#[test]
fn answer_that_cannot_be_written_is_no_yes() {
    let proven = Proven::new();
    assert_eq!(shell(&proven, "true", ""), Some(0));
    for after in ["> /dev/full", "--json > /dev/full"] {
        let code = shell(&proven, "true", after);
        assert!(code != Some(0), "{after}: {code:?}");
    }
}

#[test]
fn closed_pipe_is_no_yes() {
    let proven = Proven::new();
    let program = env!("CARGO_BIN_EXE_git-proof");
    // The reader is gone before anything is written.
    let script =
        format!("{{ sleep 0.2; {program} --json gate --base {} --head HEAD; echo $? >&2; }} | true", proven.base);
    let ran: Ran = proven.scratch.command("sh").args(["-c", &script]).output().unwrap().into();
    let code = ran.err.lines().last().unwrap_or_default().to_owned();
    assert!(code != "0", "{ran:?}");
}

#[test]
fn memory_that_runs_out_is_no_yes() {
    let proven = broken();
    for kilobytes in [2_000, 8_000, 16_000, 24_000, 32_000, 48_000, 64_000, 96_000, 128_000] {
        let code = shell(&proven, &format!("ulimit -v {kilobytes}"), "");
        assert!(code != Some(0), "{kilobytes}: {code:?}");
    }
}

#[test]
fn files_processes_and_time_that_run_out_are_no_yes() {
    let proven = broken();
    for limit in
        ["ulimit -n 3", "ulimit -n 5", "ulimit -n 8", "ulimit -n 12", "ulimit -s 64", "ulimit -f 0", "ulimit -t 0"]
    {
        let code = shell(&proven, limit, "");
        assert!(code != Some(0), "{limit}: {code:?}");
    }
}

#[test]
fn git_that_cannot_be_run_is_no_yes() {
    let proven = broken();
    for path in ["/nowhere", ""] {
        let mut command = proven.scratch.proof(["verify", &format!("{}..{}", proven.base, proven.head)]);
        let ran: Ran = command.env("PATH", path).output().unwrap().into();
        assert!(matches!(ran.exit, Some(3 | 4)), "{ran:?}");
        // A gate over a short, straight range does not need it.
        let mut command = proven.scratch.proof(["gate", "--base", &proven.base, "--head", &proven.head]);
        let ran: Ran = command.env("PATH", path).output().unwrap().into();
        assert_eq!(ran.exit, Some(1), "{ran:?}");
    }
}

#[test]
fn git_that_fails_or_lies_by_its_status_is_no_yes() {
    use std::os::unix::fs::PermissionsExt as _;
    let proven = broken();
    let folder = proven.scratch.around().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let git = folder.join("git");
    for script in ["exit 1", "exit 128", "kill -9 $$", "echo nonsense", "exit 0"] {
        std::fs::write(&git, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = proven.scratch.proof(["gate", "--base", &proven.base, "--head", &proven.head]);
        let ran: Ran = command.env("PATH", &folder).output().unwrap().into();
        assert!(!matches!(ran.exit, Some(0 | 101) | None), "{script}: {ran:?}");
    }
}

#[test]
fn damaged_repository_is_no_yes() {
    for (file, content) in [
        (".git/packed-refs", "garbage\n"),
        (".git/HEAD", "garbage\n"),
        (".git/config", "[core\n"),
        (".git/refs/notes/proof", "garbage\n"),
        (".git/refs/notes/proof", ""),
        (".git/refs/proof/evidence", "0000000000000000000000000000000000000000\n"),
        (".git/objects/info/commit-graph", "CGPH garbage"),
    ] {
        let proven = broken();
        proven.write(file, content);
        let judged = proven.gate();
        assert!(!matches!(judged.exit, Some(0 | 101) | None), "{file}: {judged:?}");
    }
}

#[test]
fn damaged_store_changes_no_verdict() {
    let proven = Proven::new();
    let before = proven.gate();
    for content in [&b"garbage"[..], b"", b"SQLite format 3\0garbage"] {
        std::fs::write(proven.scratch.store(), content).unwrap();
        let after = proven.gate();
        assert_eq!((after.exit, &after.said), (before.exit, &before.said), "{after:?}");
    }
}

#[test]
fn range_that_cannot_be_resolved_is_no_yes() {
    let proven = broken();
    let zeros = "0".repeat(40);
    for (base, head) in [
        ("nowhere", "HEAD"),
        ("HEAD", "nowhere"),
        (&*zeros, "HEAD"),
        ("--all", "HEAD"),
        ("", "HEAD"),
        ("HEAD^{tree}", "HEAD"),
    ] {
        let base = format!("--base={base}");
        let judged = proven.judge(&["gate", &base, &format!("--head={head}")]);
        assert!(!matches!(judged.exit, Some(0 | 101) | None), "{base} {head}: {judged:?}");
    }
}

#[test]
fn panic_on_the_way_is_no_yes() {
    let proven = Proven::new();
    let (tree, mut tip) = (proven.tip("HEAD^{tree}"), proven.head.clone());
    let mut stream = String::new();
    for number in 0..300 {
        stream.push_str(&format!("commit refs/heads/long\ncommitter A <a@x> {number} +0000\ndata 1\nx\n"));
        stream.push_str(&if number == 0 { format!("from {tip}\nM 040000 {tree} \n") } else { String::new() });
    }
    proven.git_with(&["fast-import", "--quiet"], stream);
    tip = proven.tip("refs/heads/long");
    let gate = |stack: Option<&str>| -> Ran {
        let mut command = proven.scratch.proof(["--json", "gate", "--base", &proven.base, "--head", &tip]);
        command.envs(stack.map(|stack| ("RUST_MIN_STACK", stack)));
        command.output().unwrap().into()
    };
    let whole = gate(None);
    assert_eq!(whole.exit, Some(0), "{whole:?}");
    // No system has a stack of this size for a second thread, and whoever asks for one panics.
    let ran = gate(Some("140737488355328"));
    assert!(ran.exit == Some(101) && ran.out.is_empty() || ran.exit == Some(0) && ran.out == whole.out, "{ran:?}");
}
