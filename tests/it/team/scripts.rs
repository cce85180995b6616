//! The scripts of the action and of the GitLab job, with the environment that each forge documents.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::stage::{Place, Stage};
use crate::store::scratch::Ran;

/// A shallow checkout of the merge that the forge has made of the pull request, as `actions/checkout` leaves it.
fn checkout<'a>(stage: &'a Stage, token_for: &str) -> Place<'a> {
    let forge = stage.clone_of_base("forge");
    forge.git(&["fetch", "--quiet", "origin", "refs/pull/7/head"]);
    forge.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "FETCH_HEAD"]);
    forge.git(&["push", "--quiet", "origin", "HEAD:refs/pull/7/merge"]);
    let place = stage.clone_of_base("checkout");
    std::fs::remove_dir_all(&place.path).unwrap();
    std::fs::create_dir(&place.path).unwrap();
    place.git(&["init", "--quiet"]);
    place.git(&["remote", "add", "origin", &stage.server.url("base.git")]);
    // A forge gives a token for what is checked out.
    let key = format!("http.{}.extraHeader", stage.server.url(token_for));
    place.git(&["config", &key, "Authorization: Basic YWRhOnNlY3JldA=="]);
    place.git(&["fetch", "--quiet", "--no-tags", "--depth=1", "origin", "refs/pull/7/merge"]);
    place.git(&["checkout", "--quiet", "--detach", "FETCH_HEAD"]);
    place
}

fn script(stage: &Stage, place: &Place<'_>, name: &str) -> Command {
    let mut command = stage.work.command_in(&place.path, "sh");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("ci").join(name));
    command
}

/// What `action.yml` sets for a pull request.
fn action(stage: &Stage, place: &Place<'_>, variables: &[(&str, &str)]) -> Ran {
    let head = stage.work.git(["rev-parse", "topic"]);
    let mut command = script(stage, place, "gate.sh");
    command
        .env("GIT_PROOF_EVENT", "pull_request")
        .env("GIT_PROOF_PR_BASE", "main")
        .env("GIT_PROOF_PR_HEAD", head)
        .env("GIT_PROOF_PR_NUMBER", "7")
        .env("GIT_PROOF_DEFAULT_BRANCH", "main")
        .envs(variables.iter().copied());
    command.output().unwrap().into()
}

#[test]
fn action_judges_a_pull_request_with_the_proofs_of_its_head_repository() {
    let stage = Stage::proven(&["one", "two"]);
    let place = checkout(&stage, "");
    let ran = action(&stage, &place, &[("GIT_PROOF_PR_FORK", &stage.fork())]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("2 proven"), "{}", ran.out);
    assert_eq!(place.left(), 0);
    assert!(!place.git(&["for-each-ref"]).contains("refs/notes"));
    let ran = action(&stage, &place, &[]);
    assert_eq!(ran.exit, Some(1), "{}{}", ran.out, ran.err);
    let ran = action(&stage, &place, &[("GIT_PROOF_PR_FORK", "../gone.git")]);
    assert_eq!(ran.exit, Some(3), "{}{}", ran.out, ran.err);
    let ran = action(&stage, &place, &[("GIT_PROOF_ADVISORY", "true")]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
    let ran = action(&stage, &place, &[("GIT_PROOF_PROOFS", &format!("\n../gone.git\n{}\n", stage.fork()))]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn job_of_gitlab_reads_the_source_project_with_its_own_token() {
    let stage = Stage::proven(&["one"]);
    let place = checkout(&stage, "base.git");
    let head = stage.work.git(["rev-parse", "topic"]);
    let root = stage.server.url("");
    let job = |project: &str, url: &str, token: &str| -> Ran {
        let mut command = script(&stage, &place, "gate.sh");
        command
            .env("GITLAB_CI", "true")
            .env("CI_MERGE_REQUEST_IID", "7")
            .env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
            .env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &head)
            .env("CI_MERGE_REQUEST_PROJECT_ID", "1")
            .env("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", project)
            .env("CI_MERGE_REQUEST_SOURCE_PROJECT_URL", url)
            .env("CI_SERVER_URL", root.trim_end_matches('/'))
            .env("CI_JOB_TOKEN", token);
        command.output().unwrap().into()
    };
    let fork = stage.server.url("remote");
    let ran = job("2", &fork, "job");
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
    let ran = job("2", &fork, "another");
    assert_eq!(ran.exit, Some(3), "{}{}", ran.out, ran.err);
    // A merge request of the project itself has no other place.
    let ran = job("1", &fork, "job");
    assert_eq!(ran.exit, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("missing"), "{}", ran.out);
}

/// The files of a release, with something in the place of the program.
fn release(stage: &Stage) -> PathBuf {
    let folder = stage.work.around().join("release");
    let script = "set -e; mkdir -p release; cd release; \
        for target in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-apple-darwin aarch64-apple-darwin; do \
        mkdir -p git-proof-$target/bin; printf '#!/bin/sh\\necho installed\\n' > git-proof-$target/bin/git-proof; \
        chmod +x git-proof-$target/bin/git-proof; tar -czf git-proof-$target.tar.gz git-proof-$target; rm -r git-proof-$target; \
        done; sha256sum *.tar.gz > SHA256SUMS";
    let ran = stage.work.command_in(stage.work.around(), "sh").args(["-c", script]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    folder
}

#[test]
fn binary_of_a_release_is_installed_if_its_checksum_is_right() {
    let stage = Stage::proven(&["one"]);
    let place = stage.clone_of_base("runner");
    let folder = release(&stage);
    let address = format!("file://{}", folder.display());
    let install = |variables: &[(&str, &str)]| -> (Ran, bool) {
        let to = stage.work.around().join("installed");
        let _ = std::fs::remove_dir_all(&to);
        let mut command = script(&stage, &place, "install.sh");
        command.env("GIT_PROOF_INSTALL", &to).envs(variables.iter().copied());
        (command.output().unwrap().into(), to.join("bin/git-proof").exists())
    };
    let (ran, there) = install(&[("GIT_PROOF_RELEASES", &address)]);
    assert_eq!((ran.exit, there), (Some(0), true), "{}", ran.err);
    let (ran, there) = install(&[("GIT_PROOF_RELEASES", &address), ("GIT_PROOF_SHA256", &"0".repeat(64))]);
    assert_eq!((ran.exit, there), (Some(3), false), "{}", ran.err);
    assert!(ran.err.contains("does not have the SHA-256"), "{}", ran.err);
    for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "gz") {
            std::fs::write(file, "something else").unwrap();
        }
    }
    let (ran, there) = install(&[("GIT_PROOF_RELEASES", &address)]);
    assert_eq!((ran.exit, there), (Some(3), false), "{}", ran.err);
    let (ran, there) = install(&[("GIT_PROOF_RELEASES", "file:///nowhere")]);
    assert_eq!((ran.exit, there), (Some(3), false), "{}", ran.err);
    let (ran, _) = install(&[]);
    assert!(ran.err.contains("no address of a release"), "{}", ran.err);
}
