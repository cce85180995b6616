//! SSH signatures (PROTOCOL.sshsig of OpenSSH): read strictly and checked in process. Whose key it was, and whether that
//! counts, is for [`signers`](super::signers) to say.

mod armour;
mod key;
mod private;
mod rsa;
mod wire;

use std::fmt;

use sha2::Digest as _;

pub use armour::{from_armour, to_armour};
pub use key::{KeyError, PublicKey};
pub use private::{PrivateKeyError, ed25519_private_key};

use super::digest::sha256;
use key::{Key, Refusal};
use wire::{Wire, push_string};

/// The namespace of the signatures of anchors and seals: what was signed for another purpose says nothing here.
pub const NAMESPACE: &str = "git-proof";

/// Largest signature, in bytes. The largest that is supported, of an RSA key of 16,384 bits, has about 4,300.
pub const MAX_SIGNATURE: usize = 8192;

const MAGIC: &[u8; 6] = b"SSHSIG";

/// Why a signature does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignatureError {
    /// Not an SSHSIG blob, or not in its one spelling.
    Malformed,
    /// A version of the format that is not known.
    Version(u32),
    /// The key that it names cannot be used.
    Key(KeyError),
    /// Made for something else.
    Namespace(String),
    /// A hash that is not known.
    Hash(String),
    /// A kind of signature that the key should not make, such as one with SHA-1.
    Algorithm,
    /// Made by a hardware token without the touch of a person.
    NotPresent,
    /// Not made by this key, or not over these bytes.
    Invalid,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("not an SSH signature"),
            Self::Version(version) => write!(f, "an SSH signature of version {version}, which is not known"),
            Self::Key(error) => error.fmt(f),
            Self::Namespace(namespace) => write!(f, "made for the namespace {namespace:?}"),
            Self::Hash(name) => write!(f, "made with the hash {name:?}, which is not known"),
            Self::Algorithm => f.write_str("made with an algorithm that is not accepted for its key"),
            Self::NotPresent => f.write_str("made by a hardware token without the touch of a person"),
            Self::Invalid => f.write_str("not made by its key over these bytes"),
        }
    }
}

impl std::error::Error for SignatureError {}

impl From<KeyError> for SignatureError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<Refusal> for SignatureError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Malformed => Self::Malformed,
            Refusal::Algorithm => Self::Algorithm,
            Refusal::NotPresent => Self::NotPresent,
            Refusal::Invalid => Self::Invalid,
        }
    }
}

/// Checks that `blob` is a signature over `message` in this namespace, and says which key made it.
pub fn verify(blob: &[u8], message: &[u8], namespace: &str) -> Result<PublicKey, SignatureError> {
    let parts = Parts::read(blob)?;
    let key = Key::read(parts.key)?;
    if parts.namespace != namespace {
        return Err(SignatureError::Namespace(parts.namespace.to_owned()));
    }
    key.verify(&parts.signed(message)?, parts.signature)?;
    Ok(PublicKey::of(parts.key))
}

/// The key that a signature names; that it made the signature is not said.
pub fn claimed_key(blob: &[u8]) -> Result<PublicKey, SignatureError> {
    Ok(PublicKey::parse(Parts::read(blob)?.key)?)
}

/// The fields of a blob.
struct Parts<'a> {
    key: &'a [u8],
    namespace: &'a str,
    hash: &'a str,
    signature: &'a [u8],
}

impl<'a> Parts<'a> {
    fn read(blob: &'a [u8]) -> Result<Self, SignatureError> {
        const MALFORMED: SignatureError = SignatureError::Malformed;
        if blob.len() > MAX_SIGNATURE {
            return Err(MALFORMED);
        }
        let mut wire = Wire(blob.strip_prefix(MAGIC).ok_or(MALFORMED)?);
        let version = wire.number().ok_or(MALFORMED)?;
        if version != 1 {
            return Err(SignatureError::Version(version));
        }
        let mut fields = || {
            let (key, namespace, reserved) = (wire.string()?, wire.text()?, wire.string()?);
            let (hash, signature) = (wire.text()?, wire.string()?);
            wire.end()?;
            // Readers must ignore what is reserved, but it is signed: nothing may be put there that nobody reads.
            reserved.is_empty().then_some(Self { key, namespace, hash, signature })
        };
        fields().ok_or(MALFORMED)
    }

    /// What the key signs: the message's hash with what it was signed for.
    fn signed(&self, message: &[u8]) -> Result<Vec<u8>, SignatureError> {
        let mut signed = MAGIC.to_vec();
        push_string(&mut signed, self.namespace.as_bytes());
        push_string(&mut signed, b"");
        push_string(&mut signed, self.hash.as_bytes());
        match self.hash {
            "sha256" => push_string(&mut signed, &sha256(message)),
            "sha512" => push_string(&mut signed, &sha2::Sha512::digest(message)),
            other => return Err(SignatureError::Hash(other.to_owned())),
        }
        Ok(signed)
    }
}
