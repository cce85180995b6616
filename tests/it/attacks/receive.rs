//! The gate on a server: real pushes to a bare repository with a real hook.

use std::os::unix::fs::PermissionsExt as _;

use super::{Proven, STRICT};
use crate::common;
use crate::store::scratch::Ran;

/// A clone and its server, which has the base and judges what comes after.
struct Server {
    proven: Proven,
    place: std::path::PathBuf,
}

const PROOFS: [&str; 2] = ["refs/notes/proof", "refs/proof/evidence"];

impl Server {
    fn new(policy: &str) -> Self {
        let proven = Proven::with_policy(policy);
        let place = proven.scratch.around().join("server.git");
        proven.git(&["init", "--quiet", "--bare", "--initial-branch=main", place.to_str().unwrap()]);
        proven.git(&["remote", "add", "origin", place.to_str().unwrap()]);
        proven.git(&["push", "--quiet", "origin", &format!("{}:refs/heads/main", proven.base)]);
        let hook = place.join("hooks/pre-receive");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::write(&hook, format!("#!/bin/sh\nexec {} hook pre-receive\n", env!("CARGO_BIN_EXE_git-proof")))
            .unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { proven, place }
    }

    /// A server that has let the proven commit in.
    fn with_the_proven(policy: &str) -> Self {
        let server = Self::new(policy);
        server.push(&PROOFS).is_let_in();
        server.push(&["main"]).is_let_in();
        server
    }

    fn push(&self, arguments: &[&str]) -> Pushed {
        let mut command = self.proven.scratch.command("git");
        command.args(["push", "--quiet", "--no-verify", "origin"]).args(arguments);
        Pushed(command.output().unwrap().into())
    }

    /// Puts something into a ref and pushes that.
    fn push_changed(&self, name: &str, change: impl FnOnce(&Proven)) -> Pushed {
        change(&self.proven);
        self.push(&[name])
    }
}

#[derive(Debug)]
struct Pushed(Ran);

impl Pushed {
    #[track_caller]
    fn is_let_in(&self) {
        assert_eq!(self.0.exit, Some(0), "{self:?}");
    }

    #[track_caller]
    fn is_refused(&self, why: &str) {
        assert_ne!(self.0.exit, Some(0), "{self:?}");
        assert!(self.0.err.contains("pre-receive hook declined") && self.0.err.contains(why), "{self:?}");
    }
}

#[test]
fn proofs_first_and_then_the_branch_are_let_in() {
    let server = Server::new(STRICT);
    server.push(&["main"]).is_refused("ANCHOR_MISSING");
    server.push(&PROOFS).is_let_in();
    server.push(&["main"]).is_let_in();
}

#[test]
fn synced_proofs_and_the_branch_are_let_in() {
    let server = Server::new(STRICT);
    server.proven.scratch.json(&["sync"]);
    server.push(&["main"]).is_let_in();
}

#[test]
fn branch_is_judged_by_the_proofs_that_are_there_and_not_by_those_that_come_with_it() {
    let server = Server::new(STRICT);
    server.push(&["--atomic", PROOFS[0], PROOFS[1], "main"]).is_refused("ANCHOR_MISSING");
    server.push(&PROOFS).is_let_in();
    server.proven.write("b.txt", "b\n");
    server.proven.prove("t", "Add b");
    server.push(&["--atomic", PROOFS[0], PROOFS[1], "main"]).is_refused("ANCHOR_MISSING");
}

#[test]
fn commit_without_a_proof_is_refused() {
    let server = Server::with_the_proven(STRICT);
    server.proven.write("b.txt", "b\n");
    server.proven.commit("Add b");
    server.push(&["main"]).is_refused("ANCHOR_MISSING");
}

#[test]
fn policy_of_the_old_tip_counts() {
    let server = Server::with_the_proven(STRICT);
    server.proven.write(".proof/policy.toml", "[proof_grade]\nrequire = \"none\"\n");
    server.proven.commit("Relax");
    server.push(&["main"]).is_refused("ANCHOR_MISSING");
    server.push(&["--force", "main"]).is_refused("ANCHOR_MISSING");
}

