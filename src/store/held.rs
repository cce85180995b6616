//! Prompts and checks of an agent that are kept until its next session is opened, and become entries of it.

use super::Store;
use super::agent_row::AgentKey;
use super::query::Query as _;
use crate::error::Result;
use crate::proof::timestamp::Timestamp;

/// Most prompts and checks that wait for a session to be opened; older ones are dropped.
const MOST_HELD: i64 = 64;

/// A prompt or a check that waits for a session to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldItem {
    pub number: i64,
    /// Whether it is an observation, to be attested as it is, and no prompt.
    pub attests: bool,
    pub text: String,
}

impl Store {
    /// Holds a prompt, or an observation that is to be attested, until a session is opened.
    pub fn hold(&mut self, key: AgentKey<'_>, text: &str, attests: bool, at: Timestamp) -> Result<()> {
        self.unflushed(|transaction| {
            transaction.run(
                "INSERT INTO agent_held (agent, agent_session, attests, text, at) VALUES (?1, ?2, ?3, ?4, ?5)",
                (key.agent, key.session, attests, text, at.as_str()),
            )?;
            transaction.run(
                "DELETE FROM agent_held WHERE agent = ?1 AND agent_session = ?2 AND held NOT IN \
                     (SELECT held FROM agent_held WHERE agent = ?1 AND agent_session = ?2 \
                      ORDER BY held DESC LIMIT ?3)",
                (key.agent, key.session, MOST_HELD),
            )?;
            Ok(())
        })
    }

    /// What is held, in order.
    pub fn held(&self, key: AgentKey<'_>) -> Result<Vec<HeldItem>> {
        let sql = "SELECT held, attests, text FROM agent_held WHERE agent = ?1 AND agent_session = ?2 ORDER BY held";
        self.all(sql, (key.agent, key.session), |row| {
            Ok(HeldItem { number: row.get(0)?, attests: row.get(1)?, text: row.get(2)? })
        })
    }
}
