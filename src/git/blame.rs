//! Finds the commit that each line of a file comes from, by git's own blame, and the commits that touched a file.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::open::Git;
use super::quote::unquoted;
use crate::access::{bytes_of, name_of};
use crate::error::{Code, Error, Result};
use crate::proof::digest::CommitId;

/// Largest answer of blame that is read: a file of some million lines.
const MAX_ANSWER: usize = 512 << 20;

/// How lines are followed, as `git blame` calls it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Following {
    /// `-w`: a line that was only set in differently is the same.
    pub white_space: bool,
    /// `-M`: lines that moved within the file are the same.
    pub moved: bool,
    /// `-C`, so many times: lines that were copied from other files are the same.
    pub copied: u8,
}

/// A line of a file and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// The commit; `None` for a line that is not committed yet.
    pub commit: Option<CommitId>,
    /// The path of the file in that commit.
    pub path: Vec<u8>,
    /// The number of the line, from 1.
    pub number: u64,
    pub text: Vec<u8>,
}

/// A path that a commit changed, and the one before it where the commit renamed the file and left it as it was.
pub type ChangedPath = (Vec<u8>, Option<Vec<u8>>);

impl Git {
    /// The path of a file from the top of the repository, given as seen from the working directory. The file need not exist.
    pub fn path_here(&self, file: &Path) -> Result<Vec<u8>> {
        self.path_from(&self.context.directory, file)
    }

    /// The same, given as seen from another directory.
    pub fn path_from(&self, directory: &Path, file: &Path) -> Result<Vec<u8>> {
        let outside = || {
            Error::new(Code::InvalidParams, format!("{} is not in this repository", file.display()))
                .hint("name a file as seen from the directory that you are in")
        };
        // No file has a NUL in its name, and none can be given to git.
        if bytes_of(file).contains(&0) {
            return Err(outside());
        }
        let Some(root) = self.repository.workdir() else {
            return normal(file).map(|path| bytes_of(&path).to_vec()).ok_or_else(outside);
        };
        let root = std::fs::canonicalize(root).map_err(|_| outside())?;
        // The directory of an absolute path does not matter, and may be gone.
        let here = if file.is_absolute() { Ok(PathBuf::new()) } else { std::fs::canonicalize(directory) };
        let whole = here.map_err(|_| outside())?.join(file);
        // Folders may be links; the file itself is left as it is named.
        let folder = whole.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
        let whole = match (folder, whole.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => normal(&whole).ok_or_else(outside)?,
        };
        let below = whole.strip_prefix(&root).ok().filter(|below| !below.as_os_str().is_empty());
        below.map(|below| bytes_of(below).to_vec()).ok_or_else(outside)
    }

    /// Whether a file of this path is in the worktree, or in the commit that is checked out.
    pub fn has_file(&self, path: &[u8]) -> bool {
        let in_worktree = self.repository.workdir().is_some_and(|root| root.join(name_of(path)).is_file());
        in_worktree || self.tip("HEAD").ok().flatten().is_some_and(|head| self.file_in(&head, path))
    }

    fn file_in(&self, commit: &CommitId, path: &[u8]) -> bool {
        let Ok(commit) = self.commit(commit) else { return false };
        self.file(&commit.tree, path).is_ok_and(|file| file.is_some_and(|file| !file.is_tree()))
    }

