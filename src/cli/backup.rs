//! `backup`, `import`.

use std::path::PathBuf;

use clap::Args;

use super::retain::{bytes, tell, worst};
use super::ui::{Paint, Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::keep::{self, BackupRequest, EvidenceImport};
use crate::proof::text::counted;
use crate::recall::{self, Pace};
use crate::record::Workspace;

/// Write the whole store into one file
///
/// The file holds every session, private texts included, as of one moment; other processes can go on recording. The texts
/// that retain moved into archives are included, so that the file alone restores the store. Only you can read the file. It
/// gets its name once all of it is on disk.
///
/// The sessions that other clones published are in git and not in the file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof backup ../store.backup
  git proof backup --force ../store.backup")]
pub(super) struct Backup {
    /// The file to write
    file: PathBuf,

    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl Backup {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let request = BackupRequest { file: self.file.clone(), force: self.force };
        let outcome = keep::backup(&Workspace::open(context.clone())?, &request)?;
        tell(ui, "backup", &outcome.problems);
        ui.show(&outcome, |outcome, paint| {
            let (sessions, records) = (counted(outcome.sessions, "session", "sessions"), outcome.records);
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

/// Restore a backup, or let this clone read the sessions that others published
///
/// FILE is a file that backup wrote. You must own it, it must not be a link, and the chain of every session in it is verified
/// first. In a clone without sessions, the store becomes what the backup holds. Otherwise the sessions that this clone lacks
/// are added, and the others are skipped; if one of them differs from the one in this clone, nothing is imported. Private
/// texts stay private.
///
/// With --from-refs, you can read the sessions in refs/proof/evidence, and those that sync fetched, with log, show, tree,
/// trail, search, check and prove. Each file is verified first; one that does not hold is named and left out. These sessions
/// are kept apart from your own: they are not published or sealed again, and verify does not use them. Texts that their
/// authors withheld are shown as withheld.
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
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let mut workspace = Workspace::open_or_create(context.clone())?;
        if let Some(file) = &self.file {
            let outcome = keep::import_file(&mut workspace, file)?;
            ui.show(&outcome, |outcome, _| {
                let added = counted(outcome.added.len(), "session", "sessions");
                format!("Imported {added} with {} entries; here already: {}.\n", outcome.records, outcome.known)
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
    let added = counted(*added, "session", "sessions");
    let mut text = format!("Imported {added}; imported before: {known}; your own: {own}");
    if *refused > 0 {
        text += &format!("; {}", paint.paint(Role::Bad, &format!("refused: {refused}")));
    }
    text + ".\n"
}
