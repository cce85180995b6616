//! One readable line for `git log`, in this clone alone.

use super::project::Project;

/// A project that shows why, with a session whose reflection is this.
fn shown(reflection: &str) -> Project {
    let project = Project::new();
    project.git(["config", "--unset-all", "notes.displayRef"]);
    project.git(["config", "--add", "notes.displayRef", "refs/notes/proof-why"]);
    project.start("s");
    project.edit(10, "changed");
    project.commit("title");
    project.proof(&["record", "--type", "reflection", "--content", reflection]);
    project.proof(&["finalize"]);
    project
}

/// What `git log` shows below the message.
fn why(project: &Project) -> Vec<String> {
    let log = project.git(["log", "-1", "--format=%N"]);
    log.lines().map(str::to_owned).collect()
}

#[test]
fn log_shows_one_readable_line() {
    let project = shown("Quoted the name,\nbecause it may\thave spaces.");
    let log = project.git(["log", "-1"]);
    assert!(log.contains("Notes (proof-why):"), "{log}");
    let why = why(&project);
    assert_eq!(why.len(), 1, "{why:?}");
    assert!(why[0].starts_with("Quoted the name, because it may have spaces. ["), "{why:?}");
}

#[test]
fn set_up_by_init_it_is_shown_too() {
    let project = Project::new();
    project.prove("s", 10);
    let why = why(&project);
    assert!(why[0].starts_with("It works; nothing else was tried. ["), "{why:?}");
}

#[test]
fn nothing_in_the_line_acts_on_a_terminal() {
    let project = shown("red \u{1b}[31malert\u{1b}[0m \u{7}bell \u{202e}turned \r over \u{9b}1m");
    let why = why(&project);
    assert!(
        why[0].starts_with("red \\u{1b}[31malert\\u{1b}[0m \\u{7}bell \\u{202e}turned over \\u{9b}1m ["),
        "{why:?}"
    );
}

#[test]
fn line_follows_a_rebase() {
    let project = shown("It follows.");
    project.git(["branch", "topic"]);
    project.git(["reset", "--quiet", "--hard", "HEAD~1"]);
    project.edit(30, "main goes on");
    project.commit("on main");
    assert_eq!(why(&project), [""; 0]);
    project.rewrite(&["rebase", "--quiet", "main", "topic"]);
    assert!(why(&project)[0].starts_with("It follows. ["));
}

#[test]
fn line_is_written_only_where_it_is_asked_for() {
    let project = Project::new();
    project.git(["config", "--unset-all", "notes.displayRef"]);
    project.prove("s", 10);
    assert_eq!(project.git(["for-each-ref", "refs/notes/proof-why"]), "");
}

#[test]
fn line_is_never_pushed() {
    let project = shown("It stays.");
    project.git(["push", "--quiet", "origin", "main"]);
    project.proof(&["sync"]);
    let refs = project.git(["ls-remote", "origin"]);
    assert!(refs.contains("refs/notes/proof") && !refs.contains("proof-why"), "{refs}");
}
