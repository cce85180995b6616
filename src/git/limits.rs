//! Limits on what is read and computed for data that others have pushed. At a limit the verdict is "could not check",
//! with the number ([`ObjectError::Limit`](super::ObjectError)), never "failed" and never "not required".
//!
//! Together they keep the judgement of one commit below 256 MiB of memory and below five seconds on a machine of 2026. The
//! limits of pure formats stand beside their parsers in `proof/`. docs/threat-model.md lists all of them.

use std::cell::Cell;

/// Largest commit, in bytes. The longest message in the history of Linux has some 30 KB; a merge of sixty signed tags as
/// many again.
pub const MAX_COMMIT: usize = 4 << 20;

/// Largest tree, in bytes: a flat directory of a million files. Two of them, and the one that each is a delta of, fit into
/// memory at the same time.
pub const MAX_TREE: usize = 48 << 20;

/// Largest object that another, smaller one may be a delta of. Git makes no delta of an object that is 32 times as large.
pub const MAX_BASE: usize = 32 << 20;

/// Largest object of any kind that is held in memory, whoever asks for it.
pub const MAX_OBJECT: usize = 64 << 20;

/// Largest text that is compared, in bytes. GitHub warns of files from 50 MB on.
pub const MAX_TEXT: usize = 48 << 20;

/// Git takes a larger file for a binary one (`core.bigFileThreshold`), whatever is in it.
pub const LARGEST_TEXT: u64 = 512 << 20;

/// Largest note, and largest file of the change index, in bytes: more than a thousand anchors. Nothing that this program
/// writes gets larger.
pub const MAX_NOTE: usize = 1 << 20;

/// Largest note that is read to be merged with another one or added to. A merge never drops a line, so it must be able to
/// read what no verdict reads.
pub const MAX_MERGED_NOTE: usize = 16 << 20;

/// Most lines of a note that are read. An anchor takes several hundred bytes, so only lines of something else reach it.
pub const MAX_NOTE_LINES: usize = 4096;

/// Most lines of a file of the change index that are looked at. One takes about a hundred bytes.
pub const MAX_INDEX_LINES: usize = 1 << 14;

/// Most lines of the change index that are followed for one change, of commits and of ranges each.
pub const MAX_SIGHTINGS: usize = 256;

/// Largest evidence file, in bytes: some 200,000 entries.
pub const MAX_EVIDENCE: usize = 64 << 20;

/// Longest chain of deltas. Git makes them of 50, and of 4,095 at most.
pub const MAX_DELTAS: usize = 4096;

/// How many times the wanted limit may be copied while deltas are put together. A chain of 50 whole files stays below it.
pub const CHAIN_FACTOR: u64 = 64;

/// Least limit that [`CHAIN_FACTOR`] is applied to: small objects may come from long chains.
pub const CHAIN_LEAST: u64 = 4 << 20;

/// Most packs of one repository. Git asks for a repack from 50 on.
pub const MAX_PACKS: usize = 10_000;

/// Packs that are kept open, each of which takes two descriptors. Others are opened when they are asked.
pub const OPEN_PACKS: usize = 48;

/// Most bytes of indexes that are kept in memory, and only where many objects are looked up.
pub const INDEX_CACHE: u64 = 32 << 20;

/// Most directories in which objects are looked for: git's own, the quarantine of a push, and alternates.
pub const MAX_OBJECT_DIRECTORIES: usize = 64;

/// How deep alternates of alternates are followed, as in git.
pub const MAX_ALTERNATES_DEPTH: usize = 5;

/// Most paths that differ between two trees.
pub const MAX_PATHS: usize = 1_000_000;

/// Most bytes of those paths.
pub const MAX_PATH_BYTES: usize = 64 << 20;

/// How deep a tree is followed, as in git (`core.maxTreeDepth`).
pub const MAX_TREE_DEPTH: usize = 2048;

/// Most bytes of trees that are held while one goes down into the next directory.
pub const MAX_TREES_HELD: usize = 32 << 20;

/// Most entries that a walk through all notes, evidence or changes visits. Each takes some hundred bytes of memory.
pub const MAX_ENTRIES: usize = 1_000_000;

/// Most lines of texts that are compared with each other. They take 110 MiB, and less than three seconds at worst.
pub const MAX_LINES: usize = 730_000;

/// How much work goes into the judgement of one commit. The unit takes about four nanoseconds: a byte that is read and
/// hashed, or a step of a comparison.
pub const WORK_PER_COMMIT: u64 = 640_000_000;

