//! What each finding means and what to do about it, in words for people who see it for the first time.

use crate::proof::finding::{FindingCode, Severity};

/// A finding, explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// What was found.
    pub what: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// How bad it is, unless a proof that holds makes it a warning.
    pub severity: Severity,
}

/// Explains a finding.
pub fn rule(code: FindingCode) -> Rule {
    let (what, remedy) = words(code);
    let severity = match code {
        FindingCode::RefNotFetched
        | FindingCode::ObjectMissing
        | FindingCode::LimitReached
        | FindingCode::PolicyUnreadable => Severity::Unchecked,
        FindingCode::EvidenceWithheld
        | FindingCode::KnownOnlyHere
        | FindingCode::Vouched
        | FindingCode::WordNotTaken => Severity::Warning,
        FindingCode::AnchorMissing
        | FindingCode::AnchorMalformed
        | FindingCode::BindingMismatch
        | FindingCode::BindingTooWeak
        | FindingCode::Replayed
        | FindingCode::PlaceAmbiguous
        | FindingCode::TrailerMismatch
        | FindingCode::EvidenceMissing
        | FindingCode::ChainBroken
        | FindingCode::RootMismatch
        | FindingCode::ReflectionMissing
        | FindingCode::ReflectionNotStated
        | FindingCode::SchemeNotAllowed
        | FindingCode::NotRooted
        | FindingCode::SignatureMissing
        | FindingCode::SignatureInvalid
        | FindingCode::SignerUnknown
        | FindingCode::SignerExpired
        | FindingCode::SealMissing
        | FindingCode::SealBroken
        | FindingCode::AnchorDeleted
        | FindingCode::RoundsRolledBack
        | FindingCode::RoundsForked => Severity::Error,
    };
    Rule { what, remedy, severity }
}

