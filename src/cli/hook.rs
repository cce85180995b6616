//! `hook`: what git and agents call.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Read as _};
use std::panic::{self, AssertUnwindSafe};

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::ui::{Ui, write_now};
use crate::agents;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::flow;
use crate::hook::GitHook;
use crate::record::{Agent, Workspace};

/// More than any agent sends. What is larger is read, so that the agent can write it to its end, and dropped.
const LIMIT: u64 = 64 << 20;
/// Most bytes that are dropped.
const DROPPED: u64 = 4 << 30;

/// Handle an event of a hook of git or of an agent
///
/// Hooks of git: commit-msg names the session in the message, post-commit attests or anchors the commit, post-rewrite copies
/// anchors to rewritten commits, pre-push closes the sessions of agents, judges what is pushed and shares its proofs, and
/// pre-receive is the gate on a server. Hooks of an agent (claude-code, codex, copilot, cursor, gemini, opencode, qwen, vscode)
/// get JSON on standard input: what the agent wrote, which checks ran and what it said last become entries of a session of
/// its own, marked as observed. A hook that records never stops git or the agent: it prints an error as one line on standard
/// error and ends with 0. A hook that judges ends with 1 if something is wrong.
#[derive(Debug, Args)]
#[command(after_help = "\
`git proof init` writes the hooks of git, `git proof init --agent NAME` the configuration of an agent.

Examples:
  git proof hook post-commit
  git proof hook commit-msg .git/COMMIT_EDITMSG
  echo '{\"hook_event_name\":\"SessionStart\",\"session_id\":\"abc\"}' | git proof hook claude-code")]
pub(super) struct Hook {
    /// commit-msg, post-commit, post-rewrite, pre-push, pre-receive; or the name of an agent
    #[arg(value_name = "EVENT", value_parser = PossibleValuesParser::new(events()))]
    #[arg(hide_possible_values = true)]
    event: String,

    /// What git gives to the hook
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn events() -> Vec<&'static str> {
    GitHook::ALL.map(GitHook::as_str).into_iter().chain(Agent::ALL.map(Agent::as_str)).collect()
}

impl Hook {
    /// A hook as git and agents call it, if there is one of this name: without the parser of the other commands, which takes
    /// a third of the time that such a process has.
    pub(super) fn of(event: &str, arguments: Vec<OsString>) -> Option<Self> {
        let plain = !arguments.iter().any(|argument| argument.as_encoded_bytes().starts_with(b"-"));
        let known = GitHook::parse(event).is_some() || (Agent::parse(event).is_some() && arguments.is_empty());
        (known && plain).then(|| Self { event: event.to_owned(), arguments })
    }

    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        if let Some(hook) = GitHook::parse(&self.event) {
            self.of_git(hook, context, ui);
            return Ok(());
        }
        let Some(agent) = Agent::parse(&self.event) else { return Ok(()) }; // the parser lets only these through
        if !self.arguments.is_empty() {
            return Err(Error::new(Code::InvalidParams, format!("the hook of {} takes no arguments", self.event))
                .hint("what an agent has to say is read from standard input"));
        }
        match input().and_then(|input| unless_panicked(|| agents::run(context.clone(), agent, &input))?) {
            Ok(outcome) => {
                // The agent reads JSON, whoever calls. If the answer cannot be written, the agent goes on without it.
                if let Some(Err(error)) = outcome.told.map(|told| write_now(&format!("{told}\n")))
                    && !error.message.is_empty()
                {
                    ui.say(&format!("git proof hook {}: {error}", self.event));
                }
                // A push without git's hooks did not share its proofs. Share them now; if that fails, the next sync
                // does it.
                if outcome.unshared {
                    let _ =
                        Workspace::open(context.clone()).and_then(|mut here| flow::sync(&mut here, None, &mut |_| ()));
                }
            }
            Err(error) => ui.say(&format!("git proof hook {}: {error}", self.event)),
        }
        Ok(())
    }

    fn of_git(&self, hook: GitHook, context: &Context, ui: &mut Ui) {
        let input = if hook.reads_input() { input() } else { Ok(Vec::new()) };
        let answer = match input.and_then(|input| unless_panicked(|| hook.run(context, &self.arguments, &input))) {
            Ok(answer) => answer,
            Err(error) => {
                ui.say(&format!("git proof hook {}: {error}", self.event));
                return ui.answer(u8::from(hook.judges()));
            }
        };
        for line in &answer.say {
            ui.say(line);
        }
        ui.answer(u8::from(answer.stop));
    }
}

/// Turns a panic into an error of one line: a mistake in this program must not stop an agent, nor a commit.
fn unless_panicked<T>(work: impl FnOnce() -> T) -> Result<T> {
    panic::set_hook(Box::new(|_| ()));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    let _ = panic::take_hook();
    done.map_err(|why| {
        let what = why.downcast_ref::<String>().map(String::as_str).or_else(|| why.downcast_ref::<&str>().copied());
        Error::new(Code::Unreadable, "this is a mistake in git-proof").because(what.unwrap_or("it panicked"))
    })
}

fn input() -> Result<Vec<u8>> {
    let unreadable = |what: &str| Error::new(Code::Unreadable, what.to_owned());
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        return Err(unreadable("the event is read from standard input, which is a terminal"));
    }
    let mut bytes = Vec::new();
    let failed = |error| unreadable("standard input cannot be read").because(error);
    stdin.by_ref().take(LIMIT + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 <= LIMIT {
        return Ok(bytes);
    }
    io::copy(&mut stdin.take(DROPPED), &mut io::sink()).map_err(failed)?;
    Err(unreadable("the event is too large to be read"))
}
