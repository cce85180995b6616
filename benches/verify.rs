//! Whole histories judged, against what git needs to print them with their notes; and a gate that must not feel the past.
//!
//! `cargo bench --bench verify` for 10,000 commits; `COMMITS=100000 cargo bench --bench verify` for the long one.

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod scratch;
mod table;

use std::io::Write as _;
use std::process::Stdio;

use git_proof::context::Context;
use git_proof::git::Git;
use git_proof::proof::anchor::Anchor;
use git_proof::proof::change::GitAttestation;
use git_proof::proof::digest::CommitId;
use git_proof::proof::evidence;
use git_proof::proof::note::NoteLine;
use git_proof::proof::record::{Body, Entry, Id, Opening, RecordType};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::timestamp::Timestamp;
use scratch::Scratch;
use table::{Row, medians, peak_memory_kib, run};

const ROUNDS: usize = 5;
const GATED: usize = 10;

fn main() {
    if !table::wanted() {
        return;
    }
    let commits = std::env::var("COMMITS").map_or(10_000, |count| count.parse().unwrap());
    let scratch = Scratch::new();
    anchored_history(&scratch, commits);
    run(&mut scratch.git(&["gc", "-q"]));
    run(&mut scratch.git(&["commit-graph", "write", "--reachable"]));
    let range = format!("many~{}..many", commits - 1);
    let mut ours = || run(&mut scratch.git_proof(&["verify", "--quiet", &range]));
    let mut theirs = || run(&mut scratch.git(&["log", "--notes=proof", "--format=%H%n%B%n%N", &range]));
    let [ours, theirs] = medians(ROUNDS, [&mut ours, &mut theirs]);
    let base = format!("many~{GATED}");
    let gated = format!("{base}..many");
    let mut gate = || run(&mut scratch.git_proof(&["gate", "--base", &base, "--head", "many"]));
    let mut list = || run(&mut scratch.git(&["rev-list", &gated]));
    let [gate, list] = medians(30, [&mut gate, &mut list]);
    let memory = peak_memory_kib(&mut scratch.git_proof(&["verify", "--quiet", &range]));
    table::print(&[
        Row::cost(&format!("verify of {commits} commits : git log --notes"), ours, theirs, 1.5),
        Row::memory(&format!("peak memory of verify of {commits} commits"), memory, 256 << 10),
        Row::cost(&format!("gate of {GATED} commits among {commits} : git rev-list"), gate, list, 3.0),
    ]);
}

/// Commits on the branch `many`, each with a session of five entries anchored on it.
fn anchored_history(scratch: &Scratch, commits: usize) {
    let mut stream = String::new();
    for number in 0..commits {
        let text = format!("line {number}\n");
        stream.push_str(&format!(
            "commit refs/heads/many\nmark :{}\ncommitter A <a@b> {} +0000\ndata 7\nProof-x\nM 100644 inline d{}/f{}\ndata {}\n{text}\n",
            number + 1,
            1_700_000_000 + number,
            number % 16,
            number % 256,
            text.len(),
        ));
    }
    import(scratch, &stream);
    let listed = scratch.git(&["rev-list", "--reverse", "many"]).output().unwrap().stdout;
    let git = Git::discover(&Context::new(scratch.path().to_owned())).unwrap();
    let mut notes = String::from("commit refs/notes/proof\ncommitter A <a@b> 1700000000 +0000\ndata 1\nn\n");
    let mut files = String::from("commit refs/proof/evidence\ncommitter A <a@b> 1700000000 +0000\ndata 1\ne\n");
    for (number, id) in String::from_utf8(listed).unwrap().lines().enumerate() {
        let commit = git.commit(&CommitId::parse(id).unwrap()).unwrap();
        let change_id = git.change_id(&commit).unwrap();
        let attested = GitAttestation { change_id, commit: Some(commit.id), tree: commit.tree }.to_text();
        let text = session(number, &attested);
        let summary = evidence::verify(text.as_bytes()).unwrap();
        let anchor = Anchor {
            anchored_at: summary.opening.started_at,
            change_id,
            commit: commit.id,
            count: summary.count,
            genesis: summary.genesis,
            head: summary.head,
            root: summary.root,
            scheme: Scheme::V1,
            session_id: summary.opening.session_id.clone(),
            task_id: None,
            tree: commit.tree,
        };
        let line = NoteLine::Anchor { anchor: Box::new(anchor), signature: None }.to_line().unwrap() + "\n";
        notes.push_str(&format!("N inline {id}\ndata {}\n{line}\n", line.len()));
        let root = summary.root.to_string();
        files.push_str(&format!("M 100644 inline {}/{root}.jsonl\ndata {}\n{text}\n", &root[..2], text.len()));
    }
    import(scratch, &notes);
    import(scratch, &files);
}

fn session(number: usize, attested: &str) -> String {
    let at = Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap();
    let opening = Opening {
        caller: "bench".into(),
        intent: "one of many".into(),
        proof_grade: true,
        scheme: Scheme::V1,
        session_id: Id::parse(&format!("session-{number}")).unwrap(),
        started_at: at,
        task_id: None,
    };
    let mut text = opening.to_line() + "\n";
    let mut prev_hash = Scheme::V1.genesis(opening.to_line().as_bytes());
    let thought = |kind| Body::Thought { kind, content: scratch::CONTENT.into(), task_id: None };
    let bodies = [
        thought(RecordType::Plan),
        thought(RecordType::Decision),
        thought(RecordType::Analysis),
        Body::Attest { attest: attested.into() },
        thought(RecordType::Reflection),
    ];
    for (entry, body) in bodies.into_iter().enumerate() {
        let id = Id::parse(&format!("{number}-{entry}")).unwrap();
        let line = Entry { id, prev_hash, timestamp: at, metadata: None, body: body.clone() }.to_line();
        let content = Scheme::V1.content_hash(line.as_bytes(), body.text());
        prev_hash = Scheme::V1.chain_hash(&content, &prev_hash);
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn import(scratch: &Scratch, stream: &str) {
    let mut child = scratch.git(&["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}
