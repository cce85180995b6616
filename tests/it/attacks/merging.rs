//! Merges: what git makes of the parents by itself needs no proof, and nothing else is let through as such a merge.

use super::{Proven, STRICT};

const GUARDED: &str = "[proof_grade]\npaths = [\"src/auth/**\"]\n";
const OLD: &str = "def login():\n    a\n    b\n    c\n    d\n    e\n    f\n    return check()\n";

/// `lib/` is in the base; main moves it to `src/auth/`, in a session; a side that nobody guards edits the old place.
fn renamed(files: &[&str], edit: &[(&str, &str)]) -> (Proven, String) {
    let mut base: Vec<(String, Vec<u8>)> = vec![(".proof/policy.toml".to_owned(), GUARDED.as_bytes().to_vec())];
    base.extend(files.iter().map(|name| (format!("lib/{name}"), format!("# {name}\n{OLD}").into_bytes())));
    let base: Vec<(&str, &[u8])> = base.iter().map(|(path, content)| (path.as_str(), &content[..])).collect();
    let proven = Proven::with_files(&base);
    proven.git(&["checkout", "--quiet", "-b", "side"]);
    for (path, content) in edit {
        proven.write(path, content);
    }
    proven.commit("Nobody asks for a proof");
    proven.git(&["checkout", "--quiet", "main"]);
    std::fs::create_dir_all(proven.scratch.place.join("src")).unwrap();
    proven.git(&["mv", "lib", "src/auth"]);
    let (moved, _) = proven.prove("m", "Move");
    proven.gate_of(&proven.head, "HEAD").passes();
    (proven, moved)
}

#[test]
fn edit_carried_into_a_guarded_file_by_a_rename_is_refused() {
    let evil = format!("# login.py\n{}", OLD.replace("check()", "True"));
    let (proven, moved) = renamed(&["login.py"], &[("lib/login.py", &evil)]);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    assert!(proven.git(&["show", "HEAD:src/auth/login.py"]).contains("True"), "git followed the rename");
    proven.gate_of(&moved, "HEAD").fails("ANCHOR_MISSING");
    // The same with the parents in the other order.
    let merge = proven.made(&proven.tip("HEAD^{tree}"), &["side", &moved], "Merge");
    proven.gate_of(&moved, &merge).fails("ANCHOR_MISSING");
}

