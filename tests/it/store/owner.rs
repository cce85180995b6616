//! Whose repository it is: every command and hook asks as git does, before it reads or writes anything.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::scratch::{Ran, Scratch, text};

/// A user that nobody is.
const STRANGER: &str = "12345";

/// Gives paths to a user, with what is below them. False where only root may do so.
fn given(scratch: &Scratch, to: &str, paths: &[&Path]) -> bool {
    let done = scratch.command("chown").args(["-R", "--no-dereference", to]).args(paths).output().unwrap();
    if !done.status.success() {
        eprintln!("left out: only root can give a repository to someone else");
    }
    done.status.success()
}

/// A repository of somebody else in which something was recorded.
fn of_a_stranger() -> Option<Scratch> {
    let scratch = Scratch::with_session();
    scratch.record("plan", "of a stranger");
    scratch.git(["commit", "--quiet", "--allow-empty", "--message", "first"]);
    given(&scratch, STRANGER, &[&scratch.place]).then_some(scratch)
}

#[test]
fn every_command_refuses_a_repository_of_someone_else() {
    let Some(scratch) = of_a_stranger() else { return };
    let before = std::fs::read(scratch.store()).unwrap();
    for arguments in [
        &["init"][..],
        &["doctor"],
        &["start", "--intent", "x"],
        &["record", "--type", "plan", "--content", "x"],
        &["attest", "x"],
        &["check"],
        &["finalize"],
        &["root"],
        &["end"],
        &["log"],
        &["log", "--all"],
        &["log", "HEAD"],
        &["show", "HEAD"],
        &["tree"],
        &["trail", "x"],
        &["search", "x"],
        &["prove", "--record", "x"],
        &["anchor"],
        &["carry", "--from", "HEAD", "--to", "HEAD"],
        &["sign"],
        &["vouch", "HEAD", "--reason", "x"],
        &["sync"],
        &["verify"],
        &["gate", "--base", "HEAD", "--head", "HEAD"],
        &["report", "HEAD", "--markdown", "-"],
        &["seal"],
        &["rounds"],
        &["retain"],
        &["backup", "../backup"],
        &["import", "../backup"],
        &["import", "--from-refs"],
        &["memory", "list"],
        &["memory", "put", "--text", "x"],
        &["memory", "pack"],
        &["policy", "explain", "HEAD"],
    ] {
        let ran = scratch.run(["--json"].iter().chain(arguments));
        assert!(ran.exit == Some(3), "{arguments:?}: {ran:?}");
        let error = ran.error("ERR_REPOSITORY_REFUSED", 3);
        assert!(text(&error, "hint").contains("safe.directory"), "{arguments:?}: {error}");
    }
    assert_eq!(std::fs::read(scratch.store()).unwrap(), before);
}

#[test]
fn every_hook_refuses_a_repository_of_someone_else() {
    let Some(scratch) = of_a_stranger() else { return };
    let sessions = scratch.rows("audit_sessions");
    let message = scratch.around().join("home/message");
    std::fs::write(&message, "a message\n").unwrap();
    let event = br#"{"hook_event_name":"SessionStart","session_id":"a-session"}"#;
    let received = format!("{} {} refs/heads/main\n", "0".repeat(40), "1".repeat(40));
    for (arguments, input) in [
        (&["hook", "commit-msg", message.to_str().unwrap()][..], &b""[..]),
        (&["hook", "post-commit"], b""),
        (&["hook", "post-rewrite", "amend"], b""),
        (&["hook", "pre-push", "origin", "nowhere"], b""),
        (&["hook", "pre-receive"], received.as_bytes()),
        (&["hook", "claude-code"], event),
    ] {
        let ran = scratch.run_with(arguments, input);
        assert!(ran.err.contains("belongs to someone else"), "{arguments:?}: {ran:?}");
    }
    assert_eq!(std::fs::read_to_string(&message).unwrap(), "a message\n");
    assert_eq!(scratch.rows("audit_sessions"), sessions);
}

#[test]
fn hook_of_an_agent_does_not_go_elsewhere_when_it_is_refused() {
    let Some(scratch) = of_a_stranger() else { return };
    let other = scratch.around().join("other");
    scratch.git(["init", "--quiet", other.to_str().unwrap()]);
    let event = format!(r#"{{"hook_event_name":"SessionStart","session_id":"a","cwd":"{}"}}"#, other.display());
    let ran = scratch.run_with(&["hook", "claude-code"], event.as_bytes());
    assert!(ran.err.contains("belongs to someone else"), "{ran:?}");
    assert!(!other.join(".git/proof").exists());
}

#[test]
fn server_of_an_agent_refuses_a_repository_of_someone_else() {
    let Some(scratch) = of_a_stranger() else { return };
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"audit_session_start","arguments":{"intent":"x"}}}"#;
    let ran = scratch.run_with(&["mcp"], format!("{initialize}\n{ready}\n{call}\n").as_bytes());
    assert!(ran.out.contains("ERR_REPOSITORY_REFUSED"), "{ran:?}");
}

