//! `decisions_for` and `why`: what was decided earlier, as far as it may be told to an agent.

use std::path::Path;

use super::arguments::{Arguments, invalid};
use super::call::{Work, work};
use crate::error::Result;
use crate::recall::{self, Pace, PathRequest, WhyRequest};

/// Most decisions of one answer.
const MOST: u64 = 50;

/// The work of one of these tools.
pub(super) fn work_of(tool: &str, given: &mut Arguments) -> Result<Work> {
    if tool == "why" {
        return why(given);
    }
    let request = PathRequest {
        paths: given.texts("paths")?,
        query: given.text("query")?,
        limit: given.number("limit", 1..=MOST)?.and_then(|limit| usize::try_from(limit).ok()),
        include_superseded: given.flag("include_superseded")?.unwrap_or(false),
    };
    Ok(work(move |workspace| {
        let git = workspace.git()?;
        let _ = recall::refresh(&git, &mut workspace.store, Pace::AtLeisure); // where that fails, git is asked
        recall::decisions_for(&workspace.context, &git, Some(&workspace.store), &request)
    }))
}

fn why(given: &mut Arguments) -> Result<Work> {
    let path = given.required("path")?;
    let from = given.number("line", 1..=u64::from(u32::MAX))?;
    let to = given.number("last_line", 1..=u64::from(u32::MAX))?;
    let lines = match (from, to) {
        (None, None) => None,
        (Some(from), None) => Some((from, from)),
        (Some(from), Some(to)) if from <= to => Some((from, to)),
        _ => return Err(invalid("last_line", "comes with line, and not before it")),
    };
    Ok(work(move |workspace| {
        let path = workspace.git()?.path_here(Path::new(&path))?;
        recall::why(&workspace.context, &WhyRequest { path, lines, for_agent: true, ..WhyRequest::default() })
    }))
}
