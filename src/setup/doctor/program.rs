//! The programs: which git, and whether git finds us.

use std::path::PathBuf;

use super::{DoctorCheck, DoctorState};
use crate::access::is_executable;
use crate::context::Context;
use crate::setup::settings::git as run_git;
use crate::setup::survey::Survey;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Checks the version of git and the features that it has.
pub(super) fn git(survey: &Survey) -> DoctorCheck {
    let version = &survey.version.text;
    let has = if survey.version.runs_configured_hooks() {
        "it runs hooks from its configuration and from files"
    } else {
        "it runs hooks from files alone"
    };
    DoctorCheck::new("git", DoctorState::Ok, format!("version {version}: {has}"))
}

/// Whether `git-proof` is on the path, and `git proof` is it.
pub(super) fn ourselves(context: &Context) -> DoctorCheck {
    let check = |state, message: String| DoctorCheck::new("git-proof", state, message);
    let Some(found) = on_path(context) else {
        let running = context.executable().unwrap_or_default();
        let directory = running.parent().unwrap_or(&running).display();
        return check(DoctorState::Missing, "git-proof is not on PATH, so `git proof` does not work".to_owned())
            .hint(format!("add its directory to PATH: {directory}"));
    };
    match run_git(context, ["proof", "--version"]) {
        Err(error) => check(DoctorState::Wrong, format!("`git proof` does not run {}: {error}", found.display()))
            .hint("install git-proof again, or put another copy first on PATH"),
        Ok(said) => {
            let said = String::from_utf8_lossy(&said).trim().to_owned();
            if said.rsplit(' ').next() == Some(VERSION) {
                return check(DoctorState::Ok, format!("version {VERSION}: {}", found.display()));
            }
            check(DoctorState::Stale, format!("{} is {said:?}, and this is {VERSION}", found.display()))
                .hint("install one version, or put the newer one first on PATH")
        }
    }
}

/// The program that `git proof` starts.
pub fn on_path(context: &Context) -> Option<PathBuf> {
    let path = context.variable("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join("git-proof"))
        .find(|file| file.metadata().is_ok_and(|found| is_executable(&found)))
}
