//! Hooks and agents: whether something calls us when it should.

use super::{DoctorCheck, DoctorState};
use crate::context::{Context, read_regular};
use crate::error::Result;
use crate::setup::agent_files::{AgentState, state as agent_state};
use crate::setup::agents::InitAgent;
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
            Some(_) if reason.ends_with("does not run it") => format!("chmod +x {path}, then git proof init"),
            Some(call) => format!("call from it: {call}"),
            None => "git proof init prints what to paste and to run".to_owned(),
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
    check(state, message).hint("git proof init")
}

/// What pre-commit keeps to itself.
fn lost(survey: &Survey, by: WiredBy, hook: &str) -> Option<String> {
    let is_pre_commit = survey.manager.as_ref().is_some_and(|manager| manager.name == ManagerName::PreCommit);
    let lost = match hook {
        "post-rewrite" => "which commits were rewritten, so no anchor is carried",
        "pre-push" => "more than the first ref of a push, so the others are not judged here",
        _ => return None,
    };
    (is_pre_commit && by == WiredBy::Manager).then(|| format!("pre-commit does not say {lost}: see docs/hooks.md"))
}

/// A bare repository is one to push to.
fn pre_receive(survey: &Survey) -> DoctorCheck {
    let path = survey.hooks().join("pre-receive");
    let called = read_regular(&path).is_ok_and(|text| String::from_utf8_lossy(&text).contains("hook pre-receive"));
    if called {
        return DoctorCheck::new("hook pre-receive", DoctorState::Ok, format!("called from {}", path.display()));
    }
    DoctorCheck::new("hook pre-receive", DoctorState::Info, "this repository is bare, and nothing gates what is pushed")
        .hint("git proof init prints a hook that does")
}

/// The agents that are used in this worktree.
pub(super) fn agents(survey: &Survey) -> Vec<DoctorCheck> {
    let Some(root) = survey.root.as_deref() else { return Vec::new() };
    let one = |agent: InitAgent| {
        let name = format!("agent {}", agent.as_str());
        let command = format!("git proof init --agent {}", agent.as_str());
        let check = |state, message: &str| DoctorCheck::new(&name, state, message);
        match agent_state(root, agent) {
            Err(error) => Some(check(DoctorState::Wrong, &error.to_string()).hint(error.hint.unwrap_or(command))),
            Ok(AgentState::Absent) => None,
            Ok(AgentState::Without) => {
                Some(check(DoctorState::Info, "it is configured here, without git-proof").hint(command))
            }
            Ok(AgentState::Partly) => Some(check(DoctorState::Stale, "some of our entries are missing").hint(command)),
            // Codex skips hooks that nobody has approved, and says nothing.
            Ok(AgentState::Complete) if agent == InitAgent::Codex => Some(
                check(DoctorState::Ok, "set up").hint("codex runs hooks only once they are approved: /hooks in codex"),
            ),
            Ok(AgentState::Complete) => Some(check(DoctorState::Ok, "set up")),
        }
    };
    InitAgent::ALL.into_iter().filter_map(one).collect()
}
