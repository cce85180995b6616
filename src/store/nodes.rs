//! The nodes of a session's tree, as the store keeps them.

use rusqlite::Connection;

use super::{Failure, damaged};
use crate::proof::digest::{ContentHash, NodeHash};
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;
use crate::proof::tree::{Completed, Nodes};
use crate::store::query::Query as _;

/// The tree of one session inside a transaction.
pub(super) struct StoredNodes<'a> {
    pub(super) connection: &'a Connection,
    pub(super) session: &'a Id,
    pub(super) scheme: Scheme,
}

impl StoredNodes<'_> {
    /// Keeps the nodes that finalizing adds. Leaves of an ordered tree are their entries' content hashes.
    pub(super) fn keep(&self, nodes: &[Completed]) -> Result<(), Failure> {
        let sql = "INSERT INTO merkle_nodes (session_id, level, node_index, hash) VALUES (?1, ?2, ?3, ?4)";
        for node in nodes {
            if node.level > 0 || self.scheme == Scheme::V1Sorted {
                self.connection.run(sql, (self.session.as_str(), node.level, node.index, node.hash.as_bytes()))?;
            }
        }
        Ok(())
    }

    /// Whether this very node is kept.
    pub(super) fn holds(&self, node: &Completed) -> Result<bool, Failure> {
        Ok(self.kept(node.level, node.index)? == Some(node.hash))
    }

    fn kept(&self, level: u32, index: u64) -> Result<Option<NodeHash>, Failure> {
        let sql = "SELECT hash FROM merkle_nodes WHERE session_id = ?1 AND level = ?2 AND node_index = ?3";
        Ok(self.connection.first_value(sql, (self.session.as_str(), level, index))?.map(NodeHash::new))
    }
}

impl Nodes for StoredNodes<'_> {
    type Error = Failure;

    fn node(&self, level: u32, index: u64) -> Result<NodeHash, Failure> {
        let missing = || damaged(&format!("node {index} of level {level} is missing"));
        if self.scheme == Scheme::V1Sorted {
            return self.kept(level, index)?.ok_or_else(missing);
        }
        // The last entry below a node is the one that completed it.
        let last = ((index + 1) << level) - 1;
        let Some(above) = level.checked_sub(1) else {
            let hash: Option<[u8; 32]> = self.connection.first_value(
                "SELECT content_hash FROM thought_records WHERE session_id = ?1 AND position = ?2",
                (self.session.as_str(), last),
            )?;
            return Ok(self.scheme.leaf(&ContentHash::new(hash.ok_or_else(missing)?)));
        };
        let hash: Option<Option<Vec<u8>>> = self.connection.first_value(
            "SELECT substr(nodes, ?3 * 32 + 1, 32) FROM thought_records WHERE session_id = ?1 AND position = ?2",
            (self.session.as_str(), last, above),
        )?;
        let hash = hash.flatten().and_then(|hash| <[u8; 32]>::try_from(hash).ok());
        hash.map(NodeHash::new).ok_or_else(missing)
    }
}
