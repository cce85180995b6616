//! `sync`: shares what was proven. Fetch into tracking refs, merge as unions, push all refs at once, and again if someone
//! else was faster.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::git::{Git, NOTES, PushRefusal, ROUNDS, Remote, SHARED, WHY};
use crate::hint::{Step, hint};
use crate::judge::{VerifyRequest, verify};
use crate::proof::digest::{CommitId, RootHash};
use crate::proof::finding::{Finding, FindingCode, Verdict};
use crate::publish::{explain_proven, heal, merge, note_of, release, unexplained};
use crate::recall::{self, Pace};
use crate::record::Workspace;
use crate::seal::{Remade, join, seen_at, vanished};
use crate::setup;
use crate::store::SeenRound;

/// How often a lost race is run again. Each time, someone else has won.
const ATTEMPTS: u32 = 40;
/// The longest wait between two attempts.
const MOST_PAUSE: Duration = Duration::from_secs(5);

/// What `sync` did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SyncOutcome {
    pub remote: String,
    /// The refs that the remote had news of.
    pub fetched: Vec<&'static str>,
    /// The refs that the remote got news of.
    pub pushed: Vec<&'static str>,
    /// How often someone else was faster.
    pub races: u32,
    /// How many lines of ours another writer had overwritten, and were put back.
    pub restored: u64,
    /// The seals of ours that were made again because someone else was faster.
    pub remade: Vec<Remade>,
    /// What is wrong with the remote's rounds, or with another of its refs. All else was shared.
    pub findings: Vec<Finding>,
}

impl SyncOutcome {
    fn new(remote: &Remote) -> Self {
        Self { remote: remote.shown(), ..Self::default() }
    }
}

/// Fetches what a remote has and merges it, and pushes nothing. Later answers know what the remote did not have.
pub fn fetch(workspace: &mut Workspace, named: Option<&str>, progress: &mut dyn FnMut(&str)) -> Result<SyncOutcome> {
    let git = workspace.git()?;
    git.must_be_writable()?;
    let remote = git.remote(named)?;
    let mut outcome = SyncOutcome::new(&remote);
    let is_first = git.tip(NOTES)?.is_none();
    progress(&format!("asking {}", remote.name));
    let seen = workspace.store.seen_rounds()?;
    let theirs = git.list_remote(&remote)?;
    take(workspace, &git, &remote, (&theirs, &seen), &mut outcome, progress)?;
    git.remember_answer(&remote, &theirs)?;
    settle(workspace, &git, is_first, progress);
    Ok(outcome)
}

/// How many commits of HEAD get a line for `git log` that have none.
const EXPLAINED: usize = 50;

/// Updates what reading commands use: the index from files to decisions, and the lines for `git log`. Failures are
/// ignored: those commands then find and show less.
fn settle(workspace: &mut Workspace, git: &Git, is_first: bool, progress: &mut dyn FnMut(&str)) {
    progress("indexing which commits changed which files");
    let _ = recall::refresh(git, &mut workspace.store, Pace::AtLeisure);
    let _ = explain_newest(workspace, is_first);
}

/// Lets `git log` say why the newest commits were made, those whose proofs hold. The first proofs that come into a
/// clone switch this on; if the user switches it off afterwards, it stays off.
fn explain_newest(workspace: &Workspace, is_first: bool) -> Result<()> {
    if is_first && workspace.git()?.tip(NOTES)?.is_some() {
        setup::show_why(&workspace.context)?;
    }
    let git = workspace.git()?;
    if !git.shows_notes(WHY) || git.tip(NOTES)?.is_none() {
        return Ok(());
    }
    let commits = unexplained(&git, git.newest(&["HEAD"], EXPLAINED)?)?;
    if commits.is_empty() {
        return Ok(());
    }
    let revisions = commits.iter().map(ToString::to_string).collect();
    let judged = verify(&workspace.context, &VerifyRequest { revisions, ..VerifyRequest::default() })?;
    let proven: Vec<(CommitId, RootHash)> = judged
        .commits
        .iter()
        .filter(|commit| commit.verdict == Verdict::Pass)
        .filter_map(|commit| Some((commit.commit, commit.sessions.iter().find(|session| session.holds)?.root)))
        .collect();
    explain_proven(&git, &proven)
}

