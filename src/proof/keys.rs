//! The keys of a policy file, and where in the file things are: what is not a key is an error that names the nearest one.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::glob::Glob;
use super::grade::Grader;
use super::policy::{FileError, Policy, ProofGrade};

/// Every section of a policy with its keys.
pub const KEYS: [(&str, &[&str]); 3] = [
    ("proof_grade", &["require", "trailers", "authors", "paths", "merges"]),
    ("gate", &["mode", "branches"]),
    (
        "proof",
        &[
            "schemes",
            "binding",
            "evidence",
            "rooted",
            "reflection",
            "signatures",
            "sealed",
            "sealers",
            "vouchers",
            "pin",
        ],
    ),
];

/// A policy file as it is written.
pub(super) struct Written<'a> {
    text: &'a str,
    table: DeTable<'a>,
}

impl<'a> Written<'a> {
    /// Reads the TOML and nothing else.
    pub(super) fn parse(text: &'a str) -> Result<Self, FileError> {
        match DeTable::parse(text) {
            Ok(table) => Ok(Self { text, table: table.into_inner() }),
            Err(error) => Err(FileError { line: line(text, error.span()), message: error.message().to_owned() }),
        }
    }

    /// Looks for keys that are none.
    pub(super) fn check_keys(&self) -> Result<(), FileError> {
        let mut unknown: Vec<(usize, String)> = Vec::new();
        for (section, inside) in &self.table {
            let name = section.get_ref();
            let Some((known, keys)) = KEYS.iter().find(|(known, _)| *known == name.as_ref()) else {
                unknown.push((section.span().start, unknown_section(name)));
                continue;
            };
            let Some(table) = inside.get_ref().as_table() else { continue };
            for key in table.keys().filter(|key| !keys.contains(&key.get_ref().as_ref())) {
                unknown.push((key.span().start, unknown_key(known, key.get_ref())));
            }
        }
        match unknown.into_iter().min() {
            None => Ok(()),
            Some((at, message)) => Err(FileError { line: line(self.text, Some(at..at)), message }),
        }
    }

    /// Tries each rule by itself, so that the line of one that cannot be applied is known.
    pub(super) fn check_rules(&self, policy: &Policy) -> Result<(), FileError> {
        let rules = &policy.proof_grade;
        let alone = |key: &str, rule: &String| {
            let mut only = ProofGrade { trailers: vec![], authors: vec![], paths: vec![], ..rules.clone() };
            match key {
                "trailers" => only.trailers.push(rule.clone()),
                "authors" => only.authors.push(rule.clone()),
                _ => only.paths.push(rule.clone()),
            }
            only
        };
        for (key, rules) in [("trailers", &rules.trailers), ("authors", &rules.authors), ("paths", &rules.paths)] {
            for (index, rule) in rules.iter().enumerate() {
                if let Err(error) = Grader::new(&alone(key, rule)) {
                    return Err(FileError { line: self.line_of("proof_grade", key, Some(index)), ..error });
                }
            }
        }
        for (index, branch) in policy.gate.branches.iter().enumerate() {
            if let Err(why) = Glob::parse(branch) {
                let message = format!("gate.branches: {branch:?} is not a pattern of branches: {why}");
                return Err(FileError { line: self.line_of("gate", "branches", Some(index)), message });
            }
        }
        Ok(())
    }

    /// The line of a key's value, or of one of its elements; 0 where it is not written.
    pub(super) fn line_of(&self, section: &str, key: &str, index: Option<usize>) -> usize {
        let value = self.table.get(section).and_then(|section| section.get_ref().as_table()?.get(key));
        let element = |value: &Spanned<DeValue<'_>>| Some(value.get_ref().as_array()?.get(index?)?.span());
        value.map_or(0, |value| line(self.text, Some(element(value).unwrap_or_else(|| value.span()))))
    }
}

/// The line in which a span begins, from 1.
pub(super) fn line(text: &str, span: Option<std::ops::Range<usize>>) -> usize {
    let before = span.map_or("", |span| text.get(..span.start).unwrap_or(text));
    before.matches('\n').count() + 1
}

fn unknown_section(name: &str) -> String {
    if let Some((section, _)) = KEYS.iter().find(|(_, keys)| keys.contains(&name)) {
        return format!("{name:?} is a key of [{section}], and stands before any section");
    }
    let sections: Vec<&str> = KEYS.iter().map(|(section, _)| *section).collect();
    format!("{name:?} is not a section of a policy; {}", suggest(name, &sections))
}

fn unknown_key(section: &str, name: &str) -> String {
    if let Some((other, _)) = KEYS.iter().find(|(_, keys)| keys.contains(&name)) {
        return format!("{name:?} is a key of [{other}], not of [{section}]");
    }
    let keys = KEYS.iter().find(|(known, _)| *known == section).map_or(&[][..], |(_, keys)| *keys);
    format!("{name:?} is not a key of [{section}]; {}", suggest(name, keys))
}

fn suggest(name: &str, known: &[&str]) -> String {
    let lower = name.to_lowercase().replace('-', "_");
    let nearest = known.iter().map(|known| (distance(&lower, known), *known)).min();
    match nearest {
        Some((steps, nearest)) if steps <= nearest.chars().count().div_ceil(3) => format!("did you mean {nearest:?}?"),
        _ => format!("there are {}", known.join(", ")),
    }
}

/// How many letters must be put in, taken out, replaced or swapped with their neighbour to make one word of the other.
fn distance(one: &str, two: &str) -> usize {
    // Nobody means a key by something much longer than any.
    strsim::osa_distance(&one.chars().take(64).collect::<String>(), two)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_letters() {
        for (one, two, steps) in
            [("", "", 0), ("pin", "pin", 0), ("pni", "pin", 1), ("rootd", "rooted", 1), ("abc", "", 3), ("ä", "a", 1)]
        {
            assert_eq!(distance(one, two), steps, "{one} {two}");
        }
    }
}
