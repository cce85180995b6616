//! `seal`: ends a round. Every session that is finalized, anchored and not sealed yet goes in, from git and not only from
//! this store, so that one person can seal what a team pushed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;

use serde::Serialize;

use super::sealable::{LeftOut, Sealable, sealable};
use crate::error::{Code, Error, Result};
use crate::git::{self, FILE, Git, ROUNDS, TreeEntry};
use crate::hint::{Step, hint};
use crate::proof::digest::{AnchorId, CommitId, RootHash, SealHash};
use crate::proof::finding::Finding;
use crate::proof::note::{NoteLine, Signature};
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;
use crate::proof::seal::{Seal, SealedSession, seal_hash};
use crate::proof::timestamp::Timestamp;
use crate::publish::{Line, heal, is_true, publish};
use crate::record::{Workspace, lock, note_done};
use crate::rounds::{SEAL_FILE, Walked, walk};
use crate::store::{HERE, NewLine, SeenRound};

/// Anchors that are named in an answer though they could not be sealed.
const NAMED: usize = 100;

/// What `seal` is asked for.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct SealRequest {
    /// Whether sessions that are still open wait for the next round; else they keep this one from being sealed.
    pub defer: bool,
    /// Whether to sign; as the setting `proof.sign` says if not given.
    pub sign: Option<bool>,
}

/// A round that was sealed.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct SealOutcome {
    /// Its number.
    pub round: u64,
    /// Hash of its seal.
    pub seal: SealHash,
    /// The seal's commit.
    pub commit: CommitId,
    /// Hash of the seal before.
    pub previous: Option<SealHash>,
    /// The tree over the session roots.
    pub root: RootHash,
    /// Root of the log of all sessions so far.
    pub log_root: RootHash,
    /// How many sessions that log has.
    pub log_size: u64,
    /// When the round began.
    pub opened_at: Timestamp,
    pub sealed_at: Timestamp,
    /// The sessions that it sealed.
    pub sessions: Vec<SealedView>,
    /// The open sessions that wait for the next round.
    pub deferred: Vec<Id>,
    /// The anchors that could not be sealed, at most a hundred of them.
    pub left_out: Vec<LeftOut>,
    /// How many there are.
    #[schemars(skip)]
    pub left_out_count: u64,
    /// Whether it was signed.
    pub signed: bool,
    /// A warning, if this clock is behind the time of the round before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// Lines of the notes that were skipped because git-proof did not write them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A session in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SealedView {
    pub session_id: Id,
    pub root: RootHash,
    /// Its number of entries.
    pub count: u64,
    pub scheme: Scheme,
    pub anchors: Vec<AnchorId>,
}

impl SealedView {
    pub(crate) fn of(session: &SealedSession) -> Self {
        Self {
            session_id: session.session_id.clone(),
            root: session.root,
            count: session.count,
            scheme: session.scheme,
            anchors: session.anchors.clone(),
        }
    }
}

/// A seal that has its place in git, but that no ref names yet.
pub(super) struct Written {
    pub(super) seal: Seal,
    pub(super) hash: SealHash,
    pub(super) commit: CommitId,
    pub(super) signature: Option<Signature>,
}

