//! The work of git's commit hooks: they name the session that explains a commit in its message, and attest or anchor
//! it.

use super::anchor::{AnchorOutcome, is_attested, on_commits};
use super::evidence::has_evidence;
use super::lines::heal;
use super::squash as squashing;
use crate::context::Context;
use crate::error::{Code, Result};
use crate::git::{self, Commit, Git};
use crate::hint::Step;
use crate::proof::change::GitAttestation;
use crate::proof::digest::{CommitId, TreeId};
use crate::proof::record::Id;
use crate::proof::trailer::{self, ProofTrailer, ProofTrailers, RootTrailer};
use crate::record::{Workspace, names_agent};
use crate::store::{self, CommitHint, NewAttestation, NewEvent, RootRow, SessionRow};

/// The lines about the proof that a commit's message should have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageAdvice {
    /// A trailer to be added.
    pub add: Option<ProofTrailer>,
    /// Something that the person should know.
    pub say: Option<String>,
    /// Why the commit must not be made.
    pub refuse: Option<String>,
    /// The session that is to know of the commit once it is made.
    pub expects: Option<Id>,
}

/// Decides which lines about its proof a message that is about to be committed should have.
pub fn before_commit(workspace: &Workspace, git: &Git, message: &[u8]) -> Result<MessageAdvice> {
    let named = ProofTrailers::parse(message).trailers;
    for trailer in &named {
        if let ProofTrailer::Root(root) = trailer
            && let Some(why) = unknown_root(workspace, git, root)?
        {
            return Ok(MessageAdvice { refuse: Some(why), ..MessageAdvice::default() });
        }
    }
    let Some(row) = current(workspace)? else { return Ok(MessageAdvice::default()) };
    let mut advice = MessageAdvice::default();
    if row.is_open() {
        advice.expects = Some(row.id().clone());
        if row.opening.proof_grade {
            advice.add = Some(ProofTrailer::Session(row.id().clone()));
        }
    } else if let Some(root) = workspace.store.root(row.id())? {
        finalized_advice(workspace, git, &root, message, &mut advice)?;
    }
    if !adds_trailers(git) || advice.add.as_ref().is_some_and(|add| named.contains(add)) {
        advice.add = None;
    }
    Ok(advice)
}

/// The session that is to know of a commit whose message is left alone.
pub fn before_fixup(workspace: &Workspace) -> Result<Option<Id>> {
    Ok(current(workspace)?.filter(SessionRow::is_open).map(|row| row.id().clone()))
}

/// Lets the next commit know of a session that was just finalized, if it is of what is staged.
pub(crate) fn write_commit_hint(workspace: &mut Workspace, root: &RootRow) -> Result<()> {
    let staged = staged_changes(workspace, &root.session_id)?;
    if staged.is_empty() {
        return Ok(());
    }
    workspace.store.write_commit_hint(&workspace.repository.worktree(), &CommitHint { root: trailer_of(root), staged })
}

/// The same by the hint that `finalize` left, without opening the store. `None` if the hint is not for exactly this
/// commit: the caller must then ask the store.
pub fn commit_hint(context: &Context, git: &Git, message: &[u8]) -> Result<Option<MessageAdvice>> {
    let place = git.place();
    let special = ["SQUASH_MSG", "rebase-merge", "rebase-apply"].iter().any(|name| place.git_dir.join(name).exists());
    let named = context.variable("GIT_PROOF_SESSION").is_some()
        || names_agent(context)
        || !ProofTrailers::parse(message).trailers.is_empty();
    if special || named {
        return Ok(None);
    }
    let Some(CommitHint { root, mut staged }) = store::read_commit_hint(&place.store_path(), &place.worktree()) else {
        return Ok(None);
    };
    let Some(tree) = git.staged_tree()? else { return Ok(None) };
    staged.retain(|said| said.tree == tree);
    let fit = if staged.is_empty() { Fit::No } else { fits(context, git, &staged, &tree, message)? };
    let expects = Some(root.session_id.clone());
    let advice = |add| MessageAdvice { add, expects, ..MessageAdvice::default() };
    Ok(match fit {
        Fit::Yes => Some(advice(adds_trailers(git).then_some(ProofTrailer::Root(root)))),
        Fit::Unclear => Some(advice(None)),
        Fit::No => None,
    })
}

/// Whether commits name their session: some projects forbid such marks.
fn adds_trailers(git: &Git) -> bool {
    git.bool_setting("proof.trailers").unwrap_or(true)
}

/// The changes that a session attests and that were only staged.
fn staged_changes(workspace: &Workspace, session: &Id) -> Result<Vec<GitAttestation>> {
    let mut attested = workspace.store.attested(session)?;
    attested.retain(|said| said.commit.is_none());
    Ok(attested)
}

/// How a commit names a finalized session.
fn trailer_of(root: &RootRow) -> RootTrailer {
    RootTrailer { session_id: root.session_id.clone(), scheme: root.scheme, root: root.root, count: root.record_count }
}

