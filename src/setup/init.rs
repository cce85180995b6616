//! `init`: sets a repository up, and takes exactly that out again: the store, the hooks of git, the settings for notes,
//! and the configuration of agents in the worktree.
//!
//! Everything is read and understood before anything is written. What others wrote stays as it is, byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use super::agent_files::{AgentPlan, AgentState, state as agent_state};
use super::files::Staged;
use super::hooks::WiredBy;
use super::managers::Manager;
use super::modes::misfits;
use super::outcome::{Action, FileChange, InitOutcome, Notice, SettingChange};
use super::policy_file::POLICY;
use super::settings::SettingEdit;
use super::survey::Survey;
use super::{agent_files, files, hooks, lost, modes, notes, policy_file, script, survey};
use crate::access::{Access, Misfit, bytes_of};
use crate::context::Context;
use crate::error::Result;
use crate::hint::{Step, hint};
use crate::record::Agent;
use crate::store::Store;

/// What is to be set up.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each switch of the command line")]
pub struct InitRequest {
    pub agents: Vec<Agent>,
    /// Whether AGENTS.md is to tell the order of calls.
    pub agents_md: bool,
    /// Whether git's hooks are left alone.
    pub no_hooks: bool,
    /// Whether to write the policy that is offered.
    pub policy: bool,
    /// Whether to take out instead of putting in.
    pub uninstall: bool,
    /// Whether only to say what would be done.
    pub dry_run: bool,
}

impl InitRequest {
    /// Whether it is about agents at all.
    fn names_agents(&self) -> bool {
        !self.agents.is_empty() || self.agents_md
    }

    /// Whether it is about the repository: always, but for taking out an agent, which leaves the rest as it is.
    fn is_for_repository(&self) -> bool {
        !(self.uninstall && self.names_agents())
    }
}

/// Sets up, or takes out.
pub fn init(context: &Context, request: &InitRequest) -> Result<InitOutcome> {
    let survey = Survey::take(context)?;
    let misfits = misfits(context, &survey);
    let Some(root) = survey.root.as_deref() else {
        if request.names_agents() || request.policy {
            return Err(survey::no_worktree());
        }
        return Ok(bare(&survey, request, &misfits));
    };
    let agents = agent_files::plan(root, &request.agents, request.agents_md, request.uninstall)?;
    let mut outcome = InitOutcome { dry_run: request.dry_run, ..InitOutcome::default() };
    outcome.files.extend(agents.iter().map(AgentPlan::change));
    let policy = files::find(root, POLICY)?;
    let policy_is_new = policy.text.is_none();
    if request.policy {
        let old = policy.text.as_deref().map(str::as_bytes);
        let offered = policy_file::offered();
        outcome.files.push(FileChange::new(POLICY, old, old.or(Some(offered.as_bytes()))));
    }
    let mut plans = Vec::new();
    let mut edits = Vec::new();
    if request.is_for_repository() {
        if !request.no_hooks {
            plans = hooks::plan(&survey, context.executable().as_deref(), request.uninstall)?;
            outcome.hooks = plans.iter().map(|plan| plan.change.clone()).collect();
            let configured = outcome.hooks.iter().any(|hook| hook.by == WiredBy::Config);
            outcome.manager = survey.manager.as_ref().filter(|_| !configured).map(Manager::instructions);
        }
        let (setting, edit) = shown_notes(&survey, request.uninstall);
        outcome.settings.push(setting);
        edits = plans.iter().flat_map(|plan| plan.settings.clone()).chain(edit).collect();
        outcome.store = (!request.uninstall).then(|| modes::change(&survey, &misfits));
        outcome.notices = notices(&survey, request, policy_is_new);
    }
    if !request.dry_run {
        let bytes = |text: &'_ Option<String>| text.as_ref().map(|text| text.clone().into_bytes());
        let mut writes: Vec<Write> = Vec::new();
        for plan in agents.iter().filter(|plan| plan.is_changed()) {
            writes.push(Write { path: plan.found.path.clone(), text: bytes(&plan.text), is_hook: false });
        }
        if request.policy && policy_is_new {
            writes.push(Write { path: policy.path, text: Some(policy_file::offered().into_bytes()), is_hook: false });
        }
        for (path, text) in plans.into_iter().filter_map(|plan| plan.file) {
            writes.push(Write { path, text, is_hook: true });
        }
        // Every new text is on disk before the first file is replaced, and the files are before the configuration.
        let staged = writes.iter().filter_map(|write| write.stage(context)).collect::<Result<Vec<_>>>()?;
        if outcome.store.is_some() {
            let sharing = || modes::sharing(&survey);
            outcome.notices.extend(modes::repair(&misfits));
            Store::open_or_share(&survey.repository.store_path(), context.patience(), sharing)?.expect_commits()?;
            name_program(context, &survey);
        }
        staged.into_iter().try_for_each(Staged::replace)?;
        writes.iter().try_for_each(|write| write.remove(root))?;
        edits.iter().try_for_each(|edit| edit.apply(context))?;
        if request.is_for_repository() && !request.no_hooks {
            lost::remember(context, &survey, request.uninstall);
        }
    }
    Ok(outcome)
}