/// One way in which a repository and whoever runs git can stand to each other.
struct Case {
    what: &'static str,
    /// Where git runs.
    place: PathBuf,
    /// What is given to a stranger first.
    strange: Vec<PathBuf>,
    environment: Vec<(&'static str, String)>,
    /// Run by the stranger and not by root.
    by_stranger: bool,
}

/// Runs a program where a case is.
fn run(scratch: &Scratch, case: &Case, program: &str, arguments: &[&str]) -> Ran {
    let mut command: Command = if case.by_stranger {
        let mut command = scratch.command("setpriv");
        command.args(["--reuid", STRANGER, "--regid", STRANGER, "--clear-groups", program]);
        command
    } else {
        scratch.command(program)
    };
    command.args(arguments).current_dir(&case.place).envs(case.environment.iter().cloned());
    command.output().unwrap().into()
}

/// A repository, its linked worktree, and a bare one, all of them with a store.
fn three_kinds(scratch: &Scratch) -> [PathBuf; 3] {
    let (linked, bare) = (scratch.around().join("linked"), scratch.around().join("bare"));
    scratch.git(["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    scratch.git(["init", "--quiet", "--bare", bare.to_str().unwrap()]);
    let start = ["-C", bare.to_str().unwrap(), "--json", "start", "--intent", "x", "--session-id", "bare"];
    scratch.run(start).json();
    [scratch.place.clone(), linked, bare]
}

fn cases(scratch: &Scratch) -> Vec<Case> {
    let [place, linked, bare] = three_kinds(scratch);
    let case = |what, place: &Path, strange: &[&Path]| Case {
        what,
        place: place.to_owned(),
        strange: strange.iter().map(|path| (*path).to_owned()).collect(),
        environment: Vec::new(),
        by_stranger: false,
    };
    let with = |mut case: Case, name: &'static str, value: &str| {
        case.environment.push((name, value.to_owned()));
        case
    };
    let trusting = |directories: &[&str]| {
        let name = format!("home/trusting-{}", directories.join("-").replace('/', "_"));
        let file = scratch.around().join(name);
        let lines: Vec<String> = directories.iter().map(|directory| format!("\tdirectory = {directory}\n")).collect();
        std::fs::write(&file, format!("[safe]\n{}", lines.concat())).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let dot_git = place.join(".git");
    let shown = |path: &Path| path.to_str().unwrap().to_owned();
    vec![
        case("of the user", &place, &[]),
        case("of a stranger", &place, &[&place]),
        case("below one of a stranger", &place.join(".git/objects"), &[&place]),
        case("only the git directory of a stranger", &place, &[&dot_git]),
        case("linked worktree of the user", &linked, &[]),
        case("linked worktree of a stranger", &linked, &[&linked]),
        case("linked worktree whose git directory is of a stranger", &linked, &[&dot_git.join("worktrees")]),
        case("bare of the user", &bare, &[]),
        case("bare of a stranger", &bare, &[&bare]),
        with(case("root for the stranger", &place, &[&place]), "SUDO_UID", STRANGER),
        with(case("root for someone else", &place, &[&place]), "SUDO_UID", "54321"),
        with(case("root for no number", &place, &[&place]), "SUDO_UID", "12345x"),
        with(case("root for a stranger in its own", &place, &[]), "SUDO_UID", STRANGER),
        with(case("named", &place, &[&place]), "GIT_DIR", &shown(&dot_git)),
        with(case("trusted", &place, &[&place]), "GIT_CONFIG_GLOBAL", &trusting(&[&shown(&place)])),
        with(case("all trusted", &place, &[&place]), "GIT_CONFIG_GLOBAL", &trusting(&["*"])),
        with(case("trusted no more", &place, &[&place]), "GIT_CONFIG_GLOBAL", &trusting(&["*", ""])),
        with(case("another trusted", &place, &[&place]), "GIT_CONFIG_GLOBAL", &trusting(&[&shown(&bare)])),
        with(case("linked trusted", &linked, &[&linked]), "GIT_CONFIG_GLOBAL", &trusting(&[&shown(&linked)])),
        with(case("bare trusted", &bare, &[&bare]), "GIT_CONFIG_GLOBAL", &trusting(&[&shown(&bare)])),
        Case { by_stranger: true, ..case("of root", &place, &[]) },
        Case { by_stranger: true, ..case("of the one who runs it", &place, &[scratch.around()]) },
    ]
}

#[test]
fn repository_is_refused_exactly_where_git_refuses_it() {
    let scratch = Scratch::with_session();
    scratch.git(["commit", "--quiet", "--allow-empty", "--message", "first"]);
    // Others may enter and read: what is tested is whose it is, and not what the file system allows.
    let around = scratch.around().to_owned();
    let open =
        |mode: &str| assert!(scratch.command("chmod").args(["-R", mode]).arg(&around).status().unwrap().success());
    let mut refused = 0;
    for case in cases(&scratch) {
        open("a+rwX");
        if !given(&scratch, "0", &[&around]) || case.strange.iter().any(|path| !given(&scratch, STRANGER, &[path])) {
            return;
        }
        let git = run(&scratch, &case, "git", &["rev-parse", "--git-dir"]);
        let ours = run(&scratch, &case, env!("CARGO_BIN_EXE_git-proof"), &["--json", "log", "--all"]);
        match git.exit {
            Some(0) => assert_eq!(ours.exit, Some(0), "{}: {ours:?}", case.what),
            _ => {
                refused += 1;
                assert!(git.err.contains("dubious ownership"), "{}: {git:?}", case.what);
                assert_eq!(ours.error("ERR_REPOSITORY_REFUSED", 3)["code"], "ERR_REPOSITORY_REFUSED", "{}", case.what);
            }
        }
    }
    assert!(refused >= 10, "{refused}");
}

#[test]
fn repository_of_the_user_is_opened_without_asking_git() {
    let scratch = Scratch::with_session();
    let mut command = scratch.proof(["--json", "log", "--all"]);
    let ran: Ran = command.env("PATH", scratch.around()).output().unwrap().into();
    ran.json();
}
