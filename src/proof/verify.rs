//! From what was gathered to findings: whether an anchor holds for the commit where it is found. Pure: gathering is someone
//! else's work. What a commit's anchors come to is for [`conclude`](super::conclude).

use super::anchor::Anchor;
use super::change::GitAttestation;
use super::digest::{CommitId, RootHash};
use super::evidence::{EvidenceError, Flaw, Summary};
use super::finding::{Finding, FindingCode, Severity, cover, fetch_objects};
use super::observed::{Marks, Reflection};
use super::policy::{Binding, EvidenceRule, Requirements};
use super::word::NamedSession;
use crate::hint::{JUDGED, Step, hint};

/// The state of the evidence of a root.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // one for each root, and nearly all of them hold
pub enum Evidence {
    /// This clone has no evidence at all.
    NotFetched,
    /// This clone has evidence, but none for this root.
    Missing,
    /// An object that leads to it is not in this clone.
    NotHere(String),
    /// It is larger than this program reads.
    TooLarge(String),
    /// There is something that cannot be read as evidence.
    Unreadable(String),
    /// It does not hold.
    Broken(EvidenceError),
    /// It holds by itself.
    Holds(EvidenceFacts),
}

impl Evidence {
    /// Whether all that there is of it could be read.
    pub const fn is_settled(&self) -> bool {
        match self {
            Self::NotFetched | Self::NotHere(_) | Self::TooLarge(_) => false,
            Self::Missing | Self::Unreadable(_) | Self::Broken(_) | Self::Holds(_) => true,
        }
    }

    /// `verified`, `missing`, `not_fetched`, or `broken`.
    pub fn in_a_word(&self) -> &'static str {
        match self {
            Self::NotFetched | Self::NotHere(_) => "not_fetched",
            Self::TooLarge(_) => "not_checked",
            Self::Missing => "missing",
            Self::Unreadable(_) | Self::Broken(_) => "broken",
            Self::Holds(_) => "verified",
        }
    }
}

/// The facts of evidence that is consistent in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceFacts {
    /// Its chain, root and count.
    pub summary: Summary,
    /// The changes that it attests.
    pub attested: Vec<Attested>,
}

/// A change that evidence attests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attested {
    /// The change.
    pub change: GitAttestation,
    /// Whether it was attested after the commit had been made and its session, if it had one, was over.
    pub afterwards: bool,
    /// The commit that a staged change was staged on. The session came after it, so nothing that leads to it can be an
    /// earlier use of the session.
    pub onto: Option<CommitId>,
}

impl Attested {
    /// Reads what the metadata of a git attestation says about the change. A value of another shape counts for nothing.
    pub fn new(change: GitAttestation, metadata: Option<&str>) -> Self {
        let marks = Marks::of(metadata);
        let metadata: serde_json::Value = metadata.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let onto = metadata.get("onto").and_then(serde_json::Value::as_str).and_then(CommitId::parse);
        Self { change, afterwards: marks.afterwards, onto: onto.filter(|_| change.commit.is_none()) }
    }
}

/// How an anchor belongs to the commit where it is found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bond {
    /// The binding; `None` if the anchor does not belong to the commit.
    pub binding: Option<Binding>,
    /// Whether the session covers this change: its evidence attests the commit, or the one that this commit replaces.
    pub rooted: bool,
    /// Whether that was attested afterwards.
    pub afterwards: bool,
    /// Whether the anchor says something of its own commit that is not so.
    pub misstated: bool,
    /// What there is to say.
    pub findings: Vec<Finding>,
}

/// The result of checking the signatures of an anchor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signatures {
    /// The people who signed it validly, each once.
    pub people: Vec<String>,
    /// What is wrong with the others.
    pub findings: Vec<Finding>,
}

/// An anchor with all that is known of it.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// The anchor.
    pub anchor: &'a Anchor,
    /// How it belongs to the commit.
    pub bond: &'a Bond,
    /// The evidence of its root.
    pub evidence: &'a Evidence,
    /// Who signed it.
    pub signatures: &'a Signatures,
    /// The round that sealed it, if one that counts did.
    pub round: Option<u64>,
    /// Whether this clone has seals at all.
    pub rounds_fetched: bool,
}

/// How an anchor stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// How it belongs to the commit; `None` if it does not.
    pub binding: Option<Binding>,
    /// Whether the session covers the change.
    pub rooted: bool,
    /// Whether it does so since after the commit was made.
    pub afterwards: bool,
    /// Whether it says something of its own commit that is not so.
    pub misstated: bool,
    /// What there is to say.
    pub findings: Vec<Finding>,
}

impl Standing {
    /// Whether it holds in full.
    pub fn holds(&self) -> bool {
        self.binding.is_some() && self.worst() < Some(Severity::Unchecked)
    }

