//! What only git knows, asked of git itself.

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

fn variable(context: &Context, name: &str) -> Option<String> {
    let output = Command::new("git")
        .args(["var", name])
        .current_dir(&context.directory)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim_end().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
