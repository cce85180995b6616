//! Clocks that are wrong, and clocks that are right: days count from the time of the seal, and never below none.

use git_proof::context::Context;
use git_proof::keep::{self, Because, RetainOutcome, RetainRequest, Zone};
use git_proof::proof::timestamp::Timestamp;
use git_proof::record::{self, Workspace};
use git_proof::seal::{self, SealRequest};

use super::{anchored, zone_of};
use crate::store::scratch::{Scratch, in_clean_environment};

fn at(scratch: &Scratch, day: &str) -> Workspace {
    let now = Timestamp::parse(&format!("{day}T12:00:00.000Z")).unwrap();
    Workspace::open(Context::new(scratch.place.clone()).with_clock(now)).unwrap()
}

fn seal(scratch: &Scratch, session: &str, day: &str) {
    anchored(scratch, session);
    seal::seal(&mut at(scratch, day), &SealRequest::default()).unwrap();
}

fn retain(scratch: &Scratch, day: &str) -> RetainOutcome {
    keep::retain(&mut at(scratch, day), &RetainRequest::default()).unwrap()
}

/// What moved, where to and why.
fn moves(outcome: &RetainOutcome) -> Vec<(&str, Zone, Because)> {
    outcome.moves.iter().map(|moved| (moved.session_id.as_str(), moved.to, moved.because)).collect()
}

#[test]
fn thirty_days_after_its_seal_a_session_is_cold_and_a_year_after_it_a_person_is_asked() {
    let scratch = Scratch::new();
    if !in_clean_environment(
        &scratch,
        "retention::clocks::thirty_days_after_its_seal_a_session_is_cold_and_a_year_after_it_a_person_is_asked",
    ) {
        return;
    }
    seal(&scratch, "one", "2026-03-01");
    assert_eq!(moves(&retain(&scratch, "2026-03-30")), []);
    assert_eq!(moves(&retain(&scratch, "2026-03-31")), [("one", Zone::Cold, Because::Days)]);
    assert_eq!(retain(&scratch, "2027-02-28").undecided, 0);
    let year = retain(&scratch, "2027-03-01");
    assert_eq!((year.undecided, year.to_decide[0].days), (1, 365));
    // To read it does not make it younger, but it is not cold.
    record::log(&mut at(&scratch, "2027-03-02"), Some("one"), None).unwrap();
    assert_eq!((moves(&retain(&scratch, "2027-03-31")), retain(&scratch, "2027-03-31").undecided), (vec![], 0));
    assert_eq!(moves(&retain(&scratch, "2027-04-01")), [("one", Zone::Cold, Because::Days)]);
    let freeze = RetainRequest { freeze: Some(Vec::new()), ..RetainRequest::default() };
    let frozen = keep::retain(&mut at(&scratch, "2027-04-02"), &freeze).unwrap();
    assert_eq!(moves(&frozen), [("one", Zone::Frozen, Because::Asked)]);
}

#[test]
fn seal_of_the_future_makes_nothing_old() {
    let scratch = Scratch::new();
    if !in_clean_environment(&scratch, "retention::clocks::seal_of_the_future_makes_nothing_old") {
        return;
    }
    seal(&scratch, "one", "2099-01-01");
    for day in ["2026-03-01", "2020-01-01", "2099-01-30"] {
        assert_eq!(moves(&retain(&scratch, day)), [], "{day}");
    }
    assert_eq!(moves(&retain(&scratch, "2099-01-31")), [("one", Zone::Cold, Because::Days)]);
    // Back from a future in which it was archived: it is read, and stays.
    record::log(&mut at(&scratch, "2099-01-31"), Some("one"), None).unwrap();
    assert_eq!(moves(&retain(&scratch, "2026-03-01")), []);
    assert_eq!(zone_of(&scratch, "one"), "warm");
}

#[test]
fn clock_that_went_backwards_only_keeps_things_longer() {
    let scratch = Scratch::new();
    if !in_clean_environment(&scratch, "retention::clocks::clock_that_went_backwards_only_keeps_things_longer") {
        return;
    }
    seal(&scratch, "one", "2026-03-01");
    seal(&scratch, "two", "2026-01-01"); // takes over the time of the round before
    assert_eq!(moves(&retain(&scratch, "2025-01-01")), []);
    assert_eq!(moves(&retain(&scratch, "2026-02-15")), []);
    let later = retain(&scratch, "2026-03-31");
    assert_eq!(moves(&later), [("one", Zone::Cold, Because::Days), ("two", Zone::Cold, Because::Days)]);
}
