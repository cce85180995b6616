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
#[allow(clippy::too_many_lines)] // one for each code
pub fn rule(code: FindingCode) -> Rule {
    let rule = |severity| move |what, remedy| Rule { what, remedy, severity };
    let (error, unchecked, warning) = (rule(Severity::Error), rule(Severity::Unchecked), rule(Severity::Warning));
    match code {
        FindingCode::AnchorMissing => error(
            "This commit needs a proof, and there is none.",
            "If a session explains it, finalize that session, run git proof anchor, then git proof sync. If none does, git proof cover makes one. git proof policy explain says which rule asks for the proof.",
        ),
        FindingCode::AnchorMalformed => error(
            "A line of the commit's note in refs/notes/proof is not one that git-proof would write.",
            "Write the anchor again with git proof anchor. Only git-proof should edit refs/notes/proof.",
        ),
        FindingCode::BindingMismatch => error(
            "The anchor on this commit was made for another change, or says something wrong about the commit that it was made for.",
            "The change was edited after it was proven, or the note was copied from another commit. Record why in a session that continues the first one, and anchor that session.",
        ),
        FindingCode::BindingTooWeak => error(
            "The anchor is bound to the commit less closely than the policy requires, for example to the same change in another commit.",
            "Anchor the commit as it is now. The key of the policy is proof.binding.",
        ),
        FindingCode::Replayed => error(
            "This change was made before and then undone. The proof is for the first time; making the change again is a new decision.",
            "Record why the change comes back: git proof cover explains the commit in a session of its own.",
        ),
        FindingCode::PlaceAmbiguous => error(
            "The commit that was proven is not in this clone, and its change could stand at more than one place.",
            "Fetch the branch that had the commit, or run git proof cover on the commit as it is now.",
        ),
        FindingCode::TrailerMismatch => error(
            "A Proof- trailer in the commit message names a session that does not explain the commit, or cannot be read.",
            "Anchor the session that the trailer names, or reword the commit without it.",
        ),
        FindingCode::EvidenceMissing => error(
            "The evidence, which are the records behind an anchor's root, is not in refs/proof/evidence.",
            "Run git proof sync in the clone where the session was recorded.",
        ),
        FindingCode::ChainBroken => error(
            "The records in the evidence are not an unbroken hash chain, or not the chain that the anchor names.",
            "The evidence was altered. Take it from another clone with git proof sync.",
        ),
        FindingCode::RootMismatch => error(
            "The evidence has another root or another number of entries than the anchor says.",
            "The evidence was altered. Take it from another clone with git proof sync.",
        ),
        FindingCode::ReflectionNotStated => error(
            "The policy requires a closing reflection that the agent or a person wrote, and git-proof only observed one.",
            "Explain the commit in a session of your own that ends in a reflection, or set proof.reflection to \"observed\" in the policy.",
        ),
        FindingCode::ReflectionMissing => error(
            "The last record of the session is not a reflection that can be read.",
            "The session of a commit that needs a proof must end in a reflection. Record one in a session that continues this one.",
        ),
        FindingCode::SchemeNotAllowed => error(
            "The session is hashed by a scheme that the policy does not accept.",
            "Start sessions with a scheme that the policy lists in proof.schemes.",
        ),
        FindingCode::NotRooted => error(
            "The session does not cover this change: its records do not name it.",
            "Commit while the session is open, or stage the change before the closing reflection: then the session attests it. For a commit that exists already, use git proof cover.",
        ),
        FindingCode::SignatureMissing => error(
            "Fewer people have signed the anchor than the policy requires.",
            "Ask another person who is listed in .proof/allowed_signers to run git proof sign.",
        ),
        FindingCode::SignatureInvalid => error(
            "A signature does not belong to this anchor.",
            "The anchor or the signature was altered. Sign the anchor again.",
        ),
        FindingCode::SignerUnknown => error(
            "A signature was made with a key that .proof/allowed_signers on the base branch does not list.",
            "Add the key on the base branch first; a key that the judged change itself adds does not count.",
        ),
        FindingCode::SignerExpired => error(
            "A signature was made with a key that was not valid at the time that counts.",
            "Sign with a key that is valid now, or seal the anchor while the key is valid: the seal shows that it was signed in time.",
        ),
        FindingCode::EvidenceWithheld => warning(
            "Some records are withheld: their hashes are published, and their texts are not.",
            "The proof holds anyway. The clone that recorded the session has the texts, and can publish them with git proof disclose.",
        ),
        FindingCode::SealMissing => error(
            "The policy requires a seal, and no seal of a listed person lists the anchor.",
            "Seal the round with git proof seal --sign and run git proof sync. The keys of the policy are proof.sealed and proof.sealers.",
        ),
        FindingCode::SealBroken => error(
            "The chain of seals in refs/proof/rounds does not hold.",
            "The ref was altered, or there are two chains. Compare it with another clone.",
        ),
        FindingCode::AnchorDeleted => error(
            "A seal lists an anchor that the notes no longer have.",
            "Run git proof sync in a clone that still has it.",
        ),
        FindingCode::RoundsForked => error(
            "There are two chains of seals, and both were published.",
            "Somebody has shown different chains to different people. Compare the two before you accept one with git proof rounds accept.",
        ),
        FindingCode::RoundsRolledBack => error(
            "The chain of seals no longer contains the seal that was its newest when this clone saw it last.",
            "refs/proof/rounds was wound back. Restore it from another clone.",
        ),
        FindingCode::RefNotFetched => unchecked(
            "A ref with proofs that is needed here was not fetched.",
            "Run git proof sync --fetch-only. If the remote does not have the ref either, the verdict is then \"missing\".",
        ),
        FindingCode::ObjectMissing => unchecked(
            "A commit or file that is needed is not in this clone.",
            "The clone is shallow or partial: git fetch --unshallow, or git fetch --refetch.",
        ),
        FindingCode::LimitReached => unchecked(
            "Deciding would take more time or memory than git-proof spends on one commit.",
            "docs/threat-model.md lists the limits. git proof cover explains the commit by its id, for which nothing has to be searched.",
        ),
        FindingCode::PolicyUnreadable => unchecked(
            "The policy cannot be read.",
            "git proof policy check names the line. Correct it on the base branch.",
        ),
        FindingCode::KnownOnlyHere => warning(
            "The proof holds, and no shared ref says where to find it: only this clone can check it.",
            "Push the commit. If it is pushed already, run git proof sync.",
        ),
        FindingCode::Vouched => warning(
            "No proof fits this commit; a person whom the policy lists vouches for it.",
            "If in doubt, ask that person. The key of the policy is proof.vouchers.",
        ),
        FindingCode::WordNotTaken => warning(
            "A person's word for a commit does not count.",
            "No proof fails because of it. The key of the policy is proof.vouchers, and a word counts for one commit only.",
        ),
    }
}
