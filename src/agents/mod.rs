//! Agents: what their hooks send becomes entries of a session of their own, whether or not the model cooperates.
//!
//! An agent is never blocked by its hook: whatever goes wrong is said in one line, and the agent goes on. What is observed is
//! marked as observed; a wrong attribution is worse than none.

// These files need each other: a session is closed before the next one of its chain is opened, and a commit opens one.
mod assisted;
mod capture;
mod close;
mod commits;
mod event;
mod events;
mod files;
mod input;
mod recall;
mod session;
mod shell;
mod told;
mod transcript;

use serde_json::Value;

use event::Event;

use crate::context::Context;
use crate::error::{Code, Result};
use crate::record::{Agent, Workspace};

pub use assisted::assisted_by;
pub use close::{Closed, close_abandoned, close_pushed, close_stated};
pub use commits::{ready_for_commit, saw_commit};
pub use session::{Caller, own_session, start};

/// What came of an event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// What the agent is to be told, if anything.
    pub told: Option<Value>,
    /// Whether commits were pushed that no hook of git saw, so that their proofs are not shared yet.
    pub unshared: bool,
}

/// Does what an event of an agent asks for. `called` is the agent whose configuration named the hook; which agent it really is,
/// the event tells.
pub fn run(context: Context, called: Agent, input: &[u8]) -> Result<Outcome> {
    let input = input::read(input).map_err(|error| event::unclear("the input is not JSON").because(error))?;
    if !input.is_object() {
        return Err(event::unclear("the input is not a JSON object"));
    }
    let agent = events::recognise(called, &input);
    let seen = events::read(agent, &input)?;
    let context = event::somewhere(context, &input);
    let ends = matches!(seen.event, Event::TurnEnd { .. } | Event::End { .. } | Event::Other);
    let opened = if ends { Workspace::open(context) } else { Workspace::open_or_create(context) };
    let mut workspace = match opened {
        // Nothing was begun that could end.
        Err(error) if ends && error.code == Code::NoStore => return Ok(Outcome::default()),
        workspace => workspace?,
    };
    let answer = capture::take(&mut workspace, agent, &seen);
    // What was decided earlier is a help to the agent; to record goes before, and what goes wrong here keeps it from nothing.
    let recalled = match &answer {
        Ok((None, _)) => recall::told(&mut workspace, agent, seen.key(agent), &seen).ok().flatten(),
        _ => None,
    };
    workspace.leave();
    let (told, unshared) = answer?;
    let told = told.or(recalled.map(events::Told::Context));
    Ok(Outcome { told: told.map(|told| events::answer(agent, &seen.name, &told)), unshared })
}
