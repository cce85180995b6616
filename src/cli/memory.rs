//! `memory put`, `memory list`, `memory pack`, `memory prove`, `memory drop`.

use std::path::PathBuf;

use clap::Args;

use super::commands;
use super::content::given;
use super::draw::ago;
use super::session::SessionArgument;
use super::ui::{Role, Ui};
use super::wrap::{one_line, wrap};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::keep::{self, PackRequest, PutRequest};
use crate::proof::text::counted;
use crate::record::Workspace;
use crate::store::PackedNote;

/// Keep notes while a session works, and pack them into leaves
///
/// A note stays in this clone. Packing adds a leaf to the session for each note, which commits to its text, then removes the
/// texts and records an analysis that says so. Anyone who has a text and its salt can prove that the text was there. The salt
/// stays in this clone; without it, nobody can guess the text.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof memory put --key flaky --text \"the importer test fails once in ten runs\"
  git proof memory list
  git proof memory pack
  git proof memory prove --text \"the importer test fails once in ten runs\" > proof.json")]
pub(super) struct Memory {
    #[command(subcommand)]
    what: What,
}

commands! {
    enum What {
        Put(Put),
        List(List),
        Pack(Pack),
        Prove(Prove),
        Drop(Forget),
    }
}

impl Memory {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        self.what.run(context, ui)
    }
}

/// A text that is hashed as it is, to its last byte.
#[derive(Debug, Args)]
struct TextArgument {
    /// The text
    #[arg(long, value_name = "TEXT", conflicts_with = "text_file", allow_hyphen_values = true)]
    text: Option<String>,
    /// A file with the text, or - for standard input
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
}

impl TextArgument {
    fn read(&self, context: &Context) -> Result<String> {
        given(context, self.text.as_deref(), self.text_file.as_deref())?.ok_or_else(|| {
            Error::new(Code::InvalidParams, "there is no text").hint(hint!(
                "give ",
                Step::Option("--text TEXT".into()),
                ", ",
                Step::Option("--text-file FILE".into()),
                ", or - as the name of the file for standard input"
            ))
        })
    }
}

/// Put a note into a session's working memory
///
/// The note is on disk when the command returns. A key is a name for people; several notes can have the same key.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof memory put --text \"the cache is keyed by path, not by content\"
  git proof memory put --key todo --text-file notes.md")]
struct Put {
    /// A name for it
    #[arg(long, value_name = "NAME")]
    key: Option<String>,
    #[command(flatten)]
    text: TextArgument,
    #[command(flatten)]
    which: SessionArgument,
}

impl Put {
    fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let text = self.text.read(context)?;
        let request = PutRequest { session: self.which.session.clone(), key: self.key.clone(), text };
        let outcome = keep::memory_put(&mut Workspace::open(context.clone())?, &request)?;
        ui.show(&outcome, |put, paint| {
            let number = paint.paint(Role::Strong, &put.note_id.to_string());
            format!("Put note {number} into the working memory of session {}.\n", put.session_id)
        });
        Ok(())
    }
}

/// Show a session's working memory, and the commitments of the notes that were packed
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof memory list\n  git proof memory list --session t-89-login --json")]
struct List {
    #[command(flatten)]
    which: SessionArgument,
}

impl List {
    fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let now = context.now();
        let outcome = keep::memory(&Workspace::open(context.clone())?, self.which.session.as_deref())?;
        ui.show(&outcome, |memory, paint| {
            if memory.notes.is_empty() && memory.packed.is_empty() {
                return format!("Session {} has no working memory: {}\n", memory.session_id, Step::MemoryPut);
            }
            let named = |key: Option<&str>| key.map(|key| format!(" {}", one_line(key))).unwrap_or_default();
            let mut text = String::new();
            for note in &memory.notes {
                let head = paint.paint(Role::Strong, &format!("note {}{}", note.note_id, named(note.key.as_deref())));
                text += &format!(
                    "{head}  {}\n  {}\n",
                    ago(&note.put_at, &now),
                    wrap(&note.text, paint.width.saturating_sub(2)).join("\n  ")
                );
            }
            for note in &memory.packed {
                let head = format!("packed {}{}", note.note_id, named(note.key.as_deref()));
                let head = paint.paint(Role::Faint, &head);
                text += &format!("{head}  {}\n  text {}\n", ago(&note.packed_at, &now), note.text_hash);
                text += &committed(note);
            }
            text
        });
        Ok(())
    }
}

