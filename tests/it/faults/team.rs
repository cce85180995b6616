//! A team of four clones, at work at the same time, whose processes are killed at any moment, those of git included. What a
//! command said it did must be there afterwards, and everything must verify in every clone.
//!
//! `GIT_PROOF_TEST_KILLS` and `GIT_PROOF_TEST_SECONDS` make it longer, `GIT_PROOF_TEST_SEED` plays other games.

mod checks;
mod member;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use member::Member;

use crate::anchoring::clones::Clone;
use crate::anchoring::killed::unlock;
use crate::rounds::ROUNDS;
use crate::store::scratch::Scratch;

const TEAM: usize = 4;

/// A setting of the environment.
fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |value| value.parse().unwrap())
}

/// The remote, and what all members count.
struct Game<'a> {
    remote: Clone<'a>,
    /// Held by whoever runs a command; whoever takes locks away from the remote waits until nobody does.
    at_work: RwLock<()>,
    kills: AtomicUsize,
    wanted: usize,
    /// Locks that a killed git left behind.
    locks: AtomicUsize,
    end: Instant,
}

impl Game<'_> {
    fn is_over(&self) -> bool {
        self.kills.load(Relaxed) >= self.wanted || Instant::now() >= self.end
    }

    /// Takes away the locks of the remote when nobody is at work there.
    fn unlock_remote(&self) {
        let _nobody = self.at_work.write().unwrap();
        self.locks.fetch_add(unlock(&self.remote.path), Relaxed);
    }
}

#[test]
fn team_whose_processes_are_killed_at_any_moment_loses_nothing_that_was_acknowledged() {
    let seed = setting("GIT_PROOF_TEST_SEED", 20_261_117);
    let scratch = Scratch::without_repository();
    let remote = Clone::remote(&scratch);
    remote.git(&["config", "receive.autogc", "false"]);
    let first = remote.clone("first", &[]);
    first.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    first.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    let game = Game {
        remote,
        at_work: RwLock::new(()),
        kills: AtomicUsize::new(0),
        wanted: usize::try_from(setting("GIT_PROOF_TEST_KILLS", 60)).unwrap(),
        locks: AtomicUsize::new(0),
        end: Instant::now() + Duration::from_secs(setting("GIT_PROOF_TEST_SECONDS", 3)),
    };
    eprintln!("GIT_PROOF_TEST_SEED={seed}");
    let mut team: Vec<Member<'_>> = (0..TEAM).map(|at| Member::join(&game, at, seed)).collect();
    std::thread::scope(|scope| {
        for member in &mut team {
            scope.spawn(|| {
                // On a slow machine the time may be over before anything came about.
                let nothing_yet = |member: &Member<'_>| member.told.roots.is_empty() || game.kills.load(Relaxed) == 0;
                while !game.is_over() || nothing_yet(member) {
                    member.step();
                }
            });
        }
    });
    game.unlock_remote();
    for member in &mut team {
        member.close();
    }
    // One seals what is left, and everyone hears of it.
    let (sealer, _) = team.split_first_mut().unwrap();
    sealer.gather();
    sealer.seal_the_rest();
    for member in &mut team {
        member.gather();
    }
    let (kills, steps) = (game.kills.load(Relaxed), team.iter().map(|member| member.steps).sum::<usize>());
    eprintln!("{kills} kills in {steps} commands; {} locks were left behind", game.locks.load(Relaxed));
    for member in &team {
        eprintln!("{}", member.told);
        member.lost_nothing();
    }
    assert_one_chain(&game, &team);
    assert!(kills > 0 && team.iter().all(|member| !member.told.roots.is_empty()), "nothing came about");
}

/// All have the same chain. It has every finalized session that covers a commit once, and all that was said to be sealed.
fn assert_one_chain(game: &Game<'_>, team: &[Member<'_>]) {
    let mut sealed: BTreeMap<String, usize> = BTreeMap::new();
    for session in team[0].clone.sealed().into_iter().flatten() {
        *sealed.entry(session).or_default() += 1;
    }
    assert!(sealed.values().all(|times| *times == 1), "sealed twice: {sealed:?}");
    let mut missing = BTreeSet::new();
    for member in team {
        assert_eq!(member.clone.tip(ROUNDS), game.remote.tip(ROUNDS));
        let told = member.told.sealed.iter().chain(&member.told.rooted);
        missing.extend(told.filter(|session| !sealed.contains_key(*session)));
    }
    assert!(missing.is_empty(), "not sealed: {missing:?}");
    game.remote.is_whole();
}
