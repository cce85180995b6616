//! Two chains of rounds that meet. The remote's is taken over if ours is its beginning. Seals of ours that nobody else has
//! seen are made again on top of it. Where both were published, neither gives way: that is a fork, and a person decides.

use serde::Serialize;

use super::make::{alone, announce, keep_signature, known, write};
use crate::error::{Code, Result};
use crate::git::{Git, NOTES, ROUNDS, Remote};
use crate::hint::{Step, hint};
use crate::proof::digest::{CommitId, SealHash};
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::note::NoteLine;
use crate::proof::seal::{Seal, seal_hash};
use crate::proof::timestamp::Timestamp;
use crate::publish::{Line, heal, note_of, publish};
use crate::record::Workspace;
use crate::rounds::{Walked, hash_of, is_of_the_future, links, seal_of};
use crate::store::{HERE, SeenRound};

/// The result of joining our chain of rounds with that of a remote.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Joined {
    #[serde(skip)]
    pub changed: bool,
    /// Whether ours must not be pushed.
    #[serde(skip)]
    pub blocked: bool,
    /// The seals of ours that were made again on top of the remote's.
    pub remade: Vec<Remade>,
    /// What is wrong with the remote's rounds.
    pub findings: Vec<Finding>,
}

/// A seal that was made again because someone else had sealed before it was pushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remade {
    /// The round that it was.
    pub was: u64,
    /// The round that it is; `None` if others had sealed all of its sessions.
    pub round: Option<u64>,
    /// Its sessions that others had not sealed.
    pub sessions: u64,
    /// Whether it was signed before and could not be signed again.
    pub unsigned: bool,
}

impl Joined {
    fn blocked(finding: Finding) -> Self {
        Self { blocked: true, findings: vec![finding], ..Self::default() }
    }
}

/// Takes over what a remote has. With `accept` a person has decided: the remote's chain is the one that counts. What was
/// `seen` must have been asked for before the remote was: another process may hear of a newer round meanwhile.
pub(crate) fn join(
    workspace: &mut Workspace,
    git: &Git,
    remote: &Remote,
    seen: &[SeenRound],
    accept: bool,
) -> Result<Joined> {
    let Some(theirs) = git.tip(&remote.tracking(ROUNDS))? else { return Ok(Joined::default()) };
    loop {
        let ours = git.tip(ROUNDS)?;
        // With `accept` go on even if both are equal: an earlier `accept` may have been stopped before it was
        // remembered.
        if ours == Some(theirs) && !accept {
            return Ok(Joined::default());
        }
        if let Some(joined) = attempt(workspace, git, remote, (ours, theirs), seen, accept)? {
            return Ok(joined);
        }
    }
}

