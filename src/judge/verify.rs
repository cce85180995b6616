//! `verify`: what a clone alone can say about the proof of commits.

use std::sync::Arc;

use serde::Serialize;

use super::commit;
use super::digest;
use super::gather::{Gatherer, Wanted};
use super::prefetch;
use super::range::{Ends, JudgedRange};
use super::rules::{Rules, RulesView};
use super::trusted;
use super::verdict::CommitVerdict;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::Git;
use crate::proof::digest::{CommitId, ProofsDigest};
use crate::proof::finding::{Severity, Verdict};
use crate::proof::policy::GateMode;
use crate::store::Store;

/// What `verify` is asked for.
#[derive(Debug, Clone, Default)]
pub struct VerifyRequest {
    /// Commits and ranges; HEAD if there are none.
    pub revisions: Vec<String>,
    /// What is kept of each commit.
    pub keep: Keep,
    /// The commit whose policy counts; the trusted branch if not given.
    pub rules: Option<String>,
    /// Most commits that are judged; more are refused.
    pub most: Option<usize>,
    /// Whether the digest of what the verdict rests on is wanted.
    pub with_digest: bool,
    /// Whether every session that explains a commit is wanted. Otherwise the search ends with the first anchors that settle the
    /// verdict, so that anyone who can write proof refs decides which sessions are named.
    pub every_session: bool,
}

/// What is kept of each commit beside its verdict. In a long range it takes most of the memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// Nothing, not even what was found.
    Nothing,
    /// What was found, and the sessions that explain the commit.
    #[default]
    Sessions,
    /// The decisions and reflections of those sessions, too.
    Stories,
}

/// How commits stand.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct VerifyOutcome {
    /// The worst of them.
    pub verdict: Verdict,
    /// How many stand how.
    pub summary: Summary,
    /// Each, newest first.
    pub commits: Vec<CommitVerdict>,
    /// Whether the policy came from a file; else the defaults were used. The same as `rules.policy`.
    pub policy: &'static str,
    /// Whose rules these are.
    pub rules: RulesView,
    /// Whether a gate turns commits away by this verdict; `false` where the policy is advisory.
    pub enforced: bool,
    /// A digest of the anchors, evidence and lines of the index that the verdict rests on, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proofs_digest: Option<ProofsDigest>,
    /// The range that was judged, where it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<JudgedRange>,
}

/// How many commits stand how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Summary {
    /// Proven.
    pub pass: u64,
    /// Vouched for by a person, and not proven.
    pub vouched: u64,
    /// A proof is required, and there is none.
    pub missing: u64,
    /// A proof does not hold.
    pub fail: u64,
    /// No proof is required, and there is none.
    pub exempt: u64,
    /// Could not be checked.
    pub unchecked: u64,
}

impl Summary {
    /// How many commits there are.
    pub fn commits(&self) -> u64 {
        self.pass + self.vouched + self.missing + self.fail + self.exempt + self.unchecked
    }
}

impl VerifyOutcome {
    /// What is wrong with the seals as a whole counts for every commit that is not exempt: so a commit has one verdict,
    /// whichever others are asked about with it.
    pub(super) fn new(mut commits: Vec<CommitVerdict>, rules: &Rules) -> Self {
        let findings = &rules.seals.findings;
        if let Some(worst) = findings.iter().map(|finding| finding.severity).max() {
            let verdict = if worst == Severity::Error { Verdict::Fail } else { Verdict::Unchecked };
            for commit in commits.iter_mut().filter(|commit| commit.verdict != Verdict::Exempt) {
                commit.verdict = commit.verdict.max(verdict);
                commit.binding = None;
                commit.vouched = None;
                commit.findings.extend(findings.iter().cloned());
            }
        }
        let mut summary = Summary::default();
        for commit in &mut commits {
            let CommitVerdict { commit: id, findings, .. } = commit;
            for finding in findings {
                finding.name_commit(id);
            }
            match commit.verdict {
                Verdict::Pass => summary.pass += 1,
                Verdict::Vouched => summary.vouched += 1,
                Verdict::Missing => summary.missing += 1,
                Verdict::Fail => summary.fail += 1,
                Verdict::Exempt => summary.exempt += 1,
                Verdict::Unchecked => summary.unchecked += 1,
            }
        }
        let verdict = commits.iter().map(|commit| commit.verdict).max().unwrap_or(Verdict::Exempt);
        let view = rules.source.clone();
        let enforced = rules.gate.mode == GateMode::Enforce;
        Self { verdict, summary, commits, policy: view.policy, rules: view, enforced, proofs_digest: None, range: None }
    }
}

/// Verifies commits and ranges, by the rules of the trusted branch.
pub fn verify(context: &Context, request: &VerifyRequest) -> Result<VerifyOutcome> {
    let git = Git::discover(context)?;
    git.open_packs(false);
    verify_in(context, &git, open_store(context, &git).as_ref(), request)
}

/// The same, in a repository that is open, with its store.
pub(crate) fn verify_in(
    context: &Context,
    git: &Git,
    store: Option<&Store>,
    request: &VerifyRequest,
) -> Result<VerifyOutcome> {
    let (commits, ends, tip) = select(git, &request.revisions)?;
    if let Some(most) = request.most.filter(|most| commits.len() > *most) {
        return Err(Error::new(
            Code::TooLarge,
            format!("{} commits are more than the {most} of one call", commits.len()),
        )
        .hint("ask for a shorter range"));
    }
    let mut rules = trusted::rules(git, context.now(), request.rules.as_deref(), ends.as_ref(), &tip)?;
    rules.read_seals(git, store)?;
    let wanted = Wanted { keep: request.keep, every_session: request.every_session };
    let (gatherer, mut verdicts) = judge_commits(context, git, store, &rules, &commits, wanted)?;
    if let Some(ends) = ends {
        ends.check(&gatherer, &mut verdicts)?;
    }
    let proofs_digest = request.with_digest.then(|| digest::digest(&gatherer, &verdicts));
    Ok(VerifyOutcome { proofs_digest, ..VerifyOutcome::new(verdicts, &rules) })
}

