//! `policy check` and `policy explain`: whether a policy can be used, and what it says of a commit.

use std::io::Read as _;
use std::path::Path;

use serde::Serialize;

use super::gather::{Gatherer, Wanted};
use super::rules::{REVOKED, Rules, SIGNERS};
use super::verify::{VerifyOutcome, judge_commits, read_seals};
use super::{commit, trusted};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::Git;
use crate::hint::{Step, hint};
use crate::proof::digest::{CommitId, TreeId};
use crate::proof::finding::Verdict;
use crate::proof::glob::Glob;
use crate::proof::grade::Grader;
use crate::proof::keys::KEYS;
use crate::proof::policy::{MAX_POLICY, Policy};
use crate::proof::signers::{MAX_SIGNERS, Signers};
use crate::record::Source;

/// A policy that can be used.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyOutcome {
    pub file: String,
    /// Always `pass`: rules that cannot be applied are an error.
    pub verdict: Verdict,
    /// The same, under its old name (docs/json.md).
    pub valid: bool,
    /// The commit whose files its patterns were held against, where there was one.
    pub tree: Option<CommitId>,
    /// What can be applied, and probably is not what was meant.
    pub warnings: Vec<String>,
}

/// Most entries of trees that are looked at for one pattern. Beyond that, nothing is said of it.
const MAX_LOOKED_AT: usize = 200_000;

/// Checks a policy file, and the lists of signers beside it. Its patterns are held against the files of `tree`; without one, against those of HEAD, where there is
/// a repository and it has commits.
pub fn check_policy(context: &Context, source: &Source, tree: Option<&str>) -> Result<PolicyOutcome> {
    let name = source.to_string();
    let mut text = Vec::new();
    let opened =
        source.open().map_err(|error| error.hint(hint!("name a file that exists"; Step::InitPolicy, " writes one")))?;
    opened.take(MAX_POLICY as u64 + 1).read_to_end(&mut text).map_err(|error| source.unreadable(&error))?;
    let wrong = |why: String| {
        Error::new(Code::ConfigInvalid, format!("{name} is not a policy"))
            .because(why)
            .hint(format!("the keys are {}", keys()))
    };
    let policy = Policy::parse(&text).map_err(|error| wrong(error.to_string()))?;
    let grader = Grader::new(&policy.proof_grade).map_err(|error| wrong(error.to_string()))?;
    let warnings = match source {
        Source::File(path) => signers_beside(path)?,
        Source::Stdin => Vec::new(),
    };
    let git = Git::discover(context);
    let files = match tree {
        Some(revision) => git.and_then(|git| Ok(Some((git.resolve(revision)?, git))))?,
        None => git.and_then(|git| Ok(git.tip("HEAD")?.zip(Some(git)))).unwrap_or_default(),
    };
    let mut outcome = PolicyOutcome { file: name, verdict: Verdict::Pass, valid: true, tree: None, warnings };
    if let Some((commit, git)) = files {
        outcome.warnings.extend(unmatched(&git, &commit, grader.paths(), tree.unwrap_or("HEAD"))?);
        outcome.tree = Some(commit);
    }
    Ok(outcome)
}

/// Reads the lists of signers that stand beside a policy. One that no verdict could use is an error.
fn signers_beside(policy: &Path) -> Result<Vec<String>> {
    let read = |list: &str| -> Result<Option<(String, Vec<u8>)>> {
        let path = policy.with_file_name(Path::new(list).file_name().unwrap_or_default());
        if !path.exists() {
            return Ok(None);
        }
        let (source, mut text) = (Source::File(path), Vec::new());
        let file = source.open()?.take(MAX_SIGNERS as u64 + 1).read_to_end(&mut text);
        file.map_err(|error| source.unreadable(&error))?;
        Ok(Some((source.to_string(), text)))
    };
    let unusable = |name: String, why| Error::new(Code::ConfigInvalid, format!("{name} cannot be used")).because(why);
    let mut signers = Signers::default();
    if let Some((name, text)) = read(SIGNERS)? {
        signers = Signers::parse(&text).map_err(|why| unusable(name, why))?;
    }
    if let Some((name, text)) = read(REVOKED)? {
        signers.revoke(&text).map_err(|why| unusable(name, why))?;
    }
    Ok(skipped(&signers).collect())
}

/// A sentence for each line of a list of signers that is skipped.
fn skipped(signers: &Signers) -> impl Iterator<Item = String> {
    signers
        .skipped()
        .iter()
        .map(|(line, why)| format!("line {line} of {SIGNERS} is skipped, and its key may sign nothing: {why}"))
}

