//! `hook`: what agents call.

use std::io::{self, IsTerminal as _, Read as _};

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::ui::Ui;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hook::{self, Agent};

/// More than any agent sends; what is larger is not read to its end.
const LIMIT: u64 = 64 << 20;

/// Take an event from an agent's hook, on standard input
///
/// Opens a session for the agent's own, notes which tools ran (by name and digest, never their output), and reminds the
/// agent once to close a session that it leaves without a reflection. It never blocks the agent: what goes wrong is one
/// line on standard error, and the exit code is 0.
#[derive(Debug, Args)]
#[command(after_help = "\
An agent's configuration calls it; `git proof init --agent NAME` writes that.

Examples:
  git proof hook claude-code < event.json
  echo '{\"hook_event_name\":\"SessionStart\",\"session_id\":\"abc\"}' | git proof hook claude-code")]
pub(super) struct Hook {
    /// claude-code, codex, cursor or gemini
    #[arg(value_name = "AGENT", value_parser = PossibleValuesParser::new(Agent::ALL.map(Agent::as_str)))]
    #[arg(hide_possible_values = true)]
    agent: String,
}

impl Hook {
    /// The hook of an agent, if there is one of this name.
    pub(super) fn of(agent: &str) -> Option<Self> {
        Agent::parse(agent).map(|agent| Self { agent: agent.as_str().to_owned() })
    }

    pub(super) fn run(&self, context: Context, ui: &mut Ui) {
        let Some(agent) = Agent::parse(&self.agent) else { return }; // the parser lets only agents through
        match input().and_then(|input| hook::run(context, agent, &input)) {
            Ok(None) => {}
            // The agent reads JSON, whoever calls.
            Ok(Some(answer)) => ui.text(|_| format!("{answer}\n")),
            Err(error) => ui.say(&format!("git proof hook {}: {error}", self.agent)),
        }
    }
}

fn input() -> Result<Vec<u8>> {
    let unreadable = |what: &str| Error::new(Code::Unreadable, what.to_owned());
    let stdin = io::stdin().lock();
    if stdin.is_terminal() {
        return Err(unreadable("an agent's event is read from standard input, which is a terminal"));
    }
    let mut bytes = Vec::new();
    stdin
        .take(LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable("standard input cannot be read").because(error))?;
    if bytes.len() as u64 > LIMIT { Err(unreadable("the event is too large to be read")) } else { Ok(bytes) }
}
