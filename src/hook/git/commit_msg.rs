//! `commit-msg`: names the session in the message of the commit that it explains.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Answer, is_replay};
use crate::agents;
use crate::context::{Context, read_regular};
use crate::error::{Code, Error, Result};
use crate::git::{Git, Repository, interpret_trailers};
use crate::proof::trailer::{self, ProofTrailer};
use crate::publish::{self, Moment};
use crate::record::Workspace;

pub(super) fn run(context: &Context, arguments: &[OsString]) -> Result<Answer> {
    let Some(file) = arguments.first() else {
        return Err(Error::new(Code::InvalidParams, "git gives the file of the message, and it was not given"));
    };
    let file = context.path(Path::new(file));
    let place = Repository::discover(context)?;
    if !place.store_path().exists() {
        return Ok(Answer::default());
    }
    let git = Git::open(&place, context)?;
    let unreadable = |what: &str, error: std::io::Error| {
        Error::new(Code::Unreadable, format!("the message {} cannot be {what}", file.display())).because(error)
    };
    let message = read_regular(&file).map_err(|error| unreadable("read", error))?;
    let leave = [&b"fixup! "[..], b"squash! ", b"amend! "].iter().any(|mark| message.starts_with(mark));
    let empty = says_nothing(context, &git, &message);
    let write = |lines: &[String]| {
        if lines.is_empty() {
            return Ok(());
        }
        if is_plain(context, &git) {
            let text = lines.iter().fold(message.clone(), |text, line| trailer::add(&text, line));
            fs::write(&file, text).map_err(|error| unreadable("written", error))
        } else {
            lines.iter().try_for_each(|line| interpret_trailers(context, &file, line))
        }
    };
    let line = |add: &Option<ProofTrailer>| add.as_ref().map(ProofTrailer::to_string);
    if !leave
        && !empty
        && !publish::is_waiting(&git)
        && let Some(advice) = publish::commit_hint(context, &git, &message)?
    {
        write(line(&advice.add).as_slice())?;
        advice.expects.map_or(Ok(()), |session| publish::expect_commit(context, &git, &session))?;
        return Ok(Answer::default());
    }
    let mut workspace = Workspace::at(place, context.clone())?;
    if !empty && !is_replay(context, &git, false)? {
        agents::ready_for_commit(&mut workspace, &git, false)?;
    }
    publish::before_squash(&mut workspace, &git)?;
    // If this fails, the next command tries again.
    let mended = publish::mend(&mut workspace, &git, Moment::Before).unwrap_or_default();
    let mut answer = Answer { say: super::mended(&mended), stop: false };
    if empty {
        return Ok(answer);
    }
    let replay = is_replay(context, &git, false)?;
    if leave {
        if let Some(session) = publish::before_fixup(&workspace)?.filter(|_| !replay) {
            publish::expect_commit(context, &git, &session)?;
        }
        return Ok(answer);
    }
    let mut advice = publish::before_commit(&workspace, &git, &message)?;
    if replay {
        // The message of a commit that was made before: it is not for the session of today.
        (advice.add, advice.say, advice.expects) = (None, None, None);
    }
    if let Some(why) = advice.refuse {
        let say = vec![
            format!("git proof: {why}"),
            "git proof: take the trailer out of the message, or fetch that session with git proof sync".to_owned(),
        ];
        return Ok(Answer { say, stop: true });
    }
    let wants_agent = advice.expects.is_some() && git.bool_setting("proof.assistedBy") == Some(true);
    let assisted = match advice.expects.as_ref().filter(|_| wants_agent) {
        Some(session) => agents::assisted_by(&workspace, session)?,
        None => None,
    };
    workspace.leave();
    write(&assisted.into_iter().chain(line(&advice.add)).collect::<Vec<_>>())?;
    advice.expects.map_or(Ok(()), |session| publish::expect_commit(context, &git, &session))?;
    answer.say.extend(advice.say.map(|line| format!("git proof: {line}")));
    Ok(answer)
}

/// Whether no setting has a say in how trailers and comments are written. Those given to this one command, as by
/// `git -c`, only git itself reads.
fn is_plain(context: &Context, git: &Git) -> bool {
    let given = ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"].iter().any(|name| context.variable(name).is_some());
    !given && !git.has_trailer_settings()
}

/// Whether git would not make a commit with this message: it is empty, or a template that nobody has filled in. With a
/// trailer of ours it would no longer be.
fn says_nothing(context: &Context, git: &Git, message: &[u8]) -> bool {
    let comment = publish::comment_mark(git);
    let text = trailer::without_comments(message, comment.as_bytes());
    if text.is_empty() {
        return true;
    }
    let Some(template) = git.setting("commit.template") else { return false };
    let template = match template.strip_prefix("~/").zip(context.variable("HOME")) {
        Some((below, home)) => PathBuf::from(home).join(below),
        None => context.path(Path::new(&template)),
    };
    // One that cannot be read, git has refused before.
    read_regular(&template).is_ok_and(|template| trailer::without_comments(&template, comment.as_bytes()) == text)
}