    /// Where the lines of a file come from, by `git blame`: those of the worktree, or of a commit.
    pub fn blame(
        &self,
        path: &[u8],
        lines: Option<(u64, u64)>,
        commit: Option<&CommitId>,
        following: Following,
    ) -> Result<Vec<BlamedLine>> {
        let mut command = self.plumbing(["blame", "--porcelain", "--no-textconv", "--no-progress"]);
        if following.white_space {
            command.arg("-w");
        }
        if following.moved {
            command.arg("-M");
        }
        command.args((0..following.copied.min(3)).map(|_| "-C"));
        if let Some((from, to)) = lines {
            command.arg(format!("-L{from},{to}"));
        }
        match (commit, self.repository.workdir()) {
            (Some(commit), _) => command.arg(commit.to_string()),
            (None, None) => command.arg("HEAD"),
            (None, Some(_)) => &mut command,
        };
        if let Some(root) = self.repository.workdir() {
            command.current_dir(root).env("GIT_WORK_TREE", root);
        }
        let output = self.run(command.arg("--").arg(name_of(path)))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let said =
                said.lines().find_map(|line| line.strip_prefix("fatal: ")).unwrap_or("git blame failed").to_owned();
            let name = String::from_utf8_lossy(path);
            return Err(Error::new(
                Code::InvalidParams,
                format!("git cannot tell where the lines of {name} come from"),
            )
            .because(said)
            .hint("name a file that is committed, and lines that it has"));
        }
        if output.stdout.len() > MAX_ANSWER {
            return Err(Error::new(Code::TooLarge, "the file has too many lines").hint("name lines: PATH:FROM,TO"));
        }
        parse(&output.stdout).ok_or_else(|| Error::new(Code::RepositoryFailed, "git blame printed what cannot be read"))
    }

    /// The newest commits that lead to `tip` and not to `from`, no merges, each with the paths that it changed; newest first.
    pub fn paths_since(
        &self,
        from: Option<&CommitId>,
        tip: &CommitId,
        most: usize,
    ) -> Result<Vec<(CommitId, Vec<ChangedPath>)>> {
        let mut command = self.plumbing(["-c", "log.showSignature=false", "log", "--raw", "-z", "--format=%H"]);
        // Only files that stayed as they were count as renamed. To compare others, git would read them all.
        command.args(["--no-merges", "--find-renames=100%", "--no-ext-diff", "--no-color", "--no-notes"]);
        command.arg(format!("--max-count={most}")).arg(tip.to_string());
        command.args(from.map(|from| format!("^{from}"))).arg("--");
        let output = self.run(&mut command)?;
        if !output.status.success() {
            return Err(Error::new(Code::RepositoryFailed, "git log failed").hint(super::open::maybe_damaged()));
        }
        Ok(parse_log(&output.stdout))
    }

    /// The newest commits that lead to `tip` and not to `from`, and changed a path, no merges, newest first.
    pub fn newest_touching(
        &self,
        tip: &CommitId,
        from: Option<&CommitId>,
        path: &[u8],
        most: usize,
    ) -> Result<Vec<CommitId>> {
        let mut command = self.plumbing(["--literal-pathspecs", "rev-list", "--no-merges"]);
        command.arg(format!("--max-count={most}")).arg(tip.to_string());
        command.args(from.map(|from| format!("^{from}"))).arg("--").arg(name_of(path));
        if let Some(root) = self.repository.workdir() {
            command.current_dir(root).env("GIT_WORK_TREE", root);
        }
        Ok(self.text_of(&mut command)?.unwrap_or_default().lines().filter_map(CommitId::parse).collect())
    }
}

/// Reads `git log --raw -z --format=%H`: an id, and for each file a word that begins with a colon and ends with what happened
/// to it, then the path; of a renamed file the old path, then the new one.
fn parse_log(answer: &[u8]) -> Vec<(CommitId, Vec<ChangedPath>)> {
    let mut found: Vec<(CommitId, Vec<ChangedPath>)> = Vec::new();
    let mut words = answer.split(|byte| *byte == 0);
    while let Some(word) = words.next() {
        let word = word.trim_ascii_start();
        if word.starts_with(b":") {
            let is_rename = word.rsplit(|byte| *byte == b' ').next().is_some_and(|what| what.starts_with(b"R"));
            let (Some(path), Some((_, paths))) = (words.next(), found.last_mut()) else { continue };
            paths.push((path.to_vec(), None));
            if is_rename && let Some(new) = words.next() {
                // Any two empty files are the same.
                paths.push((new.to_vec(), (!is_empty_file(word)).then(|| path.to_vec())));
            }
        } else if let Some(id) = std::str::from_utf8(word).ok().and_then(|word| CommitId::parse(word.trim_end())) {
            found.push((id, Vec::new()));
        }
    }
    found
}

