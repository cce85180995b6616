//! Mistakes: from each of them, by typing only what the tool prints, the commits end up proven for everybody. Nobody has to
//! know another command than `git push` and `git proof status`.

use std::process::Command;

use serde_json::Value;

use crate::store::scratch::{Ran, Scratch};

/// What the stories are told in.
pub(crate) const WORDS: &str = r#"
set -e
start() { git proof start "do it" >/dev/null; }
edit() { echo "$1 $(cat "$1" 2>/dev/null | wc -l)" >>"$1"; }
commit() { git add -A && git commit -qm "$1"; }
nohooks() { git add -A && git -c core.hooksPath=/dev/null commit -qm "$1"; }
other() {
  git clone -q ../remote ../other
  (cd ../other && git proof init >/dev/null && git proof start "other" >/dev/null && echo o >o && git add o &&
    git commit -qm O && git proof done "other" >/dev/null && git push -q origin HEAD:main)
}
"#;

/// A policy that asks every commit for a proof.
pub(crate) const BEGIN: &str = r#"
git init -q --bare --initial-branch=main ../remote
git remote add origin ../remote
git proof init >/dev/null
mkdir .proof && printf '[proof_grade]\nrequire = "all"\n' >.proof/policy.toml
start && edit a && commit base && git proof done "begun" >/dev/null
git push -q origin HEAD:main && git remote set-head origin main
"#;

/// How many times something is typed before a story counts as a dead end.
const PATIENCE: usize = 7;

pub(crate) struct Walk {
    pub(crate) scratch: Scratch,
    typed: Vec<String>,
    pub(crate) log: String,
}

impl Walk {
    pub(crate) fn new() -> Self {
        Self { scratch: Scratch::new(), typed: Vec::new(), log: String::new() }
    }

    pub(crate) fn shell(&mut self, script: &str, folder: &str) -> Ran {
        let mut command: Command = self.scratch.command("sh");
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_git-proof"));
        let mut path = program.parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command.env("PATH", path).env("GIT_EDITOR", "true").current_dir(self.scratch.place.join(folder));
        let ran: Ran = command.args(["-c", &format!("{WORDS}\n{script}")]).output().unwrap().into();
        self.log.push_str(&format!("$ {script} -> {:?}\n{}{}\n", ran.exit, ran.out, ran.err));
        ran
    }

    /// Whether what was pushed is proven for whoever clones it; else what is printed there.
    fn is_proven(&mut self) -> Result<(), Ran> {
        self.shell("rm -rf ../fresh && git clone -q ../remote ../fresh && cd ../fresh && git proof sync", ".");
        let verified = self.shell("git proof verify $(git rev-list --max-parents=0 HEAD)..HEAD", "../fresh");
        if verified.exit == Some(0) { Ok(()) } else { Err(verified) }
    }

    /// The next command by `status`, where it says more than how to begin.
    fn next(&mut self) -> Option<String> {
        let status: Value = self.shell("git proof status --json", ".").json();
        let next = status["next"].as_str().unwrap().to_owned();
        let begins = next.starts_with("git proof start") || next.starts_with("git commit");
        (!begins).then_some(next)
    }

    /// Types what is printed until all is proven.
    fn home(&mut self) -> bool {
        for _ in 0..PATIENCE {
            let pushed = self.shell("git push origin HEAD:main", ".");
            let said = if pushed.exit == Some(0) {
                match self.is_proven() {
                    Ok(()) => return true,
                    Err(ran) => ran.out + &ran.err,
                }
            } else {
                pushed.err
            };
            let mut todo: Vec<String> = self.next().into_iter().collect();
            todo.extend(commands(&said));
            // Sharing may help again after something else was done; the rest is typed once.
            let typed = &self.typed;
            let fresh = todo.iter().position(|command| !typed.contains(command));
            let Some(at) = fresh.or_else(|| todo.iter().position(|command| command == "git proof sync")) else {
                return false;
            };
            let ran = self.shell(&todo[at], ".");
            self.typed.push(todo.swap_remove(at));
            if ran.exit != Some(0)
                && let Some(command) = commands(&ran.err).into_iter().next()
            {
                self.shell(&command, ".");
                self.typed.push(command);
            }
        }
        false
    }
}

/// The commands that hints name, as they are to be typed.
fn commands(text: &str) -> Vec<String> {
    let hints = text.lines().filter_map(|line| line.split_once("hint: ")).map(|(_, hint)| hint);
    let parts = hints.flat_map(|hint| hint.split("; ")).flat_map(|part| part.split(", then "));
    let parts = parts.flat_map(|part| part.split(": ")).flat_map(|part| part.split(", or "));
    let command = |part: &str| {
        let command = part.trim().split(" where it was recorded").next().unwrap_or_default();
        command.starts_with("git ").then(|| command.to_owned())
    };
    parts.filter_map(command).collect()
}

