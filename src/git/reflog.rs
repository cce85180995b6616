//! HEAD's reflog: which commits were made in a worktree, whether or not a hook ran.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::discover::Repository;
use super::open::Git;
use crate::context::read_text;
use crate::proof::digest::CommitId;

/// Most bytes of a reflog that are read: some thousand commits.
const MAX_READ: u64 = 1 << 20;
/// Most entries that git is asked for, where refs are in reftables.
const MAX_ENTRIES: &str = "-n1000";
/// Most remote-tracking branches that git is asked about, where refs are in reftables.
const MOST_BRANCHES: usize = 64;

/// The first words of reflog messages of commands that make a commit. A merge, a pull, a checkout or a reset makes no
/// commit that counts as the user's own work.
const MAKING: [&str; 4] = ["commit", "cherry-pick", "revert", "rebase"];

/// The end of HEAD's reflog, as a text for [`Git::made_since`]: its length, or a digest of the list of tables, and the
/// time in seconds. Between two equal ends there is no entry. With reftables, entries may be of the same second;
/// [`Git::exact_place`] tells how many.
pub fn reflog_place(place: &Repository, seconds: i64) -> String {
    if let Ok(found) = fs::metadata(place.git_dir.join("logs/HEAD")) {
        return format!("{}@{seconds}", found.len());
    }
    let tables = place.git_dir.join("reftable/tables.list");
    match fs::read(tables) {
        Ok(tables) => {
            let digest = crate::proof::digest::sha256(&tables);
            let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            format!("t{digest}@{seconds}")
        }
        Err(_) => format!("0@{seconds}"),
    }
}

impl Git {
    /// The branch that HEAD is on, if it is on one.
    pub fn branch(&self) -> Option<String> {
        if self.refs_by_command {
            let mut command = self.plumbing(["symbolic-ref", "--short", "--quiet", "HEAD"]);
            return self.text_of(&mut command).ok()?.map(|text| text.trim_end().to_owned());
        }
        let head = read_text(&self.place.git_dir.join("HEAD"))?;
        head.trim_end().strip_prefix("ref: refs/heads/").map(str::to_owned)
    }

    /// The commits that were made in this worktree since its reflog ended at a place, oldest first.
    pub fn made_since(&self, since: &str) -> Vec<CommitId> {
        let Some((place, time)) = since.split_once('@') else { return Vec::new() };
        let (seconds, known) = time.split_once('+').unwrap_or((time, "0"));
        let (Ok(seconds), Ok(known)) = (seconds.parse::<i64>(), known.parse::<usize>()) else { return Vec::new() };
        let entries = match place.parse::<u64>() {
            Ok(length) => self.lines_from(length).unwrap_or_default(),
            Err(_) => self.since("HEAD", seconds).into_iter().skip(known).collect(),
        };
        let mut commits: Vec<CommitId> = Vec::new();
        for line in entries.iter().filter(|line| makes_commit(&line.message)) {
            if !commits.contains(&line.commit) {
                commits.push(line.commit);
            }
        }
        commits
    }

    /// The commits that were made in this worktree since a time, oldest first.
    pub fn made_after(&self, seconds: i64) -> Vec<CommitId> {
        let length = fs::metadata(self.place.git_dir.join("logs/HEAD")).map(|found| found.len());
        let lines = match length {
            Ok(length) => self.lines_from(length.saturating_sub(MAX_READ)).unwrap_or_default(),
            Err(_) => self.since("HEAD", seconds),
        };
        let made = lines.iter().filter(|line| line.time >= seconds && makes_commit(&line.message));
        made.map(|line| line.commit).collect()
    }

    /// A place of [`reflog_place`], with the number of entries that reftables have in that very second already.
    pub fn exact_place(&self, place: String, seconds: i64) -> String {
        let is_table = place.starts_with('t');
        let known = if is_table { self.since("HEAD", seconds).len() } else { 0 };
        if known > 0 { format!("{place}+{known}") } else { place }
    }