/// `None` if another process of this clone came between.
fn attempt(
    workspace: &mut Workspace,
    git: &Git,
    remote: &Remote,
    (ours, theirs): (Option<CommitId>, CommitId),
    seen: &[SeenRound],
    accept: bool,
) -> Result<Option<Joined>> {
    let (walked, sealed) = known(git, Some(&theirs));
    if let Some(mut broken) = walked.broken.clone() {
        broken.message = format!("of {}: {}", remote.name, broken.message);
        return Ok(Some(Joined::blocked(broken)));
    }
    if let Some(early) = dated_ahead(remote, &walked, workspace.context.now()).filter(|_| !accept) {
        return Ok(Some(Joined::blocked(early)));
    }
    let mut joined = Joined::default();
    if !accept && let Some(before) = seen.iter().find(|seen| seen.place == remote.name && !walked.has(&seen.seal)) {
        joined.findings.push(wound_back(remote, before, &walked));
    }
    // Ours, from the newest back to where the two part.
    let Parting { suffix, twins, same_seals } = match ours.map(|ours| part(git, &ours, &walked)).transpose() {
        Ok(parting) => parting.unwrap_or_default(),
        Err(broken) => return Ok(Some(Joined::blocked(broken))),
    };
    let ahead = !suffix.is_empty() && parent_of_last(git, &suffix) == Some(theirs);
    if let Some(ours) = ours.filter(|_| ahead) {
        if accept {
            workspace.store.forget_rounds()?;
            seen_at(workspace, git, HERE, &ours)?;
        }
        remember(workspace, &remote.name, &walked, joined.findings.is_empty())?;
        return Ok(Some(joined));
    }
    // If the seals themselves stay the same and are only committed again, nothing published is changed.
    if !suffix.is_empty() && !same_seals && !accept && is_published(git, seen, &suffix)? {
        joined.blocked = true;
        joined.findings.push(forked(git, remote, &suffix, &walked));
        return Ok(Some(joined));
    }
    let mut tip = theirs;
    let mut rounds = walked.rounds.clone();
    let mut written = Vec::new();
    let mut signatures = Vec::new();
    for (our, their) in &twins {
        signatures.extend(signatures_of(git, our, their)?);
    }
    for commit in suffix.iter().rev() {
        let (old, _) = seal_of(git, commit)?;
        if same_seals {
            let again = write(workspace, git, old, Some(&tip), false)?;
            signatures.extend(signatures_of(git, commit, &again.commit)?);
            tip = again.commit;
            written.push(again);
            continue;
        }
        let left: Vec<_> = old
            .sessions
            .iter()
            .filter(|session| !sealed.1.contains(&(session.session_id.clone(), session.root)))
            .cloned()
            .collect();
        let mut remade = Remade { was: old.round, round: None, sessions: left.len() as u64, unsigned: false };
        if let Some(seal) = rounds.seal(left, old.opened_at, old.sealed_at) {
            let sign = !signatures_of(git, commit, commit)?.is_empty();
            // If signing fails, write the seal without a signature: an unsigned seal is better than none. Other errors
            // are real.
            let new = match write(workspace, git, seal.clone(), Some(&tip), sign) {
                Err(error) if matches!(error.code, Code::SigningFailed | Code::SigningUnset) => {
                    remade.unsigned = true;
                    write(workspace, git, seal, Some(&tip), false)?
                }
                new => new?,
            };
            if rounds.push(new.seal.to_text().as_bytes()).is_err() {
                unreachable!("a seal fits the chain that it was made for");
            }
            tip = new.commit;
            remade.round = Some(new.seal.round);
            written.push(new);
        }
        joined.remade.push(remade);
    }
    for new in &written {
        keep_signature(workspace, new)?;
    }
    if !signatures.is_empty() {
        publish(workspace, git, &signatures, None)?;
    }
    let _alone = alone(workspace)?;
    if git.tip(ROUNDS)? != ours {
        return Ok(None);
    }
    let before = workspace.store.seen_rounds()?;
    if accept {
        workspace.store.forget_rounds()?;
    }
    let_go(workspace, git, &suffix)?;
    let moved = git.move_in_turn(ROUNDS, ours.as_ref(), &tip, &format!("git-proof: rounds of {}", remote.name));
    if !matches!(moved, Ok(true)) {
        // The chain is as it was, and so is what must be in it.
        before.iter().try_for_each(|seen| workspace.store.see_round(seen))?;
        return moved.map(|_| None);
    }
    remember(workspace, &remote.name, &walked, joined.findings.is_empty())?;
    remember(workspace, HERE, &walked, true)?;
    for new in &written {
        announce(workspace, git, new)?;
    }
    joined.changed = ours != Some(tip);
    Ok(Some(joined))
}

/// The point at which our chain leaves the remote's.
#[derive(Default)]
struct Parting {
    /// Our commits whose seals the remote does not have, the newest first.
    suffix: Vec<CommitId>,
    /// Seals that both have, in two commits each: ours, and theirs.
    twins: Vec<(CommitId, CommitId)>,
    /// Whether the remote's whole chain is the beginning of ours, seal by seal. Then ours can follow it unchanged.
    same_seals: bool,
}

