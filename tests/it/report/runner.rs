//! The action's script in the hands of a runner: a server, a shallow checkout of one ref as `actions/checkout` makes it, and
//! an environment. What is on the server is never written to.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Project;
use crate::store::scratch::Ran;

/// A server with what was pushed to it, and a runner beside it.
struct Forge {
    project: Project,
    server: PathBuf,
    checkout: PathBuf,
}

impl Forge {
    /// A pull request whose base has moved on, with 60 commits that need no proof below what `change` makes.
    fn new(change: impl FnOnce(&Project)) -> Self {
        let project = Project::new();
        let around = project.scratch.around().to_owned();
        let (server, checkout) = (around.join("server.git"), around.join("checkout"));
        project.git(&["checkout", "--quiet", "-b", "topic"]);
        let mut stream = "reset refs/heads/topic\nfrom main\n".to_owned();
        for number in 0..60 {
            stream.push_str(&format!(
                "commit refs/heads/topic\ncommitter Ada <ada@example.org> {} +0000\ndata 1\n{}\n\
                 M 100644 inline f\ndata 2\n{number:02}\n",
                1_700_000_000 + number,
                number % 10
            ));
        }
        let mut import = project.command(&["fast-import", "--quiet", "--force"]);
        assert_eq!(crate::common::run_with_input(&mut import, stream.as_bytes()).code, Some(0));
        project.git(&["reset", "--quiet", "--hard"]);
        change(&project);
        project.git(&["checkout", "--quiet", "main"]);
        project.commit("elsewhere", "x", "the base moves on");
        project.git(&["init", "--quiet", "--bare", "--initial-branch=main", server.to_str().unwrap()]);
        let forge = Self { project, server, checkout };
        forge.push(&["main", "topic"]);
        forge
    }

    fn push(&self, refs: &[&str]) {
        self.project.git(&[&["push", "--quiet", "--force", self.server.to_str().unwrap()], refs].concat());
    }

    fn push_proofs(&self) {
        self.push(&["refs/notes/proof", "refs/proof/*:refs/proof/*"]);
    }

    fn git(&self, directory: &Path, arguments: &[&str]) -> String {
        let ran: Ran = self.project.command(arguments).current_dir(directory).output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{arguments:?}: {}", ran.err);
        ran.out.trim_end().to_owned()
    }

    /// Checks out the merge that the forge has made of the pull request, and nothing else.
    fn check_out(&self) {
        self.project.git(&["checkout", "--quiet", "-B", "merged", "main"]);
        self.project.git(&["merge", "--quiet", "--no-ff", "-m", "Merge topic into main", "topic"]);
        self.push(&["merged:refs/pull/7/merge", "topic:refs/pull/7/head"]);
        let merge = self.project.head();
        std::fs::create_dir(&self.checkout).unwrap();
        let url = format!("file://{}", self.server.display());
        self.git(&self.checkout, &["init", "--quiet"]);
        self.git(&self.checkout, &["remote", "add", "origin", &url]);
        let refspec = format!("+{merge}:refs/remotes/pull/7/merge");
        self.git(&self.checkout, &["fetch", "--quiet", "--no-tags", "--depth=1", "origin", &refspec]);
        self.git(&self.checkout, &["checkout", "--quiet", "--force", "refs/remotes/pull/7/merge"]);
    }

    /// The script with the variables that `action.yml` sets for a pull request.
    fn script(&self) -> Command {
        let mut command = self.project.scratch.command("sh");
        command
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/gate.sh"))
            .current_dir(&self.checkout)
            .env("GIT_PROOF_BIN", env!("CARGO_BIN_EXE_git-proof"))
            .env("GIT_PROOF_FORMAT", "github")
            .env("GIT_PROOF_EVENT", "pull_request")
            .env("GIT_PROOF_PR_BASE", "main")
            .env("GIT_PROOF_PR_HEAD", self.project.git(&["rev-parse", "topic"]))
            .env("GIT_PROOF_PR_NUMBER", "7")
            .env("GIT_PROOF_DEFAULT_BRANCH", "main")
            .env("GITHUB_STEP_SUMMARY", self.project.scratch.around().join("summary"));
        command
    }

    fn event(&self, event: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.script();
        command.env("GIT_PROOF_EVENT", event).envs(variables.iter().copied());
        command.output().unwrap().into()
    }

    fn judge(&self) -> Ran {
        self.event("pull_request", &[])
    }
}

