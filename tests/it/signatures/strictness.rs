//! Signatures that no honest program makes: second spellings, weak keys, fields that nobody reads.

use ed25519_dalek::Signer as _;
use git_proof::proof::sshsig::{KeyError, NAMESPACE, PublicKey, SignatureError, verify};

use super::{Keys, MESSAGE, blob, positive, signed_bytes, string};

fn ed25519_key(bytes: [u8; 32]) -> Vec<u8> {
    [string("ssh-ed25519"), string(bytes)].concat()
}

/// The encodings of the eight points of small order; with the sign of a zero; and with y not reduced.
const WEAK: [&str; 14] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

fn unhex(text: &str) -> [u8; 32] {
    std::array::from_fn(|index| u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap())
}

#[test]
fn weak_ed25519_key_is_refused() {
    for (number, text) in WEAK.into_iter().enumerate() {
        let key = ed25519_key(unhex(text));
        let refusal = PublicKey::parse(&key).unwrap_err();
        assert!(matches!(refusal, KeyError::Weak | KeyError::Malformed), "{text}: {refusal:?}");
        assert_eq!(number < 10, refusal == KeyError::Weak, "{text}: {refusal:?}");
        // R the neutral element and S zero: holds for any message under the neutral key, without strict checks.
        let nothing = [&unhex(WEAK[0])[..], &[0; 32]].concat();
        let signature = [string("ssh-ed25519"), string(nothing)].concat();
        assert_eq!(verify(&blob(&key, &signature), MESSAGE, NAMESPACE), Err(SignatureError::Key(refusal)));
    }
}

#[test]
fn second_spelling_of_a_valid_ed25519_signature_is_refused() {
    // The order of the group: S plus this is the same number to a careless reader.
    let order = unhex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let key = ed25519_dalek::SigningKey::from_bytes(&[7; 32]);
    let public = ed25519_key(key.verifying_key().to_bytes());
    let mut raw = key.sign(&signed_bytes()).to_bytes();
    let make = |raw: [u8; 64]| blob(&public, &[string("ssh-ed25519"), string(raw)].concat());
    assert!(verify(&make(raw), MESSAGE, NAMESPACE).is_ok());
    let mut carry = 0;
    for (byte, more) in raw[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(more) + carry;
        (*byte, carry) = (sum.to_le_bytes()[0], sum >> 8);
    }
    assert_eq!(verify(&make(raw), MESSAGE, NAMESPACE), Err(SignatureError::Invalid));
}

#[test]
fn second_spelling_of_an_ecdsa_signature_is_refused() {
    let key = p256::ecdsa::SigningKey::from_slice(&[7; 32]).unwrap();
    let public = |compress: bool| {
        let point = key.verifying_key().to_sec1_point(compress);
        [string("ecdsa-sha2-nistp256"), string("nistp256"), string(point.as_bytes())].concat()
    };
    let signature: p256::ecdsa::Signature = key.sign(&signed_bytes());
    let (r, s) = signature.split_bytes();
    let make = |public: &[u8], numbers: &[u8]| blob(public, &[string("ecdsa-sha2-nistp256"), string(numbers)].concat());
    let good = [positive(&r), positive(&s)].concat();
    assert!(verify(&make(&public(false), &good), MESSAGE, NAMESPACE).is_ok());
    for bad in [
        [string([&[0, 0][..], &r].concat()), positive(&s)].concat(),
        [positive(&r), string("")].concat(),
        [positive(&r), string([0])].concat(),
        [positive(&r), positive(&[0xff; 32])].concat(),
        [positive(&r), positive(&[1; 33])].concat(),
        [&good[..], b"\0"].concat(),
        positive(&r),
    ] {
        assert_eq!(verify(&make(&public(false), &bad), MESSAGE, NAMESPACE), Err(SignatureError::Malformed));
    }
    let compressed = verify(&make(&public(true), &good), MESSAGE, NAMESPACE);
    assert_eq!(compressed, Err(SignatureError::Key(KeyError::Malformed)));
    let not_on_the_curve = [string("ecdsa-sha2-nistp256"), string("nistp256"), string([4; 65])].concat();
    assert_eq!(PublicKey::parse(&not_on_the_curve), Err(KeyError::Malformed));
    let other_curve = [string("ecdsa-sha2-nistp256"), string("nistp384"), public(false)[39..].to_vec()].concat();
    assert_eq!(PublicKey::parse(&other_curve), Err(KeyError::Malformed));
}

#[test]
fn each_field_of_a_blob_has_its_own_refusal() {
    let key = ed25519_dalek::SigningKey::from_bytes(&[7; 32]);
    let public = ed25519_key(key.verifying_key().to_bytes());
    let signature = [string("ssh-ed25519"), string(key.sign(&signed_bytes()).to_bytes())].concat();
    let make = |start: &[u8], key: &[u8], namespace: &[u8], reserved: &str, hash: &str| {
        let fields = [string(key), string(namespace), string(reserved), string(hash), string(&signature)].concat();
        verify(&[start, &fields].concat(), MESSAGE, NAMESPACE).map(|_| ())
    };
    let (start, space) = (b"SSHSIG\0\0\0\x01", NAMESPACE.as_bytes());
    let unsupported = |name: &str| Err(SignatureError::Key(KeyError::Unsupported(name.to_owned())));
    assert_eq!(make(start, &public, space, "", "sha256"), Ok(()));
    assert_eq!(make(b"SSHSIG\0\0\0\x02", &public, space, "", "sha256"), Err(SignatureError::Version(2)));
    assert_eq!(make(b"SSHSIG\0\0\0\0", &public, space, "", "sha256"), Err(SignatureError::Version(0)));
    assert_eq!(make(b"sshsig\0\0\0\x01", &public, space, "", "sha256"), Err(SignatureError::Malformed));
    assert_eq!(make(start, &public, b"\xff", "", "sha256"), Err(SignatureError::Malformed));
    assert_eq!(make(start, &public, b"", "", "sha256"), Err(SignatureError::Namespace(String::new())));
    assert_eq!(make(start, &public, space, "x", "sha256"), Err(SignatureError::Malformed));
    assert_eq!(make(start, &public, space, "", "sha1"), Err(SignatureError::Hash("sha1".to_owned())));
    assert_eq!(make(start, &public, space, "", "sha512"), Err(SignatureError::Invalid));
    assert_eq!(make(start, &[string("ssh-dss"), string("")].concat(), space, "", "sha256"), unsupported("ssh-dss"));
    assert_eq!(make(start, &[&public[..], b"\0"].concat(), space, "", "sha256"), Err(KeyError::Malformed.into()));
    assert_eq!(verify(&vec![0; 1 << 20], MESSAGE, NAMESPACE), Err(SignatureError::Malformed));
}

/// The other way round: ssh-keygen takes what is built here, so the refusals above are not those of a broken builder.
#[test]
fn signature_that_the_tests_build_is_one_to_ssh_keygen() {
    let key = ed25519_dalek::SigningKey::from_bytes(&[7; 32]);
    let signature = [string("ssh-ed25519"), string(key.sign(&signed_bytes()).to_bytes())].concat();
    let blob = blob(&ed25519_key(key.verifying_key().to_bytes()), &signature);
    assert!(Keys::new().holds(&blob, MESSAGE));
}
