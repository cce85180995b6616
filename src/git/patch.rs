//! The patch of one path, as `git diff-tree -p` prints it with the options that the change id names, straight into the
//! hash. Which lines differ is for git's own algorithm to say, as libgit2 has it; all that is around them is written here.

use std::sync::Arc;

use git2::{DiffOptions, Patch};

use super::limits::may_compare;
use super::object::{ObjectError, Read};
use super::open::Git;
use super::quote::quoted;
use crate::proof::change::{ChangeHasher, ChangeIds};
use crate::proof::merge::{Entry, Mode};

/// Bytes of a patch that are gathered before they are hashed.
const GATHERED: usize = 64 << 10;

const NO_NEWLINE: &[u8] = b"\n\\ No newline at end of file\n";

/// Prints patches into a hash. What the hash leaves out of a patch is not printed in the first place: line numbers, and
/// the ids of files whose text is there.
pub(super) struct Printer<'a> {
    git: &'a Git,
    hasher: ChangeHasher,
    /// The same patch without the lines around what changed.
    bare: ChangeHasher,
    options: DiffOptions,
    /// The patch that is being printed.
    text: Vec<u8>,
    /// The patch that is being printed, without the lines around what changed.
    bare_text: Vec<u8>,
}

impl Git {
    /// The text of an entry; `None` if it is binary.
    pub(crate) fn text(&self, entry: &Entry) -> Read<Option<Arc<Vec<u8>>>> {
        if entry.mode == Mode::Submodule {
            return Ok(Some(Arc::new(format!("Subproject commit {}\n", entry.id).into_bytes())));
        }
        self.text_blob(&entry.id)
    }

    /// The lines of the older text that each hunk of the patch between two has, those around the change included; `None`
    /// if one of them is binary.
    pub(crate) fn old_lines(&self, old: &Entry, new: &Entry) -> Read<Option<Vec<Vec<u8>>>> {
        let (Some(before), Some(after)) = (self.text(old)?, self.text(new)?) else { return Ok(None) };
        may_compare(&self.meter, &[&before, &after]).map_err(|why| ObjectError::Limit(old.id, why))?;
        let read = || -> Result<Vec<Vec<u8>>, git2::Error> {
            let patch = Patch::from_buffers(&before, None, &after, None, Some(&mut options()))?;
            let mut hunks = Vec::new();
            for hunk in 0..patch.num_hunks() {
                let mut lines = Vec::new();
                for line in 0..patch.num_lines_in_hunk(hunk)? {
                    let line = patch.line_in_hunk(hunk, line)?;
                    if matches!(line.origin(), ' ' | '-') {
                        lines.extend_from_slice(line.content());
                    }
                }
                hunks.push(lines);
            }
            Ok(hunks)
        };
        let failed =
            |error: git2::Error| ObjectError::Damaged(old.id, format!("it cannot be compared: {}", error.message()));
        read().map(Some).map_err(failed)
    }
}

/// How texts are compared. As text by force: what is binary has been told before, by git's rule, which is not quite
/// libgit2's.
fn options() -> DiffOptions {
    let mut options = DiffOptions::new();
    options.context_lines(3).interhunk_lines(0).indent_heuristic(true).force_text(true);
    options
}

impl<'a> Printer<'a> {
    pub(super) fn new(git: &'a Git) -> Self {
        let (hasher, bare) = (ChangeHasher::new(), ChangeHasher::new());
        Self { git, hasher, bare, options: options(), text: Vec::new(), bare_text: Vec::new() }
    }

    /// The change ids of all that was printed; `None` if nothing was.
    pub(super) fn finish(self) -> Option<ChangeIds> {
        Some(ChangeIds { wide: self.hasher.finish()?, bare: self.bare.finish()? })
    }

    /// Prints the patch of a path. What became another kind of thing is taken away first, and then put there.
    pub(super) fn print(&mut self, path: &[u8], old: Option<Entry>, new: Option<Entry>) -> Read<()> {
        match (old, new) {
            (Some(was), Some(is)) if !alike(was.mode, is.mode) => {
                self.one(path, old, None)?;
                self.one(path, None, new)
            }
            _ => self.one(path, old, new),
        }
    }

