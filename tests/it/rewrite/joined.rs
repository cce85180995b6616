//! Rewrites that make one commit of several, or join histories, here and by hand.

use super::project::Project;

both_ways!(
    merge_keeps_what_was_merged_and_needs_no_proof,
    merge_with_content_of_its_own_is_exact_by_its_own_session,
    squash_merge_of_a_pushed_branch_is_squashed,
    squash_merge_of_one_commit_is_moved,
    soft_reset_over_one_commit_is_reworded,
    soft_reset_with_other_content_is_another_change,
    fixup_of_a_pushed_range_is_squashed_and_those_after_it_are_moved,
    commits_that_were_not_neighbours_make_another_change,
);

/// A branch `topic` with a session for each of the lines 10, 20 and so on.
pub(crate) fn topic(project: &Project, sessions: &[&str]) {
    project.git(["switch", "--quiet", "-c", "topic"]);
    for (number, session) in sessions.iter().enumerate() {
        project.prove(session, 10 * (number + 1));
    }
}

/// Main goes on, in another hunk of the same file.
pub(crate) fn main_goes_on(project: &Project) {
    project.git(["switch", "--quiet", "main"]);
    project.edit(38, "main goes on");
    project.commit("on main");
}

fn merge_keeps_what_was_merged_and_needs_no_proof(project: &Project) {
    topic(project, &["s"]);
    main_goes_on(project);
    project.rewrite(&["merge", "--quiet", "--no-ff", "--no-edit", "topic"]);
    project.verify("HEAD").is_nobodys();
    project.verify("HEAD^2").is("exact", &["s"]);
}

fn merge_with_content_of_its_own_is_exact_by_its_own_session(project: &Project) {
    topic(project, &["s"]);
    main_goes_on(project);
    project.start("m");
    project.rewrite(&["merge", "--quiet", "--no-ff", "--no-commit", "topic"]);
    project.edit(25, "by the merge itself");
    project.commit("merged by hand");
    project.close();
    project.verify("HEAD").is("exact", &["m"]);
}

