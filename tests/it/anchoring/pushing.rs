//! Two clones and one remote: both push at the same moment, the remote does not want to, cannot, or is not there.

use std::thread;

use super::clones::{CHANGES, Clone, EVIDENCE, NOTES, two_clones};
use crate::store::scratch::{Ran, Scratch, text};

const ROUNDS: usize = 20;
const SESSIONS: usize = 4;

/// Commits of a clone's own branch, and sessions to anchor on them.
fn prepared(clone: &Clone<'_>, name: &str) -> Vec<String> {
    let commits = clone.commits(ROUNDS);
    for number in 0..SESSIONS {
        clone.session(&format!("{name}-{number}"));
    }
    commits
}

/// Anchors and shares one commit. The answer is how often the other was faster.
fn anchor_and_share(clone: &Clone<'_>, name: &str, round: usize, commit: &str) -> u64 {
    clone.anchor(&format!("{name}-{}", round % SESSIONS), commit);
    clone.git(&["push", "--quiet", "origin", &format!("{commit}:refs/heads/{name}")]);
    let ran: Ran = clone.proof(&["--json", "sync"]).env("GIT_PROOF_PATIENCE", "60000").output().unwrap().into();
    ran.json()["races"].as_u64().unwrap()
}

#[test]
fn two_clones_that_push_at_the_same_moment_lose_nothing() {
    let scratch = Scratch::without_repository();
    let (remote, one, two) = two_clones(&scratch);
    remote.hook("pre-receive", "sleep 0.02");
    let (first, second) = (prepared(&one, "one"), prepared(&two, "two"));
    let mut races = 0;
    for round in 0..ROUNDS {
        thread::scope(|scope| {
            let other = scope.spawn(|| anchor_and_share(&two, "two", round, &second[round]));
            races += anchor_and_share(&one, "one", round, &first[round]);
            races += other.join().unwrap();
        });
    }
    for clone in [&one, &two] {
        clone.json(&["sync"]);
    }
    one.json(&["sync"]);
    eprintln!("{races} lost races in {ROUNDS} rounds");
    assert!(races > 0, "nobody was ever faster than the other");
    for place in [&remote, &one, &two] {
        place.has_one_line_each(first.iter().chain(&second));
        assert_eq!(place.evidence().len(), 2 * SESSIONS);
        place.is_whole();
    }
    for name in [NOTES, EVIDENCE, CHANGES] {
        assert_eq!((one.tip(name), two.tip(name)), (remote.tip(name), remote.tip(name)), "{name}");
    }
}

/// Two clones of which the second has anchored and shared, and the first has anchored something else.
fn about_to_race(scratch: &Scratch) -> (Clone<'_>, Clone<'_>, Vec<String>, String) {
    let (remote, one, two) = two_clones(scratch);
    for (clone, session) in [(&one, "s"), (&two, "t")] {
        clone.session(session);
    }
    let commits = one.commits(2);
    one.anchor("s", &commits[0]);
    one.json(&["sync"]);
    two.git(&["fetch", "--quiet", one.path.to_str().unwrap(), "main"]);
    two.json(&["sync"]);
    // What the other is about to push is on the remote already, but no ref names it yet.
    two.anchor("t", &commits[1]);
    two.git(&["push", "--quiet", "origin", &format!("{NOTES}:refs/heads/coming")]);
    one.anchor("s", &commits[1]);
    let coming = two.tip(NOTES).unwrap();
    (remote, one, commits, coming)
}

/// A script that does something the first time that it runs.
fn once(scratch: &Scratch, script: &str) -> String {
    let mark = scratch.around().join("mark");
    format!("if test ! -e '{0}'; then touch '{0}'; {script}; fi", mark.display())
}

#[track_caller]
fn both_arrived(one: &Clone<'_>, remote: &Clone<'_>, commits: &[String]) {
    let answer = one.json(&["sync"]);
    assert_eq!(answer["races"], 1, "{answer}");
    for place in [one, remote] {
        assert_eq!(place.notes()[&commits[1]].len(), 2);
    }
}

#[test]
fn race_that_is_lost_before_the_push_is_run_again() {
    let scratch = Scratch::without_repository();
    let (remote, one, commits, coming) = about_to_race(&scratch);
    let faster = once(&scratch, &format!("git --git-dir='{}' update-ref {NOTES} {coming}", remote.path.display()));
    let program = scratch.around().join("upload-pack");
    // Whoever asks what the remote has gets an answer that is true no more.
    std::fs::write(&program, format!("#!/bin/sh\ngit-upload-pack \"$@\"; code=$?\n{faster}\nexit $code\n")).unwrap();
    one.git(&["config", "remote.origin.uploadpack", &format!("sh {}", program.display())]);
    both_arrived(&one, &remote, &commits);
}

#[test]
fn race_that_is_lost_while_the_remote_takes_the_push_is_run_again() {
    let scratch = Scratch::without_repository();
    let (remote, one, commits, coming) = about_to_race(&scratch);
    remote.hook("pre-receive", &once(&scratch, &format!("env -u GIT_QUARANTINE_PATH git update-ref {NOTES} {coming}")));
    both_arrived(&one, &remote, &commits);
}

