//! The tools that put away what was done: working memory into leaves, anchored sessions into rounds, old texts into archives.

use super::arguments::Arguments;
use super::call::{Work, work};
use crate::error::{Code, Error, Result};
use crate::keep::{self, PackRequest, PutRequest, RetainRequest};
use crate::seal::{self, SealRequest};

/// Reads the arguments of one of these tools.
pub(super) fn work_of(tool: &str, given: &mut Arguments) -> Result<Work> {
    Ok(match tool {
        "memory_put" => {
            let (session, text) = (Some(given.required("session_id")?), given.required("text")?);
            let request = PutRequest { session, text, key: given.text("key")? };
            work(move |workspace| keep::memory_put(workspace, &request))
        }
        "memory_pack" => {
            let session = Some(given.required("session_id")?);
            let request = PackRequest { session, content: given.text("content")? };
            work(move |workspace| keep::memory_pack(workspace, &request))
        }
        "round_seal" => {
            let request = SealRequest { defer: given.flag("defer")?.unwrap_or(false), sign: given.flag("sign")? };
            work(move |workspace| seal::seal(workspace, &request))
        }
        // To drop texts for good is for a person to decide, at the command line.
        "retention_run" => {
            let request = RetainRequest { dry_run: given.flag("dry_run")?.unwrap_or(false), freeze: None };
            work(move |workspace| keep::retain(workspace, &request))
        }
        _ => return Err(Error::new(Code::InvalidParams, format!("there is no tool {tool}"))),
    })
}