#[test]
fn new_branch_is_judged_by_the_policy_of_the_main_one() {
    let server = Server::with_the_proven(STRICT);
    server.proven.git(&["checkout", "--quiet", "-b", "side"]);
    server.push(&["side"]).is_let_in();
    server.proven.git(&["checkout", "--quiet", "--orphan", "other"]);
    server.proven.write(".proof/policy.toml", "[proof_grade]\nrequire = \"none\"\n");
    server.proven.commit("Another beginning");
    server.push(&["other"]).is_refused("ANCHOR_MISSING");
}

#[test]
fn force_push_is_judged_by_what_it_brings() {
    let server = Server::with_the_proven(STRICT);
    server.proven.git(&["checkout", "--quiet", "-B", "main", &server.proven.base]);
    server.proven.write("b.txt", "b\n");
    server.proven.commit("Instead");
    server.push(&["--force", "main"]).is_refused("ANCHOR_MISSING");
}

/// The attack: once the branch is back at a commit before the policy, the next push is judged by no policy.
#[test]
fn branch_that_holds_the_rules_cannot_be_wound_back_or_deleted() {
    let server = Server::new(STRICT);
    let policy = server.proven.base.clone();
    server.push(&PROOFS).is_let_in();
    server.push(&["main"]).is_let_in();
    server.push(&["--force", &format!("{policy}:main")]).is_refused("cannot be wound back");
    let empty = server.proven.git_with(&["mktree"], "");
    let other = server.proven.git(&["commit-tree", &empty, "-m", "Another beginning"]);
    server.push(&["--force", &format!("{other}:main")]).is_refused("cannot be wound back");
    server.proven.git(&["-C", server.place.to_str().unwrap(), "config", "receive.denyDeleteCurrent", "ignore"]);
    server.push(&[":main"]).is_refused("cannot be deleted");
    server.push(&["main"]).is_let_in();
}

#[test]
fn other_branches_can_be_wound_back_and_deleted() {
    let server = Server::with_the_proven(STRICT);
    server.push(&["main:side"]).is_let_in();
    server.push(&["--force", &format!("{}:side", server.proven.base)]).is_let_in();
    server.push(&[":side"]).is_let_in();
}

#[test]
fn advisory_policy_does_not_keep_the_branch_from_being_wound_back() {
    let server = Server::with_the_proven("[proof_grade]\nrequire = \"all\"\n[gate]\nmode = \"advisory\"\n");
    server.push(&["--force", &format!("{}:main", server.proven.base)]).is_let_in();
}

#[test]
fn proof_refs_cannot_be_deleted_or_wound_back() {
    let server = Server::with_the_proven(STRICT);
    for name in PROOFS {
        server.push(&[&format!(":{name}")]).is_refused("cannot be deleted");
        let empty = server.proven.git_with(&["mktree"], "");
        let other = server.proven.git(&["commit-tree", &empty, "-m", "Another beginning"]);
        server.push(&["--force", &format!("{other}:{name}")]).is_refused("cannot be wound back");
        let blob = server.proven.blob("not a commit");
        server.push(&["--force", &format!("{blob}:{name}")]).is_refused("would not be a commit");
    }
}

#[test]
fn persons_word_cannot_be_lost() {
    let server = Server::with_the_proven(STRICT);
    let (base, head) = (server.proven.base.clone(), server.proven.head.clone());
    let word = include_str!("../../format/word.line");
    let both = format!("{}\n{word}", server.proven.note(&head));
    server.push_changed(PROOFS[0], |proven| proven.set_note(&base, word)).is_let_in();
    server.push_changed(PROOFS[0], |proven| proven.set_note(&head, &both)).is_let_in();
    let without = both.replace(word, "");
    server.push_changed(PROOFS[0], |proven| proven.set_note(&head, &without)).is_refused("would lose a line");
    server.proven.set_note(&head, &both);
    let gone = |proven: &Proven| drop(proven.git(&["notes", "--ref=proof", "remove", &base]));
    server.push_changed(PROOFS[0], gone).is_refused("would lose a line");
}

