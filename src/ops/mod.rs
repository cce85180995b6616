//! What the tool does, one file per verb. Each returns an outcome that serializes to the JSON that the command line,
//! the MCP server and the hooks all give; how it is shown to a person is the command line's work.

mod check_evidence;
mod check_proof;
mod input;

pub use check_evidence::{EvidenceOutcome, check_evidence};
pub use check_proof::{ProofOutcome, check_proof};
pub use input::{Source, Trusted};
