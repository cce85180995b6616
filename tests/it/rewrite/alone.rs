//! Rewrites of single commits, here and by hand: amend, rebase, cherry-pick, revert, am, stash, fast-import.

use super::project::{Project, lines};
use crate::common;

both_ways!(
    amended_message_is_reworded,
    amended_author_is_reworded,
    amended_content_is_another_change,
    rebase_is_moved,
    rebase_over_a_near_change_is_moved,
    rebase_onto_the_same_tree_is_reworded,
    reword_is_reworded_and_so_are_those_after_it,
    edit_with_other_content_is_another_change_and_those_after_it_are_moved,
    split_is_another_change_in_its_first_part,
    cherry_pick_is_moved,
    revert_is_another_change_and_its_revert_is_a_replay,
    patch_by_mail_is_moved,
    stash_and_pop_then_commit_is_exact,
    rewritten_messages_by_fast_import_are_reworded,
    path_removed_by_fast_import_is_another_change_only_where_it_was_touched,
);

fn amended_message_is_reworded(project: &Project) {
    project.prove("s", 10);
    project.rewrite(&["commit", "--quiet", "--amend", "-m", "other words"]);
    project.verify("HEAD").is("reworded", &["s"]);
}

fn amended_author_is_reworded(project: &Project) {
    project.prove("s", 10);
    project.rewrite(&[
        "commit",
        "--quiet",
        "--amend",
        "--no-edit",
        "--author=Eve <eve@example.org>",
        "--date=@5 +0000",
    ]);
    project.verify("HEAD").is("reworded", &["s"]);
}

fn amended_content_is_another_change(project: &Project) {
    project.prove("s", 10);
    project.edit(30, "more");
    project.rewrite(&["commit", "--quiet", "--amend", "--no-edit", "--all"]);
    project.verify("HEAD").is_another_change("ANCHOR_MISSING");
}

fn rebase_is_moved(project: &Project) {
    project.git(["switch", "--quiet", "-c", "topic"]);
    project.prove("one", 10);
    project.prove("two", 20);
    project.git(["switch", "--quiet", "main"]);
    project.edit(35, "main goes on");
    project.commit("on main");
    project.rewrite(&["rebase", "--quiet", "main", "topic"]);
    project.verify("HEAD~1").is("moved", &["one"]);
    project.verify("HEAD").is("moved", &["two"]);
}

fn rebase_over_a_near_change_is_moved(project: &Project) {
    project.git(["switch", "--quiet", "-c", "topic"]);
    project.prove("s", 10);
    project.git(["switch", "--quiet", "main"]);
    project.edit(12, "two lines below");
    project.commit("on main");
    project.rewrite(&["rebase", "--quiet", "main", "topic"]);
    project.verify("HEAD").is("moved", &["s"]);
}

fn rebase_onto_the_same_tree_is_reworded(project: &Project) {
    project.git(["switch", "--quiet", "-c", "topic"]);
    project.prove("s", 10);
    project.git(["switch", "--quiet", "main"]);
    project.commit_staged(&["--allow-empty", "-m", "nothing"]);
    project.rewrite(&["rebase", "--quiet", "main", "topic"]);
    project.verify("HEAD").is("reworded", &["s"]);
}

fn reword_is_reworded_and_so_are_those_after_it(project: &Project) {
    project.prove("one", 10);
    project.prove("two", 20);
    project.replan("HEAD~2", "1s/^pick/reword/", "1s/.*/other words/");
    assert_eq!(project.git(["log", "-1", "--format=%s", "HEAD~1"]), "other words");
    project.verify("HEAD~1").is("reworded", &["one"]);
    project.verify("HEAD").is("reworded", &["two"]);
}

fn edit_with_other_content_is_another_change_and_those_after_it_are_moved(project: &Project) {
    project.prove("one", 10);
    project.prove("two", 20);
    project.replan("HEAD~2", "1s/^pick/edit/", "");
    project.edit(30, "more");
    project.rewrite(&["commit", "--quiet", "--amend", "--no-edit", "--all"]);
    project.rewrite(&["rebase", "--continue"]);
    project.verify("HEAD~1").is_another_change("ANCHOR_MISSING");
    project.verify("HEAD").is("moved", &["two"]);
}