/// Judges commits by the rules of the trusted branch, with all that `git` sees: also what others offer.
pub(crate) fn judge_landed(context: &Context, git: &Git, commits: &[CommitId]) -> Result<Vec<CommitVerdict>> {
    let Some(tip) = commits.first() else { return Ok(Vec::new()) };
    let mut rules = trusted::rules(git, context.now(), None, None, tip)?;
    let store = read_seals(context, git, &mut rules)?;
    let (_, verdicts) = judge_commits(context, git, store.as_ref(), &rules, commits, Wanted::default())?;
    Ok(VerifyOutcome::new(verdicts, &rules).commits)
}

/// The digest of what verdicts rest on.
pub(crate) fn rests_on(git: &Git, verdicts: &[CommitVerdict]) -> Result<ProofsDigest> {
    Ok(digest::digest(&Gatherer::new(git, None, Wanted::default())?, verdicts))
}

/// A ref with proofs that a remote may have and that was not fetched. While there is one, nobody can say that there is no proof.
pub(crate) fn not_fetched(git: &Git, store: Option<&Store>) -> Result<Option<&'static str>> {
    Ok(Gatherer::new(git, store, Wanted::default())?.not_fetched())
}

/// Judges commits by the rules under which a round may seal their anchors.
pub(crate) fn judge_for_sealing(context: &Context, git: &Git, commits: &[CommitId]) -> Result<Vec<CommitVerdict>> {
    let rules = Rules::for_sealing(context.now())?;
    let store = open_store(context, git);
    judge_commits(context, git, store.as_ref(), &rules, commits, Wanted::default()).map(|(_, verdicts)| verdicts)
}

/// A range as arguments of `git rev-list`, by ids alone.
pub(crate) fn range_ids(git: &Git, range: &str) -> Result<Vec<String>> {
    Ends::parse(git, &[range]).map(|ends| ends.arguments())
}

/// Reads the seals, and what was seen of them before. The answer is the store, for what comes next.
pub(super) fn read_seals(context: &Context, git: &Git, rules: &mut Rules) -> Result<Option<Store>> {
    let store = open_store(context, git);
    rules.read_seals(git, store.as_ref())?;
    Ok(store)
}

/// The store is only an index here: where it is missing or damaged, git alone has to do.
fn open_store(context: &Context, git: &Git) -> Option<Store> {
    Store::open(&git.place().store_path(), context.patience()).ok()
}

/// From so many commits on, two threads share them: one that is started must have something to do.
const SHARED_FROM: usize = 256;

/// Judges commits, in their order. The gatherer is for what is left to be asked.
pub(super) fn judge_commits<'a>(
    context: &Context,
    git: &'a Git,
    store: Option<&'a Store>,
    rules: &Rules,
    commits: &[CommitId],
    wanted: Wanted,
) -> Result<(Gatherer<'a>, Vec<CommitVerdict>)> {
    if commits.len() < SHARED_FROM {
        let gatherer = Gatherer::new(git, store, wanted)?;
        let verdicts = commits.iter().map(|id| commit::judge(&gatherer, rules, id)).collect();
        return Ok((gatherer, verdicts));
    }
    let (packs, reopen) = (git.packs(true), git.reopen());
    git.read_packs(Arc::clone(&packs));
    let other = || {
        let git = reopen()?;
        git.read_packs(packs);
        let store = open_store(context, &git);
        Ok((git, store))
    };
    let mut gatherer = Gatherer::new(git, store, wanted)?;
    let verdicts = prefetch::judge(context, &mut gatherer, other, rules, commits)?;
    Ok((gatherer, verdicts))
}

/// The commits that arguments mean, the ends of the ranges among them, and the tip whose policy counts.
fn select(git: &Git, revisions: &[String]) -> Result<(Vec<CommitId>, Option<Ends>, CommitId)> {
    let head = ["HEAD".to_owned()];
    let revisions = if revisions.is_empty() { &head } else { revisions };
    let is_range = |revision: &String| revision.contains("..") || revision.starts_with('^');
    let (ranges, single): (Vec<&String>, Vec<&String>) = revisions.iter().partition(|revision| is_range(revision));
    let mut commits = Vec::new();
    for revision in &single {
        commits.push(git.resolve(revision)?);
    }
    let mut tip = commits.first().copied();
    let mut ends = None;
    if !ranges.is_empty() {
        let ranges: Vec<&str> = ranges.iter().map(|range| range.as_str()).collect();
        // Git is given ids and no names: it might read a name in another way.
        let parsed = Ends::parse(git, &ranges)?;
        let listed = git.commits(&parsed.arguments())?;
        tip = tip.or(listed.first().copied()).or(parsed.tips.first().copied());
        // Commits that are named by themselves stand for themselves alone.
        ends = commits.is_empty().then_some(parsed);
        commits.extend(listed);
    }
    let mut seen = std::collections::HashSet::new();
    commits.retain(|commit| seen.insert(*commit));
    let tip = tip.ok_or_else(|| {
        Error::new(Code::CommitNotFound, "the range names no commit").hint("a range is BASE..HEAD, as git has it")
    })?;
    Ok((commits, ends, tip))
}
