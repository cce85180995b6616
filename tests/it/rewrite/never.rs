//! What must never happen: a proof taken for a change that it was not made for, or lent to one by a hook.

use super::project::Project;
use crate::store::scratch::Ran;

/// A session that attested a change of line 10 while it was staged, and is finalized; nothing is committed yet.
fn finalized_before_the_commit() -> Project {
    let project = Project::new();
    project.start("s");
    project.edit(10, "staged");
    project.git(["add", "file"]);
    project.close();
    project
}

/// HEAD neither names the session nor has a note.
#[track_caller]
fn is_not_lent(project: &Project) {
    let message = project.message("HEAD");
    assert!(!message.contains("Proof-"), "{message}");
    assert_eq!(project.note("HEAD"), [""; 0]);
    project.verify("HEAD").is_nobodys();
}

/// The command that explains a commit after it was made.
const COVER: &str = "and then: git proof cover HEAD --reflection \"why it was made, what is uncertain\"";

/// The person is told, and told what to do.
#[track_caller]
fn offers_to_go_on(ran: &Ran) {
    assert!(ran.err.contains("explains another change") && ran.err.contains(COVER), "{}", ran.err);
}

#[test]
fn finalized_session_is_for_the_commit_of_what_it_attested() {
    let project = finalized_before_the_commit();
    let ran = project.commit_staged(&["-m", "it"]);
    assert!(ran.err.contains("anchored session s"), "{}", ran.err);
    assert!(project.message("HEAD").contains("Proof-Root: s:v1:"));
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn finalized_session_is_not_lent_to_something_else_that_is_staged() {
    let project = finalized_before_the_commit();
    project.edit(30, "something else");
    project.git(["add", "file"]);
    offers_to_go_on(&project.commit_staged(&["-m", "more"]));
    is_not_lent(&project);
}

#[test]
fn finalized_session_is_not_lent_to_a_commit_of_all() {
    let project = finalized_before_the_commit();
    project.edit(30, "not staged");
    offers_to_go_on(&project.commit_staged(&["--all", "-m", "all"]));
    is_not_lent(&project);
}

#[test]
fn finalized_session_is_not_lent_to_a_commit_of_one_path() {
    let project = finalized_before_the_commit();
    project.write("other", "not staged\n");
    project.git(["add", "--intent-to-add", "other"]);
    offers_to_go_on(&project.commit_staged(&["-m", "only this", "other"]));
    is_not_lent(&project);
}

#[test]
fn finalized_session_is_not_lent_to_what_a_formatter_made_of_it() {
    let project = finalized_before_the_commit();
    project.hook("pre-commit", "sed -i 's/staged/formatted/' file && git add file");
    offers_to_go_on(&project.commit_staged(&["-m", "formatted"]));
    is_not_lent(&project);
}

#[test]
fn finalized_session_is_not_lent_to_an_amended_commit() {
    let project = finalized_before_the_commit();
    project.commit_staged(&["--amend", "-m", "base and more"]);
    is_not_lent(&project);
}

#[test]
fn amended_commit_with_a_date_of_its_own_is_told_that_the_session_is_not_for_it() {
    let project = finalized_before_the_commit();
    project.proof(&["anchor", "--commit", "HEAD"]);
    let ran = project.commit_staged(&["--amend", "--date=@1800000000 +0000", "-m", "base and more"]);
    assert!(ran.err.contains("names session s, which explains another change"), "{}", ran.err);
    assert_eq!(project.note("HEAD"), [""; 0]);
    project.verify("HEAD").is_another_change("TRAILER_MISMATCH");
}

#[test]
fn amended_content_of_a_commit_that_names_its_root_is_told() {
    let project = finalized_before_the_commit();
    project.commit("it");
    project.edit(30, "more");
    let ran = project.commit_staged(&["--amend", "--all", "--no-edit"]);
    assert!(ran.err.contains("names session s, which explains another change"), "{}", ran.err);
    project.verify("HEAD").is_another_change("TRAILER_MISMATCH");
}

#[test]
fn commit_of_the_same_second_names_its_session() {
    let project = Project::new();
    let date = project.git(["log", "-1", "--format=@%at +0000"]);
    project.start("s");
    project.edit(10, "staged");
    project.git(["add", "file"]);
    project.close();
    project.commit_staged(&["--date", &date, "-m", "it"]);
    assert!(project.message("HEAD").contains("Proof-Root: s:"));
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn finalized_session_is_not_lent_to_a_second_commit() {
    let project = finalized_before_the_commit();
    project.commit("it");
    project.edit(30, "after it");
    project.commit("after it");
    is_not_lent(&project);
}

#[test]
fn finalized_session_is_not_lent_to_an_empty_commit_after_it() {
    let project = finalized_before_the_commit();
    project.commit("it");
    project.commit_staged(&["--allow-empty", "-m", "nothing"]);
    is_not_lent(&project);
}

#[test]
fn finalized_session_is_not_lent_to_a_commit_after_a_commit_of_the_open_session() {
    let project = Project::new();
    project.prove("s", 10);
    project.edit(30, "after it");
    project.commit("after it");
    is_not_lent(&project);
}

#[test]
fn note_copied_to_another_change_is_refused() {
    let project = Project::new();
    let proven = project.prove("s", 10);
    project.edit(30, "another");
    project.commit("another");
    project.git(["notes", "--ref=proof", "copy", &proven, "HEAD"]);
    project.verify("HEAD").is_another_change("BINDING_MISMATCH");
}

#[test]
fn same_words_at_another_indentation_are_another_change() {
    let project = Project::new();
    project.start("s");
    project.edit(10, "    if proven:");
    project.commit("indented");
    project.close();
    project.git(["reset", "--quiet", "--hard", "HEAD~1"]);
    project.edit(10, "  if proven:");
    project.commit("not so deep\n\nProof-Grade: true");
    project.verify("HEAD").is_another_change("ANCHOR_MISSING");
}

#[test]
fn way_back_to_a_proven_tree_does_not_inherit_its_proof() {
    let project = Project::new();
    let proven = project.prove("s", 10);
    project.edit(30, "away");
    project.commit("away");
    project.git(["read-tree", "-u", "--reset", &proven]);
    project.commit("back\n\nProof-Grade: true");
    assert_eq!(project.git(["rev-parse", "HEAD^{tree}"]), project.git(["rev-parse", &format!("{proven}^{{tree}}")]));
    project.verify("HEAD").is_another_change("ANCHOR_MISSING");
}

#[test]
fn empty_commit_does_not_inherit_a_proof() {
    let project = Project::new();
    project.prove("s", 10);
    project.commit_staged(&["--allow-empty", "-m", "nothing\n\nProof-Grade: true"]);
    project.verify("HEAD").is_another_change("ANCHOR_MISSING");
}

#[test]
fn merge_that_takes_nothing_does_not_inherit_a_proof() {
    let project = Project::new();
    project.git(["switch", "--quiet", "-c", "topic"]);
    project.prove("s", 10);
    project.git(["switch", "--quiet", "main"]);
    project.git(["merge", "--quiet", "-s", "ours", "-m", "ours\n\nProof-Grade: true", "topic"]);
    project.verify("HEAD").is_another_change("ANCHOR_MISSING");
}

#[test]
fn squash_with_an_unproven_part_is_not_proven() {
    let project = Project::new();
    project.git(["switch", "--quiet", "-c", "topic"]);
    project.prove("s", 10);
    project.start("open");
    project.edit(20, "never closed");
    project.commit("never closed");
    project.replan("main", "2s/^pick/fixup/", "");
    let judged = project.verify("HEAD");
    assert_ne!(judged.verdict, "pass", "{judged:#?}");
    assert!(judged.binding.is_empty() && judged.says("ANCHOR_MISSING"), "{judged:#?}");
}
