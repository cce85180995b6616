//! The settings of retention, from git's configuration: how long texts stay, and where they go. A value that is not
//! understood is refused, for the next thing to happen would be that texts move.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{Git, Repository};
use crate::store::Archive;

/// Largest limit, in rounds or days.
const MOST: u64 = 1_000_000;

/// How long texts stay where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
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
                &format!("git config proof.warnDays {}", warm_days.max(365)),
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
            &format!("git config {key} {default}"),
        )
    })
}

fn invalid(message: String, command: &str) -> Error {
    Error::new(Code::ConfigInvalid, message).hint(format!("{command}; nothing was moved"))
}

/// The archives of a repository: where `proof.archive` says, from the common directory on if it is no whole path, else
/// beside the store.
pub(in crate::ops) fn archive(context: &Context, repository: &Repository, setting: Option<&str>) -> Result<Archive> {
    let beside = repository.store_path().with_file_name("archive");
    let Some(text) = setting else { return Ok(Archive::new(beside, None)) };
    let refuse = |why: &str| {
        invalid(
            format!("proof.archive is {text:?}, {why}; it takes a directory"),
            "git config proof.archive DIRECTORY, or git config --unset proof.archive",
        )
    };
    let directory = match text.strip_prefix("~/") {
        Some(below) => {
            PathBuf::from(context.variable("HOME").ok_or_else(|| refuse("and HOME is not set"))?).join(below)
        }
        None if text.is_empty() => return Err(refuse("which is empty")),
        None => repository.common_dir.join(Path::new(text)),
    };
    if directory.exists() && !directory.is_dir() {
        return Err(refuse("which is no directory"));
    }
    Ok(Archive::new(directory, Some(beside)))
}
