//! The three-way merge of one path, and where a hunk can stand: the pure part of the rules by which a commit may replace
//! another one. Reading trees and merging texts is the caller's work.

use super::digest::ObjectId;

/// The kind of a tree entry as git understands its mode, however the mode is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// A directory. Never part of a merge: its files are.
    Tree,
    /// A plain file.
    File,
    /// A file that its owner may run.
    Program,
    /// A symbolic link.
    Link,
    /// A commit of another repository.
    Submodule,
}

impl Mode {
    /// Reads a mode as git does: of a file's permissions, only whether its owner may run it counts; every directory mode
    /// is a directory; and what is none of the known kinds is a submodule.
    pub const fn of(bits: u32) -> Self {
        match bits & 0o170_000 {
            0o100_000 if bits & 0o100 == 0 => Self::File,
            0o100_000 => Self::Program,
            0o120_000 => Self::Link,
            0o040_000 => Self::Tree,
            _ => Self::Submodule,
        }
    }

    /// The mode as git writes it.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Tree => 0o040_000,
            Self::File => 0o100_644,
            Self::Program => 0o100_755,
            Self::Link => 0o120_000,
            Self::Submodule => 0o160_000,
        }
    }

    /// Whether it is a file, be it a program or not; a link is none.
    pub const fn is_regular(self) -> bool {
        matches!(self, Self::File | Self::Program)
    }
}

/// The entry at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// Its kind.
    pub mode: Mode,
    /// Its content.
    pub id: ObjectId,
}

/// A path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathChange {
    /// The whole path.
    pub path: Vec<u8>,
    /// The entry before.
    pub old: Option<Entry>,
    /// The entry after.
    pub new: Option<Entry>,
}

impl PathChange {
    /// Whether a file's mode changed and nothing else.
    pub fn is_mode_alone(&self) -> bool {
        matches!((self.old, self.new), (Some(old), Some(new)) if old.id == new.id)
    }
}

/// The result of merging one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merged {
    /// One of the three entries, or nothing.
    Is(Option<Entry>),
    /// A file whose content is the merge of these three.
    Content {
        /// Its mode, which needs no text.
        mode: Mode,
        /// The content that both sides come from.
        base: ObjectId,
        /// The content on our side.
        ours: ObjectId,
        /// The content on their side.
        theirs: ObjectId,
    },
    /// Git could not merge it by itself.
    Conflict,
}

/// Merges one path. Renames are not followed.
pub fn merge(base: Option<Entry>, ours: Option<Entry>, theirs: Option<Entry>) -> Merged {
    if ours == theirs || base == theirs {
        return Merged::Is(ours);
    }
    if base == ours {
        return Merged::Is(theirs);
    }
    let (Some(base), Some(ours), Some(theirs)) = (base, ours, theirs) else { return Merged::Conflict };
    if ![base, ours, theirs].iter().all(|entry| entry.mode.is_regular()) {
        return Merged::Conflict;
    }
    let mode = if base.mode == ours.mode { theirs.mode } else { ours.mode };
    if ours.id == theirs.id || base.id == theirs.id {
        return Merged::Is(Some(Entry { mode, id: ours.id }));
    }
    if base.id == ours.id {
        return Merged::Is(Some(Entry { mode, id: theirs.id }));
    }
    Merged::Content { mode, base: base.id, ours: ours.id, theirs: theirs.id }
}

/// Whether some lines occur exactly once in a file, as whole lines, counting places that overlap. No lines at all stand
/// at one place only where the file is empty.
pub fn occur_once(lines: &[u8], file: &[u8]) -> bool {
    if lines.is_empty() {
        return file.is_empty();
    }
    if !lines.ends_with(b"\n") {
        // The last of them has no newline, so they can only stand at the end.
        let start = file.len().checked_sub(lines.len());
        return start.is_some_and(|start| file.ends_with(lines) && (start == 0 || file[start - 1] == b'\n'));
    }
    // With a newline before both, every place that is found begins with a line. Searching is linear, whatever is in them.
    let (lines, file) = ([b"\n", lines].concat(), [b"\n", file].concat());
    let finder = memchr::memmem::Finder::new(&lines);
    let first = finder.find(&file);
    first.is_some_and(|first| finder.find(&file[first + 1..]).is_none())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::unnecessary_wraps)] // tests
