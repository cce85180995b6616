//! Packs that git would not make, and packs of every shape that it does: what a commit is said to be never depends on how
//! its objects are stored, and no bytes in a pack make the answer a good one, a panic or none at all.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::ZlibEncoder;
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

use super::packed::{overwrite, pad};
use super::{Judged, Proven, STRICT};
use crate::store::scratch::Scratch;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// What is left out or altered of a history's proofs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proofs {
    Whole,
    /// Some commits have no note, another's note, or no evidence.
    Gaps,
}

/// So many commits with a session each, on top of a strict policy: small changes to a few files, so that git makes long
/// chains of deltas.
fn anchored(scratch: Scratch, count: usize, proofs: Proofs) -> Proven {
    let mut proven = Proven { scratch, base: String::new(), head: String::new(), root: String::new() };
    let mut dice = Dice(7);
    let mut files = vec![(0..60).map(|line| format!("line {line} as it was\n")).collect::<Vec<_>>(); 5];
    let mut stream = format!(
        "commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 1\nb\nM 100644 inline .proof/policy.toml\ndata {}\n{STRICT}\n",
        STRICT.len()
    );
    for number in 0..count {
        let (file, line) = (dice.roll(files.len()), dice.roll(60));
        files[file][line] = format!("line {line} since {number}\n");
        let text = files[file].concat();
        stream.push_str(&format!(
            "commit refs/heads/main\ncommitter A <a@b> {} +0000\ndata 1\nc\nM 100644 inline d{}/f{file}\ndata {}\n{text}\n",
            1_700_000_001 + number,
            file % 2,
            text.len()
        ));
    }
    proven.git_with(&["fast-import", "--quiet"], stream);
    let commits = proven.git(&["rev-list", "--reverse", "main"]);
    let mut commits = commits.lines();
    commits.next().unwrap().clone_into(&mut proven.base);
    proven.head = proven.tip("main");
    let git = Git::discover(&Context::new(proven.scratch.place.clone())).unwrap();
    let mut notes = String::from("commit refs/notes/proof\ncommitter A <a@b> 1700000000 +0000\ndata 1\nn\n");
    let mut files = String::from("commit refs/proof/evidence\ncommitter A <a@b> 1700000000 +0000\ndata 1\ne\n");
    let mut before = String::new();
    for (number, id) in commits.enumerate() {
        let (text, mut line) = session(&git, number, id);
        let root = evidence::verify(text.as_bytes()).unwrap().root.to_string();
        let gap = if proofs == Proofs::Gaps { dice.roll(12) } else { usize::MAX };
        if gap == 0 {
            continue;
        }
        if gap == 1 {
            line.clone_from(&before);
        }
        notes.push_str(&format!("N inline {id}\ndata {}\n{line}\n", line.len()));
        before = line;
        if gap != 2 {
            files.push_str(&format!("M 100644 inline {}/{root}.jsonl\ndata {}\n{text}\n", &root[..2], text.len()));
        }
    }
    proven.git_with(&["fast-import", "--quiet"], notes);
    proven.git_with(&["fast-import", "--quiet"], files);
    proven
}

/// The evidence of a session that explains a commit, and the line of its note.
fn session(git: &Git, number: usize, id: &str) -> (String, String) {
    let commit = git.commit(&CommitId::parse(id).unwrap()).unwrap();
    let change_id = git.change_id(&commit).unwrap();
    let attest = GitAttestation { change_id, commit: Some(commit.id), tree: commit.tree }.to_text();
    let at = Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap();
    let opening = Opening {
        caller: "test".into(),
        intent: "one of many".into(),
        proof_grade: true,
        scheme: Scheme::V1,
        session_id: Id::parse(&format!("session-{number}")).unwrap(),
        started_at: at,
        task_id: None,
    };
    let mut text = opening.to_line() + "\n";
    let mut prev_hash = Scheme::V1.genesis(opening.to_line().as_bytes());
    let thought =
        |kind| Body::Thought { kind, content: "to shout, or not to shout, at line five".into(), task_id: None };
    let bodies = [
        thought(RecordType::Decision),
        Body::Attest { attest: attest.as_str().into() },
        thought(RecordType::Reflection),
    ];
    for (entry, body) in bodies.into_iter().enumerate() {
        let id = Id::parse(&format!("{number}-{entry}")).unwrap();
        let line = Entry { id, prev_hash, timestamp: at, metadata: None, body: body.clone() }.to_line();
        prev_hash = Scheme::V1.chain_hash(&Scheme::V1.content_hash(line.as_bytes(), body.text()), &prev_hash);
        text.push_str(&(line + "\n"));
    }
    let found = evidence::verify(text.as_bytes()).unwrap();
    let anchor = Anchor {
        anchored_at: at,
        change_id,
        commit: commit.id,
        count: found.count,
        genesis: found.genesis,
        head: found.head,
        root: found.root,
        scheme: Scheme::V1,
        session_id: found.opening.session_id.clone(),
        task_id: None,
        tree: commit.tree,
    };
    (text, NoteLine::Anchor { anchor: Box::new(anchor), signature: None }.to_line().unwrap() + "\n")
}