/// Compares our chain with the remote's, by the hashes of the seals.
fn part(git: &Git, ours: &CommitId, theirs: &Walked) -> Result<Parting, Finding> {
    let mut parting = Parting::default();
    for (commit, blob) in links(git, ours)? {
        let hash = hash_of(git, &commit, &blob)?;
        let Some(at) = theirs.commits.iter().rposition(|(_, known)| *known == hash) else {
            parting.suffix.push(commit);
            continue;
        };
        if parting.twins.is_empty() {
            parting.same_seals = at + 1 == theirs.commits.len();
        }
        let their = theirs.commits[at].0;
        if their == commit {
            break;
        }
        parting.twins.push((commit, their));
    }
    Ok(parting)
}

/// That the newest seal of a remote is dated in the future, if so: every later seal would have to be dated after it.
fn dated_ahead(remote: &Remote, walked: &Walked, now: Timestamp) -> Option<Finding> {
    let (seal, _) = walked.rounds.last().filter(|(seal, _)| is_of_the_future(seal, now))?;
    let message =
        format!("of {}: round {} is dated {}, which is still to come", remote.name, seal.round, seal.sealed_at);
    let hint = hint!("check the clocks"; Step::RoundsAccept(remote.name.clone()), " takes it as it is");
    Some(Finding::error(FindingCode::SealBroken, message).hint(hint))
}

/// Lowers the remembered end of our chain, *before* the ref is moved, so that a crash between the two is not reported later
/// as seals that are missing.
fn let_go(workspace: &mut Workspace, git: &Git, suffix: &[CommitId]) -> Result<()> {
    if suffix.is_empty() {
        return Ok(());
    }
    match parent_of_last(git, suffix) {
        Some(parting) => seen_at(workspace, git, HERE, &parting),
        None => workspace.store.forget_round(HERE),
    }
}

/// The parent of the oldest of these commits.
fn parent_of_last(git: &Git, commits: &[CommitId]) -> Option<CommitId> {
    git.commit(commits.last()?).ok()?.parents.first().copied()
}

/// Remembers the newest round of a place, unless something is wrong with it.
fn remember(workspace: &mut Workspace, place: &str, walked: &Walked, sound: bool) -> Result<()> {
    match walked.rounds.last() {
        Some((seal, hash)) if sound => workspace.store.see_round(&SeenRound {
            place: place.to_owned(),
            round: seal.round,
            seal: *hash,
            commit: walked.head().map_or_else(|| unreachable!("a round has a commit"), |(commit, _)| commit),
            seen_at: workspace.context.now(),
        }),
        _ => Ok(()),
    }
}

/// Remembers that a remote has the chain that ends in this commit.
pub(crate) fn seen_at(workspace: &mut Workspace, git: &Git, place: &str, tip: &CommitId) -> Result<()> {
    let (seal, text) = seal_of(git, tip)?;
    let (round, seal, seen_at) = (seal.round, seal_hash(&text), workspace.context.now());
    workspace.store.see_round(&SeenRound { place: place.to_owned(), round, seal, commit: *tip, seen_at })
}

/// Whether a remote has been seen with one of the seals of these commits.
fn is_published(git: &Git, seen: &[SeenRound], commits: &[CommitId]) -> Result<bool> {
    let hash = |commit: &CommitId| seal_of(git, commit).map(|(_, text)| seal_hash(&text));
    let ours = commits.iter().map(hash).collect::<Result<Vec<SealHash>>>()?;
    let tracked = git.refs_below("refs/proof/remote")?;
    let tracked = tracked.iter().filter(|(name, _)| name.ends_with("/rounds")).filter_map(|(_, tip)| hash(tip).ok());
    let seen = seen.iter().filter(|seen| seen.place != HERE).map(|seen| seen.seal);
    Ok(tracked.chain(seen).any(|seal| ours.contains(&seal)))
}

