//! Reads and checks the chain of seals, and makes proofs from it.

mod chain;
mod prove;
pub(crate) use chain::{
    SEAL_FILE, Sealed, Walked, hash_of, is_of_the_future, links, no_such, open, seal_of, still_there, walk,
};
pub(crate) use prove::read_log;
pub use prove::{CheckpointOutcome, CheckpointRequest, checkpoint, prove_rounds, prove_sealed};
