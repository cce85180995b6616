//! What only git knows, asked of git itself.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::context::Context;

/// Who works here, as git would write it into a commit: `Name <email>`. `None` if git does not know.
pub fn identity(context: &Context) -> Option<String> {
    let ident = variable(context, "GIT_AUTHOR_IDENT")?;
    // "Name <email> 1700000000 +0100": the time is not part of who.
    let (who, _) = ident.rsplit_once('>')?;
    Some(format!("{who}>"))
}

/// The editor that git would open.
pub fn editor(context: &Context) -> Option<String> {
    variable(context, "GIT_EDITOR")
}

/// The top directory of the worktree. `None` where there is none: in a bare repository, or outside of any.
pub fn worktree_root(context: &Context) -> Option<PathBuf> {
    let mut path = ask(context, &["rev-parse", "--show-toplevel"])?;
    // Only the newline that git adds: a directory's name may end in anything.
    path.pop_if(|byte| *byte == b'\n');
    (!path.is_empty()).then(|| PathBuf::from(OsString::from_vec(path)))
}

fn variable(context: &Context, name: &str) -> Option<String> {
    let text = String::from_utf8(ask(context, &["var", name])?).ok()?.trim_end().to_owned();
    (!text.is_empty()).then_some(text)
}

/// What git answers to a question; `None` where it fails.
pub(super) fn ask(context: &Context, arguments: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(&context.directory)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then_some(output.stdout)
}
