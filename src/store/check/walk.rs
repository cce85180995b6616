//! What holds of the rows: hashes, columns, links, tree nodes.

use super::fetch::{Batch, Fetched, Parent};
use super::{Break, BreakReason, ChainCheck};
use crate::proof::chain::Chain;
use crate::proof::digest::NodeHash;
use crate::proof::record::{Body, Entry, RecordType};
use crate::proof::scheme::Scheme;
use crate::proof::tree::{self, Frontier};
use crate::store::session::SessionRow;

/// The chain as far as it has been verified.
pub(super) struct Walk {
    scheme: Scheme,
    chain: Chain,
    tree: Frontier,
    unsorted: Vec<NodeHash>,
    check: ChainCheck,
}

impl Walk {
    pub(super) fn new(session: &SessionRow) -> Self {
        let scheme = session.scheme();
        let check =
            ChainCheck { records: 0, broken: None, head: session.genesis, root: None, blanked: 0, last_kind: None };
        let chain = Chain::new(scheme, session.genesis);
        Self { scheme, chain, tree: Frontier::new(scheme), unsorted: Vec::new(), check }
    }

    /// Takes up more rows; false once one does not hold.
    pub(super) fn verify(&mut self, batch: &Batch) -> bool {
        let mut nodes = batch.nodes.iter();
        self.check.broken = batch.rows.iter().find_map(|row| self.step(&batch.text, row, &mut nodes));
        self.check.broken.is_none()
    }

    fn step<'a>(
        &mut self,
        text: &[u8],
        row: &Fetched,
        nodes: &mut impl Iterator<Item = &'a Option<NodeHash>>,
    ) -> Option<Break> {
        let broken = |reason, expected: String, actual: String| {
            let id = String::from_utf8_lossy(&text[row.id.clone()]).into_owned();
            Some(Break { index: row.position, id, reason, expected, actual })
        };
        if row.position != self.check.records {
            let (expected, actual) = (self.check.records.to_string(), row.position.to_string());
            return broken(BreakReason::PositionMissing, expected, actual);
        }
        let kind = std::str::from_utf8(&text[row.kind.clone()]).ok().and_then(RecordType::parse);
        match &row.line {
            None => self.check.blanked += 1,
            Some(line) => {
                let line = &text[line.clone()];
                let entry = Entry::parse(line);
                let expected = self.scheme.content_hash(line, entry.as_ref().map_or("", |entry| entry.body.text()));
                let Some(entry) = entry.ok().filter(|_| expected == row.content_hash) else {
                    let (expected, actual) = (expected.to_string(), row.content_hash.to_string());
                    return broken(BreakReason::ContentHashMismatch, expected, actual);
                };
                if !row.agrees_with(text, &entry) {
                    return broken(BreakReason::ColumnsDiffer, "the hashed line".into(), "the row".into());
                }
            }
        }
        let parent = match row.parent {
            Parent::Genesis => Some(self.chain.genesis()),
            Parent::EntryBefore => Some(self.chain.head()),
            Parent::Branch(hash) => hash,
        };
        let linked = if parent == Some(row.prev_hash) {
            self.chain.append(&row.content_hash, &row.prev_hash).ok()
        } else {
            None
        };
        if linked != Some(row.chain_hash) {
            // With a foreign parent the stored hash may be right in itself: say what the named parent would give.
            let expected = self.scheme.chain_hash(&row.content_hash, &parent.unwrap_or(row.prev_hash));
            return broken(BreakReason::ChainHashMismatch, expected.to_string(), row.chain_hash.to_string());
        }
        let leaf = self.scheme.leaf(&row.content_hash);
        if self.scheme == Scheme::V1Sorted {
            self.unsorted.push(leaf);
        } else {
            let mut wrong = None;
            self.tree.push_each(leaf, |node| {
                if nodes.next() != Some(&Some(*node)) {
                    wrong = wrong.or(Some(*node));
                }
            });
            if let Some(node) = wrong {
                return broken(BreakReason::NodeMismatch, node.to_string(), "another node, or none".to_owned());
            }
        }
        self.check.records += 1;
        self.check.last_kind = kind;
        self.check.head = row.chain_hash;
        None
    }

    pub(super) fn finish(mut self) -> ChainCheck {
        if self.check.broken.is_none() {
            self.check.root = if self.scheme == Scheme::V1Sorted {
                self.unsorted.sort_unstable();
                tree::root_of(self.scheme, &self.unsorted, 1)
            } else {
                self.tree.root()
            };
        }
        self.check
    }
}

impl Fetched {
    /// Whether the columns say what the hashed line says.
    fn agrees_with(&self, text: &[u8], entry: &Entry<'_>) -> bool {
        let kind = match &entry.body {
            Body::Thought { kind, .. } => kind.as_str(),
            Body::Attest { .. } => "attest",
        };
        &text[self.id.clone()] == entry.id.as_str().as_bytes()
            && &text[self.timestamp.clone()] == entry.timestamp.as_str().as_bytes()
            && &text[self.kind.clone()] == kind.as_bytes()
            && self.prev_hash == entry.prev_hash
    }
}
