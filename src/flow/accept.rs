//! `accept`: takes over the proofs of commits that landed here, such as by a pull request from a fork. What the other
//! repository offers is fetched apart, judged with what is here, and only what holds for a landed commit is taken over.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::git::Git;
use crate::hint::{Step, hint};
use crate::judge::{CommitVerdict, Offers, judge_landed, range_ids, rests_on, trusted_branch};
use crate::proof::change::Sighting;
use crate::proof::digest::{CommitId, ProofsDigest};
use crate::proof::finding::Verdict;
use crate::proof::policy::Binding;
use crate::proof::record::Id;
use crate::publish::{Acceptable, TakenOver};
use crate::record::Workspace;

/// Commits that are looked at where no range is named.
const NEWEST: usize = 100;

/// What `accept` did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AcceptOutcome {
    /// The other repository.
    pub source: String,
    /// The commits whose proofs were taken over.
    pub accepted: Vec<AcceptedCommit>,
    /// How many commits are proven without it.
    pub proven_before: u64,
    /// The commits that need a proof and have none that holds, there or here.
    pub left: Vec<LeftCommit>,
    /// How much was taken over.
    pub taken: TakenOver,
    /// The digest of what the accepted commits were made from, as a gate that judged them before would give it.
    pub proofs_digest: Option<ProofsDigest>,
}

/// A commit whose proof was taken over.
#[derive(Debug, Clone, Serialize)]
pub struct AcceptedCommit {
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// How the proof belongs to it.
    pub binding: Option<Binding>,
    /// The sessions that explain it.
    pub sessions: Vec<Id>,
}

/// A commit that is not proven.
#[derive(Debug, Clone, Serialize)]
pub struct LeftCommit {
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// How it stands.
    pub verdict: Verdict,
}

/// Takes over the proofs that hold for landed commits: those of `range`, else the newest. `from` is an address, a remote or
/// a path. With a digest, the proofs must be those that a verdict of the gate rested on.
pub fn accept(
    workspace: &mut Workspace,
    from: &str,
    range: Option<&str>,
    digest: Option<&str>,
) -> Result<AcceptOutcome> {
    let wanted = digest.map(|digest| parse_digest(digest, from)).transpose()?;
    let git = workspace.git()?;
    git.must_be_writable()?;
    let context = workspace.context.clone();
    let source = git.remote(Some(from))?.shown();
    let commits = landed(&git, from, range)?;
    let own = judge_landed(&context, &git, &commits)?;
    let offers = Offers::gather(git, &[from.to_owned()])?;
    if let Some(error) = offers.unread.into_iter().next() {
        return Err(error);
    }
    let with = &offers.git;
    let verdicts = judge_landed(&context, with, &commits)?;
    let mut outcome = AcceptOutcome { source, ..AcceptOutcome::default() };
    let mut acceptable = Acceptable::default();
    let (mut originals, mut gone) = (BTreeSet::new(), Vec::new());
    for (before, verdict) in own.iter().zip(&verdicts) {
        let (commit, subject) = (verdict.commit, verdict.subject.clone());
        match verdict.verdict {
            Verdict::Pass if before.verdict == Verdict::Pass => outcome.proven_before += 1,
            Verdict::Pass => {
                collect(&mut acceptable, with, verdict)?;
                match made_from(with, verdict)? {
                    Some(commits) => originals.extend(commits),
                    None => gone.push(CommitVerdict { found_by: Vec::new(), ..verdict.clone() }),
                }
                let holding = verdict.sessions.iter().filter(|session| session.holds);
                let sessions = holding.map(|session| session.session_id.clone()).collect();
                outcome.accepted.push(AcceptedCommit { commit, subject, binding: verdict.binding, sessions });
            }
            verdict if !verdict.is_accepted() => outcome.left.push(LeftCommit { commit, subject, verdict }),
            _ => {}
        }
    }
    if outcome.accepted.is_empty() {
        return Ok(outcome);
    }
    let originals: Vec<CommitId> = originals.into_iter().collect();
    let judged = judge_landed(&context, with, &originals)?;
    let digest = rests_on(with, &judged.into_iter().chain(gone).collect::<Vec<_>>())?;
    outcome.proofs_digest = Some(digest);
    if wanted.is_some_and(|wanted| wanted != digest) {
        let said = format!("what {} offers is not what was judged: its digest is {digest}", outcome.source);
        return Err(Error::new(Code::NotProven, said).hint(hint!(
            "nothing was taken over";
            "name just the commits that landed, or judge again: ", Step::GateProofs(from.to_owned())
        )));
    }
    outcome.taken = acceptable.take_over(workspace, with)?;
    Ok(outcome)
}

