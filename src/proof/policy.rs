//! The policy file: which commits must be anchored, and what an anchor must show. Parsed strictly: a rule that is
//! misspelled must not be a rule that is not there.

use std::fmt;

use serde::Deserialize;

use super::canonical::MAX_INTEGER;
use super::digest::SealHash;
use super::keys::{Written, line};
use super::marks;
use super::observed::Reflection;
use super::schema::names;
use super::scheme::Scheme;

/// Largest policy file, in bytes.
pub const MAX_POLICY: usize = 1 << 20;

/// A whole policy. Every key has a default, which [`Policy::default`] gives.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Which commits must be anchored.
    pub proof_grade: ProofGrade,
    /// What the gate does about those that are not.
    pub gate: GateRules,
    /// What an anchor must show.
    pub proof: Requirements,
}

/// What the gate does.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GateRules {
    /// Whether a verdict turns anything away.
    pub mode: GateMode,
    /// Globs of the branches that pre-receive guards, without `refs/heads/`.
    pub branches: Vec<String>,
}

impl Default for GateRules {
    fn default() -> Self {
        Self { mode: GateMode::Enforce, branches: vec!["**".to_owned()] }
    }
}

/// Whether a verdict turns anything away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateMode {
    /// It does.
    Enforce,
    /// Everything is judged and shown, and nothing is turned away.
    Advisory,
}

/// Which commits must be anchored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProofGrade {
    /// Which commits in general.
    pub require: Require,
    /// Regular expressions on lines of the message, such as `Assisted-by: .*`.
    pub trailers: Vec<String>,
    /// Regular expressions on `name <email>`.
    pub authors: Vec<String>,
    /// Globs of paths: a commit that touches one.
    pub paths: Vec<String>,
    /// Whether merges count as well.
    pub merges: bool,
}

impl Default for ProofGrade {
    fn default() -> Self {
        Self {
            require: Require::Marked,
            trailers: marks::trailers(),
            authors: Vec::new(),
            paths: Vec::new(),
            merges: false,
        }
    }
}

/// Which commits in general.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Require {
    /// Those with a `Proof-` trailer, or that a rule names.
    Marked,
    /// All.
    All,
    /// None.
    None,
}

/// What an anchor must show.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Requirements {
    /// Accepted schemes.
    pub schemes: Vec<Scheme>,
    /// Weakest accepted binding.
    pub binding: Binding,
    /// Whether the evidence must be there.
    pub evidence: EvidenceRule,
    /// Whether the evidence must attest the change.
    pub rooted: bool,
    /// Whether it is enough that the tool observed the closing reflection.
    pub reflection: Reflection,
    /// How many people must have signed.
    pub signatures: u32,
    /// Whether a seal must list the anchor.
    pub sealed: bool,
    /// Whose seals count.
    pub sealers: Vec<String>,
    /// Whose word for a commit is taken where no anchor can be bound to it.
    pub vouchers: Vec<String>,
    /// A seal that the chain must contain.
    #[serde(deserialize_with = "read_pin")]
    pub pin: Option<Pin>,
}

impl Default for Requirements {
    fn default() -> Self {
        Self {
            schemes: vec![Scheme::V1, Scheme::V1Rfc9162],
            binding: Binding::Squashed,
            evidence: EvidenceRule::Required,
            rooted: true,
            reflection: Reflection::Observed,
            signatures: 0,
            sealed: false,
            sealers: Vec::new(),
            vouchers: Vec::new(),
            pin: None,
        }
    }
}

names! {
    /// How an anchor belongs to the commit where it is found, weakest first.
    #[derive(PartialOrd, Ord, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Binding {
        /// The same change as a whole range.
        Squashed = "squashed",
        /// The same change.
        Moved = "moved",
        /// The same tree, with parents of the same trees.
        Reworded = "reworded",
        /// The commit it was made for.
        Exact = "exact",
    }
}

/// Whether the evidence must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidenceRule {
    /// It must.
    Required,
    /// It is checked where it is there.
    Optional,
}

/// A seal that the chain must contain: `<round>:<hash>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// The round.
    pub round: u64,
    /// Hash of its seal.
    pub seal: SealHash,
}

impl Pin {
    /// Reads `12:<seal hash>`.
    pub fn parse(text: &str) -> Option<Self> {
        let (round, seal) = text.split_once(':')?;
        let pin = Self { round: round.parse().ok()?, seal: SealHash::parse(seal)? };
        ((1..=MAX_INTEGER).contains(&pin.round) && pin.round.to_string() == round).then_some(pin)
    }
}

impl<'de> Deserialize<'de> for Scheme {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format_args!("{text:?} is not {}", Self::RULE)))
    }
}

/// In a policy file the empty string stands for no pin.
fn read_pin<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Pin>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = || serde::de::Error::custom(format_args!("{text:?} is not a pin such as \"12:<seal hash>\""));
    Pin::parse(&text).map(Some).ok_or_else(wrong)
}

/// Why a file of settings cannot be used: a policy, a list of signers, or a list of revoked keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The line, from 1; 0 where no line is at fault.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for FileError {}

impl Policy {
    /// Reads a policy file. Its rules can be applied then: [`Grader::new`](super::grade::Grader::new) takes them.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        let whole = |message: &str| FileError { line: 0, message: message.to_owned() };
        if bytes.len() > MAX_POLICY {
            return Err(whole("larger than 1 MiB"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| whole("not UTF-8"))?;
        let written = Written::parse(text)?;
        written.check_keys()?;
        let policy: Self = toml::from_str(text).map_err(|error| {
            let message = error.message().trim_end().replace('\n', ", ");
            FileError { line: line(text, error.span()), message }
        })?;
        if policy.proof.schemes.is_empty() {
            let message = "proof.schemes is empty: no anchor could ever pass".to_owned();
            return Err(FileError { line: written.line_of("proof", "schemes", None), message });
        }
        written.check_rules(&policy)?;
        Ok(policy)
    }
}
