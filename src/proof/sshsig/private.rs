//! Private Ed25519 keys in OpenSSH's file format, without a passphrase: what signs a checkpoint, which is not an SSH
//! signature and so is nothing that ssh-keygen could make.

use std::fmt;

use ed25519_dalek::SigningKey;

use super::wire::Wire;
use crate::proof::note::Signature;

const BEGIN: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";
const END: &str = "-----END OPENSSH PRIVATE KEY-----";
const MAGIC: &[u8] = b"openssh-key-v1\0";

/// Why a file gives no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivateKeyError {
    /// It is no private key of OpenSSH.
    Format,
    /// A passphrase protects it.
    Encrypted,
    /// It is of another kind than Ed25519.
    Kind,
}

impl fmt::Display for PrivateKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format => "it is not a private key as ssh-keygen writes it",
            Self::Encrypted => "a passphrase protects it",
            Self::Kind => "it is not an Ed25519 key",
        })
    }
}

impl std::error::Error for PrivateKeyError {}

/// Reads the text of a key file.
pub fn ed25519_private_key(text: &str) -> Result<SigningKey, PrivateKeyError> {
    let mut lines = text.trim_ascii().lines();
    if lines.next() != Some(BEGIN) || lines.next_back() != Some(END) {
        return Err(PrivateKeyError::Format);
    }
    let Signature(bytes) = Signature::from_base64(&lines.collect::<String>()).ok_or(PrivateKeyError::Format)?;
    let mut outer = Wire(bytes.strip_prefix(MAGIC).ok_or(PrivateKeyError::Format)?);
    let (cipher, kdf, _options, keys) =
        (|| Some((outer.text()?, outer.text()?, outer.string()?, outer.number()?)))().ok_or(PrivateKeyError::Format)?;
    if cipher != "none" || kdf != "none" {
        return Err(PrivateKeyError::Encrypted);
    }
    let secret = (|| {
        let _public = outer.string()?;
        let secret = outer.string()?;
        outer.end()?;
        (keys == 1).then_some(secret)
    })();
    let mut inner = Wire(secret.ok_or(PrivateKeyError::Format)?);
    let kind = (|| (inner.number()? == inner.number()?).then_some(inner.text()?))().ok_or(PrivateKeyError::Format)?;
    if kind != "ssh-ed25519" {
        return Err(PrivateKeyError::Kind);
    }
    (|| {
        let public = inner.string()?;
        let (seed, again) = inner.string()?.split_first_chunk::<32>()?;
        let key = SigningKey::from_bytes(seed);
        // Both copies of the public half must be that of the seed: signing with another gives the seed away.
        (again == public && key.verifying_key().as_bytes() == public).then_some(key)
    })()
    .ok_or(PrivateKeyError::Format)
}
