//! What leaves a clone: evidence, anchors in notes, lines that are carried to rewritten commits, the index of changes. Each step is durable before the next one.

mod accept;
mod anchor;
mod carry;
mod commit_hooks;
mod disclose;
mod evidence;
mod fork;
mod index;
mod lines;
mod merge;
mod pending;
mod reflect;
mod sign;
mod squash;
mod unheard;
mod walk;
mod why;
pub(crate) use accept::Acceptable;
pub use accept::TakenOver;
pub use anchor::{AnchorOutcome, Anchored, anchor_unanchored};
pub(crate) use anchor::{attested_commits, is_true, on_commits};
pub use carry::{Carried, CarryOutcome, carry, carry_rewritten};
pub use commit_hooks::{
    AfterCommit, MessageAdvice, after_commit, attest, before_commit, before_fixup, comment_mark, commit_hint,
};
pub(crate) use commit_hooks::{staged_change, write_commit_hint};
pub use disclose::{DiscloseOutcome, Disclosed, disclose};
pub use evidence::restore_evidence;
pub(crate) use evidence::{attested_by_evidence, better_evidence, file_name as evidence_name, obstacle};
pub use fork::Pushed;
pub(crate) use index::release;
pub use index::{Indexed, index_anchors, index_pushed};
pub use lines::heal;
pub(crate) use lines::{Line, lines_of, note_of, publish};
pub(crate) use merge::{merge, unite_offered};
pub use pending::{Moment, expect_commit, is_waiting, mend};
pub(crate) use pending::{mend_of, waiting_commits};
pub use reflect::record;
pub(crate) use sign::signed_line;
pub use squash::{before_squash, squashed_at_head};
pub(crate) use unheard::{attest_unheard, nobodys};
pub(crate) use why::{explain_proven, unexplained};
