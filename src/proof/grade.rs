//! Which commits must be anchored: a policy's rules, applied to what a commit says and touches.

use std::fmt;
use std::sync::OnceLock;

use regex_lite::Regex;

use super::glob::Glob;
use super::marks;
use super::policy::{FileError, ProofGrade, Require};
use super::trailer::{ProofTrailers, message_lines};

/// Characters of a line that a reason quotes.
const SHOWN: usize = 100;

/// A policy's rules, ready to be applied.
#[derive(Debug, Clone)]
pub struct Grader {
    require: Require,
    trailers: Vec<Rule>,
    authors: Vec<Rule>,
    paths: Vec<Glob>,
    merges: bool,
}

/// Why a commit must be anchored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It touches `.proof/`.
    Settings,
    /// Policy asks for all commits.
    All,
    /// It has a trailer of ours.
    Marked,
    /// A line of the message matches a rule.
    Trailer {
        /// The line.
        line: String,
    },
    /// The author matches a rule.
    Author(String),
    /// A path matches a rule.
    Path(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings => f.write_str("it touches .proof/, which decides about all others"),
            Self::All => f.write_str("proof_grade.require is \"all\""),
            Self::Marked => f.write_str("its message has a Proof- trailer"),
            Self::Trailer { line } => {
                let cut: String = line.chars().take(SHOWN).collect();
                let more = if cut.len() < line.len() { "…" } else { "" };
                write!(f, "the line {:?} of its message matches proof_grade.trailers", cut + more)
            }
            Self::Author(rule) => write!(f, "its author matches proof_grade.authors {rule:?}"),
            Self::Path(rule) => write!(f, "it touches a path of proof_grade.paths {rule:?}"),
        }
    }
}

/// What the rules look at.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The commit's message.
    pub message: &'a [u8],
    /// `Name <email>` of its author.
    pub author: &'a [u8],
    /// Whether it is a merge.
    pub merge: bool,
    /// Whether it touches `.proof/`.
    pub touches_settings: bool,
    /// The paths that it touches; not asked for unless [`Grader::needs_paths`].
    pub paths: &'a [Vec<u8>],
}

impl Grader {
    /// Makes the rules of a policy ready. A rule that cannot be read is an error: it must not be one that is not there.
    pub fn new(rules: &ProofGrade) -> Result<Self, FileError> {
        let wrong = |message: String| FileError { line: 0, message };
        let regexes = |key: &str, patterns: &[String]| -> Result<Vec<Rule>, FileError> {
            let read = |pattern: &String| {
                Rule::new(pattern).map_err(|error| {
                    wrong(format!("proof_grade.{key}: {pattern:?} is not a regular expression: {error}"))
                })
            };
            patterns.iter().map(read).collect()
        };
        let globs = |pattern: &String| {
            Glob::parse(pattern).map_err(|why| wrong(format!("proof_grade.paths: {pattern:?} is not a glob: {why}")))
        };
        Ok(Self {
            require: rules.require,
            trailers: regexes("trailers", &rules.trailers)?,
            authors: regexes("authors", &rules.authors)?,
            paths: rules.paths.iter().map(globs).collect::<Result<_, _>>()?,
            merges: rules.merges,
        })
    }

    /// Whether a rule looks at paths.
    pub fn needs_paths(&self) -> bool {
        !self.paths.is_empty() && self.require == Require::Marked
    }

    /// Whether a rule guards a path: a commit that touches it must be anchored.
    pub fn guards(&self, path: &[u8]) -> bool {
        self.needs_paths() && self.paths.iter().any(|glob| glob.matches(path))
    }

    /// The patterns of paths that are applied.
    pub fn paths(&self) -> &[Glob] {
        if self.needs_paths() { &self.paths } else { &[] }
    }

    /// Why a commit must be anchored; `None` if it need not.
    pub fn reason(&self, commit: &Subject<'_>) -> Option<Reason> {
        if commit.touches_settings {
            return Some(Reason::Settings);
        }
        if commit.merge && !self.merges {
            return None;
        }
        match self.require {
            Require::None => return None,
            Require::All => return Some(Reason::All),
            Require::Marked => {}
        }
        let ours = ProofTrailers::parse(commit.message);
        if !ours.trailers.is_empty() || !ours.strays.is_empty() {
            return Some(Reason::Marked);
        }
        if !self.trailers.is_empty() {
            let wanted = |first: u8| self.trailers.iter().any(|rule| rule.may_begin_with(first));
            for line in message_lines(commit.message, wanted) {
                if self.trailers.iter().any(|rule| rule.is_match(&line)) {
                    return Some(Reason::Trailer { line });
                }
            }
        }
        let author = String::from_utf8_lossy(commit.author);
        if let Some(found) = self.authors.iter().find(|rule| rule.is_match(&author)) {
            return Some(Reason::Author(found.pattern.clone()));
        }
        let touched = |glob: &&Glob| commit.paths.iter().any(|path| glob.matches(path));
        self.paths.iter().find(touched).map(|glob| Reason::Path(glob.as_str().to_owned()))
    }
}

