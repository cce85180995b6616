//! How fast the command checks a million entries, against hashing the same file once, and how much memory it takes.
//!
//! `cargo bench --bench evidence`

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod table;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::Path;
use std::process::Command;

use git_proof::proof::chain::Chain;
use git_proof::proof::digest::ChainHash;
use git_proof::proof::record::{Body, Entry, Id, Opening, RecordType};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::timestamp::Timestamp;
use sha2::{Digest as _, Sha256};
use table::{Row, Target, medians, peak_memory_kib, run};

const ENTRIES: usize = 1_000_000;
const ROUNDS: usize = 7;

fn main() {
    if !table::wanted() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("session.jsonl");
    write_evidence(&file);

    let [ours, sha256sum, sha2] = medians(
        ROUNDS,
        [&mut || run(check_evidence().arg(&file)), &mut || run(Command::new("sha256sum").arg(&file)), &mut || {
            black_box(hash_once(&file));
        }],
    );
    let peak = peak_memory_kib(check_evidence().arg(&file));
    table::print(&[
        Row::speed("check-evidence, 1,000,000 entries : sha256sum", ours, sha256sum, Target::AtLeast(0.6)),
        Row::speed("check-evidence : SHA-256 of the file with the CPU's instructions", ours, sha2, Target::None),
        Row::memory("peak memory of check-evidence : its limit", peak, 64 << 10),
    ]);
}

fn check_evidence() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_git-proof"));
    command.arg("check-evidence");
    command
}

/// What sha256sum does, where it has no code for the CPU's SHA instructions (GNU coreutils built without OpenSSL).
fn hash_once(file: &Path) -> [u8; 32] {
    let mut file = File::open(file).unwrap();
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).unwrap() {
            0 => return hash.finalize().into(),
            length => hash.update(&piece[..length]),
        }
    }
}

/// About 300 MB: every hundredth entry branches off somewhere in the past, a tenth are attestations, a fifth have
/// metadata, all texts have something to escape.
fn write_evidence(path: &Path) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let opening = Opening {
        caller: "agent/1.0 (A U Thor <author@example.com>)".to_owned(),
        intent: "Measure how fast evidence is checked".to_owned(),
        proof_grade: true,
        scheme: Scheme::V1,
        session_id: Id::parse("bench").unwrap(),
        started_at: time(0),
        task_id: None,
    };
    let line = opening.to_line();
    writeln!(file, "{line}").unwrap();
    let mut chain = Chain::new(opening.scheme, opening.scheme.genesis(line.as_bytes()));
    let mut earlier: Vec<ChainHash> = vec![chain.genesis()];
    let mut content = String::new();
    for number in 0..ENTRIES {
        let prev_hash = if number % 100 == 99 { earlier[number * 7919 % earlier.len()] } else { chain.head() };
        say_something(&mut content, number);
        let entry = entry(number, prev_hash, &content);
        let line = entry.to_line();
        writeln!(file, "{line}").unwrap();
        let content_hash = opening.scheme.content_hash(line.as_bytes(), entry.body.text());
        earlier.push(chain.append(&content_hash, &prev_hash).unwrap());
    }
    file.into_inner().unwrap();
}

fn entry(number: usize, prev_hash: ChainHash, content: &str) -> Entry<'_> {
    let metadata = format!(r#"{{"confidence":0.75,"files":["src/part{}.rs"],"step":{number}}}"#, number % 97);
    let body = if number % 10 == 3 {
        Body::Attest { attest: Cow::Borrowed(content) }
    } else {
        Body::Thought {
            kind: RecordType::ALL[number % 4],
            content: Cow::Borrowed(content),
            task_id: number.is_multiple_of(2).then_some(Cow::Borrowed("TASK-42")),
        }
    };
    Entry {
        id: Id::parse(&format!("e{number:07}")).unwrap(),
        prev_hash,
        timestamp: time(number),
        metadata: number.is_multiple_of(5).then_some(Cow::Owned(metadata)),
        body,
    }
}

/// A text of 60 to 160 bytes.
fn say_something(content: &mut String, number: usize) {
    const WORDS: [&str; 8] =
        ["the parser ", "refuses ", "\"escaped\" ", "input — ", "as ", "specified,\n", "and ", "keeps order. "];
    content.clear();
    write!(content, "Step {number}: ").unwrap();
    for word in 0..8 + number % 9 {
        content.push_str(WORDS[(number + word * 5) % WORDS.len()]);
    }
}

fn time(number: usize) -> Timestamp {
    let (seconds, milliseconds) = (number / 1000, number % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Timestamp::parse(&format!("2026-03-01T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")).unwrap()
}
