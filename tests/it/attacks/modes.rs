//! Modes and kinds of tree entries: what git reads as the same is the same, and what is another kind of thing is another.

use super::{Proven, STRICT};

const GUARDED: &str = "[proof_grade]\npaths = [\"src/auth/**\"]\n";

/// Bytes of a tree: mode, name, id.
fn raw_tree(proven: &Proven, entries: &[(&str, &str, &str)]) -> String {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let mut raw = Vec::new();
    for (mode, name, id) in entries {
        raw.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        raw.extend(id.as_bytes().chunks(2).map(byte));
    }
    proven.git_with(&["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], raw)
}

fn id(proven: &Proven, name: &str) -> String {
    proven.tip(name)
}

#[test]
fn chmod_is_not_moved_onto_other_content() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.git(&["update-index", "--chmod=+x", "a.txt"]);
    proven.git(&["checkout", "--quiet", "a.txt"]);
    let (original, _) = proven.prove("t", "Make it a program");
    assert!(proven.git(&["ls-tree", "HEAD", "a.txt"]).starts_with("100755"));
    for (content, good) in [("evil\n", false), ("", true)] {
        proven.git(&["checkout", "--quiet", "--detach", &proven.head]);
        proven.write("c.txt", "c\n");
        if !content.is_empty() {
            proven.write("a.txt", content);
        }
        let (parent, _) = proven.prove(if good { "p1" } else { "p2" }, "Meanwhile");
        proven.git(&["update-index", "--chmod=+x", "a.txt"]);
        proven.git(&["checkout", "--quiet", "a.txt"]);
        let moved = proven.commit("Moved");
        proven.git(&["notes", "--ref=proof", "copy", &original, &moved]);
        let judged = proven.gate_of(&parent, &moved);
        if good {
            judged.passes()
        } else {
            judged.fails("BINDING_MISMATCH")
        };
    }
}

/// The original edits a line and makes the file a program. Where the edit is there already, only the mode is left of it.
#[test]
fn chmod_that_came_with_an_edit_is_not_moved_onto_other_content() {
    let proven = Proven::with_policy(STRICT);
    let edited = "one\nTWO\nthree\nfour\nFIVE\nsix\nseven\neight\nnine\n";
    let chmod = || {
        proven.git(&["add", "a.txt"]);
        proven.git(&["update-index", "--chmod=+x", "a.txt"]);
        proven.git(&["checkout", "--quiet", "a.txt"]);
    };
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("a.txt", edited);
    chmod();
    let (original, _) = proven.prove("t", "Edit it, and make it a program");
    for (content, good) in [(edited.replace("nine", "evil"), false), (edited.to_owned(), true)] {
        proven.git(&["checkout", "--quiet", "--detach", &proven.head]);
        proven.write("a.txt", &content);
        let (parent, _) = proven.prove(if good { "p1" } else { "p2" }, "Meanwhile");
        chmod();
        let moved = proven.commit("Moved");
        proven.git(&["notes", "--ref=proof", "copy", &original, &moved]);
        let judged = proven.gate_of(&parent, &moved);
        if good {
            judged.passes()
        } else {
            judged.fails("BINDING_MISMATCH")
        };
    }
}

#[test]
fn link_and_file_of_the_same_text_are_two_things() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    std::os::unix::fs::symlink("a.txt", proven.scratch.place.join("link")).unwrap();
    let (original, _) = proven.prove("t", "Link");
    let tree = proven.tree_with(&proven.head, &[("link", "a.txt")]);
    let moved = proven.made(&tree, &[&proven.head], "File");
    proven.git(&["notes", "--ref=proof", "copy", &original, &moved]);
    proven.gate_of(&proven.head, &moved).fails("BINDING_MISMATCH");
}

#[test]
fn other_digits_of_a_directory_mode_hide_nothing_under_it() {
    let proven = Proven::with_files(&[(".proof/policy.toml", GUARDED.as_bytes()), ("src/auth/login.py", b"check\n")]);
    let auth = raw_tree(&proven, &[("100644", "login.py", &proven.blob("evil\n"))]);
    for mode in ["40755", "040000", "40777", "0040000"] {
        let src = raw_tree(&proven, &[(mode, "auth", &auth)]);
        let root = raw_tree(
            &proven,
            &[
                ("40000", ".proof", &id(&proven, "HEAD:.proof")),
                ("100644", "a.txt", &id(&proven, "HEAD:a.txt")),
                (mode, "src", &src),
            ],
        );
        let evil = proven.made(&root, &[&proven.head], "Evil");
        proven.gate_of(&proven.head, &evil).fails("ANCHOR_MISSING");
    }
}

