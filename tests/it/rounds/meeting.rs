//! Clones that seal at the same time, remotes that are wound back, and chains that were both published.

use git_proof::context::Context;
use git_proof::git::Git;
use git_proof::store::Store;
use serde_json::Value;

use super::ROUNDS;
use crate::anchoring::clones::{Clone, two_clones};
use crate::store::scratch::{Ran, Scratch, text};

fn finding(ran: &Ran) -> Value {
    let said: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    said["findings"][0].clone()
}

/// One session each, sealed by each, and neither has heard of the other.
fn both_sealed(scratch: &Scratch) -> (Clone<'_>, Clone<'_>, Clone<'_>) {
    let (remote, one, two) = two_clones(scratch);
    for (clone, session) in [(&one, "of-one"), (&two, "of-two")] {
        clone.explain(session);
        clone.json(&["seal"]);
    }
    (remote, one, two)
}

#[test]
fn unpublished_seal_is_made_again_on_top_and_says_so() {
    let scratch = Scratch::new();
    let (_, one, two) = both_sealed(&scratch);
    one.json(&["sync"]);
    let synced = two.run(&["sync"]);
    assert_eq!(synced.exit, Some(0), "{synced:?}");
    assert!(synced.err.contains("its session is now in round 2"), "{}", synced.err);
    one.json(&["sync"]);
    for clone in [&one, &two] {
        assert_eq!(clone.sealed(), [["of-one"], ["of-two"]]);
    }
    assert_eq!(one.tip(ROUNDS), two.tip(ROUNDS));
}

#[test]
fn signed_seal_that_is_made_again_is_signed_again() {
    let scratch = Scratch::new();
    let (_, one, two) = two_clones(&scratch);
    let key = two.signs_as("bob");
    for (clone, session, sign) in [(&one, "of-one", "--no-sign"), (&two, "of-two", "--sign")] {
        clone.explain(session);
        clone.json(&["seal", sign]);
        clone.json(&["sync"]);
    }
    std::fs::create_dir(two.path.join(".proof")).unwrap();
    std::fs::write(two.path.join(".proof/allowed_signers"), format!("bob@x {key}\n")).unwrap();
    two.git(&["add", ".proof"]);
    two.git(&["commit", "--quiet", "--message", "Signers"]);
    two.git(&["config", "proof.rules", "HEAD"]);
    let (_, listed) = two.rounds();
    assert_eq!(listed["rounds"][1]["signers"], serde_json::json!(["bob@x"]), "{listed}");
}

#[test]
fn seal_whose_key_is_gone_is_made_again_unsigned_and_says_so() {
    let scratch = Scratch::new();
    let (_, one, two) = two_clones(&scratch);
    two.signs_as("bob");
    one.explain("of-one");
    two.explain("of-two");
    one.json(&["seal"]);
    two.json(&["seal", "--sign"]);
    one.json(&["sync"]);
    std::fs::remove_file(scratch.around().join("bob")).unwrap();
    let synced = two.run(&["sync"]);
    assert_eq!(synced.exit, Some(0), "{synced:?}");
    assert!(synced.err.contains("git proof sign --round 2"), "{}", synced.err);
    assert_eq!(two.sealed(), [["of-one"], ["of-two"]]);
}

#[test]
fn session_that_both_sealed_stays_in_one_seal() {
    let scratch = Scratch::new();
    let (_, one, two) = two_clones(&scratch);
    one.explain("shared");
    one.git(&["push", "--quiet", "origin", "HEAD:refs/heads/one"]);
    one.json(&["sync"]);
    two.git(&["fetch", "--quiet"]);
    two.json(&["sync"]);
    one.json(&["seal"]);
    two.json(&["seal"]);
    one.json(&["sync"]);
    let synced = two.json(&["sync"]);
    assert_eq!((&synced["remade"][0]["round"], &synced["remade"][0]["sessions"]), (&Value::Null, &0.into()));
    assert_eq!(two.sealed(), [["shared"]]);
}

