//! `demo`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::{Args, CommandFactory as _};

use super::ui::{Paint, Role, Ui, inert, write_now};
use super::wrap::wrap;
use crate::context::Context;
use crate::error::Result;
use crate::flow::{self, DemoOutcome, DemoRequest, Scene};

/// See it work: an agent's session in a scratch repository, and three forgeries caught
///
/// Makes a repository, plays an agent's session in it with the commands that you would type, then commits, anchors, seals and
/// verifies. Then it makes three forgeries and shows that each is caught. It touches nothing outside of its directory, which
/// stays for you to look at. Exit code 0: the honest commit is proven and every forgery was caught.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof demo
  git proof demo --no-pause proof-demo")]
pub(super) struct Demo {
    /// Where to make the repository: an empty or a new directory [default: a new one for temporary files]
    #[arg(value_name = "DIR")]
    stage: Option<PathBuf>, // not `directory`: that is the global -C
    /// Do not pause between the scenes; without a terminal there are no pauses anyway
    #[arg(long, visible_alias = "fast")]
    no_pause: bool,
}

impl Demo {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let paint = ui.paint;
        let request = DemoRequest {
            directory: self.stage.clone(),
            colour: paint.has_colour(),
            columns: paint.width,
            // The demo ends with a report page if this build has the `report` command.
            page: super::Arguments::command().find_subcommand("report").is_some(),
        };
        let paced = !self.no_pause && !ui.json && io::stdout().is_terminal();
        let silent = ui.json;
        // Below the title of an act there is an empty line already.
        let mut fresh = false;
        let outcome = flow::demo(context, &request, &mut |scene| {
            if silent {
                return Ok(());
            }
            let text = draw(scene, paint);
            write_now(text.strip_prefix('\n').filter(|_| fresh).unwrap_or(&text))?;
            fresh = matches!(scene, Scene::Act(_));
            if paced {
                thread::sleep(pause(scene));
            }
            Ok(())
        })?;
        // The play is not over before everything was caught.
        ui.answer(u8::from(!outcome.verdict.is_accepted()));
        ui.show(&outcome, ending);
        Ok(())
    }
}

/// As long as a person needs to read it.
fn pause(scene: Scene<'_>) -> Duration {
    Duration::from_millis(match scene {
        Scene::Opening(_) | Scene::Told(_) | Scene::Judged(_) => 1500,
        Scene::Act(_) => 1000,
        Scene::Typed(_) | Scene::Began(_) => 600,
        Scene::Printed(_) => 2500,
    })
}

fn draw(scene: Scene<'_>, paint: Paint) -> String {
    match scene {
        Scene::Opening(directory) => {
            let what = "An agent works, its reasons are anchored to the commit, and three forgeries are caught. \
                        Everything happens in a new repository:";
            format!("{}  {}\n", lines(what, "", "", paint), inert(&directory.display().to_string()))
        }
        Scene::Act(title) => {
            format!("\n{} {}\n\n", paint.paint(Role::Strong, paint.or("━━", "==")), paint.paint(Role::Strong, title))
        }
        Scene::Told(text) => format!("\n{}", lines(text, "", "", paint)),
        Scene::Typed(line) => {
            let text = lines(line, "$ ", "    ", paint);
            match text.split_once(' ') {
                Some((prompt, rest)) => format!("{} {rest}", paint.paint(Role::Faint, prompt)),
                None => text,
            }
        }
        Scene::Printed(text) => text.lines().map(|line| format!("{line}\n")).collect(),
        Scene::Began(text) => {
            let mut lines = text.lines();
            let first = lines.next().unwrap_or_default();
            let more = if lines.next().is_some() { paint.or(" …", " ...") } else { "" };
            format!("{first}{}\n", paint.paint(Role::Faint, more))
        }
        Scene::Judged(forged) if forged.caught => {
            format!("{} {}\n", paint.paint(Role::Good, paint.or("▸ caught:", "> caught:")), forged.code)
        }
        Scene::Judged(forged) => {
            format!("{} expected {}\n", paint.paint(Role::Bad, paint.or("▸ NOT caught:", "> NOT caught:")), forged.code)
        }
    }
}

/// A text in the width of the terminal: what its first line begins with, and the others.
fn lines(text: &str, first: &str, rest: &str, paint: Paint) -> String {
    let lines = wrap(text, paint.measure() - first.len().max(rest.len()));
    let lines = lines.iter().enumerate();
    lines.map(|(place, line)| format!("{}{line}\n", if place == 0 { first } else { rest })).collect()
}

fn ending(outcome: &DemoOutcome, paint: Paint) -> String {
    let caught = outcome.forgeries.iter().filter(|forged| forged.caught).count();
    let all = outcome.forgeries.len();
    let verdict = if outcome.verdict.is_accepted() {
        paint.paint(Role::Good, &format!("All {all} forgeries were caught, and main is still proven."))
    } else {
        let main = if outcome.proven { "proven" } else { "NOT proven" };
        paint.paint(Role::Bad, &format!("{caught} of {all} forgeries were caught, and main is {main}: this is a bug."))
    };
    let place = outcome.directory.display().to_string();
    let place = if place.contains(' ') { format!("\"{}\"", inert(&place)) } else { inert(&place) };
    let mut text = format!("\n{verdict}\n\nIt is all still there:\n  cd {place}\n");
    for (command, why) in [
        ("git proof verify main", "proven: exit code 0"),
        ("git proof verify forged/note", "failed: exit code 1"),
        ("git proof show --full main", "everything that was recorded, with all hashes"),
    ] {
        text += &format!("  {command:30} {}\n", paint.paint(Role::Faint, &format!("# {why}")));
    }
    if let Some(page) = &outcome.page {
        text += &format!("\nA page for reviewers: {}\n", inert(&page.display().to_string()));
    }
    text
}
