//! `backup`, `import`.

use std::path::PathBuf;

use clap::Args;

use super::retain::{bytes, worst};
use super::ui::{Paint, Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::keep::{self, BackupRequest, EvidenceImport};
use crate::recall::{self, Pace};
use crate::record::Workspace;

/// Write the whole store into one file
///
/// The file holds every session, private texts included, as they are at one moment; others can record meanwhile. The texts of
/// cold sessions, which retain moved into archives, are read from there and are in the file as well: nothing else is needed
/// to restore the store. Only you can read the file. It gets its name once all of it is on disk.
///
/// What other clones published is in git and is not part of the file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof backup ../store.backup
  git proof backup --force ../store.backup")]
pub(super) struct Backup {
    /// The file to write
    file: PathBuf,

    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

impl Backup {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let request = BackupRequest { file: self.file.clone(), force: self.force };
        let outcome = keep::backup(&Workspace::open(context)?, &request)?;
        for problem in &outcome.problems {
            ui.say(&format!("git proof backup: {}: {}", problem.code, problem.message));
            if let Some(hint) = &problem.hint {
                ui.say(&format!("hint: {hint}"));
            }
        }
        ui.answer(worst(outcome.problems.iter().map(|problem| problem.code.as_str())));
        ui.show(&outcome, |outcome, paint| {
            let (sessions, records) = (count(outcome.sessions, "session"), outcome.records);
            let cold = match outcome.restored {
                0 => String::new(),
                1 => ", the texts of 1 cold session from its archive".to_owned(),
                cold => format!(", the texts of {cold} cold sessions from their archives"),
            };
            let file = paint.paint(Role::Strong, &inert(&outcome.file));
            format!("Wrote {file}: {sessions} with {records} entries{cold}, {}.\n", bytes(outcome.bytes))
        });
        Ok(())
    }
}

/// Take over a backup, or let this clone read what others published
///
/// FILE is what backup wrote. It must be yours, no link, and as strictly a store as the one in use; the chain of every session
/// in it is verified first. Into a clone without sessions it is restored as it was. Otherwise the sessions that are
/// not here are added and those that are here are skipped; if one is here with other content, nothing is imported. Private
/// texts stay private.
///
/// With --from-refs, the sessions in refs/proof/evidence, and in what sync fetched, can be read with log, show, tree, trail,
/// search, check and prove. Each file is verified first; one that does not hold is named and left out. These sessions are
/// kept apart from your own: nothing of them is published or sealed again, and verify does not look at them.
/// What their authors withheld is shown as withheld.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof import ../store.backup
  git proof import --from-refs")]
pub(super) struct Import {
    /// The backup
    #[arg(required_unless_present = "from_refs", conflicts_with = "from_refs")]
    file: Option<PathBuf>,

    /// Read the sessions that other clones published
    #[arg(long)]
    from_refs: bool,
}

impl Import {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let mut workspace = Workspace::open_or_create(context)?;
        if let Some(file) = &self.file {
            let outcome = keep::import_file(&mut workspace, file)?;
            ui.show(&outcome, |outcome, _| {
                let (added, known) = (count(outcome.added.len() as u64, "session"), outcome.known);
                format!("Imported {added} with {} entries; here already: {known}.\n", outcome.records)
            });
            return Ok(());
        }
        let outcome = keep::import_evidence(&mut workspace)?;
        let git = workspace.git()?;
        let _ = recall::refresh(&git, &mut workspace.store, Pace::AtLeisure); // where that fails, fewer decisions are found
        for problem in &outcome.problems {
            ui.say(&format!("git proof import: {}: {}: {}", problem.file, problem.code, problem.message));
        }
        ui.answer(worst(outcome.problems.iter().map(|problem| problem.code.as_str())));
        ui.show(&outcome, imported);
        Ok(())
    }
}

fn imported(outcome: &EvidenceImport, paint: Paint) -> String {
    if outcome.found == 0 {
        return "There is no evidence in this clone: git proof sync fetches what others published.\n".to_owned();
    }
    let EvidenceImport { added, known, own, refused, .. } = outcome;
    let mut text = format!("Imported {}; imported before: {known}; your own: {own}", count(*added, "session"));
    if *refused > 0 {
        text += &format!("; {}", paint.paint(Role::Bad, &format!("refused: {refused}")));
    }
    text + ".\n"
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
