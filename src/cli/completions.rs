//! `completions`: what a shell needs to complete `git-proof`, and git's own completion to complete `git proof`.

use clap::{Args, CommandFactory as _, ValueEnum};
use clap_complete::aot;

use super::ui::Ui;
use crate::context::Context;
use crate::error::Result;

/// Print the completions of a shell, for `git proof` and `git-proof`
///
/// Packages install them. To install them by hand: for bash, add the first line below to ~/.bashrc. For zsh, write the file
/// into a directory of $fpath, under the name _git-proof, by which git's own completion finds it. For fish, add the last line
/// to ~/.config/fish/config.fish.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  eval \"$(git proof completions bash)\"
  git proof completions zsh > ~/.zfunc/_git-proof
  git proof completions fish | source")]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, serde::Serialize)]
struct Outcome {
    shell: Shell,
    script: String,
}

impl Completions {
    #[expect(clippy::unnecessary_wraps, reason = "every command runs the same way")]
    pub(super) fn run(&self, _: &Context, ui: &mut Ui) -> Result<()> {
        let outcome = Outcome { shell: self.shell, script: script(self.shell) };
        ui.show(&outcome, |outcome, _| outcome.script.clone());
        Ok(())
    }
}

fn script(shell: Shell) -> String {
    let generator = match shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
    };
    let mut bytes = Vec::new();
    aot::generate(generator, &mut super::Arguments::command(), "git-proof", &mut bytes);
    let script = String::from_utf8_lossy(&bytes).into_owned();
    match shell {
        // The generator has two spellings for the hyphen of our name, and looks for the one under the other.
        Shell::Bash => script.replace("git__subcmd__proof", "git__proof") + BASH,
        // The line after the first is where zsh's completion of git looks for what to say of a command.
        Shell::Zsh => script.replacen('\n', "\n#description anchor the reasoning behind a change\n", 1),
        Shell::Fish => script + FISH,
    }
}

/// Git's completion calls `_git_proof` for `git proof`. It knows the words, and where the command stands among them; it has
/// switched off the blank after a word, so the blank is given here, but not after what a file name may go on from.
const BASH: &str = r#"
_git_proof() {
    local at="${__git_cmd_idx:-1}"
    local COMP_CWORD=$((cword - at))
    local COMP_WORDS=(git-proof "${words[@]:at+1}")
    _git__proof git-proof "$cur" "$prev"
    local i
    for i in "${!COMPREPLY[@]}"; do
        [[ -e ${COMPREPLY[i]} ]] || COMPREPLY[i]+=" "
    done
}
"#;

/// Fish completes `git proof` as it completes `git-proof`, whether or not this file is where git's own completion would look.
const FISH: &str = r#"
complete -c git-proof -f -n '__fish_git_proof_using_subcommand completions' -a 'bash zsh fish'

# As a command of git.
function __git_proof_as_its_own_command
    set -l words (commandline -opc)
    set -l at (contains -i -- proof $words)
    or return
    complete -C "git-proof "(string join ' ' -- (string escape -- $words[(math $at + 1)..]) (commandline -ct))
end
complete -c git -f -n __fish_git_needs_command -a proof -d 'Anchor the reasoning behind a change'
complete -c git -f -n '__fish_git_using_command proof' -a '(__git_proof_as_its_own_command)'
"#;
