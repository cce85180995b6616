//! Long ranges: two threads prefetch the notes and evidence that will be asked for, in the order in which git keeps them.
//!
//! Notes and evidence are found by hashes, and asked for in the order of the history; in a pack they stand in neither,
//! most as a difference to the one before. Read as they are asked for, each costs the some twenty-five before it, and the
//! more there are the less a cache helps. What could not be prefetched is read, or reported, when it is asked for.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, Sender};
use std::thread;

use super::commit;
use super::evidence::Gathered;
use super::gather::Gatherer;
use super::note::Note;
use super::rules::Rules;
use super::verdict::CommitVerdict;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{Git, Place};
use crate::proof::digest::{CommitId, ObjectId, RootHash};
use crate::store::Store;

/// What was prefetched and not asked for yet.
#[derive(Debug, Default)]
pub(super) struct Prefetched {
    pub(super) notes: HashMap<CommitId, Arc<Note>>,
    pub(super) evidence: HashMap<RootHash, Arc<Gathered>>,
}

/// Most bytes that are kept of what was prefetched: anyone may write a note, and have many commits share it.
const MOST: usize = 64 << 20;

/// Commits of which notes and evidence are prefetched at once: of 100,000, all at once took 270 MiB, 20,000 at a time 258.
const AT_ONCE: usize = 4_000;

/// Commits after which whoever waits is told how many have been judged.
const TOLD_EVERY: usize = 16;

/// Something that is in a pack.
type Placed<K> = (Place, K, ObjectId);

/// Something that the other thread is to do.
type Job<'env> = Box<dyn FnOnce(&mut Gatherer<'_>) + Send + 'env>;

/// Judges commits, in their order. `reopen` opens the repository and its store for the other thread, in that thread: neither
/// libgit2 nor what was gathered can be shared.
pub(super) fn judge(
    context: &Context,
    gatherer: &mut Gatherer<'_>,
    reopen: impl FnOnce() -> Result<(Git, Option<Store>)> + Send,
    rules: &Rules,
    commits: &[CommitId],
) -> Result<Vec<CommitVerdict>> {
    let wanted = gatherer.wanted;
    let (left, judged) = (AtomicUsize::new(MOST), AtomicUsize::new(0));
    let judged = &judged;
    context.tell_progress(0, commits.len());
    thread::scope(|scope| {
        let (jobs, list) = mpsc::channel::<Job<'_>>();
        let other = scope.spawn(move || -> Result<()> {
            let (git, store) = reopen()?;
            let mut gatherer = Gatherer::new(&git, store.as_ref(), wanted)?;
            for job in list {
                job(&mut gatherer);
            }
            Ok(())
        });
        let mut two = Two { here: gatherer, there: jobs, left: &left };
        let mut verdicts = Some(Vec::with_capacity(commits.len()));
        for part in commits.chunks(AT_ONCE) {
            left.store(MOST, Relaxed);
            let judge = move |gatherer: &Gatherer<'_>, id| {
                let verdict = commit::judge(gatherer, rules, &id);
                let count = judged.fetch_add(1, Relaxed) + 1;
                if count.is_multiple_of(TOLD_EVERY) {
                    context.tell_progress(count, commits.len());
                }
                Some(verdict)
            };
            let done = two.prefetch(part).and_then(|()| two.share(part.to_vec(), judge));
            verdicts = verdicts.zip(done).map(|(mut all, done)| {
                all.extend(done);
                all
            });
        }
        drop(two);
        context.tell_progress(commits.len(), commits.len());
        other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        verdicts.ok_or_else(|| Error::new(Code::RepositoryFailed, "a thread ended before its work was done"))
    })
}

/// A gatherer here, and the way to the other. An answer is `None` if the other thread has ended early.
struct Two<'a, 'g, 'env> {
    here: &'a mut Gatherer<'g>,
    there: Sender<Job<'env>>,
    /// Bytes that may still be kept.
    left: &'env AtomicUsize,
}

