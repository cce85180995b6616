//! The note of a commit: its anchors, the words of people, and what is wrong with other lines.

use std::collections::HashMap;

use crate::git::ObjectError;
use crate::git::limits::MAX_NOTE_LINES;
use crate::hint::{Step, hint};
use crate::proof::anchor::Anchor;
use crate::proof::digest::{AnchorId, RootHash};
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::note::{NoteLine, Signature};
use crate::proof::word::Word;

/// What was found in the note of a commit.
#[derive(Debug, Default)]
pub(super) struct Note {
    /// Its anchors, each once, with the signature of every line that has it, or none.
    pub(super) anchors: Vec<(Anchor, Vec<Option<Signature>>)>,
    /// What people say of the commit, a line each.
    pub(super) words: Vec<(Word, Signature)>,
    /// What is wrong with other lines.
    pub(super) findings: Vec<Finding>,
    /// About how many bytes it takes.
    pub(super) size: usize,
}

impl Note {
    /// The roots that its anchors name.
    pub(super) fn roots(&self) -> impl Iterator<Item = RootHash> {
        self.anchors.iter().map(|(anchor, _)| anchor.root)
    }
}

pub(super) fn unreadable(error: &ObjectError) -> Finding {
    match error {
        ObjectError::Missing(_) => Finding::unchecked(FindingCode::ObjectMissing, error.to_string()).hint(hint!(
            Step::Sync,
            ", or ",
            Step::GitFetchRef("refs/notes/proof".into())
        )),
        ObjectError::Damaged(..) => Finding::error(FindingCode::AnchorMalformed, error.to_string()),
        ObjectError::Limit(..) => Finding::unchecked(FindingCode::LimitReached, error.to_string()),
    }
}

/// Where the anchors of a note are. A few are compared; of many, each is known by its id, so that a note that anyone may
/// fill takes as long as it is.
#[derive(Default)]
struct Places {
    by_id: HashMap<AnchorId, usize>,
}

impl Places {
    const FEW: usize = 8;

    /// The place of an anchor; the next free one if it is not there, where it is put then.
    fn of(&mut self, anchor: &Anchor, anchors: &[(Anchor, Vec<Option<Signature>>)]) -> usize {
        if anchors.len() < Self::FEW {
            return anchors.iter().position(|(known, _)| known == anchor).unwrap_or(anchors.len());
        }
        if self.by_id.is_empty() {
            self.by_id = anchors.iter().enumerate().map(|(at, (known, _))| (known.id(), at)).collect();
        }
        *self.by_id.entry(anchor.id()).or_insert(anchors.len())
    }
}

pub(super) fn read_lines(text: &[u8], note: &mut Note) {
    let mut places = Places::default();
    note.size += size_of::<Note>() + text.len();
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if number > MAX_NOTE_LINES {
            let message = format!("the note has more than the {MAX_NOTE_LINES} lines that are read");
            note.findings.push(Finding::unchecked(FindingCode::LimitReached, message));
            return;
        }
        match NoteLine::parse(line) {
            Ok(None) => {}
            Ok(Some(NoteLine::Anchor { anchor, signature })) => {
                let place = places.of(&anchor, &note.anchors);
                match note.anchors.get_mut(place) {
                    Some((_, signatures)) => signatures.push(signature),
                    None => {
                        if place == 0 {
                            // Nearly always the only one, and there are many notes: no room for more.
                            note.anchors.reserve_exact(1);
                        }
                        note.anchors.push((*anchor, vec![signature]));
                    }
                }
            }
            Ok(Some(NoteLine::Word { word, signature })) => {
                note.words.push((*word, signature));
            }
            Ok(Some(NoteLine::Seal { .. })) => note.findings.push(Finding::warning(
                FindingCode::AnchorMalformed,
                "a signature of a seal, in the note of a commit that is none",
            )),
            Ok(Some(NoteLine::Unknown { kind })) => note.findings.push(
                Finding::warning(FindingCode::AnchorMalformed, format!("a line of a type not known here: {kind}"))
                    .hint("a later version of git-proof may read it"),
            ),
            Err(error) => {
                note.findings
                    .push(Finding::error(FindingCode::AnchorMalformed, format!("a line of the note: {error}")));
            }
        }
    }
}
