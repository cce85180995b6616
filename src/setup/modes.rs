//! The modes of the files beside the store, and of its archives.

use super::outcome::{Action, FileChange, Notice};
use super::settings::Setting;
use super::survey::Survey;
use crate::access::{Misfit, Sharing, everything_in};
use crate::context::Context;
use crate::hint::{Step, hint};
use crate::record::archive_at;

/// With whom the repository is shared.
pub(super) fn sharing(survey: &Survey) -> Sharing {
    Sharing::of_setting(survey.settings.last("core.sharedrepository").map(Setting::text).as_deref())
}

/// The files and directories whose mode is wrong. Of a directory that the setting `proof.archive` names, only the archives
/// are ours.
pub(crate) fn misfits(context: &Context, survey: &Survey) -> Vec<Misfit> {
    let store = survey.repository.store_path();
    let mut paths = store.parent().map(everything_in).unwrap_or_default();
    let setting = survey.settings.last("proof.archive").map(Setting::text);
    if setting.is_some()
        && let Ok(archive) = archive_at(context, &survey.repository, setting.as_deref())
    {
        let archives = everything_in(archive.directory());
        paths.extend(archives.into_iter().filter(|path| path.to_string_lossy().ends_with(".jsonl.zst")));
    }
    let sharing = sharing(survey);
    paths.into_iter().filter_map(|path| Misfit::find(path, sharing)).collect()
}

/// The change that repairing the modes makes.
pub(super) fn change(survey: &Survey, misfits: &[Misfit]) -> FileChange {
    let store = survey.repository.store_path();
    let action = match (store.exists(), misfits) {
        (false, _) => Action::Created,
        (true, []) => Action::Unchanged,
        (true, _) => Action::Updated,
    };
    let command = |misfit: &Misfit| format!("chmod {:o} {}\n", misfit.mode, survey.shown(&misfit.path));
    let diff = if action == Action::Updated { misfits.iter().map(command).collect() } else { String::new() };
    FileChange { path: survey.shown(&store), action, diff }
}

/// Repairs them. Those of another user are left to that user.
pub(super) fn repair(misfits: &[Misfit]) -> Option<Notice> {
    let left = misfits.iter().filter(|misfit| misfit.repair().is_err()).count();
    (left > 0).then(|| Notice {
        message: format!("the mode of {left} files beside the store could not be changed"),
        hint: hint!(Step::Init, ", run by the user whose files they are"),
    })
}
