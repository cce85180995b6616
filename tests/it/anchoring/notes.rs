//! Notes as git knows them: what either of us writes, the other reads, and neither loses what is not its own.

use super::clones::{Clone, NOTES, entry};
use crate::change::scratch::output;
use crate::store::scratch::Scratch;

/// A repository with a proven commit, and the line that proves it.
fn proven(scratch: &Scratch) -> (Clone<'_>, String, String) {
    let repo = Clone::of(scratch);
    let commit = repo.explain("first");
    let line = repo.notes()[&commit].concat();
    (repo, commit, line)
}

/// Ids that begin with these digits, or with any.
fn strangers(prefix: &str, number: usize) -> String {
    let mut text = String::new();
    for at in 0..number {
        let spread = at * 257 % 4096;
        text.push_str(&format!("HEAD {prefix}{spread:03x}{:0>1$}\n", at, 37 - prefix.len()));
    }
    text
}

/// Lets git write the notes anew: ours and many others.
fn rewritten_by_git(repo: &Clone<'_>, commit: &str, line: &str, others: &str) {
    repo.git(&["update-ref", "-d", NOTES]);
    repo.git(&["notes", "--ref=proof", "add", "--message", line, commit]);
    repo.git_with(&["notes", "--ref=proof", "copy", "--stdin"], others.as_bytes());
}

#[test]
fn note_of_ours_is_shown_and_listed_by_git() {
    let scratch = Scratch::new();
    let (repo, commit, line) = proven(&scratch);
    assert!(line.starts_with("{\"anchor\":{") && line.contains(&commit), "{line}");
    assert_eq!(repo.git(&["notes", "--ref=proof", "show"]), line);
    assert!(repo.git(&["notes", "--ref=proof", "list"]).ends_with(&commit));
    assert!(repo.git(&["log", "-1", "--notes=proof"]).contains(&line));
}

#[test]
fn flat_notes_of_git_are_read() {
    let scratch = Scratch::new();
    let (repo, commit, line) = proven(&scratch);
    rewritten_by_git(&repo, &commit, &line, &strangers("", 3));
    repo.passes(&commit);
}

/// The depth at which git keeps the note of a commit.
fn depth(repo: &Clone<'_>, commit: &str) -> usize {
    let list = repo.git(&["ls-tree", "-r", "--name-only", NOTES]);
    let path = list.lines().find(|path| path.replace('/', "") == commit).unwrap();
    path.matches('/').count()
}

#[test]
fn notes_that_git_has_cut_once_and_twice_are_read_and_added_to() {
    let scratch = Scratch::new();
    let (repo, commit, line) = proven(&scratch);
    repo.session("second");
    for (levels, others) in [(1, strangers("", 400)), (2, strangers("", 400) + &strangers(&commit[..2], 200))] {
        rewritten_by_git(&repo, &commit, &line, &others);
        assert_eq!(depth(&repo, &commit), levels);
        repo.passes(&commit);
        let before = repo.notes().len();
        repo.anchor("second", &commit);
        assert_eq!(depth(&repo, &commit), levels);
        let notes = repo.notes();
        assert_eq!((notes.len(), notes[&commit].len()), (before, 2));
        repo.passes(&commit);
        repo.is_whole();
    }
}

#[test]
fn notes_that_git_has_merged_are_read() {
    let scratch = Scratch::new();
    let (repo, commit, line) = proven(&scratch);
    repo.git(&["notes", "--ref=other", "add", "--message", "{\"type\":\"other\"}", &commit]);
    repo.git(&["notes", "--ref=other", "append", "--message", &line, &commit]);
    repo.git(&["notes", "--ref=proof", "merge", "--quiet", "-s", "cat_sort_uniq", "refs/notes/other"]);
    assert_eq!(repo.notes()[&commit].iter().filter(|found| **found == line).count(), 1);
    repo.passes(&commit);
}

