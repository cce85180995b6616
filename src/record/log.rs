//! `log`, `show`, `tree`, `trail`: reading what was recorded.

use std::borrow::Cow;
use std::collections::HashMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::close::RootOutcome;
use super::correct::add_corrections;
use super::restore::bring_back;
use super::view::{EntryView, SessionView};
use super::workspace::{Workspace, parse_id};
use crate::error::Result;
use crate::store::EventSpan;

/// A session with its entries.
#[derive(Debug, Clone, Serialize)]
pub struct LogOutcome {
    pub session: SessionView,
    /// Its root, if it is finalized.
    pub root: Option<RootOutcome>,
    /// Its entries in order of recording, or the newest of them.
    pub entries: Vec<EntryView>,
}

/// The entries of a session, or the newest `limit` of them.
pub fn log(workspace: &mut Workspace, session: Option<&str>, limit: Option<u64>) -> Result<LogOutcome> {
    let session = workspace.session(session)?;
    let mut log = workspace.store_of(&session)?.log_within(&session, limit, workspace.most)?;
    if bring_back(workspace, &session, &mut log.entries)? {
        log = workspace.store.log_within(&session, limit, workspace.most)?;
    }
    let mut entries = log.entries.iter().map(EntryView::of).collect::<Result<Vec<_>>>()?;
    add_corrections(workspace, &mut entries)?;
    let imported = workspace.is_imported(&session)?;
    Ok(LogOutcome { session: SessionView { imported, ..SessionView::from(&log.session) }, root: log.root, entries })
}

/// The sessions of a store.
#[derive(Debug, Clone, Serialize)]
pub struct SessionList {
    /// Newest first.
    pub sessions: Vec<SessionView>,
}

/// The newest sessions, those of other clones included.
pub fn sessions(workspace: &Workspace, limit: u32) -> Result<SessionList> {
    let mut sessions: Vec<SessionView> = workspace.store.sessions(limit)?.iter().map(SessionView::from).collect();
    if let Some(imported) = workspace.imported()? {
        for row in imported.sessions(limit)? {
            if workspace.is_imported(row.id())? {
                sessions.push(SessionView { imported: true, ..SessionView::from(&row) });
            }
        }
        sessions.sort_by_key(|session| std::cmp::Reverse(session.started_at));
        sessions.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    Ok(SessionList { sessions })
}

/// One entry, and where it comes from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ShowOutcome {
    #[serde(flatten)]
    pub entry: EntryView,
    /// The calls since the entry before it.
    pub provenance: Provenance,
}

/// The lines of the ledger between two entries of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Provenance {
    /// Number of the first.
    pub from: i64,
    /// Number of the last: the call that made the entry.
    pub to: i64,
    /// The calls by name, each once.
    pub tools: Vec<String>,
}

/// One entry.
pub fn show(workspace: &mut Workspace, record: &str) -> Result<ShowOutcome> {
    let record = parse_id("the record", record)?;
    let mut stored = workspace.store_of_record(&record)?.entry(&record)?;
    let session = stored.session_id.clone();
    if bring_back(workspace, &session, std::slice::from_mut(&mut stored))? {
        stored = workspace.store.entry(&record)?;
    }
    let EventSpan { from, to, tools } = workspace.store_of_record(&record)?.provenance(&stored)?;
    let mut entry = EntryView::of(&stored)?;
    add_corrections(workspace, std::slice::from_mut(&mut entry))?;
    Ok(ShowOutcome { entry, provenance: Provenance { from, to, tools } })
}

/// The entries from the first one to this one, along the parents.
pub fn trail(workspace: &mut Workspace, record: &str) -> Result<Vec<EntryView>> {
    let record = parse_id("the record", record)?;
    let mut trail = workspace.store_of_record(&record)?.trail_within(&record, workspace.most)?;
    let session = trail.first().map(|entry| entry.session_id.clone());
    if let Some(session) = session
        && bring_back(workspace, &session, &mut trail)?
    {
        trail = workspace.store.trail_within(&record, workspace.most)?;
    }
    let mut entries = trail.iter().map(EntryView::of).collect::<Result<Vec<_>>>()?;
    add_corrections(workspace, &mut entries)?;
    Ok(entries)
}

/// A session as a tree: its entries, of which each names the one that it follows.
#[derive(Debug, Clone)]
pub struct TreeOutcome {
    pub session: SessionView,
    /// Its entries in order of recording.
    pub entries: Vec<EntryView>,
}

/// Entries that follow one another further than this are not nested: an entry takes two levels of JSON, and common
/// readers stop at 128.
const MAX_NESTING: usize = 40;

/// The entries of a session as a tree.
pub fn tree(workspace: &mut Workspace, session: Option<&str>) -> Result<TreeOutcome> {
    let LogOutcome { session, entries, .. } = log(workspace, session, None)?;
    Ok(TreeOutcome { session, entries })
}

/// A session as programs get it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TreeData {
    /// Each entry with what follows it.
    Nested {
        session: SessionView,
        /// The entries whose parent is the genesis.
        children: Vec<TreeNode>,
    },
    /// A session in which too much follows one another: each entry names its parent.
    Flat {
        session: SessionView,
        /// Its entries in order of recording.
        entries: Vec<EntryView>,
    },
}

/// An entry with the entries that follow it.
#[derive(Debug, Clone, Serialize)]
pub struct TreeNode {
    #[serde(flatten)]
    pub entry: EntryView,
    /// What follows it, in order of recording.
    pub children: Vec<TreeNode>,
}

/// By hand only because the derived one would say all of an entry twice.
impl JsonSchema for TreeNode {
    fn schema_name() -> Cow<'static, str> {
        "Node".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (entry, children) = (generator.subschema_for::<EntryView>(), generator.subschema_for::<Vec<Self>>());
        json_schema!({ "allOf": [entry], "properties": { "children": children }, "required": ["children"] })
    }
}

impl TreeOutcome {
    /// For each entry, the position of the one that it follows; `None` for the genesis.
    pub fn parents(&self) -> Vec<Option<usize>> {
        let positions: HashMap<_, _> = self.entries.iter().enumerate().map(|(at, entry)| (&entry.id, at)).collect();
        let parent = |entry: &EntryView| entry.parent_id.as_ref().and_then(|parent| positions.get(parent)).copied();
        // A parent comes before its child; where a damaged store says otherwise, `check` has the word.
        self.entries.iter().enumerate().map(|(at, entry)| parent(entry).filter(|parent| *parent < at)).collect()
    }

    /// The tree for programs.
    pub fn into_data(self) -> TreeData {
        let parents = self.parents();
        let mut depths: Vec<usize> = Vec::with_capacity(parents.len());
        for parent in &parents {
            depths.push(parent.map_or(1, |parent| depths[parent] + 1));
        }
        if depths.iter().any(|depth| *depth > MAX_NESTING) {
            return TreeData::Flat { session: self.session, entries: self.entries };
        }
        // Children come after their parents, so building from the end moves every node exactly once.
        let mut waiting: Vec<Vec<TreeNode>> = vec![Vec::new(); parents.len()];
        let mut roots = Vec::new();
        for ((at, entry), parent) in self.entries.into_iter().enumerate().zip(&parents).rev() {
            let mut children = std::mem::take(&mut waiting[at]);
            children.reverse();
            let node = TreeNode { entry, children };
            match parent {
                Some(parent) => waiting[*parent].push(node),
                None => roots.push(node),
            }
        }
        roots.reverse();
        TreeData::Nested { session: self.session, children: roots }
    }
}
