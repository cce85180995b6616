//! `gate`: the verdict over a range, by the policy of the branch it is to be merged into.

use std::collections::BTreeSet;

use super::digest;
use super::gather::Wanted;
use super::offers::{self, Offers};
use super::range::{Ends, JudgedRange};
use super::receive::RefUpdate;
use super::rules::{POLICY, Rules};
use super::seals::SealSignatures;
use super::trusted;
use super::verify::{VerifyOutcome, judge_commits, read_seals};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::limits::MAX_SEAL;
use crate::git::{Commit, Git, History, Read};
use crate::hint::{Step, hint};
use crate::proof::digest::CommitId;
use crate::proof::glob::Glob;
use crate::proof::note::Signature;
use crate::proof::policy::GateMode;
use crate::proof::sshsig::{self, NAMESPACE};
use crate::publish::Pushed;
use crate::rounds::{SEAL_FILE, is_of_the_future, walk};

/// What `gate` is asked for.
#[derive(Debug, Clone, Default)]
pub struct GateRequest {
    /// The branch that is to be changed: its tip has the policy.
    pub base: String,
    /// What it is to be changed to.
    pub head: String,
    /// Whether a base without a policy is an error.
    pub require_policy: bool,
    /// Other repositories whose proofs are judged with those that are here: names of remotes, addresses or paths.
    pub proofs: Vec<String>,
    /// Whether the verdict is only advice, whatever the policy says.
    pub advisory: bool,
    /// Whether the digest of what the verdict rests on is wanted.
    pub with_digest: bool,
}

impl GateRequest {
    /// The request for a branch that is being pushed: what the remote does not have of it.
    pub fn of_push(remote: &str, branch: &Pushed) -> Self {
        Self { base: format!("refs/remotes/{remote}/*"), head: branch.head.to_string(), ..Self::default() }
    }
}

/// Judges `base..head`. A base of nothing but zeros is what git says of a branch that did not exist: all of `head` is
/// judged then, by the defaults.
pub fn gate(context: &Context, request: &GateRequest) -> Result<VerifyOutcome> {
    let git = Git::discover(context)?;
    git.open_packs(false);
    let head = git.resolve(&request.head)?;
    let nothing = CommitId::parse(&request.base).is_some_and(|id| id.0.as_bytes().iter().all(|byte| *byte == 0));
    let base = if nothing { None } else { Some(git.resolve(&request.base)?) };
    let rules = Rules::of_tip(&git, base.map(|base| (&request.base, base)), context.now())?;
    if request.require_policy && !rules.has_policy_file() {
        return Err(Error::new(Code::PolicyUnreadable, format!("{} has no .proof/policy.toml", request.base)).hint(
            hint!("commit one there, or leave out ", Step::Option("--require-policy".into()), " to use the defaults"),
        ));
    }
    let ends = Ends { tips: vec![head], excluded: base.into_iter().collect() };
    let Offers { git, unread, quarantine } = Offers::gather(git, &request.proofs)?;
    let outcome = judge(context, &git, rules, &ends, &unread, request.with_digest)?;
    drop(quarantine);
    let enforced = outcome.enforced && !request.advisory;
    Ok(VerifyOutcome { range: Some(JudgedRange { base, head }), enforced, ..outcome })
}

/// Judges what a push brings, before it is pushed, by the policy of the remote's main branch. Without one the verdict is
/// only advice. What any remote has already was judged when it was pushed there, and is left out; where the remote has no
/// policy yet, so is what is older than the first policy of the branch.
pub fn gate_push(context: &Context, request: &GateRequest) -> Result<VerifyOutcome> {
    let git = Git::discover(context)?;
    let head = git.resolve(&request.head)?;
    let prefix = request.base.trim_end_matches("/*");
    let known = git.refs_below(prefix)?;
    let rules = rules_of_remote(context, &git, prefix, &known)?;
    let has_policy = rules.has_policy_file();
    let mut excluded: BTreeSet<CommitId> =
        git.refs_below("refs/remotes")?.iter().map(|(_, tip)| *tip).filter(|tip| git.has(&tip.0)).collect();
    if !has_policy {
        excluded.extend(before_first_policy(&git, &head)?);
    }
    let ends = Ends { tips: vec![head], excluded: excluded.into_iter().collect() };
    let outcome = judge(context, &git, rules, &ends, &[], false)?;
    Ok(VerifyOutcome { enforced: outcome.enforced && has_policy, ..outcome })
}