/// How much work goes into finding anchors that seals list and the notes lack: all notes are read for that. It is done
/// once for all commits, and counts apart. Some 200,000 notes fit.
pub const WORK_FOR_DELETED: u64 = 400_000_000;

/// How much work goes into joining the proofs of one other repository with those that are here: as much as for ten commits.
pub const WORK_FOR_OFFERS: u64 = 10 * WORK_PER_COMMIT;

/// Largest seal, in bytes: some 200,000 sessions.
pub const MAX_SEAL: usize = 64 << 20;

/// Most bytes of seals that are read, of all rounds together: about a million sessions.
pub const MAX_SEALS: usize = 256 << 20;

/// Most anchors that those seals list, and most rounds.
pub const MAX_SEALED: usize = 1_000_000;

/// Most bytes of the notes of seals that are read, of all rounds together.
pub const MAX_SEAL_NOTES: usize = 64 << 20;

/// Most signatures of seals that name a listed key and are none of it, of all rounds together. Such a signature was put
/// there by someone else, and costs as much as a good one.
pub const MAX_BAD_SEAL_SIGNATURES: usize = 256;

/// The costs of other operations in that unit.
pub mod cost {
    /// A path that differs between two trees. It also takes memory, so that this is more than its time.
    pub const PATH: u64 = 1000;
    /// An Ed25519 signature that is verified. One of an RSA key takes the square of the key's bytes.
    pub const ED25519: u64 = 20_000;
    /// A signature on a NIST curve that is verified.
    pub const ECDSA: u64 = 300_000;
    /// An anchor that is judged.
    pub const ANCHOR: u64 = 10_000;
    /// A stream that is inflated, beside its bytes.
    pub const STREAM: u64 = 1000;
    /// A commit that a walk visits for the sake of a merge among many.
    pub const VISIT: u64 = 100;
    /// A lookup in one pack.
    pub const LOOKUP: u64 = 500;
    /// Bytes that are copied while deltas are put together, for one unit.
    pub const COPIED_PER_UNIT: u64 = 8;
    /// Nanoseconds of another process, for one unit.
    pub const NANOSECONDS_PER_UNIT: u64 = 4;
}

/// The work that one judgement may still do. There is no limit until one is set, because a person's own commands may
/// take as long as they need.
#[derive(Debug)]
pub struct Meter {
    left: Cell<u64>,
}

impl Default for Meter {
    fn default() -> Self {
        Self { left: Cell::new(u64::MAX) }
    }
}

impl Meter {
    /// Sets what may be spent from now on; `None` for no limit.
    pub fn set(&self, limit: Option<u64>) {
        self.left.set(limit.unwrap_or(u64::MAX));
    }

    /// Does some work that has a limit of its own, whatever is left of the other. The answer says whether it was enough.
    pub fn apart<T>(&self, limit: u64, work: impl FnOnce() -> T) -> (T, bool) {
        let before = self.left.replace(limit);
        let done = work();
        let enough = !self.is_spent();
        self.left.set(before);
        (done, enough)
    }

    /// Spends some work. The error says which limit is reached; once reached it stays so until it is set again.
    pub fn spend(&self, units: u64) -> Result<(), String> {
        let left = self.left.get();
        if left == u64::MAX {
            return Ok(());
        }
        match left.checked_sub(units).filter(|left| *left > 0) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(spent())
            }
        }
    }

    /// What is left; `None` if there is no limit.
    pub fn left(&self) -> Option<u64> {
        Some(self.left.get()).filter(|left| *left < u64::MAX)
    }

    /// Whether the limit was reached.
    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

/// The words for the limit of a whole judgement.
fn spent() -> String {
    format!("judging one commit may take {WORK_PER_COMMIT} units of work, and this one takes more")
}

/// Refuses a comparison of texts that takes too long or too much memory, and spends what it takes at worst.
pub fn may_compare(meter: &Meter, texts: &[&[u8]]) -> Result<(), String> {
    let lines: usize = texts.iter().map(|text| memchr::memchr_iter(b'\n', text).count() + 1).sum();
    if lines > MAX_LINES {
        return Err(format!("{lines} lines are more than the {MAX_LINES} that are compared"));
    }
    // A comparison of n lines takes about n * sqrt(n) steps at worst.
    let lines = lines as u64;
    meter.spend(lines * lines.isqrt())
}
