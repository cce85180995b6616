//! How a commit stands by all the anchors that were found for it, each of which was judged before. Pure, as that is.

use super::anchor::Anchor;
use super::digest::RootHash;
use super::finding::{Finding, FindingCode, Severity, Verdict, cover};
use super::policy::Binding;
use super::record::Id;
use super::trailer::{MAX_OURS, ProofTrailer, ProofTrailers, RootTrailer, Stray};
use super::verify::Standing;
use crate::hint::{Step, hint};

/// A commit's anchor that was judged.
#[derive(Debug, Clone)]
pub struct Judged<'a> {
    /// The anchor.
    pub anchor: &'a Anchor,
    /// How it stands.
    pub standing: Standing,
}

/// How a commit stands by the anchors that were found for it, as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The strongest binding of an anchor that holds.
    pub binding: Option<Binding>,
    /// What there is to say.
    pub findings: Vec<Finding>,
}

/// What a clone can say of what it does not have.
#[derive(Clone, Copy)]
pub struct AtHand<'a> {
    /// A ref that a remote may have and this clone does not: then nobody can say that there is no proof.
    pub not_fetched: Option<&'a str>,
    /// Whether the evidence of a root could be read, or is known to be nowhere: it tells which commits a session is for.
    pub evidence: &'a dyn Fn(&RootHash) -> bool,
    /// The session that the message names, where it is still open in this clone: then no other clone has its proof.
    pub open: Option<&'a Id>,
    /// Whether the session that the message names is finalized in this clone: finalizing it again explains nothing more.
    pub finalized: bool,
}

