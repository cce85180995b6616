//! Merges: one that is what git itself would have made of its parents needs no proof of its own. What somebody did by
//! hand in it, what a rename carried into a guarded file, and what had been undone before, does.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::commit::Judge;
use super::facts::Facts;
use super::replay::Before;
use crate::git::limits::cost;
use crate::git::{Allowance, ObjectError, Read};
use crate::proof::digest::{CommitId, TreeId};
use crate::proof::finding::Finding;
use crate::proof::grade::{Reason, Subject};
use crate::proof::merge::{Entry, PathChange};

/// Most commits of a merged branch that are looked at one by one.
const MAX_MERGED: usize = 2000;

/// What a merge is made of.
enum Made {
    /// What git makes of the parents by itself.
    Automatically,
    /// That, but these paths are other ones.
    ByHand(Vec<Vec<u8>>),
    /// It brings back what was undone before, at these paths.
    Again(Before, Vec<Vec<u8>>),
}

/// A merge of two and its merge bases.
#[derive(Debug, Default)]
pub(super) struct OverBases {
    bases: Vec<CommitId>,
    /// Whether rule 1 makes it of its parents over each base.
    clean: bool,
}

/// What a judged commit changes in one of its parents.
pub(super) struct Brought {
    paths: HashSet<Vec<u8>>,
    /// The tree of the judged commit, if git may have followed a rename when it made that tree.
    renamed: Option<TreeId>,
    /// The old and the new names of the files that either side renamed, if so.
    renames: HashMap<Vec<u8>, Vec<u8>>,
}

impl Brought {
    pub(super) fn new(change: &[PathChange]) -> Self {
        let paths = change.iter().map(|path| path.path.clone()).collect();
        Self { paths, renamed: None, renames: HashMap::new() }
    }

    /// A change with the new names of files: what it did to a file before that was renamed, or by renaming it. `None` if it
    /// touches no such file.
    fn renamed(&self, change: &[PathChange]) -> Option<Vec<PathChange>> {
        let mut by_path: BTreeMap<&[u8], PathChange> = BTreeMap::new();
        let mut any = false;
        for path in change {
            let new_name = self.renames.get(&path.path);
            any |= new_name.is_some();
            let name = new_name.unwrap_or(&path.path);
            let merged = by_path.entry(name).or_insert(PathChange { path: name.clone(), old: None, new: None });
            merged.old = merged.old.or(path.old);
            merged.new = merged.new.or(path.new);
        }
        any.then(|| by_path.into_values().filter(|path| path.old != path.new).collect())
    }
}

/// Why a merge must be anchored, and what there is to say of it.
pub(super) type Graded = (Option<Reason>, Option<Finding>);

