//! git-proof: the reasoning behind a change, anchored to the commit it explains, for anyone with a clone to check.
//!
//! # The path of the data
//!
//! ```text
//! record ─▶ chain ─▶ tree ─▶ root ─▶ anchor ─▶ seal     writing: each step durable before the next
//!                                       │        │
//! gate ◀─ policy ◀─ findings ◀─ verify ◀┴─ notes, trailers, evidence, rounds      reading: from a clone alone
//! ```
//!
//! # What is where
//!
//! Each folder uses only those above it in this table; a test keeps it so (`tests/it/layers.rs`).
//!
//! | module | owns | may not touch |
//! |---|---|---|
//! | [`hint`] | what to do about an error or a finding, as a value that each door words | |
//! | [`proof`] | the formats: canonical JSON, records, chain, trees, proofs, evidence, anchors, seals, signatures; its documentation is the specification | files, clock, environment, git, SQLite |
//! | [`error`], [`context`], [`access`] | errors with a code and a hint; clock, random ids and environment; what is particular to Unix: owners and modes of files, names that are bytes | |
//! | [`store`] | the SQLite file of a clone; the only module that names rusqlite | git |
//! | [`git`] | repositories of every kind, their objects and refs, change ids, the network through git itself, signing as git signs; the only module that names git2 | the store |
//! | [`record`] | a session from its opening to its root, the secret guard, reading and searching what was recorded | git objects |
//! | [`publish`] | evidence, anchors, carrying, the index of changes, what git's commit hooks do | |
//! | [`rounds`] | reading and checking the chain of seals | |
//! | [`judge`] | load facts, judge a commit, conclude: `verify`, `gate`, the gate of a server | how a verdict is shown |
//! | [`seal`] | making a round: judge first, then write | |
//! | [`keep`] | retention, archives, working memory, backups | |
//! | [`recall`] | decisions by file and line: `why`, what agents are told of earlier decisions | |
//! | [`agents`] | what the hooks of agents send, as entries of sessions of their own, which close by themselves | how it is shown |
//! | [`setup`] | `init`, `doctor`, hook files | |
//! | [`flow`] | commands that combine the modules above: `finalize`, `cover`, `sync`, `vouch`, `report`, and `reconcile`, which finishes interrupted work | |
//! | [`present`] | the words of a verdict, the same for every printer; Markdown, HTML, JUnit, SARIF, annotations | files, git: it is pure |
//! | [`mcp`], [`hook`], [`cli`] | the three doors: arguments in, one of the modules above, text or JSON out; only [`cli`] prints | |
//!
//! [`proof`] is the public interface of the library. The other modules are public for the program, its tests and its
//! benchmarks alone and change without notice.
//!
//! # What is on disk
//!
//! | file | whose |
//! |---|---|
//! | `refs/notes/proof`, `refs/proof/evidence`, `refs/proof/changes`, `refs/proof/rounds` | shared by all clones: anchors, the records behind them, where changes were seen, seals |
//! | `refs/proof/remote/*`, `refs/proof/local/*`, `refs/notes/proof-why` | of this clone: what a remote had, commits that were squashed here and are not published yet, one readable line for `git log` |
//! | `<git common dir>/hooks/*`, or `hook.git-proof-*` in git's configuration | marked blocks that [`setup::init`] writes and takes out |
//! | `.proof/policy.toml`, `.proof/allowed_signers`, `.proof/revoked_signers` | committed by people; read from the commit that decides |
//! | `<git common dir>/proof/store.db` (and SQLite's `-wal`, `-shm` beside it) | [`store`]: sessions, entries, tree nodes, roots, the ledger; one for all worktrees |
//! | `<git common dir>/proof/archive/`, `retain.lock` | [`store`], [`keep::retain`]: whole evidence of cold sessions, private texts included; who is moving texts |
//! | `<git common dir>/proof/asked/` | [`git`]: which of the shared refs each remote had when it was last asked |
//! | `<git common dir>/proof/offered/` | [`git`]: objects of other repositories while their proofs are judged; gone afterwards |
//! | `<git common dir>/proof/hooks` | [`setup`]: the hooks that were wired, so that it is noticed when another tool replaces them |
//! | `<git common dir>/proof/evidence.db` | [`keep::import_evidence`]: sessions of other clones, read from their evidence; may be removed and imported again |
//! | `<git common dir>/proof/import.db`, `import.lock` | [`keep::import_file`]: the copy of a backup while it is imported; who is importing |
//! | `<git common dir>/proof/next` | [`store`]: what the next commit of a worktree will be told; a shortcut, which may be removed |
//! | `<git common dir>/proof/moving` | [`git`]: the ref that is being moved, so that a lock left by a killed process is known for ours |
//! | `<git common dir>/proof/pending/`, `rounds.lock` | [`publish`], [`seal`]: commits that are about to be made; who is moving the chain of rounds |
//! | the files of agents in the worktree, such as `.mcp.json` | theirs; [`setup::init`] edits its own entries in them |
//! | `migrations/*.sql` | the store's schema, step by step, never edited once released |

pub mod proof;

#[doc(hidden)]
pub mod access;
#[doc(hidden)]
pub mod agents;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod context;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod flow;
#[doc(hidden)]
pub mod git;
#[doc(hidden)]
pub mod hint;
#[doc(hidden)]
pub mod hook;
#[doc(hidden)]
pub mod judge;
#[doc(hidden)]
pub mod keep;
#[doc(hidden)]
pub mod mcp;
#[doc(hidden)]
pub mod present;
#[doc(hidden)]
pub mod publish;
#[doc(hidden)]
pub mod recall;
#[doc(hidden)]
pub mod record;
#[doc(hidden)]
pub mod rounds;
#[doc(hidden)]
pub mod seal;
#[doc(hidden)]
pub mod setup;
#[doc(hidden)]
pub mod store;
