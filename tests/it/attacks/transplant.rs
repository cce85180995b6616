//! A proven hunk stands where git puts it, and nowhere else, whether the commit that it was proven in is at hand or not.

use super::{Proven, STRICT};

const BODY: &str = "{\n  open\n  read\n  close\n}\n";
const CHANGED: &str = "{\n  open\n  skip\n  read\n  close\n}\n";

/// Three blocks that are the same, and a proven commit that changes the second. The answer is that commit.
fn blocks() -> (Proven, String) {
    let proven = Proven::with_files(&[
        (".proof/policy.toml", STRICT.as_bytes()),
        ("blocks.c", BODY.repeat(5).as_bytes()),
        ("once.c", b"a\nb\nc\nd\ne\nf\ng\n"),
    ]);
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("blocks.c", [&BODY.repeat(2), CHANGED, &BODY.repeat(2)].concat());
    let (original, _) = proven.prove("t", "Skip in the third block");
    (proven, original)
}

/// Main with one more file, and then the change in the block of this number, with the original's note.
fn moved_to(proven: &Proven, original: &str, block: usize) -> (String, String) {
    let parent = proven.made(&proven.tree_with(&proven.head, &[("c.txt", "c\n")]), &[&proven.head], "Meanwhile");
    let content = [&BODY.repeat(block), CHANGED, &BODY.repeat(4 - block)].concat();
    let moved = proven.made(&proven.tree_with(&parent, &[("blocks.c", &content)]), &[&parent], "Moved");
    proven.git(&["notes", "--ref=proof", "copy", "--force", original, &moved]);
    (parent, moved)
}

#[test]
fn hunk_at_another_block_that_is_the_same_is_refused() {
    let (proven, original) = blocks();
    for block in [1, 3] {
        let (parent, moved) = moved_to(&proven, &original, block);
        assert_eq!(proven.change_id(&moved), proven.change_id(&original));
        proven.gate_of(&parent, &moved).is_turned_away();
    }
    let (parent, moved) = moved_to(&proven, &original, 2);
    proven.gate_of(&parent, &moved).passes();
}

#[test]
fn hunk_at_another_block_is_refused_where_the_original_is_not_at_hand() {
    let (proven, original) = blocks();
    std::fs::remove_file(proven.object_file(&original)).unwrap();
    proven.git(&["update-ref", "-d", "refs/heads/topic"]);
    proven.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    // Nobody can tell the right place from the others then.
    for block in [1, 2, 3] {
        let tree = proven.tree_with(&proven.head, &[("c.txt", "c\n")]);
        let parent = proven.made(&tree, &[&proven.head], "Meanwhile");
        let content = [&BODY.repeat(block), CHANGED, &BODY.repeat(4 - block)].concat();
        let moved = proven.made(&proven.tree_with(&parent, &[("blocks.c", &content)]), &[&parent], "Moved");
        let blob = proven.git(&["ls-tree", "refs/notes/proof", "-r"]);
        let note = blob.lines().find(|line| line.replace('/', "").ends_with(&original)).unwrap();
        let note = note.split_whitespace().nth(2).unwrap().to_owned();
        proven.git(&["notes", "--ref=proof", "add", "--force", "-C", &note, &moved]);
        proven.gate_of(&parent, &moved).fails("PLACE_AMBIGUOUS");
    }
}

/// What a proven commit did that is not at hand, done again to main with one more file.
fn without_original(change: impl Fn(&Proven)) -> (Proven, String, String) {
    let (proven, _) = blocks();
    proven.git(&["checkout", "--quiet", "--detach", &proven.head]);
    change(&proven);
    let (original, _) = proven.prove("u", "Not at hand");
    proven.git(&["checkout", "--quiet", "--detach", &proven.head]);
    proven.write("c.txt", "c\n");
    let (parent, _) = proven.prove("p", "Meanwhile");
    change(&proven);
    let moved = proven.commit("Moved");
    proven.git(&["notes", "--ref=proof", "copy", &original, &moved]);
    std::fs::remove_file(proven.object_file(&original)).unwrap();
    (proven, parent, moved)
}

