//! Public keys of SSH, and whether one of them made a signature.
//!
//! A key has one spelling, so two keys are the same exactly if their bytes are. Certificates are refused: a signature
//! made with one is checked by listing the key itself, and that leaves out a second format with its own authority,
//! principals, times and options.

use std::fmt;

use ed25519_dalek::VerifyingKey as Ed25519;
use p256::ecdsa::signature::Verifier;

use super::rsa::{self, LEAST_BITS};
use super::wire::Wire;
use crate::proof::digest::sha256;
use crate::proof::note::Signature;

/// A public key that signatures can be checked with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(Vec<u8>);

/// Why a key is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyError {
    /// Not a key of the type that it names.
    Malformed,
    /// A type that is not known, or no longer safe.
    Unsupported(String),
    /// A certificate.
    Certificate,
    /// An RSA key of so many bits.
    TooShort(usize),
    /// A key for which anyone can make signatures.
    Weak,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("malformed key"),
            Self::Unsupported(name) => write!(f, "keys of type {name:?} are not supported"),
            Self::Certificate => f.write_str("certificates are not supported; list and use the key itself"),
            Self::TooShort(bits) => write!(f, "an RSA key of {bits} bits is too short, it takes {LEAST_BITS}"),
            Self::Weak => f.write_str("a weak key: anyone can make its signatures"),
        }
    }
}

impl std::error::Error for KeyError {}

impl PublicKey {
    /// Reads the bytes of a key, as they are in a signature and, in base64, in a public key file.
    pub fn parse(blob: &[u8]) -> Result<Self, KeyError> {
        Key::read(blob)?;
        Ok(Self(blob.to_vec()))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The type, such as `ssh-ed25519`.
    pub fn kind(&self) -> &str {
        Wire(&self.0).text().unwrap_or_default()
    }

    /// `SHA256:…`, as ssh-keygen prints it.
    pub fn fingerprint(&self) -> String {
        format!("SHA256:{}", Signature(sha256(&self.0).to_vec()).to_base64().trim_end_matches('='))
    }

    /// A key that has been read before.
    pub(super) fn of(blob: &[u8]) -> Self {
        Self(blob.to_vec())
    }
}

/// As in a public key file, without a comment.
impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), Signature(self.0.clone()).to_base64())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.fingerprint())
    }
}

/// A key, taken apart.
pub(super) enum Key<'a> {
    Ed25519(Ed25519),
    P256(p256::ecdsa::VerifyingKey),
    P384(p384::ecdsa::VerifyingKey),
    P521(p521::ecdsa::VerifyingKey),
    Rsa(rsa::Key<'a>),
    /// A key on a hardware token, with the application that it was made for.
    Token(TokenKey, &'a [u8]),
}

pub(super) enum TokenKey {
    Ed25519(Ed25519),
    P256(p256::ecdsa::VerifyingKey),
}

/// Why a signature is not that of a key.
pub(super) enum Refusal {
    /// Not a signature of the kind that the key makes.
    Malformed,
    /// Made with SHA-1, or with something else that is not known.
    Algorithm,
    /// Made by a token that nobody touched.
    NotPresent,
    /// Not of this key, or not over this message.
    Invalid,
}

const SK_ED25519: &str = "sk-ssh-ed25519@openssh.com";
const SK_ECDSA: &str = "sk-ecdsa-sha2-nistp256@openssh.com";

impl<'a> Key<'a> {
    /// Reads a key to its last byte.
    pub(super) fn read(blob: &'a [u8]) -> Result<Self, KeyError> {
        let mut wire = Wire(blob);
        let name = wire.text().ok_or(KeyError::Malformed)?;
        if name.ends_with("-cert-v01@openssh.com") {
            return Err(KeyError::Certificate);
        }
        let mut string = || wire.string().ok_or(KeyError::Malformed);
        let key = match name {
            "ssh-ed25519" => Self::Ed25519(ed25519(string()?)?),
            SK_ED25519 => Self::Token(TokenKey::Ed25519(ed25519(string()?)?), string()?),
            "ecdsa-sha2-nistp256" => Self::P256(point(string()?, "nistp256", string()?)?),
            "ecdsa-sha2-nistp384" => Self::P384(point(string()?, "nistp384", string()?)?),
            "ecdsa-sha2-nistp521" => Self::P521(point(string()?, "nistp521", string()?)?),
            SK_ECDSA => Self::Token(TokenKey::P256(point(string()?, "nistp256", string()?)?), string()?),
            "ssh-rsa" => {
                let (exponent, modulus) = (wire.positive(), wire.positive());
                let key = exponent.zip(modulus).and_then(|(exponent, modulus)| rsa::Key::new(exponent, modulus));
                let key = key.ok_or(KeyError::Malformed)?;
                if key.bits() < LEAST_BITS {
                    return Err(KeyError::TooShort(key.bits()));
                }
                Self::Rsa(key)
            }
            other => return Err(KeyError::Unsupported(other.to_owned())),
        };
        wire.end().ok_or(KeyError::Malformed)?;
        Ok(key)
    }

    /// Whether this key made this signature, of the form in which SSH sends it, over this message.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Refusal> {
        let mut wire = Wire(signature);
        let name = wire.text().ok_or(Refusal::Malformed)?;
        let body = wire.string().ok_or(Refusal::Malformed)?;
        let touch = match self {
            Self::Token(..) => wire.byte().zip(wire.number()).ok_or(Refusal::Malformed)?,
            _ => (0, 0),
        };
        wire.end().ok_or(Refusal::Malformed)?;
        match (self, name) {
            (Self::Ed25519(key), "ssh-ed25519") => verify_ed25519(key, message, body),
            (Self::P256(key), "ecdsa-sha2-nistp256") => ecdsa::<32, p256::ecdsa::Signature>(key, message, body),
            (Self::P384(key), "ecdsa-sha2-nistp384") => ecdsa::<48, p384::ecdsa::Signature>(key, message, body),
            (Self::P521(key), "ecdsa-sha2-nistp521") => ecdsa::<66, p521::ecdsa::Signature>(key, message, body),
            (Self::Rsa(key), "rsa-sha2-256") => key.verify(rsa::Hash::Sha256, message, body),
            (Self::Rsa(key), "rsa-sha2-512") => key.verify(rsa::Hash::Sha512, message, body),
            (Self::Token(key @ TokenKey::Ed25519(_), application), SK_ED25519)
            | (Self::Token(key @ TokenKey::P256(_), application), SK_ECDSA) => {
                key.verify(application, touch, message, body)
            }
            // Among them `ssh-rsa`, which is SHA-1.
            _ => Err(Refusal::Algorithm),
        }
    }
}