mod tests {
    use super::*;

    fn entry(mode: Mode, content: u8) -> Option<Entry> {
        Some(Entry { mode, id: ObjectId::from_bytes(&[content; 20]).unwrap() })
    }

    fn file(content: u8) -> Option<Entry> {
        entry(Mode::File, content)
    }

    #[test]
    fn one_side_alone_decides() {
        assert_eq!(merge(file(1), file(1), file(2)), Merged::Is(file(2)));
        assert_eq!(merge(file(1), file(2), file(1)), Merged::Is(file(2)));
        assert_eq!(merge(file(1), file(2), file(2)), Merged::Is(file(2)));
        assert_eq!(merge(None, None, file(2)), Merged::Is(file(2)));
        assert_eq!(merge(file(1), file(1), None), Merged::Is(None));
        assert_eq!(merge(file(1), None, None), Merged::Is(None));
    }

    #[test]
    fn mode_and_content_are_merged_apart() {
        let program = |content| entry(Mode::Program, content);
        assert_eq!(merge(file(1), program(1), file(2)), Merged::Is(program(2)));
        assert_eq!(merge(program(1), program(2), file(1)), Merged::Is(file(2)));
        let Merged::Content { mode, .. } = merge(file(1), program(2), file(3)) else { panic!("contents differ") };
        assert_eq!(mode, Mode::Program);
    }

    #[test]
    fn everything_else_is_a_conflict() {
        let link = |content| entry(Mode::Link, content);
        let submodule = |content| entry(Mode::Submodule, content);
        for (base, ours, theirs) in [
            (None, file(1), file(2)),
            (file(1), None, file(2)),
            (file(1), file(2), None),
            (link(1), link(2), link(3)),
            (submodule(1), submodule(2), submodule(3)),
            (file(1), link(1), file(2)),
            (file(1), file(2), link(2)),
        ] {
            assert_eq!(merge(base, ours, theirs), Merged::Conflict, "{base:?} {ours:?} {theirs:?}");
        }
    }

    #[test]
    fn lines_are_counted_whole_and_with_overlaps() {
        assert!(occur_once(b"b\n", b"a\nb\nc\n"));
        assert!(!occur_once(b"b\n", b"a\nbb\n"), "part of a line");
        assert!(!occur_once(b"b\n", b"ab\n"), "the end of a line");
        assert!(!occur_once(b"b\n", b"b\na\nb\n"));
        assert!(!occur_once(b"x\nx\n", b"x\nx\nx\n"), "they overlap");
        assert!(occur_once(b"b", b"a\nb"), "the last line has no newline");
        assert!(occur_once(b"b", b"b\nb"), "the other one has a newline");
        assert!(!occur_once(b"b", b"a\nbb"), "part of the last line");
        assert!(occur_once(b"", b""));
        assert!(!occur_once(b"", b"a\n"), "nothing stands everywhere");
    }

    #[test]
    fn modes_are_read_as_git_reads_them() {
        for (bits, mode) in [
            (0o100_644, Mode::File),
            (0o100_664, Mode::File),
            (0o100_600, Mode::File),
            (0o100_755, Mode::Program),
            (0o100_777, Mode::Program),
            (0o040_000, Mode::Tree),
            (0o040_755, Mode::Tree),
            (0o120_000, Mode::Link),
            (0o120_777, Mode::Link),
            (0o160_000, Mode::Submodule),
            (0, Mode::Submodule),
            (0o010_644, Mode::Submodule),
        ] {
            assert_eq!(Mode::of(bits), mode, "{bits:o}");
        }
    }
}
