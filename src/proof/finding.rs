//! Findings: what a verifier has to say about a commit, with stable codes.

use crate::hint::{Hint, JUDGED, Step, hint};
use schemars::JsonSchema;
use serde::Serialize;

use super::digest::CommitId;
use super::schema::names;

names! {
    /// How a commit, or a whole range, stands.
    #[derive(PartialOrd, Ord, JsonSchema)]
    #[schemars(rename_all = "lowercase")]
    pub enum Verdict {
        /// No proof is required, and there is none.
        Exempt = "exempt",
        /// It is proven.
        Pass = "pass",
        /// A person whom policy lists vouches for it. That is a word, not a proof.
        Vouched = "vouched",
        /// It could not be checked.
        Unchecked = "unchecked",
        /// A proof is required, and there is none.
        Missing = "missing",
        /// A proof does not hold.
        Fail = "fail",
    }
}

impl Verdict {
    /// The answer to a question that has only two.
    pub const fn of(holds: bool) -> Self {
        if holds { Self::Pass } else { Self::Fail }
    }

    /// Whether a gate lets it through.
    pub const fn is_accepted(self) -> bool {
        match self {
            Self::Exempt | Self::Pass | Self::Vouched => true,
            Self::Unchecked | Self::Missing | Self::Fail => false,
        }
    }
}

/// What a finding does to the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is worth knowing.
    Warning,
    /// Something could not be checked.
    Unchecked,
    /// Something is wrong.
    Error,
}

names! {
    /// The stable names of findings.
    #[derive(PartialOrd, Ord)]
    pub enum FindingCode {
        /// There is no anchor, and there must be one.
        AnchorMissing = "ANCHOR_MISSING",
        /// A line of a note is not one that we would write.
        AnchorMalformed = "ANCHOR_MALFORMED",
        /// An anchor is not for the change where it is found, or says something of its own commit that is not so.
        BindingMismatch = "BINDING_MISMATCH",
        /// The anchor's binding is weaker than policy takes.
        BindingTooWeak = "BINDING_TOO_WEAK",
        /// The change was applied before and undone since; applying it again is a new decision.
        Replayed = "REPLAYED",
        /// The commit that was proven is not at hand, and its change could stand at more than one place.
        PlaceAmbiguous = "PLACE_AMBIGUOUS",
        /// A trailer names a root that does not hold for the commit, or a line only looks like a trailer of ours.
        TrailerMismatch = "TRAILER_MISMATCH",
        /// The evidence was fetched, and the file of a root is not in it.
        EvidenceMissing = "EVIDENCE_MISSING",
        /// The chain of the evidence does not hold, or is not the one that the anchor names.
        ChainBroken = "CHAIN_BROKEN",
        /// The evidence adds up to another root or count.
        RootMismatch = "ROOT_MISMATCH",
        /// The last line of the evidence is no reflection that can be read.
        ReflectionMissing = "REFLECTION_MISSING",
        /// Policy asks for a reflection that the agent or a person stated, and the tool only observed one.
        ReflectionNotStated = "REFLECTION_NOT_STATED",
        /// Policy does not take the scheme.
        SchemeNotAllowed = "SCHEME_NOT_ALLOWED",
        /// The session does not say that it explains this change.
        NotRooted = "NOT_ROOTED",
        /// Fewer people have signed than must.
        SignatureMissing = "SIGNATURE_MISSING",
        /// A signature is not one of the anchor.
        SignatureInvalid = "SIGNATURE_INVALID",
        /// A signature is by a key that is not listed.
        SignerUnknown = "SIGNER_UNKNOWN",
        /// A signature is by a key that is not valid at the time that counts.
        SignerExpired = "SIGNER_EXPIRED",
        /// Lines of the evidence are withheld.
        EvidenceWithheld = "EVIDENCE_WITHHELD",
        /// No seal that counts lists the anchor.
        SealMissing = "SEAL_MISSING",
        /// The chain of seals does not hold.
        SealBroken = "SEAL_BROKEN",
        /// A seal lists an anchor that the notes do not have.
        AnchorDeleted = "ANCHOR_DELETED",
        /// The head of the rounds that was seen before is no ancestor of the present one.
        RoundsRolledBack = "ROUNDS_ROLLED_BACK",
        /// There are two chains of rounds, and both were published.
        RoundsForked = "ROUNDS_FORKED",
        /// A ref that is needed is not in this clone.
        RefNotFetched = "REF_NOT_FETCHED",
        /// An object that is needed is not in this clone.
        ObjectMissing = "OBJECT_MISSING",
        /// Deciding would take more than the limits allow.
        LimitReached = "LIMIT_REACHED",
        /// The policy cannot be read.
        PolicyUnreadable = "POLICY_UNREADABLE",
        /// The proof holds, and so far only this clone can find it.
        KnownOnlyHere = "KNOWN_ONLY_HERE",
        /// A person vouches for the commit, who may by policy: a word, and no proof.
        Vouched = "VOUCHED",
        /// A person's word for the commit, or for another, does not count here.
        WordNotTaken = "WORD_NOT_TAKEN",
    }
}

impl JsonSchema for FindingCode {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FindingCode".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        // A later version may have more of them.
        schemars::json_schema!({ "type": "string" })
    }
}

/// What to do about a commit that lacks a proof of its own. [`Finding::name_commit`] puts its id there.
pub fn cover() -> Step {
    Step::Cover(JUDGED.into())
}

/// What to do about objects that are not in this clone.
pub fn fetch_objects() -> Hint {
    hint!("if the clone is shallow: ", Step::GitFetchUnshallow; "if it is partial: ", Step::GitFetchRefetch)
}

/// One thing to say about a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Its stable name.
    pub code: FindingCode,
    /// What it does to the verdict.
    pub severity: Severity,
    /// What was found.
    pub message: String,
    /// What to do.
    pub hint: Option<Hint>,
}

impl Finding {
    /// Something is wrong.
    pub fn error(code: FindingCode, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, message: message.into(), hint: None }
    }

    /// Something could not be checked.
    pub fn unchecked(code: FindingCode, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Unchecked, message: message.into(), hint: None }
    }

    /// Something is worth knowing.
    pub fn warning(code: FindingCode, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Warning, message: message.into(), hint: None }
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Puts the id of the commit that was judged into the hint, so that it can be typed as it stands.
    pub fn name_commit(&mut self, commit: &CommitId) {
        if let Some(hint) = &mut self.hint {
            hint.name_commit(&commit.to_string()[..12]);
        }
    }

    /// Whether `cover` is what helps, or one of the ways.
    pub fn is_helped_by_cover(&self) -> bool {
        self.hint.as_ref().is_some_and(|hint| hint.steps().any(|step| matches!(step, Step::Cover(_))))
    }

    /// The same, without a say in the verdict.
    #[must_use]
    pub fn softened(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }
}