/// A finalized session is named only by a commit of the very tree that it attested while it was staged.
fn finalized_advice(
    workspace: &Workspace,
    git: &Git,
    root: &RootRow,
    message: &[u8],
    advice: &mut MessageAdvice,
) -> Result<()> {
    let session = &root.session_id;
    let mut staged = staged_changes(workspace, session)?;
    if staged.is_empty() {
        return Ok(());
    }
    let Some(tree) = git.staged_tree()? else { return Ok(()) };
    staged.retain(|said| said.tree == tree);
    let fit = fits(&workspace.context, git, &staged, &tree, message)?;
    if matches!(fit, Fit::Yes | Fit::Unclear) {
        advice.expects = Some(session.clone());
    }
    match fit {
        Fit::Yes => {
            advice.add = Some(ProofTrailer::Root(trailer_of(root)));
        }
        Fit::No if workspace.store.commits_of(session)?.is_empty() => {
            advice.say = Some(format!(
                "session {session} is finalized and explains another change than the one being committed; nothing was \
                 added. To explain this one, commit it and then: {}",
                Step::Cover("HEAD".into())
            ));
        }
        Fit::No | Fit::Unclear => {}
    }
    Ok(())
}

/// Whether what is being committed is what was attested.
enum Fit {
    Yes,
    No,
    /// It is if it goes on top of HEAD, and it seems to replace HEAD. The note will be written all the same, if it is.
    Unclear,
}

/// Compares the change that the commit will make with those that were attested: against HEAD, or against HEAD's parent
/// where HEAD is amended. Git does not tell its hooks which. An amended commit keeps the author's date of HEAD, but so does
/// a new one that is made in the same second. Then the command line of git tells; where it cannot be seen, a commit with
/// the message of HEAD is taken for an amend, and post-commit says so if another one turns out to be one.
fn fits(context: &Context, git: &Git, staged: &[GitAttestation], tree: &TreeId, message: &[u8]) -> Result<Fit> {
    let head = git.tip("HEAD")?.map(|head| git.commit(&head)).transpose()?;
    let is_said = |before: Option<&TreeId>| -> Result<bool> {
        let change = git.change_between(before, tree)?;
        Ok(change.is_some() && staged.iter().any(|said| said.change_id == change))
    };
    let on_top = is_said(head.as_ref().map(|head| &head.tree))?;
    let Some(head) = head.filter(|head| has_date_of(context, head)) else {
        return Ok(if on_top { Fit::Yes } else { Fit::No });
    };
    if on_top {
        let has_message_of_head = || {
            let mark = comment_mark(git);
            let text = |message: &[u8]| trailer::without_comments(message, mark.as_bytes());
            text(&head.message) == text(message)
        };
        return Ok(if git::is_amending().unwrap_or_else(has_message_of_head) { Fit::Unclear } else { Fit::Yes });
    }
    let amended = match head.parents.as_slice() {
        parents @ ([] | [_]) => is_said(git.tree_of(parents.first().copied())?.as_ref())?,
        _ => false,
    };
    Ok(if amended { Fit::Yes } else { Fit::No })
}

/// The prefix of comment lines in a message, which git removes.
pub fn comment_mark(git: &Git) -> String {
    let mark = git.setting("core.commentString").or_else(|| git.setting("core.commentChar"));
    mark.filter(|mark| mark != "auto").unwrap_or_else(|| "#".to_owned())
}

/// Whether the commit that is being made has the author's date of HEAD: it amends it, or is of the same second.
fn has_date_of(context: &Context, head: &Commit) -> bool {
    let date = context.variable("GIT_AUTHOR_DATE").and_then(|date| date.into_string().ok());
    date.is_some_and(|date| date.trim_start_matches('@').as_bytes() == head.author_time)
}

