//! Commits that were proven and then rewritten before their first push. The commit as it was is published only where that
//! tells nothing that was not pushed; where others cannot do without it, that is said.

use crate::anchoring::clones::Clone;
use crate::store::scratch::Scratch;

/// A remote with a first commit, and a clone with a session that is finalized and whose commit, which adds a file, is not
/// pushed.
fn unpushed(scratch: &Scratch) -> (Clone<'_>, Clone<'_>, String) {
    let remote = Clone::remote(scratch);
    let repo = remote.clone("repo", &["--template="]);
    repo.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    repo.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    let original = repo.explain("s");
    (remote, repo, original)
}

/// Puts the session's commit on top of another one, under this message.
fn rebase(repo: &Clone<'_>, message: &str) {
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    repo.git(&["commit", "--quiet", "--allow-empty", "--message", "between"]);
    std::fs::write(repo.path.join("between"), "between\n").unwrap();
    repo.git(&["add", "between"]);
    repo.git(&["commit", "--quiet", "--amend", "--message", "between"]);
    repo.git(&["cherry-pick", "--no-commit", "ORIG_HEAD"]);
    repo.git(&["commit", "--quiet", "--message", message]);
}

fn fresh<'a>(remote: &Clone<'a>) -> Clone<'a> {
    let fresh = remote.clone("fresh", &["--template="]);
    fresh.json(&["sync"]);
    fresh
}

fn has(clone: &Clone<'_>, commit: &str) -> bool {
    clone.tip(&format!("{commit}^{{commit}}")).is_some()
}

#[test]
fn reworded_commit_that_adds_a_file_is_proven_for_others_and_its_old_message_stays_here() {
    let scratch = Scratch::without_repository();
    let (remote, repo, original) = unpushed(&scratch);
    repo.git(&["commit", "--quiet", "--amend", "--message", "in other words"]);
    repo.json(&["carry", "--from", &original, "--to", "HEAD"]);
    repo.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    let synced = repo.run(&["sync"]);
    assert_eq!((synced.exit, synced.err.as_str()), (Some(0), ""), "{synced:?}");
    let fresh = fresh(&remote);
    assert!(!has(&fresh, &original), "the old message was published");
    fresh.passes("HEAD");
}

#[test]
fn original_is_published_where_every_line_of_its_message_was_pushed() {
    for message in ["s", "s\n\nReviewed-by: Grace"] {
        let scratch = Scratch::without_repository();
        let (remote, repo, original) = unpushed(&scratch);
        rebase(&repo, message);
        repo.json(&["carry", "--from", &original, "--to", "HEAD"]);
        repo.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
        repo.json(&["sync"]);
        let fresh = fresh(&remote);
        assert!(has(&fresh, &original), "{message}");
        fresh.passes("HEAD");
    }
}

#[test]
fn commit_that_others_cannot_check_is_named_by_sync_and_by_pre_push_and_cover_helps() {
    for hook in [false, true] {
        let scratch = Scratch::without_repository();
        let (remote, repo, original) = unpushed(&scratch);
        rebase(&repo, "in other words");
        repo.json(&["carry", "--from", &original, "--to", "HEAD"]);
        let head = repo.tip("HEAD").unwrap();
        let said = if hook {
            repo.hook("pre-push", &format!("exec '{}' hook pre-push \"$@\"", env!("CARGO_BIN_EXE_git-proof")));
            let pushed = repo.command("git").args(["push", "origin", "HEAD:refs/heads/main"]).output().unwrap();
            String::from_utf8(pushed.stderr).unwrap()
        } else {
            repo.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
            repo.run(&["sync"]).err
        };
        let id = &head[..12];
        assert!(said.contains(&format!("git proof: others cannot check {id}: ")), "{said}");
        assert!(said.contains(&format!("git proof cover {id}")), "{said}");
        repo.passes("HEAD");
        let fresh = fresh(&remote);
        assert!(!has(&fresh, &original), "the old message was published");
        assert!(fresh.codes("HEAD").contains("PLACE_AMBIGUOUS"), "{:?}", fresh.verdict("HEAD"));

        repo.json(&["cover", id, "-m", "it is changed"]);
        let synced = repo.run(&["sync"]);
        assert_eq!((synced.exit, synced.err.as_str()), (Some(0), ""), "{synced:?}");
        fresh.json(&["sync"]);
        let (exit, answer) = fresh.verdict("HEAD");
        assert_eq!((exit, &answer["commits"][0]["binding"]), (Some(0), &"exact".into()), "{answer}");
    }
}
