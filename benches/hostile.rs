//! Inputs that are made to exhaust whoever reads them: how long the judgement of one commit takes, and how much memory, of
//! this program and of the git that it starts. The limits are five seconds and 256 MiB.
//!
//! `cargo bench --bench hostile`, and `cargo bench --bench hostile -- note tree` for the inputs whose names have one of these
//! words. `GIT_PROOF_HOSTILE=/path/to/git-proof` measures another program; what it does not finish in two minutes is killed.

#![allow(clippy::pedantic, clippy::zombie_processes, clippy::large_stack_arrays)] // a bench
#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop
#![allow(clippy::print_stderr)] // how far it is

mod history;
mod inputs;
mod scratch;
mod table;

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use git_proof::git::limits::{MAX_EVIDENCE, MAX_LINES, MAX_NOTE};
use git_proof::proof::anchor::Anchor;
use git_proof::proof::note::{NoteLine, Signature};
use git_proof::proof::record::Id;
use git_proof::proof::seal::{Rounds, SealedSession};
use git_proof::proof::timestamp::Timestamp;
use history::{anchored_history, seal_each};
use inputs::{BLOB, Packed, Repeated, Target, blob_id, chain, circle, pack, rsa_signature, shuffled};
use scratch::Scratch;
use serde_json::{Value, json};
use table::{Row, Target as Goal};

const TIME: Duration = Duration::from_secs(5);
const MEMORY_KIB: u32 = 256 << 10;
/// When a program is killed that does not end.
const PATIENCE: Duration = Duration::from_mins(2);

/// A repository whose newest commit is anchored, and that is about to be attacked.
struct Victim {
    scratch: Scratch,
    base: String,
    head: String,
    note: String,
    anchor: Anchor,
}

/// What an input is called, and what makes it and answers with the command that has to deal with it.
type Case = (&'static str, fn(&Victim) -> Vec<String>);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, program, rest @ ..] = arguments.as_slice()
        && flag == MEASURE
    {
        return print_cost(Command::new(program).args(rest));
    }
    if !table::wanted() {
        return;
    }
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let asked = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let mut rows = Vec::new();
    for (name, make) in CASES.iter().filter(|(name, _)| asked(name)) {
        let victim = Victim::new();
        let arguments = make(&victim);
        rows.extend(measure(name, victim.measured(&arguments)));
    }
    for (name, flood) in FLOODS.iter().filter(|(name, _)| asked(name)) {
        rows.push(Row::memory(&format!("server: {name}"), flood(), MEMORY_KIB));
    }
    table::print(&rows);
}

const CASES: &[Case] = &[
    ("nothing hostile", |victim| victim.gate()),
    ("one note of 16 MiB on 256 indexed commits", shared_note),
    ("256 notes of 1 MiB, all different, on indexed commits", many_notes),
    ("a note of 4,000 deltas of 16 MB", long_chain),
    ("1,000 signatures of unknown RSA keys of 16,384 bits", unknown_keys),
    ("a note full of bad signatures of a listed RSA key", bad_signatures),
    ("evidence of 64 MiB, all of it attestations", large_evidence),
    ("a file of 16 million lines", many_lines),
    ("as many lines as are compared, in another order", most_lines),
    ("300 files of 10,000 lines in another order", many_files),
    ("a text of 500 MB", large_text),
    ("a message of 600 MB of trailers", large_message),
    ("a message of 4 MiB of trailers that rules are held against", trailers),
    ("a message of 4 MiB of lines that look like ours", strays),
    ("a tree of 1.5 GB", large_tree),
    ("a tree of names that are prefixes of each other", |victim| {
        victim.judged_tree(victim.target(|target| target.prefixes(9000)))
    }),
    ("trees in trees in the commit, all paths asked for", path_bomb),
    ("sparse indexes of 1 GiB", sparse_indexes),
    ("an object that is a delta of itself, in the last of 60 packs", circles),
    ("1,000 packs that each have what is asked for, damaged", many_packs),
    ("a merge of files of 4 million lines", merged_lines),
    ("a merge with 4,000 renames", merged_renames),
    ("a seal of 60 MiB", large_seal),
    ("200,000 notes, and a seal whose anchor is in none", deleted_anchor),
    ("120 ranges of ranges that hold each other", ranges),
    ("trees in trees as notes, sealed", notes_bomb),
    ("trees in trees as notes, pushed to a server", pushed_bomb),
    ("notes of 700,000 commits, pushed to a server", pushed_history),
];