#[test]
fn remote_that_was_wound_back_is_reported_and_gets_it_back() {
    let scratch = Scratch::new();
    let (remote, one, _) = two_clones(&scratch);
    for session in ["a", "b"] {
        one.explain(session);
        one.json(&["seal"]);
        one.json(&["sync"]);
    }
    let newest = remote.tip(ROUNDS);
    remote.git(&["update-ref", ROUNDS, &format!("{ROUNDS}~1")]);
    let synced = one.run(&["--json", "sync"]);
    assert_eq!((synced.exit, text(&finding(&synced), "code")), (Some(1), "ROUNDS_ROLLED_BACK"));
    assert_eq!(remote.tip(ROUNDS), newest);
    assert_eq!(one.run(&["sync"]).exit, Some(0));
    remote.git(&["update-ref", "-d", ROUNDS]);
    let synced = one.run(&["--json", "sync"]);
    assert_eq!((synced.exit, text(&finding(&synced), "code")), (Some(1), "ROUNDS_ROLLED_BACK"));
    assert_eq!(remote.tip(ROUNDS), newest);
}

/// Commits the whole chain of a repository again: the same seals, in other commits.
fn commit_again(repository: &Clone<'_>) -> String {
    let chain = repository.git(&["rev-list", "--reverse", ROUNDS]);
    let mut tip: Option<String> = None;
    for commit in chain.lines() {
        let tree = format!("{commit}^{{tree}}");
        let mut arguments = vec!["commit-tree", "-m", "again", &tree];
        arguments.extend(tip.iter().flat_map(|tip| ["-p", tip]));
        let made = repository.git(&arguments);
        tip = Some(made);
    }
    let tip = tip.unwrap();
    repository.git(&["update-ref", ROUNDS, &tip]);
    tip
}

#[test]
fn same_seals_in_other_commits_are_no_fork_and_no_rollback() {
    let scratch = Scratch::new();
    let (remote, one, _) = two_clones(&scratch);
    let key = one.signs_as("bob");
    let commit = one.explain("a");
    one.json(&["seal", "--sign"]);
    one.json(&["sync"]);
    let again = commit_again(&remote);
    assert_ne!(one.tip(ROUNDS).as_ref(), Some(&again));
    let synced = one.run(&["--json", "sync"]);
    assert_eq!((synced.exit, finding(&synced)), (Some(0), Value::Null), "{synced:?}");
    assert_eq!(one.tip(ROUNDS).as_ref(), Some(&again));
    assert!(!one.codes(&commit).contains("ROUNDS_ROLLED_BACK"));
    // A seal of ours on top of the old commits follows the new ones as it is, published or not.
    one.explain("b");
    one.json(&["seal", "--sign"]);
    one.json(&["sync"]);
    one.explain("c");
    one.json(&["seal", "--sign"]);
    let seal = one.seal_text(0);
    let again = commit_again(&remote);
    let synced = one.json(&["sync"]);
    assert_eq!((&synced["remade"], &synced["findings"]), (&serde_json::json!([]), &serde_json::json!([])), "{synced}");
    assert_eq!(one.seal_text(0), seal);
    assert_eq!(one.tip(&format!("{ROUNDS}~1")).as_ref(), Some(&again));
    assert_eq!(remote.tip(ROUNDS), one.tip(ROUNDS));
    // And every seal is still signed.
    std::fs::create_dir(one.path.join(".proof")).unwrap();
    std::fs::write(one.path.join(".proof/allowed_signers"), format!("bob@x {key}\n")).unwrap();
    one.git(&["add", ".proof"]);
    one.git(&["commit", "--quiet", "--message", "Signers"]);
    one.git(&["config", "proof.rules", "HEAD"]);
    let (exit, listed) = one.rounds();
    assert_eq!(exit, Some(0), "{listed}");
    for round in listed["rounds"].as_array().unwrap() {
        assert_eq!(round["signers"], serde_json::json!(["bob@x"]), "{listed}");
    }
}

#[test]
fn chain_that_was_wound_back_here_fails_every_verdict_and_takes_no_seal() {
    let scratch = Scratch::new();
    let repo = super::with_rounds(&scratch, 2);
    let commit = repo.tip("HEAD").unwrap();
    repo.git(&["update-ref", ROUNDS, &format!("{ROUNDS}~1")]);
    assert!(repo.codes(&commit).contains("ROUNDS_ROLLED_BACK"));
    repo.does_not_hold("ROUNDS_ROLLED_BACK");
    repo.explain("s3");
    repo.run(&["--json", "seal"]).error("ERR_ROUNDS_ROLLED_BACK", 1);
    repo.git(&["update-ref", "-d", ROUNDS]);
    assert!(repo.codes(&commit).contains("ROUNDS_ROLLED_BACK"));
}