/// What is odd about the policy of a base. The gate judges by that policy all the same, so nothing is said where it cannot be
/// found out: a base of zeros is no commit, and a partial clone lacks trees.
pub fn policy_warnings(context: &Context, base: &str) -> Vec<String> {
    let look = || -> Result<Vec<String>> {
        let git = Git::discover(context)?;
        let commit = git.resolve(base)?;
        let rules = Rules::of(&git, &commit, context.now())?;
        let mut warnings = unmatched(&git, &commit, rules.grader.paths(), base)?;
        warnings.extend(skipped(&rules.signers));
        Ok(warnings)
    };
    look().unwrap_or_default()
}

/// Judges the newest commits of HEAD by a policy that need not be committed, with the signers that HEAD lists.
pub(crate) fn try_policy(context: &Context, policy: Policy, most: usize) -> Result<VerifyOutcome> {
    let git = Git::discover(context)?;
    let head = git.resolve("HEAD")?;
    let mut commits = git.commits(&[head.to_string()])?;
    commits.truncate(most);
    let mut rules = Rules::of_policy(&git, &head, policy, context.now())?;
    let store = read_seals(context, &git, &mut rules)?;
    let (_, verdicts) = judge_commits(context, &git, store.as_ref(), &rules, &commits, Wanted::default())?;
    Ok(VerifyOutcome::new(verdicts, &rules))
}

/// A sentence for each pattern that matches no file of a commit.
fn unmatched(git: &Git, commit: &CommitId, globs: &[Glob], name: &str) -> Result<Vec<String>> {
    if globs.is_empty() {
        return Ok(Vec::new());
    }
    let tree = git.commit(commit)?.tree;
    let mut warnings = Vec::new();
    for glob in globs {
        if matches_some_file(git, &tree, glob)? {
            continue;
        }
        let meant = meant(git, &tree, glob)?.map(|meant| format!("; did you mean {meant:?}?")).unwrap_or_default();
        warnings.push(format!("proof_grade.paths {:?} matches no file of {name}{meant}", glob.as_str()));
    }
    Ok(warnings)
}

/// What somebody may have meant by a pattern that matches nothing.
fn meant(git: &Git, tree: &TreeId, glob: &Glob) -> Result<Option<String>> {
    for other in [format!("{}/**", glob.as_str()), format!("**/{}", glob.as_str())] {
        if let Ok(meant) = Glob::parse(&other)
            && matches_some_file(git, tree, &meant)?
        {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// Whether a tree has a file that a pattern matches; also yes where the tree is too large to tell. Looks only into
/// directories where there could be one.
fn matches_some_file(git: &Git, tree: &TreeId, glob: &Glob) -> Result<bool> {
    let mut pending = vec![(Vec::new(), *tree)];
    let mut looked_at = 0;
    while let Some((directory, tree)) = pending.pop() {
        for entry in git.tree(&tree)? {
            let path = [directory.as_slice(), entry.name.as_slice()].concat();
            looked_at += 1;
            if looked_at > MAX_LOOKED_AT || (!entry.is_tree() && glob.matches(&path)) {
                return Ok(true);
            }
            if entry.is_tree() && glob.reaches(&path) {
                pending.push(([path.as_slice(), b"/"].concat(), TreeId(entry.id)));
            }
        }
    }
    Ok(false)
}

/// All keys, each section's in braces as a shell would write them.
fn keys() -> String {
    KEYS.map(|(section, keys)| format!("{section}.{{{}}}", keys.join(","))).join(" and ")
}

/// What a policy says of a commit.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainOutcome {
    pub commit: CommitId,
    /// Whether it must be anchored.
    pub proof_grade: bool,
    /// Why, or why not.
    pub reason: String,
    /// `file`, or `defaults` where the base has none.
    pub policy: &'static str,
}

/// Says why a commit is proof-grade, or that it is not, by the policy at `base`, or else of the trusted branch.
pub fn explain_policy(context: &Context, revision: &str, base: Option<&str>) -> Result<ExplainOutcome> {
    let git = Git::discover(context)?;
    let id = git.resolve(revision)?;
    let rules = trusted::rules(&git, context.now(), base, None, &id)?;
    let gatherer = Gatherer::new(&git, None, Wanted::default())?;
    let reason = commit::explain(&gatherer, &rules, &id)?;
    Ok(ExplainOutcome {
        commit: id,
        proof_grade: reason.is_some(),
        reason: reason.map_or_else(|| "no rule of the policy applies to it".to_owned(), |reason| reason.to_string()),
        policy: rules.source.policy,
    })
}
