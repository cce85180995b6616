//! Every kind of key that ssh-keygen makes, with every hash, and the kinds that are refused.

use git_proof::proof::sshsig::{KeyError, NAMESPACE, PublicKey, SignatureError, verify};

use super::{Keys, MESSAGE, blob, key_blob, positive, read, signed_bytes, string};
use crate::common::{command, run, run_with_input};

/// The kinds that are taken, and what `ssh-keygen -t` is told to make one.
const KINDS: [(&str, &[&str]); 6] = [
    ("ssh-ed25519", &["ed25519"]),
    ("ecdsa-sha2-nistp256", &["ecdsa", "-b", "256"]),
    ("ecdsa-sha2-nistp384", &["ecdsa", "-b", "384"]),
    ("ecdsa-sha2-nistp521", &["ecdsa", "-b", "521"]),
    ("ssh-rsa", &["rsa", "-b", "2048"]),
    ("ssh-rsa", &["rsa", "-b", "3072"]),
];

#[test]
fn what_ssh_keygen_signs_is_accepted_with_every_kind_and_hash() {
    let keys = Keys::new();
    for (number, (kind, arguments)) in KINDS.into_iter().enumerate() {
        let name = format!("key-{number}");
        let line = keys.make(&name, arguments);
        for hash in ["hashalg=sha256", "hashalg=sha512"] {
            for message in [MESSAGE, b"", &vec![0xff; 100_000]] {
                let blob = keys.sign_as(&name, NAMESPACE, &["-O", hash], message);
                let key = verify(&blob, message, NAMESPACE).unwrap();
                assert_eq!((key.kind(), key.to_string()), (kind, line.clone()), "{hash}");
            }
        }
        let listed = keys.keygen(&["-l", "-f", &format!("{name}.pub")]).stdout;
        let key = PublicKey::parse(&key_blob(&line)).unwrap();
        assert_eq!(listed.split(' ').nth(1), Some(key.fingerprint().as_str()));
    }
}

#[test]
fn no_signature_survives_a_flipped_bit_or_another_length() {
    let keys = Keys::new();
    for (number, (kind, arguments)) in KINDS[..5].iter().enumerate() {
        let name = format!("key-{number}");
        keys.make(&name, arguments);
        let blob = keys.sign(&name);
        verify(&blob, MESSAGE, NAMESPACE).unwrap();
        for byte in 0..blob.len() {
            // All bits of the smallest, one in each byte of the others.
            let bits = if *kind == "ssh-ed25519" { 0..8 } else { byte % 8..byte % 8 + 1 };
            for bit in bits {
                let mut flipped = blob.clone();
                flipped[byte] ^= 1 << bit;
                assert!(verify(&flipped, MESSAGE, NAMESPACE).is_err(), "{kind}: bit {bit} of byte {byte}");
            }
            assert!(verify(&blob[..byte], MESSAGE, NAMESPACE).is_err(), "{kind}: cut at {byte}");
        }
        assert_eq!(verify(&[&blob[..], b"\0"].concat(), MESSAGE, NAMESPACE), Err(SignatureError::Malformed));
    }
}

#[test]
fn signature_of_other_bytes_or_for_something_else_is_refused() {
    let keys = Keys::new();
    keys.make("key", &["ed25519"]);
    let blob = keys.sign("key");
    let longer = [MESSAGE, b"\n"].concat();
    for message in [&b""[..], &longer, &MESSAGE[1..]] {
        assert_eq!(verify(&blob, message, NAMESPACE), Err(SignatureError::Invalid));
    }
    for namespace in ["git", "", "git-proof2", "Git-proof"] {
        assert_eq!(verify(&blob, MESSAGE, namespace), Err(SignatureError::Namespace(NAMESPACE.to_owned())));
    }
    let commit = keys.sign_as("key", "git", &[], MESSAGE);
    assert_eq!(verify(&commit, MESSAGE, NAMESPACE), Err(SignatureError::Namespace("git".to_owned())));
    // The namespace is signed: writing another one over it does not help.
    let forged = [&commit[..65], &string(NAMESPACE), &commit[72..]].concat();
    assert_eq!(&commit[65..72], string("git"));
    assert_eq!(verify(&forged, MESSAGE, NAMESPACE), Err(SignatureError::Invalid));
}

#[test]
fn short_rsa_key_is_refused() {
    let keys = Keys::new();
    keys.make("key", &["rsa", "-b", "1024"]);
    let blob = keys.sign("key");
    assert!(keys.holds(&blob, MESSAGE), "ssh-keygen takes it");
    assert_eq!(verify(&blob, MESSAGE, NAMESPACE), Err(SignatureError::Key(KeyError::TooShort(1024))));
}

