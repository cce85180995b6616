//! What was applied and undone does not come back by the proof that it had the first time, whichever way it was applied
//! and whichever way it is brought back. A new session can bring it back.

use serde_json::{Value, json};

use super::{Proven, STRICT};
use crate::rewrite::joined::{main_goes_on, topic};
use crate::rewrite::project::Project;

const NINE: &str = "one\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\nnine\n";

/// A branch `topic` of two proven commits, and a proven commit on main meanwhile.
struct Landed {
    proven: Proven,
    /// Where the branch begins.
    fork: String,
    commits: [String; 2],
    /// The tip of main before the branch lands.
    before: String,
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Merge,
    Rebase,
    Squash,
    Picks,
}

impl Landed {
    fn new() -> Self {
        let proven = Proven::with_policy(STRICT);
        let fork = proven.head.clone();
        proven.git(&["checkout", "--quiet", "-b", "topic"]);
        proven.write("a.txt", NINE.replace("two", "TWO"));
        let (one, _) = proven.prove("t1", "Shout two");
        proven.write("a.txt", NINE.replace("two", "TWO").replace("eight", "EIGHT"));
        proven.write("b.txt", "b\n");
        let (two, _) = proven.prove("t2", "Shout eight");
        proven.git(&["checkout", "--quiet", "main"]);
        proven.write("c.txt", "c\n");
        let (before, _) = proven.prove("m1", "Meanwhile");
        Self { proven, fork, commits: [one, two], before }
    }