impl Proven {
    /// Judges the whole history; it is long enough to be read ahead.
    fn long_range(&self) -> Judged {
        self.judge(&["verify", &format!("{}..main", self.base)])
    }

    /// The verdicts of the same commits, in parts that are too short for that.
    fn in_parts(&self, count: usize) -> Vec<serde_json::Value> {
        let middle = format!("main~{}", count / 2);
        let parts = [format!("{middle}..main"), format!("{}..{middle}", self.base)];
        parts
            .iter()
            .flat_map(|range| self.judge(&["verify", range]).said["commits"].as_array().unwrap().clone())
            .collect()
    }

    fn pack_folder(&self) -> PathBuf {
        self.scratch.place.join(".git/objects/pack")
    }

    fn packs(&self, extension: &str) -> Vec<PathBuf> {
        let files = fs::read_dir(self.pack_folder()).unwrap().map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
    }
}

#[test]
fn verdicts_do_not_depend_on_how_objects_are_stored() {
    const COUNT: usize = 260;
    let proven = anchored(Scratch::new(), COUNT, Proofs::Gaps);
    // Libgit2 reads an index of version 1, and nobody else does.
    proven.git(&["-c", "pack.indexVersion=1", "repack", "-adq"]);
    let expected = proven.long_range();
    let commits = expected.said["commits"].as_array().unwrap();
    assert_eq!((expected.exit, commits.len()), (Some(1), COUNT));
    for code in ["EVIDENCE_MISSING", "BINDING_MISMATCH"] {
        assert!(expected.codes("error").contains(&code), "{code} in {:?}", expected.codes("error"));
    }
    let same = |layout: &str| {
        let found = proven.long_range();
        assert_eq!((found.exit, &found.said), (expected.exit, &expected.said), "{layout}");
        assert_eq!(&proven.in_parts(COUNT), commits, "{layout}, in parts");
    };
    same("index of version 1");
    proven.git(&["repack", "-adfq", "--depth=250", "--window=60"]);
    same("deep chains");
    proven.git(&["gc", "--quiet", "--aggressive", "--prune=now"]);
    same("gc --aggressive");
    proven.git(&["repack", "-adfq", "--max-pack-size=1m"]);
    proven.git(&["multi-pack-index", "write"]);
    same("several packs with an index over all");
    let index = proven.packs("idx").remove(0);
    let pack = fs::read(index.with_extension("pack")).unwrap();
    // Everything loose as well as packed, and then loose alone.
    fs::rename(proven.pack_folder(), proven.scratch.around().join("packs")).unwrap();
    fs::create_dir(proven.pack_folder()).unwrap();
    let unpacked = crate::common::run_with_input(proven.scratch.command("git").args(["unpack-objects", "-q"]), &pack);
    assert_eq!(unpacked.code, Some(0), "{}", unpacked.stderr);
    fs::remove_dir(proven.pack_folder()).unwrap();
    fs::rename(proven.scratch.around().join("packs"), proven.pack_folder()).unwrap();
    same("loose and packed");
    // What is elsewhere.
    let (objects, other) = (proven.scratch.place.join(".git/objects"), proven.scratch.around().join("elsewhere"));
    fs::rename(&objects, &other).unwrap();
    fs::create_dir_all(objects.join("info")).unwrap();
    fs::write(objects.join("info/alternates"), format!("{}\n", other.display())).unwrap();
    same("alternates");
}

