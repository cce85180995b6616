//! Finishes what an interrupted command left undone. Every step is idempotent, and looks only at what is not finished or not
//! published yet: files of commits whose hook was killed, finalized sessions after the last one that is known to be
//! anchored, lines of notes that no remote has, refs of local squashes. Nothing here walks the past.

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::git::{Git, Remote};
use crate::proof::digest::CommitId;
use crate::proof::record::Id;
use crate::publish::{self, Moment};
use crate::record::Workspace;

/// Most finalized sessions that one call looks at. A store of an older version has them all to be looked at, once.
const MOST_SESSIONS: u32 = 1000;

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Only work that is not finished, or not known to be on a remote.
    Unpublished,
    /// Also the evidence of everything that was published from this clone.
    Everything,
}

/// The interrupted work that was finished.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Repairs {
    /// The commits of which their session had not heard, because their hook was killed.
    pub commits: Vec<CommitId>,
    /// The finalized sessions that were anchored on the commits they attest.
    pub sessions: Vec<Id>,
    /// How many lines of notes, which another writer had overwritten, were put back.
    pub lines: u64,
    /// How many sessions whose evidence was missing were published again.
    pub evidence: u64,
    /// How many ranges of commits, which are or may be squashed, were added to the index.
    pub ranges: u64,
    /// The commits that others cannot check, because they were rewritten before they were pushed.
    pub uncheckable: Vec<CommitId>,
    /// The locks of dead processes of ours that were removed.
    pub locks: Vec<String>,
    /// Sentences about work that could not be finished, with the reason.
    pub left: Vec<String>,
}

impl Repairs {
    /// Whether there was nothing to do.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Nothing, because of an error.
    pub fn not_done(error: &Error) -> Self {
        Self { left: vec![in_words(error)], ..Self::default() }
    }

    /// One sentence for each kind of work that was done.
    pub fn sentences(&self) -> Vec<String> {
        let plural = |count: u64, one: &str, many: &str| match count {
            0 => None,
            1 => Some(one.to_owned()),
            count => Some(many.replace("{}", &count.to_string())),
        };
        let count = |length: usize| length as u64;
        let mut said: Vec<String> = [
            plural(
                count(self.commits.len()),
                "recorded a commit whose post-commit hook had not finished",
                "recorded {} commits whose post-commit hooks had not finished",
            ),
            plural(
                count(self.sessions.len()),
                "anchored a finalized session that had no anchor yet",
                "anchored {} finalized sessions that had no anchor yet",
            ),
            plural(
                self.lines,
                "another writer had overwritten a note of ours; its line is back",
                "another writer had overwritten notes of ours; {} lines are back",
            ),
            plural(
                self.evidence,
                "published the evidence of a session again, which the evidence ref had lost",
                "published the evidence of {} sessions again, which the evidence ref had lost",
            ),
            plural(
                self.ranges,
                "indexed a range of commits, so that a squash of them is found",
                "indexed {} ranges of commits, so that squashes of them are found",
            ),
        ]
        .into_iter()
        .flatten()
        .collect();
        said.extend(self.locks.iter().map(|lock| format!("removed {lock}, which a killed git-proof had left behind")));
        said.extend(self.uncheckable.iter().map(uncheckable));
        said.extend(self.left.iter().map(|why| format!("could not finish: {why}")));
        said.into_iter().map(|sentence| format!("git proof: {sentence}")).collect()
    }
}

/// Says that others cannot check a commit, and what helps.
pub fn uncheckable(commit: &CommitId) -> String {
    let id = &commit.to_string()[..12];
    format!(
        "others cannot check {id}: it was rewritten before it was pushed, and the commit that its session names stays here, \
         because it has text that was not pushed; git proof cover {id} explains the commit as it is now"
    )
}

/// Finishes what was left undone; with a remote, also what is to be indexed before it is shared with that remote. An error
/// is for a repository or store that fails, or that somebody else holds locked: then nothing else would get far either.
pub fn reconcile(workspace: &mut Workspace, remote: Option<&Remote>, extent: Extent) -> Result<Repairs> {
    let git = workspace.git()?;
    let mut repairs = Repairs::default();
    repairs.locks.extend(git.remove_left_lock().map(|lock| lock.display().to_string()));
    let mended = publish::mend(workspace, &git, Moment::Between);
    repairs.commits = tried(mended, &mut repairs.left)?.into_iter().map(|(_, commit)| commit).collect();
    anchor_sessions(workspace, &git, &mut repairs)?;
    repairs.lines = publish::heal(workspace, &git)?;
    let missing = publish::restore_evidence(workspace, &git, extent == Extent::Everything);
    repairs.evidence = tried(missing, &mut repairs.left)?;
    publish::squashed_at_head(workspace, &git)?;
    if let Some(remote) = remote {
        let indexed = publish::index_anchors(workspace, &git, remote)?;
        (repairs.ranges, repairs.uncheckable) = (indexed.ranges, indexed.uncheckable);
    }
    Ok(repairs)
}

/// Anchors the finalized sessions that were never anchored, and remembers up to which one all of them are.
fn anchor_sessions(workspace: &mut Workspace, git: &Git, repairs: &mut Repairs) -> Result<()> {
    let mut settled = None;
    let mut stuck = false;
    let mut failed = Ok(());
    for (number, session) in workspace.store.unsettled_roots(MOST_SESSIONS)? {
        match publish::anchor_unanchored(workspace, git, &session) {
            Ok(anchored) => repairs.sessions.extend(anchored.then_some(session)),
            // No later attempt can publish these.
            Err(error)
                if matches!(error.code, Code::ReflectionRequired | Code::SecretDetected | Code::LimitReached) =>
            {
                repairs.left.push(in_words(&error));
            }
            Err(error) => {
                stuck = true;
                failed = tried::<()>(Err(error), &mut repairs.left);
            }
        }
        if failed.is_err() {
            break;
        }
        if !stuck {
            settled = Some(number);
        }
    }
    // Roots that were settled before the error need no second look.
    settled.map_or(Ok(()), |number| workspace.store.settle_roots(number)).and(failed)
}

/// The outcome of a step. If it fails for a reason that concerns only this step, such as a missing key, the others go
/// on.
fn tried<T: Default>(step: Result<T>, left: &mut Vec<String>) -> Result<T> {
    match step {
        Err(error) if matches!(error.code, Code::RepositoryFailed | Code::StoreBusy | Code::StoreFailed) => Err(error),
        Err(error) => {
            left.push(in_words(&error));
            Ok(T::default())
        }
        done => done,
    }
}

/// An error on one line.
fn in_words(error: &Error) -> String {
    let hint = error.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{error}{hint}")
}
