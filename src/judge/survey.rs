//! The chain of rounds as a whole: every seal, who signed it, and whether what the seals list is still there.

use std::collections::HashSet;

use serde::Serialize;

use super::deleted::{finding as deleted, missing, noted};
use super::rules::Rules;
use super::trusted;
use crate::context::Context;
use crate::error::Result;
use crate::git::{EVIDENCE, Git, NOTES, PassedOver, ROUNDS, Read};
use crate::hint::{Step, hint};
use crate::proof::digest::{CommitId, RootHash, SealHash, TreeId};
use crate::proof::finding::{Finding, FindingCode, Severity, Verdict};
use crate::proof::seal::{Seal, SealedSession};
use crate::proof::timestamp::Timestamp;
use crate::publish::evidence_name;
use crate::rounds::Walked;
use crate::store::{SeenRound, Store};

/// Findings of one kind that are listed; the rest is counted.
const LISTED: usize = 20;

/// A round, by its seal.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct RoundView {
    /// Its number.
    pub round: u64,
    /// Hash of its seal.
    pub seal: SealHash,
    /// The seal's commit.
    pub commit: CommitId,
    /// Hash of the seal before.
    pub previous: Option<SealHash>,
    /// What its chain begins with.
    pub genesis: SealHash,
    /// The tree over the session roots.
    pub root: RootHash,
    /// Root of the log of all sessions so far.
    pub log_root: RootHash,
    /// How many sessions that log has.
    pub log_size: u64,
    /// When the round began.
    pub opened_at: Timestamp,
    /// When it was sealed.
    pub sealed_at: Timestamp,
    /// How many sessions it seals.
    pub sessions: u64,
    /// Who signed it, of those who are listed and valid now.
    pub signers: Vec<String>,
    /// Whether it counts by the policy: a listed sealer signed it.
    pub counts: bool,
    /// What is odd about its clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
}

/// What was found about the chain of rounds.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) verdict: Verdict,
    pub(crate) rounds: Vec<RoundView>,
    pub(crate) findings: Vec<Finding>,
    /// The sessions of the one round that was asked for.
    pub(crate) sessions: Vec<SealedSession>,
    pub(crate) seen: Vec<SeenRound>,
    pub(crate) walked: Walked,
}

/// Looks at the whole chain by the policy of the trusted branch; the sessions of round `of` are kept.
pub(crate) fn survey(context: &Context, git: &Git, of: Option<u64>) -> Result<Survey> {
    let now = context.now();
    let mut rules = trusted::rules_here(git, now)?;
    let store = Store::open(&git.place().store_path(), context.patience()).ok();
    let (mut found, mut sessions) = (Vec::new(), Vec::new());
    let mut roots: Vec<(u64, RootHash)> = Vec::new();
    let walked = rules.watch_seals(
        git,
        store.as_ref(),
        Some(&mut |sealed, keys| {
            if of == Some(sealed.seal.round) {
                sessions.clone_from(&sealed.seal.sessions);
            }
            roots.extend(sealed.seal.sessions.iter().map(|session| (sealed.seal.round, session.root)));
            found.push((view(sealed.seal, sealed.commit, sealed.hash, now), keys.to_vec()));
        }),
    )?;
    let rounds = found.into_iter().map(|(round, keys)| RoundView {
        signers: rules.seal_signers(&keys),
        counts: rules.seals.is_counted(round.round),
        ..round
    });
    let rounds = rounds.collect();
    let mut findings = rules.seals.findings.clone();
    if git.tip(ROUNDS)?.is_some() {
        findings.extend(gone(git, &rules, &roots)?);
    }
    let verdict = match findings.iter().map(|finding| finding.severity).max() {
        Some(Severity::Error) => Verdict::Fail,
        Some(Severity::Unchecked) => Verdict::Unchecked,
        _ if walked.commits.is_empty() => Verdict::Exempt,
        _ => Verdict::Pass,
    };
    let seen = store.map(|store| store.seen_rounds()).transpose()?.unwrap_or_default();
    Ok(Survey { verdict, rounds, findings, sessions, seen, walked })
}