#[test]
fn new_file_carried_into_a_guarded_directory_by_a_rename_is_refused() {
    let (proven, moved) = renamed(&["login.py", "logout.py"], &[("lib/evil.py", "evil\n")]);
    proven.git(&["-c", "merge.directoryRenames=true", "merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    assert_eq!(proven.git(&["show", "HEAD:src/auth/evil.py"]), "evil");
    proven.gate_of(&moved, "HEAD").fails("ANCHOR_MISSING");
}

#[test]
fn merge_that_leaves_the_guarded_files_alone_needs_no_proof() {
    let (proven, moved) = renamed(&["login.py"], &[("docs/login.md", "login\n")]);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    assert_eq!(proven.gate_of(&moved, "HEAD").exit, Some(0));
    // A merge by another strategy, of the same tree.
    proven.git(&["reset", "--quiet", "--hard", &moved]);
    proven.git(&["merge", "--quiet", "--no-ff", "-X", "no-renames", "-m", "Merge", "side"]);
    assert_eq!(proven.gate_of(&moved, "HEAD").exit, Some(0));
}

#[test]
fn merge_that_resolves_a_rename_by_hand_into_a_guarded_file_is_refused() {
    let evil = format!("# login.py\n{}", OLD.replace("check()", "True"));
    let (proven, moved) = renamed(&["login.py"], &[("lib/login.py", &evil)]);
    // What -X no-renames leaves to a person: both places, the guarded one edited.
    let tree = proven.tree_with(&moved, &[("src/auth/login.py", &evil), ("lib/login.py", &evil)]);
    let merge = proven.made(&tree, &[&moved, "side"], "Merge");
    proven.gate_of(&moved, &merge).fails("ANCHOR_MISSING");
}

#[test]
fn merge_with_content_of_its_own_is_refused() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("b.txt", "b\n");
    proven.prove("t", "Add b");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    proven.gate().passes();
    let merge = proven.tip("HEAD");
    for files in [[("evil.txt", "evil\n")], [("b.txt", "evil\n")], [("a.txt", "evil\n")]] {
        let tree = proven.tree_with(&merge, &files);
        for parents in [["HEAD^1", "HEAD^2"], ["HEAD^2", "HEAD^1"]] {
            let evil = proven.made(&tree, &parents, "Merge");
            proven.gate_of(&proven.base, &evil).fails("ANCHOR_MISSING");
        }
    }
    // One parent twice, and a parent that is an ancestor of the other.
    for parents in [[&*merge, &*merge], [&*merge, &*proven.base], [&*proven.base, &*merge]] {
        let evil = proven.made(&proven.tree_with(&merge, &[("evil.txt", "evil\n")]), &parents, "Merge");
        proven.gate_of(&proven.base, &evil).fails("ANCHOR_MISSING");
    }
}

/// A branch with a guarded and an unguarded change is picked, undone, and merged with something new on top. The unguarded
/// one, which came last, must not hide the guarded one.
#[test]
fn merge_that_brings_back_a_guarded_change_is_refused_whatever_else_it_brings_back() {
    let proven =
        Proven::with_files(&[(".proof/policy.toml", GUARDED.as_bytes()), ("src/auth/login.py", OLD.as_bytes())]);
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("src/auth/login.py", OLD.replace("check()", "True"));
    let (guarded, _) = proven.prove("t", "No check");
    proven.write("doc.txt", "doc\n");
    let doc = proven.commit("Doc");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["cherry-pick", "--allow-empty", &guarded]);
    proven.git(&["commit", "--quiet", "--amend", "--reset-author", "-m", "Landed"]);
    proven.git(&["notes", "--ref=proof", "copy", "--force", &guarded, "HEAD"]);
    proven.git(&["cherry-pick", &doc]);
    proven.git(&["commit", "--quiet", "--amend", "--reset-author", "-m", "Landed, too"]);
    assert_eq!(proven.gate_of(&proven.head, "HEAD").exit, Some(0));
    proven.write("src/auth/login.py", OLD);
    proven.git(&["rm", "--quiet", "doc.txt"]);
    let (undone, _) = proven.prove("r", "Undo both");
    proven.git(&["checkout", "--quiet", "topic"]);
    proven.write("new.txt", "new\n");
    proven.commit("Something new");
    proven.git(&["checkout", "--quiet", "main"]);
    let tree = proven.tree_with(
        &undone,
        &[("src/auth/login.py", &OLD.replace("check()", "True")), ("doc.txt", "doc\n"), ("new.txt", "new\n")],
    );
    for parents in [[&*undone, "topic"], ["topic", &*undone]] {
        let merge = proven.made(&tree, &parents, "Merge");
        proven.gate_of(&undone, &merge).fails("ANCHOR_MISSING");
    }
}

#[test]
fn octopus_that_brings_back_what_was_undone_is_refused() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("b.txt", "b\n");
    let (side, _) = proven.prove("t", "Add b");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["cherry-pick", &side]);
    proven.git(&["rm", "--quiet", "b.txt"]);
    let (undone, _) = proven.prove("r", "Undo it");
    proven.git(&["checkout", "--quiet", "-b", "third", &proven.base]);
    proven.write("c.txt", "c\n");
    let (third, _) = proven.prove("u", "Add c");
    let tree = proven.tree_with(&undone, &[("b.txt", "b\n"), ("c.txt", "c\n")]);
    let merge = proven.made(&tree, &[&undone, &side, &third], "Merge");
    proven.gate_of(&undone, &merge).fails("ANCHOR_MISSING");
}

