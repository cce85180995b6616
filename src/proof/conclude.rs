//! How a commit stands by all the anchors that were found for it, each of which was judged before. Pure, as that is.

use super::anchor::Anchor;
use super::finding::{Finding, FindingCode, Severity, Verdict};
use super::policy::Binding;
use super::trailer::{ProofTrailer, ProofTrailers, RootTrailer, Stray};
use super::verify::Standing;

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

/// Judges a commit: every root that its trailers name must hold, and at least one anchor in full. What else does not hold
/// is a warning then; if none holds, all of it counts. `others` are findings about lines that are no anchors.
pub fn conclude(
    judged: &[Judged<'_>],
    others: &[Finding],
    trailers: &ProofTrailers,
    proof_grade: bool,
    notes_fetched: bool,
    must_be_anchored: bool,
) -> Outcome {
    let holding: Vec<&Judged<'_>> = judged.iter().filter(|judged| judged.standing.holds()).collect();
    let binding = holding.iter().filter_map(|judged| judged.standing.binding).max();
    let mut findings = Vec::new();
    for judged in judged {
        let soften = !judged.standing.holds() && !holding.is_empty();
        findings.extend(
            judged.standing.findings.iter().map(
                |finding| {
                    if soften { finding.clone().softened() } else { finding.clone() }
                },
            ),
        );
    }
    let soften = |finding: &Finding| if holding.is_empty() { finding.clone() } else { finding.clone().softened() };
    findings.extend(others.iter().map(soften));
    let mut named = 0;
    for trailer in &trailers.trailers {
        let ProofTrailer::Root(root) = trailer else { continue };
        named += 1;
        if !holding.iter().any(|judged| is_named(judged.anchor, root)) {
            findings.push(unproven_trailer(root, judged, notes_fetched));
        }
    }
    findings.extend(trailers.strays.iter().map(stray));
    // A line that only gives cause for a remark, such as one of a type not known here, is no answer.
    let only_remarks = others.iter().all(|finding| finding.severity == Severity::Warning);
    if judged.is_empty() && only_remarks && named == 0 && proof_grade {
        let asked = must_be_anchored || !trailers.trailers.is_empty();
        findings.push(missing(notes_fetched, must_be_anchored, asked, &trailers.trailers));
    }
    let worst = findings.iter().map(|finding| finding.severity).max();
    let verdict = match worst {
        Some(Severity::Error) => Verdict::Fail,
        Some(Severity::Unchecked) => Verdict::Unchecked,
        _ if holding.is_empty() => Verdict::Exempt,
        _ => Verdict::Pass,
    };
    Outcome { verdict, binding: binding.filter(|_| verdict == Verdict::Pass), findings }
}

/// Whether a trailer names the session of an anchor.
pub fn is_named(anchor: &Anchor, root: &RootTrailer) -> bool {
    anchor.session_id == root.session_id
        && anchor.scheme == root.scheme
        && anchor.root == root.root
        && anchor.count == root.count
}

fn unproven_trailer(root: &RootTrailer, judged: &[Judged<'_>], notes_fetched: bool) -> Finding {
    let session = &root.session_id;
    if !notes_fetched {
        return not_fetched(format!("the message names session {session}, but refs/notes/proof is not in this clone"));
    }
    let named = |judged: &Judged<'_>| is_named(judged.anchor, root);
    let (why, hint) = if judged.iter().any(named) {
        ("its anchor does not hold here", None)
    } else if judged.iter().any(|judged| judged.anchor.session_id == *session) {
        ("its anchor names another root", None)
    } else {
        let hint = format!("git proof anchor --session {session} where it was recorded, then git proof sync");
        ("no anchor of it was found for this change", Some(hint))
    };
    let message = format!("Proof-Root names session {session}, and {why}");
    Finding { hint, ..Finding::error(FindingCode::TrailerMismatch, message) }
}

fn not_fetched(message: String) -> Finding {
    Finding::unchecked(FindingCode::RefNotFetched, message)
        .hint("git proof sync, or git fetch origin refs/notes/proof:refs/notes/proof")
}

/// `asked`: the commit's own trailers say that there is a proof, or policy says that there must be.
fn missing(notes_fetched: bool, must_be_anchored: bool, asked: bool, trailers: &[ProofTrailer]) -> Finding {
    if !notes_fetched && asked {
        return not_fetched("the commit is proof-grade, but refs/notes/proof is not in this clone".to_owned());
    }
    let session = trailers.iter().find_map(|trailer| match trailer {
        ProofTrailer::Session(session) => Some(session),
        _ => None,
    });
    let hint = match session {
        // It attests the commit first where the hook that should have done so was killed.
        Some(session) => format!(
            "git proof finalize --session {session} where it was recorded, then git proof sync; if that was done without \
             this commit: git proof anchor --session {session} --commit and its id"
        ),
        None => {
            "finalize the session that explains it and git proof anchor, or git proof sync if that was done elsewhere"
                .to_owned()
        }
    };
    let finding = Finding::error(FindingCode::AnchorMissing, "the commit is proof-grade and has no anchor").hint(hint);
    if must_be_anchored { finding } else { finding.softened() }
}

/// What there is to say of a line of the message that is not read as a trailer of ours.
pub fn stray(stray: &Stray) -> Finding {
    let message = match stray {
        Stray::Outside { line } => format!("a line looks like a trailer of ours and is none: {line:?}"),
        Stray::Malformed { line } => format!("a trailer cannot be read: {line:?}"),
        Stray::UnknownKey { key } => format!("{key:?} is not a trailer that this version knows"),
    };
    let finding = Finding::warning(FindingCode::TrailerMismatch, message);
    match stray {
        // It claims a proof in the place where one is read, and nothing can be checked.
        Stray::Malformed { .. } => Finding { severity: Severity::Error, ..finding },
        _ => finding,
    }
}
