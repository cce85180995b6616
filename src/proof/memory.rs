//! What a session says of a note that it had in its working memory: the hash of its text, and never the text.

use super::canonical::{Malformed, Reader, Writer};
use super::digest::{TextHash, sha256};
use super::timestamp::Timestamp;

/// The body of the attestation that a packed note becomes. Only the tool writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryAttestation {
    /// When the note was put into working memory.
    pub put_at: Timestamp,
    /// SHA-256 of its text.
    pub text_hash: TextHash,
}

impl MemoryAttestation {
    /// Of a note.
    pub fn of(text: &str, put_at: Timestamp) -> Self {
        Self { put_at, text_hash: text_hash(text) }
    }

    /// The canonical text. Its one member is `memory`, so it is never one of a change, whose one member is `git`.
    pub fn to_text(&self) -> String {
        Writer::new()
            .begin()
            .key("memory")
            .begin()
            .key("put_at")
            .plain(&self.put_at)
            .key("text_hash")
            .plain(&self.text_hash)
            .end()
            .end()
            .finish()
    }

    /// Reads the canonical text.
    pub fn parse(text: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(text)?;
        reader.begin()?;
        reader.key("memory")?;
        reader.begin()?;
        reader.key("put_at")?;
        let put_at = reader.parsed("put_at", "a time such as 2026-03-01T09:00:00.000Z", Timestamp::parse)?;
        reader.key("text_hash")?;
        let text_hash = reader.parsed("text_hash", "a digest: 64 lower-case hex digits", TextHash::parse)?;
        reader.end()?;
        reader.end()?;
        reader.finish()?;
        Ok(Self { put_at, text_hash })
    }

    /// Whether a text claims to be such an attestation, well-formed or not: nobody but the tool may write one.
    pub fn is_claimed_by(text: &str) -> bool {
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text)
            .is_ok_and(|object| object.contains_key("memory"))
            || text.trim_start().starts_with("{\"memory\"")
    }
}

/// The hash by which a note is found again: that of its bytes and nothing else, so that `sha256sum` gives it too.
pub fn text_hash(text: &str) -> TextHash {
    TextHash::new(sha256(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::change::GitAttestation;

    fn attestation() -> MemoryAttestation {
        let Some(put_at) = Timestamp::parse("2026-03-01T09:00:00.000Z") else { unreachable!("it is a time") };
        MemoryAttestation::of("a note", put_at)
    }

    #[test]
    fn what_is_printed_is_what_is_parsed() {
        let text = attestation().to_text();
        assert_eq!(MemoryAttestation::parse(text.as_bytes()), Ok(attestation()));
        for wrong in [
            text.replace("put_at", "put"),
            text.replace('9', "x"),
            text.replace("{\"memory\"", "{\"git\""),
            format!(" {text}"),
            format!("{text}\n"),
            text.replace("}}", ",\"x\":1}}"),
        ] {
            assert!(MemoryAttestation::parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn it_is_never_taken_for_the_attestation_of_a_change() {
        let text = attestation().to_text();
        assert!(MemoryAttestation::is_claimed_by(&text));
        assert!(!GitAttestation::is_claimed_by(&text));
        assert!(GitAttestation::parse(text.as_bytes()).is_err());
    }

    #[test]
    fn the_text_itself_is_not_in_it() {
        assert!(!attestation().to_text().contains("a note"));
    }
}
