//! The chain of rounds as git has it: each seal read once, in order, and held against those before it.

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::limits::{MAX_SEAL, MAX_SEALED, MAX_SEALS};
use crate::git::{FILE, Git, ObjectError, Read};
use crate::hint::{Step, hint};
use crate::proof::digest::{CommitId, ObjectId, SealHash};
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::seal::{Rounds, Seal, seal_hash};
use crate::proof::timestamp::Timestamp;
use crate::store::SeenRound;

pub(crate) const SEAL_FILE: &str = "seal.json";
/// A seal, where it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sealed<'a> {
    pub(crate) commit: CommitId,
    pub(crate) hash: SealHash,
    /// What it says.
    pub(crate) seal: &'a Seal,
}

/// The result of a walk over the chain.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// The chain as far as it holds.
    pub(crate) rounds: Rounds,
    /// The commit of each round that holds, from the first on.
    pub(crate) commits: Vec<(CommitId, SealHash)>,
    /// Why the rest does not hold.
    pub(crate) broken: Option<Finding>,
}

impl Walked {
    /// The newest round that holds.
    pub(crate) fn head(&self) -> Option<(CommitId, SealHash)> {
        self.commits.last().copied()
    }

    /// Whether the chain has a seal. The commit that carries a seal says nothing: two clones can put one seal into two
    /// commits.
    pub(crate) fn has(&self, seal: &SealHash) -> bool {
        self.commits.iter().any(|(_, known)| known == seal)
    }

    /// The chain, or an error if it does not hold.
    pub(crate) fn whole(self) -> Result<Self> {
        let Some(broken) = self.broken else { return Ok(self) };
        let code = if broken.code == FindingCode::SealBroken { Code::SealBroken } else { Code::ObjectMissing };
        let error = Error::new(code, "the chain of rounds does not hold").because(broken.message);
        Err(match broken.hint {
            Some(hint) => error.hint(hint),
            None => {
                error.hint(hint!("compare refs/proof/rounds with another clone: ", Step::Rounds, " shows it there"))
            }
        })
    }
}

