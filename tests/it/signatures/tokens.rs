//! Keys on hardware tokens. There is no token here: what one would sign is made after PROTOCOL.u2f, and ssh-keygen must
//! accept the same bytes.

use ed25519_dalek::Signer as _;
use git_proof::proof::digest::sha256;
use git_proof::proof::sshsig::{NAMESPACE, SignatureError, verify};

use super::{Keys, MESSAGE, blob, positive, signed_bytes, string};

const ED25519: &str = "sk-ssh-ed25519@openssh.com";
const ECDSA: &str = "sk-ecdsa-sha2-nistp256@openssh.com";
const PRESENT: u8 = 1;
const VERIFIED: u8 = 4;

/// What a token signs.
fn told(application: &str, flags: u8, counter: u32) -> Vec<u8> {
    let message = sha256(&signed_bytes());
    [&sha256(application.as_bytes())[..], &[flags], &counter.to_be_bytes(), &message].concat()
}

/// The end of a token's signature.
fn touch(flags: u8, counter: u32) -> Vec<u8> {
    [&[flags], &counter.to_be_bytes()[..]].concat()
}

fn ed25519(application: &str, flags: u8, counter: u32) -> (Vec<u8>, Vec<u8>) {
    let key = ed25519_dalek::SigningKey::from_bytes(&[7; 32]);
    let public = [string(ED25519), string(key.verifying_key().as_bytes()), string(application)].concat();
    let raw = key.sign(&told(application, flags, counter)).to_bytes();
    (public, [string(ED25519), string(raw), touch(flags, counter)].concat())
}

fn ecdsa(application: &str, flags: u8, counter: u32) -> (Vec<u8>, Vec<u8>) {
    let key = p256::ecdsa::SigningKey::from_slice(&[7; 32]).unwrap();
    let point = key.verifying_key().to_sec1_point(false);
    let public = [string(ECDSA), string("nistp256"), string(point.as_bytes()), string(application)].concat();
    let signature: p256::ecdsa::Signature = key.sign(&told(application, flags, counter));
    let (r, s) = signature.split_bytes();
    (public, [string(ECDSA), string([positive(&r), positive(&s)].concat()), touch(flags, counter)].concat())
}

type Token = fn(&str, u8, u32) -> (Vec<u8>, Vec<u8>);
const TOKENS: [(&str, Token); 2] = [(ED25519, ed25519), (ECDSA, ecdsa)];

#[test]
fn signature_of_a_touched_token_is_accepted_as_by_ssh_keygen() {
    let keys = Keys::new();
    for (kind, token) in TOKENS {
        for (application, flags, counter) in
            [("ssh:", PRESENT, 0), ("ssh:", PRESENT | VERIFIED, 1), ("ssh:work", PRESENT, u32::MAX), ("", PRESENT, 9)]
        {
            let (key, signature) = token(application, flags, counter);
            let blob = blob(&key, &signature);
            assert!(keys.holds(&blob, MESSAGE), "{kind} {application} {flags}");
            assert_eq!(verify(&blob, MESSAGE, NAMESPACE).unwrap().kind(), kind);
        }
    }
}

/// ssh-keygen takes these; sshd asks for the touch unless a key is exempt from it.
#[test]
fn signature_of_a_token_that_nobody_touched_is_refused() {
    let keys = Keys::new();
    for (kind, token) in TOKENS {
        for flags in [0, VERIFIED] {
            let (key, signature) = token("ssh:", flags, 3);
            let blob = blob(&key, &signature);
            assert!(keys.holds(&blob, MESSAGE), "{kind} {flags}");
            assert_eq!(verify(&blob, MESSAGE, NAMESPACE), Err(SignatureError::NotPresent));
        }
    }
}

#[test]
fn what_a_token_says_of_itself_is_signed() {
    for (kind, token) in TOKENS {
        let (key, signature) = token("ssh:", 0, 3);
        let end = signature.len() - 5;
        let with = |end_of_it: &[u8]| verify(&blob(&key, &[&signature[..end], end_of_it].concat()), MESSAGE, NAMESPACE);
        assert_eq!(with(&touch(PRESENT, 3)), Err(SignatureError::Invalid), "{kind}: flags");
        assert_eq!(with(&touch(0, 4)), Err(SignatureError::Invalid), "{kind}: counter");
        assert_eq!(with(&[]), Err(SignatureError::Malformed), "{kind}: neither");
        assert_eq!(with(&[&touch(0, 3)[..], b"\0"].concat()), Err(SignatureError::Malformed), "{kind}: more");
        let (other, _) = token("ssh:other", 0, 3);
        assert_eq!(verify(&blob(&other, &signature), MESSAGE, NAMESPACE), Err(SignatureError::Invalid), "{kind}");
    }
}

#[test]
fn plain_signature_under_a_token_key_is_refused() {
    let plain = ed25519_dalek::SigningKey::from_bytes(&[7; 32]).sign(&signed_bytes()).to_bytes();
    let (key, _) = ed25519("ssh:", PRESENT, 1);
    let as_plain = [string("ssh-ed25519"), string(plain)].concat();
    assert_eq!(verify(&blob(&key, &as_plain), MESSAGE, NAMESPACE), Err(SignatureError::Malformed));
    let with_touch = [&as_plain[..], &touch(PRESENT, 1)].concat();
    assert_eq!(verify(&blob(&key, &with_touch), MESSAGE, NAMESPACE), Err(SignatureError::Algorithm));
    let webauthn = [string("webauthn-sk-ecdsa-sha2-nistp256@openssh.com"), string(plain), touch(PRESENT, 1)].concat();
    assert_eq!(verify(&blob(&key, &webauthn), MESSAGE, NAMESPACE), Err(SignatureError::Algorithm));
}
