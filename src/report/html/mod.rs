//! The page: one file that needs nothing else, shows what was decided and why, and computes every hash in it again when it is
//! opened. Nothing that others wrote becomes markup or script: text is escaped here, and set as text by the script.

mod commits;
mod data;
mod rounds;
mod text;

use crate::ops::{Embedded, ReportOutcome};
use crate::proof::digest::sha256;
use crate::proof::finding::Verdict;
use crate::proof::note::Signature;
use text::{hash, inline};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 6] = [
    include_str!("sha256.js"),
    include_str!("proof.js"),
    include_str!("trail.js"),
    include_str!("check.js"),
    include_str!("search.js"),
    include_str!("page.js"),
];

/// More sessions than these have their table shut at first; more commits than these are laid out when they are seen.
const MANY: usize = 12;

/// The page of a report.
pub fn html(report: &ReportOutcome) -> String {
    let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", SCRIPTS.join("\n"));
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        source(&script),
        source(STYLE)
    );
    let title = format!("{}: {}", verdict(report), report.asked);
    fill(PAGE, &|name| match name {
        "policy" => policy.clone(),
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "title" => inline(&title),
        "style" => STYLE.to_owned(),
        "class" => report.outcome.verdict.as_str().to_owned(),
        "mark" => commits::mark(report.outcome.verdict),
        "verdict" => verdict(report).to_owned(),
        "counts" => counts(report),
        "range" => range(report),
        "command" => inline(&format!("git proof verify {}", report.range)),
        "made_at" => report.made_at.to_string(),
        "made" => commits::day_and_minute(report.made_at.as_str()),
        "policy_from" => policy_from(report).to_owned(),
        "ledger" => ledger(report),
        "many" => if report.commits.len() > MANY { "many" } else { "few" }.to_owned(),
        "commits" => commits::sections(report),
        "rounds" => rounds::section(report),
        "data" => data::block(report),
        "script" => script.clone(),
        _ => String::new(),
    })
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

fn verdict(report: &ReportOutcome) -> &'static str {
    match report.outcome.verdict {
        Verdict::Pass => "Verified",
        Verdict::Exempt => "Nothing to verify",
        Verdict::Fail => "Broken",
        Verdict::Unchecked => "Could not be checked",
    }
}

/// What was asked for, and what it meant then.
fn range(report: &ReportOutcome) -> String {
    let (asked, range) = (inline(&report.asked), inline(&report.range));
    if asked == range {
        format!("<code>{asked}</code>")
    } else {
        format!("<code>{asked}</code> (<code>{range}</code>)")
    }
}

fn counts(report: &ReportOutcome) -> String {
    let summary = report.outcome.summary;
    let counts: Vec<String> = [
        (summary.fail, "broken"),
        (summary.unchecked, "not checked"),
        (summary.pass, "proven"),
        (summary.exempt, "without a proof"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    match report.outcome.commits.len() {
        0 => "The range has no commits.".to_owned(),
        1 => format!("1 commit: {}.", counts.join(", ")),
        all => format!("{all} commits: {}.", counts.join(", ")),
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
    let row = |(at, session): (usize, &crate::ops::ReportedSession)| {
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
