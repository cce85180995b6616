//! The whole way of a proof, from its first record to a fresh clone that verifies it, in every kind of repository.

use super::clones::Clone;
use crate::store::scratch::{Ran, Scratch, text};

/// Goes the whole way in a repository whose remote is a bare one; `options` are those of a clone of that kind.
#[track_caller]
fn goes_the_whole_way(repo: &Clone<'_>, remote: &Clone<'_>, options: &[&str]) {
    let commit = repo.explain("first");
    repo.passes(&commit);
    repo.git(&["push", "--quiet", remote.path.to_str().unwrap(), "HEAD:refs/heads/main"]);
    repo.json(&["sync", remote.path.to_str().unwrap()]);
    remote.passes(&commit);
    let fresh = remote.clone("fresh", options);
    fresh.json(&["sync"]);
    fresh.passes(&commit);
    let second = fresh.explain("second");
    fresh.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    fresh.json(&["sync"]);
    remote.passes(&second);
    for place in [repo, remote, &fresh] {
        place.is_whole();
    }
}

/// Whether this git can make repositories with these options.
fn can_make(scratch: &Scratch, options: &[&str]) -> bool {
    let place = scratch.around().join("probe");
    let made = scratch.command("git").args(["init", "--quiet"]).args(options).arg(&place).output().unwrap();
    if !made.status.success() {
        eprintln!("left out: this git cannot init with {options:?}");
    }
    made.status.success()
}

/// A repository and its remote, both made with these options, and a clone of it.
fn of_kind(options: &[&str], clone_options: &[&str]) {
    let scratch = Scratch::without_repository();
    if can_make(&scratch, options) {
        let remote = Clone::init(&scratch, "remote.git", &[&["--bare"], options].concat());
        goes_the_whole_way(&Clone::init(&scratch, "repo", options), &remote, clone_options);
    }
}

#[test]
fn sha1_repository_goes_the_whole_way() {
    of_kind(&["--object-format=sha1"], &[]);
}

#[test]
fn sha256_repository_goes_the_whole_way() {
    of_kind(&["--object-format=sha256"], &[]);
}

#[test]
fn reftable_repository_goes_the_whole_way() {
    of_kind(&["--ref-format=reftable"], &["--ref-format=reftable"]);
}

#[test]
fn sha256_repository_with_reftable_goes_the_whole_way() {
    of_kind(&["--object-format=sha256", "--ref-format=reftable"], &["--ref-format=reftable"]);
}

#[test]
fn linked_worktree_goes_the_whole_way() {
    let scratch = Scratch::without_repository();
    let remote = Clone::remote(&scratch);
    let main = Clone::init(&scratch, "main", &[]);
    main.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    main.git(&["worktree", "add", "--quiet", "../linked"]);
    let linked = Clone::at(&scratch, "linked");
    goes_the_whole_way(&linked, &remote, &[]);
    main.passes(&linked.tip("HEAD").unwrap());
}

#[test]
fn worktree_with_settings_of_its_own_goes_the_whole_way() {
    let scratch = Scratch::without_repository();
    let remote = Clone::remote(&scratch);
    let main = Clone::init(&scratch, "main", &[]);
    main.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    main.git(&["config", "extensions.worktreeConfig", "true"]);
    main.git(&["worktree", "add", "--quiet", "../linked"]);
    let linked = Clone::at(&scratch, "linked");
    linked.git(&["config", "--worktree", "remote.elsewhere.url", remote.path.to_str().unwrap()]);
    let commit = linked.explain("first");
    assert_eq!(text(&linked.json(&["sync"]), "remote"), "elsewhere");
    remote.git(&["fetch", "--quiet", main.path.to_str().unwrap(), "linked:main"]);
    remote.passes(&commit);
}

#[test]
fn clone_that_borrows_objects_goes_the_whole_way() {
    for (number, options) in [&["--shared"][..], &["--reference"]].into_iter().enumerate() {
        let scratch = Scratch::without_repository();
        let remote = Clone::remote(&scratch);
        let lender = remote.clone("lender", &[]);
        lender.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
        lender.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
        let proven = lender.explain("lent");
        lender.json(&["sync"]);
        let from = if number == 0 { lender.path.to_str().unwrap() } else { remote.path.to_str().unwrap() };
        let mut arguments = [&["clone", "--quiet"], options].concat();
        arguments.extend((number == 1).then(|| lender.path.to_str().unwrap()));
        let borrower = Clone::at(&scratch, "borrower");
        scratch.git(arguments.into_iter().chain([from, borrower.path.to_str().unwrap()]));
        assert!(borrower.path.join(".git/objects/info/alternates").is_file());
        borrower.json(&["sync", remote.path.to_str().unwrap()]);
        borrower.passes(&proven);
        goes_the_whole_way(&borrower, &remote, &[]);
    }
}