    /// Lands the branch on main, which is proven, and undoes it there in a session. The answer is the tip of main.
    fn undone(&self, way: Way) -> String {
        let proven = &self.proven;
        let [one, two] = &self.commits;
        match way {
            Way::Merge => {
                proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "topic"]);
            }
            Way::Rebase => {
                proven.git(&["cherry-pick", one, two]);
            }
            Way::Squash => {
                proven.git(&["merge", "--quiet", "--squash", "topic"]);
                proven.commit("Squash");
                proven.sight("HEAD", &[[&self.fork, two]]);
            }
            Way::Picks => {
                proven.git(&["cherry-pick", two]);
                proven.write("d.txt", "d\n");
                proven.prove("m2", "Between");
                proven.git(&["cherry-pick", one]);
            }
        }
        proven.gate_of(&self.before, "HEAD").passes();
        proven.write("a.txt", NINE);
        proven.git(&["rm", "--quiet", "--force", "b.txt"]);
        let (undone, _) = proven.prove("r", "Undo it");
        proven.gate_of(&self.before, "HEAD").passes();
        undone
    }

    /// Copies of the branch's commits, as a rebase makes them. The answer is the tip.
    fn copied(&self) -> String {
        let proven = &self.proven;
        proven.git(&["checkout", "--quiet", "--detach", &self.fork]);
        for commit in &self.commits {
            proven.git(&["cherry-pick", "--allow-empty", commit]);
            proven.git(&["commit", "--quiet", "--amend", "--reset-author", "-m", "In other words"]);
            proven.git(&["notes", "--ref=proof", "copy", "--force", commit, "HEAD"]);
        }
        proven.tip("HEAD")
    }

    /// Brings the branch back in six ways, none of which is proven.
    #[track_caller]
    fn never_comes_back(&self, undone: &str, way: Way) {
        let proven = &self.proven;
        let [one, two] = &self.commits;
        let whole = proven
            .tree_with(undone, &[("a.txt", &NINE.replace("two", "TWO").replace("eight", "EIGHT")), ("b.txt", "b\n")]);
        let copies = self.copied();
        let at = |name: &str| proven.git(&["checkout", "--quiet", "-B", name, undone]);
        let refused = |what: &str, codes: &[&str]| {
            let judged = proven.gate_of(undone, "HEAD");
            assert_eq!(judged.exit, Some(1), "{way:?}, {what}: {judged:?}");
            let found = judged.codes("error");
            assert!(codes.iter().any(|code| found.contains(code)), "{way:?}, {what}: {judged:?}");
        };
        // One by one, in both orders, and one alone.
        for commits in [&[one, two][..], &[two, one], &[one], &[two]] {
            at("picks");
            for commit in commits {
                proven.git(&["cherry-pick", commit]);
            }
            refused("picks", &["REPLAYED"]);
        }
        at("squash");
        let squash = proven.made(&whole, &[undone], "Squash");
        proven.sight(&squash, &[[&self.fork, two], [&self.fork, &copies]]);
        proven.git(&["reset", "--quiet", "--hard", &squash]);
        refused("squash", &["REPLAYED"]);
        at("merge");
        for parents in [[undone, &*copies], [&*copies, undone]] {
            let merge = proven.made(&whole, &parents, "Merge");
            proven.git(&["reset", "--quiet", "--hard", &merge]);
            refused("merge of copies", &["ANCHOR_MISSING", "REPLAYED"]);
        }
        at("revert");
        proven.git(&["revert", "--no-edit", undone]);
        refused("revert of the revert", &["ANCHOR_MISSING", "REPLAYED"]);
        at("word");
        proven.git(&["cherry-pick", two]);
        let (tree, id) = (proven.tip("HEAD^{tree}"), proven.tip("HEAD"));
        let mut line: Value = serde_json::from_str(&proven.note(two)).unwrap();
        line["anchor"]["commit"] = json!(id);
        line["anchor"]["tree"] = json!(tree);
        line["anchor"]["change_id"] = json!(proven.change_id("HEAD"));
        proven.set_note("HEAD", line.to_string());
        refused("note that names the commit itself", &["NOT_ROOTED", "REPLAYED"]);
        // On top of the copies is something new, so that the whole was never there.
        proven.git(&["checkout", "--quiet", "--detach", &copies]);
        proven.write("new.txt", "new\n");
        let (new, _) = proven.prove("new", "Something new");
        let between = proven.made(&proven.tree_with(&new, &[("c.txt", "c\n")]), &[&self.before, &new], "Merge");
        at("through");
        let tree = proven.tree_with(&squash, &[("new.txt", "new\n")]);
        for other in [&new, &between] {
            let merge = proven.made(&tree, &[undone, other], "Merge");
            proven.git(&["reset", "--quiet", "--hard", &merge]);
            refused("merge with something new", &["ANCHOR_MISSING", "REPLAYED"]);
        }
    }
}

fn never(way: Way) {
    let landed = Landed::new();
    let undone = landed.undone(way);
    landed.never_comes_back(&undone, way);
}

#[test]
fn change_merged_and_undone_does_not_come_back() {
    never(Way::Merge);
}

#[test]
fn change_rebased_and_undone_does_not_come_back() {
    never(Way::Rebase);
}

#[test]
fn change_squashed_and_undone_does_not_come_back() {
    never(Way::Squash);
}

#[test]
fn change_picked_and_undone_does_not_come_back() {
    never(Way::Picks);
}

#[test]
fn part_of_a_change_that_was_undone_does_not_come_back() {
    let landed = Landed::new();
    let proven = &landed.proven;
    proven.git(&["cherry-pick", &landed.commits[0], &landed.commits[1]]);
    // Only the new file goes; the line stays.
    proven.git(&["rm", "--quiet", "b.txt"]);
    let (undone, _) = proven.prove("r", "Undo a part");
    let again = proven.made(&proven.tree_with(&undone, &[("b.txt", "b\n")]), &[&undone], "Again");
    proven.git(&["notes", "--ref=proof", "copy", &landed.commits[1], &again]);
    proven.gate_of(&undone, &again).fails("REPLAYED");
}

