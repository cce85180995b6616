//! Histories in which every commit is anchored, and chains of rounds, made by `git fast-import`.

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop
#![allow(dead_code)] // each benchmark takes what it needs

use std::io::Write as _;
use std::process::Stdio;

use git_proof::context::Context;
use git_proof::git::Git;
use git_proof::proof::anchor::Anchor;
use git_proof::proof::change::{GitAttestation, Sighting};
use git_proof::proof::digest::CommitId;
use git_proof::proof::evidence;
use git_proof::proof::note::NoteLine;
use git_proof::proof::record::{Body, Entry, Id, Opening, RecordType};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::seal::{Rounds, SealedSession};
use git_proof::proof::timestamp::Timestamp;

use crate::scratch::{CONTENT, Scratch};
use crate::table::run;

/// Where the chain of rounds is.
pub(crate) const ROUNDS: &str = "refs/proof/rounds";

/// Commits on the branch `many` that change 256 files in turn, each with a session of five entries anchored on it. The answer
/// is what a seal would say of them.
pub(crate) fn anchored_history(scratch: &Scratch, commits: usize) -> Vec<SealedSession> {
    anchored_files(scratch, commits, 256)
}

/// The same with so many files.
pub(crate) fn anchored_files(scratch: &Scratch, commits: usize, files: usize) -> Vec<SealedSession> {
    let mut stream = String::new();
    for number in 0..commits {
        let text = format!("line {number}\n");
        stream.push_str(&format!(
            "commit refs/heads/many\nmark :{}\ncommitter A <a@b> {} +0000\ndata 7\nProof-x\nM 100644 inline d{}/f{}\ndata {}\n{text}\n",
            number + 1,
            1_700_000_000 + number,
            number % 16,
            number % files,
            text.len(),
        ));
    }
    import(scratch, &stream);
    anchor(scratch, &list(scratch, &["--reverse", "many"]))
}

/// The commits that `git rev-list` lists.
pub(crate) fn list(scratch: &Scratch, arguments: &[&str]) -> Vec<CommitId> {
    let listed = scratch.git(&["rev-list"]).args(arguments).output().unwrap().stdout;
    String::from_utf8(listed).unwrap().lines().map(|id| CommitId::parse(id).unwrap()).collect()
}

/// Anchors a session of five entries on each of these commits. The answer is what a seal would say of them.
pub(crate) fn anchor(scratch: &Scratch, commits: &[CommitId]) -> Vec<SealedSession> {
    let mut sessions = Vec::new();
    let git = Git::discover(&Context::new(scratch.path().to_owned())).unwrap();
    let mut notes = String::from("commit refs/notes/proof\ncommitter A <a@b> 1700000000 +0000\ndata 1\nn\n");
    let mut files = String::from("commit refs/proof/evidence\ncommitter A <a@b> 1700000000 +0000\ndata 1\ne\n");
    for (number, id) in commits.iter().enumerate() {
        let commit = git.commit(id).unwrap();
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
        sessions.push(SealedSession {
            anchors: vec![anchor.id()],
            count: anchor.count,
            root: anchor.root,
            scheme: anchor.scheme,
            session_id: anchor.session_id.clone(),
        });
        let line = NoteLine::Anchor { anchor: Box::new(anchor), signature: None }.to_line().unwrap() + "\n";
        notes.push_str(&format!("N inline {id}\ndata {}\n{line}\n", line.len()));
        let root = summary.root.to_string();
        files.push_str(&format!("M 100644 inline {}/{root}.jsonl\ndata {}\n{text}\n", &root[..2], text.len()));
    }
    import(scratch, &notes);
    import(scratch, &files);
    sessions
}

/// Writes into the index where the changes of these commits were seen.
pub(crate) fn index(scratch: &Scratch, commits: &[CommitId]) {
    let git = Git::discover(&Context::new(scratch.path().to_owned())).unwrap();
    let mut changes = String::from("commit refs/proof/changes\ncommitter A <a@b> 1700000000 +0000\ndata 1\nc\n");
    for id in commits {
        let ids = git.change_ids_of(&git.commit(id).unwrap()).unwrap();
        for (change, sighting) in ids.iter().flat_map(|ids| ids.sighted(Sighting::Commit(*id))) {
            let (change, line) = (change.to_string(), sighting.to_line() + "\n");
            changes.push_str(&format!("M 100644 inline {}/{change}\ndata {}\n{line}\n", &change[..2], line.len()));
        }
    }
    import(scratch, &changes);
}

