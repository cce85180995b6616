//! `commit-msg`: names the session in the message of the commit that it explains.

use std::ffi::OsString;
use std::fs;

use super::{Answer, path, workspace};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git;
use crate::ops;
use crate::proof::trailer;

pub(super) fn run(context: &Context, arguments: &[OsString]) -> Result<Answer> {
    let Some(file) = path(arguments.first()) else {
        return Err(Error::new(Code::InvalidParams, "git gives the file of the message, and it was not given"));
    };
    let file = context.path(&file);
    let Some(workspace) = workspace(context)? else { return Ok(Answer::default()) };
    let unreadable = |what: &str, error: std::io::Error| {
        Error::new(Code::Unreadable, format!("the message {} cannot be {what}", file.display())).because(error)
    };
    let message = fs::read(&file).map_err(|error| unreadable("read", error))?;
    let leave = [&b"fixup! "[..], b"squash! ", b"amend! "].iter().any(|mark| message.starts_with(mark));
    if leave || trailer::is_blank_message(&message) {
        return Ok(Answer::default());
    }
    let advice = ops::before_commit(&workspace, &message)?;
    if let Some(why) = advice.refuse {
        let say = vec![
            format!("git proof: {why}"),
            "git proof: take the trailer out of the message, or fetch that session with git proof sync".to_owned(),
        ];
        return Ok(Answer { say, stop: true });
    }
    if let Some(add) = advice.add {
        let line = add.to_string();
        let plain = !workspace.git()?.has_trailer_settings();
        if plain {
            let message = trailer::add(&message, &line);
            fs::write(&file, message).map_err(|error| unreadable("written", error))?;
        } else {
            git::interpret_trailers(context, &file, &line)?;
        }
    }
    Ok(advice.say.map_or_else(Answer::default, |line| Answer::say(format!("git proof: {line}"))))
}