    /// Whether it would hold if enough people had signed it.
    pub fn is_sound(&self) -> bool {
        let about_signers = [
            FindingCode::SignatureMissing,
            FindingCode::SignatureInvalid,
            FindingCode::SignerUnknown,
            FindingCode::SignerExpired,
            FindingCode::SealMissing,
        ];
        let other = |finding: &&Finding| !about_signers.contains(&finding.code);
        self.binding.is_some() && self.findings.iter().filter(other).all(|found| found.severity == Severity::Warning)
    }

    /// Whether nothing is wrong with it but that it does not belong to the commit, or not closely enough.
    pub fn is_only_unbound(&self) -> bool {
        let severe = |finding: &&Finding| finding.severity > Severity::Warning;
        !self.misstated
            && self.findings.iter().filter(severe).all(|finding| match finding.code {
                FindingCode::BindingMismatch
                | FindingCode::BindingTooWeak
                | FindingCode::Replayed
                | FindingCode::PlaceAmbiguous => true,
                // A session cannot attest a change that it was not for.
                FindingCode::NotRooted => self.binding.is_none(),
                _ => false,
            })
    }

    /// The worst of its findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

/// Judges an anchor where it is found. `proof_grade` commits need a session that ends in a reflection, whatever the
/// session itself says it is.
pub fn judge(candidate: &Candidate<'_>, proof_grade: bool, rules: &Requirements) -> Standing {
    let (anchor, bond) = (candidate.anchor, candidate.bond);
    let mut findings = bond.findings.clone();
    if let Some(binding) = bond.binding.filter(|binding| *binding < rules.binding) {
        findings.push(Finding::error(
            FindingCode::BindingTooWeak,
            format!("the anchor is bound as {binding}, and policy takes {} or stronger", rules.binding),
        ));
    }
    // The evidence may attest this very commit. Without it, only what the anchor says wrongly of itself is certain.
    let needed = rules.evidence == EvidenceRule::Required || rules.rooted;
    if needed && !candidate.evidence.is_settled() && !bond.misstated {
        for finding in &mut findings {
            finding.severity = finding.severity.min(Severity::Unchecked);
        }
    }
    if !rules.schemes.contains(&anchor.scheme) {
        findings.push(Finding::error(
            FindingCode::SchemeNotAllowed,
            format!("session {} is hashed by scheme {}, which policy does not take", anchor.session_id, anchor.scheme),
        ));
    }
    match candidate.evidence {
        Evidence::Holds(facts) => evidence_fits(anchor, facts, proof_grade, rules, &mut findings),
        other => findings.extend(evidence_lacks(&anchor.root, other, rules)),
    }
    // An anchor that belongs to another change is no anchor of this one, and says so already.
    let holds = matches!(candidate.evidence, Evidence::Holds(_));
    if !bond.rooted && bond.binding.is_some() && (holds || !rules.rooted) {
        let message = format!("session {} does not cover this change: its records do not name it", anchor.session_id);
        let finding = Finding::error(FindingCode::NotRooted, message)
            .hint(hint!(cover(); "it records why in a session that names the commit"));
        findings.push(if rules.rooted { finding } else { finding.softened() });
    }
    findings.extend(candidate.signatures.findings.iter().cloned());
    let signed = candidate.signatures.people.len();
    if signed < rules.signatures as usize {
        findings.push(
            Finding::error(
                FindingCode::SignatureMissing,
                format!("{signed} of the {} people who must have signed the anchor", rules.signatures),
            )
            .hint(hint!(Step::Sign(JUDGED.into()), ", then ", Step::Sync)),
        );
    }
    if rules.sealed && candidate.round.is_none() {
        findings.push(seal_lacks(candidate.rounds_fetched));
    }
    let Bond { binding, rooted, afterwards, misstated, .. } = *bond;
    Standing { binding, rooted, afterwards, misstated, findings }
}

/// The finding for an anchor that no valid seal has.
fn seal_lacks(rounds_fetched: bool) -> Finding {
    if rounds_fetched {
        Finding::error(FindingCode::SealMissing, "no seal of a listed sealer has this anchor")
            .hint(hint!(Step::SealSign, " seals what is anchored"; Step::Sync, " fetches the seals of others"))
    } else {
        Finding::unchecked(
            FindingCode::SealMissing,
            "refs/proof/rounds is not in this clone, and policy asks for a seal",
        )
        .hint(hint!(Step::Sync, ", or ", Step::GitFetchRef("refs/proof/rounds".into()); "else ", Step::SealSign))
    }
}

/// Compares evidence that is consistent in itself with the anchor that names it.
fn evidence_fits(
    anchor: &Anchor,
    facts: &EvidenceFacts,
    proof_grade: bool,
    rules: &Requirements,
    findings: &mut Vec<Finding>,
) {
    let summary = &facts.summary;
    let session = &anchor.session_id;
    if summary.root != anchor.root || summary.count != anchor.count {
        findings.push(Finding::error(
            FindingCode::RootMismatch,
            format!(
                "the evidence adds up to root {} with {} entries, not to root {} with {}",
                summary.root, summary.count, anchor.root, anchor.count
            ),
        ));
    }
    let opening = &summary.opening;
    let named = opening.session_id == *session && opening.task_id == anchor.task_id;
    if summary.genesis != anchor.genesis || summary.head != anchor.head || opening.scheme != anchor.scheme || !named {
        findings.push(Finding::error(
            FindingCode::ChainBroken,
            format!("the chain of the evidence is not the one that the anchor of session {session} names"),
        ));
    }
    if (proof_grade || opening.proof_grade) && summary.reflection.is_none() {
        findings.push(
            Finding::error(
                FindingCode::ReflectionMissing,
                format!("session {session} does not end in a reflection that can be read"),
            )
            .hint(cover()),
        );
    }
    if (proof_grade || opening.proof_grade) && is_too_little(summary.reflection, rules) {
        findings.push(
            Finding::error(
                FindingCode::ReflectionNotStated,
                format!("the reflection that closes session {session} was observed, and policy asks for a stated one"),
            )
            .hint(cover()),
        );
    }
    if summary.withheld > 0 {
        findings.push(Finding::warning(
            FindingCode::EvidenceWithheld,
            format!("{} of {} entries of session {session} are withheld", summary.withheld, summary.count),
        ));
    }
}

/// Whether the tool only observed the closing reflection, and policy asks for more.
fn is_too_little(reflection: Option<Reflection>, rules: &Requirements) -> bool {
    reflection == Some(Reflection::Observed) && rules.reflection == Reflection::Stated
}

/// The finding for evidence that is missing or does not hold.
fn evidence_lacks(root: &RootHash, evidence: &Evidence, rules: &Requirements) -> Option<Finding> {
    let of_root = |why: &str| format!("the evidence for root {root}: {why}");
    let finding = match evidence {
        Evidence::Holds(_) => return None,
        Evidence::NotFetched => Finding::unchecked(
            FindingCode::RefNotFetched,
            "refs/proof/evidence is not in this clone, so the records behind the root were not checked",
        )
        .hint(hint!(Step::Sync, ", or ", Step::GitFetchRef("refs/proof/evidence".into()))),
        Evidence::Missing => Finding::error(
            FindingCode::EvidenceMissing,
            format!("there is no evidence for root {root}"),
        )
        .hint(hint!("the clone that anchored it has the evidence: ", Step::Sync, " there, then here")),
        Evidence::NotHere(why) => Finding::unchecked(FindingCode::ObjectMissing, of_root(why)).hint(fetch_objects()),
        Evidence::TooLarge(why) => Finding::unchecked(FindingCode::LimitReached, of_root(why)),
        // Evidence that is there must hold, even where policy does not ask for any.
        Evidence::Unreadable(why) => return Some(Finding::error(FindingCode::EvidenceMissing, of_root(why))),
        Evidence::Broken(error) => {
            let code = match error.flaw {
                Flaw::RootMismatch { .. } | Flaw::CountMismatch { .. } => FindingCode::RootMismatch,
                _ => FindingCode::ChainBroken,
            };
            return Some(Finding::error(code, format!("the evidence for root {root} does not hold: {error}")));
        }
    };
    let needed = rules.evidence == EvidenceRule::Required || rules.rooted;
    Some(if needed { finding } else { finding.softened() })
}

/// The findings about the evidence of a session that a person's word names. No anchor says what its chain is;
/// everything else must be as it would have to be under an anchor.
pub fn judge_named(named: &NamedSession, evidence: &Evidence, proof_grade: bool, rules: &Requirements) -> Vec<Finding> {
    let Evidence::Holds(facts) = evidence else {
        return evidence_lacks(&named.root, evidence, rules).into_iter().collect();
    };
    let (summary, opening) = (&facts.summary, &facts.summary.opening);
    let mut findings = Vec::new();
    if summary.root != named.root || summary.count != named.count {
        findings.push((FindingCode::RootMismatch, "adds up to another root or count".to_owned()));
    }
    if !rules.schemes.contains(&opening.scheme) {
        let message = format!("is hashed by scheme {}, which policy does not take", opening.scheme);
        findings.push((FindingCode::SchemeNotAllowed, message));
    }
    if (proof_grade || opening.proof_grade) && summary.reflection.is_none() {
        let message = "does not end in a reflection that can be read".to_owned();
        findings.push((FindingCode::ReflectionMissing, message));
    }
    if (proof_grade || opening.proof_grade) && is_too_little(summary.reflection, rules) {
        let message = "ends in a reflection that was only observed".to_owned();
        findings.push((FindingCode::ReflectionNotStated, message));
    }
    let say = |what: String| format!("the evidence of root {}, which a person's word names, {what}", named.root);
    findings.into_iter().map(|(code, what)| Finding::error(code, say(what))).collect()
}
