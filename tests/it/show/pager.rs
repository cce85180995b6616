//! The pager: where git would start one, the one that git would start, and never in the way of a verdict.

use super::Explained;
use crate::store::scratch::{Ran, has};

/// Whether there is nothing to make a terminal with; it says so.
fn no_terminal() -> bool {
    let missing = !has("script");
    if missing {
        eprintln!("left out: script(1) of util-linux, which makes a terminal, is not here");
    }
    missing
}

/// Runs the program on a terminal.
fn on_terminal(explained: &Explained, arguments: &str, variables: &[(&str, &str)]) -> Ran {
    let line = format!("'{}' {arguments}", env!("CARGO_BIN_EXE_git-proof"));
    let mut command = explained.scratch.command("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.env("LC_ALL", "C.UTF-8").env("TERM", "xterm").env("COLUMNS", "80").envs(variables.iter().copied());
    command.output().unwrap().into()
}

/// A pager that can be told from none.
const PAGER: (&str, &str) = ("GIT_PAGER", "sed s/^/PAGED/");

#[test]
fn pager_is_started_on_a_terminal_and_nowhere_else() {
    if no_terminal() {
        return;
    }
    let explained = Explained::new();
    for arguments in ["show", "show --full", "log HEAD", "log", "tree", "verify"] {
        let ran = on_terminal(&explained, arguments, &[PAGER]);
        assert!(ran.text().contains("PAGED"), "{arguments}: {}", ran.out);
    }
    for arguments in
        ["show --no-pager", "log --no-pager HEAD", "--json show", "verify --no-pager", "gate --base HEAD~1", "check"]
    {
        let ran = on_terminal(&explained, arguments, &[PAGER]);
        assert!(!ran.text().contains("PAGED"), "{arguments}: {}", ran.out);
    }
    let piped: Ran = explained.proof(80, &["show"]).envs([PAGER]).output().unwrap().into();
    assert!(!piped.text().contains("PAGED"), "{}", piped.out);
}

#[test]
fn pager_is_the_one_that_git_would_start() {
    if no_terminal() {
        return;
    }
    let explained = Explained::new();
    explained.scratch.git(["config", "core.pager", "sed s/^/core:/"]);
    assert!(on_terminal(&explained, "show", &[]).text().contains("core:"));
    assert!(on_terminal(&explained, "show", &[PAGER]).text().contains("PAGED"));
    assert!(!on_terminal(&explained, "show", &[("GIT_PAGER", "cat")]).text().contains("core:"));
    explained.scratch.git(["config", "--unset", "core.pager"]);
    assert!(on_terminal(&explained, "show", &[("PAGER", "sed s/^/plain:/")]).text().contains("plain:"));
    let less = on_terminal(&explained, "show", &[("PAGER", "printenv LESS")]);
    assert!(less.text().contains("FRX"), "{}", less.out);
    let own = on_terminal(&explained, "show", &[("PAGER", "printenv LESS"), ("LESS", "S")]);
    assert!(!own.text().contains("FRX"), "{}", own.out);
}

#[test]
fn hostile_settings_of_a_repository_run_nothing_for_who_verifies() {
    if no_terminal() {
        return;
    }
    let explained = Explained::new();
    let mark = explained.scratch.around().join("ran");
    explained.scratch.git(["config", "core.pager", &format!("touch '{}'", mark.display())]);
    for arguments in ["verify", "gate --base HEAD~1", "--json show", "show --no-pager"] {
        on_terminal(&explained, arguments, &[]).text();
        assert!(!mark.exists(), "{arguments}");
    }
    explained.proof(80, &["show"]).output().unwrap();
    assert!(!mark.exists(), "no terminal, and yet a pager");
}

#[test]
fn pager_that_quits_early_or_is_not_there_changes_no_verdict() {
    if no_terminal() {
        return;
    }
    let explained = Explained::new();
    for pager in ["true", "false", "head -1", "no-such-pager-here"] {
        assert_eq!(on_terminal(&explained, "show", &[("GIT_PAGER", pager)]).exit, Some(0), "{pager}");
    }
    let missing = on_terminal(&explained, "show", &[("GIT_PAGER", "no-such-pager-here")]);
    assert!(missing.text().contains("Cut the redirect loop"), "{}", missing.out);
    explained.forge("a second cookie", "a third cookie");
    for pager in ["true", "false", "head -1", "no-such-pager-here"] {
        assert_eq!(on_terminal(&explained, "show", &[("GIT_PAGER", pager)]).exit, Some(1), "{pager}");
    }
}

#[test]
fn terminal_gets_colours_unless_nobody_wants_them() {
    if no_terminal() {
        return;
    }
    let explained = Explained::new();
    // The clean environment of the tests asks for none; a variable that is empty counts as not set.
    let painted = |variables: &[(&str, &str)]| {
        let all = [&[("GIT_PAGER", "cat"), ("NO_COLOR", "")][..], variables].concat();
        on_terminal(&explained, "show", &all).text().contains("\u{1b}[")
    };
    assert!(painted(&[]));
    assert!(!painted(&[("NO_COLOR", "1")]));
    assert!(!painted(&[("TERM", "dumb")]));
}
