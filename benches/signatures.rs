//! How fast signatures are checked: against the bare verification of the crate that does the arithmetic, and against ssh-keygen,
//! which is a process for each as git starts it.
//!
//! `cargo bench --bench signatures`

#![allow(clippy::unwrap_used, clippy::expect_used)] // a benchmark whose figures would mean nothing should stop

mod table;

use std::fs::{self, File};
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use git_proof::proof::digest::sha256;
use git_proof::proof::note;
use git_proof::proof::signers::{Signers, Standing};
use git_proof::proof::sshsig::{NAMESPACE, verify};
use git_proof::proof::timestamp::Timestamp;
use sha2::Digest as _;

use table::{Row, Target, medians, run};

const SIGNATURES: u64 = 10_000;
const KEYS: u64 = 100;
const ROUNDS: usize = 7;
/// Signatures that ssh-keygen is given: a process takes as long as a score of them here.
const PROCESSES: usize = 100;

/// One signature, as the crate wants it and as it is in a note.
struct Signed {
    key: VerifyingKey,
    covered: Vec<u8>,
    signature: Signature,
    anchor: Vec<u8>,
    blob: Vec<u8>,
}

fn main() {
    if !table::wanted() {
        return;
    }
    let all: Vec<Signed> = (0..SIGNATURES).map(make).collect();
    let file: String = all[..usize::try_from(KEYS).unwrap()].iter().enumerate().map(line).collect();
    let signers = Signers::parse(file.as_bytes()).expect("the file is one");
    let at = Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap();
    let ours = |all: &[Signed]| {
        for one in all {
            let key = verify(&one.blob, &one.anchor, NAMESPACE).expect("the signature holds");
            assert!(matches!(signers.who(&key, NAMESPACE, at), Standing::Signer(_)));
        }
    };
    let bare = |all: &[Signed]| {
        for one in all {
            black_box(one.key.verify_strict(&one.covered, &one.signature)).expect("the signature holds");
        }
    };
    let (mut ours_alone, mut bare_alone) = (|| ours(&all), || bare(&all));
    let (mut ours_on_two, mut bare_on_two) = (|| on_two_threads(&all, &ours), || on_two_threads(&all, &bare));
    let candidates: [&mut dyn FnMut(); 4] = [&mut ours_alone, &mut bare_alone, &mut ours_on_two, &mut bare_on_two];
    let [one, one_bare, two, two_bare] = medians(ROUNDS, candidates);
    let directory = tempfile::tempdir().unwrap();
    let checked = &all[..PROCESSES];
    fs::write(directory.path().join("allowed"), &file).unwrap();
    for (number, signed) in checked.iter().enumerate() {
        fs::write(directory.path().join(format!("{number}")), &signed.anchor).unwrap();
        fs::write(directory.path().join(format!("{number}.sig")), armoured(&signed.blob)).unwrap();
    }
    let mut here = || ours(checked);
    let mut by_process = || (0..PROCESSES).for_each(|number| ssh_keygen(directory.path(), number));
    let [here, by_process] = medians(ROUNDS, [&mut here, &mut by_process]);
    table::print(&[
        Row::speed("100 signatures : ssh-keygen -Y verify, a process each", here, by_process, Target::AtLeast(1.0)),
        Row::speed("10,000 Ed25519 signatures : ed25519-dalek alone", one, one_bare, Target::AtLeast(0.7)),
        Row::speed("the same on two threads : ed25519-dalek alone, two threads", two, two_bare, Target::AtLeast(0.7)),
        Row::speed("two threads : one thread", two, one, Target::None),
        Row::speed("ed25519-dalek alone, two threads : one thread", two_bare, one_bare, Target::None),
    ]);
}

fn on_two_threads(all: &[Signed], work: &(impl Fn(&[Signed]) + Sync)) {
    let (left, right) = all.split_at(all.len() / 2);
    std::thread::scope(|scope| {
        scope.spawn(|| work(left));
        work(right);
    });
}

/// The signature of something as long as an anchor, by one of the keys in turn, as ssh-keygen makes it.
fn make(number: u64) -> Signed {
    let key = SigningKey::from_bytes(&sha256(&(number % KEYS).to_be_bytes()));
    let anchor = format!("{number:0>600}").into_bytes();
    let envelope = |last: &[u8]| [string(NAMESPACE.as_bytes()), string(b""), string(b"sha512"), string(last)].concat();
    let covered = [&b"SSHSIG"[..], &envelope(&sha2::Sha512::digest(&anchor))].concat();
    let signature = key.sign(&covered);
    let named = |bytes: &[u8]| [string(b"ssh-ed25519"), string(bytes)].concat();
    let public = named(key.verifying_key().as_bytes());
    let blob = [&b"SSHSIG\0\0\0\x01"[..], &string(&public), &envelope(&named(&signature.to_bytes()))].concat();
    Signed { key: key.verifying_key(), covered, signature, anchor, blob }
}

fn string(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

/// The line of the allowed-signers file for the key of a signature.
fn line((number, signed): (usize, &Signed)) -> String {
    let public = [string(b"ssh-ed25519"), string(signed.key.as_bytes())].concat();
    let base64 = note::Signature(public).to_base64();
    format!("signer-{number}@example.com namespaces=\"git-proof\" ssh-ed25519 {base64}\n")
}

/// The form in which ssh-keygen reads a signature.
fn armoured(blob: &[u8]) -> String {
    let base64 = note::Signature(blob.to_vec()).to_base64();
    format!("-----BEGIN SSH SIGNATURE-----\n{base64}\n-----END SSH SIGNATURE-----\n")
}

/// The same check, by OpenSSH.
fn ssh_keygen(directory: &Path, number: usize) {
    let message = File::open(directory.join(number.to_string())).unwrap();
    let signer = format!("signer-{number}@example.com");
    let arguments = ["-Y", "verify", "-f", "allowed", "-I", &signer, "-n", NAMESPACE, "-s", &format!("{number}.sig")];
    run(Command::new("ssh-keygen").args(arguments).current_dir(directory).stdin(message));
}
