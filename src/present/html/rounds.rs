//! The chain of rounds as a picture: one box a round, joined as the seals are.

use std::collections::BTreeSet;

use super::text::inline;
use crate::flow::{ReportOutcome, ReportedRound};
use crate::proof::text::counted;

/// Rounds that are drawn; the newest.
const DRAWN: usize = 24;
const WIDTH: usize = 132;
const HEIGHT: usize = 92;
const GAP: usize = 34;

/// The section about rounds.
pub(super) fn section(report: &ReportOutcome) -> String {
    let rounds = &report.rounds;
    let mut html =
        String::from("<section id=\"rounds\" aria-labelledby=\"rounds-title\">\n<h3 id=\"rounds-title\">Rounds</h3>\n");
    if let Some(why) = &rounds.broken {
        html += &format!("<p class=\"finding error\"><b>The chain does not hold.</b> {}</p>\n", inline(why));
    }
    if rounds.rounds.is_empty() {
        html += match (rounds.fetched, &rounds.broken) {
            (true, Some(_)) => "",
            (true, None) => "<p class=\"quiet\">The chain has no round yet.</p>\n",
            (false, _) => {
                "<p class=\"quiet\">This clone has no <code>refs/proof/rounds</code>: no round was sealed, or it was not \
                 fetched (<code>git proof sync</code>).</p>\n"
            }
        };
        return html + "</section>\n";
    }
    let sealed: BTreeSet<u64> = report
        .outcome
        .commits
        .iter()
        .flat_map(|commit| &commit.sessions)
        .filter(|session| session.holds)
        .filter_map(|session| session.round)
        .collect();
    html += &format!("<p>{}</p>\n", caption(report, &sealed));
    html += &picture(report, &sealed);
    html + "</section>\n"
}

fn caption(report: &ReportOutcome, sealed: &BTreeSet<u64>) -> String {
    let newest = report.rounds.rounds.last().map_or(0, |round| round.round);
    let chain = "Each round lists the roots that were anchored in it, and names the hash of the round before.";
    match sealed.len() {
        0 => format!("{chain} No session of this report is sealed in one of the {newest} rounds."),
        1 => format!("{chain} The round with the heavy frame seals a session of this report."),
        many => format!("{chain} The {many} rounds with the heavy frame seal sessions of this report."),
    }
}

fn picture(report: &ReportOutcome, sealed: &BTreeSet<u64>) -> String {
    let all = &report.rounds.rounds;
    let drawn = &all[all.len().saturating_sub(DRAWN)..];
    let earlier = report.rounds.earlier + (all.len() - drawn.len());
    let lead = if earlier > 0 { GAP + 70 } else { 0 };
    let width = lead + drawn.len() * (WIDTH + GAP) - GAP + 4;
    let mut svg = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"The chain of rounds, oldest first\">\n\
         <svg class=\"chain\" width=\"{width}\" height=\"{}\" viewBox=\"-2 -2 {width} {}\" role=\"img\" \
         aria-labelledby=\"chain-title\">\n<title id=\"chain-title\">{}</title>\n",
        HEIGHT + 4,
        HEIGHT + 4,
        title(drawn, earlier),
    );
    if earlier > 0 {
        svg += &format!("<text class=\"small\" x=\"0\" y=\"{}\">{earlier} earlier</text>\n", HEIGHT / 2 + 4);
    }
    for (at, round) in drawn.iter().enumerate() {
        let x = lead + at * (WIDTH + GAP);
        if at > 0 || earlier > 0 {
            svg += &arrow(x);
        }
        svg += &one(round, x, sealed.contains(&round.round));
    }
    svg + "</svg>\n</div>\n"
}

/// From a round to the one before it, which it names.
fn arrow(x: usize) -> String {
    let y = HEIGHT / 2;
    let (from, to) = (x, x.saturating_sub(GAP - 4));
    format!("<path class=\"link\" d=\"M{from} {y}H{to}m7 -4l-7 4l7 4\"/>\n")
}

fn one(round: &ReportedRound, x: usize, sealed: bool) -> String {
    let hash = round.hash.to_string();
    let middle = x + 14;
    let sessions = counted(round.sessions, "session", "sessions");
    let day = &round.sealed_at.as_str()[..10];
    format!(
        "<g class=\"round{}\" data-round=\"{}\"><title>Round {}, sealed {}, seal {hash}</title>\
         <rect x=\"{x}\" y=\"0\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"9\"/>\
         <text class=\"number\" x=\"{middle}\" y=\"25\">Round {}</text>\
         <text class=\"tick\" x=\"{}\" y=\"25\" text-anchor=\"end\"></text>\
         <text x=\"{middle}\" y=\"44\">{sessions}</text>\
         <text x=\"{middle}\" y=\"61\">{day}</text>\
         <text class=\"mono\" x=\"{middle}\" y=\"79\">{hash:.12}</text></g>\n",
        if sealed { " ours" } else { "" },
        round.round,
        round.round,
        round.sealed_at,
        round.round,
        x + WIDTH - 12,
    )
}

fn title(drawn: &[ReportedRound], earlier: usize) -> String {
    let (first, last) = (drawn.first().map_or(0, |round| round.round), drawn.last().map_or(0, |round| round.round));
    let before = if earlier > 0 { format!(", with {earlier} before them") } else { String::new() };
    format!("Rounds {first} to {last}{before}, each linked to the one before it")
}
