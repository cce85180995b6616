//! Checkpoints: the head of the log as a signed note in the form of C2SP's tlog-checkpoint, which witnesses and other
//! tools of transparency logs take.

use std::fmt;

use ed25519_dalek::{Signer as _, SigningKey};

use super::digest::sha256;
use super::note::Signature;
use super::seal::LogHead;

/// The algorithm byte of an Ed25519 signature of a note.
const ED25519: u8 = 1;

/// The name of a log, such as `example.org/proofs`: the first line of its checkpoints, and the name of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// What an origin may be.
    pub const RULE: &'static str = "1 to 200 characters without blanks and plus signs, such as example.org/proofs";

    /// Reads an origin.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |character: char| !character.is_whitespace() && !character.is_control() && character != '+';
        ((1..=200).contains(&text.len()) && text.chars().all(fits)).then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text that is signed.
pub fn text(origin: &Origin, log: &LogHead) -> String {
    format!("{origin}\n{}\n{}\n", log.size, base64(log.root.as_bytes()))
}

/// The signed note.
pub fn signed(origin: &Origin, log: &LogHead, key: &SigningKey) -> String {
    let text = text(origin, log);
    let signature = key.sign(text.as_bytes());
    let named = [&key_id(origin, key)[..], &signature.to_bytes()].concat();
    format!("{text}\n\u{2014} {origin} {}\n", base64(&named))
}

/// The line by which others know the key: name, id and public key.
pub fn verifier_key(origin: &Origin, key: &SigningKey) -> String {
    let id: String = key_id(origin, key).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{origin}+{id}+{}", base64(&[&[ED25519], &key.verifying_key().as_bytes()[..]].concat()))
}

/// The first four bytes of a hash of name and key.
fn key_id(origin: &Origin, key: &SigningKey) -> [u8; 4] {
    let named = [origin.0.as_bytes(), &[b'\n', ED25519], key.verifying_key().as_bytes()].concat();
    let [first, second, third, fourth, ..] = sha256(&named);
    [first, second, third, fourth]
}

fn base64(bytes: &[u8]) -> String {
    Signature(bytes.to_vec()).to_base64()
}