#[test]
fn what_a_squash_superseded_does_not_come_back() {
    let proven = Proven::with_policy(STRICT);
    let fork = proven.head.clone();
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("a.txt", NINE.replace("two", "evil"));
    let (first, _) = proven.prove("t1", "First");
    proven.write("a.txt", NINE.replace("two", "good"));
    let (second, _) = proven.prove("t2", "Second");
    let squash = proven.made(&proven.tip("HEAD^{tree}"), &[&fork], "Squash");
    proven.sight(&squash, &[[&fork, &second]]);
    proven.gate_of(&fork, &squash).passes();
    proven.git(&["checkout", "--quiet", "-B", "main", &squash]);
    proven.write("a.txt", NINE);
    let (undone, _) = proven.prove("r", "Undo it");
    proven.git(&["cherry-pick", &first]);
    proven.gate_of(&undone, "HEAD").fails("REPLAYED");
}

/// Merging a change into where it was merged before is not always without a conflict, so that a commit does not seem to
/// contain what it was made of.
#[test]
fn change_that_cannot_be_merged_twice_does_not_come_back() {
    let letters = |text: &str| text.chars().flat_map(|letter| [letter, '\n']).collect::<String>();
    let proven =
        Proven::with_files(&[(".proof/policy.toml", STRICT.as_bytes()), ("f.txt", letters("acabbb").as_bytes())]);
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write("f.txt", letters("abbb"));
    let (original, _) = proven.prove("t", "Original");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.write("f.txt", letters("acabb"));
    let (before, _) = proven.prove("m", "Meanwhile");
    let with = |text: &str, parent: &str| {
        let commit = proven.made(&proven.tree_with(parent, &[("f.txt", &letters(text))]), &[parent], "Pick");
        proven.git(&["notes", "--ref=proof", "copy", &original, &commit]);
        commit
    };
    let picked = with("abb", &before);
    proven.gate_of(&before, &picked).passes();
    proven.git(&["reset", "--quiet", "--hard", &picked]);
    proven.write("f.txt", letters("acabb"));
    let (undone, _) = proven.prove("r", "Undo it");
    proven.gate_of(&undone, &with("abb", &undone)).fails("REPLAYED");
}

/// A session that is closed before its commit is made: its evidence names a tree and a change, and no commit.
fn staged(proven: &Proven, session: &str, message: &str) -> String {
    proven.scratch.start(session, &[]);
    proven.git(&["add", "--all"]);
    proven.scratch.record("reflection", "staged");
    proven.scratch.json(&["finalize"]);
    proven.git(&["commit", "--quiet", "-m", message]);
    proven.scratch.run(["hook", "post-commit"]).text();
    proven.tip("HEAD")
}

#[test]
fn staged_change_that_was_undone_does_not_come_back() {
    let proven = Proven::with_policy(STRICT);
    proven.write("a.txt", NINE.replace("two", "TWO"));
    let original = staged(&proven, "st", "Staged");
    proven.gate().passes();
    proven.write("a.txt", NINE);
    let (undone, _) = proven.prove("r", "Undo it");
    // The very tree and the very change.
    let again = proven.made(&proven.tip(&format!("{original}^{{tree}}")), &[&undone], "Again");
    for commit in [&original, &again] {
        let mut line: Value = serde_json::from_str(&proven.note(&original)).unwrap();
        line["anchor"]["commit"] = json!(commit);
        proven.set_note(&again, line.to_string());
        proven.gate_of(&undone, &again).fails("REPLAYED");
    }
}

