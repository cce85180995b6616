//! From what was gathered to findings: whether an anchor holds for the commit where it is found. Pure: gathering is someone
//! else's work. What a commit's anchors come to is for [`conclude`](super::conclude).

use super::anchor::Anchor;
use super::change::GitAttestation;
use super::digest::{ChangeId, CommitId, RootHash, TreeId};
use super::evidence::{EvidenceError, Flaw, Summary};
use super::finding::{Finding, FindingCode, Severity};
use super::policy::{Binding, EvidenceRule, Requirements};
use super::word::NamedSession;

/// What is known of a commit that is at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitFacts {
    /// The commit.
    pub id: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// The trees of its parents, in order.
    pub parent_trees: Vec<TreeId>,
    /// What it does; `None` for an empty change and for a merge.
    pub change: Option<ChangeId>,
}

/// What is known of the evidence of a root.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // one for each root, and nearly all of them hold
pub enum Evidence {
    /// This clone has no evidence at all.
    NotFetched,
    /// This clone has evidence, but none for this root.
    Missing,
    /// An object that leads to it is not in this clone.
    NotHere(String),
    /// There is something that cannot be read as evidence.
    Unreadable(String),
    /// It does not hold.
    Broken(EvidenceError),
    /// It holds by itself.
    Holds(EvidenceFacts),
}

impl Evidence {
    /// `verified`, `missing`, `not_fetched`, or `broken`.
    pub fn in_a_word(&self) -> &'static str {
        match self {
            Self::NotFetched | Self::NotHere(_) => "not_fetched",
            Self::Missing => "missing",
            Self::Unreadable(_) | Self::Broken(_) => "broken",
            Self::Holds(_) => "verified",
        }
    }
}

/// What evidence that holds by itself says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceFacts {
    /// What it adds up to.
    pub summary: Summary,
    /// The changes that it attests.
    pub attested: Vec<GitAttestation>,
}

/// What the signatures of an anchor come to.
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
    /// The commit that it was made for, if it is at hand.
    pub own: Option<&'a CommitFacts>,
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
    /// Whether the session attests the change.
    pub rooted: bool,
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
                FindingCode::BindingMismatch | FindingCode::BindingTooWeak => true,
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

/// The strongest binding of an anchor to a commit.
pub fn binding(anchor: &Anchor, own: Option<&CommitFacts>, commit: &CommitFacts) -> Option<Binding> {
    if anchor.commit == commit.id {
        return Some(Binding::Exact);
    }
    if own.is_some_and(|own| own.tree == commit.tree && own.parent_trees == commit.parent_trees) {
        return Some(Binding::Reworded);
    }
    (commit.change.is_some() && commit.change == anchor.change_id).then_some(Binding::Moved)
}

/// Judges an anchor where it is found. `proof_grade` commits need a session that ends in a reflection, whatever the
/// session itself says it is.
pub fn judge(
    candidate: &Candidate<'_>,
    commit: &CommitFacts,
    proof_grade: bool,
    rules: &Requirements,
    at_hand: &dyn Fn(&CommitId) -> Option<CommitFacts>,
) -> Standing {
    let anchor = candidate.anchor;
    let mut findings = Vec::new();
    let mut misstated = false;
    if let Some(own) = candidate.own
        && (own.tree != anchor.tree || own.change != anchor.change_id)
    {
        misstated = true;
        let what = if own.tree == anchor.tree { "change" } else { "tree" };
        findings.push(Finding::error(
            FindingCode::BindingMismatch,
            format!("the anchor of session {} names another {what} than its own commit {}", anchor.session_id, own.id),
        ));
    }
    let binding = binding(anchor, candidate.own, commit);
    match binding {
        None => findings.push(
            Finding::error(
                FindingCode::BindingMismatch,
                format!(
                    "the anchor of session {} was made for commit {}, which makes another change",
                    anchor.session_id, anchor.commit
                ),
            )
            .hint("a copied note proves nothing here; record and anchor a session for this change"),
        ),
        Some(binding) if binding < rules.binding => findings.push(Finding::error(
            FindingCode::BindingTooWeak,
            format!("the anchor is bound as {binding}, and policy takes {} or stronger", rules.binding),
        )),
        Some(_) => {}
    }
    if !rules.schemes.contains(&anchor.scheme) {
        findings.push(Finding::error(
            FindingCode::SchemeNotAllowed,
            format!("session {} is hashed by scheme {}, which policy does not take", anchor.session_id, anchor.scheme),
        ));
    }
    let rooted = match candidate.evidence {
        Evidence::Holds(facts) => {
            evidence_fits(anchor, facts, proof_grade, &mut findings);
            is_rooted(anchor, facts, binding, commit, at_hand)
        }
        other => {
            findings.extend(evidence_lacks(&anchor.root, other, rules));
            false
        }
    };
    if !rooted {
        let message = format!("session {} does not attest this change", anchor.session_id);
        let finding = Finding::error(FindingCode::NotRooted, message)
            .hint("commit while the session is open, or stage the change before its closing reflection");
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
            .hint("git proof sign adds a signature"),
        );
    }
    if rules.sealed && candidate.round.is_none() {
        findings.push(seal_lacks(candidate.rounds_fetched));
    }
    Standing { binding, rooted, misstated, findings }
}