impl TokenKey {
    /// A token signs the hash of its application, what it did, and the hash of the message (PROTOCOL.u2f).
    fn verify(&self, application: &[u8], touch: (u8, u32), message: &[u8], body: &[u8]) -> Result<(), Refusal> {
        const USER_PRESENT: u8 = 1;
        let (flags, counter) = touch;
        let mut told = sha256(application).to_vec();
        told.push(flags);
        told.extend_from_slice(&counter.to_be_bytes());
        told.extend_from_slice(&sha256(message));
        match self {
            Self::Ed25519(key) => verify_ed25519(key, &told, body)?,
            Self::P256(key) => ecdsa::<32, p256::ecdsa::Signature>(key, &told, body)?,
        }
        // `ssh-keygen -Y verify` does not ask for it, sshd does. A signature for a threshold of people needs a person.
        if flags & USER_PRESENT == 0 { Err(Refusal::NotPresent) } else { Ok(()) }
    }
}

/// A key that is a point in its one spelling, and not one of the eight for which any signature can be made to fit.
fn ed25519(bytes: &[u8]) -> Result<Ed25519, KeyError> {
    let bytes: &[u8; 32] = bytes.try_into().map_err(|_| KeyError::Malformed)?;
    // The crate reduces y, of which the numbers from 2^255 - 19 on are second spellings.
    let unreduced = bytes[0] >= 0xed && bytes[1..31].iter().all(|byte| *byte == 0xff) && bytes[31] & 0x7f == 0x7f;
    if unreduced {
        return Err(KeyError::Malformed);
    }
    let key = Ed25519::from_bytes(bytes).map_err(|_| KeyError::Malformed)?;
    if key.is_weak() { Err(KeyError::Weak) } else { Ok(key) }
}

/// Strict: no second signature can be made from a valid one. What signers make passes here as it does in OpenSSH.
fn verify_ed25519(key: &Ed25519, message: &[u8], signature: &[u8]) -> Result<(), Refusal> {
    let signature = ed25519_dalek::Signature::from_slice(signature).map_err(|_| Refusal::Malformed)?;
    key.verify_strict(message, &signature).map_err(|_| Refusal::Invalid)
}

/// A key on a NIST curve, uncompressed: the only form that OpenSSH writes or reads.
fn point<K: for<'b> TryFrom<&'b [u8]>>(named: &[u8], curve: &str, bytes: &[u8]) -> Result<K, KeyError> {
    if named != curve.as_bytes() || bytes.first() != Some(&4) {
        return Err(KeyError::Malformed);
    }
    K::try_from(bytes).map_err(|_| KeyError::Malformed)
}

/// A signature of two numbers, each of so many bytes. The hash is the one that belongs to the curve.
fn ecdsa<const SIZE: usize, S>(key: &impl Verifier<S>, message: &[u8], body: &[u8]) -> Result<(), Refusal>
where
    S: for<'b> TryFrom<&'b [u8]>,
{
    let mut wire = Wire(body);
    let mut both = Vec::with_capacity(2 * SIZE);
    for _ in 0..2 {
        let number = wire.positive().filter(|number| number.len() <= SIZE).ok_or(Refusal::Malformed)?;
        both.resize(both.len() + SIZE - number.len(), 0);
        both.extend_from_slice(number);
    }
    wire.end().ok_or(Refusal::Malformed)?;
    let signature = S::try_from(&both).map_err(|_| Refusal::Malformed)?;
    key.verify(message, &signature).map_err(|_| Refusal::Invalid)
}
