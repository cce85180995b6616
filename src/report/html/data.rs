//! The data block: the lines from which the page computes everything again, and what they must come to.

use serde_json::{Value, json};

use super::text;
use crate::ops::{Embedded, ReportOutcome, ReportedSession};

/// The JSON of the data block, ready to stand in the page.
pub(super) fn block(report: &ReportOutcome) -> String {
    let rounds = &report.rounds;
    let seals: Vec<Value> = rounds
        .rounds
        .iter()
        .map(|round| json!({ "round": round.round, "hash": round.hash, "text": round.text }))
        .collect();
    let sessions: Vec<Value> = report.sessions.iter().map(|session| self::session(session, report)).collect();
    // Written by lines, so that a person can find one with an editor.
    let rows =
        |values: &[Value]| -> String { values.iter().map(|value| format!("\n{value}")).collect::<Vec<_>>().join(",") };
    text::json(&format!("{{\"sessions\":[{}],\n\"seals\":[{}]}}", rows(&sessions), rows(&seals)))
}

fn session(session: &ReportedSession, report: &ReportOutcome) -> Value {
    let anchors: Vec<Value> = session
        .anchors
        .iter()
        .map(|anchor| {
            let id = anchor.id();
            let verdicts = report.outcome.commits.iter().flat_map(|commit| &commit.sessions);
            let verdicts: Vec<_> = verdicts.filter(|verdict| verdict.anchor_id == id).collect();
            let round = verdicts.iter().find_map(|verdict| verdict.round);
            let holds = verdicts.iter().any(|verdict| verdict.holds);
            json!({ "id": id, "text": anchor.to_text(), "round": round, "holds": holds })
        })
        .collect();
    let mut value = json!({ "root": session.root, "anchors": anchors });
    match &session.evidence {
        Embedded::Absent(why) => value["absent"] = json!(why),
        Embedded::Lines(embedded) => {
            value["complete"] = json!(embedded.complete);
            value["leaves"] = json!(embedded.leaves);
            value["lines"] = json!(embedded.lines);
        }
    }
    value
}
