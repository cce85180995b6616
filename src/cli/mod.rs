//! The command line: arguments in, an op in the middle, text or JSON out. The only place that prints.

mod accept;
mod anchor;
mod backup;
mod check;
mod completions;
mod content;
mod cover;
mod demo;
mod doctor;
mod draw;
mod forest;
mod hook;
mod init;
mod man;
mod mcp;
mod memory;
mod pager;
mod paint;
mod policy;
mod progress;
mod read;
mod record;
mod report;
mod retain;
mod roles;
mod rounds;
mod session;
mod short;
mod status;
mod story;
mod svg;
mod sync;
mod ui;
mod verdict;
mod verify;
mod vouch;
mod why;
mod wrap;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use crate::context::Context;
use crate::error::{Code, Error, Result};

use ui::Ui;

/// Anchors the reasoning behind a change to the commit it explains, and lets anyone with a clone check it.
#[derive(Debug, Parser)]
#[command(name = "git-proof", bin_name = "git proof", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = after_help())]
struct Arguments {
    /// Print one JSON value instead of text
    #[arg(long, global = true)]
    json: bool,

    /// Work as if started in this directory
    #[arg(short = 'C', value_name = "DIR", global = true)]
    directory: Vec<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

/// What an exit code means, whichever command ends with it.
const EXIT_CODES: [(u8, &str); 6] = [
    (0, "yes"),
    (1, "no, a proof failed or is missing, or a rule is not met"),
    (2, "wrong usage"),
    (3, "could not check"),
    (4, "the store or the repository failed"),
    (101, "a bug"),
];

fn after_help() -> String {
    let codes = EXIT_CODES.map(|(code, meaning)| format!("{code} {meaning}"));
    format!(
        "Examples:\n  git proof init\n  git proof start \"make the importer idempotent\"\n  git proof verify \
         HEAD\n  git proof record -h\n\nExit codes: {}",
        codes.join("; ")
    )
}

/// Declares the commands below another one: the type of each, which clap reads and which runs it.
macro_rules! commands {
    (enum $commands:ident { $($name:ident($command:ty),)* }) => {
        #[derive(Debug, clap::Subcommand)]
        enum $commands {
            $($name($command),)*
        }

        impl $commands {
            fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
                match self {
                    $(Self::$name(command) => command.run(context, ui),)*
                }
            }
        }
    };
}
use commands;

commands! {
    enum Command {
        Init(init::Init),
        Doctor(doctor::Doctor),
        Demo(demo::Demo),
        Start(record::Start),
        Decide(short::Decide),
        Status(status::Status),
        Record(record::Record),
        Attest(record::Attest),
        Cover(cover::Cover),
        Done(short::Done),
        Check(session::Check),
        Finalize(session::Finalize),
        Root(session::Root),
        End(session::End),
        Log(read::Log),
        Show(read::Show),
        Why(why::Why),
        Blame(why::Blame),
        Tree(read::Tree),
        Trail(read::Trail),
        Search(read::Search),
        Disclose(status::Disclose),
        CheckTranscript(status::CheckTranscript),
        Prove(read::Prove),
        CheckProof(check::CheckProof),
        CheckEvidence(check::CheckEvidence),
        Anchor(anchor::Anchor),
        Carry(anchor::Carry),
        Sign(anchor::Sign),
        Vouch(vouch::Vouch),
        Sync(sync::Sync),
        Accept(accept::Accept),
        Verify(verify::Verify),
        Gate(verify::Gate),
        Report(report::Report),
        Seal(rounds::Seal),
        Rounds(rounds::Rounds),
        Retain(retain::Retain),
        Backup(backup::Backup),
        Import(backup::Import),
        Memory(memory::Memory),
        Policy(policy::Policy),
        Mcp(mcp::Mcp),
        Hook(hook::Hook),
        Completions(completions::Completions),
        Man(man::Man),
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let arguments = match often_called().map_or_else(Arguments::try_parse, Ok) {
        Ok(arguments) => arguments,
        // Arguments that cannot be parsed may still ask for an answer in JSON.
        Err(error) => return ui::usage(&error, std::env::args_os().any(|argument| argument == "--json")),
    };
    let tell = if matches!(arguments.command, Command::Hook(_)) { progress::anywhere } else { progress::on_terminal };
    let context = Context::new(directory(&arguments.directory)).with_progress(tell);
    let mut ui = Ui::new(arguments.json, &context);
    let result = enter(&context).and_then(|()| arguments.command.run(&context, &mut ui));
    ui.finish(result)
}

/// Reads the calls that hooks and agents make, exactly as `init` writes them, without clap: building the parser of all
/// commands takes a third of the time of such a call. Returns `None` for anything else, which clap then reads.
fn often_called() -> Option<Arguments> {
    let mut given = std::env::args_os().skip(1);
    let command = match (given.next()?.to_str()?, given.next()) {
        ("mcp", None) => Command::Mcp(mcp::Mcp::default()),
        ("hook", Some(event)) => Command::Hook(hook::Hook::of(event.to_str()?, given.collect())?),
        _ => return None,
    };
    Some(Arguments { json: false, directory: Vec::new(), command })
}

/// Like git, each `-C` counts from the one before.
fn directory(directories: &[PathBuf]) -> PathBuf {
    let absolute = directories.first().is_some_and(|first| first.is_absolute());
    let start = if absolute { PathBuf::new() } else { PathBuf::from(".") };
    directories.iter().fold(start, |directory, next| directory.join(next))
}

fn enter(context: &Context) -> Result<()> {
    // If no directory was named, finding the repository reports what is wrong with the current one.
    if context.directory == Path::new(".") || context.directory.is_dir() {
        return Ok(());
    }
    let named = context.directory.display();
    Err(Error::new(Code::InvalidParams, format!("-C names {named}, which is not a directory"))
        .hint("name a directory inside a repository"))
}
