//! A team: many clones that work, seal and share in an order that nobody planned.

use std::collections::BTreeMap;

use super::ROUNDS;
use crate::anchoring::clones::Clone;
use crate::store::scratch::Scratch;

/// Clones of the team. `GIT_PROOF_TEST_CLONES` asks for more.
fn team_size() -> usize {
    std::env::var("GIT_PROOF_TEST_CLONES").ok().and_then(|text| text.parse().ok()).unwrap_or(16)
}

/// A random order that is the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

#[test]
fn many_clones_that_seal_and_share_in_any_order_end_with_one_chain_and_each_session_once() {
    let scratch = Scratch::new();
    let remote = Clone::remote(&scratch);
    let first = remote.clone("first", &[]);
    first.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    first.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    let team: Vec<Clone<'_>> = (0..team_size()).map(|at| remote.clone(&format!("clone-{at}"), &[])).collect();
    let mut dice = Dice(0x2026_1117);
    for (at, clone) in team.iter().enumerate() {
        let id = format!("s{at}");
        clone.explain(&id);
        clone.git(&["push", "--quiet", "origin", &format!("HEAD:refs/heads/{id}")]);
        // Now and then two of them do something at the same moment, each without knowing of the other.
        let mut running = Vec::new();
        for _ in 0..2 {
            let other = &team[dice.roll(at + 1)];
            let what = match dice.roll(3) {
                0 => "seal",
                _ => "sync",
            };
            running.push(
                other
                    .proof(&[what])
                    .stdout(std::process::Stdio::null())
                    .stderr(std::process::Stdio::null())
                    .spawn()
                    .unwrap(),
            );
        }
        for mut child in running {
            // There may be nothing to seal; but nothing may fail in another way.
            assert!(matches!(child.wait().unwrap().code(), Some(0 | 1)));
        }
    }
    // Everyone shares what is left, then one seals the rest, then everyone hears of it.
    for clone in &team {
        assert_eq!(clone.run(&["sync"]).exit, Some(0));
    }
    team[0].git(&["fetch", "--quiet", "origin"]);
    team[0].json(&["sync"]);
    let _ = team[0].run(&["seal"]);
    team[0].json(&["sync"]);
    let mut rounds_of: BTreeMap<String, usize> = BTreeMap::new();
    for session in team[0].sealed().into_iter().flatten() {
        *rounds_of.entry(session).or_default() += 1;
    }
    let expected: BTreeMap<String, usize> = (0..team_size()).map(|at| (format!("s{at}"), 1)).collect();
    assert_eq!(rounds_of, expected, "every session in exactly one seal");
    for clone in team.iter().step_by(7) {
        clone.json(&["sync"]);
        assert_eq!(clone.tip(ROUNDS), remote.tip(ROUNDS));
        assert_eq!(clone.rounds().0, Some(0));
    }
    remote.is_whole();
}
