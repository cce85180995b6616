//! The rules by which commits are judged: a policy, read from a commit and never from the worktree.

use super::seals::Seals;
use crate::error::{Code, Error, Result};
use crate::git::limits::{Meter, cost};
use crate::git::{self, FILE, Git};
use crate::hint::{Step, hint};
use crate::proof::anchor::Anchor;
use crate::proof::digest::{AnchorId, CommitId, TreeId};
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::grade::Grader;
use crate::proof::note::Signature;
use crate::proof::policy::{FileError, GateRules, MAX_POLICY, Policy, Requirements};
use crate::proof::scheme::Scheme;
use crate::proof::signers::{MAX_SIGNERS, Signer, Signers, Standing};
use crate::proof::sshsig::{self, NAMESPACE, PublicKey, SignatureError};
use crate::proof::timestamp::Timestamp;
use crate::proof::verify::Signatures;

/// Where all of it is.
const FOLDER: &str = ".proof";
/// Where a policy is.
pub(super) const POLICY: &str = ".proof/policy.toml";
/// Where those are listed who may sign.
pub(super) const SIGNERS: &str = ".proof/allowed_signers";
/// Where keys are listed that may no longer.
pub(super) const REVOKED: &str = ".proof/revoked_signers";

/// What a verdict says of a policy that came from a file.
const FROM_FILE: &str = "file";

/// Whose rules a verdict was made by.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct RulesView {
    /// The commit whose tree has them; `None` where there was no commit to ask.
    pub commit: Option<CommitId>,
    /// The name that led to it, such as `refs/remotes/origin/HEAD`.
    #[serde(rename = "ref")]
    pub name: Option<String>,
    /// `file`, or `defaults` where that commit has no policy.
    pub policy: &'static str,
    /// Whether they are those of a branch that is known to be trusted. If not, the commits' own history had to do.
    pub trusted: bool,
}

/// A policy, ready to be applied.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(super) grader: Grader,
    pub(super) requirements: Requirements,
    /// What the gate does about a verdict, and which branches it guards.
    pub(super) gate: GateRules,
    /// Whose rules they are.
    pub(super) source: RulesView,
    /// Who may sign.
    pub(super) signers: Signers,
    /// What seals say.
    pub(super) seals: Seals,
    /// When validity is judged where no seal vouches for an earlier time.
    pub(super) now: Timestamp,
}

impl Rules {
    /// The policy of a commit that a name led to; the defaults where there is no such commit.
    pub(super) fn of_tip(git: &Git, tip: Option<(impl Into<String>, CommitId)>, now: Timestamp) -> Result<Self> {
        tip.map_or_else(|| Self::defaults(now), |(name, tip)| Ok(Self::of(git, &tip, now)?.named(name)))
    }

    /// Says which name led to the rules.
    pub(super) fn named(mut self, name: impl Into<String>) -> Self {
        self.source.name = Some(name.into());
        self
    }

    /// Whether the policy came from a file; else these are the defaults.
    pub(super) fn has_policy_file(&self) -> bool {
        self.source.policy == FROM_FILE
    }

    /// The policy of a commit, or the defaults where it has none.
    pub(super) fn of(git: &Git, commit: &CommitId, now: Timestamp) -> Result<Self> {
        let tree = git.commit(commit).map_err(git::unchecked)?.tree;
        let unusable = |path: &str, why: String| {
            Error::new(Code::PolicyUnreadable, format!("{path} of commit {commit} cannot be used"))
                .because(why)
                .hint(hint!(Step::PolicyCheck, " tells what is wrong"; "correct it on that branch"))
        };
        let text = read(git, &tree, POLICY, MAX_POLICY).map_err(|why| unusable(POLICY, why))?;
        let policy = match &text {
            None => Policy::default(),
            Some(text) => Policy::parse(text).map_err(|error| unusable(POLICY, error.to_string()))?,
        };
        let mut rules = Self::new(policy, now).map_err(|error| unusable(POLICY, error.to_string()))?;
        rules.source.commit = Some(*commit);
        if text.is_some() {
            rules.source.policy = FROM_FILE;
        }
        if let Some(text) = read(git, &tree, SIGNERS, MAX_SIGNERS).map_err(|why| unusable(SIGNERS, why))? {
            rules.signers = Signers::parse(&text).map_err(|error| unusable(SIGNERS, error.to_string()))?;
        }
        if let Some(text) = read(git, &tree, REVOKED, MAX_SIGNERS).map_err(|why| unusable(REVOKED, why))? {
            rules.signers.revoke(&text).map_err(|error| unusable(REVOKED, error.to_string()))?;
        }
        Ok(rules)
    }

    /// The rules of a policy that need not be committed, with the signers of a commit.
    pub(super) fn of_policy(git: &Git, commit: &CommitId, policy: Policy, now: Timestamp) -> Result<Self> {
        let unusable = |error: FileError| {
            Error::new(Code::PolicyUnreadable, "the policy cannot be used")
                .because(error)
                .hint(hint!(Step::PolicyCheck, " tells what is wrong"))
        };
        let signers = Self::of(git, commit, now).map(|rules| rules.signers).unwrap_or_default();
        let source = RulesView { commit: Some(*commit), name: None, policy: FROM_FILE, trusted: true };
        Ok(Self { source, signers, ..Self::new(policy, now).map_err(unusable)? })
    }

    /// The rules where nobody has set any.
    pub(super) fn defaults(now: Timestamp) -> Result<Self> {
        Self::new(Policy::default(), now)
            .map_err(|error| Error::new(Code::PolicyUnreadable, "the default policy").because(error))
    }

