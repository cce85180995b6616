//! Objects whose content is not their id, and commits that two programs would read as two.

use super::{Proven, copy_over};

/// Puts the content of one object under the id of another.
fn forge(proven: &Proven, id: &str, with: &str) {
    copy_over(&proven.object_file(with), &proven.object_file(id));
}

#[test]
fn forged_note_is_not_read() {
    let proven = Proven::new();
    proven.write("b.txt", "b\n");
    let other = proven.commit("Add b\n\nProof-Grade: true");
    proven.scratch.json(&["anchor", "--session", "s", "--commit", &other]);
    // A note that says nothing has its content exchanged for one that would hold.
    let good = proven.blob(proven.note(&other));
    proven.set_note(&other, "nothing");
    let bad = proven.git(&["notes", "--ref=proof", "list", &other]);
    forge(&proven, &bad, &good);
    assert!(proven.note(&other).contains("anchor"), "git does not fall for it");
    proven.gate().fails("ANCHOR_MALFORMED");
}

#[test]
fn forged_evidence_is_not_read() {
    let proven = Proven::new();
    let path = Proven::evidence_path(&proven.root);
    let good = proven.git(&["rev-parse", &format!("refs/proof/evidence:{path}")]);
    let bad = proven.blob("nothing\n");
    proven.put("refs/proof/evidence", &path, "100644", &bad);
    forge(&proven, &bad, &good);
    proven.gate().fails("EVIDENCE_MISSING");
}

#[test]
fn forged_commit_is_not_judged() {
    let proven = Proven::new();
    let tree = proven.tip("HEAD^{tree}");
    let other = proven.git(&["commit-tree", &tree, "-p", &proven.base, "-m", "Another"]);
    forge(&proven, &proven.head, &other);
    proven.gate().unchecked("OBJECT_MISSING");
}

#[test]
fn forged_tree_is_not_compared() {
    let proven = Proven::new();
    let (tree, other) = (proven.tip("HEAD^{tree}"), proven.tip("HEAD^^{tree}"));
    forge(&proven, &tree, &other);
    proven.gate().unchecked("OBJECT_MISSING");
}

#[test]
fn forged_object_of_an_alternate_is_not_read() {
    let proven = Proven::new();
    let path = Proven::evidence_path(&proven.root);
    let good = proven.git(&["rev-parse", &format!("refs/proof/evidence:{path}")]);
    let bad = proven.blob("nothing\n");
    proven.put("refs/proof/evidence", &path, "100644", &bad);
    let alternate = proven.scratch.around().join("objects");
    copy_over(&proven.object_file(&good), &alternate.join(&bad[..2]).join(&bad[2..]));
    std::fs::remove_file(proven.object_file(&bad)).unwrap();
    let mut command = proven.scratch.proof(["--json", "gate", "--base", &proven.base, "--head", "HEAD"]);
    command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &alternate);
    let judged: super::Judged = crate::store::scratch::Ran::from(command.output().unwrap()).into();
    judged.fails("EVIDENCE_MISSING");
}

#[test]
fn object_that_is_not_here_could_not_be_checked() {
    let proven = Proven::new();
    let note = proven.git(&["notes", "--ref=proof", "list", &proven.head]);
    let evidence = proven.git(&["rev-parse", &format!("refs/proof/evidence:{}", Proven::evidence_path(&proven.root))]);
    let folder = proven.git(&["rev-parse", &format!("refs/proof/evidence:{}", &proven.root[..2])]);
    for id in [note, evidence, folder] {
        let (file, aside) = (proven.object_file(&id), proven.scratch.around().join("aside"));
        std::fs::rename(&file, &aside).unwrap();
        proven.gate().unchecked("OBJECT_MISSING");
        std::fs::rename(aside, file).unwrap();
        proven.gate().passes();
    }
    // The evidence names the commit by its id: what its files say is not asked.
    std::fs::remove_file(proven.object_file(&proven.tip("HEAD:a.txt"))).unwrap();
    proven.gate().passes();
}

