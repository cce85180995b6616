//! What an interrupted command left undone is finished by the next `sync`, push or `finalize`, or by `doctor --fix`, which
//! say so; and they say nothing where there is nothing to do.

use std::fs;
use std::thread;

use super::project::Project;
use super::unheard::{attested, missed};
use crate::store::scratch::Ran;

const EVIDENCE: &str = "refs/proof/evidence";
const LOCK: &str = ".git/refs/notes/proof.lock";

/// The ways to finish what was left undone.
const WAYS: [&[&str]; 3] =
    [&["git-proof", "sync"], &["git-proof", "doctor", "--fix"], &["git", "push", "origin", "main"]];

/// What a command says; it may only end with 1 where the doctor finds something else.
#[track_caller]
fn said(project: &Project, way: &[&str]) -> String {
    let ran: Ran = project.command(way[0]).args(&way[1..]).env("GIT_PROOF_PATIENCE", "50").output().unwrap().into();
    assert!(ran.exit == Some(0) || way.contains(&"doctor") && ran.exit == Some(1), "{ran:?}");
    ran.err
}

/// What is left after a second time.
#[track_caller]
fn says_nothing(project: &Project, way: &[&str]) {
    let err = said(project, way);
    assert!(!err.contains("git proof: "), "{way:?}: {err}");
}

/// A project whose session is finalized and could not be anchored, because a git held a lock.
fn unanchored() -> Project {
    let project = Project::new();
    project.start("s");
    project.edit(5, "changed");
    project.commit("change");
    project.reflect();
    let lock = project.place.join(".git/refs/proof/evidence.lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    let mut finalize = project.command("git-proof");
    let ran: Ran = finalize.args(["--json", "finalize"]).env("GIT_PROOF_PATIENCE", "50").output().unwrap().into();
    ran.error("ERR_REPOSITORY_FAILED", 4);
    fs::remove_file(&lock).unwrap();
    project
}

#[test]
fn finalized_session_that_was_never_anchored_is_anchored() {
    for way in WAYS {
        let project = unanchored();
        let err = said(&project, way);
        assert!(err.contains("anchored a finalized session that had no anchor yet"), "{way:?}: {err}");
        says_nothing(&project, way);
        project.git(["push", "--quiet", "origin", "main"]);
        let clone = project.clone_of("main");
        clone.sync();
        clone.verify("HEAD").is("exact", &["s"]);
    }
}

#[test]
fn finalize_anchors_another_session_that_was_never_anchored() {
    let project = unanchored();
    let commit = project.head();
    project.start("t");
    project.edit(20, "changed");
    project.commit("other");
    project.reflect();
    let ran = project.try_proof(&["--json", "finalize"]);
    assert!(ran.err.contains("anchored a finalized session"), "{ran:?}");
    assert_eq!(ran.json()["repaired"]["sessions"][0], "s");
    project.verify(&commit).is("exact", &["s"]);
}

#[test]
fn evidence_that_the_ref_lost_is_published_again() {
    for way in WAYS {
        let project = Project::new();
        project.prove("one", 10);
        let before = project.git(["rev-parse", EVIDENCE]);
        project.prove("two", 20);
        // What a process that was slower once did: it put its own on top of what it had read.
        project.git(["update-ref", EVIDENCE, &before]);
        let err = said(&project, way);
        assert!(err.contains("published the evidence of a session again"), "{way:?}: {err}");
        says_nothing(&project, way);
        project.verify("HEAD").is("exact", &["two"]);
        project.git(["push", "--quiet", "origin", "main"]);
        let clone = project.clone_of("main");
        clone.sync();
        clone.verify("HEAD").is("exact", &["two"]);
    }
}

#[test]
fn evidence_that_no_remote_ever_got_though_it_has_the_note_is_published_by_the_doctor() {
    let project = Project::new();
    project.prove("s", 10);
    project.git(["push", "--quiet", "origin", "main"]);
    for place in [".", "../remote.git"] {
        project.git(["-C", place, "update-ref", "-d", EVIDENCE]);
    }
    project.git(["update-ref", "-d", "refs/proof/remote/origin/evidence"]);
    let err = said(&project, &["git-proof", "doctor", "--fix"]);
    assert!(err.contains("published the evidence of a session again"), "{err}");
    project.proof(&["sync"]);
    let clone = project.clone_of("main");
    clone.sync();
    clone.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn commit_whose_hook_was_killed_is_recorded_by_the_doctor() {
    let (project, missed) = missed();
    let listed = project.try_proof(&["doctor"]);
    assert!(listed.out.contains("1 commits may not be recorded"), "{listed:?}");
    let err = said(&project, &["git-proof", "doctor", "--fix"]);
    assert!(err.contains("recorded a commit whose post-commit hook had not finished"), "{err}");
    assert_eq!(attested(&project, "s"), [missed]);
    says_nothing(&project, &["git-proof", "doctor", "--fix"]);
}

#[test]
fn commit_whose_hook_was_killed_is_attested_once_by_many_who_come_at_once() {
    for _ in 0..3 {
        let (project, missed) = missed();
        let ways: [&[&str]; 3] =
            [&["sync"], &["hook", "post-commit"], &["record", "--type", "plan", "--content", "more"]];
        thread::scope(|scope| {
            for way in ways.iter().chain(&ways) {
                let project = &project;
                scope.spawn(move || assert_eq!(project.try_proof(way).exit, Some(0)));
            }
        });
        project.close();
        assert_eq!(attested(&project, "s"), [missed]);
    }
}

#[test]
fn lock_of_a_killed_process_of_ours_is_removed_and_one_of_git_is_named() {
    for way in WAYS {
        let project = Project::new();
        project.prove("s", 10);
        let (lock, head) = (project.place.join(LOCK), project.head());
        // A process of ours that was killed between taking the lock and moving the ref.
        fs::write(&lock, "").unwrap();
        project.write(".git/proof/moving", &format!("refs/notes/proof {head}\n"));
        let err = said(&project, way);
        assert!(err.contains("removed ") && err.contains("proof.lock, which a killed git-proof had left"), "{err}");
        assert!(!lock.exists());
        says_nothing(&project, way);
        // Nobody of ours said that it would take this one, or it has what we would not have written.
        for announced in [String::new(), format!("refs/notes/proof {head}\n")] {
            fs::write(&lock, if announced.is_empty() { "" } else { "something else\n" }).unwrap();
            project.write(".git/proof/moving", &announced);
            says_nothing(&project, way);
            assert!(lock.exists(), "{way:?}");
            let listed = project.try_proof(&["doctor"]);
            assert!(listed.out.contains("rm '") && listed.out.contains("refs/notes/proof.lock'"), "{listed:?}");
            fs::remove_file(&lock).unwrap();
        }
    }
}