impl<'env> Two<'_, '_, 'env> {
    /// Works on all of some things, the first half here and the second there.
    fn share<T: Send + 'env, R: Send + 'env>(
        &self,
        mut items: Vec<T>,
        work: impl Fn(&Gatherer<'_>, T) -> Option<R> + Copy + Send + 'env,
    ) -> Option<Vec<R>> {
        let all = items.len();
        let second = items.split_off(all / 2);
        let (answer, answered) = mpsc::channel();
        let job = move |gatherer: &mut Gatherer<'_>| {
            let mut done: Vec<R> = Vec::with_capacity(second.len());
            done.extend(second.into_iter().filter_map(|item| work(gatherer, item)));
            let _ = answer.send(done); // nobody waits for it where the other half panicked
        };
        self.there.send(Box::new(job)).ok()?;
        // Room for all at once: growing would need as much again.
        let mut done: Vec<R> = Vec::with_capacity(all);
        done.extend(items.into_iter().filter_map(|item| work(self.here, item)));
        done.extend(answered.recv().ok()?);
        Some(done)
    }

    /// Sorts by what is a delta of what: git keeps those that belong together all over the pack.
    fn sort<K: Ord + Copy + Send + 'env>(&self, mut blobs: Vec<Placed<K>>) -> Option<Vec<Placed<K>>> {
        blobs.sort_unstable();
        let mut sorted = self.share(blobs, |gatherer, blob| Some((gatherer.git.family_of(blob.0), blob)))?;
        self.share(vec![(), ()], |gatherer, ()| {
            gatherer.git.forget_families();
            Some(())
        })?;
        sorted.sort_unstable();
        Some(sorted.into_iter().map(|(_, blob)| blob).collect())
    }

    /// Reads the notes of commits, and the evidence of their anchors.
    fn prefetch(&mut self, commits: &[CommitId]) -> Option<()> {
        // In the order of the names in the trees: each thread reads half of the trees, and what it looks up next is near.
        let mut sorted = commits.to_vec();
        sorted.sort_unstable();
        let blobs: Vec<Placed<CommitId>> = self.share(sorted, |gatherer, commit| {
            let blob = gatherer.only_note(&commit)?;
            Some((gatherer.git.place_of(&blob)?, commit, blob))
        })?;
        let blobs = self.sort(blobs)?;
        let left = self.left;
        let fits = move |size: usize| left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(size)).is_ok();
        let notes = self.share(blobs, move |gatherer, (place, commit, blob)| {
            let note = gatherer.read_note(place, &blob)?;
            fits(note.size).then_some((commit, note))
        })?;
        let mut notes: HashMap<CommitId, Arc<Note>> = notes.into_iter().collect();
        let roots: BTreeSet<RootHash> = notes.values().flat_map(|note| note.roots()).collect();
        let blobs: Vec<Placed<RootHash>> = self.share(roots.into_iter().collect(), |gatherer, root| {
            let blob = gatherer.only_evidence(&root)?;
            Some((gatherer.git.place_of(&blob)?, root, blob))
        })?;
        let blobs = self.sort(blobs)?;
        let evidence = self.share(blobs, move |gatherer, (place, root, blob)| {
            let gathered = gatherer.read_evidence_at(place, &blob)?;
            fits(gathered.size()).then(|| (root, Arc::new(gathered)))
        })?;
        let evidence: HashMap<RootHash, Arc<Gathered>> = evidence.into_iter().collect();
        let mut part = |commits: &[CommitId]| {
            let mut prefetched = Prefetched::default();
            for commit in commits {
                let Some(note) = notes.remove(commit) else { continue };
                let known = note.roots().filter_map(|root| Some((root, Arc::clone(evidence.get(&root)?))));
                prefetched.evidence.extend(known);
                prefetched.notes.insert(*commit, note);
            }
            prefetched
        };
        // As `share` will cut them.
        let (first, second) = commits.split_at(commits.len() / 2);
        self.here.expect(part(first));
        let second = part(second);
        self.there.send(Box::new(move |gatherer| gatherer.expect(second))).ok()
    }
}
