//! `policy check` and `policy explain`: whether a policy can be used, and what it says of a commit.

use std::io::Read as _;

use serde::Serialize;

use super::commit;
use super::gather::Gatherer;
use super::rules::Rules;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{Git, Repository};
use crate::ops::input::Source;
use crate::proof::digest::CommitId;
use crate::proof::keys::KEYS;
use crate::proof::policy::{MAX_POLICY, Policy};

/// A policy that can be used.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyOutcome {
    /// The file.
    pub file: String,
    /// Whether its rules can be applied.
    pub valid: bool,
}

/// Checks a policy file.
pub fn check_policy(source: &Source) -> Result<PolicyOutcome> {
    let name = source.to_string();
    let mut text = Vec::new();
    let opened =
        source.open().map_err(|error| error.hint("name a file that exists; git proof init --policy writes one"))?;
    opened.take(MAX_POLICY as u64 + 1).read_to_end(&mut text).map_err(|error| source.unreadable(&error))?;
    let wrong = |why: String| {
        Error::new(Code::ConfigInvalid, format!("{name} is not a policy"))
            .because(why)
            .hint(format!("the keys are {}", keys()))
    };
    Policy::parse(&text).map_err(|error| wrong(error.to_string()))?;
    Ok(PolicyOutcome { file: name, valid: true })
}

/// All keys, each section's in braces as a shell would write them.
fn keys() -> String {
    KEYS.map(|(section, keys)| format!("{section}.{{{}}}", keys.join(","))).join(" and ")
}

/// What a policy says of a commit.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainOutcome {
    /// The commit.
    pub commit: CommitId,
    /// Whether it must be anchored.
    pub proof_grade: bool,
    /// Why, or why not.
    pub reason: String,
    /// `file`, or `defaults` where the base has none.
    pub policy: &'static str,
}

/// Says why a commit is proof-grade, or that it is not, by the policy at `base`, or else of the commit itself.
pub fn explain_policy(context: &Context, revision: &str, base: Option<&str>) -> Result<ExplainOutcome> {
    let git = Git::open(&Repository::discover(context)?, context)?;
    let id = git.resolve(revision)?;
    let rules = Rules::of(&git, &base.map_or(Ok(id), |base| git.resolve(base))?, context.now())?;
    let gatherer = Gatherer::new(git, None, false)?;
    let reason = commit::explain(&gatherer, &rules, &id)?;
    Ok(ExplainOutcome {
        commit: id,
        proof_grade: reason.is_some(),
        reason: reason.map_or_else(|| "no rule of the policy applies to it".to_owned(), |reason| reason.to_string()),
        policy: if rules.from_file { "file" } else { "defaults" },
    })
}
