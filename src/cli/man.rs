//! `man`: the man pages, made from the same texts as `--help`. They carry no date, so that a build can be repeated.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::roff::{Roff, bold, roman};

use super::ui::{Ui, inert};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::setup;

/// Print a man page, or write all of them into a directory
///
/// Once man finds them, `git proof --help` and `git help proof` open git-proof(1). Packages install them. If git-proof is in
/// your home directory, such as in ~/.cargo/bin, `git proof init` installs them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof man | man -l -
  git proof man record > git-proof-record.1
  git proof man --dir ~/.local/share/man/man1")]
pub(super) struct Man {
    /// The command whose page is printed [default: that of git-proof itself]
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Vec<String>,
    /// Write every page into this directory, and make it if it does not exist
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// How the generator spells an apostrophe that no roff turns into a quotation mark.
const APOSTROPHE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// A man page, under the name of its file.
#[derive(Debug, serde::Serialize)]
struct Page {
    /// The words of the command, such as `policy check`; none for git-proof itself.
    command: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

#[derive(Debug, serde::Serialize)]
struct Written {
    directory: String,
    pages: Vec<Page>,
}

impl Man {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let root = built();
        let Some(directory) = &self.dir else {
            let page = page(find(&root, &self.command)?);
            ui.show(&page, |page, _| page.text.clone().unwrap_or_default());
            return Ok(());
        };
        let directory = context.path(directory);
        let failed = |what: String, error: io::Error| {
            Error::new(Code::OutputFailed, what)
                .because(error)
                .hint(hint!("name a directory that you can write to: ", Step::Option("--dir DIR".into())))
        };
        let pages = write(&root, &directory)
            .map_err(|(path, error)| failed(format!("cannot write {}", path.display()), error))?;
        ui.show(&Written { directory: directory.display().to_string(), pages }, |written, _| {
            format!("Wrote {} pages into {}.\n", written.pages.len(), inert(&written.directory))
        });
        Ok(())
    }
}

/// Writes the manual where man looks for that of a program: in `share/man` beside the `bin` in which `git proof` is found.
/// Only in a folder below the home directory: elsewhere a package brings the pages. Returns the folder if the manual was not
/// there, or is that of another version.
pub(super) fn install(context: &Context) -> Option<PathBuf> {
    let (program, home) = (setup::on_path(context)?, PathBuf::from(context.variable("HOME")?));
    let bin = program.parent().filter(|bin| bin.ends_with("bin"))?;
    let beside = bin.parent().filter(|above| above.starts_with(&home) && *above != home)?;
    let directory = beside.join("share/man/man1");
    let root = built();
    let own = page(&root);
    if fs::read_to_string(directory.join(&own.file)).ok() == own.text {
        return None;
    }
    write(&root, &directory).ok()?;
    Some(directory)
}

/// Writes all pages. An error names the file.
fn write(root: &Command, directory: &Path) -> Result<Vec<Page>, (PathBuf, io::Error)> {
    fs::create_dir_all(directory).map_err(|error| (directory.to_owned(), error))?;
    let mut pages = Vec::new();
    all(root, &mut pages);
    for page in &mut pages {
        let path = directory.join(&page.file);
        fs::write(&path, page.text.take().unwrap_or_default()).map_err(|error| (path, error))?;
    }
    Ok(pages)
}

fn built() -> Command {
    let mut root = super::Arguments::command().disable_help_subcommand(true);
    root.build();
    root
}

fn find<'a>(root: &'a Command, words: &[String]) -> Result<&'a Command> {
    words.iter().try_fold(root, |command, word| {
        command.find_subcommand(word).filter(|command| !command.is_hide_set()).ok_or_else(|| {
            Error::new(Code::InvalidParams, format!("there is no command {}", words.join(" ")))
                .hint(hint!(Step::Help, " lists the commands"))
        })
    })
}

fn all(command: &Command, into: &mut Vec<Page>) {
    into.push(page(command));
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        all(command, into);
    }
}

fn page(command: &Command) -> Page {
    let name = command.get_display_name().unwrap_or(command.get_name());
    // One line for each use instead of a list of every option, which comes below.
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().to_owned();
    let man = clap_mangen::Man::new(command.clone().override_usage(usage));
    let mut bytes = Vec::new();
    let mut write = || {
        man.render_name_section(&mut bytes)?;
        man.render_synopsis_section(&mut bytes)?;
        man.render_description_section(&mut bytes)?;
        man.render_options_section(&mut bytes)?;
        if command.has_subcommands() {
            man.render_subcommands_section(&mut bytes)?;
        }
        closing(command, name).to_writer(&mut bytes)
    };
    // Memory takes whatever is written to it.
    let sections = if write().is_ok() { String::from_utf8_lossy(&bytes).into_owned() } else { String::new() };
    // The empty argument is the date, which the generator would leave out, and the apostrophe is said once for all sections.
    let title = format!(
        ".TH {} 1 \"\" \"git-proof {}\" \"git-proof manual\"\n",
        name.to_uppercase(),
        env!("CARGO_PKG_VERSION")
    );
    let text = format!("{APOSTROPHE}{title}{}", sections.replace(APOSTROPHE, ""));
    let words = command.get_bin_name().and_then(|name| name.strip_prefix("git proof ")).unwrap_or_default();
    Page { command: words.to_owned(), file: format!("{name}.1"), text: Some(plain(&text)) }
}

/// The end of a page: the text below the options of `--help`, each part under its heading, and what all pages share.
fn closing(command: &Command, name: &str) -> Roff {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (mut notes, mut rest) = (Roff::new(), Roff::new());
    let mut has_notes = false;
    for part in help.split("\n\n").filter(|part| !part.starts_with("Exit codes:")) {
        let heading = match part.lines().next().unwrap_or_default() {
            "Examples:" | "Example:" => "EXAMPLES",
            "Files:" => "FILES",
            _ => {
                has_notes = true;
                notes.control("PP", []);
                lines(&mut notes, part.lines());
                continue;
            }
        };
        rest.control("SH", [heading]);
        lines(&mut rest, part.lines().skip(1));
    }
    let mut roff = Roff::new();
    if has_notes {
        roff.control("SH", ["NOTES"]);
        roff.extend([notes]);
    }
    roff.extend([rest]);
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in super::EXIT_CODES {
        roff.control("TP", []).text([bold(code.to_string())]).text([roman(meaning)]);
    }
    roff.control("SH", ["SEE ALSO"]);
    let others = if name == "git-proof" { "git(1), git-notes(1)" } else { "git-proof(1), git(1)" };
    roff.text([roman(others)]);
    roff
}

/// Text as it flows, and what is indented as it stands.
fn lines<'a>(roff: &mut Roff, lines: impl Iterator<Item = &'a str>) {
    let mut stands = false;
    for line in lines {
        if line.starts_with("  ") != stands {
            stands = !stands;
            if stands {
                roff.control("RS", ["4"]).control("nf", []);
            } else {
                roff.control("fi", []).control("RE", []);
            }
        }
        roff.text([roman(line.trim_start())]);
    }
    if stands {
        roff.control("fi", []).control("RE", []);
    }
}

/// Characters beyond ASCII by their numbers, which every roff reads in every locale.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii() { c.to_string() } else { format!("\\[u{:04X}]", u32::from(c)) }).collect()
}