impl Judge<'_> {
    /// Why a merge must be anchored.
    pub(super) fn grade_merge(&self, judged: &Facts) -> Read<Graded> {
        let commit = &judged.commit;
        let grader = &self.rules.grader;
        let subject = Subject {
            message: &commit.message,
            author: &commit.author,
            merge: false,
            touches_settings: false,
            paths: &[],
        };
        let settings = self.differing_settings(judged)?;
        // Where no rule could ask for a proof, however the merge was made, nothing need be merged again.
        if grader.reason(&subject).is_none() && !settings && !self.has_guarded_difference(judged)? {
            return Ok((grader.reason(&Subject { merge: true, ..subject }), None));
        }
        let touches = |paths: &[Vec<u8>]| paths.iter().any(|path| is_setting(path));
        let asks = |paths: &[Vec<u8>]| {
            grader.reason(&Subject { touches_settings: touches(paths), paths, ..subject }).is_some()
        };
        Ok(match self.made(judged, &asks)? {
            Made::Automatically => (grader.reason(&Subject { merge: true, ..subject }), None),
            Made::ByHand(paths) => {
                (grader.reason(&Subject { touches_settings: touches(&paths), paths: &paths, ..subject }), None)
            }
            Made::Again(before, paths) => {
                let reason = grader.reason(&Subject { touches_settings: touches(&paths), paths: &paths, ..subject });
                let finding = reason.is_some().then(|| before.finding().softened());
                (reason, finding)
            }
        })
    }

    /// Whether `.proof` is another one than in a parent.
    fn differing_settings(&self, judged: &Facts) -> Read<bool> {
        let settings = |tree: &TreeId| self.settings(tree);
        let own = settings(&judged.tree())?;
        for parent in judged.parent_trees(self.gatherer)? {
            if settings(parent)? != own {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What a tree has as `.proof`, whatever kind of thing that is.
    pub(super) fn settings(&self, tree: &TreeId) -> Read<Option<Entry>> {
        Ok(self.gatherer.git.file(tree, ".proof")?.map(|entry| entry.entry()))
    }

    /// Whether a path that a rule guards is another one than in a parent.
    fn has_guarded_difference(&self, judged: &Facts) -> Read<bool> {
        if !self.rules.grader.needs_paths() {
            return Ok(false);
        }
        for parent in judged.parent_trees(self.gatherer)? {
            let paths = self.gatherer.git.paths_between(Some(parent), &judged.tree())?;
            if paths.iter().any(|path| self.rules.grader.guards(path)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How a merge was made; of what it brings back, only what a rule asks for (by `asks`) counts.
    fn made(&self, judged: &Facts, asks: &dyn Fn(&[Vec<u8>]) -> bool) -> Read<Made> {
        let trees = judged.parent_trees(self.gatherer)?;
        let git = &self.gatherer.git;
        let [first, second] = trees else {
            // Nobody can say what came from where.
            return self.differs_from_any(judged).map(Made::ByHand);
        };
        let over_bases = self.over_bases(judged)?;
        let bases = &over_bases.bases;
        if bases.len() != 1 || !over_bases.clean {
            let merged = git.compare_with_merge(&judged.commit.parents, &judged.tree());
            match merged.ok().flatten() {
                Some(merged) if merged.is_automatic() => {
                    let carried = self.carried(judged, [first, second])?;
                    if !carried.is_empty() {
                        return Ok(Made::ByHand(carried));
                    }
                }
                // Where git stops and asks, or somebody changed another path, a rename may still have carried something.
                Some(mut merged) => {
                    merged.differing.extend(self.carried(judged, [first, second])?);
                    // An edit that no rule asks for must not hide what the merge brings back.
                    let again = if asks(&merged.differing) { None } else { self.made_again(judged, bases, asks)? };
                    return Ok(again.unwrap_or(Made::ByHand(merged.differing)));
                }
                None => return self.differs_from_any(judged).map(Made::ByHand),
            }
        }
        Ok(self.made_again(judged, bases, asks)?.unwrap_or(Made::Automatically))
    }

    /// The merge bases of a merge of two, and whether it is what rule 1 makes of its parents over each of them. A merge is
    /// asked about when it is judged, and again when it is one of those that another merge brings, so the answer is kept.
    fn over_bases(&self, merge: &Facts) -> Read<Rc<OverBases>> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        if let Some(known) = self.gatherer.over_bases.borrow().get(&merge.id()) {
            return Ok(Rc::clone(known));
        }
        let ([one, two], [first, second]) = (&merge.commit.parents[..], merge.parent_trees(self.gatherer)?) else {
            return Ok(Rc::default());
        };
        let bases = history.merge_bases(git, one, two)?;
        let (mut clean, mut limited) = (!bases.is_empty(), false);
        let made = git.diff(Some(first), Some(&merge.tree()))?;
        for base in &bases {
            let theirs = git.diff(Some(&history.node(git, base)?.tree), Some(second))?;
            let is_merge = git.is_merge(&theirs, Some(first), (&merge.tree(), &made), false, &mut Allowance::default());
            clean = clean
                && match is_merge {
                    Err(ObjectError::Limit(..)) => {
                        limited = true;
                        false
                    }
                    answer => answer?,
                };
            if !clean {
                break;
            }
        }
        let found = Rc::new(OverBases { bases, clean });
        // A limit that one commit reached must not decide about another.
        if !limited {
            self.gatherer.over_bases.borrow_mut().insert(merge.id(), Rc::clone(&found));
        }
        Ok(found)
    }

    /// What a merge of two parents brings back to either of them.
    fn made_again(&self, judged: &Facts, bases: &[CommitId], asks: &dyn Fn(&[Vec<u8>]) -> bool) -> Read<Option<Made>> {
        let [one, two] = &judged.commit.parents[..] else { return Ok(None) };
        for (parent, other) in [(one, two), (two, one)] {
            if let Some((before, paths)) = self.brought_back(judged, bases, [parent, other], asks)? {
                return Ok(Some(Made::Again(before, paths)));
            }
        }
        Ok(None)
    }

    /// Guarded paths that differ from both parents, and that one of them does not have: a rename has carried a change to
    /// them that was made elsewhere.
    fn carried(&self, judged: &Facts, parents: [&TreeId; 2]) -> Read<Vec<Vec<u8>>> {
        let git = &self.gatherer.git;
        let changes = |tree| git.diff(Some(tree), Some(&judged.tree()));
        let (first, second) = (changes(parents[0])?, changes(parents[1])?);
        let second: HashMap<Vec<u8>, PathChange> =
            second.into_iter().map(|change| (change.path.clone(), change)).collect();
        let guards = |path: &[u8]| self.rules.grader.guards(path) || is_setting(path);
        let carried = first.into_iter().filter(|one| {
            let lacks = |two: &PathChange| one.old.is_none() || two.old.is_none();
            one.new.is_some() && guards(&one.path) && second.get(&one.path).is_some_and(lacks)
        });
        Ok(carried.map(|change| change.path).collect())
    }

    /// Whether merging `other` brings back to `parent` what was applied there and undone: as a whole, or by one of the
    /// commits that are merged.
    fn brought_back(
        &self,
        judged: &Facts,
        bases: &[CommitId],
        [parent, other]: [&CommitId; 2],
        asks: &dyn Fn(&[Vec<u8>]) -> bool,
    ) -> Read<Option<(Before, Vec<Vec<u8>>)>> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        let paths = |change: &[PathChange]| -> Vec<Vec<u8>> { change.iter().map(|path| path.path.clone()).collect() };
        let merged = history.only(git, &[*other], &[*parent]);
        merged.complete()?;
        // A parent that the other one reaches brings nothing, and is in that one's history for the same reason.
        if merged.commits.is_empty() {
            return Ok(None);
        }
        if merged.commits.len() > MAX_MERGED {
            let why = format!("it brings more than {MAX_MERGED} commits");
            return Err(ObjectError::Limit(other.0, why));
        }
        let other_tree = history.node(git, other)?.tree;
        let change = git.diff(Some(&history.node(git, parent)?.tree), Some(&judged.tree()))?;
        let mut brought = Brought::new(&change);
        for path in change.iter().filter(|path| path.new.is_some()) {
            let theirs = git.entry_at(Some(&other_tree), &path.path)?;
            if theirs != path.new && (theirs.is_none() || path.old.is_none()) {
                brought.renamed = Some(judged.tree());
                break;
            }
        }
        if brought.renamed.is_some() {
            for base in bases {
                let base = history.node(git, base)?.tree;
                for side in [history.node(git, parent)?.tree, other_tree] {
                    let renames =
                        git.renames(&base, &side).map_err(|error| ObjectError::Limit(side.0, error.to_string()))?;
                    brought.renames.extend(renames.into_iter().map(|[old, new]| (old, new)));
                }
            }
        }
        for base in bases {
            let base = history.node(git, base)?.tree;
            let whole = git.diff(Some(&base), Some(&other_tree))?;
            // It also has what `parent` got in another way, and may have undone for good.
            let paths = paths(&whole);
            if asks(&paths)
                && self.brings(&brought, &whole)?
                && let Some(before) = self.brought_before(&whole, other, &brought, parent)?
            {
                return Ok(Some((before, paths)));
            }
        }
        for id in &merged.commits {
            let facts = self.gatherer.facts(id)?;
            if facts.is_merge() {
                if let Some(again) = self.merge_applied_before(&facts, &brought, parent, asks)? {
                    return Ok(Some(again));
                }
                continue;
            }
            let change = facts.diff(self.gatherer)?;
            // One that no rule asks for must not hide another. One whose paths all stay as they are in `parent` brings nothing.
            let paths = paths(&change);
            if asks(&paths)
                && self.brings(&brought, &change)?
                && let Some(before) = self.brought_before(&change, id, &brought, parent)?
            {
                return Ok(Some((before, paths)));
            }
        }
        Ok(None)
    }

    /// Whether what somebody did by hand in a merge was applied to what leads to `parent`, and undone there. It is compared
    /// with each parent of the merge, and counts only if it touches a path in `brought`: a merge whose paths all stay as
    /// they are in `parent` brings nothing back.
    pub(super) fn merge_applied_before(
        &self,
        merge: &Facts,
        brought: &Brought,
        parent: &CommitId,
        asks: &dyn Fn(&[Vec<u8>]) -> bool,
    ) -> Read<Option<(Before, Vec<Vec<u8>>)>> {
        let visited = self.gatherer.history.visited();
        // Whether a merge is clean is known, or soon asked, if it must be anchored whatever it touches. Otherwise look for
        // merge bases only where the paths matter.
        if asks(&[]) && self.over_bases(merge)?.clean {
            return self.charge(merge, visited).map(|()| None);
        }
        let all = self.differs_from_any(merge)?;
        if !asks(&all) || !self.brings_any(brought, &all)? {
            return self.charge(merge, visited).map(|()| None);
        }
        let own = self.made_by_hand(merge, all)?;
        for tree in merge.parent_trees(self.gatherer)? {
            let mut change = self.gatherer.git.diff(Some(tree), Some(&merge.tree()))?;
            change.retain(|path| own.contains(&path.path));
            let paths: Vec<Vec<u8>> = change.iter().map(|path| path.path.clone()).collect();
            if !asks(&paths) || !self.brings(brought, &change)? {
                continue;
            }
            if let Some(before) = self.brought_before(&change, &merge.id(), brought, parent)? {
                return Ok(Some((before, paths)));
            }
        }
        self.charge(merge, visited).map(|()| None)
    }

    /// Whether a change that was made in `head` has been applied to what leads to `parent`, and undone there: under the names
    /// that its files had then, or under those that they have now.
    fn brought_before(
        &self,
        change: &[PathChange],
        head: &CommitId,
        brought: &Brought,
        parent: &CommitId,
    ) -> Read<Option<Before>> {
        if let Some(before) = self.applied_before(change, head, parent)? {
            return Ok(Some(before));
        }
        match brought.renamed(change) {
            Some(renamed) => self.applied_before(&renamed, head, parent),
            None => Ok(None),
        }
    }

    /// Charges the walks since `visited`. Each merge takes walks of its own, and whoever pushes chooses how many there are.
    fn charge(&self, merge: &Facts, visited: u64) -> Read<()> {
        let visits = self.gatherer.history.visited() - visited;
        self.gatherer.git.meter.spend(visits * cost::VISIT).map_err(|why| ObjectError::Limit(merge.id().0, why))
    }

    /// The paths where a merge is not what rule 1 makes of its parents, over any of their merge bases. For a merge of three
    /// or more, and for parents without a merge base, these are `all` paths where it differs from a parent.
    fn made_by_hand(&self, merge: &Facts, all: Vec<Vec<u8>>) -> Read<HashSet<Vec<u8>>> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        let [first, second] = merge.parent_trees(self.gatherer)? else {
            return Ok(all.into_iter().collect());
        };
        let over_bases = self.over_bases(merge)?;
        if over_bases.bases.is_empty() {
            return Ok(all.into_iter().collect());
        }
        let mut own = HashSet::new();
        if over_bases.clean {
            return Ok(own);
        }
        let made = git.diff(Some(first), Some(&merge.tree()))?;
        let mut allowance = Allowance::default();
        let mut is_merge = |theirs: &[PathChange], made: &[PathChange]| {
            let is_merge = git.is_merge(theirs, Some(first), (&merge.tree(), made), false, &mut allowance);
            is_merge.or_else(|error| if matches!(error, ObjectError::Limit(..)) { Ok(false) } else { Err(error) })
        };
        for base in &over_bases.bases {
            let theirs = git.diff(Some(&history.node(git, base)?.tree), Some(second))?;
            let mut left: HashMap<&[u8], &PathChange> = made.iter().map(|path| (&path.path[..], path)).collect();
            for path in &theirs {
                let made = left.remove(&path.path[..]).map(std::slice::from_ref).unwrap_or_default();
                if !is_merge(std::slice::from_ref(path), made)? {
                    own.insert(path.path.clone());
                }
            }
            own.extend(left.into_keys().map(<[u8]>::to_vec));
        }
        Ok(own)
    }

    /// Whether a change may reach the judged commit: it touches a path where that commit differs from its parent. If git
    /// followed a rename, also if the judged commit lacks a file that the change leaves there: git may have applied the
    /// change to that file under its new name.
    fn brings(&self, brought: &Brought, change: &[PathChange]) -> Read<bool> {
        for path in change {
            if brought.paths.contains(&path.path) || path.new.is_some() && self.lacks(brought, &path.path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same for paths alone, whatever is done to them.
    fn brings_any(&self, brought: &Brought, paths: &[Vec<u8>]) -> Read<bool> {
        for path in paths {
            if brought.paths.contains(path) || self.lacks(brought, path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn lacks(&self, brought: &Brought, path: &[u8]) -> Read<bool> {
        let Some(tree) = &brought.renamed else { return Ok(false) };
        Ok(self.gatherer.git.entry_at(Some(tree), path)?.is_none())
    }

    /// The paths where a commit differs from any of its parents.
    fn differs_from_any(&self, judged: &Facts) -> Read<Vec<Vec<u8>>> {
        let mut paths = BTreeSet::new();
        for parent in judged.parent_trees(self.gatherer)? {
            paths.extend(self.gatherer.git.paths_between(Some(parent), &judged.tree())?);
        }
        Ok(paths.into_iter().collect())
    }
}

/// Whether a path is part of what decides about all others.
pub(super) fn is_setting(path: &[u8]) -> bool {
    path == b".proof" || path.starts_with(b".proof/")
}