/// Notes beside the store where this program is: agents run their hooks in shells that may not have it on the path. Without
/// the note, such a hook does nothing.
fn name_program(context: &Context, survey: &Survey) {
    let store = survey.repository.store_path();
    if let Some(program) = context.executable() {
        let path = store.with_file_name("program");
        let written = Access::beside(&store).write(&path.with_extension("new"), bytes_of(&program));
        let _ = written.and_then(|()| fs::rename(path.with_extension("new"), path));
    }
}

/// A file that is to hold something else, or not to be there.
struct Write {
    path: PathBuf,
    text: Option<Vec<u8>>,
    is_hook: bool,
}

impl Write {
    fn stage(&self, context: &Context) -> Option<Result<Staged>> {
        let mode = if self.is_hook { 0o755 } else { 0o666 };
        Some(Staged::write(context, &self.path, self.text.as_deref()?, mode))
    }

    fn remove(&self, root: &Path) -> Result<()> {
        match (&self.text, self.is_hook) {
            (Some(_), _) => Ok(()),
            // Git's own directory stays, even if nothing is left in it.
            (None, true) => fs::remove_file(&self.path).map_err(|error| files::unwritable(&self.path, &error)),
            (None, false) => files::remove(root, &self.path),
        }
    }
}

/// A bare repository is one to push to: no commit is made in it.
fn bare(survey: &Survey, request: &InitRequest, misfits: &[Misfit]) -> InitOutcome {
    let has_store = survey.repository.store_path().exists() && !request.uninstall;
    let left = if has_store && !request.dry_run { modes::repair(misfits) } else { None };
    let notice = Notice {
        message: "this repository is bare: no commit is made here, so there is nothing to set up".to_owned(),
        hint: "to gate what is pushed to it, save the script below as hooks/pre-receive and make it executable; to \
               record, run it in a worktree"
            .into(),
    };
    InitOutcome {
        store: has_store.then(|| modes::change(survey, misfits)),
        notices: [Some(notice), left].into_iter().flatten().collect(),
        pre_receive: Some(script::PRE_RECEIVE),
        dry_run: request.dry_run,
        ..InitOutcome::default()
    }
}

/// Makes git show the notes that are meant to be read, or not any more.
fn shown_notes(survey: &Survey, uninstall: bool) -> (SettingChange, Option<SettingEdit>) {
    let (action, edit) = match uninstall {
        true if notes::is_ours(&survey.settings) => (Action::Removed, Some(notes::hide())),
        false if !notes::are_shown(&survey.settings) => (Action::Created, Some(notes::show())),
        _ => (Action::Unchanged, None),
    };
    let diff = edit.as_ref().map(|edit| edit.shown() + "\n").unwrap_or_default();
    (SettingChange { key: "notes.displayRef", value: notes::SHOWN, action, diff }, edit)
}

/// Notices for a person.
fn notices(survey: &Survey, request: &InitRequest, policy_is_new: bool) -> Vec<Notice> {
    if request.uninstall {
        return kept(survey);
    }
    let mut notices: Vec<Notice> = notes::copied(&survey.settings)
        .map(|setting| Notice {
            message: format!(
                "notes.rewriteRef is {}, so git copies anchors to rewritten commits without looking at what changed",
                setting.text()
            ),
            hint: setting.removal(),
        })
        .collect();
    if request.policy && policy_is_new {
        notices.push(Notice {
            message: format!("a commit that adds or changes {POLICY} needs a proof itself"),
            hint: hint!(Step::Start, ", then ", Step::GitCommit, ", then ", Step::DoneHere),
        });
    }
    notices.extend((policy_is_new && !request.policy).then(|| Notice {
        message: format!("there is no {POLICY}: the gate uses its defaults"),
        hint: hint!(Step::InitPolicy, " writes one that asks for rooted anchors"),
    }));
    notices
}

/// Notices about files that `--uninstall` leaves in place.
fn kept(survey: &Survey) -> Vec<Notice> {
    let mut notices = Vec::new();
    let store = survey.repository.store_path();
    if store.exists() {
        notices.push(Notice {
            message: format!("the store is kept: what was recorded is in {}", survey.shown(&store)),
            hint: "to forget it all, remove that directory; anchors and evidence in git stay".into(),
        });
    }
    if let Some(manager) = survey.manager.as_ref().filter(|manager| manager.names_any()) {
        notices.push(Notice {
            message: format!("the hooks in {} still call git-proof", manager.found()),
            hint: format!("take out by hand what was pasted there: {}", manager.found()).into(),
        });
    }
    let root = survey.root.as_deref().unwrap_or(Path::new(""));
    if agent_files::plan(root, &[], true, true).is_ok_and(|plans| plans.iter().any(AgentPlan::is_changed)) {
        notices.push(Notice {
            message: "AGENTS.md still tells agents to record decisions".to_owned(),
            hint: hint!(Step::UninstallAgentsMd, " removes the block"),
        });
    }
    let is_set_up = |agent: &Agent| matches!(agent_state(root, *agent), Ok(AgentState::Complete | AgentState::Partly));
    notices.extend(Agent::ALL.into_iter().filter(is_set_up).map(|agent| Notice {
        message: format!("{} is still set up", agent.as_str()),
        hint: Step::Uninstall(agent.as_str().to_owned()).into(),
    }));
    notices
}
