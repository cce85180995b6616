//! Completions, in the real shells, beside git's own.

use super::{commands, path};
use crate::store::scratch::{Ran, Scratch, has};

/// Lines that are being typed, and a word that must be offered for the last one.
const TYPED: [(&str, &str); 7] = [
    ("git proof rec", "record"),
    ("git-proof rec", "record"),
    ("git proof record --ty", "--type"),
    ("git -C . proof check-p", "check-proof"),
    ("git proof policy ex", "explain"),
    ("git proof init --agent cu", "cursor"),
    ("git proof completions fi", "fish"),
];

/// A place with the tool on the path, as git finds it, and what the shells read.
fn prepared(shell: &str) -> Scratch {
    let scratch = Scratch::new();
    let script = scratch.run(["completions", shell]);
    std::fs::write(scratch.around().join("_git-proof"), script.text()).unwrap();
    scratch
}

/// Runs a script of a shell, with the tool on the path and our script in `$SCRIPT`.
fn shell(scratch: &Scratch, program: &str, arguments: &[&str]) -> String {
    let mut command = scratch.command(program);
    command.args(arguments).env("PATH", path(scratch)).env("SCRIPT", scratch.around().join("_git-proof"));
    let ran: Ran = command.env("TERM", "dumb").output().unwrap().into();
    assert_eq!(ran.err, "", "{program}");
    ran.text().to_owned()
}

/// What bash would do at a press of the tab key: split the line, call the function, look at its answer.
const BASH: &str = r#"
[ -e /usr/share/bash-completion/bash_completion ] && . /usr/share/bash-completion/bash_completion
. /usr/share/bash-completion/completions/git
. "$SCRIPT"
COMP_LINE=$1 COMP_POINT=${#1}
read -ra COMP_WORDS <<<"$1"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
complete=$(complete -p "${COMP_WORDS[0]}")
complete=${complete##*-F }
"${complete%% *}" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

#[test]
fn bash_completes_it_by_both_names() {
    if !has("bash") || !std::path::Path::new("/usr/share/bash-completion/completions/git").exists() {
        return eprintln!("left out: bash or git's completion for it is not here");
    }
    let scratch = prepared("bash");
    for (typed, wanted) in TYPED.iter().chain(&[("git pro", "proof")]) {
        let offered = shell(&scratch, "bash", &["--norc", "-c", BASH, "bash", typed]);
        // In git's completion the blank after a word is part of the offer.
        let wanted = if typed.starts_with("git ") { format!("{wanted} ") } else { (*wanted).to_owned() };
        assert_eq!(offered.lines().collect::<Vec<_>>(), [wanted], "{typed}");
    }
    // What was typed in full is offered too, and a directory may go on.
    std::fs::create_dir(scratch.place.join("records")).unwrap();
    assert_eq!(shell(&scratch, "bash", &["--norc", "-c", BASH, "bash", "git proof record"]), "record \n");
}

/// A terminal with a zsh in it: the line, a tab, and a command that shows what the line has become.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; fpath=($SCRIPT:h $fpath); autoload -Uz compinit; compinit -u -D; TRAPUSR1() { :; }
show() { print -r -- "<<$BUFFER>>"; BUFFER=; }; zle -N show; bindkey "^X" show; print read""y'
zpty -r shell answer '*ready*'
zpty -w -n shell "$1"$'\t\C-x'
zpty -r shell answer '*\<\<*\>\>*'
print -r -- "${${answer##*<<}%%>>*}"
"#;

#[test]
fn zsh_completes_it_by_both_names() {
    if !has("zsh") {
        return eprintln!("left out: zsh is not here");
    }
    let scratch = prepared("zsh");
    for (typed, wanted) in TYPED {
        let line = shell(&scratch, "zsh", &["-f", "-c", ZSH, "zsh", typed]);
        let (before, _) = typed.rsplit_once(' ').unwrap();
        assert_eq!(line.trim_end().trim_end_matches('='), format!("{before} {wanted}"), "{typed}");
    }
}

#[test]
fn fish_completes_it_by_both_names() {
    if !has("fish") {
        return eprintln!("left out: fish is not here");
    }
    let scratch = prepared("fish");
    for (typed, wanted) in TYPED.iter().chain(&[("git proo", "proof")]) {
        let offered = shell(&scratch, "fish", &["-c", &format!("source $SCRIPT; complete -C '{typed}'")]);
        let offered: Vec<&str> = offered.lines().filter_map(|line| line.split('\t').next()).collect();
        assert!(offered.contains(wanted), "{typed}: {offered:?}");
    }
}

#[test]
fn every_command_is_offered_by_every_shell() {
    let scratch = Scratch::without_repository();
    for shell in ["bash", "zsh", "fish"] {
        let script = scratch.json(&["completions", shell]);
        assert_eq!(script["shell"], shell);
        let script = script["script"].as_str().unwrap();
        for command in commands(&scratch) {
            assert!(command.split(' ').all(|word| script.contains(word)), "{shell}: {command}");
        }
    }
    scratch.refused(&["completions", "csh"], "INVALID_PARAMS", 2);
}
