//! The lines of a commit's note. Each stands for itself and order does not matter, so notes merge as sets of lines.

use super::anchor::{ANCHOR_TYPE, Anchor};
use super::canonical::{Field, Malformed, Reader, member};
use super::digest::SealHash;
use super::word::{WORD_TYPE, Word};

/// Longest line of a note, in bytes.
pub const MAX_LINE: usize = 1 << 20;

/// One line of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteLine {
    /// An anchor, with the signature of one signer or none.
    Anchor {
        /// The anchor.
        anchor: Box<Anchor>,
        /// Its signature.
        signature: Option<Signature>,
    },
    /// A signature of the seal whose commit carries the note.
    Seal {
        /// Which seal.
        seal: SealHash,
        /// Its signature.
        signature: Signature,
    },
    /// A person's word for the commit. Never without a signature: nobody's word is none.
    Word {
        /// What is said.
        word: Box<Word>,
        /// By whom.
        signature: Signature,
    },
    /// A well-formed statement of a type that this version does not know; never taken for an answer.
    Unknown {
        /// The type that it names.
        kind: String,
    },
}

/// An SSH signature: the bytes of an SSHSIG blob. Whether it is one, and whose, is for others to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature(pub Vec<u8>);

impl NoteLine {
    /// The line, without its newline.
    pub fn to_line(&self) -> Option<String> {
        let mut line = "{".to_owned();
        match self {
            Self::Anchor { anchor, signature } => {
                member(&mut line, "anchor", &**anchor);
                if let Some(signature) = signature {
                    member(&mut line, "signature", signature);
                }
            }
            Self::Seal { seal, signature } => {
                member(&mut line, "seal", seal);
                member(&mut line, "signature", signature);
            }
            Self::Word { word, signature } => {
                member(&mut line, "signature", signature);
                member(&mut line, "word", &**word);
            }
            Self::Unknown { .. } => return None,
        }
        Some(line + "}")
    }

    /// Reads a line, without its newline; `None` for a blank one.
    pub fn parse(line: &[u8]) -> Result<Option<Self>, Malformed> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        if line.len() > MAX_LINE {
            return Err(Malformed::expected("", "a line of at most 1 MiB"));
        }
        match Self::known(line) {
            Ok(known) => Ok(Some(known)),
            Err(malformed) => unknown(line).map(Some).ok_or(malformed),
        }
    }

    fn known(line: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(line)?;
        reader.begin()?;
        let known = if reader.try_key("seal") {
            Self::Seal { seal: Field::read(&mut reader, "seal")?, signature: reader.member("signature")? }
        } else if reader.try_key("signature") {
            let signature = Field::read(&mut reader, "signature")?;
            Self::Word { word: Box::new(reader.member("word")?), signature }
        } else {
            let anchor = Box::new(reader.member("anchor")?);
            let signed = reader.try_key("signature");
            Self::Anchor { anchor, signature: signed.then(|| Field::read(&mut reader, "signature")).transpose()? }
        };
        reader.end()?;
        reader.finish()?;
        Ok(known)
    }
}

/// A line of a later version: one canonical object whose first member is an object that names its `type`, with or
/// without a signature. A statement of a type that is known and did not parse is not of a later version, it is malformed.
fn unknown(line: &[u8]) -> Option<NoteLine> {
    let mut reader = Reader::new(line).ok()?;
    reader.value("").ok()?;
    reader.finish().ok()?;
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(line).ok()?;
    let mut statements = object.iter().filter(|(key, _)| *key != "signature");
    let (_, statement) = statements.next()?;
    let kind = statement.get("type")?.as_str()?;
    let named = kind.split_once('@').is_some_and(|(name, version)| {
        name.contains('/')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.'))
            && !version.is_empty()
            && version.len() < 10
            && version.bytes().all(|byte| byte.is_ascii_digit())
    });
    let known = [ANCHOR_TYPE, WORD_TYPE].contains(&kind);
    (statements.next().is_none() && named && !known).then(|| NoteLine::Unknown { kind: kind.to_owned() })
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Signature {
    /// Standard base64 with padding, on one line.
    pub fn to_base64(&self) -> String {
        let mut text = String::with_capacity(self.0.len().div_ceil(3) * 4);
        for chunk in self.0.chunks(3) {
            let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
            for digit in 0..4 {
                let value = bits >> (18 - 6 * digit) & 63;
                text.push(if digit > chunk.len() { '=' } else { char::from(ALPHABET[value as usize]) });
            }
        }
        text
    }

    /// Reads what [`to_base64`](Self::to_base64) prints: padded, no spare bits, nothing else.
    pub fn from_base64(text: &str) -> Option<Self> {
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
        for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
            let mut bits = 0u32;
            for byte in chunk {
                let value = ALPHABET.iter().position(|letter| letter == byte)?;
                bits = bits << 6 | u32::try_from(value).ok()?;
            }
            bits <<= 6 * (4 - chunk.len());
            bytes.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
        }
        let signature = Self(bytes);
        (!signature.0.is_empty() && signature.to_base64() == text).then_some(signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_in_one_spelling_only() {
        for (text, bytes) in [("TWFu", &b"Man"[..]), ("TWE=", b"Ma"), ("TQ==", b"M"), ("+/+/", &[0xfb, 0xff, 0xbf])] {
            assert_eq!(Signature::from_base64(text), Some(Signature(bytes.to_vec())), "{text}");
            assert_eq!(Signature(bytes.to_vec()).to_base64(), text);
        }
        for bad in ["", "T", "TQ", "TQ=", "TR==", "TWE", "TWF=", "TW Fu", "TWFu\n", "TWFu=", "====", "-_-_", "TWFuT"] {
            assert_eq!(Signature::from_base64(bad), None, "{bad}");
        }
    }
}
