//! `check-proof`: does an inclusion proof hold against a root and count that are trusted already?

use std::io::Read as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::limits::MAX_NOTE;
use crate::git::{Git, NOTES};
use crate::hint::{Step, hint};
use crate::judge::{VerifyRequest, verify};
use crate::proof::canonical::Malformed;
use crate::proof::digest::{CommitId, ContentHash, RootHash};
use crate::proof::finding::Verdict;
use crate::proof::inclusion::{InclusionProof, NotIncluded, Position};
use crate::proof::logged::{ConsistencyProof, LoggedProof, NotLogged};
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;
use crate::proof::seal::LogHead;
use crate::publish::attested_by_evidence;
use crate::record::{Source, Trusted};
use crate::rounds::read_log;

/// More than any proof: 64 steps of 100 bytes and the fields around them, or a session with tens of thousands of anchors.
const MAX_PROOF: u64 = 4 << 20;

/// A proof that holds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProofOutcome {
    /// Always `pass`: a proof that does not hold is an error.
    #[schemars(with = "String", extend("const" = "pass"))]
    pub verdict: Verdict,
    /// The same, under its old name (docs/json.md).
    #[schemars(skip)]
    pub valid: bool,
    /// How the session is hashed.
    pub scheme: Scheme,
    /// Content hash of the entry.
    pub leaf_hash: ContentHash,
    /// Its position.
    pub index: u64,
    pub count: u64,
    /// The root that it is in.
    pub root: RootHash,
}

/// A path that leads from a hash to a root whose number of entries is not known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PathOutcome {
    /// Always `pass`: a path that leads elsewhere is an error.
    #[schemars(with = "String", extend("const" = "pass"))]
    pub verdict: Verdict,
    /// The same, under its old name (docs/json.md).
    #[schemars(skip)]
    pub valid: bool,
    /// Always false. With a count the answer is a [`ProofOutcome`].
    #[schemars(extend("const" = false))]
    pub count_checked: bool,
    /// A sentence about what the check does not show.
    pub not_checked: String,
    /// How the path was hashed.
    pub scheme: Scheme,
    /// The leaf at which the path begins.
    pub leaf_hash: ContentHash,
    /// The root at which it ends.
    pub root: RootHash,
}

/// A session that is in the log of sealed sessions.
#[derive(Debug, Clone, Serialize)]
pub struct LoggedOutcome {
    /// Always `pass`: a proof that does not hold is an error.
    pub verdict: Verdict,
    /// The same, under its old name (docs/json.md).
    pub valid: bool,
    pub session_id: Id,
    pub session_root: RootHash,
    /// Its number of entries.
    pub session_count: u64,
    /// Its place in the log, from 0.
    pub index: u64,
    /// Number of sessions in the log.
    pub count: u64,
    /// Root of the log.
    pub root: RootHash,
}

/// A log that begins with an earlier one.
#[derive(Debug, Clone, Serialize)]
pub struct ConsistencyOutcome {
    /// Always `pass`: a proof that does not hold is an error.
    pub verdict: Verdict,
    /// The same, under its old name (docs/json.md).
    pub valid: bool,
    /// Number of sessions in the earlier log.
    pub from_count: u64,
    pub from_root: RootHash,
    /// Number of sessions in the later log.
    pub count: u64,
    pub root: RootHash,
}

/// The subject of a proof that holds.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum CheckedProof {
    /// An entry of a session.
    Entry(ProofOutcome),
    /// A session in the log.
    Logged(LoggedOutcome),
    /// Two logs.
    Consistency(ConsistencyOutcome),
}

/// Checks a proof file: one line, with or without its final newline. Without a root and count to hold it against, an
/// anchor of the repository that holds will do, or for proofs about the log a seal of its chain.
pub fn check_proof(context: &Context, source: &Source, trusted: Option<&Trusted>) -> Result<CheckedProof> {
    let mut bytes = Vec::new();
    source.open()?.take(MAX_PROOF).read_to_end(&mut bytes).map_err(|error| source.unreadable(&error))?;
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let named = format!("the proof in {source}");
    if line.starts_with(b"{\"index\":") {
        return check_logged(context, line, &named, trusted).map(CheckedProof::Logged);
    }
    if line.starts_with(b"{\"from\":") {
        return check_consistency(context, line, &named, trusted).map(CheckedProof::Consistency);
    }
    let claimed = InclusionProof::parse(line).ok().map(|proof| proof.root);
    let anchored = match (trusted, claimed) {
        (None, Some(root)) => anchored(context, &root).ok().flatten(),
        _ => None,
    };
    check_proof_line(line, &named, trusted.or(anchored.as_ref())).map(CheckedProof::Entry)
}

fn check_logged(context: &Context, line: &[u8], named: &str, trusted: Option<&Trusted>) -> Result<LoggedOutcome> {
    let proof = LoggedProof::parse(line).map_err(|error| malformed(named, &error))?;
    let log = trusted_log(context, trusted, &proof.head.log())?;
    proof.verify(&log).map_err(|error| not_logged(named, &error))?;
    let session = proof.session;
    Ok(LoggedOutcome {
        verdict: Verdict::Pass,
        valid: true,
        session_id: session.session_id,
        session_root: session.root,
        session_count: session.count,
        index: proof.index,
        count: log.size,
        root: log.root,
    })
}

fn check_consistency(
    context: &Context,
    line: &[u8],
    named: &str,
    trusted: Option<&Trusted>,
) -> Result<ConsistencyOutcome> {
    let proof = ConsistencyProof::parse(line).map_err(|error| malformed(named, &error))?;
    let log = trusted_log(context, trusted, &proof.to.log())?;
    proof.verify(&log).map_err(|error| not_logged(named, &error))?;
    let from = proof.from.log();
    Ok(ConsistencyOutcome {
        verdict: Verdict::Pass,
        valid: true,
        from_count: from.size,
        from_root: from.root,
        count: log.size,
        root: log.root,
    })
}

