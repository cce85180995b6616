//! Ancestry from the commit objects alone: grafts, replace refs, shallow files and commit-graphs are ignored. Every
//! walk has a limit, because anyone who pushes can choose how long a history is.

use std::cell::{Cell, RefCell};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::rc::Rc;

use super::object::{ObjectError, Read};
use super::open::Git;
use crate::proof::digest::{CommitId, TreeId};

/// Most commits that are reachable from one commit and not from another, when a change is looked for among them.
pub const MAX_SEARCHED: usize = 20_000;
/// Most commits that one walk visits.
const MAX_VISITED: usize = 100_000;
/// Most commits below which nothing else is listed, for a list to be gone over again.
const MAX_LOWEST: usize = 64;
/// Most commits that are remembered between walks.
const MAX_KNOWN: usize = 200_000;

/// The parts of a commit that a walk needs.
#[derive(Debug)]
pub struct Node {
    pub tree: TreeId,
    pub parents: Vec<CommitId>,
    committed: i64,
}

/// The commits that one commit reaches and another does not.
#[derive(Debug)]
pub struct Only {
    /// Those commits, newest first by their own clocks.
    pub commits: Vec<CommitId>,
    /// Commits that both reach, as far as the walk came.
    pub shared: HashSet<CommitId>,
    /// Why there may be more of them than were found.
    pub incomplete: Option<ObjectError>,
}

impl Only {
    /// Fails where the walk did not see everything.
    pub fn complete(&self) -> Read<()> {
        self.incomplete.clone().map_or(Ok(()), Err)
    }
}

/// Commits that were read for walks, each once.
#[derive(Debug, Default)]
pub struct History {
    known: RefCell<HashMap<CommitId, Rc<Node>>>,
    visited: Cell<u64>,
}

const OURS: u8 = 1;
const THEIRS: u8 = 2;

impl History {
    pub fn node(&self, git: &Git, id: &CommitId) -> Read<Rc<Node>> {
        if let Some(node) = self.known.borrow().get(id) {
            return Ok(Rc::clone(node));
        }
        let commit = git.commit(id)?;
        let node = Rc::new(Node { tree: commit.tree, parents: commit.parents, committed: commit.committed });
        let mut known = self.known.borrow_mut();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(*id, Rc::clone(&node));
        Ok(node)
    }

    /// How many commits all walks have visited so far.
    pub fn visited(&self) -> u64 {
        self.visited.get()
    }

    /// The commits that `ours` reach, themselves included, and `theirs` do not.
    ///
    /// If a child's clock is behind its parent's, the list may also hold a commit that both reach, when excluding it
    /// would take longer than half of the walk again. The caller then searches more than it needs to, never less. An
    /// always exact list was tried: where hundreds of branches meet it takes three to ten times as long as the walk.
    pub fn only(&self, git: &Git, ours: &[CommitId], theirs: &[CommitId]) -> Only {
        let (mut only, visits) = self.walk(git, ours, theirs);
        if !theirs.is_empty() && only.incomplete.is_none() {
            self.take_out_shared(git, &mut only, theirs, visits);
        }
        only
    }

    /// The same by clocks alone, and how many visits it took. They decide what is visited first, and commits of one second
    /// are visited whichever way. If a clock is wrong, a commit that both reach may be listed.
    fn walk(&self, git: &Git, ours: &[CommitId], theirs: &[CommitId]) -> (Only, usize) {
        let mut walk = Walk::new(self, git);
        for id in theirs {
            walk.mark(id, THEIRS);
        }
        for id in ours {
            walk.mark(id, OURS);
        }
        let (only, visits) = walk.run();
        self.visited.set(self.visited.get() + visits as u64);
        (only, visits)
    }

