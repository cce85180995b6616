//! The four ways to hash a session. A session names its scheme when it starts, and anchors repeat it.

use super::digest::{ChainHash, ContentHash, NodeHash, hex32, sha256, sha256_pair};
use super::schema::{name_schema, names};

names! {
    /// How genesis, content, chain and tree are hashed.
    #[derive(PartialOrd, Ord, Default)]
    pub enum Scheme {
        /// Ordered tree; the odd node of a level is paired with itself.
        #[default]
        V1 = "v1",
        /// Leaves sorted, each pair sorted: the root does not depend on the order of recording.
        V1Sorted = "v1-sorted",
        /// The tree of RFC 9162: leaves and inner nodes are hashed apart, an odd node moves up as it is.
        V1Rfc9162 = "v1-rfc9162",
        /// As the donor system hashed: zero genesis, content alone, hex text concatenated.
        AmsV0 = "ams-v0",
    }
}

impl Scheme {
    /// The names, for error messages.
    pub const RULE: &'static str = "a scheme: v1, v1-sorted, v1-rfc9162 or ams-v0";

    /// Whether the hashes cover all that an entry says and the order of all entries. Only then can a root be rooted
    /// in a commit, or prove that a reflection came last.
    pub const fn covers_everything(self) -> bool {
        matches!(self, Self::V1 | Self::V1Rfc9162)
    }

    /// The chain hash that the first entry has for a parent.
    pub fn genesis(self, opening_line: &[u8]) -> ChainHash {
        match self {
            Self::AmsV0 => ChainHash::ZERO,
            _ => ChainHash::new(sha256(opening_line)),
        }
    }

    /// The content hash of an entry, from its line and its text.
    pub fn content_hash(self, line: &[u8], text: &str) -> ContentHash {
        ContentHash::new(match self {
            Self::AmsV0 => sha256(text.as_bytes()),
            _ => sha256(line),
        })
    }

    /// The chain hash of an entry.
    pub fn chain_hash(self, content: &ContentHash, prev: &ChainHash) -> ChainHash {
        ChainHash::new(match self {
            Self::AmsV0 => sha256_hex_pair(content.as_bytes(), prev.as_bytes()),
            _ => sha256_pair(content.as_bytes(), prev.as_bytes()),
        })
    }

    /// The leaf of the tree for a content hash.
    pub fn leaf(self, content: &ContentHash) -> NodeHash {
        match self {
            Self::V1Rfc9162 => rfc9162_leaf(content.as_bytes()),
            _ => NodeHash::new(*content.as_bytes()),
        }
    }

    /// The node above two nodes.
    #[inline]
    pub fn node(self, left: &NodeHash, right: &NodeHash) -> NodeHash {
        let (left, right) = (left.as_bytes(), right.as_bytes());
        NodeHash::new(match self {
            Self::V1 => sha256_pair(left, right),
            Self::V1Sorted => sha256_pair(left.min(right), left.max(right)),
            Self::V1Rfc9162 => return rfc9162_node(left, right),
            Self::AmsV0 => sha256_hex_pair(left, right),
        })
    }

    /// The parent of the last node of a level that has no neighbour.
    pub(crate) fn lone(self, node: &NodeHash) -> NodeHash {
        if self.doubles() { self.node(node, node) } else { *node }
    }

    /// Whether the odd node of a level is paired with itself.
    pub(crate) const fn doubles(self) -> bool {
        !matches!(self, Self::V1Rfc9162)
    }
}

/// The leaf hash of RFC 9162.
pub(super) fn rfc9162_leaf(data: &[u8]) -> NodeHash {
    let mut message = Vec::with_capacity(1 + data.len());
    message.push(0);
    message.extend_from_slice(data);
    NodeHash::new(sha256(&message))
}

/// The node hash of RFC 9162.
fn rfc9162_node(left: &[u8; 32], right: &[u8; 32]) -> NodeHash {
    let mut message = [1; 65];
    message[1..33].copy_from_slice(left);
    message[33..].copy_from_slice(right);
    NodeHash::new(sha256(&message))
}

fn sha256_hex_pair(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    let mut message = [0; 128];
    message[..64].copy_from_slice(&hex32(left));
    message[64..].copy_from_slice(&hex32(right));
    sha256(&message)
}

name_schema!(Scheme);
