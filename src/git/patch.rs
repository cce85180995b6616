//! The patch of one path, as `git diff-tree -p` prints it with the options that the change id names, straight into the
//! hash. Which lines differ is for git's own algorithm to say, as libgit2 has it; all that is around them is written here.

use std::sync::Arc;

use git2::{DiffOptions, Patch};

use super::objects::{ObjectError, Read};
use super::open::Git;
use super::quote::quoted;
use super::tree::Item;
use crate::proof::change::ChangeHasher;
use crate::proof::digest::{ChangeId, ObjectId};

/// Git takes a larger file for a binary one (`core.bigFileThreshold`).
const LARGEST_TEXT: usize = 512 << 20;
/// How far git looks for a NUL byte, which makes a file a binary one.
const LOOKED_AT: usize = 8000;

const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;
const TREE: u32 = 0o040_000;
const SUBMODULE: u32 = 0o160_000;

const NO_NEWLINE: &[u8] = b"\n\\ No newline at end of file\n";

/// What is at a path, before or after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side {
    mode: u32,
    id: ObjectId,
}

impl Side {
    /// An entry, its mode as git sees it: of a file's permissions, only whether its owner may run it.
    pub(super) fn of(entry: &Item<'_>) -> Self {
        let mode = match entry.mode & KIND {
            REGULAR if entry.mode & 0o100 == 0 => REGULAR | 0o644,
            REGULAR => REGULAR | 0o755,
            kind @ (SYMLINK | TREE) => kind,
            _ => SUBMODULE,
        };
        Self { mode, id: entry.id }
    }

    fn kind(&self) -> u32 {
        self.mode & KIND
    }
}

/// Prints patches into a hash. What the hash leaves out of a patch is not printed in the first place: line numbers, and
/// the ids of files whose text is there.
pub(super) struct Printer<'a> {
    git: &'a Git,
    hasher: ChangeHasher,
    options: DiffOptions,
    /// The patch that is being printed.
    text: Vec<u8>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(git: &'a Git) -> Self {
        let mut options = DiffOptions::new();
        // Text by force: what is binary has been told before, by git's rule, which is not quite libgit2's.
        options.context_lines(3).interhunk_lines(0).indent_heuristic(true).force_text(true);
        Self { git, hasher: ChangeHasher::new(), options, text: Vec::new() }
    }

    /// The change id of all that was printed; `None` if nothing was.
    pub(super) fn finish(self) -> Option<ChangeId> {
        self.hasher.finish()
    }

    /// Prints the patch of a path. What became another kind of thing is taken away first, and then put there.
    pub(super) fn print(&mut self, path: &[u8], old: Option<Side>, new: Option<Side>) -> Read<()> {
        match (old, new) {
            (Some(was), Some(is)) if was.kind() != is.kind() => {
                self.one(path, old, None)?;
                self.one(path, None, new)
            }
            _ => self.one(path, old, new),
        }
    }

    fn one(&mut self, path: &[u8], old: Option<Side>, new: Option<Side>) -> Read<()> {
        let names = [quoted(b"a/", path), quoted(b"b/", path)];
        self.text.clear();
        self.put(&[b"diff --git ", &names[0], b" ", &names[1], b"\n"]);
        match (old, new) {
            (None, Some(new)) => self.mode("new file", new),
            (Some(old), None) => self.mode("deleted file", old),
            (Some(old), Some(new)) if old.mode != new.mode => {
                self.mode("old", old);
                self.mode("new", new);
            }
            _ => {}
        }
        if old.map(|side| side.id) != new.map(|side| side.id) {
            let labels = [label(old, &names[0]), label(new, &names[1])];
            match (self.content(old)?, self.content(new)?) {
                (Some(before), Some(after)) => self.lines(labels, &before, &after, new.or(old))?,
                _ => self.binary(labels, old, new),
            }
        }
        self.hasher.push(&self.text);
        Ok(())
    }

    /// The text at a path; `None` if it is none.
    fn content(&self, side: Option<Side>) -> Read<Option<Arc<Vec<u8>>>> {
        let Some(side) = side else { return Ok(Some(Arc::default())) };
        if side.kind() == SUBMODULE {
            return Ok(Some(Arc::new(format!("Subproject commit {}\n", side.id).into_bytes())));
        }
        let bytes = self.git.blob_within(&side.id, LARGEST_TEXT)?;
        Ok(bytes.filter(|bytes| memchr::memchr(0, &bytes[..bytes.len().min(LOOKED_AT)]).is_none()))
    }

    fn binary(&mut self, labels: [&[u8]; 2], old: Option<Side>, new: Option<Side>) {
        let absent = "0".repeat(self.git.hex_length());
        let id = |side: Option<Side>| side.map_or(absent.clone(), |side| side.id.to_string());
        let mode = match (old, new) {
            (Some(old), Some(new)) if old.mode == new.mode => format!(" {:06o}", new.mode),
            _ => String::new(),
        };
        self.put(&[format!("index {}..{}{mode}\n", id(old), id(new)).as_bytes()]);
        self.put(&[b"Binary files ", labels[0], b" and ", labels[1], b" differ\n"]);
    }

    fn lines(&mut self, labels: [&[u8]; 2], old: &[u8], new: &[u8], side: Option<Side>) -> Read<()> {
        if old == new {
            return Ok(());
        }
        for (sign, label) in [(&b"--- "[..], labels[0]), (b"+++ ", labels[1])] {
            // A name with a space would not end where a reader thinks.
            let end: &[u8] = if label.contains(&b' ') { b"\t\n" } else { b"\n" };
            self.put(&[sign, label, end]);
        }
        if old.is_empty() || new.is_empty() {
            self.put(&[b"@@\n"]);
            self.all(b'-', old);
            self.all(b'+', new);
            return Ok(());
        }
        self.hunks(old, new).map_err(|error| match side {
            Some(side) => ObjectError::Damaged(side.id, format!("it cannot be compared: {}", error.message())),
            None => unreachable!("two texts that differ, and neither is there"),
        })
    }

    /// A text of which every line is gone, or new.
    fn all(&mut self, sign: u8, text: &[u8]) {
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            self.put(&[&[sign], line]);
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            self.put(&[NO_NEWLINE]);
        }
    }

    fn hunks(&mut self, old: &[u8], new: &[u8]) -> Result<(), git2::Error> {
        let patch = Patch::from_buffers(old, None, new, None, Some(&mut self.options))?;
        if patch.num_hunks() == 0 {
            // libgit2 does not say so when its diff fails.
            return Err(git2::Error::from_str("no difference was found where there is one"));
        }
        for hunk in 0..patch.num_hunks() {
            self.text.extend_from_slice(b"@@\n");
            for line in 0..patch.num_lines_in_hunk(hunk)? {
                let line = patch.line_in_hunk(hunk, line)?;
                // Other signs are for the remark that the line before has no newline.
                if let sign @ (' ' | '+' | '-') = line.origin() {
                    self.text.push(sign as u8);
                }
                self.text.extend_from_slice(line.content());
            }
        }
        Ok(())
    }

    fn mode(&mut self, what: &str, side: Side) {
        self.put(&[format!("{what} mode {:06o}\n", side.mode).as_bytes()]);
    }

    fn put(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.text.extend_from_slice(part);
        }
    }
}

fn label(side: Option<Side>, name: &[u8]) -> &[u8] {
    if side.is_some() { name } else { b"/dev/null" }
}
