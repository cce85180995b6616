//! The sessions of coding agents, as their hooks report them.

mod session;
pub use session::{Agent, ToolUse, agent_join, agent_reminder, agent_start, agent_tool_use};
