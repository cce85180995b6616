//! `show COMMIT`, `log RANGE`: what was decided behind commits, from git alone, and how each of them stands.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::Git;
use crate::hint::{Step, hint};
use crate::judge::{CommitVerdict, RulesView, Summary, VerifyOutcome, VerifyRequest, verify};
use crate::proof::digest::{CommitId, ContentHash, RootHash};
use crate::proof::finding::Verdict;
use crate::proof::record::Id;
use crate::recall::{Trail, read_trail};
use crate::record::Workspace;
use crate::store::Store;

/// What `show` and `log` ask for.
#[derive(Debug, Clone, Default)]
pub struct StoryRequest {
    /// Commits and ranges; HEAD if there are none.
    pub revisions: Vec<String>,
    /// Whether a commit that is named stands for all that led to it, as it does for `git log`.
    pub history: bool,
    /// At most so many commits.
    pub limit: Option<u32>,
    /// Whether plans, analyses and attestations are wanted, too.
    pub full: bool,
    /// The commit whose policy counts; the trusted branch if not given.
    pub rules: Option<String>,
}

/// Commits and what was decided behind them.
#[derive(Debug, Clone, Serialize)]
pub struct StoryOutcome {
    /// The worst of them.
    pub verdict: Verdict,
    /// How many stand how.
    pub summary: Summary,
    /// Each, newest first.
    pub commits: Vec<CommitStory>,
    /// Whether there are older ones that the limit left away.
    pub more: bool,
    /// Whose rules they were judged by.
    pub rules: RulesView,
}

/// A commit and what was decided behind it.
#[derive(Debug, Clone, Serialize)]
pub struct CommitStory {
    /// How it stands.
    #[serde(flatten)]
    pub standing: CommitVerdict,
    /// `Name <email>` of its author.
    pub author: String,
    /// When it was made by its own word, in seconds since 1970.
    pub authored: Option<i64>,
    /// The records of its sessions, but only of those that hold, or that would hold if enough people had signed.
    #[serde(serialize_with = "each")]
    pub trails: Vec<Arc<Trail>>,
}

/// One session may stand behind many commits.
fn each<S: serde::Serializer>(trails: &[Arc<Trail>], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(trails.iter().map(|trail| &**trail))
}

/// Tells what was decided behind commits.
pub fn story(context: &Context, request: &StoryRequest) -> Result<StoryOutcome> {
    let git = Git::discover(context)?;
    let (revisions, more) = select(&git, request)?;
    let asked = VerifyRequest { revisions, rules: request.rules.clone(), ..VerifyRequest::default() };
    let outcome = verify(context, &asked)?;
    Ok(tell(context, &git, outcome, Some(request.full), more))
}

/// Tells what was decided behind commits that were judged already, or only how they stand.
pub fn story_of(context: &Context, outcome: VerifyOutcome, with_trails: bool) -> Result<StoryOutcome> {
    let git = Git::discover(context)?;
    Ok(tell(context, &git, outcome, with_trails.then_some(false), false))
}

/// `full` says whether everything that a session recorded is told; `None` tells nothing of it.
fn tell(context: &Context, git: &Git, outcome: VerifyOutcome, full: Option<bool>, more: bool) -> StoryOutcome {
    let store = full.and_then(|_| Store::open(&git.place().store_path(), context.patience()).ok());
    let mut told: HashMap<RootHash, Option<Arc<Trail>>> = HashMap::new();
    let mut commits = Vec::new();
    for standing in outcome.commits {
        let mut trails: Vec<Arc<Trail>> = Vec::new();
        let sound = standing.sessions.iter().filter(|session| session.holds || session.sound);
        for (session, full) in sound.filter_map(|session| Some((session, full?))) {
            // A squash of several commits of one session has it several times.
            if trails.iter().any(|trail| trail.root == session.root) {
                continue;
            }
            let trail = told.entry(session.root).or_insert_with(|| {
                let mut trail = read_trail(git, session, full)?;
                trail.mark_superseded(|entry| corrections(store.as_ref(), entry));
                Some(Arc::new(trail))
            });
            trails.extend(trail.clone());
        }
        let commit = git.commit(&standing.commit).ok();
        let author = commit.as_ref().map(|commit| String::from_utf8_lossy(&commit.author).into_owned());
        let authored =
            commit.and_then(|commit| String::from_utf8_lossy(&commit.author_time).split(' ').next()?.parse().ok());
        commits.push(CommitStory { standing, author: author.unwrap_or_default(), authored, trails });
    }
    StoryOutcome { verdict: outcome.verdict, summary: outcome.summary, commits, more, rules: outcome.rules }
}

