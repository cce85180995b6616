//! Anchors in git: repositories of every kind, writers at the same time, and what is left when one of them dies.

pub(crate) mod clones;
mod crowd;
mod hostile;
mod keeping;
pub(crate) mod killed;
mod kinds;
mod notes;
mod partial;
mod proofs;
mod pushing;
mod quarantine;
mod races;
mod shapes;
mod unions;
