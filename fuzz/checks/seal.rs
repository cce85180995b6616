//! Seals and their chain.

use std::collections::HashSet;

use git_proof::proof::log;
use git_proof::proof::scheme::Scheme;
use git_proof::proof::seal::{BrokenSeal, Rounds, Seal, seal_hash};
use git_proof::proof::tree::Tree;

use super::assert_canonical;

/// A seal, or one seal a line.
pub fn seal(data: &[u8]) {
    let mut seals = Vec::new();
    let mut found = Rounds::new();
    for line in data.split(|byte| *byte == b'\n') {
        let parsed = Seal::parse(line);
        if let Ok(seal) = &parsed {
            assert_eq!(seal.to_text().as_bytes(), line, "printing gives back the bytes");
            assert_canonical(line);
            seals.push(seal.clone());
        }
        let before = format!("{found:?}");
        match (found.push(line), &parsed) {
            (Ok(pushed), Ok(seal)) => assert_eq!(pushed, seal),
            (Ok(pushed), Err(malformed)) => panic!("{pushed:?} was pushed and cannot be read: {malformed}"),
            (Err(error), _) => {
                assert_eq!(matches!(error, BrokenSeal::Malformed(_)), parsed.is_err());
                assert!(!error.to_string().is_empty());
                assert_eq!(format!("{found:?}"), before, "a seal that is refused changes nothing");
                continue;
            }
        }
        assert_eq!(found.last().map(|(_, hash)| *hash), Some(seal_hash(line)));
        assert!(found.push(line).is_err(), "no round is sealed twice");
    }
    repaired(seals);
}

/// The sessions that can be read, sealed anew round by round, are a chain that holds.
fn repaired(seals: Vec<Seal>) {
    let mut rounds = Rounds::new();
    let mut log = Tree::new(Scheme::V1Rfc9162);
    let mut sealed = HashSet::new();
    for read in seals {
        let (last, size, root) = (rounds.last().cloned(), log.count(), log.root());
        let mut seen = HashSet::new();
        let twice = !read.sessions.iter().all(|session| seen.insert(session.session_id.clone()));
        let before = !sealed.is_disjoint(&seen);
        let Some(made) = rounds.seal(read.sessions, read.opened_at, read.sealed_at) else { continue };
        let text = made.to_text();
        assert_canonical(text.as_bytes());
        match rounds.push(text.as_bytes()) {
            Ok(pushed) => assert_eq!((pushed, twice, before), (&made, false, false)),
            Err(BrokenSeal::SessionTwice(_)) if twice => continue,
            Err(BrokenSeal::SealedBefore(..)) if before => continue,
            Err(error) => panic!("{error}"),
        }
        sealed.extend(seen);
        made.sessions.iter().for_each(|session| log.push(log::leaf(session.to_text().as_bytes())));
        assert_eq!((made.log.size, Some(made.log.root)), (log.count(), log.root()));
        let Some(((last, hash), root)) = last.zip(root) else { continue };
        assert_eq!((made.previous, made.round), (Some(hash), last.round + 1));
        assert!(made.sealed_at >= last.sealed_at);
        let proof = match log::consistency(&log, size, log.count()) {
            Ok(proof) => proof.expect("the log has grown"),
            Err(never) => match never {},
        };
        assert!(log::is_consistent((size, &root), (made.log.size, &made.log.root), &proof));
        assert!(!log::is_consistent((size, &made.log.root), (made.log.size, &root), &proof));
    }
}