#[test]
fn other_digits_of_a_directory_mode_alone_change_nothing() {
    let proven = Proven::with_files(&[(".proof/policy.toml", GUARDED.as_bytes()), ("src/auth/login.py", b"check\n")]);
    for mode in ["40755", "040000"] {
        let root = raw_tree(
            &proven,
            &[
                (mode, ".proof", &id(&proven, "HEAD:.proof")),
                ("100644", "a.txt", &id(&proven, "HEAD:a.txt")),
                (mode, "src", &id(&proven, "HEAD:src")),
            ],
        );
        let same = proven.made(&root, &[&proven.head], "The same");
        let judged = proven.gate_of(&proven.head, &same);
        assert_eq!((judged.exit, judged.said["verdict"].as_str()), (Some(0), Some("exempt")), "{judged:?}");
    }
}

#[test]
fn settings_as_another_kind_of_thing_are_a_change_of_the_settings() {
    let proven = Proven::with_policy(GUARDED);
    let a = id(&proven, "HEAD:a.txt");
    let link = proven.blob("elsewhere");
    let entries: [&[(&str, &str, &str)]; 4] = [
        &[("100644", ".proof", &a), ("100644", "a.txt", &a)],
        &[("120000", ".proof", &link), ("100644", "a.txt", &a)],
        &[("160000", ".proof", &proven.head), ("100644", "a.txt", &a)],
        &[("100644", "a.txt", &a)],
    ];
    for entries in entries {
        let evil = proven.made(&raw_tree(&proven, entries), &[&proven.head], "Evil");
        proven.gate_of(&proven.head, &evil).fails("ANCHOR_MISSING");
        // And by a merge that takes the tree of its side, which is in the range, too.
        let side = proven.made(&raw_tree(&proven, entries), &[&proven.base], "Side");
        let merge = proven.made(&raw_tree(&proven, entries), &[&proven.head, &side], "Merge");
        proven.gate_of(&proven.head, &merge).fails("ANCHOR_MISSING");
    }
}

#[test]
fn settings_in_other_letters_are_no_settings() {
    let proven = Proven::with_policy(STRICT);
    let base = proven.head.clone();
    let policy = "[proof_grade]\nrequire = \"none\"\n";
    let evil = proven.made(&proven.tree_with(&base, &[(".Proof/policy.toml", policy)]), &[&base], "Other letters");
    // It needs a proof like any commit, and weakens nothing for those after it.
    proven.gate_of(&base, &evil).fails("ANCHOR_MISSING");
    let next = proven.made(&proven.tree_with(&evil, &[("evil.txt", "evil\n")]), &[&evil], "Next");
    proven.gate_of(&evil, &next).fails("ANCHOR_MISSING");
}

/// A proven commit adds `sub/name/file` where there is no `sub/name`. Where `sub/name` is a file, git cannot put it there; a
/// tree made by hand has both.
#[test]
fn directory_beside_a_file_of_its_name_is_no_merge() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("sub/name/file", "new\n");
    proven.write("sub/other", "other\n");
    let (original, _) = proven.prove("t", "Add a directory");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.write("sub/name", "a file\n");
    let (parent, _) = proven.prove("p", "Meanwhile");
    let sub = raw_tree(
        &proven,
        &[
            ("100644", "name", &id(&proven, "HEAD:sub/name")),
            ("40000", "name", &id(&proven, "topic:sub/name")),
            ("100644", "other", &id(&proven, "topic:sub/other")),
        ],
    );
    let root = raw_tree(
        &proven,
        &[
            ("40000", ".proof", &id(&proven, "HEAD:.proof")),
            ("100644", "a.txt", &id(&proven, "HEAD:a.txt")),
            ("40000", "sub", &sub),
        ],
    );
    let evil = proven.made(&root, &[&parent], "Both");
    proven.git(&["notes", "--ref=proof", "copy", &original, &evil]);
    let judged = proven.gate_of(&parent, &evil);
    assert_ne!(judged.exit, Some(0), "{judged:?}");
    assert_ne!(judged.said["commits"][0]["verdict"], "pass", "{judged:?}");
}
