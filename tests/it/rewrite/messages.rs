//! `commit-msg`: the message says which session explains the commit, in the place and the words of git itself.

use super::project::Project;
use crate::store::scratch::Ran;

/// Messages of every shape that people and tools write.
const MESSAGES: &[&str] = &[
    "title\n",
    "title",
    "title\n\nbody\n",
    "title\n\nbody",
    "title\n\nbody\n\n\n",
    "title\nsecond line\n",
    "title\n\nSigned-off-by: Ada <ada@example.org>\n",
    "title\n\nSigned-off-by: Ada <ada@example.org>",
    "title\n\nbody\n\nCo-authored-by: Ada <a@example.org>\nCo-authored-by: Eve <e@example.org>\n",
    "title\n\nCo-authored-by: Ada <a@example.org>\n  and a second line\n",
    "title\n\nReviewed-by: Ada\nthis is no trailer\n",
    "title\n\nSigned-off-by: Ada\nthis is no trailer\nnor this\nnor this\nnor this\n",
    "Fixes: 12\n",
    "Fixes: 12\nCloses: 13\n",
    "title\n\n---\nafter the divider\n",
    "title\n\nFixes: 12\n---\n file | 2 +-\n",
    "title\n\nbody\n# a comment\n# another\n",
    "title\n\nFixes: 12\n# a comment\n",
    "# before\ntitle\n\nbody\n",
    "title\n\nFixes: 12\n\n# Please enter the commit message\n#\n# Changes:\n",
    "title\n\nbody\n# ------------------------ >8 ------------------------\n# below\ndiff --git a/x b/x\n+Fixes: 1\n",
    "title\n# ------------------------ >8 ------------------------\ndiff --git a/x b/x\n",
    "title\r\n\r\nbody\r\n",
    "title\r\n\r\nFixes: 12\r\n",
    "title\n\nbody\n\nConflicts:\n\tfile\n",
    "title\n\n(cherry picked from commit 0123456789012345678901234567890123456789)\n",
    "title\n\nhttps://example.org/path: not a trailer\n",
    "title\n\nProof-Session: s\n",
    "title\n\nproof-session: s\n",
    "title\n\nProof-Session: other\n",
    "title\n\nProof-Session: s\nSigned-off-by: Ada\n",
    "Ünïcödé ✓\n\nBody with ✓\n\nAcked-by: Zoë <z@example.org>\n",
    "\n\ntitle after blank lines\n",
    "title\n   \nbody after a line of blanks\n",
];

fn plain_hook(project: &Project, message: &str) -> String {
    project.write("message", message);
    let ran = project.try_proof(&["hook", "commit-msg", "message"]);
    assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""), "{message:?}");
    project.read("message")
}

/// The hook of `git -c … commit`: settings come by the environment.
fn hook_with(project: &Project, message: &str, settings: &[&str]) -> String {
    project.write("message", message);
    let mut command = project.command("git");
    command.args(settings).args(["-c", "alias.as-hook=!git-proof hook commit-msg", "as-hook", "message"]);
    let ran: Ran = command.output().unwrap().into();
    assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""));
    project.read("message")
}

fn as_git_writes(project: &Project, message: &str, settings: &[&str]) -> String {
    project.write("message", message);
    let mut command = project.command("git");
    command.args(settings).args(["interpret-trailers", "--no-divider", "--if-exists", "addIfDifferent"]);
    let ran: Ran = command.args(["--trailer", "Proof-Session: s", "message"]).output().unwrap().into();
    ran.text().to_owned()
}

#[test]
fn trailers_stand_where_git_puts_them() {
    let project = Project::new();
    project.start("s");
    for message in MESSAGES {
        let ours = plain_hook(&project, message);
        assert_eq!(ours, as_git_writes(&project, message, &[]), "{message:?}");
        assert_eq!(plain_hook(&project, &ours), ours, "the second time: {message:?}");
    }
}

#[test]
fn settings_for_trailers_and_comments_are_followed() {
    let project = Project::new();
    project.start("s");
    let all: [&[&str]; 5] = [
        &["-c", "trailer.where=start"],
        &["-c", "trailer.separators=:="],
        &["-c", "core.commentChar=;"],
        &["-c", "trailer.proof-session.key=Proof-Session"],
        &["-c", "trailer.ifexists=doNothing"],
    ];
    // One that names the session already is not touched, where git would spell its key anew.
    let others = MESSAGES.iter().filter(|message| !message.to_ascii_lowercase().contains("proof-session: s\n"));
    let with_semicolons: Vec<String> = others.map(|message| message.replace("\n#", "\n;")).collect();
    for settings in all {
        for message in with_semicolons.iter().step_by(4) {
            let (ours, theirs) = (hook_with(&project, message, settings), as_git_writes(&project, message, settings));
            assert_eq!(ours, theirs, "{settings:?} {message:?}");
        }
    }
    // The same where the repository itself is set so.
    project.git(["config", "trailer.where", "start"]);
    assert_eq!(plain_hook(&project, "title\n\nFixes: 12\n"), "title\n\nProof-Session: s\nFixes: 12\n");
}

