//! Help and man pages.

use super::{commands, examples, help, path};
use crate::store::scratch::{Ran, Scratch, has};

#[test]
fn every_command_has_examples_in_its_help() {
    let scratch = Scratch::without_repository();
    for command in commands(&scratch) {
        let help = help(&scratch, &command);
        let examples = examples(&help);
        assert!(!examples.is_empty(), "`git proof {command} --help` has no lines under Examples:\n{help}");
        // The first word of a command is that of the page; `git -C … proof` is the same.
        let own = examples.iter().filter(|line| line.contains("proof") && line.contains(&command)).count();
        assert!(own > 0, "no example of {command} uses it: {examples:?}");
    }
}

#[test]
fn every_command_has_a_man_page_with_its_examples_and_the_exit_codes() {
    let scratch = Scratch::without_repository();
    for command in commands(&scratch) {
        let file =
            format!("pages/git-proof{}.1", command.split(' ').map(|word| format!("-{word}")).collect::<String>());
        let file = file.replace("-.1", ".1");
        let page = std::fs::read_to_string(scratch.place.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "\"EXIT STATUS\"", "\"SEE ALSO\""] {
            assert_eq!(page.matches(&format!("\n.SH {section}\n")).count(), 1, "{section} of {file}:\n{page}");
        }
        let shown = page.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\[u2026]", "…").replace("\\\\", "\\");
        for example in examples(&help(&scratch, &command)) {
            assert!(shown.contains(&example), "{file} lacks {example}");
        }
    }
}

#[test]
fn man_pages_are_the_same_in_every_place_and_at_every_time() {
    let scratch = Scratch::without_repository();
    let print = |zone: &str| -> Ran {
        let mut command = scratch.proof(["man", "gate"]);
        command.env("TZ", zone).env("SOURCE_DATE_EPOCH", "0").output().unwrap().into()
    };
    let page = print("UTC").text().to_owned();
    assert_eq!(print("Asia/Tokyo").text(), page);
    let title = format!(".TH GIT-PROOF-GATE 1 \"\" \"git-proof {}\" \"git-proof manual\"\n", env!("CARGO_PKG_VERSION"));
    assert!(page.contains(&title), "{page}");
    assert!(page.is_ascii(), "{page}");
}

#[test]
fn man_pages_are_formatted_without_a_warning() {
    if !has("groff") {
        return eprintln!("left out: groff is not here");
    }
    let scratch = Scratch::without_repository();
    commands(&scratch);
    for page in std::fs::read_dir(scratch.place.join("pages")).unwrap() {
        let ran: Ran =
            scratch.command("groff").args(["-man", "-ww", "-z"]).arg(page.unwrap().path()).output().unwrap().into();
        assert_eq!((ran.text(), ran.err.as_str()), ("", ""));
    }
}

#[test]
fn git_opens_the_man_page_for_help() {
    if !has("man") {
        return eprintln!("left out: man is not here");
    }
    let scratch = Scratch::without_repository();
    let pages = scratch.around().join("share/man/man1");
    scratch.json(&["man", "--dir", pages.to_str().unwrap()]);
    for arguments in [["proof", "--help"], ["help", "proof"]] {
        let mut git = scratch.command("git");
        git.args(arguments)
            .env("PATH", path(&scratch))
            .env("MANPATH", scratch.around().join("share/man"))
            .env("MANPAGER", "cat")
            .env("PAGER", "cat");
        let ran: Ran = git.output().unwrap().into();
        assert!(ran.text().contains("GIT-PROOF(1)") && ran.out.contains("EXIT STATUS"), "{ran:?}");
    }
}

/// A home in which the program is installed as `cargo install` does it.
#[test]
fn after_init_git_finds_the_manual_of_a_program_in_the_home_directory() {
    let scratch = Scratch::new();
    let home = scratch.around().join("home");
    let bin = home.join(".cargo/bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-proof"), bin.join("git-proof")).unwrap();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&rest))).unwrap();
    let git = |arguments: &[&str]| -> Ran {
        let mut git = scratch.command("git");
        git.args(arguments).env("HOME", &home).env("PATH", &path).env("MANPAGER", "cat").env("PAGER", "cat");
        git.env_remove("MANPATH").output().unwrap().into()
    };
    let page = home.join(".cargo/share/man/man1/git-proof.1");
    git(&["proof", "init", "--dry-run"]).text();
    assert!(!page.exists());
    let said = git(&["proof", "init"]);
    assert!(said.err.contains("git help proof opens the manual") && page.exists(), "{said:?}");
    assert!(!git(&["proof", "init"]).err.contains("manual"));
    std::fs::write(&page, "of another version").unwrap();
    assert!(git(&["proof", "init"]).err.contains("manual"));
    if !has("man") {
        return eprintln!("left out: man is not here");
    }
    for arguments in [["proof", "--help"], ["help", "proof"]] {
        let ran = git(&arguments);
        assert!(ran.text().contains("GIT-PROOF(1)") && ran.out.contains("EXIT STATUS"), "{ran:?}");
    }
}

#[test]
fn a_page_of_a_command_that_is_not_there_is_refused() {
    let scratch = Scratch::without_repository();
    scratch.refused(&["man", "nonsense"], "INVALID_PARAMS", 2);
    scratch.refused(&["man", "policy", "nonsense"], "INVALID_PARAMS", 2);
}

#[test]
fn pages_that_cannot_be_written_are_an_error() {
    let scratch = Scratch::without_repository();
    std::fs::write(scratch.place.join("file"), "").unwrap();
    scratch.refused(&["man", "--dir", "file/below"], "ERR_OUTPUT_FAILED", 4);
}
