//! The lines behind a root, as they are published.

use crate::git::limits::MAX_EVIDENCE;
use crate::git::{Git, Shelved};
use crate::proof::digest::{ContentHash, RootHash, TreeId};
use crate::proof::evidence::Verifier;
use crate::proof::record::{Body, Line, Opening, RecordType};
use crate::proof::timestamp::Timestamp;
use crate::publish::evidence_name;

/// Evidence that goes into one report, in bytes: a browser must still open it.
const MOST: usize = 64 << 20;

/// The evidence of a session in a report.
#[derive(Debug, Clone)]
pub enum Embedded {
    /// It is there, whether it holds or not.
    Lines(Box<EmbeddedLines>),
    /// It is not, and this is why.
    Absent(String),
}

/// Lines of evidence.
#[derive(Debug, Clone)]
pub struct EmbeddedLines {
    /// Each, without its newline.
    pub lines: Vec<String>,
    /// Whether the last line ends in a newline.
    pub complete: bool,
    /// The content hash of every line after the first that holds.
    pub leaves: Vec<ContentHash>,
    /// The first line, if it can be read.
    pub opening: Option<Opening>,
    /// Decisions and reflections.
    pub story: Vec<Telling>,
    /// How many lines are withheld.
    pub withheld: u64,
}

/// A decision or a reflection.
#[derive(Debug, Clone)]
pub struct Telling {
    /// Its line in the evidence, the opening being line 0.
    pub line: usize,
    /// Which of the two.
    pub kind: RecordType,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// Its text.
    pub content: String,
    /// What came with it, as canonical JSON.
    pub metadata: Option<String>,
}

/// Where evidence is, and how much of it still fits.
pub(super) struct Shelf<'a> {
    git: &'a Git,
    tree: Option<TreeId>,
    room: usize,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(git: &'a Git, tree: Option<TreeId>) -> Self {
        Self { git, tree, room: MOST }
    }

    /// The evidence of a root.
    pub(super) fn take(&mut self, root: &RootHash) -> Embedded {
        let absent = |why: &str| Embedded::Absent(why.to_owned());
        let Some(tree) = &self.tree else { return absent("refs/proof/evidence is not in this clone") };
        let read = self.git.shelved(tree, &evidence_name(root)).and_then(|shelved| match shelved {
            Shelved::File(blob) => self.git.blob(&blob, MAX_EVIDENCE).map(Some),
            Shelved::Nothing | Shelved::Other => Ok(None),
        });
        let bytes = match read {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return absent("refs/proof/evidence has no file for this root"),
            Err(error) => return absent(&error.to_string()),
        };
        if bytes.len() > self.room {
            return absent("its evidence is too large for this page; git proof verify reads it in a clone");
        }
        match String::from_utf8(bytes) {
            Ok(text) => {
                self.room -= text.len();
                Embedded::Lines(Box::new(read_lines(&text)))
            }
            Err(_) => absent("its evidence is not UTF-8"),
        }
    }
}

fn read_lines(text: &str) -> EmbeddedLines {
    let complete = text.ends_with('\n');
    let lines: Vec<String> = text.strip_suffix('\n').unwrap_or(text).split('\n').map(str::to_owned).collect();
    let opening = Opening::parse(lines[0].as_bytes()).ok();
    let scheme = opening.as_ref().map(|opening| opening.scheme).unwrap_or_default();
    let (mut leaves, mut story, mut withheld) = (Vec::new(), Vec::new(), 0);
    let mut line_of = 0;
    // Whether all of it holds is for verify to say; the page computes it again.
    let _ = Verifier::new().push_with(text.as_bytes(), |_, line, _| {
        line_of += 1;
        let entry = match line {
            Line::Withheld(trace) => {
                withheld += 1;
                leaves.push(trace.content_hash);
                return;
            }
            Line::Entry(entry) => entry,
        };
        leaves.push(scheme.content_hash(lines[line_of].as_bytes(), entry.body.text()));
        if let Body::Thought { kind: kind @ (RecordType::Decision | RecordType::Reflection), content, .. } = &entry.body
        {
            story.push(Telling {
                line: line_of,
                kind: *kind,
                timestamp: entry.timestamp,
                content: content.to_string(),
                metadata: entry.metadata.as_ref().map(ToString::to_string),
            });
        }
    });
    EmbeddedLines { lines, complete, leaves, opening, story, withheld }
}