#[test]
fn message_that_git_would_not_commit_is_left_alone() {
    for (comment, editor) in [("#", "true"), (";", "true"), ("#", "printf '\\n# only this\\n' >"), ("auto", "true")] {
        let project = Project::new();
        project.start("s");
        project.git(["config", "core.commentChar", comment]);
        project.edit(10, "changed");
        let mut command = project.command("git");
        command.args(["commit", "--quiet", "--all"]).env("GIT_EDITOR", editor);
        let ran: Ran = command.output().unwrap().into();
        assert_eq!(ran.exit, Some(1), "{comment} {editor}: {ran:?}");
        assert!(ran.err.contains("empty commit message"), "{ran:?}");
    }
}

#[test]
fn template_that_nobody_filled_in_is_left_alone() {
    let project = Project::new();
    project.start("s");
    project.write("template", "What:\n\nWhy:\n# comment\n");
    project.git(["config", "commit.template", "template"]);
    project.edit(10, "changed");
    let ran: Ran = project.command("git").args(["commit", "--quiet", "--all"]).output().unwrap().into();
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    assert!(ran.err.contains("did not edit the message"), "{ran:?}");
}

#[test]
fn commits_that_a_rebase_will_fold_away_are_left_alone() {
    let project = Project::new();
    project.start("s");
    for how in ["--fixup=HEAD", "--squash=HEAD", "--fixup=amend:HEAD"] {
        project.write("file", &format!("{how}\n"));
        project.commit_staged(&["--all", how]);
        assert!(!project.message("HEAD").contains("Proof-"), "{how}");
        project.git(["reset", "--quiet", "--hard", "HEAD~1"]);
    }
}

#[test]
fn open_session_is_named_once_however_often_the_commit_is_amended() {
    let project = Project::new();
    project.start("s");
    project.edit(10, "changed");
    project.commit("title");
    for _ in 0..2 {
        project.rewrite(&["commit", "--quiet", "--amend", "--no-edit"]);
    }
    assert_eq!(project.message("HEAD"), "title\n\nProof-Session: s");
}

#[test]
fn verbose_message_keeps_its_trailer_above_the_scissors() {
    let project = Project::new();
    project.start("s");
    project.edit(10, "changed");
    let mut command = project.command("git");
    command.args(["commit", "--quiet", "--all", "--verbose"]).env("GIT_EDITOR", "sed -i 1s/^/title/");
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(project.message("HEAD"), "title\n\nProof-Session: s");
}

#[test]
fn root_of_no_session_that_is_known_stops_the_commit() {
    let project = Project::new();
    project.prove("s", 10);
    project.edit(20, "more");
    let before = project.head();
    let root = "0".repeat(64);
    let real = project.proof(&["root", "--session", "s"])["root"].as_str().unwrap().to_owned();
    for named in [format!("nobody:v1:{root}:3"), format!("s:v1:{root}:3"), format!("s:v1:{real}:99")] {
        let ran = project.try_commit(&["--all", "-m", &format!("title\n\nProof-Root: {named}")]);
        assert_eq!(ran.exit, Some(1), "{ran:?}");
        assert!(ran.err.contains("Proof-Root names session"), "{ran:?}");
        assert_eq!(project.head(), before);
    }
}

#[test]
fn root_of_an_open_session_stops_the_commit() {
    let project = Project::new();
    project.start("open");
    project.edit(20, "more");
    let ran = project.try_commit(&["--all", "-m", &format!("title\n\nProof-Root: open:v1:{}:1", "0".repeat(64))]);
    assert_eq!(ran.exit, Some(1), "{ran:?}");
}

#[test]
fn root_whose_evidence_came_from_others_is_let_through() {
    let project = Project::new();
    project.prove("s", 10);
    project.git(["push", "--quiet", "origin", "main"]);
    let root = project.proof(&["root"]);
    let named = format!("s:v1:{}:{}", root["root"].as_str().unwrap(), root["record_count"]);
    let clone = project.clone_of("main");
    clone.sync();
    clone.git(&["config", "core.hooksPath", "../place/.git/hooks"]);
    clone.git(&["commit", "--quiet", "--allow-empty", "-m", &format!("title\n\nProof-Root: {named}")]);
    assert_eq!(clone.git(&["log", "-1", "--format=%s"]), "title");
}

#[test]
fn session_that_is_not_proof_grade_is_not_named() {
    let project = Project::new();
    project.proof(&["start", "--intent", "look around", "--session-id", "s", "--not-proof-grade"]);
    project.edit(10, "changed");
    project.commit("title");
    assert_eq!(project.message("HEAD"), "title");
}