pub fn seal(workspace: &mut Workspace, request: &SealRequest) -> Result<SealOutcome> {
    let git = workspace.git()?;
    git.open_packs(true); // the whole chain, and all notes
    git.must_be_writable()?;
    let deferred = workspace.store.open_sessions()?;
    if !deferred.is_empty() && !request.defer {
        return Err(still_open(&deferred));
    }
    heal(workspace, &git)?; // such as the signature of a seal after which someone was killed
    let sign = request.sign.unwrap_or_else(|| git.setting("proof.sign").is_some_and(|value| is_true(&value)));
    loop {
        let seen = workspace.store.seen_rounds()?;
        let tip = git.tip(ROUNDS)?;
        let (walked, sealed) = known(&git, tip.as_ref());
        let walked = walked.whole()?;
        crate::rounds::still_there(&seen, &walked)?;
        let (sessions, left_out, passed_over) = collect(workspace, &git, &sealed)?;
        let now = workspace.context.now();
        let last = walked.rounds.last().map(|(seal, _)| seal.sealed_at);
        let opened_at = last.or_else(|| sessions.iter().map(|(_, at)| *at).min()).map_or(now, |at| at.min(now));
        let Some(seal) = walked.rounds.seal(sessions.into_iter().map(|(session, _)| session).collect(), opened_at, now)
        else {
            return Err(nothing(&left_out, passed_over.as_ref()));
        };
        let clock = last.filter(|last| *last > now).map(|last| {
            format!(
                "the round before was sealed at {last}, which is still to come by this clock; its time was taken over"
            )
        });
        let written = write(workspace, &git, seal, tip.as_ref(), sign)?;
        keep_signature(workspace, &written)?;
        let _alone = alone(workspace)?;
        if !git.move_in_turn(ROUNDS, tip.as_ref(), &written.commit, "git-proof: seal")? {
            continue; // another process of this clone was faster
        }
        announce(workspace, &git, &written)?;
        note_done(workspace, "round_seal", None, &written.hash.to_string())?;
        let Written { seal, hash, commit, signature } = written;
        return Ok(SealOutcome {
            round: seal.round,
            seal: hash,
            commit,
            previous: seal.previous,
            root: seal.root,
            log_root: seal.log.root,
            log_size: seal.log.size,
            opened_at: seal.opened_at,
            sealed_at: seal.sealed_at,
            sessions: seal.sessions.iter().map(SealedView::of).collect(),
            deferred,
            left_out_count: left_out.len() as u64,
            left_out: left_out.into_iter().take(NAMED).collect(),
            signed: signature.is_some(),
            clock,
            findings: passed_over.into_iter().collect(),
        });
    }
}

/// Waits until no other process of this clone moves the chain. It is held until what was done is remembered: else one that
/// seals could remember its seal after another has replaced it, and miss it for ever.
pub(super) fn alone(workspace: &Workspace) -> Result<File> {
    lock(workspace, "rounds.lock", "sealing a round here, or taking over those of a remote")
}

/// Writes a seal and its commit, and signs it. No ref names it yet, so a signature that fails leaves nothing behind.
pub(super) fn write(
    workspace: &Workspace,
    git: &Git,
    seal: Seal,
    parent: Option<&CommitId>,
    sign: bool,
) -> Result<Written> {
    let text = seal.to_text();
    let signature = if sign { Some(git::sign(&workspace.context, text.as_bytes())?) } else { None };
    let blob = git.write_blob(text.as_bytes())?;
    let tree = git.write_tree(&mut [TreeEntry { mode: FILE, name: SEAL_FILE.as_bytes().to_vec(), id: blob }])?;
    let parents: Vec<CommitId> = parent.into_iter().copied().collect();
    let sessions = seal.sessions.len();
    let message = format!("Round {}: {sessions} session{}", seal.round, if sessions == 1 { "" } else { "s" });
    let commit = git.write_commit(&tree, &parents, &message)?;
    Ok(Written { hash: seal_hash(text.as_bytes()), seal, commit, signature })
}

impl Written {
    /// The line of its note.
    fn signature_line(&self) -> Option<Line> {
        let line = NoteLine::Seal { seal: self.hash, signature: self.signature.clone()? };
        Some(Line { commit: self.commit, text: line.to_line().unwrap_or_default(), change: None })
    }
}

/// Keeps a signature in the store before any ref names the seal: whoever is killed right after that ref was moved does not
/// lose it. Where the seal comes to nothing, so does the line.
pub(super) fn keep_signature(workspace: &mut Workspace, written: &Written) -> Result<()> {
    let Some(line) = written.signature_line() else { return Ok(()) };
    let new = NewLine { commit: line.commit, line: &line.text, change: None };
    workspace.store.remember(&[new], None, workspace.context.now())
}

/// Remembers a seal that is the newest of the chain now, and puts its signature into its note.
pub(super) fn announce(workspace: &mut Workspace, git: &Git, written: &Written) -> Result<()> {
    if let Some(line) = written.signature_line() {
        publish(workspace, git, &[line], None)?;
    }
    workspace.store.see_newer_round(&SeenRound {
        place: HERE.to_owned(),
        round: written.seal.round,
        seal: written.hash,
        commit: written.commit,
        seen_at: workspace.context.now(),
    })
}

/// The anchors and the sessions that are sealed.
type Known = (HashSet<AnchorId>, HashSet<(Id, RootHash)>);