#[track_caller]
fn is_undone(mistake: &str) {
    let mut walk = Walk::new();
    assert_eq!(walk.shell(BEGIN, ".").exit, Some(0), "{}", walk.log);
    assert_eq!(walk.shell(mistake, ".").exit, Some(0), "{}", walk.log);
    assert!(walk.home(), "typed {:#?}\n{}", walk.typed, walk.log);
}

macro_rules! mistakes {
    ($($name:ident: $script:expr;)*) => {
        $(#[test]
        fn $name() {
            is_undone($script);
        })*
    };
}

mistakes! {
    one_commit_without_a_session: "edit a; commit A";
    three_commits_without_a_session: "edit a; commit A; edit b; commit B; edit c; commit C";
    session_that_was_not_closed: "start; edit a; commit A";
    reflection_without_finalizing: r#"start; edit a; commit A; git proof record reflection "done""#;
    closed_before_the_commit_with_nothing_staged: r#"start; edit a; git proof done "done" || true; commit A"#;
    more_was_committed_than_was_staged_when_it_was_closed: r#"
        start; edit a; git add a; edit b; git proof done "done"; commit A
    "#;
    another_content_was_committed_than_was_staged: r#"
        start; edit a; git add a; git proof done "done"; edit a; commit A
    "#;
    commit_after_the_session_was_closed: r#"start; edit a; commit A; git proof done "done"; edit b; commit B"#;
    two_commits_after_the_session_was_closed: r#"
        start; edit a; commit A; git proof done "done"; edit b; commit B; edit c; commit C
    "#;
    message_amended_after_the_session_was_closed: r#"
        start; edit a; commit A; git proof done "done"; git commit -q --amend -m "Better words"
    "#;
    content_amended_after_the_session_was_closed: r#"
        start; edit a; commit A; git proof done "done"; edit b; git add b; git commit -q --amend --no-edit
    "#;
    ended_before_the_reflection: "start; edit a; commit A; git proof end || true";
    finalized_without_a_reflection: "start; edit a; commit A; git proof finalize || true";
    finalized_without_a_record: "start; git proof finalize || true; edit a; commit A";
    second_session_over_an_open_one: r#"
        start; edit a; commit A; git proof start "anothe"; edit b; commit B; git proof done "done"
    "#;
    two_sessions_the_first_one_never_closed: r#"
        git proof start "one"; git proof start "two"; edit a; commit A; git proof done "done"
    "#;
    decided_without_a_session: r#"git proof decide "something" || true; edit a; commit A"#;
    done_without_a_session: r#"edit a; commit A; git proof done "done" || true"#;
    recorded_without_a_session: r#"git proof record analysis "x" || true; edit a; commit A"#;
    session_after_the_commit: r#"edit a; commit A; start; git proof done "done""#;
    soft_reset_and_committed_again: r#"
        start; edit a; commit A; git proof done "done"; git reset -q --soft HEAD~1; git commit -qm "A again"
    "#;
    session_with_nothing_in_it_then_a_commit: r#"start; git proof done "nothing"; edit a; commit A"#;
    session_of_another_commit_was_anchored_by_hand: r#"
        start; edit a; commit A; git proof done "done"; edit b; commit B; git proof anchor HEAD || true
    "#;
    hooks_switched_off_for_a_commit_of_a_session: r#"start; edit a; nohooks A; git proof done "done""#;
    hooks_switched_off_nobody_s_session: "edit a; nohooks A";
    hooks_removed_from_the_clone: r#"start; rm -f .git/hooks/*; edit a; commit A; git proof done "done""#;
    commit_without_its_first_hooks: r#"start; edit a; git add -A; git commit -qnm A; git proof done "done""#;
    commit_by_plumbing: r#"
        start; edit a; git add -A; git update-ref HEAD $(git commit-tree -p HEAD -m A $(git write-tree));
        git proof done "done"
    "#;
    post_commit_hook_lost: r#"start; rm -f .git/hooks/post-commit; edit a; commit A; git proof done "done""#;
    another_tool_took_over_the_hooks: r#"
        start; mkdir .husky; git config core.hooksPath .husky; edit a; commit A; git proof done "done"
    "#;
    conflict_in_a_rebase_resolved_by_hand: r#"
        git checkout -q -b side; start; echo ours > f; commit A; git proof done "done"; git checkout -q main;
        echo theirs > f; start; commit M; git proof done "m"; git checkout -q side;
        git rebase -q main || { echo both > f; git add f; GIT_EDITOR=true git rebase --continue; };
        git checkout -q main; git merge -q --ff-only side
    "#;
    rebase_with_hooks_switched_off: r#"
        git checkout -q -b side; start; edit a; commit A; git proof done "done"; git checkout -q main;
        edit m; start; commit M; git proof done "m"; git checkout -q side;
        git -c core.hooksPath=/dev/null rebase -q main; git checkout -q main; git merge -q --ff-only side
    "#;
    conflict_in_a_cherry_pick: r#"
        git checkout -q -b side; start; echo ours > f; commit A; git proof done "done"; git checkout -q main;
        echo theirs > f; start; commit M; git proof done "m";
        git cherry-pick side || { echo both > f; git add f; git -c core.editor=true cherry-pick --continue; }
    "#;
    squashed_locally: r#"
        git checkout -q -b side; start; edit a; commit A; edit b; commit B; git proof done "done";
        git checkout -q main; git merge -q --squash side; git commit -qm "Side"
    "#;
    two_proven_commits_made_one_by_a_rebase: r#"
        start; edit a; commit A; edit b; commit B; git proof done "done";
        GIT_SEQUENCE_EDITOR="sed -i.bak 2s/pick/fixup/" git rebase -q -i HEAD~2
    "#;
    message_changed_by_a_rebase: r#"
        start; edit a; commit A; edit b; commit B; git proof done "done";
        GIT_SEQUENCE_EDITOR="sed -i.bak 1s/pick/reword/" GIT_EDITOR="sed -i.bak 1s/A/Better/" git rebase -q -i HEAD~2
    "#;
    revert_of_a_proven_commit: r#"start; edit a; commit A; git proof done "done"; git revert --no-edit HEAD"#;
    commit_split_in_two: r#"
        start; edit a; edit b; commit AB; git proof done "done"; git reset -q HEAD~1; git add a;
        git commit -qm A; git add b; git commit -qm B
    "#;
    amended_with_hooks_switched_off: r#"
        start; edit a; commit A; git proof done "done"; edit b; git add b;
        git -c core.hooksPath=/dev/null commit -q --amend --no-edit
    "#;
    author_changed_afterwards: r#"
        start; edit a; commit A; git proof done "done";
        git commit -q --amend --no-edit --author "Bea <bea@x>"
    "#;
    branch_changed_with_a_session_open: "
        start; git checkout -q -b side; edit a; commit A; git checkout -q main; git merge -q --ff-only side
    ";
    session_in_one_worktree_commit_in_another: "
        start; git worktree add -q ../W/other -b side;
        (cd ../W/other; echo x > x; git add x; git commit -qm X); git merge -q --ff-only side
    ";
    worktree_removed_with_its_session_open: r#"
        git worktree add -q ../W/other -b side;
        (cd ../W/other; git proof start "there"; echo x > x; git add x; git commit -qm X);
        git worktree remove --force ../W/other; git merge -q --ff-only side
    "#;
    commit_on_a_detached_head: r#"
        git checkout -q --detach; start; edit a; commit A; git proof done "done"; git checkout -q -B main
    "#;
    merge_of_a_branch_without_proof: r#"
        git checkout -q -b side; edit a; commit A; git checkout -q main; edit m; start; commit M;
        git proof done "m"; git merge -q --no-edit side
    "#;
    merge_with_a_conflict_resolved_by_hand: r#"
        git checkout -q -b side; start; echo ours > f; commit A; git proof done "done"; git checkout -q main;
        echo theirs > f; start; commit M; git proof done "m";
        git merge side || { echo both > f; git add f; git commit -q --no-edit; }
    "#;
    open_session_squashed: "
        git checkout -q -b side; start; edit a; commit A; git checkout -q main; git merge -q --squash side;
        git commit -qm S
    ";
    note_removed: r#"start; edit a; commit A; git proof done "done"; git notes --ref=proof remove HEAD"#;
    all_notes_removed: r#"start; edit a; commit A; git proof done "done"; git update-ref -d refs/notes/proof"#;
    evidence_removed: r#"start; edit a; commit A; git proof done "done"; git update-ref -d refs/proof/evidence"#;
    store_lost_with_an_open_session: "start; edit a; commit A; rm -rf .git/proof";
    store_lost_after_it_was_closed: r#"start; edit a; commit A; git proof done "done"; rm -rf .git/proof"#;
    somebody_else_pushed_first: r#"
        start; edit a; commit A; git proof done "done"; other; git pull -q --rebase origin main
    "#;
    somebody_else_pushed_first_merged: r#"
        start; edit a; commit A; git proof done "done"; other; git pull -q --no-rebase --no-edit origin main
    "#;
    pulled_with_a_session_open: r#"
        start; edit a; commit A; other; git pull -q --rebase origin main; git proof done "done"
    "#;
    pushed_around_the_hook: r#"start; edit a; commit A; git proof done "done"; git push -q --no-verify origin main"#;
    pushed_around_the_hook_without_a_session: "edit a; commit A; git push -q --no-verify origin main";
    credential_in_the_reflection: r#"
        start; edit a; commit A; git proof done "token ghp_16C7e42F292c6912E7710c838347Ae178B4a" || true
    "#;
    private_reflection: r#"
        start; edit a; commit A; git proof record --private --type reflection --content "secret" || true
    "#;
    wrong_session_in_the_environment: r#"
        start; edit a; GIT_PROOF_SESSION=nobody git add a; GIT_PROOF_SESSION=nobody git commit -qm A;
        git proof done "done"
    "#;
    scheme_that_policy_refuses: r#"git proof start "x" --scheme v1-sorted; edit a; commit A; git proof done "done""#;
    session_that_is_not_proof_grade: r#"
        git proof start "x" --not-proof-grade; edit a; commit A; git proof done "done"
    "#;
    trailer_removed_from_the_message: r#"
        start; edit a; commit A; git proof done "done"; git commit -q --amend -m "No trailers"
    "#;
    session_named_in_a_message_by_hand: r#"
edit a; git add a; git commit -qm "A

Proof-Session: nothing"
    "#;
    retained: r#"start; edit a; commit A; git proof done "done"; git proof retain || true"#;
}

