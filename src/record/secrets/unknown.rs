//! Tokens of services that the table of prefixes does not know. Most services put a short prefix before a long random
//! tail: `acme_pat_…`, `acme-…`.

use super::Secret;
use super::alphabet::{dotted, word};
use super::value::{Classes, different, is_grouped_hex, is_random_body, surprise};

/// Prefixes of ids and digests, which are random and no secret.
#[rustfmt::skip]
const IDS: &[&str] = &[
    "sha1", "sha224", "sha256", "sha384", "sha512", "blake2", "blake3", "md5", "chatcmpl", "cmpl", "msg", "req", "call",
    "toolu", "run", "resp", "thread", "file", "batch", "asst", "evt", "index", "chunk", "main", "vendor", "pk", "pi", "cs", "id",
    "uuid", "etag", "hash", "digest", "commit", "pub", "public", "sig", "signature", "cert", "image", "img", "zn", "anon", "trace",
    "span", "session", "boundary", "part", "rs", "fc", "ws", "item", "publishable", "ssh", "ipfs", "did", "urn", "cid",
    "dpl", "prj", "team", "user", "org", "proj", "gen", "snap", "job", "task", "event", "build", "doc", "node", "page", "obj", "ref",
    "cursor", "state", "nonce", "challenge", "code", "acct", "cus", "price", "sub", "layer", "rev", "tree", "blob",
];

/// Words in a prefix that say that the token is secret.
#[rustfmt::skip]
const SECRET_WORDS: &[&str] = &[
    "sk", "pat", "token", "tkn", "tk", "secret", "api", "apikey", "live", "prod", "auth", "pw", "key", "access", "pass", "oauth",
    "admin", "priv", "private", "bot", "service", "sec", "cred", "at", "rt", "sat", "aat",
];

/// The longest prefix.
const LONGEST: usize = 24;

/// Finds a token with a prefix that no table knows in a run of characters: at its begin.
pub(super) fn find(run: &str) -> Option<Secret> {
    is_prefixed(run).then_some(Secret { what: "a token", at: 0 })
}

/// Whether a run of characters is a prefix and a random tail. The prefix ends at one of its first joints.
fn is_prefixed(run: &str) -> bool {
    let run = run.trim_end_matches('.');
    let mut says_secret = false;
    let mut start = 0;
    while let Some(length) = run[start..].bytes().take(LONGEST).position(|byte| matches!(byte, b'_' | b'-' | b'.')) {
        let part = &run[start..start + length];
        let is_word = part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            || part.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let lower = part.to_ascii_lowercase();
        let is_id = start == 0 && (IDS.contains(&&lower[..]) || !part.bytes().any(|byte| byte.is_ascii_alphabetic()));
        if !is_word || length == 0 || is_id {
            return false;
        }
        says_secret |= SECRET_WORDS.contains(&&lower[..]);
        start += length + 1;
        let is_test = ["test", "sandbox"].iter().any(|word| run[start..].starts_with(word));
        if start > LONGEST || is_test {
            return false;
        }
        // Ids have capital letters before them, and parts of names dots.
        let may_start = says_secret || part == lower && run.as_bytes()[start - 1] != b'.';
        if may_start && is_tail(&run.as_bytes()[start..], says_secret) {
            return true;
        }
    }
    false
}

/// Whether this is the random part of a token. If the prefix says nothing about secrets, it must be longer and without joints.
fn is_tail(tail: &[u8], says_secret: bool) -> bool {
    let least = if says_secret { 16 } else { 28 };
    if !(least..=200).contains(&tail.len())
        || !tail.iter().all(|byte| if says_secret { dotted(*byte) } else { word(*byte) })
    {
        return false;
    }
    let classes = Classes::of(tail);
    if is_grouped_hex(tail) {
        return says_secret && tail.len() >= 32 && is_random_body(tail);
    }
    let has_all = classes.lower > 0 && classes.upper > 0 && classes.digit > 0;
    let has_two = classes.digit >= 2 && tail.len() >= 24 || tail.len() >= 40 && classes.lower > 0 && classes.upper > 0;
    (has_all && tail.len() >= 16 || has_two) && different(tail) >= 12 && surprise(tail) >= 550 && is_random_body(tail)
}
