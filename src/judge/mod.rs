//! Loads the facts about a commit, judges it, and concludes a verdict: `verify`, `gate`, and the gate of a server. Knows nothing of how a verdict is shown.

// These files need each other: judging a commit asks for its bond, its merge and a replay, and a squash
// is judged by judging each commit of its range in the same way.

mod bond;
mod commit;
mod deleted;
mod digest;
mod every;
mod evidence;
mod facts;
mod files;
mod gate;
mod gather;
mod merges;
mod note;
mod offers;
mod policy;
mod prefetch;
mod range;
mod receive;
mod replay;
mod revision;
mod rules;
mod seals;
mod squash;
mod survey;
mod trusted;
mod verdict;
mod verify;
mod weigh;
mod word;

pub(crate) use every::Elsewhere;
pub use evidence::Told;
pub use files::FileSeen;
pub(crate) use gate::gate_into;
pub use gate::{GateRequest, gate, gate_push, push_is_advisory};
pub(crate) use offers::Offers;
pub(crate) use policy::try_policy;
pub use policy::{ExplainOutcome, PolicyOutcome, check_policy, explain_policy, policy_warnings};
pub use range::JudgedRange;
pub use receive::{Received, RefUpdate, receive};
pub use revision::first_paths;
pub use rules::RulesView;
pub use survey::RoundView;
pub(crate) use survey::{passed_over, survey};
pub(crate) use trusted::trusted_branch;
pub use verdict::{CommitVerdict, SessionVerdict};
pub use verify::{Keep, Summary, VerifyOutcome, VerifyRequest, verify};
pub(crate) use verify::{judge_for_sealing, judge_landed, not_fetched, range_ids, rests_on, verify_in};
pub use word::{Vouched, VouchedSession};