#[test]
fn line_of_a_note_cannot_be_lost() {
    let server = Server::with_the_proven(STRICT);
    let head = server.proven.head.clone();
    let line = server.proven.note(&head);
    server.push_changed(PROOFS[0], |proven| proven.set_note(&head, "{}\n")).is_refused("would lose a line");
    server
        .push_changed(PROOFS[0], |proven| {
            proven.git(&["notes", "--ref=proof", "remove", &head]);
        })
        .is_refused("would lose a line");
    let grade = format!("{{\"anchor\":{{\"type\":\"git-proof/anchor@9\"}}}}\n{line}\n");
    server.push_changed(PROOFS[0], |proven| proven.set_note(&head, grade)).is_let_in();
}

#[test]
fn what_has_another_form_is_not_let_in() {
    let server = Server::with_the_proven(STRICT);
    let (head, base) = (server.proven.head.clone(), server.proven.base.clone());
    let start: Vec<String> = PROOFS.iter().map(|name| server.proven.tip(name)).collect();
    let refused = |name: &str, why: &str, change: &dyn Fn(&Proven)| {
        server.push_changed(name, |proven| change(proven)).is_refused(why);
        for (name, tip) in PROOFS.iter().zip(&start) {
            server.proven.git(&["update-ref", name, tip]);
        }
        let _ = server.proven.scratch.run(["--version"]);
    };
    let line = server.proven.note(&head);
    refused(PROOFS[0], "cannot be read", &|proven| proven.set_note(&head, format!("junk\n{line}\n")));
    refused(PROOFS[0], "cannot be read", &|proven| proven.set_note(&base, "junk\n"));
    let put = |proven: &Proven, name: &str, path: &str, mode: &str| {
        proven.put(name, path, mode, &proven.blob("junk\n"));
    };
    refused(PROOFS[0], "which is no note", &|proven| put(proven, PROOFS[0], "README", "100644"));
    refused(PROOFS[0], "which is no note", &|proven| put(proven, PROOFS[0], "ab/cd/notes", "100644"));
    let root = "ab".repeat(32);
    let evidence = format!("ab/{root}.jsonl");
    refused(PROOFS[1], "not the evidence of that root", &|proven| put(proven, PROOFS[1], &evidence, "100644"));
    refused(PROOFS[1], "wrong place", &|proven| put(proven, PROOFS[1], &format!("cd/{root}.jsonl"), "100644"));
    refused(PROOFS[1], "wrong place", &|proven| put(proven, PROOFS[1], &evidence, "100755"));
    refused(PROOFS[1], "name is none", &|proven| put(proven, PROOFS[1], "ab/readme", "100644"));
    refused(PROOFS[1], "name is none", &|proven| put(proven, PROOFS[1], "readme", "100644"));
    let changes = "refs/proof/changes";
    put(&server.proven, changes, &format!("ab/{root}"), "100644");
    server.push(&[changes]).is_refused("a line that cannot be read");
}

/// A policy that guards a path and every branch.
const GUARDED: &str = "[proof_grade]\npaths = [\"guarded/**\"]\n";

#[test]
fn branch_that_was_made_before_the_policy_brings_nothing_in() {
    let server = Server::with_the_proven(STRICT);
    let proven = &server.proven;
    // A branch at a commit that the server had before any policy, and then a commit on top of it.
    proven.git(&["checkout", "--quiet", "-b", "old", &proven.base]);
    server.push(&["old"]).is_let_in();
    proven.write("b.txt", "unproven\n");
    proven.commit("Unproven");
    server.push(&["old"]).is_refused("ANCHOR_MISSING");
    // Nor by way of a branch that is deleted and made again.
    server.push(&[":old"]).is_let_in();
    server.push(&["old"]).is_refused("ANCHOR_MISSING");
    server.push(&["old:release"]).is_refused("ANCHOR_MISSING");
}

#[test]
fn commit_that_came_by_a_branch_nobody_guards_is_judged_where_it_is_guarded() {
    let policy = format!("{STRICT}[gate]\nbranches = [\"main\", \"release/**\"]\n");
    let server = Server::with_the_proven(&policy);
    let proven = &server.proven;
    proven.git(&["checkout", "--quiet", "-b", "wip"]);
    proven.write("b.txt", "unproven\n");
    proven.commit("Unproven");
    server.push(&["wip"]).is_let_in();
    server.push(&["wip:main"]).is_refused("ANCHOR_MISSING");
    server.push(&["wip:release/1"]).is_refused("ANCHOR_MISSING");
    server.push(&["wip:other"]).is_let_in();
    server.push(&["--atomic", "wip:wip2", "wip:main"]).is_refused("ANCHOR_MISSING");
}