/// Why a root that a message names cannot stand; `None` if it can.
fn unknown_root(workspace: &Workspace, git: &Git, root: &RootTrailer) -> Result<Option<String>> {
    let session = &root.session_id;
    let known = match workspace.store.root(session) {
        Ok(known) => known,
        Err(error) if error.code == Code::SessionNotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(known) = known {
        let same = known.root == root.root && known.record_count == root.count && known.scheme == root.scheme;
        let why = || {
            format!(
                "Proof-Root names session {session}, whose root is {} with {} entries",
                known.root, known.record_count
            )
        };
        return Ok((!same).then(why));
    }
    // A session of someone else: its evidence came with a fetch.
    if has_evidence(git, &root.root)? {
        return Ok(None);
    }
    Ok(Some(format!("Proof-Root names session {session}, and no such finalized session is known here")))
}

/// What was done about a commit that was just made.
#[derive(Debug, Clone, Default)]
pub struct AfterCommit {
    pub head: Option<CommitId>,
    /// The open session that attests it now.
    pub attested: Option<Id>,
    /// The finalized session that was anchored on it.
    pub anchored: Option<AnchorOutcome>,
    /// The finalized session that its message names although it explains another change.
    pub lent: Option<Id>,
    /// How many lines of ours another writer had overwritten, and were put back.
    pub restored: u64,
}

/// Attests the commit that was just made in the session that is open, or anchors the one that attested it before.
pub fn after_commit(workspace: &mut Workspace, git: &Git) -> Result<AfterCommit> {
    let mut done = AfterCommit::default();
    let Some(head) = git.tip("HEAD")? else { return Ok(done) };
    squashing::after_reset(workspace, git, &head)?;
    done.head = Some(head);
    let Some(row) = current(workspace)? else {
        workspace.store.settle()?;
        return Ok(done);
    };
    bind(workspace, git, &row, &head, &mut done)?;
    if done.anchored.is_none() {
        done.restored = heal(workspace, git)?;
    }
    if !row.is_open() {
        workspace.store.settle()?;
    }
    Ok(done)
}

/// Attests a commit in a session that is open, or anchors one that attested it before.
pub(super) fn bind(
    workspace: &mut Workspace,
    git: &Git,
    row: &SessionRow,
    head: &CommitId,
    done: &mut AfterCommit,
) -> Result<()> {
    let session = row.id();
    if row.is_open() {
        match attest(workspace, git, session, head, false) {
            Ok(new) => {
                done.attested = new.then(|| session.clone());
                return Ok(());
            }
            // Another process has finalized it since.
            Err(error) if error.code == Code::AlreadyFinalized => {}
            Err(error) => return Err(error),
        }
    }
    if let Some(root) = workspace.store.root(session)? {
        let attested = workspace.store.attested(row.id())?;
        let commit = git.commit(head)?;
        let change = git.change_id(&commit)?;
        let is_it = |said: &GitAttestation| said.tree == commit.tree && said.change_id == change;
        if attested.iter().any(|said| said.commit.is_none() && is_it(said)) {
            let outcome = on_commits(workspace, git, &root, &[*head], None)?;
            done.restored = outcome.restored;
            done.anchored = Some(outcome);
        } else {
            let named = ProofTrailers::parse(&commit.message).trailers;
            let lent =
                |trailer: &ProofTrailer| matches!(trailer, ProofTrailer::Root(root) if root.session_id == *row.id());
            let explained = is_attested(&attested, &commit, change.as_ref());
            done.lent = (!explained && named.iter().any(lent)).then(|| row.id().clone());
        }
    }
    Ok(())
}

/// Attests a commit; `afterwards` says that it was made before the session. `false` if the session has attested it already,
/// or has closed with a reflection on exactly this change.
pub fn attest(workspace: &mut Workspace, git: &Git, session: &Id, commit: &CommitId, afterwards: bool) -> Result<bool> {
    let metadata = afterwards.then_some("{\"afterwards\":true}");
    let commit = git.commit(commit)?;
    let change = GitAttestation { change_id: git.change_id(&commit)?, commit: Some(commit.id), tree: commit.tree };
    let (operation, timestamp) = (change.to_text(), workspace.context.now());
    let new = NewAttestation { id: workspace.context.new_id(), operation: &operation, metadata, timestamp };
    let event = NewEvent { tool: "git_commit", arguments: operation.as_bytes(), at: timestamp };
    workspace.store.attest_commit(session, &change, new, &event)
}

/// Attests, in the session that is open here, the commits that became of commits which it had attested: it is still at
/// work on them.
pub(super) fn attest_rewritten(workspace: &mut Workspace, git: &Git, rewritten: &[(CommitId, CommitId)]) -> Result<()> {
    let Some(row) = current(workspace)?.filter(SessionRow::is_open) else { return Ok(()) };
    let attested = workspace.store.attested(row.id())?;
    let mut seen = std::collections::HashSet::new();
    for (from, to) in rewritten {
        let is_of = |id: &CommitId| attested.iter().any(|said| said.commit == Some(*id));
        if is_of(from) && seen.insert(*to) && git.has(&to.0) {
            attest(workspace, git, row.id(), to, false)?;
        }
    }
    Ok(())
}

/// The staged change as an attestation; `None` if nothing differs from HEAD, or if the change cannot be computed.
pub(crate) fn staged_change(workspace: &Workspace) -> Result<Option<GitAttestation>> {
    let git = workspace.git()?;
    let Some(tree) = git.staged_tree()? else { return Ok(None) };
    let head = git.tip_tree("HEAD")?;
    if head == Some(tree) {
        return Ok(None);
    }
    let change_id = git.change_between(head.as_ref(), &tree)?;
    Ok(change_id.map(|change| GitAttestation { change_id: Some(change), commit: None, tree }))
}

/// The session in which commits are made here, if there is one.
fn current(workspace: &Workspace) -> Result<Option<SessionRow>> {
    match workspace.session(None).and_then(|session| workspace.store.session(&session)) {
        Ok(row) => Ok(Some(row)),
        Err(error) if error.code == Code::SessionNotFound => Ok(None),
        Err(error) => Err(error),
    }
}
