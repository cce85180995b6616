//! `disclose`: publishes withheld entries later. The line of an entry takes the place of its trace; root and proofs stay.

use serde::Serialize;

use super::evidence::{has_evidence, publish_evidence};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::record::Id;
use crate::record::{Workspace, credential_in_entry, parse_id};

#[derive(Debug, Clone, Serialize)]
pub struct DiscloseOutcome {
    pub records: Vec<Disclosed>,
}

/// A record that is no longer withheld.
#[derive(Debug, Clone, Serialize)]
pub struct Disclosed {
    pub record_id: Id,
    pub session_id: Id,
    /// Whether the evidence in this clone has it now; if not, it comes with the session, when that is finalized.
    pub published: bool,
}

/// Discloses records of this clone, all or none.
pub fn disclose(workspace: &mut Workspace, records: &[String]) -> Result<DiscloseOutcome> {
    let mut ids = Vec::new();
    for record in records {
        let id = parse_id("the record", record)?;
        let stored = workspace.store.entry(&id)?;
        let refused = |code, why: &str| Error::new(code, format!("record {id} {why}"));
        let Some(entry) = stored.entry()? else {
            return Err(refused(Code::RecordNotFound, "has no text here any more")
                .hint(hint!(Step::Retain, " says where it is")));
        };
        if let Some(secret) = credential_in_entry(&entry) {
            let why = format!("holds what looks like {}, and is not published", secret.what);
            return Err(refused(Code::SecretDetected, &why).hint("record what may be said in a session of your own"));
        }
        ids.push((id.clone(), stored.session_id.clone()));
    }
    let only: Vec<Id> = ids.iter().map(|(id, _)| id.clone()).collect();
    workspace.store.disclose(&only, workspace.context.now())?;
    let git = workspace.git()?;
    let mut outcome = DiscloseOutcome { records: Vec::new() };
    for (record_id, session_id) in ids {
        let root = workspace.store.root(&session_id)?;
        // A session that no commit is bound to has no published evidence, and disclosing one record does not publish
        // the rest.
        let published = match &root {
            Some(root) if has_evidence(&git, &root.root)? => publish_evidence(workspace, &git, root).map(|_| true)?,
            _ => false,
        };
        outcome.records.push(Disclosed { record_id, session_id, published });
    }
    Ok(outcome)
}