    /// Takes commits that `theirs` reach out of a list, whatever the clocks say.
    ///
    /// If `theirs` reach a listed commit, they reach one of the lowest, below which nothing is listed. So they are followed
    /// up to commits that all of the lowest reach: those cannot lead back to one of them.
    fn take_out_shared(&self, git: &Git, only: &mut Only, theirs: &[CommitId], visits: usize) {
        let listed: HashSet<CommitId> = only.commits.iter().copied().collect();
        let mut lowest = Vec::new();
        for id in &only.commits {
            let Ok(node) = self.node(git, id) else { return };
            if !node.parents.iter().any(|parent| listed.contains(parent)) {
                lowest.push(*id);
            }
        }
        if lowest.is_empty() || lowest.len() > MAX_LOWEST {
            return;
        }
        let mut walk = Chase { history: self, git, marks: HashMap::new(), queue: BinaryHeap::new(), open: 0, all: 0 };
        for (number, id) in lowest.iter().enumerate() {
            walk.all |= 1 << number;
            walk.mark(id, false, 1 << number);
        }
        for id in theirs {
            walk.mark(id, true, 0);
        }
        walk.run(100 + visits / 2);
        let (shared, commits) = only.commits.iter().partition(|id| walk.marks.get(id).is_some_and(|mark| mark.theirs));
        only.commits = commits;
        only.shared.extend::<Vec<CommitId>>(shared);
    }

    /// Whether one commit is another, or an ancestor of it. This is exact: all commits between the two are visited.
    pub fn reaches(&self, git: &Git, from: &CommitId, to: &CommitId) -> Read<bool> {
        if from == to {
            return Ok(true);
        }
        let (only, _) = self.walk(git, &[*from], &[*to]);
        if only.shared.contains(to) {
            return Ok(true);
        }
        only.complete().map(|()| false)
    }

    /// The best common ancestors of two commits: those that no other common ancestor reaches.
    pub fn merge_bases(&self, git: &Git, one: &CommitId, two: &CommitId) -> Read<Vec<CommitId>> {
        if one == two {
            return Ok(vec![*one]);
        }
        // The first commits on either side's way that both reach. One that another reaches is none of the best. A wrong
        // clock may hide one of the best from the walk that begins on the side with the later clocks, not from the other.
        let mut found: Vec<CommitId> = Vec::new();
        for (ours, theirs) in [(one, two), (two, one)] {
            let (only, _) = self.walk(git, &[*ours], &[*theirs]);
            only.complete()?;
            let lonely: HashSet<&CommitId> = only.commits.iter().collect();
            if !lonely.contains(ours) {
                // `theirs` reaches it.
                return Ok(vec![*ours]);
            }
            for id in &only.commits {
                let parents = self.node(git, id)?;
                found.extend(parents.parents.iter().filter(|parent| !lonely.contains(parent)));
            }
        }
        found.sort_unstable();
        found.dedup();
        let mut best = Vec::new();
        for (at, candidate) in found.iter().enumerate() {
            let mut others = found.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
            let reached = others.try_fold(false, |any, other| Ok(any || self.reaches(git, other, candidate)?))?;
            if !reached {
                best.push(*candidate);
            }
        }
        Ok(best)
    }
}

/// A walk from two sides.
struct Walk<'a> {
    history: &'a History,
    git: &'a Git,
    marks: HashMap<CommitId, u8>,
    queue: BinaryHeap<(i64, CommitId)>,
    queued: HashSet<CommitId>,
    /// How many in the queue only we reach.
    lonely: usize,
    visited: Vec<CommitId>,
    incomplete: Option<ObjectError>,
}

impl<'a> Walk<'a> {
    fn new(history: &'a History, git: &'a Git) -> Self {
        Self {
            history,
            git,
            marks: HashMap::new(),
            queue: BinaryHeap::new(),
            queued: HashSet::new(),
            lonely: 0,
            visited: Vec::new(),
            incomplete: None,
        }
    }

    /// Marks a commit as reached by a side, and has it visited if that is news.
    fn mark(&mut self, id: &CommitId, side: u8) {
        let before = self.marks.get(id).copied().unwrap_or(0);
        let after = before | side;
        if after == before {
            return;
        }
        let node = match self.history.node(self.git, id) {
            Ok(node) => node,
            Err(error) => {
                self.marks.insert(*id, after);
                // On their side a missing commit only means that more seems to be ours alone.
                if after == OURS {
                    self.incomplete.get_or_insert(error);
                }
                return;
            }
        };
        self.marks.insert(*id, after);
        if self.queued.insert(*id) {
            self.queue.push((node.committed, *id));
            self.lonely += usize::from(after == OURS);
        } else if before == OURS {
            self.lonely -= 1;
        }
    }

