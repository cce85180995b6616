//! Forks that would keep a gate busy: each is left within its limits, and the answer is "could not check".

use super::http::{Manner, Server};
use super::stage::{Place, Stage, answer, codes};
use crate::store::scratch::Ran;

/// The pull request could not be checked, and nothing is left of the attempt.
#[track_caller]
fn unchecked(runner: &Place<'_>, ran: &Ran, said: &str) {
    assert_eq!(ran.exit, Some(3), "{}{}", ran.out, ran.err);
    let outcome = answer(ran);
    assert_eq!(outcome["verdict"], "unchecked");
    assert!(codes(&outcome).contains(&"REF_NOT_FETCHED".to_owned()), "{outcome:#}");
    assert!(ran.out.contains(said), "{}", ran.out);
    assert_eq!(runner.left(), 0);
}

#[test]
fn fork_that_is_gone_cannot_be_checked() {
    let stage = Stage::proven(&["one"]);
    let runner = stage.runner();
    unchecked(&runner, &runner.gate(&[&stage.server.url("gone.git")]), "gone.git cannot be reached");
    unchecked(&runner, &runner.gate(&["../gone.git"]), "cannot be reached");
}

#[test]
fn fork_without_credentials_cannot_be_checked_and_nobody_is_asked() {
    let stage = Stage::proven(&["one"]);
    let runner = stage.runner();
    runner.git(&["config", "--unset-all", "credential.helper"]);
    unchecked(&runner, &runner.gate(&[&stage.fork()]), "cannot be reached");
}

#[test]
fn password_in_an_address_is_not_shown() {
    let stage = Stage::proven(&["one"]);
    let runner = stage.runner();
    let url = stage.server.url("gone.git").replace("://", "://ada:hidden@");
    let ran = runner.gate(&[&url]);
    unchecked(&runner, &ran, "gone.git cannot be reached");
    assert!(!ran.out.contains("hidden") && !ran.err.contains("hidden"), "{}{}", ran.out, ran.err);
}

#[test]
fn fork_that_never_answers_is_left_after_a_while() {
    let stage = Stage::proven(&["one"]);
    let runner = stage.runner();
    runner.git(&["config", "proof.offeredSeconds", "1"]);
    let server = Server::new(stage.work.around(), Manner::Never);
    unchecked(&runner, &runner.gate(&[&server.url("remote.git")]), "was not read within 1 seconds");
}

#[test]
fn fork_that_leads_in_a_circle_cannot_be_checked() {
    let stage = Stage::proven(&["one"]);
    let runner = stage.runner();
    let server = Server::new(stage.work.around(), Manner::Round);
    unchecked(&runner, &runner.gate(&[&server.url("remote.git")]), "cannot be reached");
}

#[test]
fn fork_that_offers_too_much_cannot_be_checked() {
    let stage = Stage::proven(&["one"]);
    // What does not compress: 3 MiB of digests.
    let script = "i=0; while [ $i -lt 3 ]; do head -c 1048576 /dev/urandom; i=$((i+1)); done > big && \
                  blob=$(git hash-object -w big) && rm big && \
                  tree=$(printf '100644 blob %s\\tbig\\n' $blob | git mktree) && \
                  git push --quiet --no-verify --force origin $(git commit-tree -m x $tree):refs/proof/evidence";
    let ran = stage.work.command("sh").args(["-c", script]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let runner = stage.runner();
    runner.git(&["config", "proof.offeredBytes", "1m"]);
    unchecked(&runner, &runner.gate(&[&stage.fork()]), "offers more than 1048576 bytes of proofs");
}

#[test]
fn trees_that_hold_each_other_many_times_over_end_in_a_limit() {
    let stage = Stage::proven(&["one"]);
    // The base has notes of its own, so that the two are joined.
    stage.work.git(["push", "--quiet", "--no-verify", "../base.git", "refs/notes/proof"]);
    let runner = stage.runner();
    runner.git(&["update-ref", "-d", "refs/notes/proof"]);
    runner.git(&["notes", "--ref=proof", "add", "-m", "{}", "origin/main~1"]);
    let script = "blob=$(printf '{}' | git hash-object -w --stdin); tree=$(printf '100644 blob %s\\tx\\n' $blob | git mktree); \
                  level=0; while [ $level -lt 19 ]; do \
                  tree=$(for a in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do for b in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do \
                  printf '040000 tree %s\\t%s%s\\n' $tree $a $b; done; done | git mktree); level=$((level+1)); done; \
                  git push --quiet --no-verify --force origin $(git commit-tree -m x $tree):refs/notes/proof";
    let ran = stage.work.command("sh").args(["-c", script]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let ran = runner.gate(&[&stage.fork()]);
    assert!(matches!(ran.exit, Some(1 | 3)), "{}{}", ran.out, ran.err);
    assert_eq!(runner.left(), 0);
}

#[test]
fn fork_that_cannot_be_read_takes_nothing_from_what_the_base_has() {
    let stage = Stage::proven(&["one"]);
    stage.work.proof(&["sync", "../base.git"]);
    let runner = stage.runner();
    assert_eq!(runner.gate(&["../gone.git"]).exit, Some(0));
}

#[test]
fn option_in_place_of_an_address_is_refused() {
    let stage = Stage::proven(&["one"]);
    let runner = stage.runner();
    let head = stage.work.git(["rev-parse", "topic"]);
    let ran = runner.try_proof(&["gate", "--base", "origin/main", "--head", &head, "--proofs=--upload-pack=touch x"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.err);
    let ran = runner.gate(&["ext::sh -c touch% ran"]);
    assert_eq!(ran.exit, Some(3), "{}{}", ran.out, ran.err);
    assert!(!runner.path.join("ran").exists());
}