#[test]
fn branch_merged_and_merged_again_with_more_needs_no_proof() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    for (session, name) in [("t", "b.txt"), ("u", "c.txt")] {
        proven.git(&["checkout", "--quiet", "side"]);
        proven.write(name, "new\n");
        proven.prove(session, "More");
        proven.git(&["checkout", "--quiet", "main"]);
        proven.write(&format!("{session}.txt"), "main\n");
        proven.prove(&format!("m{session}"), "Meanwhile");
        proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
        proven.gate().passes();
        // And main into the side, so that the merges cross.
        proven.git(&["checkout", "--quiet", "side"]);
        proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge main", "main"]);
    }
    proven.gate().passes();
}

#[test]
fn merge_of_a_branch_that_is_up_to_date_needs_no_proof() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "side"]);
    proven.write("b.txt", "b\n");
    proven.prove("t", "Add b");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    proven.gate().passes();
    // The other order, and a second merge that brings nothing.
    let tree = proven.tip("HEAD^{tree}");
    let other = proven.made(&tree, &["side", "main^1"], "Merge");
    proven.gate_of(&proven.base, &other).passes();
    let nothing = proven.made(&tree, &["main", "side"], "Merge again");
    proven.gate_of(&proven.base, &nothing).passes();
}

/// A merge with a line that nobody but its author wrote, which is proven, and a proven commit that takes the line away.
struct HandMerged {
    proven: Proven,
    parents: [String; 2],
    merge: String,
    /// The tip of main: the line is gone.
    undone: String,
}

impl HandMerged {
    fn new() -> Self {
        let proven = Proven::with_policy(STRICT);
        proven.write("one.txt", "one\n");
        let (one, _) = proven.prove("p1", "One");
        proven.git(&["checkout", "--quiet", "-b", "side", &proven.head]);
        proven.write("two.txt", "two\n");
        let (two, _) = proven.prove("p2", "Two");
        proven.git(&["checkout", "--quiet", "main"]);
        let before = proven.git(&["show", "HEAD:a.txt"]) + "\n";
        proven.git(&["merge", "--quiet", "--no-ff", "--no-commit", "side"]);
        proven.write("a.txt", format!("{before}LINE\n"));
        let (merge, _) = proven.prove("m", "Merge by hand");
        assert_eq!(proven.tip("HEAD^2"), two);
        proven.write("a.txt", before);
        let (undone, _) = proven.prove("r", "Undo the line");
        proven.gate().passes();
        Self { proven, parents: [one, two], merge, undone }
    }

    /// The merge again, in other words and with its note.
    fn copy(&self, parents: [&str; 2]) -> String {
        let proven = &self.proven;
        let copy = proven.made(&proven.tip(&format!("{}^{{tree}}", self.merge)), &parents, "Again");
        proven.git(&["notes", "--ref=proof", "copy", "--force", &self.merge, &copy]);
        copy
    }

    /// Merges a commit into main as git does, which brings the line back, with the parents in both orders.
    #[track_caller]
    fn never_comes_back(&self, other: &str) {
        let proven = &self.proven;
        for parents in [[&*self.undone, other], [other, &*self.undone]] {
            let tree = proven.git(&["merge-tree", "--write-tree", parents[0], parents[1]]);
            assert!(proven.git(&["show", &format!("{tree}:a.txt")]).contains("LINE"), "git brings it back");
            let merge = proven.made(&tree, &parents, "Merge");
            let judged = proven.gate_of(&self.undone, &merge);
            judged.fails("ANCHOR_MISSING");
            assert!(judged.codes("warning").contains(&"REPLAYED"), "{judged:?}");
        }
    }
}

#[test]
fn merge_of_a_copied_hand_merge_that_was_undone_is_refused() {
    let again = HandMerged::new();
    let copy = again.copy([&again.parents[0], &again.parents[1]]);
    again.never_comes_back(&copy);
}

#[test]
fn something_new_on_top_of_a_copied_hand_merge_does_not_hide_it() {
    let again = HandMerged::new();
    let proven = &again.proven;
    let copy = again.copy([&again.parents[0], &again.parents[1]]);
    proven.git(&["checkout", "--quiet", "--detach", &copy]);
    for name in ["new", "newer"] {
        proven.write(&format!("{name}.txt"), "new\n");
        proven.prove(name, "Something new");
    }
    let new = proven.tip("HEAD");
    again.never_comes_back(&new);
    // A merge of it with main before the line was taken away, and one that leads there.
    let tree = proven.git(&["merge-tree", "--write-tree", &again.parents[0], &new]);
    again.never_comes_back(&proven.made(&tree, &[&again.parents[0], &new], "Merge"));
}

