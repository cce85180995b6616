//! A tool: its description and schemas for the protocol, and the function that reads its arguments.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as ToolModel, ToolAnnotations};
use serde::Serialize;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::call::{Prepare, Work, work};
use crate::error::Result;
use crate::record::Workspace;

/// What a call does to the store.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Nothing, but for its line in the ledger.
    Reads,
    /// It adds something, each time.
    Adds,
    /// It closes something; doing it again changes nothing.
    Closes,
    /// It adds something and removes what that replaces.
    Replaces,
}

/// The arguments of a tool: the names of the required ones, and the schema of each.
#[derive(Clone, Copy)]
pub(super) struct Input(pub(super) &'static [&'static str], pub(super) fn() -> Value);

/// The arguments of a tool that takes only a session.
pub(super) const SESSION: Input = Input(&["session_id"], || json!({ "session_id": text() }));

/// A tool. Agents pay for its texts with every request, so they are short; a test counts them.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) kind: Kind,
    pub(super) input: Input,
    /// The schema of its answers, from the type that it answers with.
    pub(super) output: fn() -> JsonObject,
    pub(super) prepare: Prepare,
}

impl Tool {
    /// The tool as the protocol describes it.
    pub(super) fn model(&self) -> ToolModel {
        let (reads, destroys, repeatable) = match self.kind {
            Kind::Reads => (true, false, true),
            Kind::Adds => (false, false, false),
            Kind::Closes => (false, false, true),
            Kind::Replaces => (false, true, false),
        };
        let annotations =
            ToolAnnotations::new().read_only(reads).destructive(destroys).idempotent(repeatable).open_world(false);
        ToolModel::new(self.name, self.description, self.input())
            .with_title(self.title)
            .with_raw_output_schema(Arc::new((self.output)()))
            .with_annotations(annotations)
    }

    /// The schema of the arguments. It has no `anyOf` at the top, because some providers of models refuse that.
    fn input(&self) -> JsonObject {
        let Input(required, properties) = self.input;
        let schema = json!({
            "type": "object",
            "properties": properties(),
            "required": required,
            "additionalProperties": false,
        });
        match schema {
            Value::Object(schema) => schema,
            other => unreachable!("not an object: {other}"),
        }
    }
}

/// Prepares a tool that takes only a session.
pub(super) fn of_session<T: Serialize>(
    given: &mut Arguments,
    op: impl FnOnce(&mut Workspace, &str) -> Result<T> + 'static,
) -> Result<Work> {
    let session = given.required("session_id")?;
    Ok(work(move |workspace| op(workspace, &session)))
}

/// The schema of a string.
pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

/// The schema of a string with a description.
pub(super) fn said(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// The schema of a list of strings.
pub(super) fn names() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}