/// The signatures of a commit's seal, as lines for the note of a commit that carries the same seal.
fn signatures_of(git: &Git, commit: &CommitId, of: &CommitId) -> Result<Vec<Line>> {
    let Some(notes) = git.tip_tree(NOTES)? else { return Ok(Vec::new()) };
    let hash = seal_hash(&seal_of(git, commit)?.1);
    let lines = note_of(git, &notes, commit)?;
    let signs =
        |line: &&Vec<u8>| matches!(NoteLine::parse(line), Ok(Some(NoteLine::Seal { seal, .. })) if seal == hash);
    let text = |line: &Vec<u8>| String::from_utf8_lossy(line).into_owned();
    Ok(lines.iter().filter(signs).map(|line| Line { commit: *of, text: text(line), change: None }).collect())
}

/// The finding about a remote that has no rounds although this clone has seen some there; `None` if it never had any.
pub(crate) fn vanished(seen: &[SeenRound], remote: &Remote) -> Option<Finding> {
    seen.iter().find(|seen| seen.place == remote.name).map(|before| wound_back(remote, before, &Walked::default()))
}

fn wound_back(remote: &Remote, before: &SeenRound, walked: &Walked) -> Finding {
    let now = match walked.rounds.last() {
        Some((seal, _)) => format!("its chain ends at round {}", seal.round),
        None => "it has no rounds any more".to_owned(),
    };
    Finding::error(
        FindingCode::RoundsRolledBack,
        format!(
            "{} had round {} with seal {} at {}, and no longer has it: {now}",
            remote.name, before.round, before.seal, before.seen_at
        ),
    )
    .hint(hint!(
        "what this clone has is put back where it can be";
        "find out who took it away. If it is to be so: ", Step::RoundsAccept(remote.name.clone())
    ))
}

/// Both seals are named, so that others can be shown them.
fn forked(git: &Git, remote: &Remote, suffix: &[CommitId], walked: &Walked) -> Finding {
    let describe = |seal: &Seal, hash: &SealHash, commit: &CommitId| {
        format!("round {} with seal {hash} (commit {commit}, sealed at {})", seal.round, seal.sealed_at)
    };
    let first_of_ours = suffix.last().and_then(|commit| {
        let (seal, text) = seal_of(git, commit).ok()?;
        Some((seal.round, describe(&seal, &seal_hash(&text), commit)))
    });
    let (round, ours) = first_of_ours.unwrap_or((0, "a seal that cannot be read".to_owned()));
    let index = usize::try_from(round).ok().and_then(|round| round.checked_sub(1));
    let theirs = index.and_then(|index| walked.commits.get(index)).and_then(|(commit, hash)| {
        let (seal, _) = seal_of(git, commit).ok()?;
        Some(describe(&seal, hash, commit))
    });
    let theirs = theirs.unwrap_or_else(|| "a chain that ends before it".to_owned());
    Finding::error(
        FindingCode::RoundsForked,
        format!(
            "there are two chains of rounds, and both were published. Ours has {ours}; that of {} has {theirs}",
            remote.name
        ),
    )
    .hint(hint!(
        "someone has shown two people two histories: find out who before you decide. ",
        Step::RoundsAccept(remote.name.clone()),
        " takes that chain, and seals again on top of it what only ours has"
    ))
}

/// A remote's chain takes the place of ours, by the word of a person.
pub fn accept_rounds(workspace: &mut Workspace, named: Option<&str>) -> Result<Joined> {
    let git = workspace.git()?;
    git.must_be_writable()?;
    let remote = git.remote(named)?;
    heal(workspace, &git)?; // such as the signature of a seal that was made again by someone who was killed
    let seen = workspace.store.seen_rounds()?;
    let theirs = git.list_remote(&remote)?;
    if theirs.contains_key(ROUNDS) {
        git.fetch(&remote, &[ROUNDS])?;
    }
    join(workspace, &git, &remote, &seen, true)
}