#[test]
fn ref_that_the_remote_has_locked_for_a_moment_is_tried_again() {
    let scratch = Scratch::without_repository();
    let (remote, one, commits, _) = about_to_race(&scratch);
    let lock = remote.path.join(format!("{NOTES}.lock"));
    let script = once(&scratch, &format!("touch '{}'", lock.display()));
    remote.hook("pre-receive", &format!("rm -f '{}'\n{script}", lock.display()));
    let answer = one.json(&["sync"]);
    assert_eq!(answer["races"], 1, "{answer}");
    assert_eq!(remote.notes()[&commits[1]].len(), 1);
}

#[test]
fn remote_without_atomic_pushes_is_served() {
    let scratch = Scratch::without_repository();
    let (remote, one, two) = two_clones(&scratch);
    remote.git(&["config", "receive.advertiseAtomic", "false"]);
    let commit = one.explain("first");
    one.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    one.json(&["sync"]);
    two.git(&["pull", "--quiet", "origin", "main"]);
    two.json(&["sync"]);
    two.passes(&commit);
}

/// That a push is turned away with a reason, what was fetched is merged, and what was not pushed is pushed later.
fn turned_away(shut: impl Fn(&Clone<'_>), open: impl Fn(&Clone<'_>)) {
    let scratch = Scratch::without_repository();
    let (remote, one, two) = two_clones(&scratch);
    let theirs = two.explain("theirs");
    two.git(&["push", "--quiet", "origin", "HEAD:refs/heads/theirs"]);
    two.json(&["sync"]);
    let ours = one.explain("ours");
    one.git(&["push", "--quiet", "origin", "HEAD:refs/heads/ours"]);
    one.git(&["fetch", "--quiet", "origin"]);
    let before = remote.tip(NOTES);
    shut(&remote);
    let error = one.run(&["--json", "sync"]).error("ERR_REMOTE_FAILED", 4);
    assert!(text(&error, "message").contains("origin"), "{error}");
    assert!(text(&error, "hint").contains("nothing is lost"), "{error}");
    assert_eq!(remote.tip(NOTES), before);
    one.passes(&theirs);
    one.passes(&ours);
    open(&remote);
    // Still remembered as not shared, so that it would be put back.
    one.git(&["update-ref", "-d", NOTES]);
    one.json(&["sync"]);
    remote.passes(&ours);
}

#[test]
fn remote_whose_hook_turns_pushes_away_is_named_and_nothing_is_lost() {
    turned_away(
        |remote| remote.hook("pre-receive", "echo 'read only today' >&2; exit 1"),
        |remote| remote.hook("pre-receive", "exit 0"),
    );
}

#[test]
fn remote_whose_update_hook_turns_one_ref_away_is_named_and_nothing_is_lost() {
    turned_away(
        |remote| remote.hook("update", &format!("test \"$1\" != {NOTES}")),
        |remote| remote.hook("update", "exit 0"),
    );
}

#[test]
fn remote_that_hides_the_refs_is_named_and_nothing_is_lost() {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    remote.git(&["config", "receive.hideRefs", "refs/proof"]);
    let commit = one.explain("first");
    let error = one.run(&["--json", "sync"]).error("ERR_REMOTE_FAILED", 4);
    assert!(text(&error, "message").contains("hidden"), "{error}");
    one.passes(&commit);
}

#[test]
fn remote_that_may_not_be_written_to_is_named_and_nothing_is_lost() {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    let mode =
        |mode: &str| assert!(scratch.command("chmod").args(["-R", mode]).arg(&remote.path).status().unwrap().success());
    mode("a-w");
    if std::fs::write(remote.path.join("probe"), "").is_ok() {
        mode("u+w");
        return eprintln!("left out: permissions do not hold this user back");
    }
    let commit = one.explain("first");
    let error = one.run(&["--json", "sync"]).error("ERR_REMOTE_FAILED", 4);
    mode("u+w");
    assert!(text(&error, "message").contains("origin"), "{error}");
    one.passes(&commit);
}

#[test]
fn remote_that_is_gone_is_named() {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    let commit = one.explain("first");
    std::fs::remove_dir_all(&remote.path).unwrap();
    let error = one.run(&["--json", "sync"]).error("ERR_REMOTE_FAILED", 4);
    assert!(text(&error, "message").contains("origin cannot be reached"), "{error}");
    one.passes(&commit);
}

#[test]
fn syncs_of_one_clone_at_the_same_moment_all_come_through() {
    let scratch = Scratch::without_repository();
    let (remote, one, two) = two_clones(&scratch);
    for round in 0..4 {
        let session = format!("s{round}");
        two.explain(&session);
        two.json(&["sync"]);
        let commit = one.explain(&session);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| one.json(&["sync"]));
            }
        });
        assert!(remote.notes().contains_key(&commit));
        assert_eq!(one.tip(NOTES), remote.tip(NOTES));
    }
}