/// Reads the chain that ends in a commit, from its first round on. What a seal says of its own number bounds the walk: the
/// ref may name any history.
pub(crate) fn walk(git: &Git, tip: &CommitId, each: &mut dyn FnMut(Sealed<'_>)) -> Walked {
    let mut walked = Walked::default();
    let commits = match links(git, tip) {
        Ok(commits) => commits,
        Err(broken) => {
            walked.broken = Some(broken);
            return walked;
        }
    };
    let (mut bytes, mut anchors) = (MAX_SEALS, MAX_SEALED);
    for (commit, blob) in commits.into_iter().rev() {
        let text = match git.blob(&blob, MAX_SEAL.min(bytes)) {
            Ok(text) => text,
            Err(error) => {
                walked.broken = Some(unreadable(&commit, &error));
                return walked;
            }
        };
        bytes -= text.len();
        let round = walked.commits.len() as u64 + 1;
        if let Err(why) = walked.rounds.push(&text) {
            walked.broken = Some(seal_broken(&format!("round {round}, commit {commit}: {why}")));
            return walked;
        }
        let Some((seal, hash)) = walked.rounds.last() else { return walked };
        let listed = seal.sessions.iter().map(|session| session.anchors.len().max(1)).sum();
        anchors = match anchors.checked_sub(listed) {
            Some(left) => left,
            None => {
                let why = format!("the rounds list more than {MAX_SEALED} anchors");
                walked.broken = Some(unreadable(&commit, &ObjectError::Limit(blob, why)));
                return walked;
            }
        };
        each(Sealed { commit, hash: *hash, seal });
        walked.commits.push((commit, *hash));
    }
    walked
}

/// The seal of a commit, and its bytes. What it says of its chain is not looked at.
pub(crate) fn seal_of(git: &Git, commit: &CommitId) -> Result<(Seal, Vec<u8>)> {
    let read = || -> Result<(Seal, Vec<u8>), Finding> {
        let (_, blob) = link(git, commit)?;
        let text = git.blob(&blob, MAX_SEAL).map_err(|error| unreadable(commit, &error))?;
        let seal = Seal::parse(&text).map_err(|error| seal_broken(&format!("commit {commit}: {error}")))?;
        Ok((seal, text))
    };
    read().map_err(|finding| Error::new(Code::SealBroken, "a seal cannot be read").because(finding.message))
}

/// The hash of the seal in a blob of a commit. What it says is not looked at.
pub(crate) fn hash_of(git: &Git, commit: &CommitId, blob: &ObjectId) -> Result<SealHash, Finding> {
    git.blob(blob, MAX_SEAL).map(|text| seal_hash(&text)).map_err(|error| unreadable(commit, &error))
}

/// The commits of a chain and their seals, the newest first.
pub(crate) fn links(git: &Git, tip: &CommitId) -> Result<Vec<(CommitId, ObjectId)>, Finding> {
    let (newest, blob) = link(git, tip)?;
    let text = git.blob(&blob, MAX_SEAL).map_err(|error| unreadable(tip, &error))?;
    let seal = Seal::parse(&text).map_err(|error| seal_broken(&format!("commit {tip}: {error}")))?;
    let mut commits = vec![(*tip, blob)];
    let mut parent = newest;
    while let Some(commit) = parent {
        if commits.len() > MAX_SEALED {
            let why = format!("there are more than {MAX_SEALED} rounds");
            return Err(unreadable(&commit, &ObjectError::Limit(blob, why)));
        }
        if commits.len() as u64 >= seal.round {
            return Err(seal_broken(&format!(
                "commit {tip} says that it is round {}, and has more behind it",
                seal.round
            )));
        }
        let (next, blob) = link(git, &commit)?;
        commits.push((commit, blob));
        parent = next;
    }
    Ok(commits)
}

/// The parent of a seal's commit, and its file.
fn link(git: &Git, id: &CommitId) -> Result<(Option<CommitId>, ObjectId), Finding> {
    let read = || -> Read<_> {
        let commit = git.commit(id)?;
        Ok((git.read_tree(&commit.tree)?, commit.parents))
    };
    let (entries, parents) = read().map_err(|error| unreadable(id, &error))?;
    let file = match entries.find(SEAL_FILE.as_bytes(), false) {
        Some(entry) if entries.len() == 1 && entry.mode == FILE => entry.id,
        _ => return Err(seal_broken(&format!("commit {id} has something else than the one file {SEAL_FILE}"))),
    };
    match parents.as_slice() {
        [] => Ok((None, file)),
        [parent] => Ok((Some(*parent), file)),
        _ => Err(seal_broken(&format!("commit {id} has more than one parent"))),
    }
}

fn seal_broken(message: &str) -> Finding {
    Finding::error(FindingCode::SealBroken, format!("refs/proof/rounds: {message}"))
        .hint(hint!("the chain was altered"; "compare it with another clone: ", Step::Rounds))
}

fn unreadable(commit: &CommitId, error: &ObjectError) -> Finding {
    match error {
        ObjectError::Missing(_) => {
            Finding::unchecked(FindingCode::ObjectMissing, format!("refs/proof/rounds, commit {commit}: {error}"))
                .hint(hint!(Step::Sync, ", or ", Step::GitFetchUnshallowRef("refs/proof/rounds".into())))
        }
        ObjectError::Limit(..) => Finding::unchecked(FindingCode::LimitReached, format!("commit {commit}: {error}")),
        ObjectError::Damaged(..) => seal_broken(&format!("commit {commit}: {error}")),
    }
}

/// Refuses to build on a chain that lacks a round which was there before. The caller must have read `seen` before the
/// ref, because a process that moves the ref remembers its rounds afterwards.
pub(crate) fn still_there(seen: &[SeenRound], walked: &Walked) -> Result<()> {
    for seen in seen {
        if !walked.has(&seen.seal) {
            let place = if seen.place.is_empty() { "here".to_owned() } else { format!("at {}", seen.place) };
            return Err(Error::new(
                Code::RoundsRolledBack,
                format!("round {} was seen {place}, and refs/proof/rounds does not have it", seen.round),
            )
            .because(format!("it was commit {} with seal {}, seen at {}", seen.commit, seen.seal, seen.seen_at))
            .hint(hint!(Step::Sync, " fetches the chain again"; Step::Rounds, " compares what there is"))
            .details(serde_json::json!({ "round": seen.round, "seal": seen.seal, "commit": seen.commit })));
        }
    }
    Ok(())
}

/// Opens the repository for a reader of all its rounds.
pub(crate) fn open(context: &Context) -> Result<Git> {
    let git = Git::discover(context)?;
    git.open_packs(true);
    Ok(git)
}

pub(crate) fn no_such(number: u64, last: u64) -> Error {
    let there = match last {
        0 => "there is none yet that holds".to_owned(),
        1 => "there is only round 1".to_owned(),
        last => format!("there are rounds 1 to {last}"),
    };
    Error::new(Code::RoundNotFound, format!("there is no round {number}: {there}"))
        .hint(hint!(Step::Rounds, " lists them"; Step::Sync, " fetches those of others, ", Step::Seal, " makes one"))
}

/// Whether a seal is dated later than clocks that differ a little can explain.
pub(crate) fn is_of_the_future(seal: &Seal, now: Timestamp) -> bool {
    const DIFFERENCE: i64 = 10 * 60;
    seal.sealed_at.seconds() > now.seconds() + DIFFERENCE
}
