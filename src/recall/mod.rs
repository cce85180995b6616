//! Decisions come back: to the reviewer at a line, to the next agent when it opens the file. Everything that is shown here was
//! judged first; an index only says where to look.

mod correcting;
mod decision;
mod explain;
mod index;
mod marks;
mod path;
mod points;
mod quote;
mod seen;
mod trail;
mod trust;
mod why;

pub use decision::Decision;
pub(crate) use index::{Pace, is_anything_anchored, refresh};
pub(crate) use path::find;
pub use path::{PathOutcome, PathRequest, decisions_for};
pub use points::{Label, Point, Points, doubts, listed, rejections};
pub(crate) use quote::{MOST_TOLD, note};
pub use seen::{Seen, SeenAgent, SeenCheck, SeenTools, SeenTranscript};
pub(crate) use trail::read_trail;
pub use trail::{Omitted, Step, StepKind, Trail};
pub(crate) use trust::Allowed;
pub use trust::Recall;
pub use why::{Lines, WhyCommit, WhyLine, WhyOutcome, WhyRequest, WhySession, place, why};