fn parse_digest(text: &str, source: &str) -> Result<ProofsDigest> {
    ProofsDigest::parse(text).ok_or_else(|| {
        Error::new(Code::InvalidParams, "--digest takes 64 lower-case hex digits").hint(hint!(
            "the JSON of ",
            Step::GateProofs(source.to_owned()),
            " has it as proofs_digest"
        ))
    })
}

/// The commits to look at. All of them must be in the branch whose rules count, here or at the remote; where no such branch
/// is known, in HEAD.
fn landed(git: &Git, from: &str, range: Option<&str>) -> Result<Vec<CommitId>> {
    let mut tips = Vec::new();
    if let Some((name, tip)) = trusted_branch(git)? {
        tips.push(tip);
        tips.extend(local_branch(git, &name)?);
    } else {
        tips.push(git.resolve("HEAD")?);
    }
    let excluded: Vec<String> = tips.iter().map(|tip| format!("^{tip}")).collect();
    let commits = match range {
        None => {
            let tips: Vec<String> = tips.iter().map(ToString::to_string).collect();
            return git.newest(&tips, NEWEST);
        }
        Some(range) if range.contains("..") => git.commits(&range_ids(git, range)?)?,
        Some(revision) => vec![git.resolve(revision)?],
    };
    let mut arguments: Vec<String> = commits.iter().map(ToString::to_string).collect();
    arguments.extend(excluded);
    if let Some(stray) = git.commits(&arguments)?.first().filter(|_| !commits.is_empty()) {
        return Err(Error::new(Code::InvalidParams, format!("commit {stray} has not landed")).hint(hint!(
            "merge it first, then ", Step::GitFetch;
            "proofs of commits that are under review are for ", Step::GateProofs(from.to_owned())
        )));
    }
    Ok(commits)
}

/// The branch of this clone that follows a branch of a remote.
fn local_branch(git: &Git, name: &str) -> Result<Option<CommitId>> {
    let Some(below) = name.strip_prefix("refs/remotes/").and_then(|name| name.split_once('/')) else { return Ok(None) };
    let (remote, branch) = below;
    let branch = match branch {
        "HEAD" => git.branch_of_head(remote)?,
        branch => Some(branch.to_owned()),
    };
    branch.map_or(Ok(None), |branch| git.tip(&format!("refs/heads/{branch}")))
}

/// Collects what is to be accepted for a commit that is proven.
fn collect(acceptable: &mut Acceptable, with: &Git, verdict: &CommitVerdict) -> Result<()> {
    let landed = &verdict.commit;
    for session in verdict.sessions.iter().filter(|session| session.holds) {
        acceptable.anchor(with, &session.noted_on, (session.anchor_id, session.root))?;
        acceptable.keep(with, landed, session.noted_on)?;
        acceptable.keep_originals(with, landed, &session.root)?;
    }
    for (ids, sighting) in &verdict.found_by {
        acceptable.sighting(with, ids, *sighting)?;
        if let Sighting::Range { head, .. } = sighting {
            acceptable.keep(with, landed, *head)?;
        }
    }
    // The index entry helps to find the change again, for example when it is picked onto another branch.
    if let Some(ids) = with.change_ids_of(&with.commit(landed)?)? {
        acceptable.sighting(with, &ids, Sighting::Commit(*landed))?;
    }
    Ok(())
}

/// The commits that a landed one was made from, which a gate judged before: those of its range, those whose notes have its
/// anchors, or itself. `None` where one of them is not at hand.
fn made_from(with: &Git, verdict: &CommitVerdict) -> Result<Option<BTreeSet<CommitId>>> {
    if verdict.binding == Some(Binding::Squashed)
        && let Some((_, Sighting::Range { base, head })) = verdict.found_by.first()
    {
        return Ok(Some(with.commits(&[&format!("{base}..{head}")])?.into_iter().collect()));
    }
    let holding = verdict.sessions.iter().filter(|session| session.holds);
    let commits: BTreeSet<CommitId> = holding.map(|session| session.noted_on).collect();
    Ok(commits.iter().all(|commit| with.has(&commit.0)).then_some(commits))
}