#[test]
fn staged_change_is_not_lent_to_a_commit_with_the_same_tree_and_another_parent() {
    const CHECKED: &str = "one\ncheck\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\nNINE\n";
    let proven = Proven::with_policy(STRICT);
    proven.write("a.txt", NINE.replace("nine", "NINE"));
    let original = staged(&proven, "st", "Staged");
    proven.write("a.txt", CHECKED);
    let (checked, _) = proven.prove("c", "Check");
    let (with, without) = (proven.tip("HEAD^{tree}"), proven.tip(&format!("{original}^{{tree}}")));
    // Same tree as the staged one, and its parent has the check: on paper it removes the check.
    let evil = proven.made(&without, &[&checked], "Evil");
    for parents in [&[][..], &[&*original], &[&*proven.base]] {
        let parent = proven.made(&with, parents, "Made for the purpose");
        let paper = proven.made(&without, &[&parent], "On paper");
        let mut line: Value = serde_json::from_str(&proven.note(&original)).unwrap();
        line["anchor"]["commit"] = json!(paper);
        proven.set_note(&evil, line.to_string());
        proven.gate_of(&checked, &evil).is_turned_away();
    }
}

#[test]
fn staged_change_passes_and_may_be_moved() {
    let proven = Proven::with_policy(STRICT);
    proven.write("a.txt", NINE.replace("two", "TWO"));
    let original = staged(&proven, "st", "Staged");
    proven.gate().passes();
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.head]);
    proven.write("b.txt", "b\n");
    let (side, _) = proven.prove("t", "Add b");
    proven.git(&["cherry-pick", &original]);
    proven.gate_of(&side, "HEAD").passes();
}

#[test]
fn staged_session_may_bring_back_what_was_undone_before_it() {
    let proven = Proven::with_policy(STRICT);
    proven.write("a.txt", NINE.replace("two", "TWO"));
    staged(&proven, "st", "Staged");
    proven.write("a.txt", NINE);
    let (undone, _) = proven.prove("r", "Undo it");
    proven.write("a.txt", NINE.replace("two", "TWO"));
    staged(&proven, "again", "Again, for a reason");
    let judged = proven.gate_of(&undone, "HEAD");
    assert_eq!(judged.passes().said["commits"][0]["binding"], "exact", "{judged:?}");
    // What that session brought back can be undone as well, and then its proof is used up.
    let again = proven.tip("HEAD");
    proven.write("a.txt", NINE);
    let (undone, _) = proven.prove("r2", "Undo it again");
    let third = proven.made(&proven.tip(&format!("{again}^{{tree}}")), &[&undone], "A third time");
    proven.set_note(&third, proven.note(&again).replace(&again, &third));
    proven.gate_of(&undone, &third).fails("REPLAYED");
}

#[test]
fn staged_change_is_proven_however_long_the_history_is() {
    let proven = Proven::with_policy(STRICT);
    let mut stream = String::new();
    for number in 0..20_500 {
        let from = if number == 0 { format!("from {}\n", proven.head) } else { String::new() };
        stream +=
            &format!("commit refs/heads/main\ncommitter a <a@b> {} +0000\ndata 1\nx\n{from}\n", 1_700_000_000 + number);
    }
    proven.git_with(&["fast-import", "--quiet"], stream);
    proven.git(&["reset", "--quiet", "--hard"]);
    let before = proven.tip("HEAD");
    proven.write("a.txt", NINE.replace("two", "TWO"));
    staged(&proven, "st", "Staged");
    proven.gate_of(&before, "HEAD").passes();
}

#[test]
fn new_session_brings_it_back_and_its_branch_can_be_merged() {
    let landed = Landed::new();
    let undone = landed.undone(Way::Squash);
    let proven = &landed.proven;
    proven.git(&["checkout", "--quiet", "-b", "again", &undone]);
    proven.write("a.txt", NINE.replace("two", "TWO").replace("eight", "EIGHT"));
    proven.write("b.txt", "b\n");
    proven.prove("again", "Again, for a reason");
    let judged = proven.gate_of(&undone, "HEAD");
    assert_eq!(judged.passes().said["commits"][0]["binding"], "exact", "{judged:?}");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.write("e.txt", "e\n");
    proven.prove("m3", "Meanwhile");
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "again"]);
    proven.gate_of(&undone, "HEAD").passes();
}

