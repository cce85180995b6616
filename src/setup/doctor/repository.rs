//! The repository: its store, its notes, its policy, its remotes.

use super::{DoctorCheck, DoctorState};
use crate::context::{Context, read_regular};
use crate::error::Code;
use crate::git::{CHANGES, EVIDENCE, NOTES, ROUNDS, Remote, WHY, left_behind};
use crate::hint::Step;
use crate::proof::policy::Policy;
use crate::publish::waiting_commits;
use crate::record::archive_at;
use crate::setup::modes::misfits;
use crate::setup::notes::{SHOWN, are_shown, copied, overwritten};
use crate::setup::policy_file::POLICY;
use crate::setup::settings::{Setting, git};
use crate::setup::survey::Survey;
use crate::store::{MIGRATIONS, Store};

/// Whether the store is there and can be read.
pub(super) fn store(context: &Context, survey: &Survey) -> DoctorCheck {
    let path = survey.repository.store_path();
    let shown = survey.shown(&path);
    let check = |state, message: String| DoctorCheck::new("store", state, message);
    match Store::open(&path, context.patience()) {
        Ok(_) => match &misfits(context, survey)[..] {
            [] => check(DoctorState::Ok, format!("{shown}, schema {}", MIGRATIONS.len())),
            wrong if wrong.iter().any(|misfit| misfit.exposed) => {
                check(DoctorState::Wrong, format!("others can read {shown}, or files beside it")).hint(Step::Init)
            }
            _ => check(DoctorState::Stale, format!("{shown} is not shared as core.sharedRepository says"))
                .hint(Step::Init),
        },
        Err(error) if error.code == Code::NoStore => {
            let state = if survey.root.is_some() { DoctorState::Missing } else { DoctorState::Info };
            check(state, format!("{shown} is not there: nothing has been recorded")).hint(Step::Init)
        }
        Err(error) => {
            let message = error.to_string();
            check(DoctorState::Wrong, message).hint(error.hint.unwrap_or_else(|| Step::LogAll.into()))
        }
    }
}

/// Whether the archives of cold sessions are where they should be; nothing where there are none.
pub(super) fn archives(context: &Context, survey: &Survey) -> Option<DoctorCheck> {
    let store = Store::open(&survey.repository.store_path(), context.patience()).ok()?;
    let archives = store.archives().ok().filter(|archives| !archives.is_empty())?;
    let check = |state, message: String| DoctorCheck::new("archives", state, message);
    let setting = survey.settings.last("proof.archive").map(Setting::text);
    let archive = match archive_at(context, &survey.repository, setting.as_deref()) {
        Ok(archive) => archive,
        Err(error) => {
            let hint = error.hint.clone().unwrap_or_else(|| Step::GitConfigShow("proof.archive".into()).into());
            return Some(check(DoctorState::Wrong, error.to_string()).hint(hint));
        }
    };
    let (all, shown) = (archives.len(), survey.shown(archive.directory()));
    let gone: Vec<_> = archives.into_iter().filter(|(_, held)| !archive.is_there(held)).collect();
    Some(match gone.first() {
        None => check(DoctorState::Ok, format!("{shown}, {all} cold session{}", if all == 1 { "" } else { "s" })),
        Some((session, _)) => {
            let message = format!("{shown}: {} of {all} archives are missing or cut off", gone.len());
            check(DoctorState::Missing, message).hint(Step::Check(session.to_string()))
        }
    })
}

/// Commits that wait for a hook that was killed, and locks on the refs of the proofs.
pub(super) fn unfinished(survey: &Survey) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    let waiting = waiting_commits(&survey.repository);
    if waiting > 0 {
        let message = format!("{waiting} commits may not be recorded: their post-commit hook has not finished");
        checks.push(DoctorCheck::new("commits", DoctorState::Stale, message).hint(Step::DoctorFix));
    }
    for name in [NOTES, EVIDENCE, CHANGES, ROUNDS, WHY] {
        let lock = survey.repository.common_dir.join(format!("{name}.lock"));
        if lock.exists() {
            let message = format!("{name} is locked, by a git that is at work or by one that was killed");
            let hint = left_behind(&lock.to_string_lossy());
            checks.push(DoctorCheck::new("locks", DoctorState::Wrong, message).hint(hint));
        }
    }
    checks
}

