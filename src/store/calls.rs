//! Shell calls of agents that have begun and not ended, and the commits that were seen: together they tell whose a commit
//! is that no hook of git told us about.

use rusqlite::Row;

use super::agent_row::AgentKey;
use super::{Failure, Store};
use crate::error::Result;
use crate::proof::digest::CommitId;
use crate::proof::timestamp::Timestamp;
use crate::store::query::Query as _;

/// How many commits that were seen are remembered. Only those that were made during an open call matter.
const MOST_COMMITS: i64 = 10_000;

/// A shell call that begins.
#[derive(Debug, Clone, Copy)]
pub struct NewCall<'a> {
    /// The id of the call, or a digest of what it was given.
    pub name: &'a str,
    /// Where it runs.
    pub worktree: &'a str,
    pub command: &'a str,
    /// Where HEAD's reflog ends.
    pub reflog: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    pub call: i64,
    pub agent: String,
    pub agent_session: String,
    pub command: String,
    /// Where HEAD's reflog ended when it began.
    pub reflog: String,
    /// Whether a call of another agent was open meanwhile.
    pub shared: bool,
    /// When it began.
    pub at: Timestamp,
}

const COLUMNS: &str = "call, agent, agent_session, command, reflog, shared, at";

fn read(row: &Row<'_>) -> Result<OpenCall, Failure> {
    Ok(OpenCall {
        call: row.get(0)?,
        agent: row.get(1)?,
        agent_session: row.get(2)?,
        command: row.get(3)?,
        reflog: row.get(4)?,
        shared: row.get(5)?,
        at: row.get(6)?,
    })
}

impl Store {
    /// The calls that are open in a worktree, the newest first.
    pub fn open_calls(&self, worktree: &str) -> Result<Vec<OpenCall>> {
        self.all(&format!("SELECT {COLUMNS} FROM agent_calls WHERE worktree = ?1 ORDER BY call DESC"), [worktree], read)
    }

    /// The calls that an agent or one of its subagents has open, anywhere.
    pub fn calls_of(&self, key: AgentKey<'_>) -> Result<Vec<OpenCall>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM agent_calls WHERE agent = ?1 \
             AND (agent_session = ?2 OR substr(agent_session, 1, length(?2) + 1) = ?2 || '/') ORDER BY call"
        );
        self.all(&sql, (key.agent, key.session), read)
    }

    /// Begins a call. Where another agent has one open in the same worktree, both are marked: what happens meanwhile may be
    /// of either.
    pub fn begin_call(&mut self, key: AgentKey<'_>, new: &NewCall<'_>, at: Timestamp) -> Result<()> {
        self.unflushed(|transaction| {
            let others = transaction.run(
                "UPDATE agent_calls SET shared = 1 WHERE worktree = ?1 AND (agent <> ?2 OR agent_session <> ?3)",
                (new.worktree, key.agent, key.session),
            )?;
            transaction.run(
                "INSERT INTO agent_calls (agent, agent_session, name, worktree, command, reflog, shared, at) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                (key.agent, key.session, new.name, new.worktree, new.command, new.reflog, others > 0, at.as_str()),
            )?;
            Ok(())
        })
    }

    /// Ends a call; `None` if it was never begun.
    pub fn end_call(&mut self, key: AgentKey<'_>, name: &str) -> Result<Option<OpenCall>> {
        self.unflushed(|transaction| {
            let sql = format!(
                "SELECT {COLUMNS} FROM agent_calls WHERE agent = ?1 AND agent_session = ?2 AND name = ?3 \
                 ORDER BY call LIMIT 1"
            );
            let Some(call) = transaction.first(&sql, (key.agent, key.session, name), read)? else { return Ok(None) };
            transaction.run("DELETE FROM agent_calls WHERE call = ?1", [call.call])?;
            Ok(Some(call))
        })
    }

    /// Forgets the calls of an agent, whose turn is over or who no longer runs.
    pub fn forget_calls(&mut self, key: AgentKey<'_>) -> Result<()> {
        let sql = "DELETE FROM agent_calls WHERE agent = ?1 AND agent_session = ?2";
        self.run_unflushed(sql, (key.agent, key.session)).map(drop)
    }

    /// Remembers a commit that was seen; `false` if it was seen before.
    pub fn see_commit(&mut self, commit: &CommitId, at: Timestamp) -> Result<bool> {
        self.unflushed(|transaction| {
            let new = transaction.run(
                "INSERT INTO seen_commits (commit_id, at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                (commit.to_string(), at.as_str()),
            )?;
            if transaction.value::<i64>("SELECT count(*) FROM seen_commits", [])? > MOST_COMMITS {
                transaction.run(
                    "DELETE FROM seen_commits WHERE commit_id IN \
                         (SELECT commit_id FROM seen_commits ORDER BY at LIMIT ?1)",
                    [MOST_COMMITS / 2],
                )?;
            }
            Ok(new == 1)
        })
    }

    pub fn has_seen(&self, commit: &CommitId) -> Result<bool> {
        self.value("SELECT EXISTS (SELECT 1 FROM seen_commits WHERE commit_id = ?1)", [commit.to_string()])
    }

    /// Whether any commit was seen in this clone: then a hook of ours has run here before.
    pub fn has_seen_any(&self) -> Result<bool> {
        self.value("SELECT EXISTS (SELECT 1 FROM seen_commits)", [])
    }
}
