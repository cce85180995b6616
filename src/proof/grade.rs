//! Which commits must be anchored: a policy's rules, applied to what a commit says and touches.

use std::fmt;

use regex_lite::Regex;

use super::policy::{PolicyError, ProofGrade, Require};
use super::trailer::{ProofTrailers, trailers};

/// A policy's rules, ready to be applied.
#[derive(Debug, Clone)]
pub struct Grader {
    require: Require,
    trailers: Vec<Regex>,
    authors: Vec<Regex>,
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
    /// A trailer matches a rule.
    Trailer(String),
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
            Self::Trailer(rule) => write!(f, "a trailer matches proof_grade.trailers {rule:?}"),
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
    pub fn new(rules: &ProofGrade) -> Result<Self, PolicyError> {
        let wrong = |message: String| PolicyError { line: 0, message };
        let regexes = |key: &str, patterns: &[String]| -> Result<Vec<Regex>, PolicyError> {
            let read = |pattern: &String| {
                // The whole text must match, and case does not matter: git and the forges write the same key in several.
                Regex::new(&format!("(?i)^(?:{pattern})$")).map_err(|error| {
                    wrong(format!("proof_grade.{key}: {pattern:?} is not a regular expression: {error}"))
                })
            };
            patterns.iter().map(read).collect()
        };
        let globs = |pattern: &String| {
            Glob::new(pattern).ok_or_else(|| {
                wrong(format!("proof_grade.paths: {pattern:?} is not a glob: use *, **, ? and / and plain characters"))
            })
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
        let rule = |regex: &Regex| {
            let text = regex.as_str();
            text.strip_prefix("(?i)^(?:").and_then(|text| text.strip_suffix(")$")).unwrap_or(text).to_owned()
        };
        if !self.trailers.is_empty() {
            for trailer in trailers(commit.message) {
                let line = format!("{}: {}", trailer.key, trailer.value);
                if let Some(found) = self.trailers.iter().find(|regex| regex.is_match(&line)) {
                    return Some(Reason::Trailer(rule(found)));
                }
            }
        }
        let author = String::from_utf8_lossy(commit.author);
        if let Some(found) = self.authors.iter().find(|regex| regex.is_match(&author)) {
            return Some(Reason::Author(rule(found)));
        }
        let touched = |glob: &&Glob| commit.paths.iter().any(|path| glob.matches(path));
        self.paths.iter().find(touched).map(|glob| Reason::Path(glob.text.clone()))
    }
}

/// A pattern of paths: `?` is one character and `*` any number, neither a slash; `**` is any number of directories.
#[derive(Debug, Clone)]
struct Glob {
    text: String,
}

impl Glob {
    fn new(text: &str) -> Option<Self> {
        let odd = text.is_empty() || text.starts_with('/') || text.contains(['[', ']', '{', '}', '\\', '\0']);
        (!odd).then(|| Self { text: text.to_owned() })
    }

    fn matches(&self, path: &[u8]) -> bool {
        let pattern: Vec<&[u8]> = self.text.as_bytes().split(|byte| *byte == b'/').collect();
        let path: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        matches_parts(&pattern, &path)
    }
}

fn matches_parts(pattern: &[&[u8]], path: &[&[u8]]) -> bool {
    match pattern {
        [] => path.is_empty(),
        // A directory at the end stands for all that is in it.
        [b""] => !path.is_empty(),
        [b"**", rest @ ..] => (0..=path.len())
            .any(|skip| matches_parts(rest, &path[skip..]) && (!rest.is_empty() || skip < path.len() + 1)),
        [first, rest @ ..] => {
            path.first().is_some_and(|name| matches_name(first, name) && matches_parts(rest, &path[1..]))
        }
    }
}

fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    // Greedy with one step back, which is enough for `*`: no pattern takes longer than its length times the name's.
    let (mut at, mut in_name, mut star) = (0, 0, None);
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                Some((star_at, taken)) => {
                    star = Some((star_at, taken + 1));
                    at = star_at + 1;
                    in_name = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_people_expect() {
        for (glob, path, expected) in [
            ("src/**", "src/a.rs", true),
            ("src/**", "src/a/b.rs", true),
            ("src/**", "source/a.rs", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a/b.rs", false),
            ("**/*.sql", "x.sql", true),
            ("**/*.sql", "a/b/x.sql", true),
            ("a/**/z", "a/z", true),
            ("a/**/z", "a/b/c/z", true),
            ("docs/", "docs/x/y", true),
            ("docs/", "docs", false),
            ("?.c", "a.c", true),
            ("?.c", "ab.c", false),
            ("*a*b*c", "xxaxxbxxc", true),
            ("*a*b*c", "xxaxxbxx", false),
            ("Makefile", "sub/Makefile", false),
        ] {
            let glob = Glob::new(glob).map(|glob| glob.matches(path.as_bytes()));
            assert_eq!(glob, Some(expected), "{path}");
        }
        for bad in ["", "/a", "a[b]", "{a,b}"] {
            assert!(Glob::new(bad).is_none(), "{bad}");
        }
    }
}