#[allow(clippy::too_many_lines)] // one for each code
fn words(code: FindingCode) -> (&'static str, &'static str) {
    match code {
        FindingCode::AnchorMissing => (
            "A commit that must be anchored has no anchor.",
            "Finalize the session that explains it, run git proof anchor, then git proof sync. git proof policy explain says which rule asks for it.",
        ),
        FindingCode::AnchorMalformed => (
            "A line of a commit's note is not an anchor as git-proof writes them.",
            "Write the anchor again with git proof anchor. Nothing but git-proof should edit refs/notes/proof.",
        ),
        FindingCode::BindingMismatch => (
            "An anchor was made for another change than the one where it is found, or misstates its own commit.",
            "The change was edited after it was proven, or the note was copied. Record why, in a session that continues the first, and anchor that.",
        ),
        FindingCode::BindingTooWeak => (
            "The anchor belongs to the commit less closely than the policy asks for.",
            "Anchor the commit as it is now. The policy's key is proof.binding.",
        ),
        FindingCode::Replayed => (
            "The change was applied before and then undone. The proof was for the first time; applying it again is a new decision.",
            "Record why it comes back: git proof cover attests the commit in a session of its own.",
        ),
        FindingCode::PlaceAmbiguous => (
            "The commit that was proven is not in this clone, and its change could stand at more than one place.",
            "Fetch the branch that had the commit, or run git proof cover on the commit as it is now.",
        ),
        FindingCode::TrailerMismatch => (
            "A Proof- trailer names a session that does not explain the commit, or cannot be read.",
            "Anchor the session that the trailer names, or reword the commit without it.",
        ),
        FindingCode::EvidenceMissing => (
            "The evidence of an anchor's root is not in refs/proof/evidence.",
            "Run git proof sync in the clone where the session was recorded.",
        ),
        FindingCode::ChainBroken => (
            "The evidence is not an unbroken chain, or not the chain that the anchor names.",
            "The evidence was altered. Take it from another clone with git proof sync.",
        ),
        FindingCode::RootMismatch => (
            "The evidence adds up to another root or another number of entries than the anchor says.",
            "The evidence was altered. Take it from another clone with git proof sync.",
        ),
        FindingCode::ReflectionNotStated => (
            "Policy asks for a reflection that the agent or a person wrote, and the tool only observed one.",
            "Explain the commit in a session of your own, with a reflection, or let policy take observed ones.",
        ),
        FindingCode::ReflectionMissing => (
            "The last entry of the evidence is not a reflection that can be read.",
            "A session for a proof-grade commit ends in a reflection. Record one in a session that continues this one.",
        ),
        FindingCode::SchemeNotAllowed => (
            "The session is hashed by a scheme that the policy does not take.",
            "Start sessions with a scheme that the policy lists in proof.schemes.",
        ),
        FindingCode::NotRooted => (
            "The session does not say that it explains this change.",
            "Commit while the session is open, or stage before the closing reflection, so that the session attests the change.",
        ),
        FindingCode::SignatureMissing => (
            "Fewer people have signed the anchor than the policy asks for.",
            "Let another person of .proof/allowed_signers sign it.",
        ),
        FindingCode::SignatureInvalid => (
            "A signature is not one of this anchor.",
            "The anchor or the signature was altered. Sign the anchor again.",
        ),
        FindingCode::SignerUnknown => (
            "A signature is by a key that .proof/allowed_signers of the base does not list.",
            "Add the key on the base branch first; a key that the change itself brings does not count.",
        ),
        FindingCode::SignerExpired => (
            "A signature is by a key that is not valid at the time that counts.",
            "Sign with a key that is valid now, or let a seal show that it was signed in time.",
        ),
        FindingCode::EvidenceWithheld => (
            "Entries of the evidence are withheld: their hashes are there, and their text is not.",
            "No proof fails by it. Anyone who has the session can show the text.",
        ),
        FindingCode::SealMissing => (
            "No seal that counts lists the anchor.",
            "Seal the round and run git proof sync. The policy's keys are proof.sealed and proof.sealers.",
        ),
        FindingCode::SealBroken => (
            "The chain of seals does not hold.",
            "refs/proof/rounds was altered, or there are two chains. Compare it with another clone.",
        ),
        FindingCode::AnchorDeleted => (
            "A seal lists an anchor that the notes no longer have.",
            "Run git proof sync in a clone that still has it.",
        ),
        FindingCode::RoundsForked => (
            "There are two chains of seals, and both were published.",
            "Someone has shown two people two histories. Compare them before you accept one.",
        ),
        FindingCode::RoundsRolledBack => (
            "The chain of seals no longer contains the seal that was its newest before.",
            "refs/proof/rounds was wound back. Restore it from another clone.",
        ),
        FindingCode::RefNotFetched => (
            "A ref that is needed is not in this clone.",
            "Run git proof sync --fetch-only. If the remote has none either, the proof is missing from then on.",
        ),
        FindingCode::ObjectMissing => (
            "A commit or file that is needed is not in this clone.",
            "The clone is shallow or partial: git fetch --unshallow, or git fetch --refetch.",
        ),
        FindingCode::LimitReached => (
            "Deciding would take more time or memory than git-proof spends on one commit.",
            "docs/threat-model.md lists the limits. git proof cover attests the commit by its id, which needs no search.",
        ),
        FindingCode::PolicyUnreadable => {
            ("The policy cannot be read.", "git proof policy check names the line. Correct it on the base branch.")
        }
        FindingCode::KnownOnlyHere => (
            "The proof holds, and no shared ref says where to find it: only this clone can check it.",
            "Push the commit. If it is pushed already, run git proof sync.",
        ),
        FindingCode::Vouched => (
            "Nothing proves that the commit is the change that was proven; a person whom the policy lists says so.",
            "Ask that person if in doubt. The policy's key is proof.vouchers.",
        ),
        FindingCode::WordNotTaken => (
            "A person's word for a commit does not count.",
            "No proof fails by it. The policy's key is proof.vouchers, and a word is for one commit and its tree.",
        ),
    }
}
