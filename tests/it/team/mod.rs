//! Teams: forks whose pull requests are judged by the base, a remote for proofs alone, advisory policies, commits without
//! marks.

mod advisory;
mod forks;
mod hostile;
mod http;
mod landed;
mod marks;
mod private;
mod scripts;
mod stage;