#[test]
fn policy_that_the_pushed_branch_brings_along_does_not_count() {
    let server = Server::with_the_proven(GUARDED);
    let proven = &server.proven;
    proven.git(&["checkout", "--quiet", "-b", "side"]);
    proven.write("guarded/x", "unproven\n");
    proven.commit("Unproven");
    server.push(&["side"]).is_refused("ANCHOR_MISSING");
    // A policy on the branch itself that asks for nothing.
    proven.git(&["reset", "--quiet", "--hard", "main"]);
    proven.write(".proof/policy.toml", "[proof_grade]\nrequire = \"none\"\n");
    proven.prove("p", "Relax");
    server.push(&PROOFS).is_let_in();
    server.push(&["side"]).is_let_in();
    proven.write("guarded/x", "unproven\n");
    proven.commit("Unproven");
    server.push(&["side"]).is_refused("ANCHOR_MISSING");
}

#[test]
fn advisory_policy_lets_everything_in_and_says_what_it_would_have_refused() {
    let server = Server::with_the_proven(&format!("{STRICT}[gate]\nmode = \"advisory\"\n"));
    server.proven.write("b.txt", "unproven\n");
    server.proven.commit("Unproven");
    let pushed = server.push(&["main"]);
    pushed.is_let_in();
    assert!(pushed.0.err.contains("ANCHOR_MISSING") && pushed.0.err.contains("advisory"), "{pushed:?}");
}

#[test]
fn seal_from_the_future_is_not_let_in() {
    let server = Server::with_the_proven(STRICT);
    let proven = &server.proven;
    proven.scratch.json(&["seal"]);
    let seal = proven.git(&["cat-file", "blob", "refs/proof/rounds:seal.json"]);
    let mut seal: serde_json::Value = serde_json::from_str(&seal).unwrap();
    seal["sealed_at"] = "9999-01-01T00:00:00.000Z".into();
    let blob = proven.blob(seal.to_string());
    let tree = proven.git_with(&["mktree"], format!("100644 blob {blob}\tseal.json\n"));
    let forged = proven.git(&["commit-tree", &tree, "-m", "Round 1"]);
    server.push(&[&format!("{forged}:refs/proof/rounds")]).is_refused("which is still to come");
    server.push(&["refs/proof/rounds"]).is_let_in();
}

#[test]
fn unsigned_seal_is_not_let_in_where_sealers_are_named() {
    let server = Server::with_the_proven(&format!("{STRICT}sealers = [\"ada@x\"]\n"));
    server.proven.scratch.json(&["seal"]);
    server.push(&["refs/proof/rounds"]).is_refused("none of proof.sealers has signed");
}

#[test]
fn evidence_cannot_be_removed_or_made_worse() {
    let server = Server::with_the_proven(STRICT);
    let good = server.proven.evidence();
    let name = PROOFS[1];
    let path = Proven::evidence_path(&server.proven.root);
    server.push_changed(name, |proven| proven.set_evidence(&good[..3])).is_refused("would lose");
    server.push_changed(name, |proven| proven.set_evidence(&[&good[..], &good[5..]].concat())).is_refused("would lose");
    server
        .push_changed(name, |proven| {
            let blob = proven.blob(good.join("\n") + "\n");
            proven.put(name, &path, "100755", &blob);
        })
        .is_refused("would lose");
    server
        .push_changed(name, |proven| proven.set_tree(name, &proven.git_with(&["mktree"], "")))
        .is_refused("would lose");
    server.push_changed(name, |proven| proven.set_evidence(&good)).is_let_in();
}

#[test]
fn evidence_that_says_more_takes_the_place_of_what_was_planted() {
    let server = Server::new(STRICT);
    let good = server.proven.evidence();
    server.proven.git(&["update-ref", "-d", PROOFS[1]]);
    let entry: serde_json::Value = serde_json::from_str(&good[2]).unwrap();
    let hash = crate::naive::hex(&crate::naive::sha256(&[good[2].as_bytes()]));
    let mut less = good.clone();
    less[2] = serde_json::json!({ "prev_hash": entry["prev_hash"], "withheld": hash }).to_string();
    server.push_changed(PROOFS[1], |proven| proven.set_evidence(&less)).is_let_in();
    server.push_changed(PROOFS[1], |proven| proven.set_evidence(&good)).is_let_in();
    server.push(&[PROOFS[0]]).is_let_in();
    server.push(&["main"]).is_let_in();
}