#[test]
fn long_range_of_a_sha256_repository_passes_and_fails_as_its_parts() {
    const COUNT: usize = 256;
    let scratch = Scratch::without_repository();
    scratch.git(["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
    let proven = anchored(scratch, COUNT, Proofs::Gaps);
    proven.git(&["gc", "--quiet"]);
    let found = proven.long_range();
    assert_eq!((found.exit, found.said["commits"].as_array()), (Some(1), Some(&proven.in_parts(COUNT))));
    assert!(found.said["summary"]["pass"].as_u64().unwrap() > 150, "{}", found.said["summary"]);
}

#[test]
fn altered_bytes_of_a_pack_or_an_index_never_alter_a_good_answer() {
    let proven = anchored(Scratch::new(), 300, Proofs::Whole);
    proven.git(&["gc", "--quiet", "--prune=now"]);
    let expected = proven.long_range();
    expected.passes();
    let mut dice = Dice(11);
    let mut bad = 0;
    for extension in ["pack", "idx"] {
        let path = proven.packs(extension).remove(0);
        let whole = fs::read(&path).unwrap();
        for _ in 0..12 {
            let mut altered = whole.clone();
            for _ in 0..=dice.roll(3) {
                let at = dice.roll(altered.len());
                altered[at] ^= u8::try_from(1 + dice.roll(255)).unwrap();
            }
            if dice.roll(6) == 0 {
                altered.truncate(dice.roll(whole.len()));
            }
            overwrite(&path, &altered);
            let found = proven.long_range();
            assert!(matches!(found.exit, Some(0..=4)), "{found:?}");
            if found.exit == Some(0) {
                assert_eq!(found.said, expected.said);
            } else {
                bad += 1;
            }
        }
        overwrite(&path, &whole);
    }
    assert!(bad > 5, "only {bad} of 24 were noticed");
}

/// An entry of a pack: its kind, the size that it claims, what comes before its stream, and what is in that.
struct Packed {
    kind: u8,
    size: u64,
    base: Vec<u8>,
    content: Vec<u8>,
}

impl Packed {
    fn new(kind: u8, base: &[u8], content: &[u8]) -> Self {
        Self { kind, size: content.len() as u64, base: base.to_vec(), content: content.to_vec() }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut rest = self.size >> 4;
        let mut bytes = vec![self.kind << 4 | (self.size & 15) as u8 | u8::from(rest > 0) << 7];
        while rest > 0 {
            bytes.push((rest & 0x7f) as u8 | u8::from(rest > 0x7f) << 7);
            rest >>= 7;
        }
        bytes.extend(&self.base);
        let mut stream = ZlibEncoder::new(bytes, Compression::fast());
        stream.write_all(&self.content).unwrap();
        stream.finish().unwrap()
    }
}

fn raw(id: &str) -> Vec<u8> {
    (0..id.len()).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap()).collect()
}

/// A pack with these entries, and an index that says it has them under these ids. The places of the last can be set.
fn made_up(entries: &[(&str, Packed)], place: Option<u64>) -> (Vec<u8>, Vec<u8>) {
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
    let mut places = Vec::new();
    for (id, entry) in entries {
        places.push((raw(id), pack.len() as u64));
        pack.extend(entry.to_bytes());
    }
    if let (Some(place), Some(last)) = (place, places.last_mut()) {
        last.1 = place;
    }
    pack.extend([0x11; 20]);
    places.sort();
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for first in 0..=255 {
        let count = places.iter().filter(|(id, _)| id[0] <= first).count();
        index.extend(u32::try_from(count).unwrap().to_be_bytes());
    }
    index.extend(places.iter().flat_map(|(id, _)| id.clone()));
    index.extend(vec![0; 4 * places.len()]);
    let mut far = Vec::new();
    for (_, place) in &places {
        let near = u32::try_from(*place).ok().filter(|place| *place < 1 << 31);
        index.extend(near.unwrap_or(1 << 31 | u32::try_from(far.len() / 8).unwrap()).to_be_bytes());
        far.extend(if near.is_none() { place.to_be_bytes().to_vec() } else { Vec::new() });
    }
    index.extend(far);
    index.extend([0x11; 20]);
    index.extend([0x22; 20]);
    (pack, index)
}

/// What is wrong with a pack, what is in it, and where the last of that is said to be.
type Case<'a> = (&'a str, Vec<(&'a str, Packed)>, Option<u64>);

#[test]
fn made_up_pack_is_no_answer_and_does_not_stop_anyone() {
    let proven = Proven::with_policy(STRICT);
    pad(&proven, 260);
    let note = proven.git(&["notes", "--ref=proof", "list", &proven.head]);
    let text = proven.git(&["cat-file", "blob", &note]) + "\n";
    fs::remove_file(proven.object_file(&note)).unwrap();
    let forged = text.replace(&proven.root, &"0".repeat(64));
    let other = "77".repeat(20);
    let (blob, near, by_id) = (3, 6, 7);
    let delta = Packed::new;
    // A size of nine and one of what it makes, then a copy of all nine.
    let copy: &[u8] = &[9, 9, 0b1001_0000, 9];
    let overflow = [&[0x80][..], &[0xfe; 8], &[0xff, 0x7f]].concat();
    let far = Some(1 << 40);
    let huge = |size| Packed { size, ..Packed::new(blob, b"", text.as_bytes()) };
    let cases: Vec<Case<'_>> = vec![
        ("forged content", vec![(&note, Packed::new(blob, b"", forged.as_bytes()))], None),
        ("another kind", vec![(&note, Packed::new(1, b"", text.as_bytes()))], None),
        ("no kind", vec![(&note, Packed::new(5, b"", text.as_bytes()))], None),
        ("a delta of itself", vec![(&note, delta(by_id, &raw(&note), copy))], None),
        (
            "deltas of each other",
            vec![(&note, delta(by_id, &raw(&other), copy)), (&other, delta(by_id, &raw(&note), copy))],
            None,
        ),
        (
            "deltas of each other that claim to be huge",
            vec![
                (&note, Packed { size: 1 << 40, ..delta(by_id, &raw(&other), copy) }),
                (&other, delta(by_id, &raw(&note), copy)),
            ],
            None,
        ),
        ("a delta of nothing", vec![(&note, delta(by_id, &raw(&other), copy))], None),
        ("a delta of its own place", vec![(&note, delta(near, &[0], copy))], None),
        ("a delta of what is before the pack", vec![(&note, delta(near, &[0xff, 0x7f], copy))], None),
        ("a place that is no number", vec![(&note, delta(near, &overflow, copy))], None),
        ("a size that is too large", vec![(&note, huge(1 << 31))], None),
        ("a size that is no number", vec![(&note, huge(u64::MAX))], None),
        ("a size that is too small", vec![(&note, huge(3))], None),
        ("a place beyond the pack", vec![(&note, huge(3))], Some(1 << 20)),
        ("a place far beyond the pack", vec![(&note, huge(3))], far),
        ("a place beyond all numbers", vec![(&note, huge(3))], Some(u64::MAX)),
        ("the end of the pack", vec![(&note, huge(3))], Some(50)),
        (
            "a delta that makes too much",
            vec![
                (&other, Packed::new(blob, b"", b"nine byte")),
                (&note, delta(by_id, &raw(&other), &[9, 0xff, 0xff, 0xff, 0xff, 0x0f, 0b1001_0000, 9])),
            ],
            None,
        ),
        (
            "a delta of something else",
            vec![(&other, Packed::new(blob, b"", b"nine byte")), (&note, delta(by_id, &raw(&other), copy))],
            None,
        ),
    ];
    let path = proven.pack_folder().join("pack-ffffffffffffffffffffffffffffffffffffffff.pack");
    for (what, entries, place) in &cases {
        let (pack, index) = made_up(entries, *place);
        fs::write(&path, pack).unwrap();
        fs::write(path.with_extension("idx"), index).unwrap();
        for judged in [proven.judge(&["verify", &proven.head]), proven.long_range()] {
            assert!(matches!(judged.exit, Some(1 | 3)), "{what}: {judged:?}");
            let codes = [judged.codes("error"), judged.codes("unchecked")].concat();
            assert!(
                codes.iter().any(|code| ["ANCHOR_MALFORMED", "OBJECT_MISSING", "LIMIT_REACHED"].contains(code)),
                "{what}: {codes:?}"
            );
        }
    }
    // The same index, and a pack with what it says: nothing of all that was remembered.
    let (pack, index) = made_up(&[(&note, Packed::new(blob, b"", text.as_bytes()))], None);
    fs::write(&path, pack).unwrap();
    fs::write(path.with_extension("idx"), index).unwrap();
    proven.judge(&["verify", &proven.head]).passes();
}

#[test]
fn more_packs_than_files_may_be_open_change_nothing() {
    let proven = anchored(Scratch::new(), 256, Proofs::Whole);
    proven.git(&["gc", "--quiet", "--prune=now"]);
    let index = proven.packs("idx").remove(0);
    for number in 0..300 {
        let name = proven.pack_folder().join(format!("pack-{number:040x}.idx"));
        fs::hard_link(&index, &name).unwrap();
        fs::hard_link(index.with_extension("pack"), name.with_extension("pack")).unwrap();
    }
    let program = env!("CARGO_BIN_EXE_git-proof");
    let range = format!("{}..main", proven.base);
    let mut shell = proven.scratch.command("sh");
    shell.args(["-c", "ulimit -n 200 && exec \"$@\"", "sh", program, "--json", "verify", &range]);
    Judged::from(crate::store::scratch::Ran::from(shell.output().unwrap())).passes();
}

#[test]
fn objects_that_a_gc_moves_meanwhile_are_found() {
    let scratch = Scratch::new();
    let mut commits = Vec::new();
    // More packs than are kept open.
    for number in 0..52 {
        scratch.git(["commit", "--quiet", "--allow-empty", "--message", &format!("c{number}")]);
        scratch.git(["repack", "--quiet", "-d"]);
        commits.push(CommitId::parse(scratch.git(["rev-parse", "HEAD"]).trim()).unwrap());
    }
    let git = Git::discover(&Context::new(scratch.place.clone())).unwrap();
    assert!(git.commit(&commits[0]).is_ok());
    scratch.git(["repack", "--quiet", "-a", "-d"]);
    scratch.git(["commit", "--quiet", "--allow-empty", "--message", "later"]);
    commits.push(CommitId::parse(scratch.git(["rev-parse", "HEAD"]).trim()).unwrap());
    scratch.git(["repack", "--quiet", "-d"]);
    for commit in &commits {
        git.commit(commit).unwrap();
    }
}

#[test]
fn tag_or_branch_does_not_stand_in_for_what_git_takes_first() {
    let proven = Proven::with_policy(STRICT);
    let good = proven.head.clone();
    proven.write("b.txt", "bad\n");
    let bad = proven.commit("Bad");
    fs::write(proven.scratch.place.join(".git/FETCH_HEAD"), format!("{bad}\t\tbranch 'x' of there\n")).unwrap();
    for name in ["refs/tags/FETCH_HEAD", "refs/heads/FETCH_HEAD", "refs/tags/HEAD", "refs/heads/HEAD"] {
        proven.git(&["update-ref", name, &good]);
    }
    let fetched = proven.judge(&["verify", "FETCH_HEAD"]);
    assert_eq!(fetched.said["commits"][0]["commit"], *bad, "{fetched:?}");
    proven.judge(&["gate", "--base", &proven.base, "--head", "FETCH_HEAD"]).fails("ANCHOR_MISSING");
    let before = proven.judge(&["verify", "HEAD~1"]);
    assert_eq!(before.said["commits"][0]["commit"], *good, "{before:?}");
    let shouted = good.to_uppercase();
    proven.git(&["update-ref", &format!("refs/heads/{shouted}"), &bad]);
    let found = proven.judge(&["verify", &shouted]);
    assert_eq!(found.said["commits"][0]["commit"], *proven.git(&["rev-parse", &shouted]), "{found:?}");
}
