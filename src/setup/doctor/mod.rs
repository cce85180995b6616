//! `doctor`: what is wired, what is missing, what is stale, and the command for each. It changes nothing,
//! but that a store of an older schema is brought up to date, as by every command.

mod program;
mod repository;
mod wiring;

use serde::Serialize;

pub use program::on_path;

use super::survey::Survey;
use crate::context::Context;
use crate::error::Result;
use crate::hint::Hint;
use crate::proof::finding::Verdict;
use crate::proof::schema::names;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct DoctorOutcome {
    /// `pass` if everything is wired: nothing is missing, stale or wrong. Else `fail`.
    pub verdict: Verdict,
    /// The same, under its old name (docs/json.md).
    pub ok: bool,
    /// The version of git.
    pub git: String,
    /// Everything that was looked at, in order.
    pub checks: Vec<DoctorCheck>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct DoctorCheck {
    /// Its name, such as `hook commit-msg`.
    pub name: String,
    /// How it stands.
    pub state: DoctorState,
    /// The same in words.
    pub message: String,
    /// What to do: a command where there is one.
    pub hint: Option<Hint>,
}

names! {
    /// How a thing stands.
    pub enum DoctorState {
        /// As it should.
        Ok = "ok",
        /// It is not there.
        Missing = "missing",
        /// It is there, but of another version or place.
        Stale = "stale",
        /// It does harm, or cannot work.
        Wrong = "wrong",
        /// Good to know.
        Info = "info",
    }
}

impl DoctorState {
    /// Whether there is something to do.
    const fn is_bad(self) -> bool {
        matches!(self, Self::Missing | Self::Stale | Self::Wrong)
    }
}

impl DoctorCheck {
    fn new(name: impl Into<String>, state: DoctorState, message: impl Into<String>) -> Self {
        Self { name: name.into(), state, message: message.into(), hint: None }
    }

    fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Looks at everything. An error is for a place where nothing can be looked at.
pub fn doctor(context: &Context) -> Result<DoctorOutcome> {
    let survey = Survey::take(context)?;
    let mut checks = vec![program::git(&survey), program::ourselves(context), repository::store(context, &survey)];
    checks.extend(repository::archives(context, &survey));
    checks.extend(repository::unfinished(&survey));
    checks.extend(wiring::hooks(context, &survey)?);
    checks.extend(repository::notes(&survey));
    checks.extend(repository::fetches(&survey));
    checks.extend(wiring::agents(context, &survey));
    checks.extend(repository::policy(&survey));
    checks.push(repository::signing(&survey));
    checks.push(repository::remotes(context, &survey));
    let ok = !checks.iter().any(|check| check.state.is_bad());
    Ok(DoctorOutcome { verdict: Verdict::of(ok), ok, git: survey.version.text, checks })
}

/// Whether one of git's hooks calls this program.
#[derive(Debug, Clone, Serialize)]
pub struct HookState {
    /// Its name, such as `post-commit`.
    pub hook: String,
    /// Whether it does.
    pub wired: bool,
}

/// Whether git's hooks call this program.
pub fn hook_states(context: &Context) -> Result<Vec<HookState>> {
    let checks = wiring::hooks(context, &Survey::take(context)?)?;
    let state = |check: DoctorCheck| HookState {
        hook: check.name.trim_start_matches("hook ").to_owned(),
        wired: check.state == DoctorState::Ok,
    };
    Ok(checks.into_iter().map(state).collect())
}
