//! The data block: the lines from which the page computes everything again, and what they must come to.

use serde_json::{Value, json};

use super::text;
use crate::flow::{Embedded, ReportOutcome, ReportedSession};
use crate::judge::CommitVerdict;
use crate::present::{rejected, report};
use crate::proof::anchor::Anchor;

/// The JSON of the data block, ready to stand in the page.
pub(super) fn block(report: &ReportOutcome) -> String {
    let seals = report.rounds.rounds.iter();
    let seals: Vec<Value> =
        seals.map(|round| json!({ "round": round.round, "hash": round.hash, "text": round.text })).collect();
    let commits: Vec<Value> = report.outcome.commits.iter().map(|commit| self::commit(report, commit)).collect();
    let sessions: Vec<Value> = report.sessions.iter().map(session).collect();
    let open = report::open_questions(&report.outcome, &report.sessions);
    // Written by lines, so that a person can find one with an editor.
    let rows =
        |values: &[Value]| -> String { values.iter().map(|value| format!("\n{value}")).collect::<Vec<_>>().join(",") };
    text::json(&format!(
        "{{\"range\":{},\n\"open\":{open},\n\"commits\":[{}],\n\"sessions\":[{}],\n\"seals\":[{}]}}",
        Value::from(report.range.as_str()),
        rows(&commits),
        rows(&sessions),
        rows(&seals)
    ))
}

/// A commit with its verdict, and which sessions that rests on: they are named by their place in the list of sessions.
fn commit(report: &ReportOutcome, commit: &CommitVerdict) -> Value {
    let bound = commit.sessions.iter().filter_map(|session| {
        Some(json!({
            "session": report.session(&session.root)?,
            "anchor": session.anchor_id,
            "holds": session.holds,
            "rooted": session.rooted,
            "reflection": session.reflection,
            "round": session.round,
        }))
    });
    json!({
        "commit": commit.commit,
        "subject": commit.subject,
        "verdict": commit.verdict,
        "sessions": bound.collect::<Vec<_>>(),
        "findings": commit.findings.iter().map(|finding| finding.severity).collect::<Vec<_>>(),
    })
}

fn session(session: &ReportedSession) -> Value {
    let anchor = |anchor: &Anchor| json!({ "id": anchor.id(), "text": anchor.to_text() });
    let anchors: Vec<Value> = session.anchors.iter().map(anchor).collect();
    let mut value = json!({ "root": session.root, "anchors": anchors });
    match &session.evidence {
        Embedded::Absent(why) => value["absent"] = json!(why),
        Embedded::Lines(embedded) => {
            value["complete"] = json!(embedded.complete);
            value["leaves"] = json!(embedded.leaves);
            value["lines"] = json!(embedded.lines);
            let told = embedded.story.iter().map(|telling| (telling.line, rejected::places(&telling.content)));
            let told = told.filter(|(_, places)| !places.is_empty());
            value["marked"] = told.map(|(line, places)| (line.to_string(), json!(places))).collect();
            value["seen"] = json!(embedded.seen_in);
        }
    }
    value
}