#[test]
fn a_proven_pull_request_passes_from_a_shallow_checkout() {
    let forge = Forge::new(|project| _ = project.proven("s1", "a"));
    forge.push_proofs();
    forge.check_out();
    let before = forge.git(&forge.server, &["for-each-ref"]);
    let ran = forge.judge();
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
    // The range is the pull request's own, to its very end, and without the merge.
    assert_eq!(ran.out, "git proof gate: proven. 61 commits: 1 proven, 60 not required.\n");
    let summary = std::fs::read_to_string(forge.project.scratch.around().join("summary")).unwrap();
    assert!(summary.contains("### git proof gate: 1 of 61 proven · 60 not required\n"), "{summary}");
    // Nothing was written: a token that can only read will do.
    assert_eq!(forge.git(&forge.server, &["for-each-ref"]), before);
    // A second run in the same place comes to the same.
    assert_eq!(forge.judge().exit, Some(0));
}

#[test]
fn a_bad_commit_deep_below_a_good_head_is_found_and_annotated() {
    let forge = Forge::new(|project| {
        project.unproven("bad");
        for number in 0..3 {
            project.commit("more", &number.to_string(), "by hand");
        }
        project.proven("s1", "a");
    });
    forge.push_proofs();
    forge.check_out();
    let ran = forge.judge();
    assert_eq!(ran.exit, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("::error title=ANCHOR_MISSING in "), "{}", ran.out);
    assert_eq!(ran.out.matches("::error").count(), 1);
}

#[test]
fn proofs_that_were_never_pushed_are_missing() {
    let forge = Forge::new(|project| _ = project.proven("s1", "a"));
    forge.check_out();
    let before = forge.git(&forge.server, &["for-each-ref"]);
    let ran = forge.judge();
    assert_eq!(ran.exit, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("title=ANCHOR_MISSING in "), "{}", ran.out);
    assert_eq!(forge.git(&forge.server, &["for-each-ref"]), before);
}

#[test]
fn the_policy_of_a_base_that_moved_on_is_the_one_that_counts() {
    let forge = Forge::new(|project| _ = project.proven("s1", "a"));
    forge.project.commit(".proof/policy.toml", "[proof_grade]\nrequire = \"all\"\n", "all commits");
    forge.push(&["main"]);
    forge.push_proofs();
    forge.check_out();
    let ran = forge.judge();
    assert_eq!(ran.exit, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("61 commits: 1 proven, 60 missing"), "{}", ran.out);
}

#[test]
fn a_merge_queue_is_judged_by_its_own_ends() {
    let forge = Forge::new(|project| _ = project.proven("s1", "a"));
    forge.push_proofs();
    forge.check_out();
    forge.push(&["merged:refs/heads/gh-readonly-queue/main/pr-7"]);
    let ends = [forge.project.git(&["rev-parse", "main"]), forge.project.git(&["rev-parse", "merged"])];
    let ran = forge.event("merge_group", &[("GIT_PROOF_QUEUE_BASE", &ends[0]), ("GIT_PROOF_QUEUE_HEAD", &ends[1])]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("62 commits: 1 proven"), "{}", ran.out);
}

#[test]
fn pushes_are_judged_from_where_the_branch_was() {
    let forge = Forge::new(|project| {
        project.unproven("bad");
        project.proven("s1", "a");
    });
    forge.push_proofs();
    forge.check_out();
    let (zeros, tip) = ("0".repeat(40), forge.project.git(&["rev-parse", "topic"]));
    let before = forge.project.git(&["rev-parse", "topic~1"]);
    let push = |before: &str, after: &str, branch: &str| {
        forge.event("push", &[("GIT_PROOF_BEFORE", before), ("GIT_PROOF_AFTER", after), ("GIT_PROOF_BRANCH", branch)])
    };
    assert_eq!(push(&before, &tip, "topic").exit, Some(0));
    let fresh = push(&zeros, &tip, "topic");
    assert!(fresh.out.contains("62 commits"), "{}", fresh.out); // against the main branch
    assert_eq!(fresh.exit, Some(1));
    let gone = push(&"1".repeat(40), &tip, "topic");
    assert!(gone.out.contains("62 commits"), "{}", gone.out);
    let deleted = push(&tip, &zeros, "topic");
    assert_eq!((deleted.exit, deleted.out.contains("nothing to judge")), (Some(0), true), "{deleted:?}");
    // Of the main branch itself, nothing else can stand in.
    let first = push(&zeros, &tip, "main");
    assert!(first.out.contains("63 commits"), "{}", first.out);
    let lost = push(&"1".repeat(40), &tip, "main");
    assert_eq!(lost.exit, Some(3));
    assert!(lost.err.contains("::error title=git proof gate::the base cannot be fetched"), "{}", lost.err);
}