/// A remote whose chain was replaced by another one that holds as well.
fn forked(scratch: &Scratch) -> (Clone<'_>, Clone<'_>, Clone<'_>) {
    let (remote, one, two) = both_sealed(scratch);
    one.json(&["sync"]);
    remote.git(&["update-ref", "-d", ROUNDS]);
    two.json(&["sync"]);
    (remote, one, two)
}

#[test]
fn two_published_chains_are_a_fork_with_both_seals_named_and_all_else_is_shared() {
    let scratch = Scratch::new();
    let (remote, one, two) = forked(&scratch);
    let (ours, theirs) = (one.tip(ROUNDS).unwrap(), two.tip(ROUNDS).unwrap());
    one.explain("more");
    let synced = one.run(&["--json", "sync"]);
    assert_eq!(synced.exit, Some(1), "{synced:?}");
    let said: Value = serde_json::from_str(&synced.out).unwrap();
    let fork = said["findings"].as_array().unwrap().iter().find(|one| one["code"] == "ROUNDS_FORKED").unwrap();
    assert!(text(fork, "message").contains(&ours) && text(fork, "message").contains(&theirs), "{fork}");
    assert_eq!((one.tip(ROUNDS), remote.tip(ROUNDS)), (Some(ours), Some(theirs)), "neither gives way");
    assert_eq!(one.tip(crate::anchoring::clones::NOTES), remote.tip(crate::anchoring::clones::NOTES));
}

#[test]
fn person_who_accepts_the_other_chain_loses_nothing() {
    let scratch = Scratch::new();
    let (remote, one, two) = forked(&scratch);
    assert_eq!(one.run(&["sync"]).exit, Some(1));
    let accepted = one.run(&["rounds", "accept", "origin"]);
    assert_eq!(accepted.exit, Some(0), "{accepted:?}");
    assert_eq!(one.run(&["sync"]).exit, Some(0));
    assert_eq!(one.sealed(), [["of-two"], ["of-one"]]);
    two.json(&["sync"]);
    assert_eq!(two.tip(ROUNDS), remote.tip(ROUNDS));
}

#[test]
fn broken_chain_of_a_remote_is_not_taken_over() {
    let scratch = Scratch::new();
    let (remote, one, two) = two_clones(&scratch);
    one.explain("a");
    one.json(&["seal"]);
    one.json(&["sync"]);
    let seal = one.seal_text(0).replace("\"round\":1", "\"round\":2");
    two.git(&["fetch", "--quiet", "origin", "refs/notes/proof:refs/notes/proof", "refs/proof/*:refs/proof/*"]);
    two.plant_seal(&seal, &[ROUNDS]);
    two.git(&["push", "--quiet", "origin", ROUNDS]);
    let ours = one.tip(ROUNDS);
    let synced = one.run(&["--json", "sync"]);
    assert_eq!((synced.exit, text(&finding(&synced), "code")), (Some(1), "SEAL_BROKEN"), "{synced:?}");
    assert_eq!(one.tip(ROUNDS), ours);
    assert_ne!(remote.tip(ROUNDS), ours);
}

#[test]
fn server_with_the_hook_takes_no_seal_that_does_not_fit() {
    let scratch = Scratch::new();
    let (remote, one, _) = two_clones(&scratch);
    let binary = env!("CARGO_BIN_EXE_git-proof");
    remote.hook("pre-receive", &format!("exec '{binary}' hook pre-receive"));
    one.explain("a");
    one.git(&["push", "--quiet", "origin", "HEAD:refs/heads/one"]);
    one.json(&["seal"]);
    one.json(&["sync"]);
    let good = remote.tip(ROUNDS);
    assert!(good.is_some());
    one.plant_seal(&one.seal_text(0), &[ROUNDS]);
    let pushed: Ran = one.command("git").args(["push", "--quiet", "origin", ROUNDS]).output().unwrap().into();
    assert_ne!(pushed.exit, Some(0));
    assert!(pushed.err.contains("would not be a chain of rounds"), "{}", pushed.err);
    assert_eq!(remote.tip(ROUNDS), good);
}

