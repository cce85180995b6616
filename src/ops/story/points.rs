//! What a decision or a reflection says, point by point, where its author marked the points: in lines or clauses such as
//! `rejected: …`, or in fields of the metadata. Nothing is guessed: what is not marked stays the text that it is.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

/// What a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// What was chosen.
    Chosen,
    /// What was not.
    Rejected,
    /// What could have been.
    Considered,
    /// Why.
    Because,
    /// What is not known.
    Uncertain,
    /// How sure the author is.
    Confidence,
}

impl Label {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chosen => "chosen",
            Self::Rejected => "rejected",
            Self::Considered => "considered",
            Self::Because => "because",
            Self::Uncertain => "uncertain",
            Self::Confidence => "confidence",
        }
    }
}

/// The words that mark a point, in text before a colon and in metadata as a key; the longer of two comes first.
const WORDS: [(&str, Label); 23] = [
    ("chosen", Label::Chosen),
    ("chose", Label::Chosen),
    ("decision", Label::Chosen),
    ("rejected alternatives", Label::Rejected),
    ("rejected options", Label::Rejected),
    ("rejected", Label::Rejected),
    ("not chosen", Label::Rejected),
    ("alternatives considered", Label::Considered),
    ("alternatives", Label::Considered),
    ("alternative", Label::Considered),
    ("options considered", Label::Considered),
    ("options", Label::Considered),
    ("considered", Label::Considered),
    ("because", Label::Because),
    ("why", Label::Because),
    ("reason", Label::Because),
    ("rationale", Label::Because),
    ("uncertainty", Label::Uncertain),
    ("uncertain", Label::Uncertain),
    ("open questions", Label::Uncertain),
    ("open question", Label::Uncertain),
    ("unsure", Label::Uncertain),
    ("confidence", Label::Confidence),
];

/// One point.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Point {
    /// What it is.
    pub label: Label,
    /// What it says.
    pub text: String,
}

/// A text and the points that it makes. Together they say all that was said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Points {
    /// What is not marked as anything else: of a decision, what was chosen.
    pub text: String,
    /// The points, in their order; those of the metadata come last.
    pub points: Vec<Point>,
}

impl Points {
    /// Reads a text and the metadata that came with it.
    pub fn read(content: &str, metadata: Option<&Value>) -> Self {
        let mut pieces: Vec<(Option<Label>, String)> = Vec::new();
        // A blank line ends a point, unless nothing has been said in it yet.
        let mut open: Option<Label> = None;
        for line in content.lines() {
            let empty = pieces.last().is_some_and(|(_, text)| text.is_empty());
            if line.trim().is_empty() && !empty {
                open = None;
            }
            for (place, (label, clause)) in clauses(line).into_iter().enumerate() {
                match (label, pieces.last_mut()) {
                    (None, Some((last, text))) if *last == open => {
                        if !text.is_empty() || open.is_none() {
                            text.push(if place == 0 { '\n' } else { ' ' });
                        }
                        text.push_str(clause);
                    }
                    _ => {
                        open = label;
                        // How far a text is set in is part of it; what follows a label begins where it begins.
                        let clause = if label.is_some() { clause.trim() } else { clause };
                        pieces.push((label, clause.to_owned()));
                    }
                }
            }
        }
        let mut read = Self::default();
        let mut plain: Vec<String> = Vec::new();
        for (label, text) in pieces {
            let text = text.trim_matches('\n').trim_end().to_owned();
            match label {
                _ if text.is_empty() => {}
                None => plain.push(text),
                Some(label) => read.points.push(Point { label, text }),
            }
        }
        read.text = plain.join("\n\n");
        read.add_metadata(metadata);
        read.lead_with_the_choice();
        read
    }

    fn add_metadata(&mut self, metadata: Option<&Value>) {
        let Some(Value::Object(fields)) = metadata else { return };
        let mut known: HashSet<Point> = self.points.iter().cloned().collect();
        for (key, value) in fields {
            let spoken = key.replace('_', " ").to_ascii_lowercase();
            let Some((_, label)) = WORDS.iter().find(|(word, _)| *word == spoken) else { continue };
            let said = match value {
                Value::Array(items) => items.iter().map(spell).collect(),
                other => vec![spell(other)],
            };
            for text in said.into_iter().filter(|text| !text.is_empty()) {
                let point = Point { label: *label, text };
                // Said in the text as well: once is enough.
                if known.insert(point.clone()) {
                    self.points.push(point);
                }
            }
        }
    }

    /// A text that says nothing but points begins with what was chosen.
    fn lead_with_the_choice(&mut self) {
        if self.text.is_empty()
            && let Some(at) = self.points.iter().position(|point| point.label == Label::Chosen)
        {
            self.text = self.points.remove(at).text;
        }
    }
}