#[test]
fn certificate_is_refused_as_one() {
    let keys = Keys::new();
    keys.make("authority", &["ed25519"]);
    keys.make("key", &["ed25519"]);
    let made = keys.keygen(&["-q", "-s", "authority", "-I", "id", "-n", "ada@example.com", "key.pub"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let certificate = key_blob(read(&keys.path("key-cert.pub")).trim());
    assert_eq!(PublicKey::parse(&certificate), Err(KeyError::Certificate));
    std::fs::copy(keys.path("key"), keys.path("key-cert")).unwrap();
    let blob = keys.sign("key-cert.pub");
    assert!(keys.holds(&blob, MESSAGE), "ssh-keygen takes it");
    assert_eq!(verify(&blob, MESSAGE, NAMESPACE), Err(SignatureError::Key(KeyError::Certificate)));
}

/// An RSA signature as openssl makes it, which knows no policy.
fn rsa_signature(keys: &Keys, hash: &str) -> Vec<u8> {
    let message = keys.write("signed", signed_bytes());
    let arguments = ["dgst", hash, "-sign", "pem", "-out", "raw", message.to_str().unwrap()];
    let made = run(command("openssl", keys.0.path()).args(arguments));
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    std::fs::read(keys.path("raw")).unwrap()
}

#[test]
fn rsa_is_accepted_with_either_sha2_and_never_with_sha1() {
    let keys = Keys::new();
    let key = key_blob(&keys.make("pem", &["rsa", "-b", "2048", "-m", "PEM"]));
    for (hash, name, expected) in [
        ("-sha256", "rsa-sha2-256", Ok(())),
        ("-sha512", "rsa-sha2-512", Ok(())),
        ("-sha512", "rsa-sha2-256", Err(SignatureError::Invalid)),
        ("-sha1", "ssh-rsa", Err(SignatureError::Algorithm)),
        ("-sha1", "rsa-sha2-256", Err(SignatureError::Invalid)),
        ("-sha384", "rsa-sha2-384", Err(SignatureError::Algorithm)),
    ] {
        let blob = blob(&key, &[string(name), string(rsa_signature(&keys, hash))].concat());
        assert_eq!(verify(&blob, MESSAGE, NAMESPACE).map(|_| ()), expected, "{hash} {name}");
        assert_eq!(keys.holds(&blob, MESSAGE), expected.is_ok(), "{hash} {name}");
    }
    // Zeros before a signature, or the modulus added to it, would be second spellings.
    let raw = rsa_signature(&keys, "-sha256");
    for raw in [[&[0], &raw[..]].concat(), raw[1..].to_vec(), vec![0xff; 256], vec![0; 256], Vec::new()] {
        let blob = blob(&key, &[string("rsa-sha2-256"), string(raw)].concat());
        assert_eq!(verify(&blob, MESSAGE, NAMESPACE), Err(SignatureError::Invalid));
    }
}

#[test]
fn numbers_that_make_no_rsa_key_are_refused() {
    let keys = Keys::new();
    let key = key_blob(&keys.make("key", &["rsa", "-b", "2048"]));
    let modulus = &key[key.len() - 256..];
    let mut even = modulus.to_vec();
    even[255] &= 0xfe;
    let make = |exponent: &[u8], modulus: &[u8]| [string("ssh-rsa"), positive(exponent), positive(modulus)].concat();
    assert_eq!(make(&[1, 0, 1], modulus), key);
    for (exponent, modulus) in [
        (&[1][..], modulus),
        (&[2], modulus),
        (&[1, 0, 0], modulus),
        (&[1, 0, 0, 0, 0, 0, 0, 0, 1], modulus),
        (&[1, 0, 1], &even),
        (&[1, 0, 1], &[0xff; 2049]),
    ] {
        assert_eq!(PublicKey::parse(&make(exponent, modulus)), Err(KeyError::Malformed), "{exponent:?}");
    }
}

#[test]
fn page_of_the_format_is_checked_by_ssh_keygen() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format");
    let page = include_str!("../../../src/proof/FORMAT.md");
    let start = page.find("A signed anchor is checked by hand").expect("the page says how");
    let script = page[start..].split("```").nth(1).unwrap().strip_prefix("sh\n").unwrap();
    let keys = Keys::new();
    for name in ["anchor-signed.line", "allowed_signers"] {
        std::fs::copy(format!("{folder}/{name}"), keys.path(name)).unwrap();
    }
    let checked = run_with_input(&mut command("sh", keys.0.path()), script.as_bytes());
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
    assert!(checked.stdout.starts_with("Good \"git-proof\" signature for ada@example.com with ED25519 key SHA256:"));
}
