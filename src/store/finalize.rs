//! Finalizing: the chain is verified once more, the right edge of the tree is written, and the root with it.

use rusqlite::Connection;

use super::check::{self, Break, BreakReason, ChainCheck};
use super::nodes::StoredNodes;
use super::read;
use super::session::{self, SessionRow};
use super::{Failure, NewEntry, NewEvent, Store, Watcher, append, damaged, event};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::{ChainHash, ContentHash, RootHash};
use crate::proof::evidence::Summary;
use crate::proof::inclusion::InclusionProof;
use crate::proof::record::{Id, RecordType};
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;
use crate::proof::tree::{self, Nodes as _, Tree};
use crate::store::query::Query as _;

/// A finalized session.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct RootRow {
    pub session_id: Id,
    pub scheme: Scheme,
    pub genesis: ChainHash,
    /// Chain hash of its last entry.
    pub head: ChainHash,
    pub root: RootHash,
    /// Number of its entries.
    pub count: u64,
    /// The same, under the name that the protocol's source gives it.
    pub record_count: u64,
    /// When it was finalized.
    pub finalized_at: Timestamp,
}

impl RootRow {
    /// Whether evidence adds up to this root.
    pub fn is_of(&self, evidence: &Summary) -> bool {
        self.root == evidence.root
            && self.record_count == evidence.count
            && self.head == evidence.head
            && self.genesis == evidence.genesis
            && self.scheme == evidence.opening.scheme
            && self.session_id == evidence.opening.session_id
    }
}

impl Store {
    /// Finalizes a session. The answer is its row, and whether it is new: a finalized tree is never built again.
    pub fn finalize(&mut self, session: &Id, event: &NewEvent<'_>) -> Result<(RootRow, bool)> {
        let watcher = self.watcher.clone();
        self.write(|transaction| finalize_in(transaction, session, event, watcher.as_ref()))
    }

