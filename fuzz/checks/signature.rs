//! SSH signatures, and the files that say whose they are.

use git_proof::proof::note::Signature;
use git_proof::proof::signers::{Signers, Standing};
use git_proof::proof::sshsig::{NAMESPACE, PublicKey, SignatureError, claimed_key, from_armour, to_armour, verify};
use git_proof::proof::timestamp::Timestamp;

/// What the seeds of the corpus sign.
const MESSAGE: &[u8] = b"git-proof";

/// An SSHSIG blob, the blob of a key, or an armoured signature.
pub fn sshsig(data: &[u8]) {
    blob(data);
    key(data);
    if let Ok(text) = std::str::from_utf8(data)
        && let Some(signature) = from_armour(text)
    {
        assert_eq!(from_armour(&to_armour(&signature)), Some(signature.clone()));
        blob(&signature.0);
    }
}

fn blob(blob: &[u8]) {
    match verify(blob, MESSAGE, NAMESPACE) {
        Ok(key) => {
            assert_eq!(claimed_key(blob), Ok(key));
            // It holds for these bytes and this purpose only, and in this spelling.
            assert_eq!(verify(blob, b"git-proof\n", NAMESPACE), Err(SignatureError::Invalid));
            assert_eq!(verify(blob, MESSAGE, "git"), Err(SignatureError::Namespace(NAMESPACE.to_owned())));
            for other in [&blob[1..], &blob[..blob.len() - 1], &[blob, b"\0"].concat()] {
                assert!(verify(other, MESSAGE, NAMESPACE).is_err());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn key(data: &[u8]) {
    match PublicKey::parse(data) {
        Ok(key) => {
            assert_eq!(key.as_bytes(), data);
            let line = format!("ada@example.com {key} comment\n");
            let signers = Signers::parse(line.as_bytes()).expect("a key can be listed");
            assert!(matches!(signers.who(&key, NAMESPACE, now()), Standing::Signer(_)));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn now() -> Timestamp {
    Timestamp::parse("2026-03-01T00:00:00.000Z").expect("a time")
}

/// An allowed-signers file, or a list of revoked keys.
pub fn allowed_signers(data: &[u8]) {
    let lines = data.split(|byte| *byte == b'\n').count();
    let mut signers = match Signers::parse(data) {
        Ok(signers) => signers,
        Err(error) => {
            assert!(error.line <= lines && !error.message.is_empty(), "{error} in a file of {lines} lines");
            let revoked = Signers::default().revoke(data);
            return assert!(revoked.is_ok() || revoked.is_err_and(|error| error.line <= lines));
        }
    };
    // What cannot be read is refused wherever it stands; what says nothing changes nothing.
    assert!(Signers::parse(&[data, b"\nnonsense"].concat()).is_err());
    assert!(Signers::parse(&[data, b"\na restrict ssh-ed25519 AAAA"].concat()).is_err());
    assert!(Signers::parse(&[data, b"\n# the end\n \t\r\n"].concat()).is_ok());
    let skipped: Vec<usize> = signers.skipped().iter().map(|(line, _)| *line).collect();
    let keys: Vec<PublicKey> = keys(data, &skipped).collect();
    let found: Vec<_> = keys
        .iter()
        .filter_map(|key| match signers.who(key, NAMESPACE, now()) {
            Standing::Signer(signer) => Some(signer),
            Standing::Unknown | Standing::Revoked => panic!("{key:?} is listed and not revoked"),
            _ => None,
        })
        .collect();
    for signer in &found {
        assert!(signer.principals().any(|principal| principal == signer.name()));
        assert_eq!(signers.count_people(std::slice::from_ref(signer)), 1);
        assert_eq!(signers.count_people(&[signer.clone(), signer.clone()]), 1);
    }
    assert!(signers.count_people(&found) <= found.len());
    assert_eq!(signers.count_people(&found) == 0, found.is_empty());
    drop(found);
    let list: Vec<String> = keys.iter().map(ToString::to_string).collect();
    signers.revoke(list.join("\n").as_bytes()).expect("keys can be revoked");
    assert!(keys.iter().all(|key| signers.who(key, NAMESPACE, now()) == Standing::Revoked));
}

/// The keys in a file that is accepted: of each line that was not skipped, the last word that is one.
fn keys<'a>(data: &'a [u8], skipped: &'a [usize]) -> impl Iterator<Item = PublicKey> + 'a {
    let text = std::str::from_utf8(data).expect("what is accepted is UTF-8");
    let lines = text.split('\n').enumerate().filter(|(number, _)| !skipped.contains(&(number + 1)));
    let lines = lines.map(|(_, line)| line);
    lines.filter(|line| !line.trim_matches([' ', '\t', '\r']).starts_with('#')).filter_map(|line| {
        let mut words = line.split([' ', '\t', '\r']).filter_map(Signature::from_base64);
        words.find_map(|blob| PublicKey::parse(&blob.0).ok())
    })
}
