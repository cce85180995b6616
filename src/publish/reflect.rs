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

/// The staged change, which is attested before a reflection closes the session; `None` if nothing is staged or the
/// session attested it already. This first attests commits whose hook did not run, because after the reflection it is
/// too late. Errors of the repository do not prevent a reflection.
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
