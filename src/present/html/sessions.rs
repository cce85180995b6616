//! Session by session, the oldest first: what it was for, what was decided, what was observed, and the commits it led to.

use std::collections::{HashMap, HashSet};

use super::commits::{FACTS, facts, line, subject};
use super::story::{cut, day_and_minute, story};
use super::text::{block, inline};
use crate::flow::{Embedded, ReportOutcome, oldest_first};
use crate::judge::CommitVerdict;
use crate::present::observed;
use crate::proof::anchor::Anchor;
use crate::proof::digest::{AnchorId, RootHash};
use crate::proof::text::counted;

/// All sessions, and then the commits that none of them stands behind.
pub(super) fn sections(report: &ReportOutcome) -> (String, String) {
    let layout = Layout::of(report);
    let mut sessions: String = layout.order.iter().map(|at| session(report, &layout, *at)).collect();
    if sessions.is_empty() {
        sessions.push_str("<p class=\"quiet\">No commit here names a session.</p>\n");
    }
    let alone = (0..report.commits.len()).rev().filter(|place| !layout.home.contains_key(place));
    let alone: String = alone.map(|place| format!("<li>{}</li>\n", whole(report, place))).collect();
    let others = if alone.is_empty() {
        String::new()
    } else {
        format!(
            "<section id=\"others\" aria-labelledby=\"others-title\">\n<h2 id=\"others-title\">Commits that no session stands \
             behind</h2>\n<ul class=\"commits\">\n{alone}</ul>\n</section>\n"
        )
    };
    (sessions, others)
}

/// The order of sessions on the page, and the commits shown with each.
struct Layout {
    /// The sessions by their places, the oldest first.
    order: Vec<usize>,
    /// The commits that name each session, by their places, the oldest first.
    commits: Vec<Vec<usize>>,
    /// The session below which a commit stands: the first that holds for it, or would if enough people had signed.
    home: HashMap<usize, usize>,
    /// The anchors on which a verdict rests.
    holding: HashSet<AnchorId>,
}

impl Layout {
    fn of(report: &ReportOutcome) -> Self {
        let places: HashMap<&RootHash, usize> =
            report.sessions.iter().enumerate().map(|(at, session)| (&session.root, at)).collect();
        let order = oldest_first(&report.outcome, &report.sessions);
        let rank: HashMap<usize, usize> = order.iter().enumerate().map(|(rank, at)| (*at, rank)).collect();
        let mut commits = vec![Vec::new(); report.sessions.len()];
        let mut home: HashMap<usize, usize> = HashMap::new();
        for (place, commit) in report.outcome.commits.iter().enumerate().rev() {
            for session in &commit.sessions {
                let Some(at) = places.get(&session.root).copied() else { continue };
                if commits[at].last() != Some(&place) {
                    commits[at].push(place);
                }
                if session.holds || session.sound {
                    let first = home.entry(place).or_insert(at);
                    if rank.get(&at) < rank.get(first) {
                        *first = at;
                    }
                }
            }
        }
        let holding = report.outcome.commits.iter().flat_map(|commit| &commit.sessions);
        let holding = holding.filter(|session| session.holds).map(|session| session.anchor_id).collect();
        Self { order, commits, home, holding }
    }
}

fn whole(report: &ReportOutcome, place: usize) -> String {
    line(report, &report.outcome.commits[place], &report.commits[place])
}

fn session(report: &ReportOutcome, layout: &Layout, at: usize) -> String {
    let session = &report.sessions[at];
    let lines = if let Embedded::Lines(lines) = &session.evidence { Some(lines) } else { None };
    let opening = lines.and_then(|lines| lines.opening.as_ref());
    let anchor = speaker(report, layout, at);
    let id = anchor.map(|anchor| inline(anchor.session_id.as_str())).unwrap_or_default();
    let count = anchor.map_or(0, |anchor| anchor.count);
    let mut html = format!(
        "<section class=\"session\" id=\"s-{:.12}\" data-session=\"{at}\">\n<h3 dir=\"auto\">{}</h3>\n",
        session.root.to_string(),
        opening.map_or_else(|| format!("Session {id}"), |opening| block(&cut(&opening.intent).0))
    );
    let mut said = vec![format!("session <code>{id}</code>"), counted(count, "entry", "entries")];
    let stands = layout.commits[at].iter().any(|place| layout.home.contains_key(place) && sound(report, *place, at));
    if !stands {
        said.push("<b class=\"bad\">no commit here rests on it</b>".to_owned());
    }
    if let Some(opening) = opening {
        said.push(format!("by {}", inline(&opening.caller)));
        let time = opening.started_at;
        said.push(format!("<time datetime=\"{time}\">{}</time>", day_and_minute(time.as_str())));
    }
    said.extend(lines.map(|lines| lines.withheld).filter(|count| *count > 0).map(|count| format!("{count} withheld")));
    html += &facts(FACTS, &said);
    match &session.evidence {
        Embedded::Absent(why) => html += &format!("<p class=\"quiet\">Nothing to read: {}.</p>\n", inline(why)),
        Embedded::Lines(_) if !stands => html += "<p class=\"quiet\">What it recorded is in its trail.</p>\n",
        Embedded::Lines(lines) => {
            html += &story(&lines.story);
            let seen = observed::seen_at_work(&lines.seen);
            if !seen.is_empty() {
                let items: String = seen.iter().map(|seen| format!("<li>{}</li>", inline(seen))).collect();
                html += &format!(
                    "<div class=\"seen\"><p class=\"label\">Observed by git-proof, not stated by the agent</p><ul>{items}</ul></div>\n"
                );
            }
        }
    }
    let commits: String = layout.commits[at].iter().map(|place| commit(report, layout, *place, at)).collect();
    html + &format!("<ul class=\"commits\" aria-label=\"Commits\">\n{commits}</ul>\n</section>\n")
}

/// A commit below a session: all of it where it belongs, else a link to that.
fn commit(report: &ReportOutcome, layout: &Layout, place: usize, at: usize) -> String {
    let verdict = &report.outcome.commits[place];
    let id = verdict.commit;
    if layout.home.get(&place) == Some(&at) {
        return format!("<li data-commit=\"{id}\">{}</li>\n", whole(report, place));
    }
    let why = if sound(report, place, at) { "" } else { " <b class=\"bad\">its anchor does not hold</b>" };
    format!(
        "<li data-commit=\"{id}\" class=\"also\"><code>{id:.12}</code> <a href=\"#c-{id}\" dir=\"auto\">{}</a>{why}</li>\n",
        subject(verdict)
    )
}

/// Whether a session holds for a commit, or would if enough people had signed.
fn sound(report: &ReportOutcome, place: usize, at: usize) -> bool {
    let CommitVerdict { sessions, .. } = &report.outcome.commits[place];
    sessions.iter().any(|session| session.root == report.sessions[at].root && (session.holds || session.sound))
}

/// The anchor that speaks for a session: one on which a verdict rests, if there is one. The script chooses alike.
fn speaker<'a>(report: &'a ReportOutcome, layout: &Layout, at: usize) -> Option<&'a Anchor> {
    let anchors = &report.sessions[at].anchors;
    anchors.iter().find(|anchor| layout.holding.contains(&anchor.id())).or(anchors.first())
}
