//! Each thing that a commit can do to a path.

use super::scratch::{Entry, FILE, PROGRAM, SUBMODULE, SYMLINK, Scratch};

const COMMIT: &[u8] = b"1234567890123456789012345678901234567890";
const OTHER: &[u8] = b"abcdefabcdefabcdefabcdefabcdefabcdefabcd";

#[track_caller]
fn check(old: &[Entry<'_>], new: &[Entry<'_>]) {
    Scratch::new().check(old, new);
}

/// A file's content before and after, both ways round.
#[track_caller]
fn check_texts(old: &[u8], new: &[u8]) {
    check(&[(b"f", FILE, old)], &[(b"f", FILE, new)]);
    check(&[(b"f", FILE, new)], &[(b"f", FILE, old)]);
}

fn numbered(lines: std::ops::Range<usize>) -> Vec<u8> {
    lines.flat_map(|line| format!("line {line}\n").into_bytes()).collect()
}

#[test]
fn file_that_is_edited_added_or_removed() {
    check(&[(b"f", FILE, b"a\nb\n"), (b"g", FILE, b"x\n")], &[(b"f", FILE, b"a\nc\n"), (b"h", FILE, b"y\n")]);
    check(&[(b"a/b/c", FILE, b"x\n"), (b"a/d", FILE, b"x\n")], &[(b"a/d", FILE, b"x\n")]);
}

#[test]
fn file_that_is_renamed_is_one_gone_and_one_new() {
    let text = numbered(0..40);
    check(&[(b"old", FILE, &text)], &[(b"new", FILE, &text)]);
    check(&[(b"old", FILE, &text)], &[(b"old", FILE, &text), (b"sub/copy", FILE, &text)]);
}

#[test]
fn empty_file_has_no_lines() {
    check_texts(b"", b"a\n");
    check_texts(b"", b"a");
    check_texts(b"", b"\n");
    check(&[(b"a", FILE, b"")], &[(b"b", FILE, b"")]);
    check(&[(b"a", FILE, b"")], &[(b"a", PROGRAM, b"")]);
}

#[test]
fn hunks_that_touch_are_one() {
    let old = numbered(0..60);
    for distance in 1..10 {
        let new: Vec<u8> = (0..60)
            .flat_map(|line| {
                let mark = if line == 20 || line == 20 + distance { "changed" } else { "line" };
                format!("{mark} {line}\n").into_bytes()
            })
            .collect();
        check_texts(&old, &new);
    }
}

#[test]
fn last_line_without_a_newline() {
    for (old, new) in [("a\nb", "a\nb\n"), ("a\nb", "a\nc"), ("a", "b\n"), ("a\nb\nc", "x\nb\nc"), ("a\n\n", "a\n")] {
        check_texts(old.as_bytes(), new.as_bytes());
    }
    // Too far from the change to be shown.
    check_texts(&[&b"x\n"[..], &numbered(0..9), b"end"].concat(), &[&b"y\n"[..], &numbered(0..9), b"end"].concat());
}

#[test]
fn carriage_returns_and_lines_that_look_like_the_diff_itself() {
    check_texts(b"a\r\nb\r\n", b"a\nb\n");
    check_texts(b"a\rb\r", b"a\rc\r");
    check_texts(b"@@ -1 +1 @@\nindex 1..2\nBinary files x\n", b"@@ -1 +1 @@\nindex 1..3\n-- a\n++ b\nBinary files y\n");
    check_texts(b"\n \n\t\n", b"\n\n\t\n\n");
    check_texts(b"\\ No newline at end of file\na", b"\\ No newline at end of file\n");
}

