//! `check-evidence`: what does an evidence file add up to, and is that the root and count that are trusted? Whether a
//! proof-grade session is closed by a reflection is reported and not required: that is part of the verdict on a commit.

use serde::Serialize;

use super::input::{Source, Trusted};
use crate::error::{Code, Error, Result};
use crate::proof::digest::{ChainHash, RootHash};
use crate::proof::evidence::{EvidenceError, Verifier};
use crate::proof::finding::Verdict;
use crate::proof::observed::Reflection;
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;

/// Bytes read at a time: enough that few lines are cut in two, and few enough to stay in the CPU's cache.
const PIECE: usize = 1 << 16;

/// An evidence file that holds.
#[derive(Debug, Clone, Serialize)]
pub struct EvidenceOutcome {
    /// Always `pass`: a file that does not hold is an error.
    pub verdict: Verdict,
    /// How the session is hashed.
    pub scheme: Scheme,
    /// Its first parent.
    pub genesis: ChainHash,
    /// Chain hash of its last entry.
    pub head: ChainHash,
    pub root: RootHash,
    /// Its number of entries.
    pub count: u64,
    /// How many of them are withheld.
    pub withheld: u64,
    pub session_id: Id,
    /// Whether it must be closed by a reflection.
    pub proof_grade: bool,
    /// Whether a readable reflection closes it, in a scheme that proves so.
    pub closed_by_reflection: bool,
    /// Whether the agent or a person stated that reflection, or the tool observed it.
    pub reflection: Option<Reflection>,
    /// How many parts of entries claim to be in a form that the tool alone writes, and are not. They count for nothing.
    pub ignored: u64,
    /// Whether root and count were held against ones that are trusted. If not, they are only what the file adds up to.
    pub trusted: bool,
}

/// Checks an evidence file of any size.
pub fn check_evidence(source: &Source, trusted: Option<&Trusted>) -> Result<EvidenceOutcome> {
    let refused = |error: EvidenceError| {
        Error::new(Code::EvidenceInvalid, format!("the evidence in {source} is refused: {error}"))
            .hint("fetch the file anew; if it still does not hold, it is not what was anchored")
            .details(serde_json::json!({ "line": error.line, "field": error.flaw.field() }))
    };
    let mut file = source.open()?;
    let mut verifier = Verifier::new();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => verifier.push(&piece[..length]).map_err(refused)?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(source.unreadable(&error)),
        }
    }
    let summary = verifier.finish().map_err(refused)?;
    if let Some(trusted) = trusted {
        summary.require(&trusted.root, trusted.count).map_err(refused)?;
    }
    Ok(EvidenceOutcome {
        verdict: Verdict::Pass,
        scheme: summary.opening.scheme,
        genesis: summary.genesis,
        head: summary.head,
        root: summary.root,
        count: summary.count,
        withheld: summary.withheld,
        session_id: summary.opening.session_id,
        proof_grade: summary.opening.proof_grade,
        closed_by_reflection: summary.reflection.is_some(),
        reflection: summary.reflection,
        ignored: summary.ignored,
        trusted: trusted.is_some(),
    })
}