/// The records of this clone that correct an entry.
fn corrections(store: Option<&Store>, entry: &ContentHash) -> Vec<ContentHash> {
    let Some(store) = store else { return Vec::new() };
    let found = store.corrections(entry).unwrap_or_default();
    found.iter().filter_map(|(record, _)| store.entry(record).ok()).map(|stored| stored.content_hash).collect()
}

/// The revisions to pass to `verify`, and whether the list was cut. A range is passed on as it was written, so that
/// `verify` can tell whether git lists all of it.
fn select(git: &Git, request: &StoryRequest) -> Result<(Vec<String>, bool)> {
    let is_range = |revision: &String| revision.contains("..") || revision.starts_with('^');
    if !request.history || (request.limit.is_none() && request.revisions.iter().all(is_range)) {
        return Ok((request.revisions.clone(), false));
    }
    // By ids, so that git reads each name as it is read here.
    let mut arguments = Vec::new();
    for revision in &request.revisions {
        if is_range(revision) {
            arguments.extend(crate::judge::range_ids(git, revision)?);
        } else {
            arguments.push(git.resolve(revision)?.to_string());
        }
    }
    if arguments.is_empty() {
        arguments.push(git.resolve("HEAD")?.to_string());
    }
    let mut listed = git.commits(&arguments)?;
    let limit = request.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let more = listed.len() > limit;
    listed.truncate(limit);
    if listed.is_empty() {
        // `verify` knows what to say of nothing, and whose policy that is by.
        return Ok((request.revisions.iter().filter(|revision| is_range(revision)).cloned().collect(), more));
    }
    Ok((listed.iter().map(ToString::to_string).collect(), more))
}

/// What a name given to `show` means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// A record of this clone's store.
    Record,
    Commit(CommitId),
}

/// Tells whether a name is a record's or a commit's.
pub fn meant(context: &Context, name: &str) -> Result<Meant> {
    let git = Git::discover(context)?;
    let commit = git.resolve(name);
    let Some(id) = Id::parse(name) else {
        // Names of records have none of these.
        let of_git = name.contains(['~', '^', '@', ':', '/']);
        return commit
            .map(Meant::Commit)
            .map_err(|error| if of_git { error } else { neither(name, Code::InvalidParams) });
    };
    let store = Workspace::open(context.clone());
    let record = match &store {
        Ok(workspace) => match workspace.store_of_record(&id) {
            Ok(_) => true,
            Err(error) if error.code == Code::RecordNotFound => false,
            Err(error) => return Err(error),
        },
        Err(_) => false,
    };
    let is_hash = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    match (record, commit, store) {
        (true, Ok(_), _) => Err(Error::new(Code::InvalidParams, format!("{name} names both a record and a commit"))
            .hint(hint!(
                format!("for the commit write refs/heads/{name} or its hash");
                Step::Trail(name.to_string()), " shows the record"
            ))),
        (true, Err(_), _) => Ok(Meant::Record),
        (false, Ok(commit), _) => Ok(Meant::Commit(commit)),
        // A store that is there and cannot be read may have it.
        (false, Err(_), Err(error)) if error.code != Code::NoStore => Err(error),
        (false, Err(error), _) if is_hash || name == "HEAD" => Err(error),
        (false, Err(_), _) => Err(neither(name, Code::RecordNotFound)),
    }
}

fn neither(name: &str, code: Code) -> Error {
    Error::new(code, format!("{name:?} is neither a record of this clone nor a commit")).hint(hint!(
        Step::Log,
        " lists the records of a session, ",
        Step::GitLogOneline,
        " commits"
    ))
}
