//! The page: one file that needs nothing else, shows what was decided and why, and computes every hash in it again when it is
//! opened. Nothing that others wrote becomes markup or script: text is escaped here, and set as text by the script.
//!
//! The headline is made by the script, from the data that it has checked. Until then the page says that nothing was checked.

mod commits;
mod data;
mod rounds;
mod sessions;
mod story;
mod text;
mod written;

use serde_json::{Map, Value, json};

use crate::flow::{Embedded, ReportOutcome};
use crate::judge::Summary;
use crate::present;
use crate::proof::digest::{ContentHash, sha256};
use crate::proof::finding::Verdict;
use crate::proof::note::Signature;

use text::{hash, inline};

const PAGE: &str = include_str!("page.html");
const BODY: &str = include_str!("body.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 7] = [
    include_str!("sha256.js"),
    include_str!("proof.js"),
    include_str!("trail.js"),
    include_str!("shown.js"),
    include_str!("check.js"),
    include_str!("search.js"),
    include_str!("page.js"),
];

/// More sessions than these have their table shut at first, and are laid out when they are seen.
const MANY: usize = 12;

/// The page of a report.
pub fn html(report: &ReportOutcome) -> String {
    let script =
        format!("(() => {{\n\"use strict\";\n{}{}{}}})();\n", words(), text::active_script(), SCRIPTS.join("\n"));
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        source(&script),
        source(STYLE)
    );
    let title = inline(&format!("git proof report: {}", report.asked));
    let open = super::report::open_questions(&report.outcome, &report.sessions);
    let (sessions, others) = sessions::sections(report);
    let body = fill(BODY, &|name| match name {
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "verdict" => present::capitalized(present::range_headline(report.outcome.verdict, &report.outcome.summary)),
        "counts" => present::standing(&report.outcome.summary, open),
        "range" => range(report),
        "command" => inline(&format!("git proof verify {}", report.range)),
        "made_at" => report.made_at.to_string(),
        "made" => story::day_and_minute(report.made_at.as_str()),
        "policy_from" => policy_from(report).to_owned(),
        "ledger" => ledger(report),
        "many" => if report.sessions.len() > MANY { "many" } else { "few" }.to_owned(),
        "refused" => commits::refused(report),
        "sessions" => sessions.clone(),
        "others" => others.clone(),
        "rounds" => rounds::section(report),
        "data" => data::block(report),
        "script" => script.clone(),
        _ => String::new(),
    });
    let digest = ContentHash::new(sha256(written::written(&format!("{title}{body}")).as_bytes()));
    fill(PAGE, &|name| match name {
        "policy" => policy.clone(),
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "digest" => digest.to_string(),
        "title" => title.clone(),
        "style" => STYLE.to_owned(),
        "body" => body.clone(),
        _ => String::new(),
    })
}

/// The words of all verdicts for the page's script, which finds the headline by itself: [`present`] has them.
fn words() -> String {
    let of = |verdict: Verdict| {
        let words = json!({
            "rank": present::ORDER.iter().filter(|other| **other < verdict).count(),
            "sign": present::sign(verdict),
            "word": present::word(verdict),
            "counted": present::counted(verdict),
            "headline": present::capitalized(present::headline(verdict)),
        });
        (verdict.as_str().to_owned(), words)
    };
    let words: Map<String, Value> = present::ORDER.into_iter().map(of).collect();
    let nothing = present::capitalized(present::range_headline(Verdict::Exempt, &Summary::default()));
    format!(
        "const WORDS = {};\nconst ORDER = {};\nconst NOTHING = {};\n",
        Value::Object(words),
        json!(present::ORDER),
        json!(nothing)
    )
}

/// A hash as a Content-Security-Policy names what may run.
fn source(text: &str) -> String {
    format!("sha256-{}", Signature(sha256(text.as_bytes()).to_vec()).to_base64())
}

/// Fills a template in one pass: what is filled in is not looked at again.
fn fill(template: &str, value: &dyn Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut parts = template.split("{{");
    filled.push_str(parts.next().unwrap_or_default());
    for part in parts {
        if let Some((name, rest)) = part.split_once("}}") {
            filled.push_str(&value(name));
            filled.push_str(rest);
        }
    }
    filled
}

/// The range as it was asked for, and by the ids that it had then.
fn range(report: &ReportOutcome) -> String {
    let (asked, range) = (inline(&report.asked), inline(&report.range));
    if asked == range {
        format!("<code>{asked}</code>")
    } else {
        format!("<code>{asked}</code> (<code>{range}</code>)")
    }
}

fn policy_from(report: &ReportOutcome) -> &'static str {
    if report.outcome.policy == "file" { "the policy in .proof/policy.toml" } else { "the default policy" }
}

/// The roots, to be compared with those of a clone.
fn ledger(report: &ReportOutcome) -> String {
    if report.sessions.is_empty() {
        return "<p class=\"quiet\">No commit here names a session.</p>\n".to_owned();
    }
    let row = |(at, session): (usize, &crate::flow::ReportedSession)| {
        let anchor = session.anchors.first();
        let id = anchor.map(|anchor| inline(anchor.session_id.as_str())).unwrap_or_default();
        let (scheme, count) = anchor.map(|anchor| (anchor.scheme.as_str(), anchor.count)).unwrap_or_default();
        let state = if matches!(session.evidence, Embedded::Lines(_)) { "" } else { "no evidence" };
        format!(
            "<tr data-ledger=\"{at}\"><td><code>{id}</code></td><td>{scheme}</td><td class=\"number\">{count}</td>\
             <td class=\"root\">{}</td><td class=\"state\">{state}</td></tr>\n",
            hash(&session.root.to_string())
        )
    };
    let rows: String = report.sessions.iter().enumerate().map(row).collect();
    let table = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Sessions and their roots\"><table>\n<thead><tr>\
         <th scope=\"col\">Session</th><th scope=\"col\">Scheme</th><th scope=\"col\" class=\"number\">Entries</th>\
         <th scope=\"col\">Root</th><th scope=\"col\">Computed here</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    );
    match report.sessions.len() {
        many if many > MANY => {
            format!("<details class=\"ledger\"><summary>{many} sessions and their roots</summary>\n{table}</details>\n")
        }
        _ => table,
    }
}