#[test]
fn object_that_was_cut_off_is_not_read() {
    let proven = Proven::new();
    let note = proven.git(&["notes", "--ref=proof", "list", &proven.head]);
    let file = proven.object_file(&note);
    let bytes = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    // The last bytes are a checksum: without it, all that was said is still there.
    let said = bytes.len() - 12;
    for length in [0, 1, 2, 5].into_iter().chain((20..said).step_by(60)).chain([said]) {
        std::fs::write(&file, &bytes[..length]).unwrap();
        let judged = proven.gate();
        assert!(matches!(judged.exit, Some(1 | 3)), "{length}: {judged:?}");
    }
}

#[test]
fn commit_with_a_header_twice_is_not_judged() {
    let proven = Proven::new();
    let raw = proven.git(&["cat-file", "commit", &proven.head]) + "\n";
    let tree = proven.tip("HEAD^^{tree}");
    let bad_tree = format!("tree {tree}\n");
    let parent = format!("parent {}\n", proven.base);
    for forged in [
        format!("{bad_tree}{raw}"),
        raw.replacen("author ", &format!("{bad_tree}author "), 1),
        raw.replacen("committer ", &format!("{parent}committer "), 1),
        raw.replacen("\n\n", &format!("\n{parent}\n"), 1),
        raw.replacen("\n\n", "\nauthor Eve <eve@x> 1 +0000\n\n", 1),
        raw.replacen("\n\n", "\ncommitter Eve <eve@x> 1 +0000\n\n", 1),
        raw.replacen("committer ", "author Eve <eve@x> 1 +0000\ncommitter ", 1),
        raw.replacen("tree ", "tree  ", 1),
    ] {
        let id = proven.git_with(&["hash-object", "-t", "commit", "-w", "--stdin", "--literally"], &forged);
        let judged = proven.judge(&["verify", &id]);
        assert!(!matches!(judged.exit, Some(0 | 101) | None), "{forged}: {judged:?}");
    }
}

#[test]
fn tree_with_a_name_twice_is_not_compared() {
    let proven = Proven::new();
    let id: Vec<u8> =
        (0..40).step_by(2).map(|at| u8::from_str_radix(&proven.tip("HEAD:a.txt")[at..at + 2], 16).unwrap()).collect();
    let entry = [b"100644 a.txt\0", &id[..]].concat();
    let tree = proven
        .git_with(&["hash-object", "-t", "tree", "-w", "--stdin", "--literally"], [&entry[..], &entry[..]].concat());
    let commit = proven.git(&["commit-tree", &tree, "-p", &proven.head, "-m", "Twice\n\nProof-Grade: true"]);
    proven.git(&["update-ref", "HEAD", &commit]);
    let judged = proven.gate();
    assert!(matches!(judged.exit, Some(1 | 3)), "{judged:?}");
}

/// How a commit that is needed cannot be had.
fn spoil(proven: &Proven, id: &str, how: &str) {
    let file = proven.object_file(id);
    std::fs::remove_file(&file).unwrap();
    if how == "damaged" {
        std::fs::write(&file, "not what was written").unwrap();
    }
}

#[test]
fn commit_that_cannot_be_read_could_not_be_checked_by_whatever_name() {
    for how in ["missing", "damaged"] {
        // In the middle of a range.
        let proven = Proven::new();
        for number in 0..3 {
            proven.commit(&format!("Later {number}"));
        }
        spoil(&proven, &proven.tip("HEAD~1"), how);
        let range = format!("{}..HEAD", proven.base);
        for words in
            [&["verify", range.as_str()][..], &["verify", "HEAD~3..HEAD"], &["verify", "HEAD~1"], &["verify", "main~2"]]
        {
            proven.judge(words).refused("OBJECT_MISSING", 3);
        }
        proven.gate().refused("OBJECT_MISSING", 3);
        // At its end.
        let proven = Proven::new();
        spoil(&proven, &proven.head, how);
        let range = format!("{}..main", proven.base);
        let named = ["gate", "--base", &proven.base, "--head", "main"];
        for words in [&["verify"][..], &["verify", "main"], &["verify", &range], &named] {
            proven.judge(words).refused("OBJECT_MISSING", 3);
        }
        // What nobody has ever made is a mistake.
        for name in ["nowhere", &"ab".repeat(20)] {
            proven.judge(&["verify", name]).refused("ERR_COMMIT_NOT_FOUND", 2);
        }
    }
}