/// The log that a proof is held against: what was given, or else the claimed one if the chain of rounds had just that.
fn trusted_log(context: &Context, given: Option<&Trusted>, claimed: &LogHead) -> Result<LogHead> {
    if let Some(given) = given {
        return Ok(LogHead { root: given.root, size: given.count });
    }
    let known = Git::discover(context).ok().map(|git| read_log(&git, &mut |_, _, _| {})).transpose()?;
    if known.is_some_and(|log| log.had(claimed)) {
        return Ok(*claimed);
    }
    Err(Error::new(Code::NoTrustedRoot, "a proof can only be checked against a log that you trust").hint(hint!(
        "add ", Step::Option("--root".into()), " and ", Step::Option("--count".into()),
        " of the log, from a seal or a checkpoint";
        "the proof's own are only a claim"
    )))
}

fn refused(named: &str, field: &str, why: &str) -> Error {
    Error::new(Code::ProofInvalid, format!("{named} is refused: line 1: {why}"))
        .details(serde_json::json!({ "line": 1, "field": field }))
}

fn malformed(named: &str, error: &Malformed) -> Error {
    refused(named, error.field, &error.to_string())
        .hint("pass on the file as it was printed: one line, nothing added, nothing reformatted")
}

fn not_logged(named: &str, error: &NotLogged) -> Error {
    refused(named, error.field(), &format!("field \"{}\": {error}", error.field()))
        .hint("take root and count of the log from the seal or the checkpoint that the proof is about")
}

/// The count of a root, by an anchor of the repository that holds: of a commit that the evidence attests, else of any.
fn anchored(context: &Context, root: &RootHash) -> Result<Option<Trusted>> {
    let git = Git::discover(context)?;
    let Some(notes) = git.tip(NOTES)? else { return Ok(None) };
    let notes = git.commit(&notes)?.tree;
    let held = |commit: &CommitId| -> Result<Option<Trusted>> {
        let revisions = vec![commit.to_string()];
        let request = VerifyRequest { revisions, ..VerifyRequest::default() };
        let outcome = verify(context, &request)?;
        let mut sessions = outcome.commits.into_iter().flat_map(|commit| commit.sessions);
        let found = sessions.find(|session| session.holds && session.root == *root);
        Ok(found.map(|session| Trusted { root: *root, count: session.count }))
    };
    for commit in attested_by_evidence(&git, root)? {
        if let Some(trusted) = held(&commit)? {
            return Ok(Some(trusted));
        }
    }
    // A session that attests nothing was anchored by hand, and may be anywhere.
    let needle = format!("\"root\":\"{root}\"");
    let mut commits = Vec::new();
    git.each_note(&notes, &mut |commit, blob| {
        let text = git.proof_blob(&blob, MAX_NOTE).unwrap_or_default();
        if memchr::memmem::find(&text, needle.as_bytes()).is_some() {
            commits.push(commit);
        }
    })?;
    for commit in commits {
        if let Some(trusted) = held(&commit)? {
            return Ok(Some(trusted));
        }
    }
    Ok(None)
}

/// Checks a proof that is at hand; `named` is what messages call it.
pub fn check_proof_line(line: &[u8], named: &str, trusted: Option<&Trusted>) -> Result<ProofOutcome> {
    let proof = parse_entry(line, named)?;
    let trusted = trusted.ok_or_else(|| {
        Error::new(Code::NoTrustedRoot, "a proof can only be checked against a root and count that you trust").hint(
            hint!(
                "add ", Step::Option("--root".into()), " and ", Step::Option("--count".into()),
                " from an anchor or from `", Step::Root, "`";
                "the proof's own are only a claim"
            ),
        )
    })?;
    proof.verify(&trusted.root, trusted.count).map_err(|error| not_included(named, error))?;
    let InclusionProof { scheme, leaf_hash, index, count, root, .. } = proof;
    Ok(ProofOutcome { verdict: Verdict::Pass, valid: true, scheme, leaf_hash, index, count, root })
}

/// Checks only that the path of a proof leads to its root. `index` and `count` of the line are ignored: without a count that
/// is trusted they say nothing.
pub fn check_path_line(line: &[u8], named: &str) -> Result<PathOutcome> {
    let InclusionProof { scheme, leaf_hash, steps, root, .. } = parse_entry(line, named)?;
    let top = steps.iter().fold(scheme.leaf(&leaf_hash), |node, step| match step.position {
        Position::Left => scheme.node(&step.hash, &node),
        Position::Right => scheme.node(&node, &step.hash),
    });
    if RootHash::from(top) != root {
        return Err(not_included(named, NotIncluded::RootMismatch));
    }
    let not_checked = "The path leads from leaf_hash to root. This does not show that leaf_hash is an entry: without the number \
                       of entries, an inner node of the tree or a repeated leaf would pass as well. Pass count to check that.";
    Ok(PathOutcome {
        verdict: Verdict::Pass,
        valid: true,
        count_checked: false,
        not_checked: not_checked.to_owned(),
        scheme,
        leaf_hash,
        root,
    })
}

fn parse_entry(line: &[u8], named: &str) -> Result<InclusionProof> {
    InclusionProof::parse(line).map_err(|error| malformed(named, &error))
}

fn not_included(named: &str, error: NotIncluded) -> Error {
    refused(named, error.field(), &format!("field \"{}\": {error}", error.field()))
        .hint("take root and count from the anchor of the session that the record belongs to")
}
