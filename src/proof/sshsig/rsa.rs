//! RSA signatures: PKCS #1 v1.5 (RFC 8017, 8.2.2), checked by writing down what the one valid message is and comparing.
//!
//! Our own on a big-integer crate that the NIST curves bring along: the `rsa` crate, 0.9, would add 18 crates, some of
//! them older versions of what is here, for one exponentiation. Everything is public, so timing tells nobody anything.

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Odd};

use super::key::Refusal;

/// Smallest modulus, in bits. OpenSSH takes 1024 as well.
pub(super) const LEAST_BITS: usize = 2048;

/// Largest modulus, in bits, as in OpenSSH.
const MOST_BITS: usize = 16_384;

/// The hash that an RSA signature is made with. SHA-1, which `ssh-rsa` signatures use, is not one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hash {
    /// `rsa-sha2-256`
    Sha256,
    /// `rsa-sha2-512`
    Sha512,
}

/// A public key: exponent and modulus, each as big-endian bytes without leading zeros.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'a> {
    exponent: u64,
    modulus: &'a [u8],
}

impl<'a> Key<'a> {
    /// A key that signatures can be checked with; `None` for numbers that make no sense.
    pub(super) fn new(exponent: &[u8], modulus: &'a [u8]) -> Option<Self> {
        let mut padded = [0; 8];
        padded.get_mut(8usize.checked_sub(exponent.len())?..)?.copy_from_slice(exponent);
        let exponent = u64::from_be_bytes(padded);
        let odd = exponent % 2 == 1 && modulus.last().is_some_and(|last| last % 2 == 1);
        (odd && exponent > 1 && bits(modulus) <= MOST_BITS).then_some(Self { exponent, modulus })
    }

    /// Length of the modulus.
    pub(super) fn bits(&self) -> usize {
        bits(self.modulus)
    }

    /// Whether the holder of the key signed this message.
    pub(super) fn verify(&self, hash: Hash, message: &[u8], signature: &[u8]) -> Result<(), Refusal> {
        if self.check(hash, message, signature) == Some(true) { Ok(()) } else { Err(Refusal::Invalid) }
    }

    fn check(&self, hash: Hash, message: &[u8], signature: &[u8]) -> Option<bool> {
        let expected = padded(hash, message, self.modulus.len())?;
        let precision = u32::try_from(self.modulus.len() * 8).ok()?;
        let integer = |bytes: &[u8]| BoxedUint::from_be_slice(bytes, precision).ok();
        let (modulus, signature_integer) = (integer(self.modulus)?, integer(signature)?);
        // As long as the modulus and below it: there is one spelling of a signature.
        if signature.len() != self.modulus.len() || signature_integer >= modulus {
            return None;
        }
        let modulus = BoxedMontyParams::new_vartime(Odd::new(modulus).into_option()?);
        let power = BoxedMontyForm::new(signature_integer, &modulus).pow(&BoxedUint::from(self.exponent));
        Some(power.retrieve() == integer(&expected)?)
    }
}

fn bits(number: &[u8]) -> usize {
    number.first().map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize)
}

/// EMSA-PKCS1-v1_5: `00 01 FF…FF 00`, then the digest with the name of its algorithm in DER.
fn padded(hash: Hash, message: &[u8], length: usize) -> Option<Vec<u8>> {
    use sha2::Digest as _;
    let (name, digest): ([u8; 19], Vec<u8>) = match hash {
        Hash::Sha256 => (*b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20", {
            sha2::Sha256::digest(message).to_vec()
        }),
        Hash::Sha512 => (*b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40", {
            sha2::Sha512::digest(message).to_vec()
        }),
    };
    let filling = length.checked_sub(3 + name.len() + digest.len()).filter(|filling| *filling >= 8)?;
    Some([&[0, 1], &vec![0xff; filling][..], &[0], &name, &digest].concat())
}
