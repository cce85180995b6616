//! Output for a person or a program. Data goes to standard output, messages to standard error; text from a file or a
//! record is made harmless before it reaches the terminal.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::CommandFactory as _;
use serde::Serialize;

use super::Arguments;
use super::pager::Pager;
pub(super) use super::paint::{Paint, Role};
use super::roles;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
pub(super) use crate::proof::text::inert;

/// The command's output, held until the command has succeeded or failed.
#[derive(Debug)]
pub(super) struct Ui {
    pub(super) json: bool,
    pub(super) paint: Paint,
    out: String,
    talk: String,
    /// How a command ends that has an answer, and the answer is not yes.
    verdict: u8,
    /// The program that shows the output page by page, if there is to be one.
    pager: Option<Pager>,
}

impl Ui {
    pub(super) fn new(json: bool, context: &Context) -> Self {
        Self { json, paint: Paint::detect(context), out: String::new(), talk: String::new(), verdict: 0, pager: None }
    }

    /// Shows an outcome: as JSON if that was asked for, else as `human` renders it.
    pub(super) fn show<T: Serialize>(&mut self, outcome: &T, human: impl FnOnce(&T, Paint) -> String) {
        let text = if self.json { json_line(outcome) } else { human(outcome, self.paint) };
        self.out.push_str(&text);
    }

    /// Shows text that has no JSON form of its own.
    pub(super) fn text(&mut self, human: impl FnOnce(Paint) -> String) {
        self.out.push_str(&human(self.paint));
    }

    /// Prints one line to standard error, for a command that succeeds all the same.
    pub(super) fn say(&mut self, line: &str) {
        self.talk.push_str(&inert(line));
        self.talk.push('\n');
    }

    /// Lets the command end with an exit code though nothing went wrong: its answer is no, or not known.
    pub(super) fn answer(&mut self, exit_code: u8) {
        self.verdict = exit_code;
    }

    /// Lets a person turn the pages, as git would: only on a terminal, and never of what a program reads.
    pub(super) fn page(&mut self, pager: fn(&Context) -> Option<Pager>, context: &Context) {
        if !self.json && io::stdout().is_terminal() {
            self.pager = pager(context);
        }
    }

    /// Writes what there is to write; the exit code says how it ended. Output that is lost is never a success. A reader that
    /// has seen enough, such as `head`, is told nothing.
    pub(super) fn finish(self, result: Result<()>) -> ExitCode {
        let _ = io::stderr().lock().write_all(self.talk.as_bytes()); // only talk
        let paged = self.pager.as_ref().is_some_and(|pager| result.is_ok() && pager.show(&self.out));
        let written = if paged {
            Ok(())
        } else {
            let mut stdout = io::stdout().lock();
            stdout.write_all(self.out.as_bytes()).and_then(|()| stdout.flush())
        };
        let result = result.and_then(|()| written.map_err(|error| lost(&error)));
        match result {
            Ok(()) => ExitCode::from(self.verdict),
            Err(error) => {
                if !error.message.is_empty() {
                    let json = || json_line(&serde_json::json!({ "error": error }));
                    let text = if self.json { json() } else { explain(&error) };
                    let _ = io::stderr().lock().write_all(text.as_bytes()); // nobody is left to tell
                }
                ExitCode::from(error.code.exit_code())
            }
        }
    }
}

/// Writes at once, for a command that has something to say while it works. What is lost is an error.
pub(super) fn write_now(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| lost(&error))
}

fn lost(error: &io::Error) -> Error {
    // The reader closed the pipe on purpose and needs no message; the exit code still says that the answer is not whole.
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Error::new(Code::OutputFailed, "");
    }
    Error::new(Code::OutputFailed, "the answer could not be written")
        .because(error)
        .hint(hint!("what a command records is on disk before it answers: ", Step::Log))
}

/// Help and version are answers; anything else that clap says is a wrong usage, and repeats what it was given.
pub(super) fn usage(error: &clap::Error, json: bool) -> ExitCode {
    if !error.use_stderr() {
        let text = roles::grouped(&error.render().to_string());
        let mut stdout = io::stdout().lock();
        return match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(Code::OutputFailed.exit_code()),
        };
    }
    let rendered = error.render().to_string();
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = io::stderr().lock().write_all(roles::grouped(&rendered).as_bytes()); // nobody is left to tell
        return ExitCode::from(Code::InvalidParams.exit_code());
    }
    // Git takes `git proof --help` for itself and looks for a man page, which may not be installed.
    let help = format!("try '{} -h'", command_of(std::env::args_os().skip(1)));
    let said = rendered.replace("try '--help'", &help);
    let said = said.replace("invalid digit found in string", "it takes a whole number");
    let text = if json {
        let (message, hint) = said.trim().split_once("\n\n").unwrap_or((said.trim(), &help));
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let error = Error::new(Code::InvalidParams, message).hint(Step::Usage(hint.to_owned()));
        json_line(&serde_json::json!({ "error": error }))
    } else {
        said.lines().map(|line| inert(line) + "\n").collect()
    };
    let _ = io::stderr().lock().write_all(text.as_bytes()); // nobody is left to tell
    ExitCode::from(Code::InvalidParams.exit_code())
}

/// The command that a command line names, as far as it is one: `git proof memory` of `-C x memory pux`.
fn command_of(arguments: impl Iterator<Item = OsString>) -> String {
    let (mut command, mut name) = (Arguments::command(), "git proof".to_owned());
    let mut arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = arguments.next() {
        if argument == "-C" {
            arguments.next();
        } else if !argument.starts_with('-') {
            let Some(found) = command.find_subcommand(&argument).cloned() else { break };
            name = format!("{name} {}", found.get_name());
            command = found;
        }
    }
    name
}

fn json_line<T: Serialize>(value: &T) -> String {
    match serde_json::to_string(value) {
        Ok(mut text) => {
            text.push('\n');
            text
        }
        // Outcomes are plain data with string keys; should one ever not be, that is a bug and ends as one.
        Err(error) => unreachable!("an outcome does not serialize: {error}"),
    }
}

fn explain(error: &Error) -> String {
    let mut text = format!("error: {}\n", inert(&error.message));
    for cause in &error.causes {
        let _ = writeln!(text, "  caused by: {}", inert(cause));
    }
    if let Some(hint) = &error.hint {
        let _ = writeln!(text, "hint: {}", inert(&hint.to_string()));
    }
    text
}
