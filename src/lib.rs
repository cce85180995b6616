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
//! | module | owns | may not touch |
//! |---|---|---|
//! | [`proof`] | the formats: canonical JSON, records, chain, trees, proofs, evidence, anchors, seals, signatures; its documentation is the specification | files, clock, environment, git, SQLite |
//! | [`store`] | the SQLite file of a clone; the only one that names rusqlite | git, the command line |
//! | [`git`] | repositories of every kind, their objects and refs, change ids, the network through git itself, signing as git signs; the only one that names git2 | the store |
//! | [`ops`] | what the tool does, one file per verb, each with an outcome that serializes | how it is shown |
//! | [`publish`] | what leaves a clone: finishing whatever an interrupted command left undone | how it is shown |
//! | [`agents`] | what the hooks of agents send, as entries of sessions of their own; closing those by themselves | how it is shown |
//! | [`present`] | the words of a verdict, the same for every printer | files, git; it is pure |
//! | [`report`] | a verdict in the forms that forges and people read: Markdown, annotations, SARIF, JUnit, a page that checks itself | files, git; it is pure |
//! | [`mcp`] | the same verbs as tools for agents, over standard input and output | the store, but through ops |
//! | [`hook`] | what git gives to its hooks, and how it is answered | |
//! | [`cli`] | arguments in, text or JSON out; the only one that prints | |
//! | [`access`] | owners and modes of files: the only one that names Unix permissions | |
//! | [`context`] | clock, random ids, environment: the only ambient reads | |
//! | [`error`] | what went wrong, with a stable code, an exit code and a hint | |
//!
//! Dependencies point one way, `proof ← store, git ← ops ← publish ← agents ← present ← report ← mcp, hook ← cli`, and a test keeps it so
//! (`tests/it/layers.rs`).
//!
//! # What is on disk
//!
//! | file | whose |
//! |---|---|
//! | `refs/notes/proof`, `refs/proof/evidence`, `refs/proof/changes`, `refs/proof/rounds` | shared by all clones: anchors, the records behind them, where changes were seen, seals |
//! | `refs/proof/remote/*`, `refs/proof/local/*`, `refs/notes/proof-why` | of this clone: what a remote had, commits that were squashed here and are not published yet, one readable line for `git log` |
//! | `<git common dir>/hooks/*`, or `hook.git-proof-*` in git's configuration | marked blocks that [`ops::init`] writes and takes out |
//! | `.proof/policy.toml`, `.proof/allowed_signers`, `.proof/revoked_signers` | committed by people; read from the commit that decides |
//! | `<git common dir>/proof/store.db` (and SQLite's `-wal`, `-shm` beside it) | [`store`]: sessions, entries, tree nodes, roots, the ledger; one for all worktrees |
//! | `<git common dir>/proof/archive/`, `retain.lock` | [`store`], [`ops::retain`]: whole evidence of cold sessions, private texts included; who is moving texts |
//! | `<git common dir>/proof/asked/` | [`git`]: which of the shared refs each remote had when it was last asked |
//! | `<git common dir>/proof/evidence.db` | [`ops::import_evidence`]: sessions of other clones, read from their evidence; may be removed and imported again |
//! | `<git common dir>/proof/import.db`, `import.lock` | [`ops::import_file`]: the copy of a backup while it is imported; who is importing |
//! | `<git common dir>/proof/next` | [`store`]: what the next commit of a worktree will be told; a shortcut, which may be removed |
//! | `<git common dir>/proof/moving` | [`git`]: the ref that is being moved, so that a lock left by a killed process is known for ours |
//! | `<git common dir>/proof/pending/`, `rounds.lock` | `ops::pending`, [`ops::seal`]: commits that are about to be made; who is moving the chain of rounds |
//! | the files of agents in the worktree, such as `.mcp.json` | theirs; [`ops::init`] edits its own entries in them |
//! | `migrations/*.sql` | the store's schema, step by step, never edited once released |

pub mod access;
pub mod agents;
pub mod cli;
pub mod context;
pub mod error;
pub mod git;
pub mod hook;
pub mod mcp;
pub mod ops;
pub mod present;
pub mod proof;
pub mod publish;
pub mod report;
pub mod store;
