//! What the tool does, one file per verb. Each returns an outcome that serializes to the JSON that the command line,
//! the MCP server and the hooks all give; how it is shown to a person is the command line's work.

mod agent;
mod attest;
mod audit;
mod check;
mod check_evidence;
mod check_proof;
mod finalize;
mod init;
mod input;
mod ledger;
mod log;
mod prove;
mod record;
mod search;
mod secrets;
mod start;
mod text;
mod view;
mod workspace;

pub use crate::store::Watcher;
pub use agent::{Agent, ToolUse, agent_reminder, agent_start, agent_tool_use};
pub use attest::{AttestOutcome, attest};
pub use audit::{AuditOutcome, audit};
pub use check::{CheckOutcome, check};
pub use check_evidence::{EvidenceOutcome, check_evidence};
pub use check_proof::{ProofOutcome, check_proof, check_proof_line};
pub use finalize::{EndOutcome, RootOutcome, end, finalize, root};
pub use init::{Action, FileChange, InitAgent, InitOutcome, InitRequest, init};
pub use input::{Source, Trusted};
pub use ledger::{Call, changes, note};
pub use log::{
    LogOutcome, Provenance, SessionList, ShowOutcome, TreeData, TreeNode, TreeOutcome, log, sessions, show, trail, tree,
};
pub use prove::{InclusionOutcome, prove};
pub use record::{RecordRequest, record};
pub use search::{SearchHit, SearchOutcome, search};
pub use secrets::{Secret, find_secret};
pub use start::{StartOutcome, StartRequest, start};
pub use view::{BodyView, EntryView, SessionView};
pub use workspace::Workspace;
