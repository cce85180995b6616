//! A person's word in a verdict: taken where policy lists the person, where nothing is wrong but that no anchor belongs to
//! the commit, and shown as what it is. A word is for one commit and is never found in any other way than by its note.

use serde::Serialize;

use super::evidence::Told;
use super::facts::Facts;
use super::gather::Gatherer;
use super::rules::Rules;
use super::verdict::CommitVerdict;
use crate::git::limits::Meter;
use crate::proof::digest::{CommitId, RootHash};
use crate::proof::finding::{Finding, FindingCode, Severity, Verdict};
use crate::proof::note::Signature;
use crate::proof::record::Id;
use crate::proof::signers::Signer;
use crate::proof::timestamp::Timestamp;
use crate::proof::trailer::{ProofTrailer, ProofTrailers};
use crate::proof::verify::{Evidence, judge_named};
use crate::proof::word::{NamedSession, Word};

/// Words of one note that are said not to count; a note may be full of them.
const NAMED: usize = 5;

/// What people say of a commit that nothing proves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Vouched {
    /// The people.
    pub by: Vec<String>,
    /// The reason that the first of them gives.
    pub reason: String,
    /// When the first of them said so, by the person's own clock.
    pub said_at: Timestamp,
    /// Where the range begins that the commit was made of, as the first says.
    pub base: Option<CommitId>,
    /// The last commit of that range.
    pub head: Option<CommitId>,
    /// The sessions that they name.
    pub sessions: Vec<VouchedSession>,
}

/// A session that a word names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct VouchedSession {
    /// The session, if its evidence was read.
    pub session_id: Option<Id>,
    /// Its root.
    pub root: RootHash,
    /// Its number of entries.
    pub count: u64,
    /// `verified`, `missing`, `not_fetched`, or `broken`.
    pub evidence: &'static str,
    /// Its intent, if the evidence was read and asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Its decisions and reflections, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
}

/// Lets words stand in for an anchor, if they may. `unbound` says that nothing is wrong with the anchors that were found
/// but that they are not for this commit.
pub(super) fn take(
    gatherer: &Gatherer<'_>,
    rules: &Rules,
    commit: &Facts,
    words: &[(Word, Signature)],
    trailers: &ProofTrailers,
    unbound: bool,
    verdict: &mut CommitVerdict,
) {
    let mut taken: Vec<(&Word, Signer<'_>)> = Vec::new();
    let mut refused = Vec::new();
    for (word, signature) in words {
        match voucher(rules, commit, word, signature, &gatherer.git.meter) {
            Ok(signer) => taken.push((word, signer)),
            Err(why) => refused.push(why),
        }
    }
    refused.sort();
    refused.dedup();
    let more = refused.len().saturating_sub(NAMED);
    refused.truncate(NAMED);
    refused.extend((more > 0).then(|| format!("{more} more words do not count")));
    verdict.findings.extend(refused.into_iter().map(|why| Finding::warning(FindingCode::WordNotTaken, why)));
    // The first word first, whatever the order of the lines.
    taken.sort_by_cached_key(|(word, _)| (word.said_at, word.to_text()));
    let Some((first, _)) = taken.first() else { return };
    let signers: Vec<Signer<'_>> = taken.iter().map(|(_, signer)| signer.clone()).collect();
    let by: Vec<String> = rules.signers.people(&signers).into_iter().map(str::to_owned).collect();
    if let Some(why) = still_refused(rules, &by, &taken, trailers, unbound, verdict) {
        verdict.findings.push(Finding::warning(FindingCode::WordNotTaken, why));
        return;
    }
    let mut named: Vec<NamedSession> = taken.iter().flat_map(|(word, _)| word.sessions.clone()).collect();
    named.sort_unstable();
    named.dedup();
    let (sessions, findings) = sessions(gatherer, rules, &named, verdict.proof_grade);
    let worst = findings.iter().map(|finding| finding.severity).max();
    verdict.findings.extend(findings);
    if worst == Some(Severity::Error) {
        verdict.verdict = Verdict::Fail;
        return;
    }
    // What a word stands in for stays visible, and says nothing any more.
    for finding in verdict.findings.iter_mut().filter(|finding| may_stand_in_for(finding.code)) {
        finding.severity = Severity::Warning;
    }
    if worst == Some(Severity::Unchecked) {
        verdict.verdict = Verdict::Unchecked;
        return;
    }
    let said = taken.iter().map(|(word, signer)| message(word, signer, &sessions));
    let said: Vec<Finding> = said.map(|said| Finding::warning(FindingCode::Vouched, said)).collect();
    verdict.findings.splice(0..0, said);
    verdict.verdict = Verdict::Vouched;
    verdict.vouched = Some(Box::new(Vouched {
        by,
        reason: first.reason.clone(),
        said_at: first.said_at,
        base: first.base,
        head: first.head,
        sessions,
    }));
}

/// What a person's word may stand in for: that the change is the proven one, in whatever way this shows.
fn may_stand_in_for(code: FindingCode) -> bool {
    matches!(
        code,
        FindingCode::AnchorMissing
            | FindingCode::BindingMismatch
            | FindingCode::BindingTooWeak
            | FindingCode::Replayed
            | FindingCode::PlaceAmbiguous
            | FindingCode::NotRooted
            | FindingCode::TrailerMismatch
    )
}

/// Whose word it is, if it is for this commit and of one whom policy lists; else why it does not count.
fn voucher<'a>(
    rules: &'a Rules,
    commit: &Facts,
    word: &Word,
    signature: &Signature,
    meter: &Meter,
) -> Result<Signer<'a>, String> {
    if word.commit != commit.id() {
        return Err(format!("a person's word for commit {} says nothing of this one", word.commit));
    }
    if word.tree != commit.tree() {
        return Err("a person's word names another tree than the commit has".to_owned());
    }
    // Nothing seals a word, so its key must be valid now.
    let signer =
        rules.signer(signature, word.to_text().as_bytes(), rules.now, meter).map_err(|finding| match finding.code {
            FindingCode::SignatureInvalid => "the signature of a person's word is not one of that word".to_owned(),
            _ => format!("a person's word does not count: {}", finding.message),
        })?;
    let vouchers = &rules.requirements.vouchers;
    if vouchers.iter().any(|voucher| signer.answers_to(voucher)) {
        return Ok(signer);
    }
    let why =
        if vouchers.is_empty() { "policy lists nobody in proof.vouchers" } else { "proof.vouchers does not list" };
    let who = if vouchers.is_empty() { String::new() } else { format!(" {}", signer.name()) };
    Err(format!("{} vouches for the commit, and {why}{who}; the reason given: {}", signer.name(), word.reason))
}