/// Shares with a remote. `progress` is told what is being done.
pub fn sync(workspace: &mut Workspace, named: Option<&str>, progress: &mut dyn FnMut(&str)) -> Result<SyncOutcome> {
    let git = workspace.git()?;
    git.must_be_writable()?;
    let remote = git.remote(named)?;
    let is_first = git.tip(NOTES)?.is_none();
    let mut outcome = SyncOutcome { restored: heal(workspace, &git)?, ..SyncOutcome::new(&remote) };
    let mut atomic = true;
    loop {
        let begun = Instant::now();
        progress(&format!("asking {}", remote.name));
        let seen = workspace.store.seen_rounds()?;
        let theirs = git.list_remote(&remote)?;
        let blocked = take(workspace, &git, &remote, (&theirs, &seen), &mut outcome, progress)?;
        // Also where the push below is denied.
        git.remember_answer(&remote, &theirs)?;
        let mut ours = tips(&git)?;
        ours.retain(|shared, _| !blocked.contains(shared));
        let news: Vec<(&'static str, CommitId)> = SHARED
            .into_iter()
            .filter_map(|shared| Some((shared, *ours.get(shared)?)))
            .filter(|(shared, tip)| theirs.get(shared) != Some(tip))
            .collect();
        if news.is_empty() {
            settle(workspace, &git, is_first, progress);
            return arrived(workspace, &git, &remote, &ours, outcome);
        }
        progress(&format!("pushing to {}", remote.name));
        match push(&git, &remote, &news, atomic)? {
            Ok(()) => {
                git.remember_answer(&remote, &theirs.into_iter().chain(news.iter().copied()).collect())?;
                outcome.pushed = news.into_iter().map(|(shared, _)| shared).collect();
                settle(workspace, &git, is_first, progress);
                return arrived(workspace, &git, &remote, &ours, outcome);
            }
            Err(PushRefusal::NotAtomic) => atomic = false,
            Err(PushRefusal::Denied(why)) => return Err(denied(&remote, &why)),
            Err(PushRefusal::Raced(why)) => {
                outcome.races += 1;
                if outcome.races >= ATTEMPTS {
                    return Err(kept_out(&remote, why));
                }
                thread::sleep(pause(begun.elapsed(), outcome.races));
            }
        }
    }
}

/// What moving the proofs to another remote did.
#[derive(Debug, Clone, Serialize)]
pub struct MoveOutcome {
    /// The remote that has them from now on, and what was shared.
    #[serde(flatten)]
    pub outcome: SyncOutcome,
    /// Where they were shared before.
    pub from: String,
    /// The refs that were deleted there.
    pub deleted: Vec<&'static str>,
}

/// Shares the proofs with another remote from now on: fetches what the old one has, pushes it to the new one, sets
/// `proof.remote`, and deletes the proof refs of the old one. Each step is done before the next, so that a kill loses nothing.
pub fn move_to(workspace: &mut Workspace, named: &str, progress: &mut dyn FnMut(&str)) -> Result<MoveOutcome> {
    let git = workspace.git()?;
    let (old, new) = (git.remote(None)?, git.remote(Some(named))?);
    if old == new {
        return Err(Error::new(Code::InvalidParams, format!("the proofs are shared with {} already", new.shown()))
            .hint(hint!(Step::Sync, " shares them")));
    }
    fetch(workspace, Some(&old.name), progress)?;
    let outcome = sync(workspace, Some(&new.name), progress)?;
    // A name that would be meant anyway needs no setting.
    let by_default = git.branch_remote().is_ok_and(|remote| remote == new);
    git.set_proof_remote((!by_default).then_some(named))?;
    progress(&format!("deleting what {} has", old.shown()));
    let theirs = git.list_remote(&old)?;
    // A ref that changed there meanwhile has lines that were not moved, so it is not deleted.
    let mut moved = BTreeMap::new();
    for (shared, tip) in &theirs {
        if git.tip(&old.tracking(shared))? == Some(*tip) {
            moved.insert(*shared, *tip);
        }
    }
    if !moved.is_empty()
        && let Err(PushRefusal::Denied(why) | PushRefusal::Raced(why)) = git.delete_remote(&old, &moved)?
    {
        let refs: Vec<&str> = moved.keys().copied().collect();
        let said = format!("the proofs are shared with {} now, and {} keeps its copy", new.shown(), old.shown());
        return Err(Error::new(Code::RemoteFailed, said)
            .because(why)
            .hint(Step::GitPushDelete(old.shown(), refs.join(" "))));
    }
    let deleted = moved.into_keys().collect();
    Ok(MoveOutcome { outcome, from: old.shown(), deleted })
}

/// How long to wait after a lost race. Two that meet should not meet again at the same moment, and one that is slow must get
/// its turn: so the longer an attempt takes, and the more of them were lost, the longer everybody waits.
fn pause(attempt: Duration, races: u32) -> Duration {
    let spread = (std::process::id().wrapping_mul(31).wrapping_add(races.wrapping_mul(7))) % 17 + 3;
    (attempt * spread * races.min(10) / 40).min(MOST_PAUSE)
}

/// Every race was lost, or the remote has a lock that stays.
fn kept_out(remote: &Remote, why: String) -> Error {
    let name = &remote.name;
    let lock = why.split('\'').find(|part| part.strip_suffix(".lock").is_some()).map(str::to_owned);
    match lock {
        Some(lock) => Error::new(Code::RemoteFailed, format!("a ref of {name} is locked")).because(why).hint(hint!(
            format!("remove '{lock}' at {name} if no git is running there");
            "nothing is lost here, ", Step::Sync, " again"
        )),
        None => Error::new(Code::RemoteFailed, format!("others kept pushing to {name}"))
            .because(why)
            .hint(hint!("nothing is lost"; Step::Sync, " again")),
    }
}

/// The tips of the shared refs. The notes are read first, because a process that anchors moves them last: so the other
/// tips are never older than what the notes refer to.
fn tips(git: &Git) -> Result<BTreeMap<&'static str, CommitId>> {
    let mut tips = BTreeMap::new();
    for shared in SHARED.into_iter().rev() {
        if let Some(tip) = git.tip(shared)? {
            tips.insert(shared, tip);
        }
    }
    Ok(tips)
}

