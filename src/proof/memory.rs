//! What a session says of a note that it had in its working memory: a commitment to its text, and never the text.

use super::canonical::{forms, has_key};
use super::digest::{Commitment, Salt, TextHash, sha256};
use super::timestamp::Timestamp;

forms! {
    /// The body of the attestation that a packed note becomes. Only the tool writes it. Its one member is `note`, or `memory` in
    /// the form of the first version, so it is never one of a change, whose one member is `git`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MemoryAttestation, "memory attestation" {
        /// Names the text by a commitment, which can be checked by whoever has the salt and the text.
        Committed["note"] {
            /// The commitment.
            commitment: Commitment,
            /// When the note was put into working memory.
            put_at: Timestamp,
        },
        /// Names the text by its hash, from which a short text can be guessed. The first version wrote this; it is only read.
        Hashed["memory"] {
            /// When the note was put into working memory.
            put_at: Timestamp,
            /// The hash.
            text_hash: TextHash,
        },
    }
}

impl MemoryAttestation {
    /// Of a note.
    pub fn of(salt: &Salt, text: &str, put_at: Timestamp) -> Self {
        Self::Committed { commitment: commitment(salt, text), put_at }
    }

    /// When the note was put into working memory.
    pub fn put_at(&self) -> Timestamp {
        match self {
            Self::Committed { put_at, .. } | Self::Hashed { put_at, .. } => *put_at,
        }
    }

    /// Whether it is that of a text. One that commits to it can only be checked with the salt.
    pub fn names(&self, salt: Option<&Salt>, text: &str) -> bool {
        match self {
            Self::Committed { commitment: said, .. } => salt.is_some_and(|salt| *said == commitment(salt, text)),
            Self::Hashed { text_hash: said, .. } => *said == text_hash(text),
        }
    }

    /// Whether a text claims to be such an attestation, well-formed or not: nobody but the tool may write one.
    pub fn is_claimed_by(text: &str) -> bool {
        has_key(text, &["memory", "note"])
    }
}

/// The hash by which a note is found again in the store: that of its bytes and nothing else, so that `sha256sum` gives it
/// too.
pub fn text_hash(text: &str) -> TextHash {
    TextHash::new(sha256(text.as_bytes()))
}

/// What is published of a note: SHA-256 of the 32 bytes of the salt, followed by those of the text.
pub fn commitment(salt: &Salt, text: &str) -> Commitment {
    Commitment::new(sha256(&[salt.as_bytes(), text.as_bytes()].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::change::GitAttestation;

    const SALT: Salt = Salt::new([7; 32]);

    fn both() -> [MemoryAttestation; 2] {
        let Some(put_at) = Timestamp::parse("2026-03-01T09:00:00.000Z") else { unreachable!("it is a time") };
        let old = MemoryAttestation::Hashed { put_at, text_hash: text_hash("a note") };
        [MemoryAttestation::of(&SALT, "a note", put_at), old]
    }

    #[test]
    fn what_is_printed_is_what_is_parsed() {
        for said in both() {
            let text = said.to_text();
            assert_eq!(MemoryAttestation::parse(text.as_bytes()), Ok(said));
            for wrong in [
                text.replace("put_at", "put"),
                text.replace('9', "x"),
                text.replace("{\"memory\"", "{\"git\"").replace("{\"note\"", "{\"git\""),
                text.replace("{\"memory\"", "{\"x\"")
                    .replace("{\"note\"", "{\"memory\"")
                    .replace("{\"x\"", "{\"note\""),
                format!(" {text}"),
                format!("{text}\n"),
                text.replace("}}", ",\"x\":1}}"),
            ] {
                assert!(MemoryAttestation::parse(wrong.as_bytes()).is_err(), "{wrong}");
            }
        }
    }

    #[test]
    fn it_is_never_taken_for_the_attestation_of_a_change() {
        for text in both().map(|said| said.to_text()) {
            assert!(MemoryAttestation::is_claimed_by(&text));
            assert!(!GitAttestation::is_claimed_by(&text));
            assert!(GitAttestation::parse(text.as_bytes()).is_err());
        }
    }

    #[test]
    fn only_its_text_is_named_and_only_with_its_salt() {
        let [new, old] = both();
        assert!(new.names(Some(&SALT), "a note") && old.names(None, "a note"));
        assert!(!new.names(Some(&SALT), "another") && !old.names(None, "another"));
        assert!(!new.names(Some(&Salt::new([8; 32])), "a note") && !new.names(None, "a note"));
    }

    #[test]
    fn neither_the_text_nor_its_hash_is_in_a_new_one() {
        let [new, _] = both();
        assert!(!new.to_text().contains("a note"));
        assert!(!new.to_text().contains(&text_hash("a note").to_string()));
    }
}