/// Files of [`project`], and lines of each.
const FILES: usize = 4000;
const LINES: usize = 60;
/// Commits on the main line between where a branch leaves it and where it is merged.
const WEEKS: usize = 200;

/// The branch `old`, like that of a real project: thousands of files, and every fourth commit a merge of a branch that left
/// the main line weeks before. Nothing of it is anchored. Branches touch files with odd numbers and the main line those
/// with even ones, so that each merge is clean.
pub(crate) fn project(scratch: &Scratch, commits: usize) {
    let mut stream = String::new();
    // Which commit wrote each line of each file last.
    let mut lines = vec![[0; LINES]; FILES];
    let file = |stream: &mut String, number: usize, lines: &[usize; LINES]| {
        let line = |(at, last): (usize, &usize)| format!("line {at} of file {number}, as commit {last} left it\n");
        let text: String = lines.iter().enumerate().map(line).collect();
        let (part, unit) = (number % 40, number % 7);
        stream.push_str(&format!("M 100644 inline part-{part}/unit-{unit}/file-{number}\ndata {}\n", text.len()));
        stream.push_str(&text);
        stream.push('\n');
    };
    // Main commits have the marks 1, 2, …; the commits of branches those after them.
    let head = |branch: &str, mark: usize, number: usize| {
        let message = format!("Change {mark} of {branch}\n\nBecause of something that took long to explain.\n");
        let (time, length) = (1_500_000_000 + number * 3600, message.len());
        format!("commit refs/heads/{branch}\nmark :{mark}\ncommitter A <a@b> {time} +0000\ndata {length}\n{message}")
    };
    for number in 0..commits {
        let merged = (number % 4 == 3 && number > WEEKS).then_some(number / 4 * 2 % FILES + 1);
        if let Some(touched) = merged {
            for step in 0..2 {
                lines[touched][(number + step * 20) % LINES] = number;
                let mark = commits + number * 2 + step;
                stream.push_str(&head("side", mark, number));
                let from = if step == 0 { number - WEEKS } else { mark - 1 };
                stream.push_str(&format!("from :{from}\n"));
                file(&mut stream, touched, &lines[touched]);
            }
        }
        stream.push_str(&head("old", number + 1, number));
        if number == 0 {
            (0..FILES).for_each(|number| file(&mut stream, number, &lines[number]));
            continue;
        }
        stream.push_str(&format!("from :{number}\n"));
        if let Some(touched) = merged {
            stream.push_str(&format!("merge :{}\n", commits + number * 2 + 1));
            file(&mut stream, touched, &lines[touched]);
            continue;
        }
        for step in 0..=number % 3 {
            let touched = (number * 37 + step * 11) * 2 % FILES;
            lines[touched][number * 13 % LINES] = number;
            file(&mut stream, touched, &lines[touched]);
        }
    }
    import(scratch, &stream);
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
    let thought = |kind| Body::Thought { kind, content: CONTENT.into(), task_id: None };
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

/// A chain of rounds with one session each.
pub(crate) fn seal_each(scratch: &Scratch, sessions: &[SealedSession]) {
    let at = Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap();
    let mut rounds = Rounds::new();
    let mut stream = String::new();
    for session in sessions {
        let seal = rounds.seal(vec![session.clone()], at, at).unwrap().to_text();
        rounds.push(seal.as_bytes()).unwrap();
        stream.push_str(&format!(
            "commit {ROUNDS}\ncommitter A <a@b> 1700000000 +0000\ndata 1\nr\nM 100644 inline seal.json\ndata {}\n{seal}\n",
            seal.len()
        ));
    }
    import(scratch, &stream);
}

/// Takes back the last round, and what the store remembers of it.
pub(crate) fn unseal(scratch: &Scratch) {
    let before = format!("{ROUNDS}~1");
    let there = scratch.git(&["rev-parse", "--verify", "-q", &before]).output().unwrap().status.success();
    run(&mut scratch.git(&if there { vec!["update-ref", ROUNDS, &before] } else { vec!["update-ref", "-d", ROUNDS] }));
    std::fs::remove_dir_all(scratch.path().join(".git/proof")).unwrap();
}

/// Has git read a stream.
pub(crate) fn import(scratch: &Scratch, stream: &str) {
    let mut child = scratch.git(&["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}