/// A merge request of GitLab, whose report goes into this file.
fn gitlab(forge: &Forge, output: &Path) -> Ran {
    let mut command = forge.script();
    command
        .env_remove("GIT_PROOF_EVENT")
        .env("GITLAB_CI", "true")
        .env("CI_MERGE_REQUEST_IID", "7")
        .env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .env("CI_COMMIT_SHA", forge.project.git(&["rev-parse", "topic"]))
        .env("CI_COMMIT_BEFORE_SHA", "0".repeat(40))
        .env("GIT_PROOF_FORMAT", "junit")
        .env("GIT_PROOF_OUTPUT", output);
    command.output().unwrap().into()
}

#[test]
fn gitlab_is_understood() {
    let forge = Forge::new(|project| _ = project.proven("s1", "a"));
    forge.push_proofs();
    forge.check_out();
    let output = forge.checkout.join("out put.xml");
    let ran = gitlab(&forge, &output);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
    assert!(std::fs::read_to_string(output).unwrap().contains("tests=\"61\" failures=\"0\""));
    assert!(ran.out.ends_with(" not required.\n") && ran.out.contains("Proven: 1 proven"), "{}", ran.out);
}

#[test]
fn the_log_of_gitlab_says_what_failed_though_the_report_is_a_file() {
    let forge = Forge::new(|project| _ = project.unproven("bad"));
    forge.push_proofs();
    forge.check_out();
    let output = forge.checkout.join("report.xml");
    let ran = gitlab(&forge, &output);
    assert_eq!(ran.exit, Some(1), "{}{}", ran.out, ran.err);
    let said = "ANCHOR_MISSING: a proof is required, and there is none";
    assert!(ran.out.contains(said) && ran.out.contains("hint: git proof cover "), "{}", ran.out);
    assert!(std::fs::read_to_string(&output).unwrap().contains("ANCHOR_MISSING"));
}

#[test]
fn names_that_strangers_choose_are_only_ever_names() {
    let forge = Forge::new(|project| _ = project.proven("s1", "a"));
    forge.push_proofs();
    let evil = ["$(touch$IFS'pwned')", "`touch${IFS}pwned`", "-upload-pack=touch", "a;b&&c|d", "'\"$HOME"];
    for name in evil {
        forge.push(&[&format!("main:refs/heads/{name}")]);
    }
    forge.check_out();
    for name in evil {
        let ran = forge.event("pull_request", &[("GIT_PROOF_PR_BASE", name)]);
        assert_eq!(ran.exit, Some(0), "{name}: {}{}", ran.out, ran.err);
    }
    for (name, exit) in [
        ("--upload-pack=touch pwned", 2),
        ("with space", 2),
        ("a\n::error::forged", 2),
        ("main:refs/heads/main", 2),
        ("*", 2),
        ("nowhere", 3),
    ] {
        for variable in ["GIT_PROOF_PR_BASE", "GIT_PROOF_HEAD"] {
            let ran = forge.event("pull_request", &[(variable, name)]);
            assert_eq!(ran.exit, Some(exit), "{name}: {}{}", ran.out, ran.err);
            assert!(!ran.err.contains("forged") && !ran.out.contains("forged"), "{ran:?}");
        }
    }
    let left =
        |directory: &Path| std::fs::read_dir(directory).unwrap().any(|entry| entry.unwrap().file_name() == "pwned");
    assert!(!left(&forge.checkout) && !left(&forge.server));
}

#[test]
fn a_remote_that_cannot_be_read_could_not_be_checked() {
    let forge = Forge::new(|project| _ = project.proven("s1", "a"));
    forge.check_out();
    std::fs::rename(&forge.server, forge.server.with_extension("away")).unwrap();
    let ran = forge.judge();
    assert_eq!(ran.exit, Some(3), "{}{}", ran.out, ran.err);
}

#[test]
fn no_script_of_the_action_has_text_that_others_choose() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml")).unwrap();
    let runs: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with("run:")).collect();
    assert_eq!(runs, ["run: sh \"$GITHUB_ACTION_PATH/ci/install.sh\"", "run: sh \"$GITHUB_ACTION_PATH/ci/gate.sh\""]);
    // Every variable that the script reads is one that the action, or GitLab, or a user sets.
    let script = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/gate.sh")).unwrap();
    for (at, _) in script.match_indices("${GIT_PROOF_") {
        let name: String =
            script[at + 2..].chars().take_while(|letter| letter.is_ascii_uppercase() || *letter == '_').collect();
        assert!(text.contains(&format!("{name}: ${{{{")) || name == "GIT_PROOF_REMOTE", "{name}");
    }
}
