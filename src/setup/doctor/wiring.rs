//! Hooks and agents: whether something calls us when it should.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{DoctorCheck, DoctorState};
use crate::context::{Context, read_regular};
use crate::error::Result;
use crate::hint::{Hint, Step, hint};
use crate::record::Agent;
use crate::setup::agent_files::{AgentState, state as agent_state};
use crate::setup::hooks::{HookPlan, WiredBy, plan as plan_hooks};
use crate::setup::managers::{Manager, ManagerName};
use crate::setup::outcome::Action;
use crate::setup::survey::Survey;

/// Every hook of git's.
pub(super) fn hooks(context: &Context, survey: &Survey) -> Result<Vec<DoctorCheck>> {
    if survey.root.is_none() {
        return Ok(vec![pre_receive(survey)]);
    }
    let plans = plan_hooks(survey, context.executable().as_deref(), false)?;
    Ok(plans.iter().map(|plan| hook(survey, plan)).collect())
}

fn hook(survey: &Survey, plan: &HookPlan) -> DoctorCheck {
    let change = &plan.change;
    let check = |state, message: String| DoctorCheck::new(format!("hook {}", change.hook), state, message);
    let path = change.path.as_deref().unwrap_or_default();
    let switch = format!("hook.git-proof-{}.enabled", change.hook);
    let off = ["false", "no", "off", "0"];
    if change.by == WiredBy::Config
        && let Some(setting) = survey.settings.last(&switch)
        && off.contains(&setting.text().to_lowercase().as_str())
    {
        return check(DoctorState::Wrong, format!("it is switched off by {switch}")).hint(setting.removal());
    }
    if change.by == WiredBy::Nothing {
        let reason = change.reason.clone().unwrap_or_default();
        let hint = match &change.call {
            Some(_) if reason.ends_with("does not run it") => {
                hint!(Step::MakeExecutable(path.to_owned()), ", then ", Step::Init)
            }
            Some(call) => hint!(format!("call from it: {call}")),
            None => hint!(Step::Init, " prints what to paste and to run"),
        };
        return check(DoctorState::Missing, reason).hint(hint);
    }
    if change.action == Action::Unchanged {
        let found = survey.manager.as_ref().map_or("", Manager::found);
        let how = match change.by {
            WiredBy::Config => "a command in git's configuration".to_owned(),
            WiredBy::Manager => format!("run by way of {found}"),
            WiredBy::Call => format!("called from {path}"),
            WiredBy::File | WiredBy::Nothing => format!("a block in {path}"),
        };
        let mut check = check(DoctorState::Ok, how);
        check.hint = lost(survey, change.by, change.hook);
        return check;
    }
    let (state, message) = match (plan.had, &change.reason) {
        (true, Some(reason)) => (DoctorState::Stale, reason.clone()),
        (true, None) => {
            (DoctorState::Stale, "what is there is of another version, or names another program".to_owned())
        }
        (false, _) => (DoctorState::Missing, "nothing calls git-proof".to_owned()),
    };
    check(state, message).hint(Step::Init)
}

/// A hint about the facts that pre-commit does not pass on to a hook.
fn lost(survey: &Survey, by: WiredBy, hook: &str) -> Option<Hint> {
    let is_pre_commit = survey.manager.as_ref().is_some_and(|manager| manager.name == ManagerName::PreCommit);
    let lost = match hook {
        "post-rewrite" => "which commits were rewritten, so no anchor is carried",
        "pre-push" => "more than the first ref of a push, so the others are not judged here",
        _ => return None,
    };
    (is_pre_commit && by == WiredBy::Manager)
        .then(|| format!("pre-commit does not say {lost}: see docs/hooks.md").into())
}

/// A bare repository is one to push to.
fn pre_receive(survey: &Survey) -> DoctorCheck {
    let path = survey.hooks().join("pre-receive");
    let called = read_regular(&path).is_ok_and(|text| String::from_utf8_lossy(&text).contains("hook pre-receive"));
    if called {
        return DoctorCheck::new("hook pre-receive", DoctorState::Ok, format!("called from {}", path.display()));
    }
    DoctorCheck::new("hook pre-receive", DoctorState::Info, "this repository is bare, and nothing gates what is pushed")
        .hint(hint!(Step::Init, " prints a hook that does"))
}

/// The agents that are used in this worktree.
pub(super) fn agents(context: &Context, survey: &Survey) -> Vec<DoctorCheck> {
    let Some(root) = survey.root.as_deref() else { return Vec::new() };
    let one = |agent: Agent| {
        let name = format!("agent {}", agent.as_str());
        let command = Step::InitAgent(agent.as_str().to_owned());
        let check = |state, message: &str| DoctorCheck::new(&name, state, message);
        match agent_state(root, agent) {
            Err(error) => {
                Some(check(DoctorState::Wrong, &error.to_string()).hint(error.hint.unwrap_or_else(|| command.into())))
            }
            Ok(AgentState::Absent) => None,
            Ok(AgentState::Without) => {
                Some(check(DoctorState::Info, "it is configured here, without git-proof").hint(command))
            }
            Ok(AgentState::Partly) => Some(check(DoctorState::Stale, "some of our entries are missing").hint(command)),
            Ok(AgentState::Complete) => Some(match how_to_trust(agent) {
                None => check(DoctorState::Ok, "set up"),
                // These skip hooks that nobody has approved, and say nothing.
                Some(how) => match is_trusted(context, agent, root) {
                    Some(true) => check(DoctorState::Ok, "set up, and this folder is trusted"),
                    Some(false) => check(DoctorState::Missing, "set up, but this folder is not trusted").hint(how),
                    None => {
                        check(DoctorState::Info, "set up; whether its hooks are trusted cannot be seen here").hint(how)
                    }
                },
            }),
        }
    };
    Agent::ALL.into_iter().filter_map(one).collect()
}

/// How to make an agent run the hooks of a repository, if the files alone are not enough for it.
fn how_to_trust(agent: Agent) -> Option<&'static str> {
    match agent {
        Agent::Codex => Some("codex runs hooks only once they are approved: /hooks in codex"),
        Agent::Gemini => Some("gemini runs hooks only in a trusted folder: /permissions in gemini"),
        Agent::Copilot => Some("copilot runs hooks only in a trusted folder: start it here once, and say yes"),
        _ => None,
    }
}

/// Whether an agent trusts this folder, by what it keeps in the home folder. `None` where that does not tell.
fn is_trusted(context: &Context, agent: Agent, root: &Path) -> Option<bool> {
    let home = PathBuf::from(context.variable("HOME")?);
    let read = |file: &str| -> Option<Value> { serde_json::from_slice(&read_regular(&home.join(file)).ok()?).ok() };
    match agent {
        Agent::Gemini => {
            let folders = read(".gemini/trustedFolders.json")?;
            let trust = folders.as_object()?.iter().find(|(folder, _)| root.starts_with(folder))?.1.as_str()?;
            Some(trust != "DO_NOT_TRUST")
        }
        Agent::Copilot => {
            let settings = read(".copilot/config.json")?;
            let folders = settings["trusted_folders"].as_array()?;
            Some(folders.iter().filter_map(Value::as_str).any(|folder| root.starts_with(folder)))
        }
        _ => None,
    }
}