    /// Whether a remote-tracking branch was moved by a push since a time.
    pub fn was_pushed_after(&self, seconds: i64) -> bool {
        if !self.refs_by_command {
            return was_pushed(&self.place.common_dir.join("logs/refs/remotes"), seconds, 0);
        }
        let branches = self.refs_below("refs/remotes").unwrap_or_default();
        branches.iter().take(MOST_BRANCHES).any(|(name, _)| {
            let moved = self.since(name, seconds);
            moved.last().is_some_and(|line| line.message.starts_with("update by push"))
        })
    }

    fn lines_from(&self, from: u64) -> Option<Vec<Line>> {
        let mut file = fs::File::open(self.place.git_dir.join("logs/HEAD")).ok()?;
        // An entry was expired, and what was at this place is somewhere else now: rather nothing than the wrong one.
        if file.metadata().ok()?.len() < from {
            return None;
        }
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_READ).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        Some(text.lines().filter_map(Line::parse).collect())
    }

    /// Asks git itself, for refs in reftables. The newest entry comes first.
    fn since(&self, name: &str, seconds: i64) -> Vec<Line> {
        let mut command = self.plumbing([
            "log",
            "-g",
            MAX_ENTRIES,
            "--date=unix",
            "--format=%H %gd %gs",
            "--end-of-options",
            name,
            "--",
        ]);
        let Ok(Some(text)) = self.text_of(&mut command) else { return Vec::new() };
        let read = |line: &str| {
            let (commit, rest) = line.split_once(' ')?;
            let (at, message) = rest.split_once(' ')?;
            let time: i64 = at.split_once("@{")?.1.strip_suffix('}')?.parse().ok()?;
            let line = Line { commit: CommitId::parse(commit)?, time, message: message.to_owned() };
            (time >= seconds).then_some(line)
        };
        let mut entries: Vec<_> = text.lines().map_while(read).collect();
        entries.reverse();
        entries
    }
}

struct Line {
    commit: CommitId,
    time: i64,
    message: String,
}

impl Line {
    /// `<old> <new> <name> <email> <time> <zone>\t<message>`.
    fn parse(line: &str) -> Option<Self> {
        let (head, message) = line.split_once('\t').unwrap_or((line, ""));
        let commit = CommitId::parse(head.split(' ').nth(1)?)?;
        let time = head.rsplit(' ').nth(1)?.parse().ok()?;
        Some(Self { commit, time, message: message.to_owned() })
    }
}

/// Whether an entry with this message made a commit: `commit (amend): …`, `rebase (pick): …`.
fn makes_commit(message: &str) -> bool {
    let word = message.split([':', ' ', '(']).next().unwrap_or_default();
    let moves = word == "rebase" && ["(start)", "(finish)", "(abort)"].iter().any(|step| message.contains(step));
    MAKING.contains(&word) && !moves && !message.starts_with("commit (merge)")
}

fn was_pushed(folder: &Path, seconds: i64, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return depth < 4 && was_pushed(&path, seconds, depth + 1);
        }
        let Ok(text) = fs::read_to_string(&path) else { return false };
        let last = text.lines().next_back().and_then(Line::parse);
        last.is_some_and(|last| last.time >= seconds && last.message.starts_with("update by push"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_make_a_commit_are_told_from_those_that_only_move() {
        for makes in [
            "commit: x",
            "commit (initial): x",
            "commit (amend): x",
            "cherry-pick: x",
            "revert: x",
            "rebase (pick): x",
            "rebase: x",
        ] {
            assert!(makes_commit(makes), "{makes}");
        }
        for moves in [
            "reset: moving to x",
            "checkout: moving from a to b",
            "merge x: Fast-forward",
            "pull: Fast-forward",
            "rebase (start): checkout x",
            "rebase (finish): returning to x",
            "commit (merge): x",
            "",
        ] {
            assert!(!makes_commit(moves), "{moves}");
        }
    }
}
