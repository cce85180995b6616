//! Proofs from the chain of rounds: that a session is in the log, that a later log begins with an earlier one, and the
//! head of the log as a checkpoint for witnesses.

use serde::Serialize;

use super::chain::{Walked, walk};
use super::chain::{no_such, open};
use crate::context::{Context, read_regular};
use crate::error::{Code, Error, Result};
use crate::git::{Git, ROUNDS};
use crate::hint::{Step, hint};
use crate::proof::checkpoint::{self, Origin};
use crate::proof::digest::RootHash;
use crate::proof::log;
use crate::proof::logged::{ConsistencyProof, LoggedProof, RoundHead};
use crate::proof::scheme::Scheme;
use crate::proof::seal::{LogHead, SealedSession};
use crate::proof::sshsig::ed25519_private_key;
use crate::proof::tree::Tree;

/// The log as the chain has it: its tree, and where it stood at each round.
pub(crate) struct Log {
    tree: Tree,
    heads: Vec<RoundHead>,
}

impl Log {
    fn head(&self, round: u64) -> Result<RoundHead> {
        let index = usize::try_from(round).ok().and_then(|round| round.checked_sub(1));
        index.and_then(|index| self.heads.get(index).copied()).ok_or_else(|| no_such(round, self.heads.len() as u64))
    }

    fn last(&self) -> Result<RoundHead> {
        self.heads.last().copied().ok_or_else(|| no_such(1, 0))
    }

    /// Whether the chain once had just this log.
    pub(crate) fn had(&self, log: &LogHead) -> bool {
        self.heads.iter().any(|head| head.log() == *log)
    }
}

/// Reads the log; `each` is told of every session with its place.
pub(crate) fn read_log(git: &Git, each: &mut dyn FnMut(u64, u64, &SealedSession)) -> Result<Log> {
    let mut log = Log { tree: Tree::new(Scheme::V1Rfc9162), heads: Vec::new() };
    let Some(tip) = git.tip(ROUNDS)? else { return Ok(log) };
    let walked: Walked = walk(git, &tip, &mut |sealed| {
        for session in &sealed.seal.sessions {
            each(log.tree.count(), sealed.seal.round, session);
            log.tree.push(log::leaf(session.to_text().as_bytes()));
        }
        log.heads.push(RoundHead::new(sealed.seal.round, &sealed.seal.log));
    });
    walked.whole().map(|_| log)
}

/// Proves that the log of round `to`, the newest if not given, begins with that of round `from`.
pub fn prove_rounds(context: &Context, from: u64, to: Option<u64>) -> Result<ConsistencyProof> {
    let log = read_log(&open(context)?, &mut |_, _, _| {})?;
    let to = to.map_or_else(|| log.last(), |to| log.head(to))?;
    let from = log.head(from)?;
    ConsistencyProof::make(&log.tree, from, to).ok_or_else(|| {
        Error::new(Code::InvalidParams, format!("round {} is after round {}", from.round, to.round)).hint(hint!(
            Step::Option("--from".into()),
            " names the earlier round, ",
            Step::Option("--to".into()),
            " the later one"
        ))
    })
}

/// Proves that a session is in the log of the newest round. Where two roots go by one id, the root tells them apart.
pub fn prove_sealed(context: &Context, session: &str, root: Option<&str>) -> Result<LoggedProof> {
    let root = root.map(|root| {
        RootHash::parse(root).ok_or_else(|| {
            Error::new(Code::InvalidParams, format!("--root takes 64 lower-case hex digits, not {root:?}"))
                .hint(hint!(Step::RoundsShow("1".into()), " lists the roots of a round's sessions"))
        })
    });
    let root = root.transpose()?;
    let mut found: Vec<(u64, SealedSession)> = Vec::new();
    let log = read_log(&open(context)?, &mut |index, _, sealed| {
        if sealed.session_id.as_str() == session && root.is_none_or(|root| sealed.root == root) {
            found.push((index, sealed.clone()));
        }
    })?;
    if found.len() > 1 {
        let roots: Vec<String> = found.iter().map(|(_, sealed)| sealed.root.to_string()).collect();
        return Err(Error::new(Code::InvalidParams, format!("{} sealed sessions are called {session}", found.len()))
            .because(format!("their roots are {}", roots.join(", ")))
            .hint(hint!("name the one that is meant: ", Step::Option("--root ROOT".into()))));
    }
    let (index, sealed) = found.pop().ok_or_else(|| {
        Error::new(Code::SessionNotFound, format!("no round has sealed session {session:?}"))
            .hint(hint!(Step::Seal, " seals what is anchored"; Step::Sync, " fetches the seals of others"))
    })?;
    match LoggedProof::make(&log.tree, log.last()?, index, sealed) {
        Some(proof) => Ok(proof),
        None => unreachable!("the log has what was just read from it"),
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct CheckpointOutcome {
    /// The name of the log.
    pub origin: String,
    pub round: u64,
    /// How many sessions the log has.
    pub size: u64,
    pub root: RootHash,
    /// The signed note.
    pub checkpoint: String,
    /// The line by which others know the key.
    pub verifier_key: String,
}

#[derive(Debug, Clone, Default)]
pub struct CheckpointRequest {
    /// The name of the log; as the setting `proof.origin` says if not given.
    pub origin: Option<String>,
    /// The file of the key; as `proof.checkpointKey` says if not given.
    pub key: Option<String>,
    /// The round; the newest if not given.
    pub round: Option<u64>,
}

/// The head of the log as a signed checkpoint.
pub fn checkpoint(context: &Context, request: &CheckpointRequest) -> Result<CheckpointOutcome> {
    let git = open(context)?;
    let named = || Step::GitConfig("proof.origin".into(), "example.org/proofs".into());
    let origin = request.origin.clone().or_else(|| git.setting("proof.origin"));
    let origin = origin.ok_or_else(|| {
        let hint = hint!(named(), ", or ", Step::Option("--origin ORIGIN".into()));
        Error::new(Code::InvalidParams, "a checkpoint needs the name of the log").hint(hint)
    })?;
    let origin = Origin::parse(&origin).ok_or_else(|| {
        Error::new(Code::InvalidParams, format!("an origin is {}; not {origin:?}", Origin::RULE)).hint(named())
    })?;
    let file = request.key.clone().or_else(|| git.path_setting("proof.checkpointKey"));
    let file = file.ok_or_else(|| {
        let kept = Step::GitConfig("proof.checkpointKey".into(), "PATH".into());
        Error::new(Code::InvalidParams, "a checkpoint needs an Ed25519 key without a passphrase").hint(hint!(
            Step::SshKeygen("PATH".into()),
            ", then ",
            kept,
            ", or ",
            Step::Option("--key PATH".into())
        ))
    })?;
    let unusable = |why: String| {
        Error::new(Code::SigningFailed, format!("{file} cannot sign a checkpoint"))
            .because(why)
            .hint(hint!(Step::SshKeygen("PATH".into()), " makes a key for it"; "keep it for checkpoints alone"))
    };
    let text = read_regular(&context.path(file.as_ref())).map_err(|error| unusable(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|error| unusable(error.to_string()))?;
    let key = ed25519_private_key(&text).map_err(|error| unusable(error.to_string()))?;
    let log = read_log(&git, &mut |_, _, _| {})?;
    let head = request.round.map_or_else(|| log.last(), |round| log.head(round))?;
    Ok(CheckpointOutcome {
        origin: origin.to_string(),
        round: head.round,
        size: head.size,
        root: head.root,
        checkpoint: checkpoint::signed(&origin, &head.log(), &key),
        verifier_key: checkpoint::verifier_key(&origin, &key),
    })
}
