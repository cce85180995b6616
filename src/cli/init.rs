//! `init`: setting up a repository and its agents.

use std::fmt::Write as _;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::man;
use super::ui::{Paint, Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::record::Agent;
use crate::setup::{self, Action, HookChange, HookManager, InitOutcome, InitRequest, WiredBy};

/// Set up this repository: the store, git's hooks, readable notes, and agents
///
/// Makes the store, installs the hooks commit-msg, post-commit, post-rewrite and pre-push, and lets `git log` show why a
/// commit was made. With --agent it also edits the configuration files of that agent. Everything that others wrote stays,
/// byte for byte, and running it again changes nothing. If one of the files is not valid, no file is changed.
///
/// For git 2.54 and newer, the hooks are commands in the repository's configuration. For older versions they are marked
/// blocks of one line in the files of the hooks. If core.hooksPath, husky, lefthook, pre-commit or simple-git-hooks manages
/// the hooks, nothing is changed: init prints the lines to paste, and ends with 1 until git runs them.
#[derive(Debug, Args)]
#[command(after_help = "\
Files:
  claude-code  .mcp.json, .claude/settings.json
  codex        .codex/config.toml, .codex/hooks.json
  copilot      .github/mcp.json, .github/hooks/git-proof.json
  cursor       .cursor/mcp.json, .cursor/hooks.json
  gemini       .gemini/settings.json
  opencode     opencode.json, .opencode/plugin/git-proof.js
  qwen         .qwen/settings.json
  vscode       .vscode/mcp.json, .github/hooks/git-proof-vscode.json
  zed          .zed/settings.json

Uninstalling: --uninstall alone removes git's hooks and the setting for notes, and keeps the store; with --agent or
--agents-md it removes only those entries, and git's hooks stay.

Examples:
  git proof init
  git proof init --dry-run
  git proof init --policy --agent claude-code --agent codex --agents-md
  git proof init --no-hooks --agent cursor
  git proof init --uninstall")]
#[expect(clippy::struct_excessive_bools, reason = "they are switches")]
pub(super) struct Init {
    /// An agent of the list below; may be given several times
    #[arg(long = "agent", value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(Agent::ALL.map(Agent::as_str)))]
    agents: Vec<String>,
    /// Also describe in AGENTS.md, in a marked block, which tools to call in which order
    #[arg(long)]
    agents_md: bool,
    /// Do not install git's hooks
    #[arg(long, conflicts_with = "uninstall")]
    no_hooks: bool,
    /// Write .proof/policy.toml if there is none: it lists every key and only advises
    #[arg(long, conflicts_with = "uninstall")]
    policy: bool,
    /// Remove what `init` added, and nothing else
    #[arg(long)]
    uninstall: bool,
    /// Show the changes as a diff and as commands, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Init {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let request = InitRequest {
            agents: self.agents.iter().filter_map(|name| Agent::parse(name)).collect(),
            agents_md: self.agents_md,
            no_hooks: self.no_hooks,
            policy: self.policy,
            uninstall: self.uninstall,
            dry_run: self.dry_run,
        };
        let outcome = setup::init(context, &request)?;
        ui.show(&outcome, |outcome, paint| {
            let left = unwired(outcome)
                + &outcome.manager.as_ref().map(instructions).unwrap_or_default()
                + outcome.pre_receive.unwrap_or_default();
            let changes = match (outcome.is_unchanged(), outcome.dry_run) {
                (true, _) if left.is_empty() => "Nothing to change: everything is as it should be.\n".to_owned(),
                (true, _) if outcome.pre_receive.is_some() => String::new(),
                (true, _) => "Nothing to change, but this is left to you:\n".to_owned(),
                (false, true) => diff(outcome),
                (false, false) => changes(outcome, paint),
            };
            let kept = self.uninstall && (self.agents_md || !self.agents.is_empty()) && !outcome.dry_run;
            let kept = if kept { "Git's hooks stay: git proof init --uninstall takes them out.\n" } else { "" };
            changes + &left + kept
        });
        // The request is not complete while a hook is left for a person to wire.
        let left = |hook: &HookChange| hook.by == WiredBy::Nothing && hook.reason.is_some();
        if outcome.hooks.iter().any(left) {
            ui.answer(1);
        }
        let manual = (!self.dry_run && !self.uninstall).then(|| man::install(context)).flatten();
        if !ui.json {
            if let Some(directory) = manual {
                ui.say(&format!("note: git help proof opens the manual, which is now in {}", directory.display()));
            }
            for notice in &outcome.notices {
                ui.say(&format!("note: {}", notice.message));
                ui.say(&format!("hint: {}", notice.hint));
            }
        }
        Ok(())
    }
}

/// What was done, a line each.
fn changes(outcome: &InitOutcome, paint: Paint) -> String {
    let mut text = String::new();
    let mut line = |action: Action, what: &str| {
        let _ = writeln!(text, "{action:9} {}", paint.paint(Role::Strong, &inert(what)));
    };
    for file in outcome.files.iter().chain(&outcome.store) {
        line(file.action, &file.path);
    }
    for hook in &outcome.hooks {
        let in_configuration = format!("hook.git-proof-{} in git's configuration", hook.hook);
        match (hook.by, &hook.path) {
            (WiredBy::Manager | WiredBy::Nothing, _) if hook.action == Action::Unchanged => {}
            (_, Some(path)) => line(hook.action, path),
            (_, None) => line(hook.action, &in_configuration),
        }
    }
    for setting in &outcome.settings {
        line(setting.action, &format!("{} = {}", setting.key, setting.value));
    }
    text
}

/// The hooks that are left to a person.
fn unwired(outcome: &InitOutcome) -> String {
    let mut text = String::new();
    for hook in outcome.hooks.iter().filter(|hook| hook.by == WiredBy::Nothing && hook.reason.is_some()) {
        let _ = writeln!(text, "not wired {}: {}", hook.hook, inert(hook.reason.as_deref().unwrap_or_default()));
        if let Some(call) = &hook.call {
            let _ = writeln!(text, "          call from it, with its arguments and standard input: {call}");
        }
    }
    text
}

/// Tells a person which lines to paste into which file of a hook manager.
fn instructions(manager: &HookManager) -> String {
    if manager.paste.is_empty() && manager.run.is_none() {
        return String::new();
    }
    let mut text =
        format!("\nThe hooks of this repository are those of {}, which was left as it is.\n", inert(&manager.found));
    for paste in &manager.paste {
        let _ = writeln!(text, "\nInto {}:\n\n{}", inert(&paste.file), paste.lines.trim_end());
    }
    if let Some(run) = &manager.run {
        let _ = writeln!(text, "\nThen run: {run}");
    }
    text
}

/// The diffs as they are, but for what a terminal would obey.
fn diff(outcome: &InitOutcome) -> String {
    let shown = |line: &str| {
        let (line, end) = line.strip_suffix("\r\n").map_or((line.trim_end_matches('\n'), "\n"), |line| (line, "\r\n"));
        line.split('\t').map(inert).collect::<Vec<_>>().join("\t") + end
    };
    let diffs = (outcome.files.iter().map(|file| &file.diff))
        .chain(outcome.hooks.iter().map(|hook| &hook.diff))
        .chain(outcome.settings.iter().map(|setting| &setting.diff));
    let mut text: String = diffs.flat_map(|diff| diff.split_inclusive('\n')).map(shown).collect();
    match &outcome.store {
        Some(store) if store.action == Action::Created => {
            let _ = writeln!(text, "create {}", inert(&store.path));
        }
        Some(store) => text.extend(store.diff.split_inclusive('\n').map(shown)),
        None => {}
    }
    text
}