/// Pack a session's working memory: append a leaf for each note and an analysis, and remove the texts
///
/// The texts are gone afterwards: keep a text elsewhere if you want to show it later. All notes are packed, or none. A leaf
/// holds the time and a commitment, which is the SHA-256 of 32 random bytes (the salt) followed by the text. Nothing else of a
/// note is published. The salts are printed, and stay in the store: git proof memory list shows them again. The analysis says
/// how many notes were packed. Packing does not close the session; `git proof done` does.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof memory pack
  git proof memory pack --content \"What the profiler showed, one note for each query\"")]
struct Pack {
    /// The text of the analysis [default: how many notes were packed]
    #[arg(long, value_name = "TEXT", conflicts_with = "content_file", allow_hyphen_values = true)]
    content: Option<String>,
    /// A file with the text of the analysis, or - for standard input
    #[arg(long, value_name = "FILE")]
    content_file: Option<PathBuf>,
    #[command(flatten)]
    which: SessionArgument,
}

impl Pack {
    fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let content = given(context, self.content.as_deref(), self.content_file.as_deref())?;
        let request = PackRequest { session: self.which.session.clone(), content };
        let outcome = keep::memory_pack(&mut Workspace::open(context.clone())?, &request)?;
        ui.show(&outcome, |pack, paint| {
            let count = pack.count;
            let (notes, each) = if count == 1 { ("note", "it is a leaf") } else { ("notes", "each is a leaf") };
            let mut text = format!(
                "{} {count} {notes} of session {}: {each}, and its text is gone from this clone.\n  analysis {} is entry {}\n",
                paint.paint(Role::Good, "Packed"),
                pack.session_id,
                pack.analysis.id,
                pack.analysis.index
            );
            for note in &pack.packed {
                let key = note.key.as_deref().map(|key| format!(" {}", one_line(key))).unwrap_or_default();
                text += &format!("packed {}{key}\n{}", note.note_id, committed(note));
            }
            text + "To check a text against its commitment, with its salt:\n  \
                    { printf %s SALT | xxd -r -p; cat FILE; } | sha256sum\n"
        });
        Ok(())
    }
}

/// The published commitment of a packed note, and the values that someone needs to check it.
fn committed(note: &PackedNote) -> String {
    let line = |name: &str, value: Option<String>| value.map(|value| format!("  {name} {value}\n")).unwrap_or_default();
    line("commitment", note.commitment.map(|value| value.to_string()))
        + &line("salt", note.salt.map(|value| value.to_string()))
}

/// Print the inclusion proof of a packed note, found by its text alone: one line, for check-proof
///
/// With --json it also prints the salt and the line that commits to the text. The hash of that line is the proof's leaf.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof memory prove --text-file notes.md > proof.json
  git proof check-proof proof.json --root 3d57…7e2e --count 12
  git proof memory prove --text-file notes.md --json | jq -rj .line | sha256sum")]
struct Prove {
    #[command(flatten)]
    text: TextArgument,
    /// Only in this session [default: any; a finalized one and the oldest first]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Prove {
    fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let text = self.text.read(context)?;
        let outcome = keep::memory_prove(&Workspace::open(context.clone())?, &text, self.session.as_deref())?;
        ui.show(&outcome, |outcome, _| outcome.proof.to_line() + "\n");
        Ok(())
    }
}

/// Delete notes from a session's working memory without packing them
///
/// Notes that were packed before stay.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof memory drop 5\n  git proof memory drop 3 4 --session t-89-login")]
struct Forget {
    /// The numbers of the notes
    #[arg(required = true, value_name = "NOTE")]
    notes: Vec<u32>,
    #[command(flatten)]
    which: SessionArgument,
}

impl Forget {
    fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let notes: Vec<u64> = self.notes.iter().copied().map(u64::from).collect();
        let outcome = keep::memory_drop(&mut Workspace::open(context.clone())?, self.which.session.as_deref(), &notes)?;
        ui.show(&outcome, |outcome, _| {
            let notes = counted(outcome.dropped, "note", "notes");
            format!("Took {notes} out of the working memory of session {}.\n", outcome.session_id)
        });
        Ok(())
    }
}