/// Why the words of people whom policy lists do not help this commit.
fn still_refused(
    rules: &Rules,
    by: &[String],
    taken: &[(&Word, Signer<'_>)],
    trailers: &ProofTrailers,
    unbound: bool,
    verdict: &CommitVerdict,
) -> Option<String> {
    let needed = rules.requirements.signatures.max(1) as usize;
    if by.len() < needed {
        return Some(format!("{} of the {needed} people vouch for the commit whose word it takes", by.len()));
    }
    if verdict.verdict == Verdict::Exempt && !verdict.proof_grade {
        return Some("the commit needs no proof, and so nobody's word".to_owned());
    }
    let severe = |finding: &&Finding| finding.severity > Severity::Warning && !may_stand_in_for(finding.code);
    if let Some(finding) = verdict.findings.iter().find(severe) {
        return Some(format!("a person's word cannot make up for {}", finding.code));
    }
    if !unbound || verdict.sessions.iter().any(|session| session.holds) {
        return Some("a person's word cannot make up for an anchor that is not what it says".to_owned());
    }
    if trailers.strays.iter().any(|stray| crate::proof::conclude::stray(stray).severity > Severity::Warning) {
        return Some("a person's word cannot make up for a trailer that cannot be read".to_owned());
    }
    for trailer in &trailers.trailers {
        let ProofTrailer::Root(root) = trailer else { continue };
        let named = NamedSession { root: root.root, count: root.count };
        let other =
            verdict.sessions.iter().any(|session| session.session_id == root.session_id && session.root != root.root);
        if other || !taken.iter().any(|(word, _)| word.sessions.contains(&named)) {
            return Some(format!("the message names the root of session {}, and no word does", root.session_id));
        }
    }
    None
}

/// The sessions that words name, and what is wrong with them.
fn sessions(
    gatherer: &Gatherer<'_>,
    rules: &Rules,
    named: &[NamedSession],
    proof_grade: bool,
) -> (Vec<VouchedSession>, Vec<Finding>) {
    let (mut sessions, mut findings) = (Vec::new(), Vec::new());
    for named in named {
        let gathered = gatherer.evidence(&named.root);
        let opening = match &gathered.evidence {
            Evidence::Holds(facts) => Some(&facts.summary.opening),
            _ => None,
        };
        findings.extend(judge_named(named, &gathered.evidence, proof_grade, &rules.requirements));
        sessions.push(VouchedSession {
            session_id: opening.map(|opening| opening.session_id.clone()),
            root: named.root,
            count: named.count,
            evidence: gathered.evidence.in_a_word(),
            intent: opening.map(|opening| opening.intent.clone()).filter(|_| !gathered.told.is_empty()),
            told: gathered.told.clone(),
        });
    }
    (sessions, findings)
}

fn message(word: &Word, signer: &Signer<'_>, sessions: &[VouchedSession]) -> String {
    let range = word.base.zip(word.head).map(|(base, head)| format!(" as the squash of {base:.12}..{head:.12}"));
    let named = |session: &&VouchedSession| word.sessions.iter().any(|named| named.root == session.root);
    let hold = sessions.iter().filter(named).filter(|session| session.evidence == "verified").count();
    let sessions = match (word.sessions.len(), hold) {
        (0, _) => "it names no session".to_owned(),
        (1, 1) => "the evidence of the session that it names holds".to_owned(),
        (many, hold) => format!("the evidence of {hold} of the {many} sessions that it names holds"),
    };
    format!(
        "{} vouches for the commit{}: a person's word, not a proof; {sessions}; the reason given: {}",
        signer.name(),
        range.unwrap_or_default(),
        word.reason
    )
}
