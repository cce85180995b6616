//! `vouch`: a person's word for a commit that no anchor fits, such as a squash whose context changed on the server. Signed
//! always, for one commit, and told what it is worth by the policy that decides.

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::git::{self, Commit, Git, NOTES};
use crate::hint::{Step, hint};
use crate::judge::{CommitVerdict, VerifyOutcome, gate_into};
use crate::proof::digest::{CommitId, RootHash};
use crate::proof::finding::{Finding, FindingCode, Severity, Verdict};
use crate::proof::note::{NoteLine, Signature};
use crate::proof::sshsig::claimed_key;
use crate::proof::trailer::{ProofTrailer, ProofTrailers};
use crate::proof::word::{MAX_REASON, NamedSession, Word};
use crate::publish::{Line, heal, note_of, publish};
use crate::record::{Workspace, acceptable, without_secrets};

/// Commits that are named in an answer though they are not proven.
const NAMED: usize = 20;

/// What `vouch` did.
#[derive(Debug, Clone, Serialize)]
pub struct VouchOutcome {
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// Whether the word is new; `false` if the same person had said the same.
    pub created: bool,
    /// The range that it stands for.
    pub range: Option<VouchedRange>,
    /// The roots of the sessions that it names, with their numbers of entries.
    pub sessions: Vec<Named>,
    pub reason: String,
    /// How the commit stands with it, by the policy of the branch that it was made on.
    pub verdict: Verdict,
    /// Whether that is by this word or another.
    pub vouched: bool,
    /// The findings about the commit.
    pub findings: Vec<Finding>,
    /// How many lines of ours another writer had overwritten, and were put back.
    pub restored: u64,
}

/// A range that a word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct VouchedRange {
    /// Where it begins: the merge base.
    pub base: CommitId,
    /// Its last commit.
    pub head: CommitId,
    /// How many of its commits are proven.
    pub proven: u64,
    /// How many need no proof.
    pub exempt: u64,
}

/// A session that a word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Named {
    pub root: RootHash,
    /// Its number of entries.
    pub count: u64,
}

/// Gives one's word for a commit, which may have been made of a range, `BASE..HEAD`.
pub fn vouch(workspace: &mut Workspace, revision: &str, range: Option<&str>, reason: &str) -> Result<VouchOutcome> {
    acceptable("--reason", reason, MAX_REASON)?;
    without_secrets("--reason", reason, "take it out: a word is published with the notes")?;
    let git = workspace.git()?;
    git.must_be_writable()?;
    let id = git.resolve(revision)?;
    let commit = git.commit(&id)?;
    let before = standing(workspace, &git, &commit)?;
    if before.verdict == Verdict::Pass {
        return Err(Error::new(Code::InvalidParams, format!("commit {id} is proven: nobody has to vouch for it"))
            .hint(hint!(Step::Verify(id.to_string()), " shows its proof"; Step::Sign(id.to_string()), " signs it")));
    }
    let (range, sessions) = match range {
        Some(range) => {
            let (range, sessions) = proven_range(workspace, &git, &commit, range)?;
            (Some(range), sessions)
        }
        None => (None, named_by_message(&commit)),
    };
    let word = Word {
        base: range.map(|range| range.base),
        commit: id,
        head: range.map(|range| range.head),
        reason: reason.to_owned(),
        said_at: workspace.context.now(),
        sessions,
        tree: commit.tree,
    };
    let sessions = word.sessions.iter().map(|named| Named { root: named.root, count: named.count }).collect();
    let signature = git::sign(&workspace.context, word.to_text().as_bytes())?;
    // First write the lines of a vouch that was killed before its note was written, so that the same word is not said
    // twice.
    let healed = heal(workspace, &git)?;
    let created = !is_said(&git, &word, &signature)?;
    let mut lines = Vec::new();
    if created {
        let line = NoteLine::Word { word: Box::new(word), signature };
        lines.push(Line { commit: id, text: line.to_line().unwrap_or_default(), change: None });
    }
    let restored = healed + publish(workspace, &git, &lines, None)?;
    let after = standing(workspace, &git, &commit)?;
    Ok(VouchOutcome {
        commit: id,
        subject: commit.subject(),
        created,
        range,
        sessions,
        reason: reason.to_owned(),
        verdict: after.verdict,
        vouched: after.vouched.is_some(),
        findings: after.findings,
        restored,
    })
}

/// How a commit stands by the policy of the branch that it was made on.
fn standing(workspace: &Workspace, git: &Git, commit: &Commit) -> Result<CommitVerdict> {
    let into = commit.parents.first();
    let outcome = gate_into(&workspace.context, git, into, into, &commit.id)?;
    let own = outcome.commits.into_iter().find(|verdict| verdict.commit == commit.id);
    own.ok_or_else(|| {
        Error::new(Code::ObjectMissing, format!("git does not list commit {} above its parent", commit.id))
    })
}

