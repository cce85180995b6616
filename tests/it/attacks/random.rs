//! Random mutations of what is stored never become a pass for another content.

use super::Proven;
use crate::store::scratch::Dice;

/// How many mutations of each kind of file are tried.
const TRIES: usize = 40;

/// A mutation of some bytes: bits turned, lines exchanged, repeated or left out, bytes cut or doubled.
fn mutated(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let below = |dice: &mut Dice, limit: usize| usize::try_from(dice.below(limit as u64)).unwrap();
    match below(dice, 7) {
        0 => {
            let (one, two) = (below(dice, lines.len()), below(dice, lines.len()));
            lines.swap(one, two);
        }
        1 => drop(lines.remove(below(dice, lines.len()))),
        2 => {
            let again = lines[below(dice, lines.len())].clone();
            lines.insert(below(dice, lines.len() + 1), again);
        }
        3 => lines[0].truncate(below(dice, bytes.len())),
        kind => {
            let mut whole = bytes.to_vec();
            let at = below(dice, whole.len());
            match kind {
                4 => whole[at] ^= 1 << below(dice, 8),
                5 => drop(whole.remove(at)),
                _ => whole.insert(at, whole[at]),
            }
            return whole;
        }
    }
    lines.concat()
}

/// What must be the same in two texts that say the same: the lines that are there, in notes in any order and number.
fn meaning(bytes: &[u8], ordered: bool) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if !ordered {
        lines.retain(|line| !line.trim_ascii().is_empty());
        lines.sort();
        lines.dedup();
    }
    lines
}

#[test]
fn mutated_evidence_never_passes() {
    let proven = Proven::new();
    let good = (proven.evidence().join("\n") + "\n").into_bytes();
    let path = Proven::evidence_path(&proven.root);
    let mut dice = Dice(1);
    for _ in 0..TRIES {
        let bad = mutated(&good, &mut dice);
        if meaning(&bad, true) == meaning(&good, true) {
            continue;
        }
        proven.put("refs/proof/evidence", &path, "100644", &proven.blob(&bad));
        let judged = proven.gate();
        assert_eq!(judged.exit, Some(1), "{}: {judged:?}", String::from_utf8_lossy(&bad));
    }
}

#[test]
fn mutated_note_never_passes() {
    let proven = Proven::new();
    let good = (proven.note(&proven.head) + "\n").into_bytes();
    let mut dice = Dice(2);
    let time = good.windows(11).position(|window| window == b"anchored_at").unwrap() + 14;
    let (mut refused, mut other_times) = (0, 0);
    for _ in 0..TRIES {
        let bad = mutated(&good, &mut dice);
        if meaning(&bad, false) == meaning(&good, false) {
            continue;
        }
        proven.set_note(&proven.head, &bad);
        let judged = proven.gate();
        // Nothing binds the time at which an anchor was made but a signature.
        let same_but_time =
            bad.len() == good.len() && bad[time + 24..] == good[time + 24..] && bad[..time] == good[..time];
        if judged.exit == Some(0) {
            assert!(same_but_time, "{}: {judged:?}", String::from_utf8_lossy(&bad));
            other_times += 1;
        } else {
            assert_eq!(judged.exit, Some(1), "{}: {judged:?}", String::from_utf8_lossy(&bad));
            refused += 1;
        }
    }
    assert!(refused > other_times, "{refused} {other_times}");
}