/// One push of all, or where the remote cannot do that, one after the other: a note never before what it rests on.
fn push(
    git: &Git,
    remote: &Remote,
    news: &[(&str, CommitId)],
    atomic: bool,
) -> Result<std::result::Result<(), PushRefusal>> {
    if atomic {
        return git.push(remote, news, true);
    }
    for one in news {
        if let Err(refusal) = git.push(remote, &[*one], false)? {
            return Ok(Err(refusal));
        }
    }
    Ok(Ok(()))
}

/// Fetches what the remote has and this clone does not, and merges it. The answer is which refs must not be pushed.
fn take(
    workspace: &mut Workspace,
    git: &Git,
    remote: &Remote,
    (theirs, seen): (&BTreeMap<&'static str, CommitId>, &[SeenRound]),
    outcome: &mut SyncOutcome,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<&'static str>> {
    let mut wanted = Vec::new();
    for (shared, tip) in theirs {
        if git.tip(&remote.tracking(shared))? != Some(*tip) {
            wanted.push(*shared);
        }
    }
    if !wanted.is_empty() {
        progress(&format!("fetching from {}", remote.name));
        git.fetch(remote, &wanted)?;
    }
    let mut blocked = Vec::new();
    outcome.findings.clear();
    if !theirs.contains_key(ROUNDS) {
        outcome.findings.extend(vanished(seen, remote));
    }
    for shared in SHARED.into_iter().filter(|shared| theirs.contains_key(shared)) {
        let changed = if shared == ROUNDS {
            let joined = join(workspace, git, remote, seen, false)?;
            outcome.remade.extend(joined.remade);
            outcome.findings.extend(joined.findings);
            blocked.extend(joined.blocked.then_some(ROUNDS));
            joined.changed
        } else {
            match merge(git, remote, shared) {
                // One unreadable ref on the remote must not stop the others from being shared.
                Err(error) if matches!(error.code, Code::LimitReached | Code::ObjectDamaged) => {
                    blocked.push(shared);
                    let message = format!("{shared} of {} was neither merged nor pushed: {error}", remote.name);
                    let hint = "whoever looks after the remote should look at that ref";
                    outcome.findings.push(Finding::unchecked(FindingCode::LimitReached, message).hint(hint));
                    false
                }
                merged => merged?,
            }
        };
        if changed && !outcome.fetched.contains(&shared) {
            outcome.fetched.push(shared);
        }
    }
    Ok(blocked)
}

/// The remote has all that this clone has.
fn arrived(
    workspace: &mut Workspace,
    git: &Git,
    remote: &Remote,
    ours: &BTreeMap<&'static str, CommitId>,
    outcome: SyncOutcome,
) -> Result<SyncOutcome> {
    for (shared, tip) in ours {
        let tracking = remote.tracking(shared);
        git.update(&tracking, "git-proof: sync", |old| Ok(((old != Some(*tip)).then_some(*tip), ())))?;
    }
    if let Some(tip) = ours.get(ROUNDS) {
        seen_at(workspace, git, &remote.name, tip)?;
    }
    release(workspace, git, remote)?;
    // Another process may have remembered a line meanwhile that is not in what was pushed.
    let Some(notes) = ours.get(NOTES) else { return Ok(outcome) };
    let notes = git.commit(notes)?.tree;
    let mut seen = Vec::new();
    for (commit, line) in workspace.store.unseen_after(0)?.0 {
        if note_of(git, &notes, &commit)?.contains(line.as_bytes()) {
            seen.push((commit, line));
        }
    }
    workspace.store.mark_seen(&seen, &remote.name)?;
    Ok(outcome)
}

fn denied(remote: &Remote, why: &str) -> Error {
    Error::new(Code::RemoteFailed, format!("{} does not take the proof refs", remote.name)).because(why).hint(
        "you may need the right to push refs/notes/proof and refs/proof/*; what was fetched is merged, and nothing is lost \
         here: someone who may push can fetch it from you",
    )
}