/// Whether nothing that is pushed to a remote is refused here: its main branch has an advisory policy, or none.
pub fn push_is_advisory(context: &Context, remote: &str) -> Result<bool> {
    let git = Git::discover(context)?;
    let prefix = format!("refs/remotes/{remote}");
    let rules = rules_of_remote(context, &git, &prefix, &git.refs_below(&prefix)?)?;
    Ok(!rules.has_policy_file() || rules.gate.mode == GateMode::Advisory)
}

/// The rules of a remote's main branch, as far as it was fetched.
fn rules_of_remote(context: &Context, git: &Git, prefix: &str, known: &[(String, CommitId)]) -> Result<Rules> {
    let main = ["HEAD", "main", "master"].iter().find_map(|name| {
        let name = format!("{prefix}/{name}");
        known.iter().find(|(known, _)| *known == name).map(|(_, tip)| (name, *tip))
    });
    Rules::of_tip(git, main, context.now())
}

/// The parents of the commits that gave a branch its first policy; none if it has no policy.
fn before_first_policy(git: &Git, head: &CommitId) -> Result<Vec<CommitId>> {
    let has_policy = |commit: &CommitId| -> Read<bool> { Ok(git.file(&git.commit(commit)?.tree, POLICY)?.is_some()) };
    if !has_policy(head)? {
        return Ok(Vec::new());
    }
    let mut first: Vec<Commit> = Vec::new();
    for id in git.commits_touching(head, POLICY)?.iter().rev() {
        let commit = git.commit(id)?;
        let begins = has_policy(id)? && !commit.parents.iter().any(|parent| has_policy(parent) != Ok(false));
        // A policy that was removed and added again does not begin anew.
        let history = History::default();
        if begins && !first.iter().any(|before| history.reaches(git, id, &before.id) != Ok(false)) {
            first.push(commit);
        }
    }
    Ok(first.into_iter().flat_map(|commit| commit.parents).collect())
}

/// What a push would bring to a branch of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arriving<'a> {
    /// The branch, such as `refs/heads/main`.
    pub(crate) name: &'a str,
    /// Where it is; `None` if it does not exist.
    pub(crate) old: Option<CommitId>,
    /// Where it would be.
    pub(crate) new: CommitId,
}

/// Judges what a push would bring, by the rules of the server's main branch as it is before the push. Left out is only what
/// that branch and the pushed one have already: whatever else is on the server may never have been judged. `None` for a
/// branch that the policy does not guard.
pub(crate) fn gate_received(context: &Context, git: &Git, arriving: Arriving<'_>) -> Result<Option<VerifyOutcome>> {
    let main = git.tip("HEAD")?;
    let rules = Rules::of_tip(git, main.map(|main| ("HEAD", main)), context.now())?;
    let branch = arriving.name.strip_prefix("refs/heads/").unwrap_or(arriving.name);
    let guards = |glob: &String| Glob::parse(glob).is_ok_and(|glob| glob.matches(branch.as_bytes()));
    if !rules.gate.branches.iter().any(guards) {
        return Ok(None);
    }
    let excluded = main.into_iter().chain(arriving.old).collect();
    judge(context, git, rules, &Ends { tips: vec![arriving.new], excluded }, &[], false).map(Some)
}

/// Why a push may not move the branch whose tip holds the rules: commits would be gone from it, and with them the policy, the
/// signers or a revert that they brought. Only an enforced policy refuses that.
pub(crate) fn refused_rewind(context: &Context, git: &Git, update: &RefUpdate) -> Result<Option<String>> {
    let (Some(main), Some(old)) = (git.tip("HEAD")?, update.old) else { return Ok(None) };
    if git.branch().as_deref() != update.name.strip_prefix("refs/heads/") {
        return Ok(None);
    }
    let rules = Rules::of(git, &main, context.now())?;
    if !rules.has_policy_file() || rules.gate.mode == GateMode::Advisory {
        return Ok(None);
    }
    let name = &update.name;
    Ok(match update.new {
        None => Some(format!("{name} cannot be deleted: its tip holds the rules of this repository")),
        Some(new) if !git.is_ancestor(&old, &new)? => Some(format!(
            "{name} cannot be wound back or replaced: its tip holds the rules of this repository. To undo a commit, revert it"
        )),
        Some(_) => None,
    })
}