#[test]
fn commit_that_a_conflict_changed_is_explained_by_what_the_rebase_printed() {
    let mut walk = Walk::new();
    assert_eq!(walk.shell(BEGIN, ".").exit, Some(0), "{}", walk.log);
    let rebased = walk.shell(
        r#"
        git checkout -q -b side; start; echo ours > f; commit A; git proof done "done"; git checkout -q main;
        echo theirs > f; start; commit M; git proof done "m"; git checkout -q side;
        git rebase -q main || { echo both > f; git add f; GIT_EDITOR=true git rebase --continue; }
        "#,
        ".",
    );
    let verified = walk.shell("git proof verify HEAD", ".");
    let first = commands(&verified.out).into_iter().next().unwrap_or_default();
    assert!(first.starts_with("git proof cover "), "{}", walk.log);
    let printed = rebased.err.lines().find_map(|line| line.split_once("To explain the new one: "));
    let (_, command) = printed.unwrap_or_else(|| panic!("{}", walk.log));
    assert_eq!(walk.shell(command, ".").exit, Some(0), "{}", walk.log);
    assert_eq!(walk.shell("git proof verify HEAD", ".").exit, Some(0), "{}", walk.log);
}

#[test]
fn done_without_a_session_names_what_explains_the_commit() {
    let mut walk = Walk::new();
    assert_eq!(walk.shell(BEGIN, ".").exit, Some(0), "{}", walk.log);
    let explained =
        walk.shell("cd ../ && git clone -q remote new && cd new && git proof sync && git proof done x", ".");
    assert!(!explained.err.contains("git proof cover"), "{}", walk.log);
    assert_eq!(walk.shell("edit a; commit A", "../new").exit, Some(0), "{}", walk.log);
    let ran = walk.shell("git proof done x", "../new");
    let typed = commands(&ran.err);
    assert!(typed[0].starts_with("git proof cover HEAD ") && typed[1].starts_with("git proof start "), "{}", walk.log);
    assert_eq!(walk.shell(&typed[0], "../new").exit, Some(0), "{}", walk.log);
    assert_eq!(walk.shell("git proof verify HEAD", "../new").exit, Some(0), "{}", walk.log);
}

#[test]
fn log_without_a_session_names_the_log_of_commits_and_how_to_fetch_proofs() {
    let mut walk = Walk::new();
    assert_eq!(walk.shell(BEGIN, ".").exit, Some(0), "{}", walk.log);
    let log = walk.shell("git clone -q ../remote ../new && cd ../new && git proof log", ".");
    let typed = commands(&log.err);
    assert!(
        log.err.contains("hint: git proof log HEAD shows the decisions behind commits; git proof sync --fetch-only ")
    );
    assert!(typed.last().unwrap().starts_with("git proof start "), "{}", walk.log);
    let after = walk.shell("git proof sync --fetch-only && git proof log", "../new");
    assert!(after.err.contains("git proof log HEAD") && !after.err.contains("--fetch-only"), "{}", walk.log);
    assert_eq!(walk.shell("git proof log HEAD", "../new").exit, Some(0), "{}", walk.log);
}