/// Judges a commit: every root that its trailers name must hold, and at least one anchor in full. What else does not hold
/// is a warning then; if none holds, all of it counts. An anchor that could not be checked may be the one that holds, so
/// the others are warnings beside it, too, and the verdict is "could not check". A commit that needs no proof never fails by
/// what others wrote into its note. `others` are findings about lines that are no anchors.
pub fn conclude(
    judged: &[Judged<'_>],
    others: &[Finding],
    trailers: &ProofTrailers,
    proof_grade: bool,
    at_hand: &AtHand<'_>,
) -> Outcome {
    let holding: Vec<&Judged<'_>> = judged.iter().filter(|judged| judged.standing.holds()).collect();
    let binding = holding.iter().filter_map(|judged| judged.standing.binding).max();
    let named = trailers.trailers.iter().filter(|trailer| matches!(trailer, ProofTrailer::Root(_))).count();
    let asked = proof_grade || named > 0;
    let undecided = asked && holding.is_empty() && judged.iter().any(is_open);
    let harmless = !holding.is_empty() || undecided || !asked;
    let mut findings = Vec::new();
    for judged in judged {
        // A root that the message names must hold, whatever else does.
        let counts = is_open(judged) && (undecided || names(trailers, judged.anchor));
        let soften = !judged.standing.holds() && harmless && !counts;
        findings.extend(
            judged.standing.findings.iter().map(
                |finding| {
                    if soften { finding.clone().softened() } else { finding.clone() }
                },
            ),
        );
    }
    let soften = |finding: &Finding| if harmless { finding.clone().softened() } else { finding.clone() };
    findings.extend(others.iter().map(soften));
    for trailer in &trailers.trailers {
        let ProofTrailer::Root(root) = trailer else { continue };
        if !holding.iter().any(|judged| is_named(judged.anchor, root)) {
            findings.extend(unproven_trailer(root, judged, at_hand));
        }
    }
    findings.extend(trailers.strays.iter().map(stray));
    // A line that only gives cause for a remark, such as one of a type not known here, is no answer.
    let only_remarks = others.iter().all(|finding| finding.severity == Severity::Warning);
    if judged.is_empty() && only_remarks && named == 0 && proof_grade {
        findings.push(missing(at_hand, &trailers.trailers));
    }
    let verdict = match worst_verdict(&findings) {
        Some(verdict) => verdict,
        None if holding.is_empty() => Verdict::Exempt,
        None => Verdict::Pass,
    };
    Outcome { verdict, binding: binding.filter(|_| verdict == Verdict::Pass), findings }
}

/// What the findings alone make of a commit; `None` if nothing is wrong. Where all that is wrong is that there is no
/// anchor, the proof is missing and not broken.
pub fn worst_verdict(findings: &[Finding]) -> Option<Verdict> {
    let reached = |finding: &Finding| finding.code == FindingCode::LimitReached && finding.severity > Severity::Warning;
    if findings.iter().any(reached) {
        // What was not read may have been the proof.
        return Some(Verdict::Unchecked);
    }
    let errors = || findings.iter().filter(|finding| finding.severity == Severity::Error);
    if errors().any(|finding| finding.code != FindingCode::AnchorMissing) {
        Some(Verdict::Fail)
    } else if errors().next().is_some() {
        Some(Verdict::Missing)
    } else if findings.iter().any(|finding| finding.severity == Severity::Unchecked) {
        Some(Verdict::Unchecked)
    } else {
        None
    }
}

/// Whether a trailer names the session of an anchor.
pub fn is_named(anchor: &Anchor, root: &RootTrailer) -> bool {
    anchor.session_id == root.session_id
        && anchor.scheme == root.scheme
        && anchor.root == root.root
        && anchor.count == root.count
}

/// Whether nothing is wrong with an anchor but that something could not be checked.
fn is_open(judged: &Judged<'_>) -> bool {
    judged.standing.worst() == Some(Severity::Unchecked)
}

fn names(trailers: &ProofTrailers, anchor: &Anchor) -> bool {
    trailers.trailers.iter().any(|trailer| matches!(trailer, ProofTrailer::Root(root) if is_named(anchor, root)))
}

/// What it means that no anchor of a root that the message names holds. `None` where that could not be checked: the
/// findings of the anchor say why.
fn unproven_trailer(root: &RootTrailer, judged: &[Judged<'_>], at_hand: &AtHand<'_>) -> Option<Finding> {
    let session = &root.session_id;
    let mut named = judged.iter().filter(|judged| is_named(judged.anchor, root)).peekable();
    let found = named.peek().is_some();
    if named.any(is_open) {
        return None;
    }
    if !found && let Some(name) = at_hand.not_fetched {
        return Some(not_fetched(format!("the message names session {session}, but {name} was not fetched"), name));
    }
    if !found && !(at_hand.evidence)(&root.root) {
        let message = format!("the message names session {session}, whose evidence is not in this clone");
        return Some(not_fetched(message, "refs/proof/evidence"));
    }
    let (why, hint) = if found {
        ("its anchor does not hold here", None)
    } else if judged.iter().any(|judged| judged.anchor.session_id == *session) {
        ("its anchor names another root", None)
    } else {
        let hint = hint!(Step::Anchor(session.to_string()), " where it was recorded, then ", Step::Sync);
        ("no anchor of it was found for this change", Some(hint))
    };
    let message = format!("Proof-Root names session {session}, and {why}");
    Some(Finding { hint, ..Finding::error(FindingCode::TrailerMismatch, message) })
}

fn not_fetched(message: String, name: &str) -> Finding {
    Finding::unchecked(FindingCode::RefNotFetched, message)
        .hint(hint!(Step::SyncFetchOnly, format!(" brings {name}, or finds out that the remote has none")))
}

fn missing(at_hand: &AtHand<'_>, trailers: &[ProofTrailer]) -> Finding {
    if let Some(session) = at_hand.open {
        let message = format!("a proof is required, and session {session} is still open here");
        return Finding::error(FindingCode::AnchorMissing, message).hint(Step::Done(session.to_string()));
    }
    if let Some(name) = at_hand.not_fetched {
        return not_fetched(format!("a proof is required, and {name} was not fetched"), name);
    }
    let session = trailers.iter().find_map(|trailer| match trailer {
        ProofTrailer::Session(session) => Some(session),
        _ => None,
    });
    let hint = match session {
        Some(session) if at_hand.finalized => hint!(
            cover();
            "if its session explains this commit already: ", Step::Anchor(session.to_string())
        ),
        // It attests the commit first where the hook that should have done so was killed.
        Some(session) => hint!(
            Step::Finalize(session.to_string()), " where it was recorded, then ", Step::Sync;
            "if that was done without this commit: ", cover()
        ),
        None => hint!(cover(); "if somebody else has recorded why: ", Step::Sync),
    };
    Finding::error(FindingCode::AnchorMissing, "a proof is required, and there is none").hint(hint)
}

/// What there is to say of a line of the message that is not read as a trailer of ours.
pub fn stray(stray: &Stray) -> Finding {
    let message = match stray {
        Stray::Outside { line } => format!("a line looks like a trailer of ours and is none: {line:?}"),
        Stray::Malformed { line } => format!("a trailer cannot be read: {line:?}"),
        Stray::UnknownKey { key } => format!("{key:?} is not a trailer that this version knows"),
        Stray::More { left_out } => {
            let message = format!("the message has {left_out} more lines of ours than the {MAX_OURS} that are read");
            return Finding::unchecked(FindingCode::LimitReached, message);
        }
    };
    let finding = Finding::warning(FindingCode::TrailerMismatch, message);
    match stray {
        // It claims a proof in the place where one is read, and nothing can be checked.
        Stray::Malformed { .. } => Finding { severity: Severity::Error, ..finding },
        _ => finding,
    }
}
