//! `retain`.

use std::io::{self, IsTerminal as _, Write as _};

use clap::Args;

use super::ui::{Paint, Role, Ui, inert};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::keep::{self, Because, Problem, RetainOutcome, RetainRequest, Zone};
use crate::record::Workspace;

/// Sessions that are named to a person; --json names more.
const NAMED: usize = 20;

/// Move the texts of old sessions into an archive, and show how much is where
///
/// A session is hot until its round is sealed, warm for the next rounds and days, and then cold. The texts of a cold session,
/// private ones included, are written to an archive beside the store, read back and verified, and only then removed from the
/// store. Its hashes, its tree and its root stay, so check, verify, root, prove and all existing proofs work as before. When
/// you read a cold session with log, show, tree or trail, its texts come back into the store.
///
/// Settings (git config): proof.warmRounds (3), proof.warmDays (30), proof.warnDays (365), proof.archive (a directory).
/// docs/retention.md has the details.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof retain --dry-run
  git proof retain
  git proof retain --dry-run --freeze t-89-login
  git proof retain --yes --freeze t-89-login")]
pub(super) struct Retain {
    /// Say what would move, and move nothing
    #[arg(long)]
    dry_run: bool,

    /// Delete the texts of these sealed sessions for good, also from the archive; without a name, those of all cold sessions
    /// older than proof.warnDays. Hashes and proofs stay. This cannot be undone
    #[arg(long, value_name = "SESSION", num_args = 0..)]
    freeze: Option<Vec<String>>,

    /// Do not ask before texts are deleted for good
    #[arg(long, requires = "freeze")]
    yes: bool,
}

impl Retain {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        if self.freeze.is_some() && !self.yes && !self.dry_run && !confirmed()? {
            ui.say("Nothing was dropped.");
            return Ok(());
        }
        let request = RetainRequest { dry_run: self.dry_run, freeze: self.freeze.clone() };
        let outcome = keep::retain(&mut Workspace::open(context.clone())?, &request)?;
        tell(ui, "retain", &outcome.problems);
        if outcome.undecided > 0 {
            let (count, days) = (outcome.undecided, outcome.limits.warn_days);
            ui.say(&format!(
                "git proof retain: {count} cold session{} older than {days} days; decide whether the texts are still wanted",
                if count == 1 { " is" } else { "s are" }
            ));
            ui.say("hint: git proof retain --freeze drops them for good, after asking; --freeze SESSION drops one");
        }
        ui.show(&outcome, |outcome, paint| moves(outcome, paint) + &table(outcome, paint));
        Ok(())
    }
}

/// Asks whether texts may be dropped. Where nobody can be asked, it is an error.
fn confirmed() -> Result<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Error::new(
            Code::InvalidParams,
            "--freeze deletes texts permanently, and there is no terminal to confirm on",
        )
        .hint(hint!(
            Step::Option("--yes".into()), " says that this is meant";
            Step::Option("--dry-run".into()), " shows which sessions are concerned"
        )));
    }
    let _ = write!(io::stderr(), "Drop the texts for good? Hashes and proofs stay. [y/N] ");
    let mut answer = String::new();
    let _ = io::stdin().read_line(&mut answer); // what cannot be read is no yes
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Says what kept a command from some of its work, and lets it end with the exit code of the worst problem.
pub(super) fn tell(ui: &mut Ui, command: &str, problems: &[Problem]) {
    for problem in problems {
        ui.say(&format!("git proof {command}: {}: {}", problem.code, problem.message));
        if let Some(hint) = &problem.hint {
            ui.say(&format!("hint: {hint}"));
        }
    }
    ui.answer(worst(problems.iter().map(|problem| problem.code.as_str())));
}

/// The exit code of the worst of several errors, by their codes.
pub(super) fn worst<'a>(codes: impl Iterator<Item = &'a str>) -> u8 {
    let exits = codes.filter_map(|name| Code::ALL.iter().find(|code| code.as_str() == name));
    exits.map(|code| code.exit_code()).max().unwrap_or(0)
}

fn moves(outcome: &RetainOutcome, paint: Paint) -> String {
    let mut text = String::new();
    if outcome.resumed > 0 {
        text.push_str(&format!("Finished what was interrupted: {} sessions.\n", outcome.resumed));
    }
    for moved in outcome.moves.iter().take(NAMED) {
        let why = match moved.because {
            Because::Rounds => format!("sealed in round {} of {}", moved.round, outcome.rounds),
            Because::Days => format!("sealed at {}", moved.sealed_at),
            Because::Asked => "asked for".to_owned(),
        };
        let verb = if outcome.dry_run { "would move" } else { "moved" };
        text.push_str(&format!(
            "{verb} {} from {} to {}: {} entries, {why}\n",
            paint.paint(Role::Strong, &inert(moved.session_id.as_str())),
            moved.from.as_str(),
            moved.to.as_str(),
            moved.records
        ));
    }
    let more = outcome.moved.saturating_sub(NAMED as u64);
    if more > 0 {
        text.push_str(&format!("and {more} more\n"));
    }
    if outcome.moved == 0 {
        let verb = if outcome.dry_run { "Nothing would move" } else { "Nothing had to move" };
        text.push_str(&format!("{verb}.\n"));
    }
    text.push('\n');
    text
}

fn table(outcome: &RetainOutcome, paint: Paint) -> String {
    let head = format!("{:<8}{:>10}{:>12}{:>14}{:>14}", "zone", "sessions", "records", "in the store", "in archives");
    let mut text = paint.paint(Role::Faint, &head) + "\n";
    for zone in &outcome.zones {
        text.push_str(&format!(
            "{:<8}{:>10}{:>12}{:>14}{:>14}\n",
            zone.zone.as_str(),
            zone.sessions,
            zone.records,
            bytes(zone.store_bytes),
            if zone.zone == Zone::Hot { "–".to_owned() } else { bytes(zone.archive_bytes) }
        ));
    }
    text
}

/// A size for people, in at most four digits.
pub(super) fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let steps = count.checked_ilog2().unwrap_or(0) / 10;
    let unit = units.get(steps as usize).copied().unwrap_or_default();
    // Tenths, rounded down: the first step has none.
    let whole = count >> (steps * 10);
    match steps {
        0 => format!("{whole} {unit}"),
        _ => format!("{whole}.{} {unit}", ((count >> ((steps - 1) * 10)) & 1023) * 10 / 1024),
    }
}