#[test]
fn chain_that_was_taken_over_by_half_can_still_be_accepted() {
    let scratch = Scratch::new();
    let (_, one, two) = both_sealed(&scratch);
    one.json(&["sync"]);
    // As if the process had been killed after it moved the ref, and before it remembered that.
    two.git(&["fetch", "--quiet", "origin", &format!("+{ROUNDS}:{ROUNDS}")]);
    let commit = two.tip("HEAD").unwrap();
    assert!(two.codes(&commit).contains("ROUNDS_ROLLED_BACK"));
    two.json(&["rounds", "accept"]);
    assert!(!two.codes(&commit).contains("ROUNDS_ROLLED_BACK"));
    two.json(&["sync"]);
    assert_eq!(two.sealed(), [["of-one"]]);
    two.json(&["seal"]);
    assert_eq!(two.sealed(), [["of-one"], ["of-two"]]);
}

#[test]
fn slower_of_two_sealers_does_not_make_the_clone_forget_the_later_round() {
    let scratch = Scratch::new();
    let repo = super::with_rounds(&scratch, 1);
    let context = Context::new(repo.path.clone());
    let path = Git::discover(&context).unwrap().place().store_path();
    let mut store = Store::open(&path, context.patience()).unwrap();
    let first = store.seen_rounds().unwrap();
    repo.explain("s2");
    repo.json(&["seal"]);
    let second = store.seen_rounds().unwrap();
    assert_eq!((first[0].round, second[0].round), (1, 2));
    store.see_newer_round(&first[0]).unwrap();
    assert_eq!(store.seen_rounds().unwrap(), second);
    drop(store);
    repo.git(&["update-ref", ROUNDS, &format!("{ROUNDS}~1")]);
    repo.does_not_hold("ROUNDS_ROLLED_BACK");
}

/// What a clone remembers of its own chain.
fn remembered(clone: &Clone<'_>) -> Vec<(String, u64, String)> {
    let store = Store::open(&clone.path.join(".git/proof/store.db"), std::time::Duration::from_secs(5)).unwrap();
    let seen = store.seen_rounds().unwrap();
    seen.into_iter().map(|seen| (seen.place, seen.round, seen.commit.to_string())).collect()
}

#[test]
fn seals_that_cannot_be_made_again_yet_are_still_remembered() {
    let scratch = Scratch::new();
    let (_, one, two) = both_sealed(&scratch);
    one.json(&["sync"]);
    let (tip, before) = (two.tip(ROUNDS), remembered(&two));
    let lock = two.path.join(".git").join(format!("{ROUNDS}.lock"));
    std::fs::write(&lock, "").unwrap();
    let ran: Ran = two.proof(&["--json", "sync"]).env("GIT_PROOF_PATIENCE", "50").output().unwrap().into();
    ran.error("ERR_REPOSITORY_FAILED", 4);
    assert_eq!((two.tip(ROUNDS), remembered(&two)), (tip.clone(), before.clone()));
    let ran: Ran =
        two.proof(&["--json", "rounds", "accept", "origin"]).env("GIT_PROOF_PATIENCE", "50").output().unwrap().into();
    ran.error("ERR_REPOSITORY_FAILED", 4);
    assert_eq!((two.tip(ROUNDS), remembered(&two)), (tip, before));
    std::fs::remove_file(&lock).unwrap();
    two.json(&["sync"]);
    assert_eq!(two.sealed(), [["of-one"], ["of-two"]]);
}

#[test]
fn chain_is_moved_and_remembered_by_one_process_at_a_time() {
    let scratch = Scratch::new();
    let (_, one, two) = both_sealed(&scratch);
    one.json(&["sync"]);
    two.explain("later");
    let (tip, before) = (two.tip(ROUNDS), remembered(&two));
    let held = std::fs::File::options().write(true).open(two.path.join(".git/proof/rounds.lock")).unwrap();
    held.lock().unwrap();
    for words in [&["--json", "seal"][..], &["--json", "sync"], &["--json", "rounds", "accept", "origin"]] {
        let ran: Ran = two.proof(words).env("GIT_PROOF_PATIENCE", "50").output().unwrap().into();
        ran.error("ERR_STORE_BUSY", 4);
        assert_eq!((two.tip(ROUNDS), remembered(&two)), (tip.clone(), before.clone()), "{words:?}");
    }
    drop(held);
    two.json(&["sync"]);
    two.json(&["seal"]);
    assert_eq!(two.sealed(), [["of-one"], ["of-two"], ["later"]]);
}
