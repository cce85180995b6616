//! Clocks that go backwards or lie in the future.

use git_proof::context::Context;
use git_proof::proof::timestamp::Timestamp;
use git_proof::record::Workspace;
use git_proof::seal::{self, SealRequest};
use serde_json::Value;

use super::begun;
use crate::anchoring::clones::Clone;
use crate::store::scratch::{Scratch, text};

/// Seals at some time.
fn seal_at(repo: &Clone<'_>, time: &str) -> seal::SealOutcome {
    let context = Context::new(repo.path.clone()).with_clock(Timestamp::parse(time).unwrap());
    seal::seal(&mut Workspace::open(context).unwrap(), &SealRequest::default()).unwrap()
}

fn seal(repo: &Clone<'_>) -> Value {
    serde_json::from_str(&repo.seal_text(0)).unwrap()
}

#[test]
fn seal_by_a_clock_that_went_back_takes_the_time_of_the_one_before_and_says_so() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    repo.explain("a");
    seal_at(&repo, "2999-01-01T00:00:00.000Z");
    repo.explain("b");
    let second = seal_at(&repo, "2998-01-01T00:00:00.000Z");
    assert_eq!(second.sealed_at.as_str(), "2999-01-01T00:00:00.000Z");
    assert!(second.clock.is_some_and(|clock| clock.contains("still to come")));
    let (exit, found) = repo.rounds();
    assert_eq!((exit, text(&found, "verdict")), (Some(0), "pass"), "a clock breaks nothing: {found}");
    assert!(text(&found["rounds"][0], "clock").contains("still to come"), "{found}");
    repo.passes("HEAD");
}

#[test]
fn round_that_was_sealed_by_a_clock_in_the_past_holds() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    repo.explain("a");
    let sealed = seal_at(&repo, "1999-01-01T00:00:00.000Z");
    assert_eq!(sealed.sealed_at.as_str(), "1999-01-01T00:00:00.000Z");
    assert!(text(&seal(&repo), "opened_at") <= text(&seal(&repo), "sealed_at"));
    assert_eq!(repo.rounds().0, Some(0));
}

#[test]
fn local_time_zone_changes_nothing() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    repo.explain("a");
    let mut command = repo.proof(&["--json", "seal"]);
    let output = command.env("TZ", "Pacific/Kiritimati").output().unwrap();
    assert!(output.status.success());
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(text(&said, "sealed_at").ends_with('Z'));
    let now = Context::new(".".into()).now();
    let behind = now.seconds() - Timestamp::parse(text(&said, "sealed_at")).unwrap().seconds();
    assert!((0..600).contains(&behind), "{behind}");
}
