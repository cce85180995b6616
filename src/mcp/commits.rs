//! The tools that bind sessions to commits and check commits, and the resource that shows one commit.

use serde_json::json;

use super::arguments::Arguments;
use super::call::{Origin, Work, work};
use super::schema::answer;
use super::tool::{Input, Kind, Tool, names, text};
use crate::error::Result;
use crate::flow;
use crate::judge::{self, Keep, VerifyOutcome, VerifyRequest};
use crate::publish::AnchorOutcome;

/// Most commits that one call judges: their verdicts fit into an answer.
const MAX_COMMITS: usize = 1000;

pub(super) static ANCHOR: Tool = Tool {
    name: "anchor_commit",
    title: "Anchor a session on commits",
    description: "Binds a finalized session to the commits it explains: those it attested, unless commits are named. \
                  merkle_finalize does this by itself; call it for commits made since.",
    kind: Kind::Closes,
    input: Input(
        &["session_id"],
        || json!({ "session_id": text(), "commits": names(), "sign": { "type": "boolean" } }),
    ),
    output: answer::<AnchorOutcome>,
    prepare: |given, _| {
        let session = given.required("session_id")?;
        let (commits, sign) = (given.list("commits")?.unwrap_or_default(), given.flag("sign")?);
        Ok(work(move |workspace| flow::anchor(workspace, Some(&session), &commits, sign)))
    },
};

pub(super) static VERIFY_COMMITS: Tool = Tool {
    name: "verify_commits",
    title: "Verify commits",
    description: "Checks the proof of commits or ranges (HEAD by default) from this clone: verdict, sessions, findings.",
    kind: Kind::Reads,
    input: Input(&[], || json!({ "commits": names() })),
    output: answer::<VerifyOutcome>,
    prepare: |given, _| verify(given, Keep::Sessions),
};

/// Reads a commit as a resource: its verdict, and what the sessions behind it decided.
pub(super) fn read(given: &mut Arguments, _: &Origin<'_>) -> Result<Work> {
    verify(given, Keep::Stories)
}

fn verify(given: &mut Arguments, keep: Keep) -> Result<Work> {
    let revisions = given.list("commits")?.unwrap_or_default();
    let request = VerifyRequest { revisions, keep, most: Some(MAX_COMMITS), ..VerifyRequest::default() };
    // Creates the store even where nothing was recorded: the ledger is in it.
    Ok(work(move |workspace| judge::verify(&workspace.context, &request)).creating_store(true))
}
