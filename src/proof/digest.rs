//! SHA-256 digests, one type per role, and the ids that git gives its objects.
//!
//! A chain hash passed where a root belongs does not compile. Every type is parsed strictly (exactly 64 lower-case
//! hex digits) and printed as it is parsed.

use std::fmt;

use super::schema::text_schema;
use sha2::block_api::compress256;

/// The initial state of SHA-256 (FIPS 180-4, 5.3.3).
const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The padding block that follows a message of exactly 64 bytes.
const PADDING_AFTER_64: [u8; 64] = {
    let mut block = [0; 64];
    block[0] = 0x80;
    block[62] = 0x02; // 512 bits
    block
};

/// SHA-256 of some bytes that are all at hand.
///
/// Calls the compression function itself, as `sha256_pair` does: most of what is hashed are lines of a few blocks.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut state = INITIAL;
    compress256(&mut state, blocks);
    let mut last = [[0; 64]; 2];
    last[0][..rest.len()].copy_from_slice(rest);
    last[0][rest.len()] = 0x80;
    // The length in bits ends the last block, be it the one that the rest is in or one more.
    let end = usize::from(rest.len() > 55);
    last[end][56..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    compress256(&mut state, &last[..=end]);
    digest_of(state)
}

/// SHA-256 of two digests side by side: the work of every chain link and every tree node.
///
/// Calls the compression function itself. The general `Digest` interface buffers and counts, which makes a tree of
/// a million leaves a quarter slower (`cargo bench --bench tree`).
#[inline]
pub(crate) fn sha256_pair(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    let mut blocks = [[0; 64], PADDING_AFTER_64];
    blocks[0][..32].copy_from_slice(left);
    blocks[0][32..].copy_from_slice(right);
    let mut state = INITIAL;
    compress256(&mut state, &blocks);
    digest_of(state)
}

#[inline]
fn digest_of(state: [u32; 8]) -> [u8; 32] {
    let mut out = [0; 32];
    for (bytes, word) in out.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    out
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Lower-case hex digits of a digest, without allocating.
pub(crate) fn hex32(bytes: &[u8; 32]) -> [u8; 64] {
    let mut out = [0; 64];
    for (pair, byte) in out.chunks_exact_mut(2).zip(bytes) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 15)];
    }
    out
}

/// The value of each lower-case hex digit; 0xff for every other byte.
const NIBBLE: [u8; 256] = {
    let mut table = [0xff; 256];
    let mut value: u8 = 0;
    while value < 16 {
        table[HEX[value as usize] as usize] = value;
        value += 1;
    }
    table
};

