//! Changes, independent of the commit that they are in: the change id of a diff's text, the attestation of a change,
//! and the lines of the index that says where a change was seen.

use sha2::{Digest as _, Sha256};

use super::canonical::{Field, Malformed, Reader, has_key, member, object};
use super::digest::{ChangeId, CommitId, TreeId};

/// Hashes the text of a diff as it comes.
///
/// A line that starts with `@@ ` counts as `@@`, so that a change is the same near other line numbers. An `index` line
/// counts only before `Binary files `, where it is all that tells the contents apart.
#[derive(Debug, Default)]
pub struct ChangeHasher {
    hasher: Sha256,
    partial: Vec<u8>,
    /// The `index` line before this one.
    index: Option<Vec<u8>>,
    any: bool,
}

impl ChangeHasher {
    /// A hasher that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the diff.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.partial.is_empty() {
                self.line(line);
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.line(&whole);
            }
        }
        self.partial.extend_from_slice(bytes);
    }

    fn line(&mut self, line: &[u8]) {
        self.any = true;
        if line.starts_with(b"index ") {
            self.index = Some(line.to_owned());
            return;
        }
        if let Some(index) = self.index.take()
            && line.starts_with(b"Binary files ")
        {
            self.hasher.update(index);
            self.hasher.update(b"\n");
        }
        self.hasher.update(if line.starts_with(b"@@ ") { b"@@" } else { line });
        self.hasher.update(b"\n");
    }

    /// The change id; `None` for an empty diff.
    pub fn finish(mut self) -> Option<ChangeId> {
        if !self.partial.is_empty() {
            let last = std::mem::take(&mut self.partial);
            self.line(&last);
        }
        self.any.then(|| ChangeId::new(self.hasher.finalize().into()))
    }
}

/// The two ids by which a change is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeIds {
    /// The change id: with the three lines around what changed.
    pub wide: ChangeId,
    /// The same with no line around it, which survives edits of neighbouring lines. It only helps to find a change.
    pub bare: ChangeId,
}

impl ChangeIds {
    /// A sighting of the change under both of its ids.
    pub fn sighted(&self, sighting: Sighting) -> [(ChangeId, Sighting); 2] {
        [(self.wide, sighting), (self.bare, sighting)]
    }
}

/// The change id of a diff's whole text; `None` for an empty one.
pub fn change_id(diff: &[u8]) -> Option<ChangeId> {
    let mut hasher = ChangeHasher::new();
    hasher.push(diff);
    hasher.finish()
}

object! {
    /// What a session says of a change that it explains: the body of an attestation that only the tool writes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct GitAttestation, "git attestation", to_text, in "git" {
        /// The change; `None` for an empty one and for a merge.
        change_id: Option<ChangeId>,
        /// The commit; `None` while it is only staged.
        commit: Option<CommitId>,
        /// The tree.
        tree: TreeId,
    }
}

impl GitAttestation {
    /// Whether a text claims to be such an attestation, well-formed or not: nobody but the tool may write one.
    pub fn is_claimed_by(text: &str) -> bool {
        has_key(text, &["git"])
    }
}

/// A line of the change index: where a change was seen. It proves nothing; what is found through it is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sighting {
    /// One commit.
    Commit(CommitId),
    /// A whole range, from its merge base to its head.
    Range {
        /// The merge base.
        base: CommitId,
        /// The head.
        head: CommitId,
    },
}

impl Sighting {
    /// The canonical line.
    pub fn to_line(&self) -> String {
        let mut line = "{".to_owned();
        match self {
            Self::Commit(commit) => member(&mut line, "commit", commit),
            Self::Range { base, head } => {
                member(&mut line, "base", base);
                member(&mut line, "head", head);
            }
        }
        line + "}"
    }

    /// Reads a canonical line.
    pub fn parse(line: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(line)?;
        reader.begin()?;
        let sighting = if reader.try_key("commit") {
            Self::Commit(Field::read(&mut reader, "commit")?)
        } else {
            Self::Range { base: reader.member("base")?, head: reader.member("head")? }
        };
        reader.end()?;
        reader.finish()?;
        Ok(sighting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::digest::sha256;

    fn expect(diff: &str, hashed: &str) {
        assert_eq!(change_id(diff.as_bytes()), Some(ChangeId::new(sha256(hashed.as_bytes()))), "{diff}");
    }

    #[test]
    fn line_numbers_and_blob_ids_of_text_do_not_count() {
        expect(
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn main\n-a\n+b\n",
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@\n-a\n+b\n",
        );
    }

    #[test]
    fn blob_ids_of_binary_files_count() {
        let binary = "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n";
        expect(binary, binary);
    }

    #[test]
    fn content_that_looks_like_a_header_counts_in_full() {
        let lines = "+@@ -1 +1 @@\n index 3..4\n-@@ x\n@@\n@@x\n";
        expect(lines, lines);
    }

    #[test]
    fn cut_into_pieces_or_not_it_is_the_same_change() {
        let diff = "diff --git a/x b/x\nindex 1..2\n@@ -1 +1 @@\n-a\n+b\nindex 5..6\nBinary files differ\n";
        for at in 0..diff.len() {
            let mut hasher = ChangeHasher::new();
            hasher.push(&diff.as_bytes()[..at]);
            hasher.push(&diff.as_bytes()[at..]);
            assert_eq!(hasher.finish(), change_id(diff.as_bytes()));
        }
        assert_eq!(change_id(b""), None);
    }

    #[test]
    fn indentation_is_part_of_the_change() {
        assert_ne!(change_id(b"+a\n"), change_id(b"+ a\n"));
    }
}
