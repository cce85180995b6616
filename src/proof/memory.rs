//! What a session says of a note that it had in its working memory: a commitment to its text, and never the text.

use super::canonical::{Malformed, Reader, Writer};
use super::digest::{Commitment, Salt, TextHash, sha256};
use super::timestamp::Timestamp;

/// The body of the attestation that a packed note becomes. Only the tool writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryAttestation {
    /// When the note was put into working memory.
    pub put_at: Timestamp,
    /// How it names the text.
    pub text: Attested,
}

/// How an attestation names the text of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attested {
    /// By a commitment, which can be checked by whoever has the salt and the text.
    Committed(Commitment),
    /// By the hash of the text, from which a short text can be guessed. The first version wrote this; it is only read.
    Hashed(TextHash),
}

impl MemoryAttestation {
    /// Of a note.
    pub fn of(salt: &Salt, text: &str, put_at: Timestamp) -> Self {
        Self { put_at, text: Attested::Committed(commitment(salt, text)) }
    }

    /// Whether it is that of a text. One that commits to it can only be checked with the salt.
    pub fn names(&self, salt: Option<&Salt>, text: &str) -> bool {
        match (self.text, salt) {
            (Attested::Committed(said), Some(salt)) => said == commitment(salt, text),
            (Attested::Committed(_), None) => false,
            (Attested::Hashed(said), _) => said == text_hash(text),
        }
    }

    /// The canonical text. Its one member is `note`, or `memory` in the form of the first version, so it is never one of a
    /// change, whose one member is `git`.
    pub fn to_text(&self) -> String {
        let writer = Writer::new().begin();
        let writer = match &self.text {
            Attested::Committed(commitment) => {
                let note = writer.key("note").begin().key("commitment").plain(commitment);
                note.key("put_at").plain(&self.put_at)
            }
            Attested::Hashed(hash) => {
                writer.key("memory").begin().key("put_at").plain(&self.put_at).key("text_hash").plain(hash)
            }
        };
        writer.end().end().finish()
    }

    /// Reads the canonical text, in either form.
    pub fn parse(text: &[u8]) -> Result<Self, Malformed> {
        const TIME: &str = "a time such as 2026-03-01T09:00:00.000Z";
        const DIGEST: &str = "a digest: 64 lower-case hex digits";
        let mut reader = Reader::new(text)?;
        reader.begin()?;
        let said = if text.starts_with(b"{\"memory\"") {
            reader.key("memory")?;
            reader.begin()?;
            reader.key("put_at")?;
            let put_at = reader.parsed("put_at", TIME, Timestamp::parse)?;
            reader.key("text_hash")?;
            let hash = reader.parsed("text_hash", DIGEST, TextHash::parse)?;
            Self { put_at, text: Attested::Hashed(hash) }
        } else {
            reader.key("note")?;
            reader.begin()?;
            reader.key("commitment")?;
            let commitment = reader.parsed("commitment", DIGEST, Commitment::parse)?;
            reader.key("put_at")?;
            let put_at = reader.parsed("put_at", TIME, Timestamp::parse)?;
            Self { put_at, text: Attested::Committed(commitment) }
        };
        reader.end()?;
        reader.end()?;
        reader.finish()?;
        Ok(said)
    }

    /// Whether a text claims to be such an attestation, well-formed or not: nobody but the tool may write one.
    pub fn is_claimed_by(text: &str) -> bool {
        let object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).unwrap_or_default();
        let begins = |start| text.trim_start().starts_with(start);
        ["memory", "note"].iter().any(|key| object.contains_key(*key)) || begins("{\"memory\"") || begins("{\"note\"")
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
        let old = MemoryAttestation { put_at, text: Attested::Hashed(text_hash("a note")) };
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
