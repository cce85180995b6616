//! The catalogue: which tools a profile offers, in which order.

use rmcp::model::Tool as ToolModel;

use super::tool::Tool;
use super::{Profile, commits, keeping, proofs, recall, sessions, thoughts};

/// The tools of every profile.
static CORE: &[&Tool] = &[
    &sessions::START,
    &thoughts::RECORD,
    &sessions::VERIFY_CHAIN,
    &sessions::END,
    &sessions::FINALIZE,
    &sessions::ROOT,
    &recall::DECISIONS_FOR,
    &recall::WHY,
];

/// The tools that only `--profile full` offers.
static MORE: &[&Tool] = &[
    &sessions::VERIFY_THOUGHTS,
    &thoughts::GET,
    &thoughts::TREE,
    &thoughts::TRAIL,
    &thoughts::SEARCH,
    &sessions::ATTEST,
    &proofs::PROVE,
    &proofs::VERIFY_PROOF,
    &sessions::AUDIT,
    &keeping::PUT,
    &keeping::PACK,
    &commits::ANCHOR,
    &commits::VERIFY_COMMITS,
    &keeping::SEAL,
    &keeping::RETAIN,
];

fn offered(profile: Profile) -> impl Iterator<Item = &'static Tool> {
    let more = match profile {
        Profile::Core => &[],
        Profile::Full => MORE,
    };
    CORE.iter().chain(more).copied()
}

/// Describes the tools of a profile. The server does this when a client asks, because it would slow down every start.
pub(super) fn tools(profile: Profile) -> Vec<ToolModel> {
    offered(profile).map(Tool::model).collect()
}

/// Finds a tool by its name, if the profile offers it.
pub(super) fn find(profile: Profile, name: &str) -> Option<&'static Tool> {
    offered(profile).find(|tool| tool.name == name)
}
