//! What a clone's settings and environment say: nothing that changes a verdict, and no program is run for them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::{Judged, Proven, STRICT};

/// A program that leaves a trace where it is run.
fn canary(proven: &Proven) -> (PathBuf, PathBuf) {
    let (program, trace) = (proven.scratch.around().join("canary.sh"), proven.scratch.around().join("trace"));
    std::fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", trace.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (program, trace)
}

/// A range with something for every setting to bite on: a merge, a text, a bad commit.
fn range() -> Proven {
    let proven = Proven::with_policy(STRICT);
    proven.write(".gitattributes", "* diff=evil merge=evil filter=evil text eol=crlf\n");
    proven.prove("t", "Attributes");
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("b.txt", "b\n");
    proven.prove("u", "Add b");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    proven.gate().passes();
    proven
}

#[test]
fn settings_change_no_verdict_and_run_no_program() {
    let proven = range();
    let before = proven.gate();
    let (program, trace) = canary(&proven);
    let program = program.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "merge.evil.driver",
        "gpg.program",
        "gpg.ssh.program",
        "gpg.ssh.defaultKeyCommand",
        "gpg.ssh.allowedSignersFile",
        "sequence.editor",
        "interactive.diffFilter",
        "pager.rev-list",
        "pager.verify",
        "credential.helper",
        "uploadpack.packObjectsHook",
        "trailer.proof-root.command",
        "trailer.proof-root.cmd",
        "sendemail.smtpServer",
    ] {
        proven.git(&["config", key, program]);
    }
    for (key, value) in [
        ("alias.rev-list", &*format!("!{program}")),
        ("alias.verify", &*format!("!{program}")),
        ("alias.proof", &*format!("!{program}")),
        ("core.hooksPath", proven.scratch.around().to_str().unwrap()),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "always"),
        ("remote.origin.url", &*format!("ext::{program}")),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryformatversion", "1"),
        ("core.useReplaceRefs", "true"),
        ("core.notesRef", "refs/notes/none"),
        ("notes.displayRef", "refs/notes/none"),
        ("core.bigFileThreshold", "1"),
        ("core.attributesFile", "/dev/stdin"),
        ("diff.renames", "copies"),
        ("diff.algorithm", "patience"),
        ("diff.noprefix", "true"),
        ("diff.context", "0"),
        ("merge.renames", "false"),
        ("core.abbrev", "4"),
        ("log.showSignature", "true"),
        ("i18n.logOutputEncoding", "UTF-16"),
        ("trailer.separators", "%"),
        ("core.commentChar", "P"),
        ("core.quotePath", "false"),
        ("core.ignoreCase", "true"),
    ] {
        proven.git(&["config", key, value]);
    }
    // Hooks, by the names that git looks for.
    for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman"] {
        std::fs::copy(program, proven.scratch.around().join(hook)).unwrap();
    }
    let after = proven.gate();
    assert_eq!((after.exit, &after.said), (before.exit, &before.said), "{after:?}");
    assert!(!trace.exists(), "{}", std::fs::read_to_string(&trace).unwrap());
}

#[test]
fn settings_of_an_included_file_do_not_make_a_bad_commit_good() {
    let proven = Proven::with_policy(STRICT);
    proven.write("b.txt", "bad\n");
    proven.commit("Bad");
    let (program, trace) = canary(&proven);
    let more = proven.scratch.around().join("more.config");
    std::fs::write(
        &more,
        format!("[core]\nfsmonitor = {0}\nhooksPath = /\n[diff]\nexternal = {0}\n", program.display()),
    )
    .unwrap();
    proven.git(&["config", "include.path", more.to_str().unwrap()]);
    proven.gate().fails("ANCHOR_MISSING");
    assert!(!trace.exists(), "a program was run");
}

/// The gate with some variables set.
fn gate_with(proven: &Proven, variables: &[(&str, &str)]) -> Judged {
    let mut command = proven.scratch.proof(["--json", "gate", "--base", &proven.base, "--head", &proven.tip("HEAD")]);
    crate::store::scratch::Ran::from(command.envs(variables.iter().copied()).output().unwrap()).into()
}

#[test]
fn environment_changes_no_verdict() {
    let good = range();
    let bad = Proven::with_policy(STRICT);
    bad.write("b.txt", "bad\n");
    bad.commit("Bad");
    for proven in [&good, &bad] {
        let before = proven.gate();
        let (program, trace) = canary(proven);
        let program = program.to_str().unwrap();
        let file = proven.scratch.around().join("file");
        let grafts = format!("{} {}\n", proven.tip("HEAD"), proven.base);
        std::fs::write(&file, grafts).unwrap();
        let file = file.to_str().unwrap();
        for variables in [
            &[("GIT_INDEX_FILE", file)][..],
            &[("GIT_WORK_TREE", "/")],
            &[("GIT_GRAFT_FILE", file)],
            &[("GIT_SHALLOW_FILE", "/dev/null")],
            &[("GIT_REPLACE_REF_BASE", "refs/heads/")],
            &[("GIT_NAMESPACE", "evil")],
            &[("GIT_NOTES_REF", "refs/notes/none")],
            &[("GIT_TRACE", "1"), ("GIT_TRACE_SETUP", "1"), ("GIT_TRACE2_EVENT", "2")],
            &[("GIT_EXTERNAL_DIFF", program), ("GIT_PAGER", program), ("GIT_EDITOR", program), ("GIT_SSH", program)],
            &[("GIT_DIFF_OPTS", "-u0"), ("GIT_LITERAL_PATHSPECS", "1"), ("GIT_ATTR_SOURCE", "HEAD")],
            &[("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.fsmonitor"), ("GIT_CONFIG_VALUE_0", program)],
            &[("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "merge.renames"), ("GIT_CONFIG_VALUE_0", "false")],
            &[("GIT_CONFIG_PARAMETERS", "'core.hooksPath'='/' 'diff.external'='/bin/false'")],
            &[("GIT_DEFAULT_HASH", "sha256"), ("GIT_DEFAULT_REF_FORMAT", "reftable")],
            &[("GIT_ALTERNATE_OBJECT_DIRECTORIES", "/nowhere:relative")],
        ] {
            let after = gate_with(proven, variables);
            assert_eq!((after.exit, &after.said), (before.exit, &before.said), "{variables:?}: {after:?}");
            assert!(!trace.exists(), "{variables:?}: {}", std::fs::read_to_string(&trace).unwrap());
        }
    }
}

#[test]
fn shallow_file_of_the_environment_does_not_hide_a_commit() {
    let proven = Proven::with_policy(STRICT);
    proven.write("b.txt", "bad\n");
    proven.commit("Bad");
    proven.write("c.txt", "good\n");
    let (good, _) = proven.prove("t", "Good");
    let file = proven.scratch.around().join("shallow");
    std::fs::write(&file, format!("{good}\n")).unwrap();
    let judged = gate_with(&proven, &[("GIT_SHALLOW_FILE", file.to_str().unwrap())]);
    assert!(matches!(judged.exit, Some(1 | 3)), "{judged:?}");
}

#[test]
fn named_repository_is_the_one_that_is_judged() {
    let good = Proven::new();
    let bad = Proven::new();
    bad.git(&["notes", "--ref=proof", "remove", "HEAD"]);
    let directory = bad.scratch.place.join(".git");
    let mut command = good.scratch.proof(["--json", "verify", "--", &bad.head]);
    command.env("GIT_DIR", directory);
    let judged: Judged = crate::store::scratch::Ran::from(command.output().unwrap()).into();
    assert_eq!(judged.said["commits"][0]["sessions"], serde_json::json!([]), "{judged:?}");
}
