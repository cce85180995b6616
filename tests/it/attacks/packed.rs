//! Objects in packs, which are read here and not by libgit2, and long ranges, for which they are read ahead.

use std::fs;
use std::path::PathBuf;

use super::{Proven, STRICT};

/// Adds commits that nobody explains.
pub(super) fn pad(proven: &Proven, count: usize) {
    let mut stream = String::new();
    for number in 0..count {
        let from = if number == 0 { "from refs/heads/main^0\n" } else { "" };
        stream.push_str(&format!(
            "commit refs/heads/main\ncommitter A <a@b> {} +0000\ndata 3\npad\n{from}M 100644 inline pad/{}\ndata <<E\n{number}\nE\n",
            1_900_000_000 + number,
            number % 7,
        ));
    }
    proven.git_with(&["fast-import", "--quiet"], stream);
    proven.git(&["reset", "--quiet", "--hard"]);
}

/// The only pack that there is, without its ending.
fn pack(proven: &Proven) -> PathBuf {
    proven.git(&["gc", "--quiet", "--prune=now"]);
    let files = fs::read_dir(proven.scratch.place.join(".git/objects/pack")).unwrap();
    let mut packs = files.map(|file| file.unwrap().path()).filter(|path| path.extension().unwrap() == "pack");
    let only = packs.next().unwrap();
    assert!(packs.next().is_none());
    only.with_extension("")
}

/// Overwrites a file of a pack, which git makes unwritable.
pub(super) fn overwrite(path: &PathBuf, content: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, content).unwrap();
}

/// The number of an object in an index, where the ids begin there, and how many there are.
fn number(index: &[u8], id: &str) -> (usize, usize) {
    let count = u32::from_be_bytes(index[8 + 255 * 4..8 + 256 * 4].try_into().unwrap()) as usize;
    let names = &index[8 + 1024..8 + 1024 + count * 20];
    let hex = |name: &[u8]| name.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    (names.chunks(20).position(|name| hex(name) == id).unwrap(), count)
}

/// A repository whose last commits, more than are judged by one thread, are two that are proven among others.
fn long() -> Proven {
    let proven = Proven::new();
    pad(&proven, 200);
    proven.write("b.txt", "b\n");
    proven.prove("t", "Second");
    pad(&proven, 150);
    proven
}

#[test]
fn long_range_says_of_each_commit_what_it_says_of_it_alone() {
    let proven = long();
    let range = format!("{}..main", proven.base);
    let loose = proven.judge(&["verify", &range]);
    loose.passes();
    pack(&proven);
    let judged = proven.judge(&["verify", &range]);
    assert_eq!(judged.said, loose.said);
    let commits = judged.said["commits"].as_array().unwrap();
    assert_eq!(commits.len(), 352);
    let proven_ones: Vec<_> = commits.iter().filter(|commit| commit["verdict"] == "pass").collect();
    assert_eq!(proven_ones.len(), 2);
    for commit in proven_ones {
        let alone = proven.judge(&["verify", commit["commit"].as_str().unwrap()]);
        assert_eq!(&alone.said["commits"][0], commit);
    }
}

#[test]
fn forged_note_in_a_long_range_fails_as_it_does_alone() {
    let proven = long();
    let note = proven.git(&["notes", "--ref=proof", "show", &proven.head]).replace(&proven.root, &"0".repeat(64));
    proven.git(&["notes", "--ref=proof", "add", "--force", "-m", &note, &proven.head]);
    pack(&proven);
    let alone = proven.judge(&["verify", &proven.head]);
    alone.fails("EVIDENCE_MISSING");
    let judged = proven.judge(&["verify", &format!("{}..main", proven.base)]);
    judged.fails("EVIDENCE_MISSING");
    let commits = judged.said["commits"].as_array().unwrap();
    let same = commits.iter().find(|commit| commit["commit"] == *proven.head).unwrap();
    assert_eq!(same, &alone.said["commits"][0]);
}

#[test]
fn index_that_leads_to_another_object_is_no_answer() {
    for range in [false, true] {
        let proven = if range { long() } else { Proven::with_policy(STRICT) };
        let note = proven.git(&["notes", "--ref=proof", "list", &proven.head]);
        let other = proven.git(&["rev-parse", &format!("{}:a.txt", proven.head)]);
        let pack = pack(&proven);
        let path = pack.with_extension("idx");
        let mut index = fs::read(&path).unwrap();
        let ((note, count), (other, _)) = (number(&index, &note), number(&index, &other));
        let place = |number: usize| 8 + 1024 + count * 24 + number * 4;
        let taken = index[place(other)..place(other) + 4].to_vec();
        index[place(note)..place(note) + 4].copy_from_slice(&taken);
        overwrite(&path, &index);
        let asked = if range { format!("{}..main", proven.base) } else { proven.head.clone() };
        proven.judge(&["verify", &asked]).fails("ANCHOR_MALFORMED");
    }
}

#[test]
fn damaged_pack_never_passes() {
    let proven = Proven::with_policy(STRICT);
    let path = pack(&proven).with_extension("pack");
    let whole = fs::read(&path).unwrap();
    for at in (12..whole.len() - 20).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        overwrite(&path, &damaged);
        let judged = proven.gate();
        let same = judged.exit == Some(0) && judged.said["verdict"] == "pass";
        assert!(same || matches!(judged.exit, Some(1 | 3 | 4)), "{judged:?}");
        if same {
            // It was in what nobody needs here.
            assert_eq!(judged.said["commits"][0]["sessions"][0]["root"], *proven.root);
        }
    }
}