/// A change that takes something away is "contained" in every commit from before that was there.
#[test]
fn branch_that_adds_and_takes_away_again_can_be_rebased() {
    for same_file in [false, true] {
        let proven = Proven::with_policy(STRICT);
        proven.git(&["checkout", "--quiet", "-b", "topic"]);
        proven.write("a.txt", NINE.replace("two", "two\nnew"));
        proven.prove("t1", "Add");
        proven.write("a.txt", NINE);
        proven.prove("t2", "Take away");
        proven.git(&["checkout", "--quiet", "main"]);
        if same_file {
            proven.write("a.txt", NINE.replace("nine", "NINE"));
        } else {
            proven.write("c.txt", "c\n");
        }
        let (main, _) = proven.prove("m", "Meanwhile");
        proven.git(&["rebase", "--quiet", "main", "topic"]);
        proven.gate_of(&main, "topic").passes();
    }
}

#[test]
fn backport_of_a_change_and_of_its_revert_are_proven() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "release"]);
    proven.write("c.txt", "c\n");
    let (release, _) = proven.prove("m", "Only in the release");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.write("a.txt", NINE.replace("two", "TWO"));
    let (change, _) = proven.prove("t1", "Change");
    proven.write("a.txt", NINE);
    let (revert, _) = proven.prove("t2", "Revert");
    proven.git(&["checkout", "--quiet", "release"]);
    proven.git(&["cherry-pick", &change, &revert]);
    proven.gate_of(&release, "HEAD").passes();
    // Not a second time.
    let tip = proven.tip("HEAD");
    proven.git(&["cherry-pick", &change]);
    proven.gate_of(&tip, "HEAD").fails("REPLAYED");
}

#[test]
fn rebase_over_edits_nearby_is_moved_with_hooks_and_without() {
    for hooks in [true, false] {
        let project = Project::with_hooks(hooks);
        topic(&project, &["one", "two"]);
        project.git(["push", "--quiet", "origin", "topic"]);
        main_goes_on(&project);
        // Within the three lines around the change.
        project.edit(12, "nearby");
        project.edit(18, "nearby");
        project.commit("nearby");
        project.git(["push", "--quiet", "origin", "main"]);
        project.rewrite(&["rebase", "--quiet", "main", "topic"]);
        project.verify("HEAD~1").is("moved", &["one"]);
        project.verify("HEAD").is("moved", &["two"]);
        project.git(["push", "--quiet", "--force", "origin", "topic"]);
        let clone = project.clone_of("topic");
        clone.sync();
        clone.verify("HEAD~1").is("moved", &["one"]);
        clone.verify("HEAD").is("moved", &["two"]);
    }
}

/// Someone else pushes, and the first push of a proven commit comes after `git pull --rebase`.
fn pulled(content: &[u8], path: &str) {
    let project = Project::new();
    project.start("s");
    std::fs::write(project.place.join(path), content).unwrap();
    project.commit("change s");
    project.close();
    let forge = project.forge();
    std::fs::write(forge.place.join("other"), "other\n").unwrap();
    forge.git(&["add", "--all"]);
    forge.git(&["commit", "--quiet", "-m", "other"]);
    forge.git(&["push", "--quiet", "origin", "HEAD:main"]);
    project.rewrite(&["pull", "--quiet", "--rebase", "origin", "main"]);
    project.git(["push", "--quiet", "origin", "main"]);
    let clone = project.clone_of("main");
    clone.sync();
    clone.verify("HEAD").is("moved", &["s"]);
}

#[test]
fn pull_with_rebase_before_the_first_push_is_moved_in_a_fresh_clone() {
    pulled(crate::rewrite::project::lines().replace("line 7\n", "seven\n").as_bytes(), "file");
}

#[test]
fn new_file_is_moved_in_a_fresh_clone_after_pull_with_rebase() {
    pulled(b"new\n", "new");
}

#[test]
fn binary_file_is_moved_in_a_fresh_clone_after_pull_with_rebase() {
    pulled(b"new\0binary\n", "new");
}