#[test]
fn line_that_git_appends_leaves_ours_in_force() {
    let scratch = Scratch::new();
    let (repo, commit, line) = proven(&scratch);
    repo.git(&["notes", "--ref=proof", "append", "--message", "something of someone else", &commit]);
    repo.passes(&commit);
    repo.session("second");
    repo.anchor("second", &commit);
    let lines = &repo.notes()[&commit];
    assert!(lines.contains(&line) && lines.contains(&"something of someone else".to_owned()), "{lines:?}");
}

#[test]
fn note_in_two_places_is_reported_and_put_into_one_by_the_next_write() {
    let scratch = Scratch::new();
    let (repo, commit, line) = proven(&scratch);
    let (ours, other) = (repo.blob(format!("{line}\n").as_bytes()), repo.blob(b"{\"type\":\"other\"}\n"));
    let below = repo.tree(&[entry("100644", &other, &commit[2..])]);
    let tree = repo.tree(&[entry("100644", &ours, &commit), entry("040000", &below, &commit[..2])]);
    repo.plant(NOTES, &tree, &[]);
    assert!(repo.codes(&commit).contains("ANCHOR_MALFORMED"));
    repo.session("second");
    repo.anchor("second", &commit);
    let paths = repo.git(&["ls-tree", "-r", "--name-only", NOTES]);
    assert_eq!(paths.lines().count(), 1, "{paths}");
    let lines = &repo.notes()[&commit];
    assert!(lines.len() == 3 && lines.contains(&line) && lines.contains(&"{\"type\":\"other\"}".to_owned()));
    repo.passes(&commit);
}

#[test]
fn what_is_no_note_survives_our_writes() {
    let scratch = Scratch::new();
    let (repo, commit, line) = proven(&scratch);
    let note = repo.blob(format!("{line}\n").as_bytes());
    let file = repo.blob(b"\0\xff read me");
    let folder = repo.tree(&[entry("100755", &file, "script"), entry("120000", &file, "link")]);
    let others = [
        entry("100644", &file, "README"),
        entry("040000", &folder, "zz-folder"),
        entry("120000", &file, &"1".repeat(40)),
        entry("160000", &"2".repeat(40), &"2".repeat(40)),
    ];
    let tree = repo.tree(&[&others[..], &[entry("100644", &note, &commit)]].concat());
    repo.plant(NOTES, &tree, &[]);
    repo.session("second");
    repo.anchor("second", &commit);
    let listed = repo.git(&["ls-tree", NOTES]);
    for other in others {
        assert!(listed.contains(other.trim_end()), "{other} is not in {listed}");
    }
    assert_eq!(repo.notes()[&commit].len(), 2);
}

#[test]
fn lines_that_are_not_utf8_survive_our_writes() {
    let scratch = Scratch::new();
    let (repo, commit, line) = proven(&scratch);
    let odd: [&[u8]; 4] = [b"\xff\xfe odd", b"\x80", b"with\0zero", b"  blanks kept\t\r"];
    let text = [odd.join(&b'\n'), line.into_bytes()].join(&b'\n');
    let tree = repo.tree(&[entry("100644", &repo.blob(&text), &commit)]);
    repo.plant(NOTES, &tree, &[]);
    repo.session("second");
    repo.anchor("second", &commit);
    let note = output(repo.command("git").args(["notes", "--ref=proof", "show"]), b"");
    let lines: Vec<&[u8]> = note.split(|byte| *byte == b'\n').collect();
    for line in odd {
        assert!(lines.contains(&line), "{line:?} is gone");
    }
    repo.passes(&commit);
}

#[test]
fn link_with_the_name_of_a_note_is_none() {
    let scratch = Scratch::new();
    let (repo, commit, line) = proven(&scratch);
    let tree = repo.tree(&[entry("120000", &repo.blob(line.as_bytes()), &commit)]);
    repo.plant(NOTES, &tree, &[]);
    let (_, answer) = repo.verdict(&commit);
    assert_eq!(answer["summary"]["pass"], 0, "{answer}");
}