/// Reads lower-case hex into `out`; the text must have exactly twice its length.
fn unhex(text: &[u8], out: &mut [u8]) -> bool {
    let mut wrong = 0;
    for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
        let (high, low) = (NIBBLE[usize::from(pair[0])], NIBBLE[usize::from(pair[1])]);
        wrong |= (high | low) & 0xf0;
        *byte = (high << 4) | (low & 15);
    }
    text.len() == out.len() * 2 && wrong == 0
}

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        impl $name {
            /// A digest in this role.
            pub const fn new(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// The 32 bytes.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }

            /// Reads exactly 64 lower-case hex digits.
            pub fn parse(text: &str) -> Option<Self> {
                let mut bytes = [0; 32];
                unhex(text.as_bytes(), &mut bytes).then_some(Self(bytes))
            }

        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let hex = hex32(&self.0);
                f.pad(std::str::from_utf8(&hex).map_err(|_| fmt::Error)?)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

roles! {
    /// Hash of an entry's bytes, which name its parent; the content of a leaf.
    ContentHash
    /// An entry's content hash joined with its parent's chain hash. The genesis stands in for the first parent.
    ChainHash
    /// A node of a tree: a leaf after the scheme's leaf rule, or an inner node.
    NodeHash
    /// The root of a session's tree, of a round's tree, or of the log. Means nothing without its count.
    RootHash
    /// SHA-256 of a canonical anchor.
    AnchorId
    /// SHA-256 of a session's evidence with nothing withheld: the name of its archive.
    ArchiveHash
    /// SHA-256 of a seal's bytes.
    SealHash
    /// The id of a change, the same in every commit that makes it.
    ChangeId
    /// SHA-256 of the text of a note in working memory.
    TextHash
    /// SHA-256 of a salt and the text of a note after it. Without the salt it says nothing of the text.
    Commitment
    /// No digest but 32 random bytes, which stay in the store.
    Salt
    /// SHA-256 of the beginning of an agent's transcript.
    TranscriptHash
    /// SHA-256 of what a verdict rested on: anchors, evidence and lines of the index.
    ProofsDigest
}

text_schema!(ContentHash ChainHash NodeHash RootHash AnchorId ArchiveHash SealHash TextHash Commitment Salt TranscriptHash ProofsDigest: "Hash", "^[0-9a-f]{64}$");

impl ChainHash {
    /// 64 zeros: the genesis of scheme `ams-v0`.
    pub const ZERO: Self = Self([0; 32]);
}

impl From<NodeHash> for RootHash {
    fn from(node: NodeHash) -> Self {
        Self(node.0)
    }
}

/// An object id of git: 20 bytes in a SHA-1 repository, 32 in a SHA-256 one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    bytes: [u8; 32],
    len: u8,
}

impl ObjectId {
    /// Reads exactly 40 or exactly 64 lower-case hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        let len = match text.len() {
            40 => 20,
            64 => 32,
            _ => return None,
        };
        let mut bytes = [0; 32];
        unhex(text.as_bytes(), &mut bytes[..usize::from(len)]).then_some(Self { bytes, len })
    }

    /// An id of 20 or 32 bytes.
    pub fn from_bytes(raw: &[u8]) -> Option<Self> {
        let len = u8::try_from(raw.len()).ok().filter(|len| matches!(len, 20 | 32))?;
        let mut bytes = [0; 32];
        bytes.get_mut(..raw.len())?.copy_from_slice(raw);
        Some(Self { bytes, len })
    }

    /// Whether both are of repositories of one kind.
    pub fn is_as_long_as(&self, other: &Self) -> bool {
        self.len == other.len
    }

    /// The 20 or 32 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = hex32(&self.bytes);
        f.pad(std::str::from_utf8(&hex[..usize::from(self.len) * 2]).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub ObjectId);

        impl $name {
            /// Reads exactly 40 or exactly 64 lower-case hex digits.
            pub fn parse(text: &str) -> Option<Self> {
                ObjectId::parse(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

objects! {
    /// The id of a commit.
    CommitId
    /// The id of a tree.
    TreeId
}

text_schema!(CommitId: "ObjectId", "^([0-9a-f]{40}|[0-9a-f]{64})$");

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn digest_is_that_of_the_general_interface_at_every_length_around_a_block() {
        let bytes: Vec<u8> = (0..=255).cycle().take(300).collect();
        for length in 0..=bytes.len() {
            assert_eq!(sha256(&bytes[..length]), <[u8; 32]>::from(Sha256::digest(&bytes[..length])), "{length}");
        }
    }

    #[test]
    fn pair_is_sha256_of_the_concatenation() {
        let (left, right) = (sha256(b"left"), sha256(b"right"));
        assert_eq!(sha256_pair(&left, &right), sha256(&[left, right].concat()));
    }

    #[test]
    fn digest_is_parsed_strictly_and_printed_as_parsed() {
        let text = "00ff".repeat(16);
        assert_eq!(ChainHash::parse(&text).map(|hash| hash.to_string()), Some(text.clone()));
        for bad in
            [text.to_uppercase(), text[1..].to_owned(), format!("{text}0"), format!(" {}", &text[1..]), String::new()]
        {
            assert_eq!(ChainHash::parse(&bad), None, "{bad}");
        }
    }

    #[test]
    fn object_id_is_40_or_64_digits_and_nothing_between() {
        for len in 0..=70 {
            let text = "a".repeat(len);
            let parsed = ObjectId::parse(&text);
            assert_eq!(parsed.is_some(), len == 40 || len == 64, "{len}");
            assert_eq!(parsed.map_or(text.clone(), |id| id.to_string()), text);
        }
    }
}