    /// Walks to the end, and says how many visits it took.
    fn run(mut self) -> (Only, usize) {
        let mut visits = 0;
        let mut oldest = i64::MAX;
        // Past the last commit that seems to be ours alone, the other side may still lead to one of those that were visited.
        while let Some((committed, id)) = self.queue.pop()
            && (self.lonely > 0 || committed >= oldest)
        {
            self.queued.remove(&id);
            let mark = self.marks.get(&id).copied().unwrap_or(0);
            if mark == OURS {
                self.lonely -= 1;
                self.visited.push(id);
                oldest = oldest.min(committed);
            }
            visits += 1;
            if visits > MAX_VISITED || self.visited.len() > MAX_SEARCHED {
                let limit = if visits > MAX_VISITED { MAX_VISITED } else { MAX_SEARCHED };
                let why = format!("more than {limit} commits lie between it and where the histories meet");
                self.incomplete = Some(ObjectError::Limit(id.0, why));
                break;
            }
            let Ok(node) = self.history.node(self.git, &id) else { continue };
            for parent in &node.parents {
                self.mark(parent, mark);
            }
        }
        let marks = &self.marks;
        let is = |id: &CommitId, mark: u8| marks.get(id).is_some_and(|found| *found == mark);
        let commits = self.visited.iter().copied().filter(|id| is(id, OURS)).collect();
        let shared = marks.iter().filter(|(_, mark)| **mark == OURS | THEIRS).map(|(id, _)| *id).collect();
        (Only { commits, shared, incomplete: self.incomplete }, visits)
    }
}

/// The state of a commit while `theirs` are followed.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    /// Whether they reach it.
    theirs: bool,
    /// The lowest commits that reach it, one bit for each.
    lowest: u64,
    queued: bool,
}

/// A walk from `theirs` that ends where it cannot lead to one of the lowest commits of a list any more.
struct Chase<'a> {
    history: &'a History,
    git: &'a Git,
    marks: HashMap<CommitId, Mark>,
    queue: BinaryHeap<(i64, CommitId)>,
    /// How many in the queue may still lead to one.
    open: usize,
    /// The bits of all of the lowest.
    all: u64,
}

impl Chase<'_> {
    fn is_open(&self, mark: Mark) -> bool {
        mark.queued && mark.theirs && mark.lowest != self.all
    }

    fn mark(&mut self, id: &CommitId, theirs: bool, lowest: u64) {
        let before = self.marks.get(id).copied().unwrap_or_default();
        let mut after = Mark { theirs: before.theirs | theirs, lowest: before.lowest | lowest, ..before };
        if (after.theirs, after.lowest) == (before.theirs, before.lowest) {
            return;
        }
        // A commit that is not in this clone leads nowhere.
        if let (false, Ok(node)) = (before.queued, self.history.node(self.git, id)) {
            self.queue.push((node.committed, *id));
            after.queued = true;
        }
        self.open = self.open + usize::from(self.is_open(after)) - usize::from(self.is_open(before));
        self.marks.insert(*id, after);
    }

    /// Walks to the end, or for so many visits. Whatever is marked then is marked rightly.
    fn run(&mut self, most: usize) {
        for _ in 0..most {
            if self.open == 0 {
                return;
            }
            let Some((_, id)) = self.queue.pop() else { return };
            let Some(mark) = self.marks.get(&id).copied() else { return };
            self.open -= usize::from(self.is_open(mark));
            self.marks.insert(id, Mark { queued: false, ..mark });
            let Ok(node) = self.history.node(self.git, &id) else { continue };
            for parent in &node.parents {
                self.mark(parent, mark.theirs, mark.lowest);
            }
        }
    }
}