#[test]
fn names_below_our_refs_are_not_let_in() {
    let server = Server::with_the_proven(STRICT);
    for name in ["refs/proof/evil", "refs/proof/remote/origin/evidence", "refs/proof/evidence2", "refs/notes/proof2"] {
        let pushed = server.push(&[&format!("refs/notes/proof:{name}")]);
        if name == "refs/notes/proof2" {
            pushed.is_let_in(); // somebody else's notes
        } else {
            pushed.is_refused("is not a ref that git-proof shares");
        }
    }
}

#[test]
fn objects_that_are_not_accepted_yet_are_seen_and_leave_no_trace() {
    let server = Server::with_the_proven(STRICT);
    server.proven.write("b.txt", "b\n");
    server.proven.commit("Add b");
    server.push(&["main"]).is_refused("ANCHOR_MISSING");
    let commit = server.proven.tip("HEAD");
    let mut command = server.proven.scratch.command("git");
    let there = command.arg("-C").arg(&server.place).args(["cat-file", "-e", &commit]).output().unwrap();
    assert!(!there.status.success(), "the commit stayed");
}

#[test]
fn line_that_git_would_not_write_stops_the_push() {
    let server = Server::with_the_proven(STRICT);
    let zeros = "0".repeat(40);
    for line in [
        "garbage".to_owned(),
        format!("{} {}", server.proven.base, server.proven.head),
        format!("{} garbage refs/heads/main", server.proven.head),
        format!("garbage {} refs/heads/main", server.proven.head),
        format!("{zeros} 0 refs/heads/main"),
        format!("{zeros}  refs/heads/main"),
    ] {
        let mut command = server.proven.scratch.proof(["-C", server.place.to_str().unwrap(), "hook", "pre-receive"]);
        let ran = common::run_with_input(&mut command, format!("{line}\n").as_bytes());
        assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
    }
}

/// Nobody would read the lines behind the limit, and they could not be taken away again.
#[test]
fn more_lines_than_are_read_are_not_let_in() {
    let server = Server::with_the_proven(STRICT);
    let head = server.proven.head.clone();
    let note = server.proven.note(&head);
    let junk = |lines: usize| "{\"x\":{\"type\":\"some/thing@9\"}}\n".repeat(lines);
    server.push_changed(PROOFS[0], |proven| proven.set_note(&head, junk(4097) + &note)).is_refused("4096 lines");
    server.proven.set_note(&head, format!("{note}\n{}", junk(4000)));
    let change = server.proven.change_id(&head);
    let line = format!("{{\"commit\":\"{head}\"}}\n").repeat(16_385);
    let place = format!("{}/{change}", &change[..2]);
    let put = |proven: &Proven| proven.put("refs/proof/changes", &place, "100644", &proven.blob(&line));
    server.push_changed("refs/proof/changes", put).is_refused("16384 lines");
}

/// Enough of them would keep everyone from a verdict.
#[test]
fn signature_of_a_seal_that_its_key_did_not_make_is_not_let_in() {
    let server = Server::with_the_proven(STRICT);
    let proven = &server.proven;
    let public = super::signing_key(proven);
    let tree = proven.tree_with("main", &[(".proof/allowed_signers", &format!("ada@x {public}\n"))]);
    let rules = proven.made(&tree, &["main"], "Who may sign");
    server.push(&[&format!("{rules}:refs/tags/rules")]).is_let_in();
    proven.git(&["--git-dir", server.place.to_str().unwrap(), "update-ref", "refs/heads/main", &rules]);
    proven.scratch.json(&["seal", "--sign"]);
    let seal = proven.tip("refs/proof/rounds");
    server.push(&["refs/proof/rounds", PROOFS[0]]).is_let_in();
    let note = proven.note(&seal) + "\n" + &super::forged_seals(proven, &seal, 1);
    server.push_changed(PROOFS[0], |proven| proven.set_note(&seal, note)).is_refused("its key did not make");
}
