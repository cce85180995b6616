//! Signatures, held against the real ssh-keygen: what it makes is accepted, what it refuses is refused.

mod allowed_signers;
mod keys;
mod people;
mod signing;
mod strictness;
mod tokens;

use std::path::{Path, PathBuf};

use git_proof::proof::note::Signature;
use git_proof::proof::sshsig::{NAMESPACE, from_armour, to_armour};
use git_proof::proof::timestamp::Timestamp;

use crate::common::{Run, command, run, run_with_input};

/// What the tests sign.
const MESSAGE: &[u8] = b"{\"anchored_at\":\"2026-03-01T09:01:01.000Z\"}";

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// A folder with keys in it, gone after the test.
struct Keys(tempfile::TempDir);

impl Keys {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    fn keygen(&self, arguments: &[&str]) -> Run {
        run(command("ssh-keygen", self.0.path()).args(arguments))
    }

    /// Makes a key pair, and answers the line of its public key without a comment.
    fn make(&self, name: &str, kind: &[&str]) -> String {
        let made = self.keygen(&[&["-q", "-N", "", "-C", "", "-f", name, "-t"], kind].concat());
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        std::fs::read_to_string(self.path(&format!("{name}.pub"))).unwrap().trim().to_owned()
    }

    /// Signs with `ssh-keygen -Y sign`.
    fn sign_as(&self, name: &str, namespace: &str, options: &[&str], message: &[u8]) -> Vec<u8> {
        let arguments = [&["-Y", "sign", "-n", namespace, "-f", name], options].concat();
        let signed = run_with_input(command("ssh-keygen", self.0.path()).args(arguments), message);
        assert_eq!(signed.code, Some(0), "{}", signed.stderr);
        from_armour(&signed.stdout).unwrap().0
    }

    fn sign(&self, name: &str) -> Vec<u8> {
        self.sign_as(name, NAMESPACE, &[], MESSAGE)
    }

    /// Whether ssh-keygen finds that the signature holds, whoever made it.
    fn holds(&self, blob: &[u8], message: &[u8]) -> bool {
        let file = self.write("signature", to_armour(&Signature(blob.to_vec())));
        let arguments = ["-Y", "check-novalidate", "-n", NAMESPACE, "-s", file.to_str().unwrap()];
        run_with_input(command("ssh-keygen", self.0.path()).args(arguments), message).code == Some(0)
    }
}

/// A string of SSH, with its length.
fn string(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

/// A positive integer of SSH.
fn positive(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap();
    let sign: &[u8] = if bytes[start] >= 0x80 { &[0] } else { &[] };
    string([sign, &bytes[start..]].concat())
}

/// What a key signs for MESSAGE, with SHA-256.
fn signed_bytes() -> Vec<u8> {
    use git_proof::proof::digest::sha256;
    [&b"SSHSIG"[..], &string(NAMESPACE), &string(""), &string("sha256"), &string(sha256(MESSAGE))].concat()
}

/// A blob of these parts, with SHA-256.
fn blob(key: &[u8], signature: &[u8]) -> Vec<u8> {
    let fields = [string(key), string(NAMESPACE), string(""), string("sha256"), string(signature)].concat();
    [&b"SSHSIG\0\0\0\x01"[..], &fields].concat()
}

/// The bytes of a public key from its line.
fn key_blob(line: &str) -> Vec<u8> {
    Signature::from_base64(line.split(' ').nth(1).unwrap()).unwrap().0
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