/// The parents are copies as well, so that there is one merge base, and something new hides the whole.
#[test]
fn copied_hand_merge_of_copied_parents_is_refused() {
    let again = HandMerged::new();
    let proven = &again.proven;
    let parents = again.parents.each_ref().map(|parent| {
        let copy = proven.made(&proven.tip(&format!("{parent}^{{tree}}")), &[&proven.head], "In other words");
        proven.git(&["notes", "--ref=proof", "copy", "--force", parent, &copy]);
        copy
    });
    let copy = again.copy([&parents[0], &parents[1]]);
    again.never_comes_back(&copy);
    proven.git(&["checkout", "--quiet", "--detach", &copy]);
    proven.write("new.txt", "new\n");
    let (new, _) = proven.prove("new", "Something new");
    again.never_comes_back(&new);
}

#[test]
fn squash_of_a_range_with_a_copied_hand_merge_that_was_undone_is_refused() {
    let again = HandMerged::new();
    let proven = &again.proven;
    let copy = again.copy([&again.parents[0], &again.parents[1]]);
    proven.git(&["checkout", "--quiet", "--detach", &copy]);
    proven.write("new.txt", "new\n");
    let (new, _) = proven.prove("new", "Something new");
    let tree = proven.git(&["merge-tree", "--write-tree", &again.undone, &new]);
    let squash = proven.made(&tree, &[&again.undone], "Squash");
    for base in [&again.parents[0], &again.parents[1], &proven.head] {
        proven.sight(&squash, &[[base, &new]]);
    }
    proven.gate_of(&again.undone, &squash).fails("REPLAYED");
}

/// Main renames the file after it took the line away, and git brings the line back under the new name.
#[test]
fn rename_does_not_hide_a_copied_hand_merge_that_was_undone() {
    let again = HandMerged::new();
    let proven = &again.proven;
    let copy = again.copy([&again.parents[0], &again.parents[1]]);
    proven.git(&["mv", "a.txt", "b.txt"]);
    let (renamed, _) = proven.prove("mv", "Rename it");
    for parents in [[&*renamed, &*copy], [&*copy, &*renamed]] {
        let tree = proven.git(&["merge-tree", "--write-tree", parents[0], parents[1]]);
        assert!(proven.git(&["show", &format!("{tree}:b.txt")]).contains("LINE"), "git follows the rename");
        let merge = proven.made(&tree, &parents, "Merge");
        let judged = proven.gate_of(&renamed, &merge);
        judged.fails("ANCHOR_MISSING");
        assert!(judged.codes("warning").contains(&"REPLAYED"), "{judged:?}");
    }
}

/// One side changed a line, the merge takes the other side's by hand, and main takes the change after all.
#[test]
fn copied_merge_that_drops_a_side_is_refused_once_main_has_that_side() {
    let proven = Proven::with_policy(STRICT);
    proven.write("one.txt", "one\n");
    let (one, _) = proven.prove("p1", "One");
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.head]);
    proven.write("a.txt", "checked\n");
    let (two, _) = proven.prove("p2", "Check");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["merge", "--quiet", "--no-ff", "--no-commit", "-s", "ours", "side"]);
    let (merge, _) = proven.prove("m", "Without the check");
    proven.write("a.txt", "checked\n");
    let (undone, _) = proven.prove("r", "With the check");
    let copy = proven.made(&proven.tip(&format!("{merge}^{{tree}}")), &[&one, &two], "Again");
    proven.git(&["notes", "--ref=proof", "copy", "--force", &merge, &copy]);
    for parents in [[&*undone, &*copy], [&*copy, &*undone]] {
        let tree = proven.git(&["merge-tree", "--write-tree", parents[0], parents[1]]);
        assert_ne!(proven.git(&["show", &format!("{tree}:a.txt")]), "checked", "git drops the check");
        let merge = proven.made(&tree, &parents, "Merge");
        proven.gate_of(&undone, &merge).fails("ANCHOR_MISSING");
    }
}