    /// Appends the last entries of a session and finalizes it, or does neither.
    pub fn close(&mut self, session: &Id, entries: &[NewEntry<'_>], event: &NewEvent<'_>) -> Result<(RootRow, bool)> {
        let watcher = self.watcher.clone();
        self.write(|transaction| {
            if let Some(stored) = find(transaction, session)? {
                return Ok((stored, false));
            }
            let row = append::takes_entries(transaction, session)?;
            append::append_all(transaction, &row, entries, event)?;
            finalize_in(transaction, session, event, watcher.as_ref())
        })
    }

    pub fn root(&self, session: &Id) -> Result<Option<RootRow>> {
        self.read(|connection| {
            session::find(connection, session)?;
            find(connection, session)
        })
    }

    /// Whether a session was recorded here and ended with this root.
    pub fn recorded(&self, session: &Id, root: &RootHash, count: u64) -> bool {
        let row = self.root(session).ok().flatten();
        row.is_some_and(|row| row.root == *root && row.record_count == count)
    }

    /// Root and count as they are now, finalized or not; `None` for a session without entries.
    pub fn running_root(&self, session: &Id) -> Result<Option<(RootHash, u64)>> {
        self.read(|connection| {
            let row = session::find(connection, session)?;
            let root = with_tree(connection, &row, |tree| match tree {
                SessionTree::Stored(nodes) => tree::root(row.scheme(), nodes, row.count),
                SessionTree::Sorted(tree) => Ok(tree.root()),
            })?;
            Ok(root.map(|root| (root, row.count)))
        })
    }

    /// The inclusion proof of an entry in the tree as it is now, finalized or not.
    pub fn prove(&self, record: &Id) -> Result<InclusionProof> {
        self.read(|connection| {
            let entry = read::find(connection, record)?;
            let row = session::find(connection, &entry.session_id)?;
            let (scheme, count) = (row.scheme(), row.count);
            let missing = || damaged("an entry that is not in its tree");
            let (index, steps, root) = with_tree(connection, &row, |tree| {
                Ok(match tree {
                    SessionTree::Stored(nodes) => {
                        let index = match scheme {
                            Scheme::V1Sorted => sorted_index(nodes, count, &entry.content_hash)?.ok_or_else(missing)?,
                            _ => entry.index,
                        };
                        (index, tree::path(scheme, nodes, count, index)?, tree::root(scheme, nodes, count)?)
                    }
                    SessionTree::Sorted(tree) => {
                        let index = sorted_index(tree, count, &entry.content_hash)?.ok_or_else(missing)?;
                        (index, tree.path(index), tree.root())
                    }
                })
            })?;
            let (steps, root) = steps.zip(root).ok_or_else(missing)?;
            Ok(InclusionProof { scheme, leaf_hash: entry.content_hash, index, count, steps, root })
        })
    }
}

/// The next step for a session that no reflection closes. A session that has ended takes no reflection any more, so
/// another session must explain its commits.
fn way_out(transaction: &Connection, row: &SessionRow) -> Result<Step, Failure> {
    let session = row.id();
    if row.ended_at.is_none() {
        return Ok(Step::Done(session.to_string()));
    }
    let attested = super::anchor::attested(transaction, session)?;
    let commits: Vec<String> =
        attested.iter().filter_map(|said| said.commit).map(|commit| commit.to_string()[..12].to_owned()).collect();
    Ok(if commits.is_empty() { Step::StartAnew(session.to_string()) } else { Step::Cover(commits.join(" ")) })
}

/// Finalizes a session inside a transaction.
fn finalize_in(
    transaction: &Connection,
    session: &Id,
    event: &NewEvent<'_>,
    watcher: Option<&Watcher>,
) -> Result<(RootRow, bool), Failure> {
    let row = session::find(transaction, session)?;
    if let Some(stored) = find(transaction, session)? {
        return Ok((stored, false));
    }
    let refused = |code, why: &str| -> Result<_, Failure> {
        Err(Error::new(code, format!("session {session} {why}"))
            .hint(way_out(transaction, &row)?)
            .details(serde_json::json!({ "session_id": session }))
            .into())
    };
    if row.count == 0 {
        return refused(Code::NoRecords, "has no records");
    }
    let check = check::check(transaction, &row, watcher)?;
    if let Some(broken) = &check.broken {
        return Err(Error::new(Code::ChainBroken, format!("session {session} does not verify: {}", broken.explain()))
            .hint(hint!(Step::Check(session.to_string()), " shows the break"; "a broken session cannot be finalized"))
            .details(broken.details())
            .into());
    }
    if row.opening.proof_grade && check.last_kind != Some(RecordType::Reflection) {
        return refused(Code::ReflectionRequired, "is proof-grade and does not end in a reflection");
    }
    if row.opening.proof_grade && is_private(transaction, &row)? {
        let why = "is proof-grade and ends in a private reflection, which is not published";
        return refused(Code::ReflectionRequired, why);
    }
    let stored = close(transaction, &row, check.head, check.root, event.at)?;
    let detail = format!("root {} count {}", stored.root, row.count);
    event::write(transaction, Some(session), event, Some(&detail))?;
    Ok((stored, true))
}

/// The tree of a session: in the store, or put together for an open session whose leaves are to be sorted.
enum SessionTree<'a> {
    Stored(&'a StoredNodes<'a>),
    Sorted(&'a Tree),
}

fn with_tree<T>(
    connection: &Connection,
    row: &SessionRow,
    work: impl FnOnce(SessionTree<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if row.scheme() == Scheme::V1Sorted && !row.finalized {
        work(SessionTree::Sorted(&sorted_tree(connection, row)?))
    } else {
        work(SessionTree::Stored(&StoredNodes { connection, session: row.id(), scheme: row.scheme() }))
    }
}

/// Sorting needs all leaves: the one scheme whose running root costs the whole session.
fn sorted_tree(connection: &Connection, row: &SessionRow) -> Result<Tree, Failure> {
    let sql = "SELECT content_hash FROM thought_records WHERE session_id = ?1";
    let mut leaves = connection.all(sql, [row.id().as_str()], |row| Ok(ContentHash::new(row.get(0)?)))?;
    leaves.sort_unstable();
    let mut tree = Tree::new(Scheme::V1Sorted);
    for leaf in &leaves {
        tree.push(Scheme::V1Sorted.leaf(leaf));
    }
    Ok(tree)
}

/// The index of a leaf among sorted leaves.
fn sorted_index<N: tree::Nodes>(nodes: &N, count: u64, leaf: &ContentHash) -> Result<Option<u64>, N::Error> {
    let leaf = Scheme::V1Sorted.leaf(leaf);
    let (mut from, mut to) = (0, count);
    while from < to {
        let middle = from + (to - from) / 2;
        if nodes.node(0, middle)? < leaf { from = middle + 1 } else { to = middle }
    }
    Ok(if from < count && nodes.node(0, from)? == leaf { Some(from) } else { None })
}

/// The nodes that finalizing adds: the right edge, and in `v1-sorted` everything, for only now the order is known.
fn closing_nodes(connection: &Connection, row: &SessionRow) -> Result<Vec<tree::Completed>, Failure> {
    let (scheme, count) = (row.scheme(), row.count);
    let mut closing = Vec::new();
    let edge = if scheme == Scheme::V1Sorted {
        let sorted = sorted_tree(connection, row)?;
        for level in 0..u64::BITS {
            closing.extend((0..(count >> level)).map(|index| {
                let Ok(hash) = sorted.node(level, index);
                tree::Completed { level, index, hash }
            }));
        }
        let Ok(edge) = tree::edge(scheme, &sorted, count);
        edge
    } else {
        tree::edge(scheme, &StoredNodes { connection, session: row.id(), scheme }, count)?
    };
    let edge =
        (0..).zip(edge).filter_map(|(level, hash)| Some(tree::Completed { level, index: count >> level, hash: hash? }));
    closing.extend(edge);
    Ok(closing)
}

/// Writes what is left of the tree and returns its root.
fn keep_closing_nodes(connection: &Connection, row: &SessionRow) -> Result<RootHash, Failure> {
    let nodes = StoredNodes { connection, session: row.id(), scheme: row.scheme() };
    nodes.keep(&closing_nodes(connection, row)?)?;
    tree::root(row.scheme(), &nodes, row.count)?.ok_or_else(|| damaged("a tree without leaves"))
}

/// Writes the root of a session whose entries were verified and add up to it.
pub(super) fn close(
    connection: &Connection,
    row: &SessionRow,
    head: ChainHash,
    verified: Option<RootHash>,
    finalized_at: Timestamp,
) -> Result<RootRow, Failure> {
    let root = keep_closing_nodes(connection, row)?;
    if Some(root) != verified {
        return Err(damaged("the stored tree is not the tree over the entries"));
    }
    let stored = RootRow {
        session_id: row.id().clone(),
        scheme: row.scheme(),
        genesis: row.genesis,
        head,
        root,
        count: row.count,
        record_count: row.count,
        finalized_at,
    };
    insert(connection, &stored)?;
    Ok(stored)
}

/// Whether the last entry of a session is private.
fn is_private(connection: &Connection, row: &SessionRow) -> Result<bool, Failure> {
    connection.value(
        "SELECT private FROM thought_records WHERE session_id = ?1 ORDER BY position DESC LIMIT 1",
        [row.id().as_str()],
    )
}

/// Whether what finalizing added is still what it would add.
fn closing_nodes_hold(connection: &Connection, row: &SessionRow) -> Result<bool, Failure> {
    let nodes = StoredNodes { connection, session: row.id(), scheme: row.scheme() };
    for node in closing_nodes(connection, row)? {
        if !nodes.holds(&node)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn insert(connection: &Connection, row: &RootRow) -> Result<(), Failure> {
    connection.run(
        "INSERT INTO merkle_roots (session_id, root, record_count, finalized_at, scheme, genesis, head) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (
            row.session_id.as_str(),
            row.root.as_bytes(),
            row.record_count,
            row.finalized_at.as_str(),
            row.scheme.as_str(),
            row.genesis.as_bytes(),
            row.head.as_bytes(),
        ),
    )?;
    Ok(())
}

pub(super) fn find(connection: &Connection, session: &Id) -> Result<Option<RootRow>, Failure> {
    let sql = "SELECT root, record_count, finalized_at, scheme, genesis, head FROM merkle_roots WHERE session_id = ?1";
    connection.first(sql, [session.as_str()], |row| {
        Ok(RootRow {
            session_id: session.clone(),
            scheme: row.get(3)?,
            genesis: ChainHash::new(row.get(4)?),
            head: ChainHash::new(row.get(5)?),
            root: RootHash::new(row.get(0)?),
            count: row.get(1)?,
            record_count: row.get(1)?,
            finalized_at: row.get(2)?,
        })
    })
}

/// The point at which the stored root and the entries disagree.
pub(super) fn root_break(
    connection: &Connection,
    row: &SessionRow,
    check: &ChainCheck,
) -> Result<Option<Break>, Failure> {
    let Some(stored) = find(connection, row.id())? else { return Ok(None) };
    let holds = Some(stored.root) == check.root
        && closing_nodes_hold(connection, row)?
        && stored.record_count == check.records
        && stored.head == check.head
        && stored.genesis == row.genesis
        && stored.scheme == row.scheme();
    Ok((!holds).then(|| Break {
        index: check.records,
        id: row.id().to_string(),
        reason: BreakReason::RootMismatch,
        expected: check.root.map_or_else(String::new, |root| root.to_string()),
        actual: stored.root.to_string(),
    }))
}