#[test]
fn change_with_one_place_is_moved_where_the_original_is_not_at_hand() {
    let (proven, parent, moved) = without_original(|proven| proven.write("once.c", "a\nb\nc\nD\ne\nf\ng\n"));
    proven.gate_of(&parent, &moved).passes();
}

#[test]
fn change_without_one_place_is_refused_where_the_original_is_not_at_hand() {
    let changes: [fn(&Proven); 4] = [
        |proven| proven.write("new.txt", "new\n"),
        |proven| std::fs::remove_file(proven.scratch.place.join("once.c")).unwrap(),
        |proven| {
            proven.git(&["update-index", "--chmod=+x", "once.c"]);
            proven.git(&["checkout", "--quiet", "once.c"]);
        },
        |proven| {
            std::fs::remove_file(proven.scratch.place.join("once.c")).unwrap();
            std::os::unix::fs::symlink("a.txt", proven.scratch.place.join("once.c")).unwrap();
        },
    ];
    for change in changes {
        let (proven, parent, moved) = without_original(change);
        proven.gate_of(&parent, &moved).fails("PLACE_AMBIGUOUS");
    }
}

#[test]
fn change_that_was_undone_is_not_moved_where_the_original_is_not_at_hand() {
    let (proven, _, moved) = without_original(|proven| proven.write("once.c", "a\nb\nc\nD\ne\nf\ng\n"));
    proven.write("once.c", "a\nb\nc\nd\ne\nf\ng\n");
    let (undone, _) = proven.prove("r", "Undo it");
    let again = proven.made(&proven.tip(&format!("{moved}^{{tree}}")), &[&undone], "Again");
    proven.git(&["notes", "--ref=proof", "copy", &moved, &again]);
    proven.gate_of(&undone, &again).fails("REPLAYED");
}

#[test]
fn insertion_is_not_moved_within_the_file() {
    let proven =
        Proven::with_files(&[(".proof/policy.toml", STRICT.as_bytes()), ("list.txt", "x\n".repeat(20).as_bytes())]);
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    let with = |at: usize| ["x\n".repeat(at), "new\n".to_owned(), "x\n".repeat(20 - at)].concat();
    proven.write("list.txt", with(10));
    let (original, _) = proven.prove("t", "Insert");
    let parent = proven.made(&proven.tree_with(&proven.head, &[("c.txt", "c\n")]), &[&proven.head], "Meanwhile");
    for at in [4, 9, 10, 11, 16] {
        let moved = proven.made(&proven.tree_with(&parent, &[("list.txt", &with(at))]), &[&parent], "Moved");
        assert_eq!(proven.change_id(&moved), proven.change_id(&original));
        proven.git(&["notes", "--ref=proof", "copy", "--force", &original, &moved]);
        let judged = proven.gate_of(&parent, &moved);
        match at {
            10 => judged.passes(),
            _ => judged.is_turned_away(),
        };
    }
}

#[test]
fn change_is_not_moved_to_another_file() {
    let proven = Proven::with_files(&[
        (".proof/policy.toml", STRICT.as_bytes()),
        ("one.c", BODY.as_bytes()),
        ("two.c", BODY.as_bytes()),
    ]);
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("one.c", CHANGED);
    let (original, _) = proven.prove("t", "Skip");
    let moved = proven.made(&proven.tree_with(&proven.head, &[("two.c", CHANGED)]), &[&proven.head], "Moved");
    proven.git(&["notes", "--ref=proof", "copy", &original, &moved]);
    proven.gate_of(&proven.head, &moved).fails("BINDING_MISMATCH");
}

#[test]
fn more_than_the_change_is_refused_and_so_is_less() {
    let (proven, original) = blocks();
    let whole = [&BODY.repeat(2), CHANGED, &BODY.repeat(2)].concat();
    let files: [&[(&str, &str)]; 3] = [
        &[("blocks.c", &whole), ("evil.txt", "evil\n")],
        &[("blocks.c", &whole.replacen("open", "evil", 1))],
        &[("evil.txt", "evil\n")],
    ];
    for files in files {
        let moved = proven.made(&proven.tree_with(&proven.base, files), &[&proven.base], "Moved");
        proven.git(&["notes", "--ref=proof", "copy", "--force", &original, &moved]);
        proven.gate_of(&proven.base, &moved).fails("BINDING_MISMATCH");
    }
}
