//! Where the text of a record comes from: an argument, a file, standard input, or an editor.

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::{Context, open_named};
use crate::error::{Code, Error, Result};
use crate::git;
use crate::hint::{Hint, Step, hint};

/// As many bytes as a body may have. What is larger is not read to its end.
const LIMIT: usize = 1 << 20;

/// Reads the text that `--content` or `--content-file` give, or opens an editor. Where there is none to open, the hint says
/// how the text is given to the command that was typed.
pub(super) fn content(
    context: &Context,
    argument: Option<&str>,
    file: Option<&Path>,
    kind: &str,
    typed: impl FnOnce() -> Hint,
) -> Result<String> {
    match given(context, argument, file)? {
        Some(text) => Ok(text),
        None if io::stdin().is_terminal() => edit(context, kind),
        None => Err(Error::new(Code::InvalidParams, "there is nothing to record").hint(typed())),
    }
}

/// The text of an argument, or that of a file to its last byte; `None` where neither is given.
pub(super) fn given(context: &Context, argument: Option<&str>, file: Option<&Path>) -> Result<Option<String>> {
    match (argument, file) {
        (Some(text), _) => Ok(Some(text.to_owned())),
        (None, Some(file)) if file.as_os_str() == "-" => read("standard input", io::stdin().lock()).map(Some),
        (None, Some(file)) => {
            let path = context.path(file);
            let opened = open_named(&path).map_err(|error| unreadable(&path.display().to_string(), &error))?;
            read(&path.display().to_string(), opened).map(Some)
        }
        (None, None) => Ok(None),
    }
}

fn read(name: &str, source: impl io::Read) -> Result<String> {
    let mut bytes = Vec::new();
    source.take(LIMIT as u64 + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if bytes.len() > LIMIT {
        return Err(Error::new(Code::TooLarge, format!("{name} has more than {LIMIT} bytes, which is the limit"))
            .hint("record a summary, and attest the digest of the rest")
            .details(serde_json::json!({ "limit": LIMIT })));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(Code::InvalidParams, format!("{name} is not UTF-8: byte {at} does not fit"))
            .hint("convert it to UTF-8; attest the digest of what is not text")
    })
}

fn unreadable(name: &str, error: &io::Error) -> Error {
    Error::new(Code::Unreadable, format!("cannot read {name}"))
        .because(error)
        .hint("name a file that exists, or - for standard input")
}

/// Opens the editor that git would open. Lines that start with `#` are taken out, as in a commit message.
fn edit(context: &Context, kind: &str) -> Result<String> {
    let failed = |what: &str| {
        Error::new(Code::InvalidParams, what.to_owned()).hint(hint!(
            "give the text with ",
            Step::Option("--content".into()),
            " instead"
        ))
    };
    let editor = git::editor(context).ok_or_else(|| failed("git names no editor"))?;
    let file = Draft::make(context, kind).map_err(|error| failed("cannot make a file to edit").because(error))?;
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$@\""), &editor])
        .arg(&file.0)
        .status()
        .map_err(|error| failed("cannot run the editor").because(error))?;
    if !status.success() {
        return Err(failed("the editor ended with an error; nothing was recorded"));
    }
    let text = read("the edited text", File::open(&file.0).map_err(|error| unreadable("the edited text", &error))?)?;
    let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let kept = kept.join("\n").trim().to_owned();
    if kept.is_empty() { Err(failed("the text is empty; nothing was recorded")) } else { Ok(kept) }
}

/// A file to be edited, private to the user and gone afterwards.
struct Draft(PathBuf);

impl Draft {
    fn make(context: &Context, kind: &str) -> io::Result<Self> {
        let path = context.temporary_directory().join(format!("git-proof-{}.txt", context.new_id()));
        let mut file = crate::access::create_new(&path, 0o600)?;
        let draft = Self(path);
        write!(file, "\n# What is the {kind}? Lines that start with # are left out; an empty text records nothing.\n")?;
        Ok(draft)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0); // a leftover in the temporary directory is not worth an error
    }
}
