//! The data block: the lines from which the page computes everything again, and what they must come to.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::text;
use crate::ops::{Embedded, ReportOutcome, ReportedSession};
use crate::proof::anchor::Anchor;
use crate::proof::digest::AnchorId;
use crate::report::rejected;

/// How an anchor stands, by its id: the round that lists it, and whether it holds.
type Standing = HashMap<AnchorId, (Option<u64>, bool)>;

/// The JSON of the data block, ready to stand in the page.
pub(super) fn block(report: &ReportOutcome) -> String {
    let mut standing = Standing::new();
    for verdict in report.outcome.commits.iter().flat_map(|commit| &commit.sessions) {
        let (round, holds) = standing.entry(verdict.anchor_id).or_default();
        *round = round.or(verdict.round);
        *holds |= verdict.holds;
    }
    let seals = report.rounds.rounds.iter();
    let seals: Vec<Value> =
        seals.map(|round| json!({ "round": round.round, "hash": round.hash, "text": round.text })).collect();
    let sessions: Vec<Value> = report.sessions.iter().map(|session| self::session(session, &standing)).collect();
    // Written by lines, so that a person can find one with an editor.
    let rows =
        |values: &[Value]| -> String { values.iter().map(|value| format!("\n{value}")).collect::<Vec<_>>().join(",") };
    text::json(&format!("{{\"sessions\":[{}],\n\"seals\":[{}]}}", rows(&sessions), rows(&seals)))
}

fn session(session: &ReportedSession, standing: &Standing) -> Value {
    let anchor = |anchor: &Anchor| {
        let (round, holds) = standing.get(&anchor.id()).copied().unwrap_or_default();
        json!({ "id": anchor.id(), "text": anchor.to_text(), "round": round, "holds": holds })
    };
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
            value["rejected"] = told.map(|(line, places)| (line.to_string(), json!(places))).collect();
        }
    }
    value
}
