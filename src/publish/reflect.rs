//! `record`, with what a reflection needs of git: it attests what is staged before it closes the session.

use super::commit_hooks::staged_change;
use super::pending;
use super::unheard::attest_unheard;
use crate::error::Result;
use crate::proof::record::Id;
use crate::record::{EntryView, RecordRequest, Staged, Workspace, record_with};

/// Records a thought. A reflection attests what is staged first.
pub fn record(workspace: &mut Workspace, request: &RecordRequest) -> Result<EntryView> {
    record_with(workspace, request, staged)
}

/// What is staged, to be attested before a reflection closes the session; `None` if nothing is, or the session has said
/// so already. Before it, commits are attested whose hook did not get to it: after the reflection it would be too late.
/// A repository that cannot tell does not keep anyone from reflecting.
fn staged(workspace: &mut Workspace, session: &Id) -> Result<Option<Staged>> {
    let _ = pending::mend_of(workspace, session);
    let _ = attest_unheard(workspace, session);
    let Ok(Some(staged)) = staged_change(workspace) else { return Ok(None) };
    if workspace.store.attested(session)?.contains(&staged) {
        return Ok(None);
    }
    let onto = workspace.git()?.tip("HEAD")?;
    let metadata = onto.map(|onto| format!("{{\"onto\":\"{onto}\"}}"));
    Ok(Some(Staged { operation: staged.to_text(), metadata }))
}
