//! A threshold counts people: not keys, not lines, not names.

use git_proof::proof::note::Signature;
use git_proof::proof::signers::{Signers, Standing};
use git_proof::proof::sshsig::{NAMESPACE, PublicKey};

use super::{at, string};

/// The key of this number, made without a generator.
fn key(number: u8) -> PublicKey {
    let public = ed25519_dalek::SigningKey::from_bytes(&[number; 32]).verifying_key();
    PublicKey::parse(&[string("ssh-ed25519"), string(public.as_bytes())].concat()).unwrap()
}

/// The people among the holders of these keys. Lines are `PRINCIPALS [OPTIONS] NUMBER`, with the number of a key.
fn people(lines: &[&str], signed: &[u8]) -> Vec<String> {
    let line = |line: &&str| {
        let (start, number) = line.rsplit_once(' ').unwrap();
        let key = key(number.parse().unwrap());
        format!("{start} ssh-ed25519 {}\n", Signature(key.as_bytes().to_vec()).to_base64())
    };
    let signers = Signers::parse(lines.iter().map(line).collect::<String>().as_bytes()).unwrap();
    let found: Vec<_> = signed
        .iter()
        .filter_map(|number| match signers.who(&key(*number), NAMESPACE, at("2026-03-01T00:00:00.000Z")) {
            Standing::Signer(signer) => Some(signer),
            _ => None,
        })
        .collect();
    assert_eq!(signers.count_people(&found), signers.people(&found).len());
    signers.people(&found).into_iter().map(str::to_owned).collect()
}

#[test]
fn two_names_with_a_key_each_are_two_people() {
    assert_eq!(people(&["ada@x 1", "bob@x 2"], &[1, 2]), ["ada@x", "bob@x"]);
    assert_eq!(people(&["ada@x 1", "bob@x 2"], &[2]), ["bob@x"]);
    assert_eq!(people(&["ada@x 1", "bob@x 2"], &[3]), [""; 0]);
}

#[test]
fn two_signatures_of_one_key_are_one_person() {
    assert_eq!(people(&["ada@x 1"], &[1, 1]), ["ada@x"]);
}

#[test]
fn two_keys_of_one_name_are_one_person() {
    assert_eq!(people(&["ada@x 1", "ada@x 2"], &[1, 2]), ["ada@x"]);
}

#[test]
fn one_key_under_two_names_is_one_person() {
    assert_eq!(people(&["ada@x 1", "bob@x 1"], &[1, 1]), ["ada@x"]);
    assert_eq!(people(&["ada@x 1", "bob@x 1", "bob@x 2"], &[1, 2]), ["ada@x"]);
}

#[test]
fn lists_that_share_a_name_are_one_person() {
    assert_eq!(people(&["ada@x,ada@y 1", "ada@y 2"], &[1, 2]), ["ada@x"]);
    assert_eq!(people(&["ada@x,ada@y 1", "ada@z,ada@y 2", "ada@z 3"], &[1, 3]), ["ada@x"]);
}

#[test]
fn names_are_tied_by_lines_that_did_not_sign_or_are_over() {
    assert_eq!(people(&["ada@x 1", "ada@y 2", "ada@x,ada@y 3"], &[1, 2]), ["ada@x"]);
    assert_eq!(people(&["ada@x 1", "ada@y 2", "ada@x,ada@y valid-before=\"20200101Z\" 3"], &[1, 2]), ["ada@x"]);
    assert_eq!(people(&["ada@x 1", "ada@y 2", "ada@y namespaces=\"file\" 1"], &[1, 2]), ["ada@x"]);
}

#[test]
fn names_that_differ_in_case_are_one_person() {
    assert_eq!(people(&["ada@x 1", "Ada@X 2"], &[1, 2]), ["ada@x"]);
}

#[test]
fn pattern_is_not_counted_beside_a_name_that_it_matches() {
    assert_eq!(people(&["*@x 1", "ada@x 2"], &[1, 2]), ["ada@x"]);
    assert_eq!(people(&["*@x 1", "ada@x 2", "bob@x 3"], &[1, 2, 3]), ["ada@x", "bob@x"]);
    assert_eq!(people(&["*@x 1", "ADA@X 2"], &[1, 2]), ["ADA@X"]);
    assert_eq!(people(&["*@x,!ada@x 1", "ada@x 2"], &[1, 2]), ["ada@x"]);
    assert_eq!(people(&["ada@x,*@y 1", "bob@y 2"], &[1, 2]), ["bob@y"]);
    assert_eq!(people(&["ada@x,*@y 1", "bob@z 2"], &[1, 2]), ["bob@z", "ada@x"]);
}

#[test]
fn pattern_that_matches_no_other_signer_is_a_person() {
    assert_eq!(people(&["*@x 1", "ada@y 2"], &[1, 2]), ["ada@y", "*@x"]);
    assert_eq!(people(&["*@x 1", "*@x 2"], &[1, 2]), ["*@x"]);
    assert_eq!(people(&["*@x 1", "a*@x 2"], &[1, 2]), ["*@x"]);
    assert_eq!(people(&["*@x 1", "a* 2"], &[1, 2]), ["*@x"]);
    // Who did not sign is not counted, so nothing speaks against the pattern.
    assert_eq!(people(&["*@x 1", "ada@x 2"], &[1]), ["*@x"]);
}
