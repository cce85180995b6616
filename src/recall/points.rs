//! The points of a decision or a reflection that its author marked: in lines or clauses such as `rejected: …`, or in
//! fields of the metadata. Nothing is guessed: text without a mark stays as it is.

use std::collections::HashSet;
use std::ops::Range;

use serde::Serialize;
use serde_json::Value;

use super::marks::{self, Stretch, WORDS};
use crate::proof::schema::names;

names! {
    /// What a point is.
    pub enum Label {
        /// The choice.
        Chosen = "chosen",
        /// A rejected alternative.
        Rejected = "rejected",
        /// An alternative that was considered.
        Considered = "considered",
        /// Why.
        Because = "because",
        /// An uncertainty.
        Uncertain = "uncertain",
        /// How sure the author is.
        Confidence = "confidence",
    }
}

/// One point.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Point {
    /// What it is.
    pub label: Label,
    pub text: String,
}

/// A text and the points that it makes. Together they say all that was said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Points {
    /// The text that has no mark; in a decision this is the choice.
    pub text: String,
    /// The points, in their order; those of the metadata come last.
    pub points: Vec<Point>,
}

impl Points {
    /// Reads a text and the metadata that came with it.
    pub fn read(content: &str, metadata: Option<&Value>) -> Self {
        let mut read = Self::default();
        let mut plain: Vec<String> = Vec::new();
        for Stretch { label, text, .. } in marks::stretches(content) {
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
        let mut known: HashSet<Point> = self.points.iter().cloned().collect();
        for point in listed(metadata) {
            // Said in the text as well: once is enough.
            if known.insert(point.clone()) {
                self.points.push(point);
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

/// The ranges of a text that name rejected alternatives, marks included, in order.
pub fn rejections(content: &str) -> Vec<Range<usize>> {
    marks::places(content, Label::Rejected)
}

/// The ranges of a text that name uncertainties, marks included, in order.
pub fn doubts(content: &str) -> Vec<Range<usize>> {
    marks::places(content, Label::Uncertain)
}

/// The points that metadata makes: a field that is called like a mark, with a text, or a list of texts or of objects.
pub fn listed(metadata: Option<&Value>) -> Vec<Point> {
    let Some(Value::Object(fields)) = metadata else { return Vec::new() };
    let mut points = Vec::new();
    for (key, value) in fields {
        let spoken = key.replace('_', " ").to_ascii_lowercase();
        let Some((_, label)) = WORDS.iter().find(|(word, _)| *word == spoken) else { continue };
        let said = match value {
            Value::Array(items) => items.iter().map(spell).collect(),
            other => vec![spell(other)],
        };
        points.extend(said.into_iter().filter(|text| !text.is_empty()).map(|text| Point { label: *label, text }));
    }
    points
}

/// A value of the metadata as a person would say it; of an option with its reason, `option: reason`.
fn spell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        Value::Object(fields) if is_option(fields) => {
            let named = |keys: &'static [&str]| keys.iter().find_map(|key| Some((*key, fields.get(*key)?.as_str()?)));
            let (option, reason) = (named(&OPTION), named(&REASON));
            let told = |key: &str| [option, reason].into_iter().flatten().any(|(known, _)| known == key);
            let mut said: Vec<String> = option.iter().map(|(_, option)| (*option).to_owned()).collect();
            if let (Some(said), Some((_, reason))) = (said.last_mut(), reason) {
                *said += &format!(": {reason}");
            }
            let rest = fields.iter().filter(|(key, _)| !told(key));
            said.extend(rest.map(|(key, value)| format!("{key}: {}", spell(value))));
            said.join(", ")
        }
        Value::Object(fields) if is_flat(fields) => {
            let said: Vec<String> = fields.iter().map(|(key, value)| format!("{key}: {}", spell(value))).collect();
            said.join(", ")
        }
        other => other.to_string(),
    }
}

/// The keys by which an object of the metadata names an option, and why it was not taken.
const OPTION: [&str; 3] = ["option", "name", "alternative"];
const REASON: [&str; 2] = ["reason", "why"];

fn is_flat(fields: &serde_json::Map<String, Value>) -> bool {
    fields.values().all(|value| !value.is_object() && !value.is_array())
}

fn is_option(fields: &serde_json::Map<String, Value>) -> bool {
    is_flat(fields) && OPTION.iter().any(|key| fields.get(*key).is_some_and(Value::is_string))
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
        assert_eq!(said, ["rejected B", "confidence 0.8", "rejected C, cost: 3"]);
    }
}