/// Whether a line such as `:100644 100644 e69de29 e69de29 R100` is of a file without content.
fn is_empty_file(line: &[u8]) -> bool {
    const EMPTY: [&[u8]; 2] = [b"e69de29", b"473a0f4"]; // by SHA-1 and SHA-256
    let id = line.split(|byte| *byte == b' ').nth(2).unwrap_or_default();
    EMPTY.iter().any(|empty| id.starts_with(empty))
}

/// A path without `.` and `..`; `None` where it leads out of where it begins.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => parts.pop().then_some(())?,
            other => parts.push(other),
        }
    }
    (!parts.as_os_str().is_empty()).then_some(parts)
}

/// Reads `git blame --porcelain`: for each line a header with the commit and the numbers, what is told of a commit where it is
/// first named, and the line itself after a tab.
fn parse(answer: &[u8]) -> Option<Vec<BlamedLine>> {
    let mut lines = Vec::new();
    let mut paths: HashMap<CommitId, Vec<u8>> = HashMap::new();
    let mut current: Option<(CommitId, u64)> = None;
    let mut rest = answer;
    while !rest.is_empty() {
        let (row, after) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = after;
        match current {
            None => {
                let mut words = row.split(|byte| *byte == b' ').map(std::str::from_utf8);
                let commit = CommitId::parse(words.next()?.ok()?)?;
                current = Some((commit, words.nth(1)?.ok()?.parse().ok()?));
            }
            Some((commit, number)) => {
                if let Some(text) = row.strip_prefix(b"\t") {
                    let path = paths.get(&commit)?.clone();
                    let committed = commit.0.as_bytes().iter().any(|byte| *byte != 0).then_some(commit);
                    lines.push(BlamedLine { commit: committed, path, number, text: text.to_vec() });
                    current = None;
                } else if let Some(name) = row.strip_prefix(b"filename ") {
                    paths.insert(commit, unquoted(name)?);
                }
            }
        }
    }
    current.is_none().then_some(lines)
}

/// A path as text for people and JSON; what is no UTF-8 is replaced.
pub(crate) fn path_text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_commit_share_its_path() {
        let (one, none) = ("1".repeat(40), "0".repeat(40));
        let answer = format!(
            "{one} 3 1 2\nauthor A\nboundary\nfilename \"a\\tb\"\n\tx\n{one} 4 2\n\t\ty\n{none} 1 3 1\nfilename c\n\t\n"
        );
        let lines = parse(answer.as_bytes()).unwrap();
        assert_eq!(lines.len(), 3);
        assert_eq!((&lines[0].path[..], lines[0].number, &lines[0].text[..]), (&b"a\tb"[..], 1, &b"x"[..]));
        assert_eq!((&lines[1].path[..], &lines[1].text[..]), (&b"a\tb"[..], &b"\ty"[..]));
        assert_eq!((lines[2].commit, &lines[2].path[..]), (None, &b"c"[..]));
        assert_eq!(parse(&answer.as_bytes()[..answer.len() - 3]), None);
        assert_eq!(parse(b"no header\n"), None);
    }

    #[test]
    fn a_log_is_read_by_its_colons() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let log = format!(
            "{one}\0\n:100644 100644 a b M\0a b\0:000000 100644 a b A\0{two}\0:100644 100644 a a R100\0old\0new\0\
             :100644 100644 e69de29 e69de29 R100\0e\0f\0{two}\0"
        );
        let found = parse_log(log.as_bytes());
        let paths: Vec<&[u8]> = found[0].1.iter().map(|(path, _)| path.as_slice()).collect();
        assert_eq!(paths, [&b"a b"[..], two.as_bytes(), b"old", b"new", b"e", b"f"]);
        let renamed: Vec<&ChangedPath> = found[0].1.iter().filter(|(_, old)| old.is_some()).collect();
        assert_eq!(renamed, [&(b"new".to_vec(), Some(b"old".to_vec()))]);
        assert_eq!((found.len(), found[1].1.len()), (2, 0));
    }

    #[test]
    fn paths_that_lead_out_are_none() {
        assert_eq!(normal(Path::new("a/../b/./c")), Some(PathBuf::from("b/c")));
        assert_eq!(normal(Path::new("../a")), None);
        assert_eq!(normal(Path::new("a/..")), None);
    }
}