    fn one(&mut self, path: &[u8], old: Option<Entry>, new: Option<Entry>) -> Read<()> {
        let names = [quoted(b"a/", path), quoted(b"b/", path)];
        self.text.clear();
        self.bare_text.clear();
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
        self.bare.push(&self.bare_text);
        Ok(())
    }

    /// The text at a path; `None` if it is none.
    fn content(&self, side: Option<Entry>) -> Read<Option<Arc<Vec<u8>>>> {
        let Some(side) = side else { return Ok(Some(Arc::default())) };
        self.git.text(&side)
    }

    fn binary(&mut self, labels: [&[u8]; 2], old: Option<Entry>, new: Option<Entry>) {
        let absent = "0".repeat(self.git.hex_length());
        let id = |side: Option<Entry>| side.map_or(absent.clone(), |side| side.id.to_string());
        let mode = match (old, new) {
            (Some(old), Some(new)) if old.mode == new.mode => format!(" {:06o}", new.mode.bits()),
            _ => String::new(),
        };
        self.put(&[format!("index {}..{}{mode}\n", id(old), id(new)).as_bytes()]);
        self.put(&[b"Binary files ", labels[0], b" and ", labels[1], b" differ\n"]);
    }

    fn lines(&mut self, labels: [&[u8]; 2], old: &[u8], new: &[u8], side: Option<Entry>) -> Read<()> {
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
        let Some(side) = side else { unreachable!("two texts that differ, and neither is there") };
        may_compare(&self.git.meter, &[old, new]).map_err(|why| ObjectError::Limit(side.id, why))?;
        self.hunks(old, new)
            .map_err(|error| ObjectError::Damaged(side.id, format!("it cannot be compared: {}", error.message())))
    }

    /// A text of which every line is gone, or new.
    fn all(&mut self, sign: u8, text: &[u8]) {
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            self.line(Some(sign), line, false);
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
            let mut inside = false; // of a run of changed lines
            for line in 0..patch.num_lines_in_hunk(hunk)? {
                let line = patch.line_in_hunk(hunk, line)?;
                let origin = line.origin();
                // `=` marks the remark that a line on both sides has no newline.
                let around = matches!(origin, ' ' | '=');
                if !around && !inside {
                    self.bare_text.extend_from_slice(b"@@\n");
                }
                inside = !around;
                // Other signs are for the remark that the line before has no newline.
                let sign = matches!(origin, ' ' | '+' | '-').then_some(origin as u8);
                self.line(sign, line.content(), around);
            }
        }
        Ok(())
    }

    /// Prints a line of a file, which stands `around` a change or is part of one. A patch may be as large as the file, so
    /// that it is not gathered as a whole.
    fn line(&mut self, sign: Option<u8>, content: &[u8], around: bool) {
        let bare = (&mut self.bare, &mut self.bare_text);
        let all = [(&mut self.hasher, &mut self.text)].into_iter().chain((!around).then_some(bare));
        for (hasher, text) in all {
            text.extend(sign);
            if text.len() + content.len() <= GATHERED {
                text.extend_from_slice(content);
                continue;
            }
            hasher.push(text);
            hasher.push(content);
            text.clear();
        }
    }

    fn mode(&mut self, what: &str, side: Entry) {
        self.put(&[format!("{what} mode {:06o}\n", side.mode.bits()).as_bytes()]);
    }

    fn put(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.text.extend_from_slice(part);
            self.bare_text.extend_from_slice(part);
        }
    }
}

/// Whether git shows one mode becoming the other as a change of the file, and not as one file gone and another new.
fn alike(one: Mode, other: Mode) -> bool {
    one == other || one.is_regular() && other.is_regular()
}

fn label(side: Option<Entry>, name: &[u8]) -> &[u8] {
    if side.is_some() { name } else { b"/dev/null" }
}