/// A regular expression that must match a whole text. Upper and lower case are the same: git and the forges write one key
/// in several ways.
#[derive(Debug, Clone)]
struct Rule {
    pattern: String,
    /// A prefix of every text that matches. Most lines do not have it, so the expression is not needed for them.
    beginning: String,
    /// Made when it is first needed.
    regex: OnceLock<Regex>,
}

impl Rule {
    fn new(pattern: &str) -> Result<Self, regex_lite::Error> {
        let rule = Self { pattern: pattern.to_owned(), beginning: beginning(pattern), regex: OnceLock::new() };
        // A test has tried those that everybody has.
        if !marks::contains(pattern) {
            let _ = rule.regex.set(Regex::new(&whole(pattern))?);
        }
        Ok(rule)
    }

    fn may_begin_with(&self, first: u8) -> bool {
        self.beginning.bytes().next().is_none_or(|byte| byte.eq_ignore_ascii_case(&first))
    }

    fn is_match(&self, text: &str) -> bool {
        let begins = text.as_bytes().get(..self.beginning.len());
        if !begins.is_some_and(|begins| begins.eq_ignore_ascii_case(self.beginning.as_bytes())) {
            return false;
        }
        if let Some(regex) = self.regex.get() {
            return regex.is_match(text);
        }
        // It was tried before, so this is one.
        let Ok(regex) = Regex::new(&whole(&self.pattern)) else { return true };
        self.regex.get_or_init(|| regex).is_match(text)
    }
}

fn whole(pattern: &str) -> String {
    format!("(?i)^(?:{pattern})$")
}

/// The plain letters at the start of a pattern: none if it has alternatives that are not in parentheses, or if another letter
/// than those of ASCII has a second case.
fn beginning(pattern: &str) -> String {
    let mut depth = 0_usize;
    for letter in pattern.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => return String::new(),
            // Brackets and escapes could hide one of these.
            '[' | '\\' => break,
            _ => {}
        }
    }
    if pattern.contains(['[', '\\']) && pattern.contains('|') && !marks::contains(pattern) {
        return String::new();
    }
    let plain = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, '-' | ' ' | ':')
            || (!letter.is_ascii() && !letter.is_lowercase() && !letter.is_uppercase())
    };
    let length = pattern.find(|letter| !plain(letter)).unwrap_or(pattern.len());
    let (mut begins, rest) = (pattern[..length].to_owned(), &pattern[length..]);
    // The last letter may be left out, or stand more than once.
    if rest.starts_with(['?', '*', '{']) {
        begins.pop();
    }
    begins
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_tried_only_where_its_beginning_is() {
        for (pattern, expected) in [
            ("Assisted-by: .*", "Assisted-by: "),
            ("Co-?authored-by: .*", "Co"),
            ("a*b", ""),
            ("ab+c", "ab"),
            ("a{2}", ""),
            ("a|b", ""),
            ("(a|b)c", ""),
            ("ab(c|d)", "ab"),
            ("ab[|]c", ""),
            ("ab\\|c|d", ""),
            ("ab[(]|c", ""),
            (".*", ""),
            ("🤖 x.*", "🤖 x"),
            ("Über.*", ""),
            ("^a", ""),
        ] {
            assert_eq!(beginning(pattern), expected, "{pattern}");
        }
    }

    /// The shortcuts never change an answer.
    #[test]
    fn a_rule_matches_what_its_expression_matches() {
        let lines = [
            "Assisted-by: x",
            "ASSISTED-BY: x",
            "assisted",
            "Co-authored-by: Claude",
            "coauthored-by: Claude",
            "",
            "b",
            "ab",
            "é",
            "🤖 Generated with x",
        ];
        let patterns =
            ["Assisted-by: .*", "a?b", "A|B", "b", "É", "(a|b)+", "Co-?authored-by: .*", "🤖 .*", "\\w+|é", "[ab|]b"];
        for pattern in patterns {
            let (rule, regex) = (Rule::new(pattern).unwrap(), Regex::new(&whole(pattern)).unwrap());
            for line in lines {
                assert_eq!(rule.is_match(line), regex.is_match(line), "{pattern} {line}");
            }
        }
    }
}
