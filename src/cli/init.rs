//! `init`: setting up agents.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::ops::{self, Action, InitAgent, InitOutcome, InitRequest};

/// Set up agents in this worktree: the MCP server and the hooks
///
/// Edits the configuration files of the agents that are named. What is in them stays, comments and layout included;
/// doing it again changes nothing. If one of the files is not valid, none is changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Files:
  claude-code  .mcp.json, .claude/settings.json      gemini  .gemini/settings.json
  codex        .codex/config.toml, .codex/hooks.json vscode  .vscode/mcp.json
  cursor       .cursor/mcp.json, .cursor/hooks.json  zed     .zed/settings.json

Examples:
  git proof init --agent claude-code --dry-run
  git proof init --agent claude-code --agent codex --agents-md
  git proof init --agent cursor --uninstall")]
pub(super) struct Init {
    /// claude-code, codex, cursor, gemini, vscode or zed; can be given several times
    #[arg(long = "agent", value_name = "NAME", required = true, hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(InitAgent::ALL.map(InitAgent::as_str)))]
    agents: Vec<String>,
    /// Tell the order of calls in AGENTS.md too, in a marked block
    #[arg(long)]
    agents_md: bool,
    /// Take out what was put in, and nothing else
    #[arg(long)]
    uninstall: bool,
    /// Show the changes as a diff and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Init {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let request = InitRequest {
            agents: self.agents.iter().filter_map(|name| InitAgent::parse(name)).collect(),
            agents_md: self.agents_md,
            uninstall: self.uninstall,
            dry_run: self.dry_run,
        };
        let outcome = ops::init(context, &request)?;
        ui.show(&outcome, |outcome, paint| {
            if outcome.files.iter().all(|file| file.action == Action::Unchanged) {
                return "Nothing to change: everything is as it should be.\n".to_owned();
            }
            if outcome.dry_run {
                return diff(outcome);
            }
            let line = |action: Action| match action {
                Action::Created => "created  ",
                Action::Updated => "updated  ",
                Action::Unchanged => "unchanged",
                Action::Removed => "removed  ",
            };
            let files = outcome.files.iter();
            let lines: Vec<String> =
                files.map(|file| format!("{} {}\n", line(file.action), paint.paint(Role::Strong, file.path))).collect();
            lines.concat()
        });
        Ok(())
    }
}

/// The diffs as they are, but for what a terminal would obey.
fn diff(outcome: &InitOutcome) -> String {
    let shown = |line: &str| {
        let (line, end) = line.strip_suffix("\r\n").map_or((line.trim_end_matches('\n'), "\n"), |line| (line, "\r\n"));
        line.split('\t').map(inert).collect::<Vec<_>>().join("\t") + end
    };
    outcome.files.iter().flat_map(|file| file.diff.split_inclusive('\n')).map(shown).collect()
}
