//! Makes a round: judges what is to be sealed, then writes the seal. Also joins the chains of two clones.

mod join;
mod make;
mod sealable;
mod sign;
pub use join::{Joined, Remade, accept_rounds};
pub(crate) use join::{join, seen_at, vanished};
pub use make::{SealOutcome, SealRequest, SealedView, seal};
pub use sealable::LeftOut;
pub use sign::{SignedRound, sign_round};
