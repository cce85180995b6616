//! A session from its opening to its root: starting, recording, attesting, reading and checking what this clone recorded. [`Workspace`] is where every recording command works. Nothing here writes a git object.

// These files need each other: `whose` asks the store of a workspace, and `workspace` asks whose session is meant.
mod append;
mod attest;
mod audit;
mod check;
mod check_evidence;
mod close;
mod correct;
mod input;
mod ledger;
mod lock;
mod log;
mod prove;
mod restore;
mod search;
mod secrets;
mod start;
mod text;
mod view;
mod whose;
mod workspace;
pub use append::RecordRequest;
pub(crate) use append::{Staged, record_unstaged, record_with};
pub use attest::{AttestOutcome, attest};
pub use audit::{AuditOutcome, audit};
pub use check::{CheckOutcome, check};
pub use check_evidence::{EvidenceOutcome, check_evidence};
pub(crate) use close::is_zero;
pub use close::{EndOutcome, RootOutcome, end, root};
pub use input::{Source, Trusted};
pub(crate) use ledger::note_done;
pub use ledger::{Call, changes, note};
pub(crate) use lock::lock;
pub use log::{
    LogOutcome, Provenance, SessionList, ShowOutcome, TreeData, TreeNode, TreeOutcome, log, sessions, show, trail, tree,
};
pub use prove::{InclusionOutcome, is_withheld, prove};
pub(crate) use restore::{archive, archive_at, lock_texts, thaw};
pub use search::{SearchHit, SearchOutcome, search};
pub use secrets::{Secret, find_in_json, find_secret};
pub(crate) use start::open_session;
pub use start::{StartOutcome, StartRequest, start};
pub(crate) use text::{
    MAX_BODY, MAX_NAME, acceptable, credential_in_entry, credential_in_opening, cut_to_body, opening_holds_secret,
    without_secrets,
};
pub use view::{BodyView, EntryView, SessionView};
pub(crate) use whose::names_agent;
pub use whose::{Agent, Whose, agents_in_environment, whose};
pub use workspace::Workspace;
pub(crate) use workspace::parse_id;
