//! What the tool does, one file per verb. Each returns an outcome that serializes to the JSON that the command line,
//! the MCP server and the hooks all give; how it is shown to a person is the command line's work.

mod alone;
mod anchor;
mod attest;
mod audit;
mod backup;
mod check;
mod check_evidence;
mod check_proof;
mod check_transcript;
mod committing;
mod cover;
mod demo;
mod disclose;
mod doctor;
mod finalize;
mod import;
mod init;
mod input;
mod ledger;
mod log;
mod memory;
mod pending;
mod prove;
mod receive;
mod record;
mod report;
mod retain;
mod rounds;
mod search;
mod secrets;
mod squashing;
mod start;
mod story;
mod sync;
mod text;
mod verify;
mod view;
mod vouch;
mod whose;
mod workspace;

pub use crate::store::Watcher;
pub use anchor::{
    AnchorOutcome, AnchorRequest, Anchored, Carried, CarryOutcome, SignOutcome, SignRequest, anchor, anchor_unanchored,
    carry, carry_rewritten, heal, restore_evidence, sign,
};
pub use attest::{AttestOutcome, attest};
pub use audit::{AuditOutcome, audit};
pub use backup::{BackupOutcome, BackupRequest, backup};
pub use check::{CheckOutcome, check};
pub use check_evidence::{EvidenceOutcome, check_evidence};
pub use check_proof::{
    CheckedProof, ConsistencyOutcome, LoggedOutcome, PathOutcome, ProofOutcome, check_path_line, check_proof,
    check_proof_line,
};
pub use check_transcript::{CommittedTranscript, TranscriptOutcome, check_transcript};
pub use committing::{
    AfterCommit, MessageAdvice, after_commit, attest_made, before_commit, before_fixup, comment_mark, foreseen,
};
pub use cover::{CoverOutcome, CoverRequest, CoveredCommit, cover};
pub use demo::{Audience, DemoOutcome, DemoRequest, Forged, Scene, demo};
pub use disclose::{DiscloseOutcome, Disclosed, disclose};
pub use doctor::{DoctorCheck, DoctorOutcome, DoctorState, HookState, doctor, hook_states};
pub use finalize::{EndOutcome, FinalizeOutcome, RootOutcome, anchor_finalized, end, finalize, root};
pub use import::{EvidenceImport, FileImport, ImportedSession, RefusedEvidence, import_evidence, import_file};
pub use init::{
    Action, FileChange, HookChange, HookManager, InitOutcome, InitRequest, ManagerName, Notice, Paste, SettingChange,
    WiredBy, init,
};
pub use input::{Source, Trusted};
pub use ledger::{Call, changes, note};
pub use log::{
    LogOutcome, Provenance, SessionList, ShowOutcome, TreeData, TreeNode, TreeOutcome, log, sessions, show, trail, tree,
};
pub use memory::{
    DropOutcome, MemoryOutcome, MemoryProof, NoteView, PackOutcome, PackRequest, PackedView, PutOutcome, PutRequest,
    memory, memory_drop, memory_pack, memory_prove, memory_put,
};
pub use pending::{Moment, expect_commit, is_waiting, mend};
pub use prove::{InclusionOutcome, is_withheld, prove};
pub use receive::{Received, RefUpdate, receive};
pub use record::{RecordRequest, record};
pub use report::{
    Embedded, EmbeddedLines, ReportOutcome, ReportedCommit, ReportedFile, ReportedRound, ReportedRounds,
    ReportedSession, Telling, Touch, report, write_report,
};
pub use retain::{Because, Limits, Move, Problem, RetainOutcome, RetainRequest, Undecided, Zone, ZoneSummary, retain};
pub use rounds::{
    CheckpointOutcome, CheckpointRequest, Joined, Remade, RoundOutcome, RoundsOutcome, SealOutcome, SealRequest,
    SealedView, SeenView, SignedRound, accept_rounds, checkpoint, prove_rounds, prove_sealed, round, rounds, seal,
    sign_round,
};
pub use search::{SearchHit, SearchOutcome, search};
pub use secrets::{Secret, find_in_json, find_secret};
pub use squashing::{before_squash, squashed_at_head};
pub use start::{StartOutcome, StartRequest, start};
pub use story::{
    CommitStory, Label, LeftAway, Meant, Point, Points, Seen, SeenAgent, SeenCheck, SeenTools, SeenTranscript, Step,
    StepKind, StoryOutcome, StoryRequest, Trail, listed, meant, rejections, story,
};
pub use sync::{Pushed, SyncOutcome, fetch, index_anchors, index_pushed, sync};
pub use text::{cut_to_body, opening_holds_secret};
pub use verify::{
    CommitVerdict, ExplainOutcome, GateRequest, JudgedRange, LeftOut, PolicyOutcome, RoundView, RulesView,
    SessionVerdict, Summary, Told, VerifyOutcome, VerifyRequest, Vouched, VouchedSession, check_policy, explain_policy,
    first_paths, gate, gate_push, policy_warnings, verify,
};
pub use view::{BodyView, EntryView, SessionView};
pub use vouch::{VouchOutcome, VouchRequest, VouchedRange, vouch};
pub use whose::{Agent, Whose, agents_in_environment, whose};
pub use workspace::Workspace;