#[test]
fn file_with_a_nul_byte_is_binary_if_git_sees_it() {
    check_texts(b"a\0b", b"a\0c");
    check_texts(b"a\0b", b"text\n");
    check_texts(b"a\0b", b"");
    check(&[(b"x y", FILE, b"\0")], &[(b"x y", PROGRAM, b"\0\0")]);
    check(&[(b"x", FILE, b"\0")], &[(b"x", PROGRAM, b"\0")]);
    check(&[(b"\xc3\xa4", FILE, b"\0")], &[(b"b", FILE, b"\0")]);
    for at in [7998, 7999] {
        let mut text = [&b"a\n".repeat(3999)[..], b"aaaa\n"].concat();
        text[at] = 0;
        check_texts(&text, b"a\n");
    }
    // From here on a NUL is text; not every awk can take one, so the shell is not asked.
    for at in [8000, 8001] {
        let mut text = [&b"a\n".repeat(3999)[..], b"aaaa\n"].concat();
        text[at] = 0;
        let scratch = Scratch::new();
        let snapshots: [Vec<Entry<'_>>; 2] = [vec![(b"f", FILE, &text)], vec![(b"f", FILE, b"a\nb\n")]];
        for commit in scratch.commits(&snapshots) {
            scratch.check_printed(&commit);
        }
    }
}

#[test]
fn bytes_that_are_no_text_but_no_nul_are_text() {
    check_texts(b"\xff\xfe\n\x80\n", b"\xff\xfd\n\x80\n");
    check_texts("ä\n".as_bytes(), "ö\n".as_bytes());
}

#[test]
fn mode_that_changes_alone_or_with_the_content() {
    check(&[(b"f", FILE, b"a\n")], &[(b"f", PROGRAM, b"a\n")]);
    check(&[(b"f", PROGRAM, b"a\n")], &[(b"f", FILE, b"b\n")]);
}

#[test]
fn symlink_is_its_target() {
    check(&[(b"l", SYMLINK, b"a")], &[(b"l", SYMLINK, b"b/c")]);
    check(&[(b"l", SYMLINK, b"a\nb")], &[(b"m", SYMLINK, b"a\n")]);
}

#[test]
fn submodule_is_its_commit() {
    check(&[(b"s", SUBMODULE, COMMIT)], &[(b"s", SUBMODULE, OTHER)]);
    check(&[(b"s", SUBMODULE, COMMIT)], &[(b"t", SUBMODULE, COMMIT)]);
}

#[test]
fn thing_that_becomes_another_kind_of_thing_is_gone_and_new() {
    let kinds: [Entry<'_>; 5] = [
        (b"x", FILE, b"target"),
        (b"x", PROGRAM, b"other\n"),
        (b"x", SYMLINK, b"target"),
        (b"x", SUBMODULE, COMMIT),
        (b"x", FILE, b"\0binary"),
    ];
    for old in kinds {
        for new in kinds.iter().filter(|new| **new != old) {
            check(&[old], &[*new]);
        }
    }
}

#[test]
fn file_that_becomes_a_directory_is_not_where_the_directory_is() {
    let neighbours: [Entry<'_>; 4] =
        [(b"a-b", FILE, b"1\n"), (b"a.b", FILE, b"1\n"), (b"a0", FILE, b"1\n"), (b"aa", FILE, b"1\n")];
    let changed: [Entry<'_>; 4] =
        [(b"a-b", FILE, b"2\n"), (b"a.b", FILE, b"2\n"), (b"a0", FILE, b"2\n"), (b"aa", FILE, b"2\n")];
    for (kind, content) in [(FILE, &b"x\n"[..]), (SYMLINK, b"x"), (SUBMODULE, COMMIT)] {
        let file = [&[(&b"a"[..], kind, content)], &neighbours[..]].concat();
        let directory = [&[(&b"a/b"[..], FILE, &b"x\n"[..]), (b"a/c/d", FILE, b"y\n")], &changed[..]].concat();
        check(&file, &directory);
        check(&directory, &file);
    }
}

#[test]
fn odd_names_are_quoted_as_git_quotes_them() {
    let names: [&[u8]; 24] = [
        b" ",
        b"with space",
        b"trailing ",
        b"tab\there",
        b"new\nline",
        b"cr\r",
        b"quote\"d",
        b"'single'",
        b"back\\slash",
        b"-dash",
        b"--",
        b"a/a/b",
        b"b/a",
        b"\xc3\xa4",
        b"\xff\xfe",
        b"\x01\x07\x08\x0b\x0c\x1b\x7f",
        b"dev/null",
        b"~",
        b"$(x)",
        b"sp ace/t\tab",
        b"*?[",
        b"@@ x",
        b"index ",
        b"#",
    ];
    for name in names {
        check(&[(name, FILE, b"a\n")], &[(name, FILE, b"b\n")]);
    }
    let all = |content: &'static [u8]| names.iter().map(|name| (*name, FILE, content)).collect::<Vec<_>>();
    check(&all(b"1\n"), &all(b"2\n"));
    check(&all(b"1\0"), &all(b"2\0"));
}

#[test]
fn repository_with_longer_ids() {
    let scratch = Scratch::of_format("sha256");
    scratch.check(
        &[(b"f", FILE, b"a\n"), (b"g", FILE, b"\0"), (b"s", SUBMODULE, &COMMIT.repeat(2)[..64])],
        &[(b"f", FILE, b"b\n"), (b"g", FILE, b"\0\0"), (b"n", FILE, b"\0"), (b"s", SUBMODULE, &OTHER.repeat(2)[..64])],
    );
}
