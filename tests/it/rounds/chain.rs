//! Random histories of rounds: they hold, and any edit of any seal is found.

use git_proof::proof::digest::{AnchorId, RootHash, SealHash, sha256};
use git_proof::proof::logged::{ConsistencyProof, LoggedProof, RoundHead};
use git_proof::proof::record::Id;
use git_proof::proof::scheme::Scheme;
use git_proof::proof::seal::{Rounds, SealedSession};
use git_proof::proof::timestamp::Timestamp;
use git_proof::proof::tree::Tree;
use git_proof::proof::{log, seal::seal_hash};
use proptest::prelude::*;

/// What happens next: a session is finalized, or the round is sealed, with the first sessions of those that wait.
#[derive(Debug, Clone)]
enum Step {
    Session {
        anchors: u8,
        count: u32,
        scheme: u8,
    },
    /// How many of those that wait are deferred to the next round, and the minutes that the clock moves.
    Seal {
        deferred: u8,
        minutes: i8,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let session =
        (1..4u8, 1..1000u32, 0..4u8).prop_map(|(anchors, count, scheme)| Step::Session { anchors, count, scheme });
    let seal = (0..3u8, -50..50i8).prop_map(|(deferred, minutes)| Step::Seal { deferred, minutes });
    prop::collection::vec(prop_oneof![3 => session, 1 => seal], 1..40)
}

/// The texts of the seals that a history makes.
fn play(steps: &[Step]) -> Vec<String> {
    let mut rounds = Rounds::new();
    let (mut waiting, mut seals, mut hour) = (Vec::new(), Vec::new(), 500i64);
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Session { anchors, count, scheme } => {
                let mut ids: Vec<AnchorId> = (0..*anchors)
                    .map(|anchor| AnchorId::new(sha256(format!("{number} {anchor}").as_bytes())))
                    .collect();
                ids.sort_unstable();
                waiting.push(SealedSession {
                    anchors: ids,
                    count: u64::from(*count),
                    root: RootHash::new(sha256(format!("root {number}").as_bytes())),
                    scheme: Scheme::ALL[usize::from(*scheme)],
                    session_id: Id::parse(&format!("s{number}")).unwrap(),
                });
            }
            Step::Seal { deferred, minutes } => {
                let keep = waiting.len().saturating_sub(usize::from(*deferred));
                let later = waiting.split_off(keep);
                hour += i64::from(*minutes);
                let time = format!("2026-01-{:02}T{:02}:00:00.000Z", 1 + hour / 24 % 28, hour % 24);
                let time = Timestamp::parse(&time).unwrap();
                if let Some(seal) = rounds.seal(std::mem::replace(&mut waiting, later), time, time) {
                    let text = seal.to_text();
                    rounds.push(text.as_bytes()).unwrap();
                    seals.push(text);
                }
            }
        }
    }
    seals
}

/// The hash of the newest seal, if all of them hold.
fn verified(seals: &[impl AsRef<[u8]>]) -> Option<SealHash> {
    let mut rounds = Rounds::new();
    for seal in seals {
        rounds.push(seal.as_ref()).ok()?;
    }
    rounds.last().map(|(_, hash)| *hash)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn random_history_verifies_and_times_never_go_back(steps in steps()) {
        let seals = play(&steps);
        if let Some(last) = seals.last() {
            prop_assert_eq!(verified(&seals), Some(seal_hash(last.as_bytes())));
        }
        let times: Vec<Timestamp> =
            seals.iter().map(|seal| git_proof::proof::seal::Seal::parse(seal.as_bytes()).unwrap().sealed_at).collect();
        prop_assert!(times.is_sorted());
    }

    #[test]
    fn any_edit_of_any_seal_is_found(steps in steps(), which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let seals = play(&steps);
        prop_assume!(!seals.is_empty());
        let mut edited: Vec<Vec<u8>> = seals.iter().map(|seal| seal.clone().into_bytes()).collect();
        let seal = which.index(edited.len());
        let place = at.index(edited[seal].len());
        prop_assume!(edited[seal][place] != byte);
        edited[seal][place] = byte;
        // Either a seal does not fit, or the newest is not the one that was seen.
        prop_assert_ne!(verified(&edited), verified(&seals));
    }

    #[test]
    fn seal_that_is_left_out_doubled_or_moved_is_found(steps in steps(), one in any::<prop::sample::Index>(), other in any::<prop::sample::Index>()) {
        let seals = play(&steps);
        prop_assume!(seals.len() > 1);
        let (one, other) = (one.index(seals.len()), other.index(seals.len()));
        let mut without = seals.clone();
        without.remove(one);
        prop_assert_ne!(verified(&without), verified(&seals));
        let mut doubled = seals.clone();
        doubled.insert(one, seals[other].clone());
        prop_assert_eq!(verified(&doubled), None);
        if one != other {
            let mut moved = seals.clone();
            moved.swap(one, other);
            prop_assert_eq!(verified(&moved), None);
        }
    }

    #[test]
    fn logs_of_any_two_rounds_are_consistent_and_have_their_sessions(steps in steps()) {
        let seals: Vec<git_proof::proof::seal::Seal> =
            play(&steps).iter().map(|seal| git_proof::proof::seal::Seal::parse(seal.as_bytes()).unwrap()).collect();
        let mut tree = Tree::new(Scheme::V1Rfc9162);
        let mut index = 0;
        for seal in &seals {
            for session in &seal.sessions {
                tree.push(log::leaf(session.to_text().as_bytes()));
            }
        }
        let head = |seal: &git_proof::proof::seal::Seal| RoundHead::new(seal.round, &seal.log);
        let Some(last) = seals.last() else { return Ok(()) };
        for seal in &seals {
            let proof = ConsistencyProof::make(&tree, head(seal), head(last)).unwrap();
            let read = ConsistencyProof::parse(proof.to_line().as_bytes()).unwrap();
            prop_assert_eq!(read.verify(&last.log), Ok(()));
            for session in &seal.sessions {
                let proof = LoggedProof::make(&tree, head(last), index, session.clone()).unwrap();
                let read = LoggedProof::parse(proof.to_line().as_bytes()).unwrap();
                prop_assert_eq!(read.verify(&last.log), Ok(()));
                index += 1;
            }
        }
    }
}
