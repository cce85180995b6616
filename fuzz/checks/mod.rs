//! What must hold for any bytes: one function a format, which panics where it does not.
//!
//! The fuzz targets call these functions, and so does `cargo test` with every file of the corpus. Not panicking is the
//! least of it. Whatever is accepted must be printed back byte for byte, must be canonical by the word of an
//! implementation that is not ours, and must be the same however it was cut into pieces.
//!
//! Hashes stop a fuzzer: no mutation finds the genesis of another opening. So each check also takes what could be
//! read, computes the hashes that belong to it, and requires that the result holds.

#![allow(unreachable_pub)] // a library for the fuzz targets, a module for the tests

mod archive;
mod change;
mod config;
mod evidence;
mod hook;
mod logged;
mod mcp;
mod note;
mod pack;
mod policy;
mod proof;
mod scratch;
mod seal;
mod signature;
mod storing;
mod text;
mod trailer;

use git_proof::proof::canonical::{self, Reader};

pub use archive::archive;
pub use change::change;
pub use config::config;
pub use evidence::evidence;
pub use hook::hook;
pub use logged::logged;
pub use mcp::mcp;
pub use note::note_line;
pub use pack::pack;
pub use policy::policy;
pub use proof::proof;
pub use seal::seal;
pub use signature::{allowed_signers, sshsig};
pub use text::text;
pub use trailer::trailer_block;

/// A check: panics where the bytes show that something does not hold.
pub type Check = fn(&[u8]);

/// Every check, under the name of its target and of its corpus.
pub const ALL: [(&str, Check); 17] = [
    ("allowed_signers", allowed_signers),
    ("archive", archive),
    ("canonical", canonical),
    ("change", change),
    ("config", config),
    ("evidence", evidence),
    ("hook", hook),
    ("logged", logged),
    ("mcp", mcp),
    ("note_line", note_line),
    ("pack", pack),
    ("policy", policy),
    ("proof", proof),
    ("seal", seal),
    ("sshsig", sshsig),
    ("text", text),
    ("trailer_block", trailer_block),
];

/// Canonical JSON: the strict reader takes exactly the texts that printing gives back.
pub fn canonical(data: &[u8]) {
    let printed = canonical::parse(data).and_then(|value| canonical::to_text(&value));
    let read = Reader::new(data).and_then(|mut reader| {
        reader.value("")?;
        reader.finish()
    });
    let same = printed.as_ref().is_ok_and(|text| text.as_bytes() == data);
    assert_eq!(read.is_ok(), same, "reader: {read:?}, printer: {printed:?}");
    if let Ok(text) = printed {
        assert_canonical(text.as_bytes());
        let again = canonical::parse(text.as_bytes()).and_then(|value| canonical::to_text(&value));
        assert_eq!(again.as_deref(), Ok(text.as_str()), "a canonical form has another one");
    }
}

/// Canonical by the word of serde_json and of an implementation of RFC 8785, without our reader and our guards.
fn assert_canonical(text: &[u8]) {
    let value: serde_json::Value = serde_json::from_slice(text).expect("what we accept is JSON");
    let printed = serde_json_canonicalizer::to_string(&value).expect("what we accept has a canonical form");
    assert_eq!(printed.as_bytes(), text, "what we accept is canonical");
}