#[test]
fn submodule_goes_the_whole_way() {
    let scratch = Scratch::without_repository();
    let (outer_remote, inner_remote) = (Clone::remote(&scratch), Clone::init(&scratch, "inner.git", &["--bare"]));
    let seed = inner_remote.clone("seed", &[]);
    seed.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    seed.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    let outer = outer_remote.clone("outer", &[]);
    let inner = inner_remote.path.to_str().unwrap();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub"]);
    let submodule = Clone { scratch: &scratch, path: outer.path.join("sub") };
    goes_the_whole_way(&submodule, &inner_remote, &[]);
    let outside: Ran = outer.run(&["--json", "log"]);
    outside.error("ERR_NO_STORE", 3);
}

#[test]
fn git_dir_and_work_tree_of_the_environment_are_used() {
    let scratch = Scratch::without_repository();
    let repo = Clone::init(&scratch, "repo", &[]);
    let commit = repo.explain("first");
    let elsewhere = scratch.around().join("home");
    let mut command = repo.proof(&["--json", "verify", &commit]);
    command.env("GIT_DIR", repo.path.join(".git")).env("GIT_WORK_TREE", &repo.path).current_dir(&elsewhere);
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(text(&ran.json(), "verdict"), "pass");
    repo.json(&["start", "--intent", "again", "--session-id", "again", "--not-proof-grade"]);
    repo.json(&["attest", "x"]);
    repo.json(&["finalize"]);
    let mut command = repo.proof(&["--json", "anchor", "--commit", &commit]);
    command.env("GIT_DIR", "../repo/.git").env("GIT_WORK_TREE", "../repo").current_dir(&elsewhere);
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.json()["anchors"][0]["created"], true);
    assert_eq!(repo.notes()[&commit].len(), 2);
}

#[test]
fn unknown_extension_is_refused_with_the_reason() {
    let scratch = Scratch::without_repository();
    let repo = Clone::init(&scratch, "repo", &[]);
    let commit = repo.explain("first");
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    repo.git(&["config", "extensions.fromTheFuture", "true"]);
    for arguments in [&["--json", "verify", &commit][..], &["--json", "anchor"]] {
        let error = repo.run(arguments).error("ERR_REPOSITORY_REFUSED", 3);
        assert!(text(&error, "message").to_lowercase().contains("fromthefuture"), "{error}");
    }
}

#[test]
fn format_of_a_later_git_is_refused_with_the_reason() {
    let scratch = Scratch::without_repository();
    let repo = Clone::init(&scratch, "repo", &[]);
    let commit = repo.explain("first");
    repo.git(&["config", "core.repositoryFormatVersion", "99"]);
    let error = repo.run(&["--json", "verify", &commit]).error("ERR_REPOSITORY_REFUSED", 3);
    assert!(text(&error, "message").contains("99"), "{error}");
}

#[test]
fn repository_of_someone_else_is_refused_until_git_trusts_it() {
    let scratch = Scratch::without_repository();
    let repo = Clone::init(&scratch, "repo", &[]);
    let commit = repo.explain("first");
    let given = scratch.command("chown").args(["-R", "12345"]).arg(&repo.path).output().unwrap();
    let git: Ran = repo.command("git").arg("status").output().unwrap().into();
    if !given.status.success() || git.exit == Some(0) {
        return eprintln!("left out: only root can give a repository to someone else");
    }
    let error = repo.run(&["--json", "verify", &commit]).error("ERR_REPOSITORY_REFUSED", 3);
    // What the hint says to do is what git and we then go by.
    let hint = text(&error, "hint");
    assert!(hint.contains("git config --global --add safe.directory '"), "{error}");
    let trusting = scratch.around().join("home/trusting");
    std::fs::write(&trusting, format!("[safe]\n\tdirectory = {}\n", hint.split('\'').nth(1).unwrap())).unwrap();
    let git: Ran = repo.command("git").arg("status").env("GIT_CONFIG_GLOBAL", &trusting).output().unwrap().into();
    git.text();
    let mut command = repo.proof(&["--json", "verify", &commit]);
    let ran: Ran = command.env("GIT_CONFIG_GLOBAL", &trusting).output().unwrap().into();
    assert_eq!(text(&ran.json(), "verdict"), "pass");
}