fn split_is_another_change_in_its_first_part(project: &Project) {
    project.start("s");
    project.edit(10, "one half");
    project.edit(30, "the other");
    project.commit("both");
    project.close();
    project.prove("after", 20);
    project.replan("HEAD~2", "1s/^pick/edit/", "");
    project.rewrite(&["reset", "--quiet", "HEAD^"]);
    let whole = project.read("file");
    project.edit(30, "line 30");
    project.rewrite(&["commit", "--quiet", "--all", "-m", "one half\n\nProof-Grade: true"]);
    project.write("file", &whole);
    project.rewrite(&["commit", "--quiet", "--all", "-m", "the other\n\nProof-Grade: true"]);
    project.rewrite(&["rebase", "--continue"]);
    project.verify("HEAD~2").is_another_change("ANCHOR_MISSING");
    project.verify("HEAD").is("reworded", &["after"]);
}

#[test]
fn last_part_of_a_split_is_what_git_makes_of_the_whole_on_top_of_the_others() {
    let project = Project::new();
    split_is_another_change_in_its_first_part(&project);
    project.verify("HEAD~1").is("moved", &["s"]);
}

fn cherry_pick_is_moved(project: &Project) {
    project.git(["switch", "--quiet", "-c", "topic"]);
    let proven = project.prove("s", 10);
    project.git(["switch", "--quiet", "main"]);
    project.rewrite(&["cherry-pick", &proven]);
    // Onto the same parent at the same second it may even be the same commit.
    project.git(["reset", "--quiet", "--hard", "HEAD~1"]);
    project.edit(35, "main goes on");
    project.commit("on main");
    project.rewrite(&["cherry-pick", &proven]);
    project.verify("HEAD").is("moved", &["s"]);
}

fn revert_is_another_change_and_its_revert_is_a_replay(project: &Project) {
    project.prove("s", 10);
    project.rewrite(&["revert", "--no-edit", "HEAD"]);
    project.verify("HEAD").is_nobodys();
    project.rewrite(&["revert", "--no-edit", "HEAD"]);
    project.rewrite(&["commit", "--quiet", "--amend", "-m", "again\n\nProof-Grade: true"]);
    project.verify("HEAD").is_another_change("REPLAYED");
    project.edit(35, "main goes on");
    project.commit("on main");
    project.rewrite(&["revert", "--no-edit", "HEAD~1"]);
    project.rewrite(&["revert", "--no-edit", "HEAD"]);
    project.rewrite(&["commit", "--quiet", "--amend", "-m", "and again\n\nProof-Grade: true"]);
    project.verify("HEAD").is_another_change("REPLAYED");
}

fn patch_by_mail_is_moved(project: &Project) {
    project.git(["switch", "--quiet", "-c", "topic"]);
    project.prove("s", 10);
    project.git(["format-patch", "--quiet", "-1", "--output-directory=../mail"]);
    project.git(["switch", "--quiet", "main"]);
    project.edit(35, "main goes on");
    project.commit("on main");
    project.rewrite(&["am", "--quiet", "../mail/0001-change-s.patch"]);
    project.verify("HEAD").is("moved", &["s"]);
}

fn stash_and_pop_then_commit_is_exact(project: &Project) {
    project.start("s");
    project.edit(10, "kept for later");
    project.rewrite(&["stash", "--quiet"]);
    assert_eq!(project.read("file"), lines());
    project.rewrite(&["stash", "pop", "--quiet"]);
    project.commit("from the stash");
    project.close();
    project.verify("HEAD").is("exact", &["s"]);
}

/// Writes the branch anew, the way filter-repo does.
fn import(project: &Project, sed: &str) {
    let exported = project.try_git(["fast-export", "--no-data", "main"]).text().to_owned();
    let edited = common::run_with_input(project.command("sed").args(["-E", sed]), exported.as_bytes());
    let imported = common::run_with_input(
        project.rewriting(&["fast-import", "--force", "--quiet"]).arg("--date-format=raw"),
        edited.stdout.as_bytes(),
    );
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
}

fn rewritten_messages_by_fast_import_are_reworded(project: &Project) {
    project.prove("one", 10);
    project.prove("two", 20);
    let before = project.head();
    import(project, "s/ada@example.org/ada@other.org/");
    assert_ne!(project.head(), before);
    project.verify("HEAD~1").is("reworded", &["one"]);
    project.verify("HEAD").is("reworded", &["two"]);
}

fn path_removed_by_fast_import_is_another_change_only_where_it_was_touched(project: &Project) {
    project.start("one");
    project.edit(10, "with a secret");
    project.write("secret", "hunter2\n");
    project.commit("one");
    project.close();
    project.prove("two", 20);
    import(project, "/ secret$/d");
    project.verify("HEAD~1").is_another_change("ANCHOR_MISSING");
    project.verify("HEAD").is("moved", &["two"]);
}
