//! The lines behind a root, as they are published.

use crate::git::limits::MAX_EVIDENCE;
use crate::git::{Fanned, Git};
use crate::proof::digest::{ContentHash, RootHash, TreeId};
use crate::proof::evidence::Verifier;
use crate::proof::observed::{Event, Marks};
use crate::proof::record::{Body, Line, Opening, RecordType};
use crate::proof::timestamp::Timestamp;
use crate::publish::evidence_name;
use crate::recall::{Label, Points, Seen};

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
    /// Decisions and reflections; of a reflection that was recorded again at the close, only that.
    pub story: Vec<Telling>,
    /// What the tool observed.
    pub seen: Seen,
    /// The lines that say so.
    pub seen_in: Vec<usize>,
    /// How many lines are withheld.
    pub withheld: u64,
}

impl EmbeddedLines {
    /// The open questions of its decisions and reflections, each once.
    pub fn open_questions(&self) -> Vec<&str> {
        let mut open: Vec<&str> = Vec::new();
        for point in self.story.iter().flat_map(|telling| &telling.said.points) {
            if point.label == Label::Uncertain && !open.contains(&point.text.as_str()) {
                open.push(&point.text);
            }
        }
        open
    }
}

/// A decision or a reflection.
#[derive(Debug, Clone)]
pub struct Telling {
    /// Its line in the evidence, the opening being line 0.
    pub line: usize,
    /// Decision or reflection.
    pub kind: RecordType,
    pub timestamp: Timestamp,
    /// Its text.
    pub content: String,
    /// The same, point by point, with what its metadata adds.
    pub said: Points,
    /// Its metadata, as canonical JSON.
    pub metadata: Option<String>,
}

/// Reads evidence for the page until the page is full.
pub(super) struct EvidenceReader<'a> {
    git: &'a Git,
    tree: Option<TreeId>,
    /// How many bytes still fit into the page.
    room: usize,
}

impl<'a> EvidenceReader<'a> {
    pub(super) fn new(git: &'a Git, tree: Option<TreeId>) -> Self {
        Self { git, tree, room: MOST }
    }

    /// The evidence of a root.
    pub(super) fn read(&mut self, root: &RootHash) -> Embedded {
        let absent = |why: &str| Embedded::Absent(why.to_owned());
        let Some(tree) = &self.tree else { return absent("refs/proof/evidence is not in this clone") };
        let read = self.git.find_fanned(tree, &evidence_name(root)).and_then(|found| match found {
            Fanned::File(blob) => self.git.blob(&blob, MAX_EVIDENCE).map(Some),
            Fanned::Nothing | Fanned::Other => Ok(None),
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
    let (mut leaves, mut story, mut withheld) = (Vec::new(), Vec::<Telling>::new(), 0);
    let (mut seen, mut seen_in) = (Seen::default(), Vec::new());
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
        match &entry.body {
            Body::Thought { kind: kind @ (RecordType::Decision | RecordType::Reflection), content, .. } => {
                let metadata = entry.metadata.as_ref().map(ToString::to_string);
                if Marks::of(metadata.as_deref()).event == Some(Event::Restated) {
                    story.retain(|before| before.kind != *kind || before.content != **content);
                }
                let listed = metadata.as_deref().and_then(|text| serde_json::from_str(text).ok());
                story.push(Telling {
                    line: line_of,
                    kind: *kind,
                    timestamp: entry.timestamp,
                    content: content.to_string(),
                    said: Points::read(content, listed.as_ref()),
                    metadata,
                });
            }
            Body::Attest { attest } if scheme.covers_everything() && seen.add(attest) => seen_in.push(line_of),
            Body::Thought { .. } | Body::Attest { .. } => {}
        }
    });
    EmbeddedLines { lines, complete, leaves, opening, story, seen, seen_in, withheld }
}
