//! `sign`: a person's name on the anchors of a commit that hold.

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::git::NOTES;
use crate::hint::{Step, hint};
use crate::judge::{SessionVerdict, VerifyRequest, verify};
use crate::proof::digest::{AnchorId, CommitId};

use crate::proof::note::NoteLine;
use crate::proof::record::Id;
use crate::publish::{note_of, publish, signed_line};
use crate::record::Workspace;
use crate::store::Store;

/// What `sign` did.
#[derive(Debug, Clone, Serialize)]
pub struct SignOutcome {
    pub commit: CommitId,
    /// The anchors that were signed.
    pub signed: Vec<AnchorId>,
    /// Sessions whose anchors would hold as well, but which this clone did not record: they are signed by name only.
    pub others: Vec<Id>,
    /// How many lines of ours another writer had overwritten, and were put back.
    pub restored: u64,
}

/// Signs the anchors of a commit that hold: that of one session, or those of the sessions that this clone recorded.
pub fn sign(workspace: &mut Workspace, commit: &str, session: Option<&str>) -> Result<SignOutcome> {
    let git = workspace.git()?;
    let commit = git.resolve(commit)?;
    let asked = VerifyRequest { revisions: vec![commit.to_string()], ..VerifyRequest::default() };
    let outcome = verify(&workspace.context, &asked)?;
    // A signature that is missing or not valid must not keep anyone from signing; everything else must hold.
    let sound: Vec<&SessionVerdict> =
        outcome.commits.iter().flat_map(|commit| &commit.sessions).filter(|session| session.sound).collect();
    let (chosen, others) = chosen(&workspace.store, sound, session, commit)?;
    let chosen: Vec<AnchorId> = chosen.iter().map(|session| session.anchor_id).collect();
    let mut others: Vec<Id> = others.iter().map(|session| session.session_id.clone()).collect();
    others.dedup();
    let mut lines = Vec::new();
    let mut signed = Vec::new();
    let change = git.change_ids_of(&git.commit(&commit)?)?;
    let tip = git.tip(NOTES)?;
    let note = tip.map(|tip| note_of(&git, &git.commit(&tip)?.tree, &commit)).transpose()?.unwrap_or_default();
    for line in &note {
        let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(line) else { continue };
        let id = anchor.id();
        if chosen.contains(&id) && !signed.contains(&id) {
            lines.extend(signed_line(workspace, commit, *anchor, change, &note)?);
            signed.push(id);
        }
    }
    if signed.is_empty() {
        return Err(Error::new(Code::InvalidParams, format!("commit {commit} has no anchor that could be signed"))
            .hint(hint!(
                Step::Verify(commit.to_string()), " tells what it has";
                Step::Sync, " fetches what others anchored"
            )));
    }
    let restored = publish(workspace, &git, &lines, None)?;
    Ok(SignOutcome { commit, signed, others, restored })
}

/// The sessions to sign, and the others. Whoever can push can anchor a session of theirs to any commit, so a name goes onto
/// the session that was named, else onto those that this clone recorded, else onto the only one there is.
fn chosen<'a>(
    store: &Store,
    sound: Vec<&'a SessionVerdict>,
    wanted: Option<&str>,
    commit: CommitId,
) -> Result<(Vec<&'a SessionVerdict>, Vec<&'a SessionVerdict>)> {
    if let Some(wanted) = wanted {
        return Ok((sound.into_iter().filter(|session| session.session_id.as_str() == wanted).collect(), Vec::new()));
    }
    let (own, others): (Vec<_>, Vec<_>) =
        sound.into_iter().partition(|session| store.recorded(&session.session_id, &session.root, session.count));
    match (&own[..], &others[..]) {
        ([], [first, rest @ ..]) if rest.iter().any(|other| other.session_id != first.session_id) => {
            let mut names: Vec<&str> = others.iter().map(|session| session.session_id.as_str()).collect();
            names.dedup();
            let what = format!(
                "commit {commit} is explained by sessions that this clone did not record: {}",
                names.join(", ")
            );
            Err(Error::new(Code::InvalidParams, what).hint(hint!(
                Step::Show(commit.to_string()), " shows what each of them says";
                Step::SignSession(commit.to_string(), first.session_id.to_string()), " signs one of them"
            )))
        }
        ([], _) => Ok((others, Vec::new())),
        _ => Ok((own, others)),
    }
}