/// The chain so far, and what is in it.
pub(super) fn known(git: &Git, tip: Option<&CommitId>) -> (Walked, Known) {
    let (mut anchors, mut sessions) = (HashSet::new(), HashSet::new());
    let Some(tip) = tip else { return (Walked::default(), (anchors, sessions)) };
    let walked = walk(git, tip, &mut |sealed| {
        for session in &sealed.seal.sessions {
            anchors.extend(session.anchors.iter().copied());
            sessions.insert((session.session_id.clone(), session.root));
        }
    });
    (walked, (anchors, sessions))
}

/// The sessions that the next round seals, each with its time, the anchors that it leaves out, and what was passed over.
type Collected = (Vec<(SealedSession, Timestamp)>, Vec<LeftOut>, Option<Finding>);

/// The sessions that the next round seals, each with its time, in the order in which they were finalized as far as that
/// is known here.
fn collect(workspace: &Workspace, git: &Git, (anchors, sealed): &Known) -> Result<Collected> {
    let is_sealed = |anchor: &AnchorId, session: &Id, root: &RootHash| {
        anchors.contains(anchor) || sealed.contains(&(session.clone(), *root))
    };
    let (found, left_out, passed_over) = sealable(&workspace.context, git, is_sealed)?;
    let mut by_session: BTreeMap<(Id, RootHash, u64, Scheme), Vec<Sealable>> = BTreeMap::new();
    for anchor in found {
        let key = (anchor.session_id.clone(), anchor.root, anchor.count, anchor.scheme);
        by_session.entry(key).or_default().push(anchor);
    }
    let mut sessions = Vec::new();
    for ((session_id, root, count, scheme), anchors) in by_session {
        let anchored_at = anchors.iter().map(|anchor| anchor.anchored_at).min();
        // A session of someone else is not in this store.
        let here = match workspace.store.root(&session_id) {
            Err(error) if error.code == Code::SessionNotFound => None,
            found => found?.filter(|row| row.root == root).map(|row| row.finalized_at),
        };
        let at = here.or(anchored_at).unwrap_or_else(|| workspace.context.now());
        let ids: BTreeSet<AnchorId> = anchors.iter().map(|anchor| anchor.anchor_id).collect();
        sessions.push((SealedSession { anchors: ids.into_iter().collect(), count, root, scheme, session_id }, at));
    }
    sessions.sort_by(|one, other| {
        (one.1, &one.0.session_id, one.0.root).cmp(&(other.1, &other.0.session_id, other.0.root))
    });
    // Two roots under one id: a round has an id once, so the later one waits for the next round.
    let mut ids = HashSet::new();
    sessions.retain(|(session, _)| ids.insert(session.session_id.clone()));
    Ok((sessions, left_out, passed_over))
}

fn still_open(open: &[Id]) -> Error {
    let (many, them) = if open.len() == 1 { ("a session is", "it") } else { ("sessions are", "them") };
    let named: Vec<&str> = open.iter().take(5).map(Id::as_str).collect();
    let more = open.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let first = open.first().map(Id::to_string).unwrap_or_default();
    let closes = if open.len() == 1 { " closes it" } else { " closes the first of them" };
    Error::new(Code::OpenSessions, format!("{many} still open: {}{more}", named.join(", ")))
        .hint(hint!(
            Step::Done(first.clone()), " or ", Step::End(first), closes;
            Step::SealDefer, format!(" leaves {them} to the next round")
        ))
        .details(serde_json::json!({ "open": open }))
}

fn nothing(left_out: &[LeftOut], passed_over: Option<&Finding>) -> Error {
    let mut error = Error::new(Code::NothingToSeal, "there is no anchored session that is not sealed yet");
    if let Some(finding) = passed_over {
        error = error.because(&finding.message);
    }
    let error = match left_out.first() {
        None => error.hint(hint!("finalize a session that explains a commit"; Step::Sync, " fetches those of others")),
        Some(first) => error
            .because(format!("{} anchors do not hold; the first is on commit {}", left_out.len(), first.commit))
            .hint(hint!(Step::Verify(first.commit.to_string()), " tells why")),
    };
    error.details(serde_json::json!({ "left_out": left_out.iter().take(NAMED).collect::<Vec<_>>() }))
}