/// The range that a commit was made of, with the sessions that explain it. Every commit in it that must be proven is.
fn proven_range(
    workspace: &Workspace,
    git: &Git,
    commit: &Commit,
    range: &str,
) -> Result<(VouchedRange, Vec<NamedSession>)> {
    let wrong = |why: String| {
        Error::new(Code::InvalidParams, why)
            .hint(hint!(Step::Option("--for".into()), " takes BASE..HEAD: the branch as it was before it was squashed"))
    };
    let ends = range.split_once("..").filter(|(base, head)| !base.is_empty() && !head.is_empty());
    let ends = ends.filter(|(_, head)| !head.starts_with('.'));
    let (base, head) = ends.ok_or_else(|| wrong(format!("--for {range:?} is not a range")))?;
    let (base, head) = (git.resolve(base)?, git.resolve(head)?);
    let base = git.merge_base(&base, &head)?;
    let base = base.ok_or_else(|| wrong(format!("the ends of {range} have no commit in common")))?;
    if base == head {
        return Err(wrong(format!("{range} has no commits")));
    }
    if git.is_ancestor(&commit.id, &head)? {
        return Err(wrong(format!("{range} leads to commit {} itself, which cannot stand for it", commit.id)));
    }
    let outcome = gate_into(&workspace.context, git, commit.parents.first(), Some(&base), &head)?;
    match outcome.verdict {
        Verdict::Fail | Verdict::Missing | Verdict::Unchecked => return Err(not_proven(range, &outcome)),
        Verdict::Pass | Verdict::Vouched | Verdict::Exempt => {}
    }
    // A word for a part of the range is no proof of it, and must not become one here.
    if let Some(vouched) = outcome.commits.iter().find(|commit| commit.vouched.is_some()) {
        return Err(Error::new(Code::NotProven, format!("commit {} of {range} is only vouched for", vouched.commit))
            .hint(hint!("without ", Step::Option("--for".into()), ", the word stands for the commit alone")));
    }
    let holding = outcome.commits.iter().flat_map(|commit| &commit.sessions).filter(|session| session.holds);
    let mut sessions: Vec<NamedSession> =
        holding.map(|session| NamedSession { root: session.root, count: session.count }).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let summary = outcome.summary;
    Ok((VouchedRange { base, head, proven: summary.pass, exempt: summary.exempt }, sessions))
}

/// The sessions that the commit itself names.
fn named_by_message(commit: &Commit) -> Vec<NamedSession> {
    let trailers = ProofTrailers::parse(&commit.message).trailers;
    let roots = trailers.iter().filter_map(|trailer| match trailer {
        ProofTrailer::Root(root) => Some(NamedSession { root: root.root, count: root.count }),
        _ => None,
    });
    let mut sessions: Vec<NamedSession> = roots.collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions
}

/// Whether the same person has said the same, whenever that was.
fn is_said(git: &Git, word: &Word, signature: &Signature) -> Result<bool> {
    let Some(tip) = git.tip(NOTES)? else { return Ok(false) };
    let key = claimed_key(&signature.0).ok();
    let note = note_of(git, &git.commit(&tip)?.tree, &word.commit)?;
    Ok(note.iter().any(|line| match NoteLine::parse(line) {
        Ok(Some(NoteLine::Word { word: said, signature })) => {
            Word { said_at: word.said_at, ..*said } == *word && claimed_key(&signature.0).ok() == key
        }
        _ => false,
    }))
}

/// Says what of a range is not proven.
fn not_proven(range: &str, outcome: &VerifyOutcome) -> Error {
    let severe = |finding: &&Finding| finding.severity > Severity::Warning;
    let codes = |commit: &CommitVerdict| -> Vec<FindingCode> {
        commit.findings.iter().filter(severe).map(|finding| finding.code).collect()
    };
    let bad: Vec<&CommitVerdict> = outcome.commits.iter().filter(|commit| !commit.verdict.is_accepted()).collect();
    let summary = outcome.summary;
    let code = if outcome.verdict >= Verdict::Missing { Code::NotProven } else { Code::ObjectMissing };
    let mut error = Error::new(
        code,
        format!(
            "of {range}, {} proven, {} not required, {} missing, {} failed, {} could not be checked",
            summary.pass, summary.exempt, summary.missing, summary.fail, summary.unchecked
        ),
    );
    for commit in bad.iter().take(3) {
        let codes: Vec<&str> = codes(commit).iter().map(|code| code.as_str()).collect();
        error = error.because(format!("{:.12} {}", commit.commit, codes.join(", ")));
    }
    let listed: Vec<serde_json::Value> = bad
        .iter()
        .take(NAMED)
        .map(|bad| serde_json::json!({ "commit": bad.commit, "verdict": bad.verdict, "codes": codes(bad) }))
        .collect();
    error
        .hint(hint!(
            Step::Verify(range.to_string()), " tells more";
            "without ", Step::Option("--for".into()), ", the word stands for the commit alone"
        ))
        .details(serde_json::json!({ "commits": listed }))
}