/// An edit by hand of a file that no rule guards must not hide what the merge brings back to one that a rule guards.
#[test]
fn edit_by_hand_does_not_hide_a_guarded_change_that_comes_back() {
    let proven =
        Proven::with_files(&[(".proof/policy.toml", GUARDED.as_bytes()), ("src/auth/login.py", OLD.as_bytes())]);
    let evil = OLD.replace("check()", "True");
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("src/auth/login.py", &evil);
    let (guarded, _) = proven.prove("t", "No check");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["cherry-pick", &guarded]);
    proven.git(&["commit", "--quiet", "--amend", "--reset-author", "-m", "Landed"]);
    proven.git(&["notes", "--ref=proof", "copy", "--force", &guarded, "HEAD"]);
    proven.write("src/auth/login.py", OLD);
    let (undone, _) = proven.prove("r", "Undo it");
    let tree = proven.tree_with(&undone, &[("src/auth/login.py", &evil), ("doc.txt", "by hand\n")]);
    for parents in [[&*undone, "topic"], ["topic", &*undone]] {
        let merge = proven.made(&tree, &parents, "Merge");
        proven.gate_of(&undone, &merge).fails("ANCHOR_MISSING");
    }
}

/// A proven merge by hand that is not undone may be merged on, also where the merges cross.
#[test]
fn merges_of_hand_merges_that_stand_need_no_proof() {
    let again = HandMerged::new();
    let proven = &again.proven;
    proven.git(&["checkout", "--quiet", "-B", "branch", &again.merge]);
    proven.write("new.txt", "new\n");
    let (new, _) = proven.prove("new", "Something new");
    // Main undid the line after the branch began, which the merge keeps, in both directions.
    for parents in [[&*again.undone, &*new], [&*new, &*again.undone]] {
        let tree = proven.git(&["merge-tree", "--write-tree", parents[0], parents[1]]);
        assert!(!proven.git(&["show", &format!("{tree}:a.txt")]).contains("LINE"));
        let merge = proven.made(&tree, &parents, "Merge");
        proven.gate_of(&again.undone, &merge).passes();
        proven.git(&["reset", "--quiet", "--hard", &merge]);
        proven.write("more.txt", "more\n");
        let (more, _) = proven.prove(&format!("more{}", parents[0]), "And back");
        let back = proven.made(&proven.tip("HEAD^{tree}"), &[&again.undone, &more], "Back");
        proven.gate_of(&again.undone, &back).passes();
    }
    // The copy, where the line still stands.
    let copy = again.copy([&again.parents[0], &again.parents[1]]);
    let tree = proven.tip(&format!("{copy}^{{tree}}"));
    let merge = proven.made(&tree, &[&again.merge, &copy], "Merge");
    proven.gate_of(&again.merge, &merge).passes();
}

/// Both sides merge each other, and then main takes back what came from the branch. The next merge brings nothing back.
#[test]
fn crossed_merge_that_keeps_a_revert_needs_no_proof() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "side"]);
    proven.write("side.txt", "side\n");
    let (side, _) = proven.prove("t", "Side");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.write("main.txt", "main\n");
    let (main, _) = proven.prove("m", "Main");
    let tree = proven.tree_with(&main, &[("side.txt", "side\n")]);
    let crossed = proven.made(&tree, &[&side, &main], "Merge main");
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge side", "side"]);
    proven.git(&["rm", "--quiet", "side.txt"]);
    let (undone, _) = proven.prove("r", "Undo it");
    proven.git(&["checkout", "--quiet", "--detach", &crossed]);
    proven.write("new.txt", "new\n");
    let (new, _) = proven.prove("new", "Something new");
    for other in [&crossed, &new] {
        let tree = proven.git(&["merge-tree", "--write-tree", &undone, other]);
        assert!(!proven.git(&["ls-tree", "--name-only", &tree]).contains("side.txt"));
        for parents in [[&undone, other], [other, &undone]] {
            let merge = proven.made(&tree, &parents.map(String::as_str), "Merge");
            let judged = proven.gate_of(&undone, &merge);
            assert_eq!(judged.exit, Some(0), "{judged:?}");
        }
    }
}