/// What it means that no seal that counts has an anchor.
fn seal_lacks(rounds_fetched: bool) -> Finding {
    if rounds_fetched {
        Finding::error(FindingCode::SealMissing, "no seal of a listed sealer has this anchor")
            .hint("git proof seal --sign seals what is anchored; git proof sync fetches the seals of others")
    } else {
        Finding::unchecked(
            FindingCode::SealMissing,
            "refs/proof/rounds is not in this clone, and policy asks for a seal",
        )
        .hint("git proof sync, or git fetch origin refs/proof/rounds:refs/proof/rounds; else git proof seal --sign")
    }
}

/// What evidence that holds by itself must have to be that of the anchor.
fn evidence_fits(anchor: &Anchor, facts: &EvidenceFacts, proof_grade: bool, findings: &mut Vec<Finding>) {
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
    if (proof_grade || opening.proof_grade) && !summary.closed_by_reflection {
        findings.push(
            Finding::error(
                FindingCode::ReflectionMissing,
                format!("session {session} does not end in a reflection that can be read"),
            )
            .hint("a proof-grade session is closed by git proof record --type reflection"),
        );
    }
    if summary.withheld > 0 {
        findings.push(Finding::warning(
            FindingCode::EvidenceWithheld,
            format!("{} of {} entries of session {session} are withheld", summary.withheld, summary.count),
        ));
    }
}

/// What it means that evidence is not there or does not hold.
fn evidence_lacks(root: &RootHash, evidence: &Evidence, rules: &Requirements) -> Option<Finding> {
    let needed = rules.evidence == EvidenceRule::Required || rules.rooted;
    match evidence {
        Evidence::Holds(_) => None,
        Evidence::NotFetched => {
            let finding = Finding::unchecked(
                FindingCode::RefNotFetched,
                "refs/proof/evidence is not in this clone, so the records behind the root were not checked",
            )
            .hint("git proof sync, or git fetch origin refs/proof/evidence:refs/proof/evidence");
            Some(if needed { finding } else { finding.softened() })
        }
        Evidence::Missing => {
            let message = format!("there is no evidence for root {root}");
            let finding = Finding::error(FindingCode::EvidenceMissing, message)
                .hint("whoever anchored it has the evidence: git proof sync there, then here");
            Some(if needed { finding } else { finding.softened() })
        }
        Evidence::NotHere(why) => {
            let finding =
                Finding::unchecked(FindingCode::ObjectMissing, format!("the evidence for root {root}: {why}"))
                    .hint("the clone may be shallow or partial: git fetch --unshallow, or git fetch --refetch");
            Some(if needed { finding } else { finding.softened() })
        }
        Evidence::Unreadable(why) => {
            Some(Finding::error(FindingCode::EvidenceMissing, format!("the evidence for root {root}: {why}")))
        }
        Evidence::Broken(error) => {
            let code = match error.flaw {
                Flaw::RootMismatch { .. } | Flaw::CountMismatch { .. } => FindingCode::RootMismatch,
                _ => FindingCode::ChainBroken,
            };
            Some(Finding::error(code, format!("the evidence for root {root} does not hold: {error}")))
        }
    }
}

/// What is wrong with the evidence of a session that a person's word names. There is no anchor to say what its chain is;
/// all else must be as it is asked for under one.
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
    if (proof_grade || opening.proof_grade) && !summary.closed_by_reflection {
        let message = "does not end in a reflection that can be read".to_owned();
        findings.push((FindingCode::ReflectionMissing, message));
    }
    let say = |what: String| format!("the evidence of root {}, which a person's word names, {what}", named.root);
    findings.into_iter().map(|(code, what)| Finding::error(code, say(what))).collect()
}

/// Whether the session itself says that it explains this change, and nothing at hand says otherwise.
fn is_rooted(
    anchor: &Anchor,
    facts: &EvidenceFacts,
    binding: Option<Binding>,
    commit: &CommitFacts,
    at_hand: &dyn Fn(&CommitId) -> Option<CommitFacts>,
) -> bool {
    let Some(binding) = binding else { return false };
    if !anchor.scheme.covers_everything() {
        return false;
    }
    facts.attested.iter().any(|said| {
        let speaks = match commit.change {
            _ if said.commit == Some(commit.id) => true,
            Some(change) => said.change_id == Some(change),
            None => said.change_id.is_none() && said.tree == commit.tree && binding >= Binding::Reworded,
        };
        // The commit that it names may be here, and then it must be as it says.
        let agrees = |known: &CommitFacts| known.tree == said.tree && known.change == said.change_id;
        speaks
            && said.commit.is_none_or(|named| {
                if named == commit.id { agrees(commit) } else { at_hand(&named).is_none_or(|known| agrees(&known)) }
            })
    })
}