/// The clauses of a line: what a word marks, up to the next such word.
fn clauses(line: &str) -> Vec<(Option<Label>, &str)> {
    let mut found: Vec<(Option<Label>, &str)> = Vec::new();
    let (mut label, mut start) = (None, 0);
    let bullet = line.len() - line.trim_start_matches(['-', '*', '#', '>', ' ', '\t']).len();
    let ends = line.match_indices([';', '.']).map(|(at, _)| at + 1);
    for at in std::iter::once(bullet).chain(ends.filter(|at| line[*at..].starts_with(' '))) {
        let rest = line[at..].trim_start();
        let first = at == bullet && start == 0;
        let Some((next, skipped)) = marked(rest, first || line[..at].ends_with(';')) else { continue };
        let before = if first { "" } else { line[start..at].trim_end().trim_end_matches(';').trim_end() };
        if !before.is_empty() || label.is_some() {
            found.push((label, before));
        }
        (label, start) = (Some(next), line.len() - rest.len() + skipped);
    }
    let rest = &line[start..];
    found.push((label, if label.is_some() { rest.trim() } else { rest }));
    found
}

/// The label that a text begins with, and how long it is. `because` needs no colon where it opens a line or a clause.
fn marked(text: &str, opens: bool) -> Option<(Label, usize)> {
    for (word, label) in WORDS {
        let Some(start) = text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)) else { continue };
        let rest = &text[start.len()..];
        // As in `**Rejected:** …` and `**Rejected**: …`.
        let after = rest.trim_start_matches(['*', ' ']);
        if let Some(said) = after.strip_prefix(':').filter(|said| !said.starts_with(':')) {
            let said = said.trim_start_matches('*');
            return Some((label, text.len() - said.len()));
        }
        if word == "because" && opens && rest.starts_with(' ') {
            return Some((label, word.len()));
        }
    }
    None
}

/// A value of the metadata as a person would say it.
fn spell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        Value::Object(fields) if fields.values().all(|value| !value.is_object() && !value.is_array()) => {
            let said: Vec<String> = fields.iter().map(|(key, value)| format!("{key}: {}", spell(value))).collect();
            said.join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> (String, Vec<(&'static str, String)>) {
        let read = Points::read(content, None);
        (read.text, read.points.into_iter().map(|point| (point.label.as_str(), point.text)).collect())
    }

    #[test]
    fn clauses_and_lines_that_are_marked_are_points() {
        let points = |said: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
            said.iter().map(|(label, text)| (*label, (*text).to_owned())).collect()
        };
        for (content, text, said) in [
            (
                "WAL; rejected: rollback journal, readers would wait",
                "WAL",
                &[("rejected", "rollback journal, readers would wait")][..],
            ),
            (
                "Quote it: \"$1\".\nRejected: $*, which splits.",
                "Quote it: \"$1\".",
                &[("rejected", "$*, which splits.")],
            ),
            ("Use A. Rejected: B. Why: it is slow.", "Use A.", &[("rejected", "B."), ("because", "it is slow.")]),
            ("Use A\nbecause it is fast", "Use A", &[("because", "it is fast")]),
            ("Chosen: A\nRejected:\n- B\n- C\n\nSo be it.", "So be it.", &[("chosen", "A"), ("rejected", "- B\n- C")]),
            ("- **Rejected:** B", "", &[("rejected", "B")]),
            ("Decision: A; uncertain: B", "A", &[("uncertain", "B")]),
        ] {
            assert_eq!(read(content), (text.to_owned(), points(said)), "{content:?}");
        }
    }

    #[test]
    fn what_is_not_marked_stays_as_it_is() {
        for text in [
            "It was rejected because nobody asked",
            "rejected by the server",
            "std::rejected::x",
            "Rejected::new()",
            "why not",
            "a; b. c",
            "  indented\n\n    code {\n    }",
            "Because",
        ] {
            assert_eq!(read(text), (text.to_owned(), Vec::new()), "{text:?}");
        }
    }

    #[test]
    fn metadata_makes_points_too() {
        let metadata = serde_json::json!({
            "rejected": ["B", { "option": "C", "cost": 3 }], "confidence": 0.8, "alternatives": [], "observed": { "why": 1 },
        });
        let read = Points::read("A; rejected: B", Some(&metadata));
        let said: Vec<String> =
            read.points.iter().map(|point| format!("{} {}", point.label.as_str(), point.text)).collect();
        assert_eq!(said, ["rejected B", "confidence 0.8", "rejected cost: 3, option: C"]);
    }
}
