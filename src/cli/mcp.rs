//! `mcp`.

use clap::Args;

use super::ui::Ui;
use crate::context::Context;
use crate::error::Result;
use crate::mcp::{self, Profile};

/// Serve agents over the Model Context Protocol, on standard input and output
///
/// The configuration of an agent starts it, in the repository that the agent works in. It ends when its input ends. Every
/// call is written into the store's ledger.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  claude mcp add git-proof -- git proof mcp
  git -C ~/src/importer proof mcp --profile core

In .mcp.json:
  {\"mcpServers\":{\"git-proof\":{\"command\":\"git\",\"args\":[\"proof\",\"mcp\"]}}}")]
pub(super) struct Mcp {
    /// How many tools to offer
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,
}

impl Mcp {
    pub(super) fn run(&self, context: &Context, _: &mut Ui) -> Result<()> {
        mcp::serve(context.clone(), self.profile)
    }
}