/// The settings for notes.
pub(super) fn notes(survey: &Survey) -> Vec<DoctorCheck> {
    if survey.root.is_none() {
        return Vec::new();
    }
    let shown = if are_shown(&survey.settings) {
        DoctorCheck::new("notes.displayRef", DoctorState::Ok, "git log shows why a commit was made")
    } else {
        DoctorCheck::new("notes.displayRef", DoctorState::Missing, format!("it lacks {SHOWN}")).hint(Step::Init)
    };
    let mut checks = vec![shown];
    checks.extend(copied(&survey.settings).map(|setting| {
        let message = format!("{}: git copies anchors to rewritten commits, whatever changed in them", setting.text());
        DoctorCheck::new("notes.rewriteRef", DoctorState::Wrong, message).hint(setting.removal())
    }));
    if checks.len() == 1 {
        checks.push(DoctorCheck::new("notes.rewriteRef", DoctorState::Ok, "it does not touch the anchors"));
    }
    checks
}

/// The refspecs by which a fetch would destroy what was not pushed yet.
pub(super) fn fetches(survey: &Survey) -> Vec<DoctorCheck> {
    let one = |setting: &Setting| {
        let message = format!("{}: a fetch replaces proofs that were not pushed yet", setting.text());
        DoctorCheck::new(&setting.key, DoctorState::Wrong, message).hint(setting.removal())
    };
    overwritten(&survey.settings).map(one).collect()
}

/// Whether there is a policy, and one that can be read.
pub(super) fn policy(survey: &Survey) -> Option<DoctorCheck> {
    let root = survey.root.as_deref()?;
    let check = |state, message: String| DoctorCheck::new("policy", state, message);
    Some(match read_regular(&root.join(POLICY)).map(|text| Policy::parse(&text)) {
        Ok(Ok(policy)) if policy.proof.rooted => check(DoctorState::Ok, format!("{POLICY}: anchors must be rooted")),
        Ok(Ok(_)) => check(DoctorState::Ok, POLICY.to_owned()),
        Ok(Err(error)) => check(DoctorState::Wrong, format!("{POLICY} cannot be used: {error}"))
            .hint(format!("correct it; the gate refuses everything once it is on the base branch: {POLICY}")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            check(DoctorState::Info, format!("there is no {POLICY}: the gate uses its defaults")).hint(Step::InitPolicy)
        }
        Err(error) => check(DoctorState::Wrong, format!("{POLICY} cannot be read: {error}"))
            .hint("check who owns the file, and that you may read it"),
    })
}

/// Whether anchors could be signed.
pub(super) fn signing(survey: &Survey) -> DoctorCheck {
    let text = |key: &str| survey.settings.last(key).map(Setting::text);
    let message = match (text("gpg.format").as_deref(), text("user.signingkey")) {
        (Some("ssh"), Some(key)) => format!("anchors can be signed with {key}"),
        (Some("ssh"), None) => "gpg.format is ssh, but user.signingkey is not set: anchors are not signed".to_owned(),
        _ => "gpg.format is not ssh: anchors are not signed".to_owned(),
    };
    DoctorCheck::new("signing", DoctorState::Info, message)
}

/// The remotes whose proofs were fetched.
pub(super) fn remotes(context: &Context, survey: &Survey) -> DoctorCheck {
    let listed = git(context, ["for-each-ref", "--format=%(refname)", "refs/proof/remote/"]).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let mut names: Vec<&str> =
        listed.lines().filter_map(|line| line.strip_prefix("refs/proof/remote/")?.split('/').next()).collect();
    names.dedup();
    // An address is kept under a name that is made of it.
    let proofs = survey.settings.last("proof.remote").map(|setting| Remote { name: setting.text() });
    let shown = |slug: &&str| {
        let remote = proofs.as_ref().filter(|remote| remote.slug() == **slug);
        remote.map_or_else(|| (*slug).to_owned(), Remote::shown)
    };
    let message = match names[..] {
        [] => "no proofs of a remote have been fetched".to_owned(),
        _ => format!("proofs were fetched from {}", names.iter().map(shown).collect::<Vec<_>>().join(", ")),
    };
    DoctorCheck::new("remotes", DoctorState::Info, message)
}