fn squash_merge_of_a_pushed_branch_is_squashed(project: &Project) {
    topic(project, &["one", "two"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    main_goes_on(project);
    project.rewrite(&["merge", "--quiet", "--squash", "topic"]);
    project.rewrite(&["commit", "--quiet", "-m", "both"]);
    project.verify("HEAD").is("squashed", &["one", "two"]);
}

fn squash_merge_of_one_commit_is_moved(project: &Project) {
    topic(project, &["s"]);
    main_goes_on(project);
    project.rewrite(&["merge", "--quiet", "--squash", "topic"]);
    project.rewrite(&["commit", "--quiet", "-m", "it"]);
    project.verify("HEAD").is("moved", &["s"]);
}

fn soft_reset_over_one_commit_is_reworded(project: &Project) {
    project.prove("s", 10);
    project.rewrite(&["reset", "--quiet", "--soft", "HEAD~1"]);
    project.rewrite(&["commit", "--quiet", "-m", "again"]);
    project.verify("HEAD").is("reworded", &["s"]);
}

fn soft_reset_with_other_content_is_another_change(project: &Project) {
    project.prove("one", 10);
    project.prove("two", 20);
    project.rewrite(&["reset", "--quiet", "--soft", "HEAD~2"]);
    project.edit(30, "more");
    project.rewrite(&["commit", "--quiet", "--all", "-m", "all\n\nProof-Grade: true"]);
    project.verify("HEAD").is_another_change("ANCHOR_MISSING");
}

fn fixup_of_a_pushed_range_is_squashed_and_those_after_it_are_moved(project: &Project) {
    topic(project, &["one", "two"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    project.prove("three", 30);
    main_goes_on(project);
    project.git(["switch", "--quiet", "topic"]);
    project.replan("main", "2s/^pick/fixup/", "");
    project.verify("HEAD~1").is("squashed", &["one", "two"]);
    project.verify("HEAD").is("moved", &["three"]);
}

fn commits_that_were_not_neighbours_make_another_change(project: &Project) {
    topic(project, &["one", "two", "three"]);
    project.replan("main", "2{h;d};3{s/^pick/squash/;G}", "");
    assert_eq!(project.git(["rev-list", "--count", "main..HEAD"]), "2");
    project.verify("HEAD~1").is_another_change("ANCHOR_MISSING");
    project.verify("HEAD").is("moved", &["two"]);
}

/// Ranges that nobody pushed: the hooks see how they came to be one commit.
mod seen_by_hooks {
    use super::super::project::Project;
    use super::{main_goes_on, topic};

    #[test]
    fn fixup_is_squashed() {
        let project = Project::new();
        topic(&project, &["one", "two", "three"]);
        project.replan("main", "2s/^pick/fixup/", "");
        project.verify("HEAD~1").is("squashed", &["one", "two"]);
        project.verify("HEAD").is("reworded", &["three"]);
    }

    #[test]
    fn squash_is_squashed() {
        let project = Project::new();
        topic(&project, &["one", "two", "three"]);
        project.replan("main", "2,3s/^pick/squash/", "");
        project.verify("HEAD").is("squashed", &["one", "three", "two"]);
    }

    #[test]
    fn fixup_while_the_session_is_open_is_squashed_once_it_is_closed() {
        let project = Project::new();
        project.start("s");
        project.edit(10, "first try");
        project.commit("first");
        project.edit(12, "and more");
        project.commit_staged(&["--all", "--fixup=HEAD"]);
        project.replan("HEAD~2", "2s/^pick/fixup/", "");
        project.close();
        project.verify("HEAD").is("exact", &["s"]);
    }

    #[test]
    fn squash_merge_is_squashed() {
        let project = Project::new();
        topic(&project, &["one", "two"]);
        main_goes_on(&project);
        project.git(["merge", "--quiet", "--squash", "topic"]);
        project.commit_staged(&["--no-edit"]);
        project.verify("HEAD").is("squashed", &["one", "two"]);
    }

    #[test]
    fn soft_reset_over_several_is_squashed() {
        let project = Project::new();
        topic(&project, &["one", "two"]);
        project.git(["reset", "--quiet", "--soft", "main"]);
        project.commit_staged(&["-m", "both"]);
        project.verify("HEAD").is("squashed", &["one", "two"]);
    }

    #[test]
    fn amended_merge_is_reworded() {
        let project = Project::new();
        super::merge_with_content_of_its_own_is_exact_by_its_own_session(&project);
        project.rewrite(&["commit", "--quiet", "--amend", "-m", "merged, in other words"]);
        project.verify("HEAD").is("reworded", &["m"]);
    }

    #[test]
    fn squash_of_a_squash_is_squashed() {
        let project = Project::new();
        topic(&project, &["one", "two", "three"]);
        project.replan("main", "2s/^pick/fixup/", "");
        project.replan("main", "2s/^pick/fixup/", "");
        project.verify("HEAD").is("squashed", &["one", "three", "two"]);
    }
}

/// Without hooks and without a push nobody saw the range: that is said, and nothing is guessed.
mod seen_by_nobody {
    use super::super::project::Project;
    use super::topic;

    #[test]
    fn fixup_of_an_unpushed_range_is_another_change() {
        let project = Project::with_hooks(false);
        topic(&project, &["one", "two"]);
        project.replan("main", "2s/^pick/fixup/", "");
        project.verify("HEAD").is_another_change("ANCHOR_MISSING");
    }

    #[test]
    fn amended_merge_has_no_change_to_be_found_by() {
        let project = Project::with_hooks(false);
        super::merge_with_content_of_its_own_is_exact_by_its_own_session(&project);
        project.rewrite(&["commit", "--quiet", "--amend", "-m", "merged\n\nProof-Grade: true"]);
        project.verify("HEAD").is_another_change("ANCHOR_MISSING");
    }

    #[test]
    fn soft_reset_over_an_unpushed_range_is_another_change() {
        let project = Project::with_hooks(false);
        topic(&project, &["one", "two"]);
        project.rewrite(&["reset", "--quiet", "--soft", "main"]);
        project.rewrite(&["commit", "--quiet", "-m", "both\n\nProof-Grade: true"]);
        project.verify("HEAD").is_another_change("ANCHOR_MISSING");
    }
}
