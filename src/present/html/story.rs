//! Decisions and reflections as they stand in the page itself, for readers without a script and on paper.

use super::text::{block, inline};
use crate::flow::{Label, Telling};
use crate::present::{self, observed, rejected};

/// Most characters of a text that stand in the page itself; scripts show the rest from the evidence.
const LONGEST: usize = 8000;

/// Most decisions and reflections of one session that stand in the page itself, besides its last.
const MOST: usize = 600;

/// The decisions and reflections of a session.
pub(super) fn story(story: &[Telling]) -> String {
    if story.is_empty() {
        return "<p class=\"quiet\">No decision or reflection can be read in it.</p>\n".to_owned();
    }
    // The last one is the reflection that closes the session.
    let (begin, rest) = story.split_at(story.len().min(MOST));
    let mut items: String = begin.iter().map(telling).collect();
    if let [between @ .., last] = rest {
        if !between.is_empty() {
            items += &format!("<li class=\"quiet\">{} more are in its trail.</li>\n", between.len());
        }
        items += &telling(last);
    }
    format!("<ol class=\"story\">\n{items}</ol>\n")
}

fn telling(telling: &Telling) -> String {
    let label = observed::record(telling.kind, telling.metadata.as_deref());
    let (text, left) = cut(&telling.content);
    let pieces: String = rejected::pieces(&text)
        .into_iter()
        .map(|(piece, label)| {
            let class = label.map(|label| format!(" class=\"{}\"", label.as_str())).unwrap_or_default();
            format!("<span{class}>{}</span>", block(piece))
        })
        .collect();
    let points = rejected::listed(telling.metadata.as_deref());
    let listed: String = [Label::Rejected, Label::Considered, Label::Uncertain]
        .into_iter()
        .map(|label| {
            let said = points.iter().filter(|point| point.label == label);
            let said: String =
                said.map(|point| format!("<li dir=\"auto\">{}</li>", inline(&cut(&point.text).0))).collect();
            if said.is_empty() {
                return said;
            }
            let title = present::capitalized(label.as_str());
            format!("<div class=\"listed {}\"><b>{title}</b><ul>{said}</ul></div>", label.as_str())
        })
        .collect();
    let more = if left > 0 {
        format!("<p class=\"more quiet\">{left} more characters are in the evidence.</p>")
    } else {
        String::new()
    };
    format!(
        "<li class=\"{}\" data-line=\"{}\"><p class=\"label\">{label} <time datetime=\"{}\">{}</time></p>\
         <div class=\"text\" dir=\"auto\">{pieces}</div>{more}{listed}</li>\n",
        telling.kind,
        telling.line,
        telling.timestamp,
        day_and_minute(telling.timestamp.as_str()),
    )
}

/// `2026-03-01 09:00` of a time.
pub(super) fn day_and_minute(time: &str) -> String {
    format!("{:.10} {:.5}", time, time.get(11..).unwrap_or_default())
}

/// The beginning of a text, and how many characters are left out.
pub(super) fn cut(text: &str) -> (String, usize) {
    let all = text.chars().count();
    if all <= LONGEST {
        return (text.to_owned(), 0);
    }
    (text.chars().take(LONGEST).collect(), all - LONGEST)
}