fn view(seal: &Seal, commit: CommitId, hash: SealHash, now: Timestamp) -> RoundView {
    let clock = if seal.sealed_at > now {
        Some(format!("sealed at {}, which is still to come by this clock", seal.sealed_at))
    } else if seal.opened_at > seal.sealed_at {
        Some(format!("opened at {}, after it was sealed", seal.opened_at))
    } else {
        None
    };
    RoundView {
        round: seal.round,
        seal: hash,
        commit,
        previous: seal.previous,
        genesis: seal.genesis,
        root: seal.root,
        log_root: seal.log.root,
        log_size: seal.log.size,
        opened_at: seal.opened_at,
        sealed_at: seal.sealed_at,
        sessions: seal.sessions.len() as u64,
        signers: Vec::new(),
        counts: false,
        clock,
    }
}

/// Anchors and evidence that seals list and this clone does not have.
fn gone(git: &Git, rules: &Rules, roots: &[(u64, RootHash)]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    match git.tip_tree(NOTES)? {
        Some(notes) => {
            let noted = noted(git, &notes)?;
            let gone = missing(&rules.seals, &noted.anchors);
            let unread = noted.unread.as_deref();
            findings.extend(gone.iter().take(LISTED).map(|(anchor, sealed)| deleted(anchor, sealed, unread)));
            match unread {
                None => findings.extend(more(FindingCode::AnchorDeleted, gone.len())),
                Some(why) => findings.push(passed_over(NOTES, why)),
            }
        }
        None => findings.push(not_fetched(NOTES)),
    }
    match git.tip_tree(EVIDENCE)? {
        Some(evidence) => {
            let (there, passed) = shelved(git, &evidence, roots)?;
            findings.extend(passed.remark().map(|why| passed_over(EVIDENCE, &why)));
            let lacks = |root: &RootHash| !there.contains(evidence_name(root).as_bytes());
            let gone: Vec<&(u64, RootHash)> = roots.iter().filter(|(_, root)| lacks(root)).collect();
            findings.extend(gone.iter().take(LISTED).map(|(round, root)| {
                let message = format!("round {round} lists root {root}, and there is no evidence for it");
                Finding::error(FindingCode::EvidenceMissing, message)
                    .hint(hint!(Step::Sync, " in a clone that still has it brings it back"))
            }));
            findings.extend(more(FindingCode::EvidenceMissing, gone.len()));
        }
        None => findings.push(not_fetched(EVIDENCE)),
    }
    Ok(findings)
}

/// The names of the evidence in the folders where that of these roots belongs. Each folder is read once: to look every root
/// up by itself took as long as all else.
fn shelved(git: &Git, tree: &TreeId, roots: &[(u64, RootHash)]) -> Read<(HashSet<Vec<u8>>, PassedOver)> {
    let wanted = roots.iter().map(|(_, root)| evidence_name(root).as_bytes()[..2].to_vec());
    git.fanned_names(tree, wanted.collect())
}

/// Says that a proof ref has something in it that was not looked at. It fails nobody.
pub(crate) fn passed_over(name: &str, why: &str) -> Finding {
    Finding::warning(
        FindingCode::LimitReached,
        format!("{name} has something in it that git-proof did not write: {why}"),
    )
    .hint(hint!(Step::GitLogRef(name.to_owned()), " tells who pushed it"))
}

fn more(code: FindingCode, found: usize) -> Option<Finding> {
    let more = found.checked_sub(LISTED).filter(|more| *more > 0)?;
    Some(Finding::error(code, format!("and {more} more")))
}

fn not_fetched(name: &str) -> Finding {
    let message = format!("{name} is not in this clone, so what the seals list was not looked for");
    Finding::unchecked(FindingCode::RefNotFetched, message).hint(hint!(
        Step::Sync,
        ", or ",
        Step::GitFetchRef(name.to_owned())
    ))
}