type Flood = (&'static str, fn() -> u32);

const FLOODS: &[Flood] = &[
    ("a client that asks and does not read", silent_client),
    ("messages of many values", wide_messages),
    ("calls that are cancelled at once", cancelled_calls),
];

impl Victim {
    fn new() -> Self {
        let scratch = Scratch::new();
        anchored_history(&scratch, 2);
        let rev = |name: &str| output(scratch.git(&["rev-parse", name]));
        let (base, head) = (rev("many~1"), rev("many"));
        let note = output(scratch.git(&["notes", "--ref=proof", "show", &head]));
        let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(note.as_bytes()) else { unreachable!() };
        Self { base, head, note, anchor: *anchor, scratch }
    }

    fn target<T>(&self, work: impl FnOnce(&Target<'_>) -> T) -> T {
        let git = |arguments: &[&str], input: &[u8]| {
            let mut command = self.scratch.git(arguments);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let input = input.to_vec();
            let writer = std::thread::spawn(move || stdin.write_all(&input));
            let output = child.wait_with_output().unwrap();
            let _ = writer.join();
            assert!(output.status.success(), "{arguments:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        work(&Target { path: self.scratch.path(), git: &git })
    }

    fn command(&self, arguments: &[String]) -> Command {
        self.with(Command::new(program()), arguments)
    }

    /// The same command, which this program starts once more and measures: the kernel counts the memory of the one who starts
    /// a program as that program's, and this process has made the inputs.
    fn measured(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([MEASURE, &program()]);
        self.with(command, arguments)
    }

    fn with(&self, mut command: Command, arguments: &[String]) -> Command {
        let (arguments, input) = match arguments.split_last() {
            Some((last, rest)) if last.starts_with("< ") => (rest, Some(last[2..].to_owned())),
            _ => (arguments, None),
        };
        command.args(arguments).current_dir(self.scratch.path()).stdin(Stdio::null());
        if let Some(input) = input {
            let file = self.scratch.path().join(".git/input");
            fs::write(&file, input + "\n").unwrap();
            command.stdin(File::open(file).unwrap());
        }
        command
    }

    fn gate_of(&self, base: &str, head: &str) -> Vec<String> {
        ["--json", "gate", "--base", base, "--head", head].map(str::to_owned).to_vec()
    }

    fn gate(&self) -> Vec<String> {
        self.gate_of(&self.base, &self.head)
    }

    /// A commit of this tree on top of the proven one, with a mark that asks for a proof.
    fn judged_tree(&self, tree: String) -> Vec<String> {
        let commit = self.target(|target| target.commit(&tree, &[&self.head], &b"x\n\nProof-Grade: true\n"[..].into()));
        self.gate_of(&self.head, &commit)
    }

    /// The same with one more file before and after.
    fn judged_files(&self, files: &[(String, String)], changed: &[(String, String)]) -> Vec<String> {
        let tree = |files: &[(String, String)]| {
            self.target(|target| target.tree(files.iter().map(|(name, id)| ("100644", id.clone(), name.clone()))))
        };
        let (before, after) = (tree(files), tree(changed));
        let marked = || b"x\n\nProof-Grade: true\n"[..].into();
        let (old, new) = self.target(|target| {
            let old = target.commit(&before, &[&self.head], &b"x\n"[..].into());
            let new = target.commit(&after, &[&old], &marked());
            (old, new)
        });
        // Something to be found by the change, so that the change id is asked for.
        self.target(|target| target.index_change(&"00".repeat(32), "{}\n"));
        self.gate_of(&old, &new)
    }

    /// A commit of the same change as the proven one, elsewhere, so that the index is asked.
    fn moved(&self) -> (String, String) {
        self.target(|target| {
            let (old, new) =
                (target.tip(&format!("{}^{{tree}}", self.base)), target.tip(&format!("{}^{{tree}}", self.head)));
            let below = target.commit(&old, &[&self.base], &b"below\n"[..].into());
            let commit = target.commit(&new, &[&below], &b"moved\n\nProof-Grade: true\n"[..].into());
            (below, commit)
        })
    }

    /// Lines of anchors, each with another time, and so with another id.
    fn anchors(&self, bytes: usize, from: usize) -> String {
        let mut lines = String::new();
        for number in from.. {
            let time = format!(
                "2025-01-{:02}T00:{:02}:{:02}.{:03}Z",
                1 + number / 3_600_000,
                number / 60_000 % 60,
                number / 1000 % 60,
                number % 1000
            );
            let anchor = Anchor { anchored_at: Timestamp::parse(&time).unwrap(), ..self.anchor.clone() };
            let line = NoteLine::Anchor { anchor: Box::new(anchor), signature: None }.to_line().unwrap();
            if lines.len() + line.len() >= bytes {
                return lines;
            }
            lines.push_str(&line);
            lines.push('\n');
        }
        lines
    }

    /// Commits that are not there, each indexed for the change.
    fn indexed(&self, count: usize) -> Vec<String> {
        let commits: Vec<String> = (0..count).map(|number| format!("{number:040x}")).collect();
        let lines: String = commits.iter().map(|id| format!("{{\"commit\":\"{id}\"}}\n")).collect();
        let change = self.anchor.change_id.unwrap().to_string();
        self.target(|target| target.index_change(&change, &lines));
        commits
    }
}

fn output(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn shared_note(victim: &Victim) -> Vec<String> {
    let note = victim.anchors(16 << 20, 0);
    let commits = victim.indexed(256);
    victim.target(|target| {
        let blob = target.blob(note.as_bytes());
        target.add_notes(&commits.into_iter().map(|commit| (commit, blob.clone())).collect::<Vec<_>>());
    });
    let (base, head) = victim.moved();
    victim.gate_of(&base, &head)
}

fn many_notes(victim: &Victim) -> Vec<String> {
    let commits = victim.indexed(256);
    victim.target(|target| {
        let notes = commits.into_iter().enumerate();
        let notes =
            notes.map(|(number, commit)| (commit, target.blob(victim.anchors(MAX_NOTE, number * 10_000).as_bytes())));
        target.add_notes(&notes.collect::<Vec<_>>());
    });
    let (base, head) = victim.moved();
    victim.gate_of(&base, &head)
}

fn long_chain(victim: &Victim) -> Vec<String> {
    let content = victim.anchors(16 << 20, 0).into_bytes();
    let id = blob_id(&content);
    victim.target(|target| {
        target.install(&target.objects().join("pack"), "1", &pack(&chain(&content, 4000, &id), 2));
        let tree = target.tree([("100644", id.clone(), victim.head.clone())]);
        target.set_tree("refs/notes/proof", &tree);
    });
    victim.gate()
}

fn unknown_keys(victim: &Victim) -> Vec<String> {
    let mut lines = String::new();
    for number in 0..1000 {
        let anchor = Box::new(victim.anchor.clone());
        let signature = Some(Signature(rsa_signature(16_384, number)));
        lines.push_str(&NoteLine::Anchor { anchor, signature }.to_line().unwrap());
        lines.push('\n');
        if lines.len() + 7000 > MAX_NOTE && std::env::var("GIT_PROOF_HOSTILE").is_err() {
            break; // more is not read
        }
    }
    victim.target(|target| target.set_note(&victim.head, &target.blob(lines.as_bytes())));
    victim.gate()
}

fn bad_signatures(victim: &Victim) -> Vec<String> {
    let key = victim.scratch.path().join(".git/key");
    let mut keygen = Command::new("ssh-keygen");
    table::run(keygen.args(["-q", "-t", "rsa", "-b", "4096", "-N", "", "-f"]).arg(&key));
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    let listed = format!("ada@x {public}");
    let blob = Signature::from_base64(public.split(' ').nth(1).unwrap()).unwrap();
    let mut lines = String::new();
    for number in 0u32.. {
        let body = [&12u32.to_be_bytes()[..], b"rsa-sha2-512", &512u32.to_be_bytes(), &number.to_be_bytes(), &[1; 508]]
            .concat();
        let signature = Some(Signature(inputs::signature_of(&blob.0, &body)));
        let line = NoteLine::Anchor { anchor: Box::new(victim.anchor.clone()), signature }.to_line().unwrap();
        if lines.len() + line.len() >= MAX_NOTE {
            break;
        }
        lines.push_str(&(line + "\n"));
    }
    victim.target(|target| {
        target.set_note(&victim.head, &target.blob(lines.as_bytes()));
        let signers = target.tree([
            ("100644", target.blob(listed.as_bytes()), "allowed_signers".to_owned()),
            ("100644", target.blob(b"[proof]\nsignatures = 1\n"), "policy.toml".to_owned()),
        ]);
        let tree = target.tree([("040000", signers, ".proof".to_owned())]);
        let rules = target.commit(&tree, &[&victim.base], &b"rules\n"[..].into());
        victim.gate_of(&rules, &victim.head)
    })
}

/// Evidence of as many attestations as fit, with the anchor that names it.
fn large_evidence(victim: &Victim) -> Vec<String> {
    let evidence = output(victim.scratch.git(&["ls-tree", "-r", "refs/proof/evidence"]));
    let root = victim.anchor.root.to_string();
    let blob =
        evidence.lines().find(|line| line.contains(&root)).unwrap().split([' ', '\t']).nth(2).unwrap().to_owned();
    let text = output(victim.scratch.git(&["cat-file", "blob", &blob])) + "\n";
    let opening = text.lines().next().unwrap();
    let attested = text.lines().find(|line| line.contains("\"attest\"")).unwrap();
    // The chain breaks at the second, which is found when all of it has been read: the lines are hashed first.
    let mut forged = format!("{opening}\n");
    while forged.len() + attested.len() + 1 < MAX_EVIDENCE {
        writeln!(forged, "{attested}").unwrap();
    }
    victim.target(|target| {
        let file = target.tree([("100644", target.blob(forged.as_bytes()), format!("{root}.jsonl"))]);
        let tree = target.tree([("040000", file, root[..2].to_owned())]);
        target.set_tree("refs/proof/evidence", &tree);
    });
    victim.gate()
}

fn many_lines(victim: &Victim) -> Vec<String> {
    let file = |part: &[u8], after: &[u8]| {
        victim.target(|target| target.loose("blob", &Repeated { before: b"", part, times: 8 << 20, after }))
    };
    let (before, after) = (file(b"a\nb\n", b""), file(b"b\na\n", b"c\n"));
    victim.judged_files(&[("f".to_owned(), before)], &[("f".to_owned(), after)])
}

fn compared(victim: &Victim, files: usize, lines: usize) -> Vec<String> {
    let texts = shuffled(lines);
    let named = |text: &[u8]| -> Vec<(String, String)> {
        let file = |number: usize| {
            let text = [format!("{number}\n").as_bytes(), text].concat();
            (format!("f{number}"), victim.target(|target| target.blob(&text)))
        };
        (0..files).map(file).collect()
    };
    victim.judged_files(&named(&texts[0]), &named(&texts[1]))
}

fn most_lines(victim: &Victim) -> Vec<String> {
    compared(victim, 1, MAX_LINES / 2 - 10)
}

fn many_files(victim: &Victim) -> Vec<String> {
    compared(victim, 300, 10_000)
}

fn large_text(victim: &Victim) -> Vec<String> {
    let line = b"a line of a text that goes on and on, as the lines of a dump do\n";
    let file = |after: &[u8]| {
        let times = 500_000_000 / line.len();
        victim.target(|target| target.loose("blob", &Repeated { before: b"", part: line, times, after }))
    };
    let (before, after) = (file(b""), file(b"c\n"));
    victim.judged_files(&[("f".to_owned(), before)], &[("f".to_owned(), after)])
}

fn message(victim: &Victim, part: &[u8], bytes: usize) -> String {
    let tree = victim.target(|target| target.tip("many^{tree}"));
    let message = Repeated { before: b"x\n\n", part, times: bytes / part.len(), after: b"" };
    victim.target(|target| target.commit(&tree, &[&victim.head], &message))
}

fn large_message(victim: &Victim) -> Vec<String> {
    let commit = message(victim, b"a: b\n", 600_000_000);
    let line = format!("< {} {commit} refs/heads/many", victim.head);
    vec!["hook".to_owned(), "pre-receive".to_owned(), line]
}

fn trailers(victim: &Victim) -> Vec<String> {
    let commit = message(victim, b"Co-authored-by: Claudf Copilos Codey Cursos Geminj\n", (4 << 20) - 1000);
    victim.gate_of(&victim.head, &commit)
}

fn strays(victim: &Victim) -> Vec<String> {
    let commit = message(victim, b"proof-\n", (4 << 20) - 1000);
    victim.gate_of(&victim.head, &commit)
}

fn large_tree(victim: &Victim) -> Vec<String> {
    // Sorted or not: it is refused by its size.
    let part = [&b"100644 a\0"[..], &[7; 20]].concat();
    let times = 1_500_000_000 / part.len();
    let tree = victim.target(|target| target.loose("tree", &Repeated { before: b"", part: &part, times, after: b"" }));
    victim.judged_tree(tree)
}

fn path_bomb(victim: &Victim) -> Vec<String> {
    let names: Vec<String> = (0..64).map(|number| format!("d{number:02}")).collect();
    victim.target(|target| {
        let leaf = target.tree([("100644", target.blob(b"x\n"), "f".to_owned())]);
        let tree = target.bomb(&names, 8, leaf);
        let policy = target.blob(b"[proof_grade]\npaths = [\"src/**\", \"**/x/**/y\"]\n");
        let rules = target.tree([("100644", policy, "policy.toml".to_owned())]);
        let rules = target.tree([("040000", rules, ".proof".to_owned())]);
        let base = target.commit(&rules, &[&victim.base], &b"rules\n"[..].into());
        let commit = target.commit(&tree, &[&base], &b"x\n"[..].into());
        victim.gate_of(&base, &commit)
    })
}

fn sparse_indexes(victim: &Victim) -> Vec<String> {
    victim.target(|target| {
        let folder = target.objects().join("pack");
        target.run(&["repack", "-adq"]);
        for number in 0..4 {
            let (packed, mut index) = pack(&[Packed::new(&"77".repeat(20), BLOB, b"x")], 2);
            // Forty million objects, all of them nothing.
            for first in 0x77..256 {
                index[8 + first * 4..12 + first * 4].copy_from_slice(&38_000_000u32.to_be_bytes());
            }
            let name = format!("{number:040x}");
            target.install(&folder, &name, &(packed, index[..1032].to_vec()));
            let file = OpenOptions::new().write(true).open(folder.join(format!("pack-{name}.idx"))).unwrap();
            file.set_len(1 << 30).unwrap();
            file.write_all_at(b"end", (1 << 30) - 3).unwrap();
        }
    });
    // Enough commits that the indexes are asked for a long range.
    let tree = victim.target(|target| target.tip("many^{tree}"));
    let mut stream = String::new();
    for number in 0..300 {
        let from = if number == 0 { format!("from {}\n", victim.head) } else { String::new() };
        writeln!(
            stream,
            "commit refs/heads/long\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\n{from}M 040000 {tree} \n"
        )
        .unwrap();
    }
    victim.target(|target| target.run_with(&["fast-import", "--quiet"], stream));
    vec!["--json".to_owned(), "verify".to_owned(), format!("{}..long", victim.base)]
}

/// Replaces the note of the proven commit by something in a pack that is found by way of many others.
fn circles(victim: &Victim) -> Vec<String> {
    let note = "ab".repeat(20);
    victim.target(|target| {
        let tree = target.tree([("100644", note.clone(), victim.head.clone())]);
        target.set_tree("refs/notes/proof", &tree);
        let folder = target.objects().join("pack");
        for number in 0..60 {
            let filling = Packed::new(&format!("{number:040x}"), BLOB, &vec![7; 100 << 10]);
            target.install(&folder, &format!("{number:040x}"), &pack(&[filling], 2));
        }
        target.install(&folder, &"f".repeat(40), &pack(&circle(&note), 2));
    });
    victim.gate()
}

fn many_packs(victim: &Victim) -> Vec<String> {
    let note = "ab".repeat(20);
    victim.target(|target| {
        let tree = target.tree([("100644", note.clone(), victim.head.clone())]);
        target.set_tree("refs/notes/proof", &tree);
        let entries = pack(&[Packed::new(&note, BLOB, &vec![b'\n'; MAX_NOTE])], 2);
        for number in 0..1000 {
            target.install(&target.objects().join("pack"), &format!("{number:040x}"), &entries);
        }
    });
    victim.gate()
}

fn merge_of(victim: &Victim, [base, ours, theirs, merged]: [&[(String, String)]; 4]) -> Vec<String> {
    victim.target(|target| {
        let tree = |files: &[(String, String)]| {
            target.tree(files.iter().map(|(name, id)| ("100644", id.clone(), name.clone())))
        };
        let commit =
            |files: &[(String, String)], parents: &[&str]| target.commit(&tree(files), parents, &b"x\n"[..].into());
        let from = commit(base, &[&victim.head]);
        let (one, two) = (commit(ours, &[&from]), commit(theirs, &[&from]));
        // Where no proof is asked for, nothing is merged.
        let merge = target.commit(&tree(merged), &[&one, &two], &b"x\n\nProof-Grade: true\n"[..].into());
        victim.gate_of(&one, &merge)
    })
}

fn merged_lines(victim: &Victim) -> Vec<String> {
    let file = |before: &[u8], after: &[u8]| {
        let blob =
            |target: &Target<'_>| target.loose("blob", &Repeated { before, part: b"a\nb\n", times: 2 << 20, after });
        vec![("f".to_owned(), victim.target(blob))]
    };
    merge_of(victim, [&file(b"", b""), &file(b"x\n", b""), &file(b"", b"y\n"), &file(b"x\n", b"y\nz\n")])
}

fn merged_renames(victim: &Victim) -> Vec<String> {
    let files = |prefix: &str, extra: &str| -> Vec<(String, String)> {
        let text = |number: usize| {
            let lines: String = (0..40).map(|line| format!("line {} of {number}\n", line * 7 + number % 13)).collect();
            lines + extra
        };
        (0..4000)
            .map(|number| (format!("{prefix}{number}"), victim.target(|target| target.blob(text(number).as_bytes()))))
            .collect()
    };
    let (base, ours) = (files("a", ""), files("b", "ours\n"));
    let mut theirs = base.clone();
    theirs[0].1 = victim.target(|target| target.blob(b"theirs\n"));
    merge_of(victim, [&base, &ours, &theirs, &ours])
}

fn large_seal(victim: &Victim) -> Vec<String> {
    let at = Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap();
    let session = |number: u32| SealedSession {
        anchors: vec![Anchor { count: u64::from(number) + 1, ..victim.anchor.clone() }.id()],
        count: 1,
        root: victim.anchor.root,
        scheme: victim.anchor.scheme,
        session_id: Id::parse(&format!("s{number}")).unwrap(),
    };
    let seal = Rounds::new().seal((0..230_000).map(session).collect(), at, at).unwrap().to_text();
    victim.target(|target| {
        let tree = target.tree([("100644", target.blob(seal.as_bytes()), "seal.json".to_owned())]);
        target.set_tree("refs/proof/rounds", &tree);
    });
    eprintln!("a seal of {} MiB", seal.len() >> 20);
    victim.gate()
}

fn deleted_anchor(victim: &Victim) -> Vec<String> {
    let sealed = SealedSession {
        anchors: vec![Anchor { count: 77, ..victim.anchor.clone() }.id()],
        count: 1,
        root: victim.anchor.root,
        scheme: victim.anchor.scheme,
        session_id: Id::parse("gone").unwrap(),
    };
    seal_each(&victim.scratch, &[sealed]);
    let mut stream = String::from("commit refs/notes/proof\ncommitter A <a@b> 1700000000 +0000\ndata 1\nn\n");
    for number in 0..200_000 {
        let line = victim.note.replacen("session-1", &format!("session-{number}"), 1);
        // Notes of commits that are not there: by path. In folders, because fast-import is slow where a folder is large.
        let (folder, rest) = (number % 256, number);
        writeln!(stream, "M 100644 inline {folder:02x}/{rest:038x}\ndata {}\n{line}", line.len() + 1).unwrap();
        stream.push('\n');
    }
    victim.target(|target| target.run_with(&["fast-import", "--quiet", "--force"], stream));
    victim.gate()
}

fn ranges(victim: &Victim) -> Vec<String> {
    let change = victim.anchor.change_id.unwrap().to_string();
    victim.target(|target| {
        let (forth, back) =
            (target.tip(&format!("{}^{{tree}}", victim.head)), target.tip(&format!("{}^{{tree}}", victim.base)));
        let marked = || b"x\n\nProof-Grade: true\n"[..].into();
        let (mut tip, mut ends) = (victim.base.clone(), vec![]);
        for _ in 0..15 {
            let up = target.commit(&forth, &[&tip], &marked());
            ends.push((tip, up.clone()));
            tip = target.commit(&back, &[&up], &marked());
        }
        let last = target.commit(&forth, &[&tip], &marked());
        let mut lines = String::new();
        for (at, (base, _)) in ends.iter().enumerate() {
            for (_, head) in &ends[at..] {
                writeln!(lines, "{{\"base\":\"{base}\",\"head\":\"{head}\"}}").unwrap();
            }
        }
        target.index_change(&change, &lines);
        target.set_tree("refs/notes/proof", "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        victim.gate_of(&tip, &last)
    })
}

/// A tree in which all notes of commits that there could be are the same note.
fn set_bomb(victim: &Victim) {
    victim.target(|target| {
        let leaf = target.tree([("100644", target.blob(b"x\n"), "00".to_owned())]);
        let bomb = target.bomb(&Target::fans(), 18, leaf);
        let note = target.blob(format!("{}\n", victim.note).as_bytes());
        let below = target.run(&["ls-tree", &bomb]);
        let tree = target.run_with(&["mktree"], format!("{below}\n100644 blob {note}\t{}\n", victim.head));
        target.set_tree("refs/notes/proof", &tree);
    });
}

fn notes_bomb(victim: &Victim) -> Vec<String> {
    set_bomb(victim);
    vec!["--json".to_owned(), "seal".to_owned()]
}

fn pushed_bomb(victim: &Victim) -> Vec<String> {
    let old = output(victim.scratch.git(&["rev-parse", "refs/notes/proof"]));
    set_bomb(victim);
    let new = output(victim.scratch.git(&["rev-parse", "refs/notes/proof"]));
    vec!["hook".to_owned(), "pre-receive".to_owned(), format!("< {old} {new} refs/notes/proof")]
}

fn pushed_history(victim: &Victim) -> Vec<String> {
    let old = output(victim.scratch.git(&["rev-parse", "refs/notes/proof"]));
    let mut stream = String::new();
    for number in 0..700_000 {
        let at = 1_700_000_000 + number;
        write!(stream, "commit refs/notes/long\ncommitter A <a@b> {at} +0000\ndata 1\nx\n").unwrap();
    }
    victim.target(|target| target.run_with(&["fast-import", "--quiet"], stream));
    let new = output(victim.scratch.git(&["rev-parse", "refs/notes/long"]));
    vec!["hook".to_owned(), "pre-receive".to_owned(), format!("< {old} {new} refs/notes/proof")]
}

/// Makes this program measure another one.
const MEASURE: &str = "--measure";

fn program() -> String {
    std::env::var("GIT_PROOF_HOSTILE").unwrap_or(env!("CARGO_BIN_EXE_git-proof").to_owned())
}

/// Runs a command and prints what `measure` reads.
#[allow(clippy::print_stdout)]
fn print_cost(command: &mut Command) {
    let (took, peak, code) = run(command);
    println!("{} {peak} {}", took.as_micros(), code.map_or("killed".to_owned(), |code| format!("exit {code}")));
}

/// Runs a command to its end: how long it took, the most memory that it or a program of its had, and how it ended.
#[allow(unsafe_code)]
fn run(command: &mut Command) -> (Duration, u32, Option<i32>) {
    let begun = Instant::now();
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let id = i32::try_from(child.id()).unwrap();
    let (mut status, mut used) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // SAFETY: the child is ours and is waited for here alone; both pointers are to live values.
        let ended = unsafe { libc::wait4(id, &raw mut status, libc::WNOHANG, used.as_mut_ptr()) };
        if ended == id {
            break;
        }
        if begun.elapsed() > PATIENCE {
            // SAFETY: it has not been waited for, so the id is still its own.
            unsafe { libc::kill(id, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let took = begun.elapsed();
    // SAFETY: zeroed is a valid value, and wait4 has filled it.
    let peak = u32::try_from(unsafe { used.assume_init() }.ru_maxrss).unwrap();
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    (took, peak, code)
}

fn measure(name: &str, mut command: Command) -> [Row; 2] {
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let mut words = said.trim_end().splitn(3, ' ');
    let took = Duration::from_micros(words.next().unwrap().parse().unwrap());
    let peak: u32 = words.next().unwrap().parse().unwrap();
    let ended = words.next().unwrap();
    eprintln!("{name}: {:.2} s, {} MiB, {ended}", took.as_secs_f64(), peak >> 10);
    [
        Row { target: Goal::AtMost(1.0), ..Row::cost(&format!("{name}: time ({ended}) : the limit"), took, TIME, 1.0) },
        Row::memory(&format!("{name}: memory : the limit"), peak, MEMORY_KIB),
    ]
}

/// A server that has been spoken to as the protocol says.
struct Server {
    _victim: Victim,
    process: Child,
}

impl Server {
    fn start() -> Self {
        let victim = Victim::new();
        let mut command = victim.command(&["mcp".to_owned()]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let client = json!({ "name": "hostile", "version": "0" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let input = process.stdin.as_mut().unwrap();
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello })).unwrap();
        let mut said = String::new();
        BufReader::with_capacity(1, process.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap();
        Self { _victim: victim, process }
    }

    fn peak_kib(&self) -> u32 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak.unwrap().parse().unwrap()
    }

    /// Writes for as long as the server reads, ten seconds at most, and says how much memory it took.
    fn flood(mut self, mut next: impl FnMut(usize) -> Vec<u8> + Send + 'static, read: bool) -> u32 {
        let mut input = self.process.stdin.take().unwrap();
        let writer = std::thread::spawn(move || {
            let begun = Instant::now();
            let mut number = 1;
            while begun.elapsed() < Duration::from_secs(10) && input.write_all(&next(number)).is_ok() {
                number += 1;
            }
            (number, input) // a server whose input ends is gone before it is measured
        });
        let mut output = self.process.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut some = [0; 1 << 16];
            while read && output.read(&mut some).is_ok_and(|length| length > 0) {}
            output
        });
        std::thread::sleep(Duration::from_secs(12));
        let peak = self.peak_kib();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        let (sent, _input) = writer.join().unwrap();
        let _ = reader.join();
        eprintln!("server: {sent} messages, {} MiB", peak >> 10);
        peak
    }
}

fn call(id: usize, tool: &str, arguments: &Value) -> Vec<u8> {
    let params = json!({ "name": tool, "arguments": arguments });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })).into_bytes()
}

fn silent_client() -> u32 {
    Server::start()
        .flood(|id| format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" })).into_bytes(), false)
}

fn wide_messages() -> u32 {
    let wide = "0,".repeat(4 << 20);
    Server::start().flood(
        move |id| {
            let call = String::from_utf8(call(id, "thought_record", &json!({ "metadata": ["X"] }))).unwrap();
            call.replace("\"X\"", &format!("{wide}0")).into_bytes()
        },
        true,
    )
}

fn cancelled_calls() -> u32 {
    Server::start().flood(
        |id| {
            let mut both = call(id, "thought_search", &json!({ "query": "x".repeat(100_000) }));
            let cancelled = json!({ "requestId": id });
            let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled });
            both.extend(format!("{cancel}\n").into_bytes());
            both
        },
        false,
    )
}
