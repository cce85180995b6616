//! `mcp`.

use clap::{Args, ValueEnum};

use crate::context::Context;
use crate::error::Result;
use crate::mcp::{self, Profile};

/// Serve agents over the Model Context Protocol, on standard input and output
///
/// An agent's configuration starts it, in the repository that the agent works in. It ends when its input does. Every
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
    #[arg(long, value_enum, default_value_t = Tools::Full)]
    profile: Tools,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Tools {
    /// The six that the sequence of a proof-grade task needs
    Core,
    /// All of them
    #[default]
    Full,
}

impl Mcp {
    pub(super) fn run(&self, context: Context) -> Result<()> {
        let profile = match self.profile {
            Tools::Core => Profile::Core,
            Tools::Full => Profile::Full,
        };
        mcp::serve(context, profile)
    }
}