/// Merges a branch whose change landed and was undone, with the parents in both orders.
#[track_caller]
fn does_not_come_back(proven: &Proven, branch: &str, path: &str) {
    let undone = proven.tip("main");
    for parents in [[&*undone, branch], [branch, &*undone]] {
        let tree = proven.git(&["merge-tree", "--write-tree", parents[0], parents[1]]);
        assert!(proven.git(&["show", &format!("{tree}:{path}")]).contains("EIGHT"), "git follows the rename");
        let merge = proven.made(&tree, &parents, "Merge");
        let judged = proven.gate_of(&undone, &merge);
        judged.fails("ANCHOR_MISSING");
        assert!(judged.codes("warning").contains(&"REPLAYED"), "{judged:?}");
    }
}

/// Main renamed the file before the branch landed as a squash, so no commit of main ever had the change under the old name.
#[test]
fn change_that_landed_under_a_new_name_and_was_undone_does_not_come_back() {
    let proven = Proven::with_policy(STRICT);
    let text = proven.git(&["show", "HEAD:a.txt"]) + "\n";
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("a.txt", text.replace("eight", "EIGHT"));
    proven.prove("t", "Shout eight");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["mv", "a.txt", "b.txt"]);
    proven.prove("mv", "Rename it");
    proven.git(&["merge", "--quiet", "--squash", "topic"]);
    let (landed, _) = proven.prove("l", "Land it");
    proven.git(&["revert", "--no-commit", &landed]);
    proven.prove("r", "Undo it");
    does_not_come_back(&proven, "topic", "b.txt");
    // Something new on top does not hide it, nor does another line of the file.
    proven.git(&["checkout", "--quiet", "topic"]);
    proven.write("a.txt", text.replace("eight", "EIGHT").replace("two", "TWO"));
    proven.prove("n", "Something new");
    proven.git(&["checkout", "--quiet", "main"]);
    does_not_come_back(&proven, "topic", "b.txt");
}

/// The branch renames the file that main edits, so that what landed is not the branch's own file either.
#[test]
fn change_of_a_file_that_the_branch_renames_does_not_come_back() {
    let proven = Proven::with_policy(STRICT);
    let text = proven.git(&["show", "HEAD:a.txt"]) + "\n";
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("a.txt", text.replace("eight", "EIGHT"));
    proven.prove("t", "Shout eight");
    proven.git(&["mv", "a.txt", "b.txt"]);
    proven.prove("mv", "Rename it");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.write("a.txt", text.replace("two", "TWO"));
    proven.prove("e", "Shout two");
    proven.git(&["merge", "--quiet", "--squash", "topic"]);
    let (landed, _) = proven.prove("l", "Land it");
    proven.git(&["revert", "--no-commit", &landed]);
    proven.prove("r", "Undo it");
    proven.write("a.txt", text.replace("two", "TWO").replace("one", "ONE"));
    proven.prove("o", "Shout one");
    does_not_come_back(&proven, "topic", "b.txt");
}

/// The change still stands there, under the new name of its file.
#[test]
fn branch_that_goes_on_after_its_squash_was_renamed_needs_no_proof_to_be_merged() {
    let proven = Proven::with_policy(STRICT);
    let text = proven.git(&["show", "HEAD:a.txt"]) + "\n";
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("a.txt", text.replace("eight", "EIGHT"));
    proven.prove("t", "Shout eight");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["merge", "--quiet", "--squash", "topic"]);
    proven.prove("l", "Land it");
    proven.git(&["mv", "a.txt", "b.txt"]);
    let (renamed, _) = proven.prove("mv", "Rename it");
    proven.git(&["checkout", "--quiet", "topic"]);
    proven.write("new.txt", "new\n");
    proven.prove("n", "Something new");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "topic"]);
    proven.gate_of(&renamed, "HEAD").passes();
}
