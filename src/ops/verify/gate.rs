//! `gate`: the verdict over a range, by the policy of the branch it is to be merged into.

use serde::Serialize;

use super::VerifyOutcome;
use super::range::Ends;
use super::rules::Rules;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{Git, Repository};
use crate::ops::sync::Pushed;
use crate::proof::digest::CommitId;

/// What `gate` is asked for.
#[derive(Debug, Clone, Default)]
pub struct GateRequest {
    /// The branch that is to be changed: its tip has the policy.
    pub base: String,
    /// What it is to be changed to.
    pub head: String,
    /// Whether a base without a policy is an error.
    pub require_policy: bool,
}

impl GateRequest {
    /// The request for a branch that is being pushed: what the remote does not have of it.
    pub fn of_push(remote: &str, branch: &Pushed) -> Self {
        Self { base: format!("refs/remotes/{remote}/*"), head: branch.head.to_string(), require_policy: false }
    }
}

/// The ends of a range, as they were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct JudgedRange {
    /// Where the policy is; `None` for a branch that comes from nothing.
    pub base: Option<CommitId>,
    /// The newest commit.
    pub head: CommitId,
}

/// Judges `base..head`. A proof-grade commit without an anchor fails. A base of nothing but zeros is what git says of a
/// branch that did not exist: all of `head` is judged then, by the defaults.
pub fn gate(context: &Context, request: &GateRequest) -> Result<VerifyOutcome> {
    let place = Repository::discover(context)?;
    let mut git = Git::open(&place, context)?;
    git.read_packs(git.packs(false));
    let head = git.resolve(&request.head)?;
    let nothing = CommitId::parse(&request.base).is_some_and(|id| id.0.as_bytes().iter().all(|byte| *byte == 0));
    let base = if nothing { None } else { Some(git.resolve(&request.base)?) };
    let mut rules = match &base {
        Some(base) => Rules::of(&git, base, context.now())?,
        None => Rules::defaults(context.now())?,
    };
    if request.require_policy && !rules.from_file {
        return Err(Error::new(Code::PolicyUnreadable, format!("{} has no .proof/policy.toml", request.base))
            .hint("commit one there, or leave --require-policy away to use the defaults"));
    }
    rules.must_be_anchored = true;
    rules.look_everywhere = false;
    let ends = Ends { tips: vec![head], excluded: base.into_iter().collect() };
    let outcome = judge(context, git, rules, &ends)?;
    Ok(VerifyOutcome { range: Some(JudgedRange { base, head }), ..outcome })
}

/// Judges what a remote does not have yet, before it is pushed there. The policy is that of the remote's main branch;
/// without one, a missing anchor is only worth a word, and a broken one stops the push.
pub fn gate_push(context: &Context, request: &GateRequest) -> Result<VerifyOutcome> {
    let place = Repository::discover(context)?;
    let git = Git::open(&place, context)?;
    let head = git.resolve(&request.head)?;
    let prefix = request.base.trim_end_matches("/*");
    let known = git.refs_below(prefix)?;
    let main = ["HEAD", "main", "master"].iter().find_map(|name| {
        let name = format!("{prefix}/{name}");
        known.iter().find(|(known, _)| *known == name).map(|(_, tip)| *tip)
    });
    let mut rules = Rules::of(&git, &main.unwrap_or(head), context.now())?;
    rules.must_be_anchored = rules.from_file && main.is_some();
    rules.look_everywhere = false;
    let excluded = known.iter().map(|(_, tip)| *tip).filter(|tip| git.has(&tip.0)).collect();
    judge(context, git, rules, &Ends { tips: vec![head], excluded })
}

/// Judges what a push would bring to a branch, by the policy of the branch as it is, or of the repository's main branch
/// where it is new.
pub(in crate::ops) fn gate_received(
    context: &Context,
    git: &Git,
    old: Option<CommitId>,
    new: &CommitId,
) -> Result<VerifyOutcome> {
    let base = match old {
        Some(old) => Some(old),
        None => git.tip("HEAD")?,
    };
    let mut rules = match base {
        Some(base) => Rules::of(git, &base, context.now())?,
        None => Rules::defaults(context.now())?,
    };
    rules.must_be_anchored = true;
    rules.look_everywhere = false;
    let excluded = match old {
        Some(old) => vec![old],
        // A new branch brings what no other has.
        None => git.refs_below("refs/heads")?.into_iter().map(|(_, tip)| tip).collect(),
    };
    judge(context, git.again()?, rules, &Ends { tips: vec![*new], excluded })
}

/// Judges a range as the gate of the branch would that it was merged into, whose tip was `into`.
pub(in crate::ops) fn gate_into(
    context: &Context,
    git: &Git,
    into: Option<&CommitId>,
    base: Option<&CommitId>,
    head: &CommitId,
) -> Result<VerifyOutcome> {
    let mut rules = match into {
        Some(into) => Rules::of(git, into, context.now())?,
        None => Rules::defaults(context.now())?,
    };
    rules.must_be_anchored = true;
    rules.look_everywhere = false;
    judge(context, git.again()?, rules, &Ends { tips: vec![*head], excluded: base.copied().into_iter().collect() })
}

fn judge(context: &Context, git: Git, mut rules: Rules, ends: &Ends) -> Result<VerifyOutcome> {
    let tips = ends.tips.iter().map(ToString::to_string);
    let arguments: Vec<String> = tips.chain(ends.excluded.iter().map(|tip| format!("^{tip}"))).collect();
    let line = match (ends.tips.as_slice(), ends.excluded.as_slice()) {
        ([tip], [base]) => git.line(base, tip),
        _ => None,
    };
    let commits = match line {
        Some(line) => line,
        None => git.commits(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?,
    };
    super::read_seals(context, &git, &mut rules)?;
    let (gatherer, mut verdicts) = super::judge(context, git, &rules, &commits, false)?;
    ends.check(&gatherer, &mut verdicts)?;
    Ok(VerifyOutcome::new(verdicts, &rules))
}