    /// The rules by which a round takes an anchor in: it must hold by itself, whoever signed it.
    pub(super) fn for_sealing(now: Timestamp) -> Result<Self> {
        let mut rules = Self::defaults(now)?;
        rules.requirements.schemes = Scheme::ALL.to_vec();
        Ok(rules)
    }

    fn new(policy: Policy, now: Timestamp) -> Result<Self, FileError> {
        Ok(Self {
            grader: Grader::new(&policy.proof_grade)?,
            requirements: policy.proof,
            gate: policy.gate,
            source: RulesView { commit: None, name: None, policy: "defaults", trusted: true },
            signers: Signers::default(),
            seals: Seals::default(),
            now,
        })
    }

    /// Who signed an anchor, by the lines that have it, judged at the time of a seal that counts, else now. A signature that
    /// does not count is no harm where others do: anyone who can write notes can add one.
    pub(super) fn signatures(
        &self,
        anchor: &Anchor,
        id: &AnchorId,
        lines: &[Option<Signature>],
        meter: &Meter,
    ) -> Signatures {
        if lines.iter().all(Option::is_none) {
            return Signatures::default();
        }
        let text = anchor.to_text();
        let at = self.seals.counts(id).map_or(self.now, |(_, sealed_at)| sealed_at);
        let mut people: Vec<Signer<'_>> = Vec::new();
        let mut findings = Vec::new();
        for signature in lines.iter().flatten() {
            match self.signer(signature, text.as_bytes(), at, meter) {
                Ok(signer) => people.push(signer),
                Err(finding) => findings.push(finding),
            }
        }
        let names: Vec<String> = self.signers.people(&people).into_iter().map(str::to_owned).collect();
        let needed = self.requirements.signatures as usize;
        let unsigned = lines.iter().any(Option::is_none);
        // Where nobody must sign, the anchor counts as if it had no signature. One of a key that may not sign says nothing,
        // valid or not, and so does junk beside it. Only where a listed key is claimed and all else is junk is something
        // wrong: then someone meant to sign.
        let harmless = |finding: &Finding| finding.code != FindingCode::SignatureInvalid;
        let enough = match needed {
            0 => unsigned || !names.is_empty() || findings.iter().any(harmless),
            needed => names.len() >= needed,
        };
        let findings = findings.into_iter().map(|finding| if enough { finding.softened() } else { finding });
        Signatures { people: names, findings: findings.collect() }
    }

    /// Whose signature it is. The key that it names is looked up first, and only that of someone who may sign is used to
    /// verify it: anyone can add signatures of keys that take long.
    pub(super) fn signer(
        &self,
        signature: &Signature,
        text: &[u8],
        at: Timestamp,
        meter: &Meter,
    ) -> Result<Signer<'_>, Finding> {
        let invalid = |error: SignatureError| {
            Finding::error(FindingCode::SignatureInvalid, format!("a signature is not one of this anchor: {error}"))
        };
        let key = sshsig::claimed_key(&signature.0).map_err(|error| match error {
            // No file of signers can list it.
            SignatureError::Key(why) => Finding::error(
                FindingCode::SignerUnknown,
                format!("a signature names a key that cannot be used: {why}"),
            ),
            other => invalid(other),
        })?;
        let print = key.fingerprint();
        let expired = |why: &str| Err(Finding::error(FindingCode::SignerExpired, format!("the key {print} {why}")));
        let signer = match self.signers.who(&key, NAMESPACE, at) {
            Standing::Signer(signer) => signer,
            Standing::Unknown => {
                return Err(Finding::error(FindingCode::SignerUnknown, format!("the key {print} is not in {SIGNERS}")));
            }
            Standing::WrongNamespace => {
                return Err(Finding::error(
                    FindingCode::SignerUnknown,
                    format!("the key {print} is listed in {SIGNERS}, but not for the namespace {NAMESPACE}"),
                ));
            }
            Standing::NotYetValid => return expired("is not valid yet"),
            Standing::Expired => return expired("is not valid any more"),
            Standing::Revoked => return expired("was revoked"),
        };
        meter.spend(cost_of(&key)).map_err(|why| Finding::unchecked(FindingCode::LimitReached, why))?;
        sshsig::verify(&signature.0, text, NAMESPACE).map_err(invalid)?;
        Ok(signer)
    }
}

/// About what it takes to verify a signature of a key, in units of work.
pub(super) fn cost_of(key: &PublicKey) -> u64 {
    match key.kind() {
        "ssh-ed25519" | "sk-ssh-ed25519@openssh.com" => cost::ED25519,
        // It grows with the square of the modulus, which is most of the key.
        "ssh-rsa" => (key.as_bytes().len() as u64).pow(2),
        _ => cost::ECDSA,
    }
}

/// A plain file of a tree; `None` if there is none.
fn read(git: &Git, tree: &TreeId, path: &str, limit: usize) -> Result<Option<Vec<u8>>, String> {
    let find = |path: &str| git.file(tree, path).map_err(|error| error.to_string());
    // Where something else has the folder's name, the rules that were in it must not seem to be none.
    if find(FOLDER)?.is_some_and(|folder| !folder.is_tree()) {
        return Err(format!("{FOLDER} is not a directory"));
    }
    let Some(entry) = find(path)? else { return Ok(None) };
    if entry.mode & 0o170_000 != FILE & 0o170_000 {
        return Err("it is not a plain file".to_owned());
    }
    git.blob(&entry.id, limit).map(Some).map_err(|error| error.to_string())
}
