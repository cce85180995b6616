//! The settings of retention, from git's configuration: how long texts stay, and where they go. A value that is not
//! understood is refused, for the next thing to happen would be that texts move.

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::git::Git;
use crate::hint::{Step, hint};

/// Largest limit, in rounds or days.
const MOST: u64 = 1_000_000;

/// How long texts stay where they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Limits {
    /// `proof.warmRounds`: a session is warm while its round is one of so many newest ones.
    pub warm_rounds: u64,
    /// `proof.warmDays`: and for so many days after it was sealed, whichever ends first.
    pub warm_days: u64,
    /// `proof.warnDays`: after so many days a person should decide whether its texts are still wanted.
    pub warn_days: u64,
}

impl Limits {
    pub(super) fn read(git: &Git) -> Result<Self> {
        let limits = Self {
            warm_rounds: number(git, "proof.warmRounds", 3)?,
            warm_days: number(git, "proof.warmDays", 30)?,
            warn_days: number(git, "proof.warnDays", 365)?,
        };
        if limits.warn_days < limits.warm_days {
            let Self { warm_days, warn_days, .. } = limits;
            return Err(invalid(
                format!("proof.warnDays is {warn_days}, which is less than proof.warmDays, {warm_days}"),
                Step::GitConfig("proof.warnDays".into(), warm_days.max(365).to_string()),
            ));
        }
        Ok(limits)
    }
}

fn number(git: &Git, key: &str, default: u64) -> Result<u64> {
    let Some(text) = git.setting(key) else { return Ok(default) };
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| digits && *number <= MOST);
    number.ok_or_else(|| {
        invalid(
            format!("{key} is {text:?}; it takes a whole number from 0 to {MOST}"),
            Step::GitConfig(key.to_owned(), default.to_string()),
        )
    })
}

fn invalid(message: String, command: Step) -> Error {
    Error::new(Code::ConfigInvalid, message).hint(hint!(command; "nothing was moved"))
}