/// Why seals that a push brings are refused: one is dated in the future, or no listed sealer has signed it.
pub(crate) fn refused_seals(
    context: &Context,
    git: &Git,
    update: &RefUpdate,
    notes: Option<CommitId>,
) -> Result<Option<String>> {
    let Some(new) = update.new else { return Ok(None) };
    let now = context.now();
    let rules = rules_of_server(context, git)?;
    let notes = git.tree_of(notes)?;
    let known = update.old.map(|old| walk(git, &old, &mut |_| {})).unwrap_or_default();
    let mut refusal = None;
    walk(git, &new, &mut |sealed| {
        let round = sealed.seal.round;
        if refusal.is_some() || known.has(&sealed.hash) {
            return;
        }
        if is_of_the_future(sealed.seal, now) {
            refusal = Some(format!("round {round} is dated {}, which is still to come", sealed.seal.sealed_at));
        } else if !rules.requirements.sealers.is_empty() {
            let keys = notes.map(|notes| SealSignatures::default().of(git, &notes, sealed, &rules.signers));
            if !keys.unwrap_or_default().iter().any(|key| rules.is_sealer(key, now)) {
                refusal = Some(format!("none of proof.sealers has signed round {round}"));
            }
        }
    });
    Ok(refusal.map(|why| format!("{} is not let in: {why}", update.name)))
}

/// Whether a line in the note of a seal names a key that is listed, and is no signature of that key. A verdict tries only so
/// many of them, so enough such lines would keep everyone from a verdict.
pub(super) fn is_forged_seal(git: &Git, rules: &Rules, commit: &CommitId, signature: &Signature) -> bool {
    if !sshsig::claimed_key(&signature.0).is_ok_and(|claimed| rules.signers.lists(&claimed)) {
        return false;
    }
    // What is no seal, or not here yet, is not looked at when commits are judged either.
    let Ok(Some(seal)) = git.commit(commit).and_then(|commit| git.file(&commit.tree, SEAL_FILE)) else { return false };
    git.blob(&seal.id, MAX_SEAL).is_ok_and(|text| sshsig::verify(&signature.0, &text, NAMESPACE).is_err())
}

/// The rules of the server's main branch.
pub(super) fn rules_of_server(context: &Context, git: &Git) -> Result<Rules> {
    Rules::of_tip(git, git.tip("HEAD")?.map(|main| ("HEAD", main)), context.now())
}

/// Judges a range as the gate would that guards the branch it was merged into: by the trusted rules, or else by those of
/// `into`.
pub(crate) fn gate_into(
    context: &Context,
    git: &Git,
    into: Option<&CommitId>,
    base: Option<&CommitId>,
    head: &CommitId,
) -> Result<VerifyOutcome> {
    let ends = Ends { tips: vec![*head], excluded: base.copied().into_iter().collect() };
    let rules = match (trusted::trusted_branch(git)?, into) {
        (Some((name, tip)), _) => Rules::of(git, &tip, context.now())?.named(name),
        (None, Some(into)) => Rules::of(git, into, context.now())?,
        (None, None) => Rules::defaults(context.now())?,
    };
    judge(context, git, rules, &ends, &[], false)
}

/// Judges what is between some ends. `unread` says what could not be read of what others offer.
fn judge(
    context: &Context,
    git: &Git,
    mut rules: Rules,
    ends: &Ends,
    unread: &[Error],
    with_digest: bool,
) -> Result<VerifyOutcome> {
    let line = match (ends.tips.as_slice(), ends.excluded.as_slice()) {
        ([tip], [base]) => git.line(base, tip),
        _ => None,
    };
    let commits = match line {
        Some(line) => line,
        None => git.commits(&ends.arguments())?,
    };
    let store = read_seals(context, git, &mut rules)?;
    let (gatherer, mut verdicts) = judge_commits(context, git, store.as_ref(), &rules, &commits, Wanted::default())?;
    ends.check(&gatherer, &mut verdicts)?;
    if !unread.is_empty() {
        offers::unread(unread, &mut verdicts);
    }
    let proofs_digest = with_digest.then(|| digest::digest(&gatherer, &verdicts));
    Ok(VerifyOutcome { proofs_digest, ..VerifyOutcome::new(verdicts, &rules) })
}
