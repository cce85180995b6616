//! A commit as people know it: who, when, which files.

use chrono::Datelike as _;

use crate::git::{Commit, Git, Read};
use crate::judge::CommitVerdict;

/// Files of a commit that are named; the others are counted.
const MOST_FILES: usize = 200;

/// What git says of a commit.
#[derive(Debug, Clone, Default)]
pub struct ReportedCommit {
    /// `Name <email>` of its author; empty if the commit is not at hand.
    pub author: String,
    /// The day of the author's clock, in UTC; empty if it says none.
    pub day: String,
    /// The files it touches, against its first parent.
    pub files: Vec<ReportedFile>,
    /// How many more there are.
    pub more_files: usize,
}

/// A file that a commit touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedFile {
    pub path: String,
    /// What the commit does to it.
    pub touch: Touch,
}

/// What a commit does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// It was not there before.
    Added,
    /// It was there and still is.
    Changed,
    /// It is gone.
    Removed,
}

/// Reads a commit. One that is not at hand has nothing to say; the verdict says why.
pub(super) fn read(git: &Git, verdict: &CommitVerdict) -> ReportedCommit {
    let Ok(commit) = git.commit(&verdict.commit) else { return ReportedCommit::default() };
    let (files, more_files) = files(git, &commit).unwrap_or_default();
    ReportedCommit {
        author: String::from_utf8_lossy(&commit.author).into_owned(),
        day: day(&commit.author_time).unwrap_or_default(),
        files,
        more_files,
    }
}

fn files(git: &Git, commit: &Commit) -> Read<(Vec<ReportedFile>, usize)> {
    let parent = commit.parents.first().map(|parent| git.commit(parent)).transpose()?.map(|parent| parent.tree);
    let mut paths = git.paths_between(parent.as_ref(), &commit.tree)?;
    let more = paths.len().saturating_sub(MOST_FILES);
    paths.truncate(MOST_FILES);
    let mut files = Vec::new();
    for path in paths {
        // A name that is no text cannot be looked up here; that it was touched is known all the same.
        let touch = match std::str::from_utf8(&path) {
            Err(_) => Touch::Changed,
            Ok(_) if parent.is_none() => Touch::Added,
            Ok(name) => match (
                parent.map(|parent| git.file(&parent, name)).transpose()?.flatten(),
                git.file(&commit.tree, name)?,
            ) {
                (None, _) => Touch::Added,
                (Some(_), None) => Touch::Removed,
                (Some(_), Some(_)) => Touch::Changed,
            },
        };
        files.push(ReportedFile { path: String::from_utf8_lossy(&path).into_owned(), touch });
    }
    Ok((files, more))
}

/// The day of seconds since 1970, as `2026-03-01`.
fn day(author_time: &[u8]) -> Option<String> {
    let seconds: i64 = std::str::from_utf8(author_time).ok()?.split(' ').next()?.parse().ok()?;
    let time = chrono::DateTime::from_timestamp(seconds, 0)?;
    (0..=9999).contains(&time.year()).then(|| time.format("%Y-%m-%d").to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;
    use crate::proof::timestamp::Timestamp;

    #[test]
    fn a_day_is_the_one_whose_seconds_those_are() {
        for text in ["0000-01-01", "1600-02-29", "1970-01-01", "1999-12-31", "2000-02-29", "2026-03-01", "9999-12-31"] {
            let time = Timestamp::parse(&format!("{text}T23:59:59.000Z")).unwrap();
            assert_eq!(day(format!("{} +0100", time.seconds()).as_bytes()).as_deref(), Some(text));
        }
        assert_eq!(day(b"99999999999999 +0000"), None);
        assert_eq!(day(b"soon"), None);
    }
}
