//! The command line: arguments in, an op in the middle, text or JSON out. The only place that prints.

mod check;
mod ui;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Result;
use ui::Ui;

/// Anchors the reasoning behind a change to the commit it explains, and lets anyone with a clone check it.
#[derive(Debug, Parser)]
#[command(name = "git-proof", bin_name = "git proof", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = EXIT_CODES)]
struct Arguments {
    /// Print one JSON value instead of text
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 yes; 1 no, a proof is broken; 2 wrong usage; 3 could not check; 4 the store or the repository failed; \
101 a bug";

#[derive(Debug, Subcommand)]
enum Command {
    CheckProof(check::CheckProof),
    CheckEvidence(check::CheckEvidence),
}

impl Command {
    fn run(&self, ui: &mut Ui) -> Result<()> {
        match self {
            Self::CheckProof(arguments) => arguments.run(ui),
            Self::CheckEvidence(arguments) => arguments.run(ui),
        }
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // What could not be parsed may still say in which form to answer.
        Err(error) => return ui::usage(&error, std::env::args_os().any(|argument| argument == "--json")),
    };
    let mut ui = Ui::new(arguments.json);
    let result = arguments.command.run(&mut ui);
    ui.finish(result)
}
