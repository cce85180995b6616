//! Tools as the protocol describes them: an entry of the catalogue with its schemas and annotations.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::Profile;
use super::catalogue::{CATALOGUE, CORE};

/// What a call does to the store.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Nothing, but for its line in the ledger.
    Reads,
    /// It adds something, each time.
    Adds,
    /// It closes something; doing it again changes nothing.
    Closes,
    /// It adds something and takes away what that stands for.
    Replaces,
}

/// A tool.
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) kind: Kind,
    pub(super) required: &'static [&'static str],
    pub(super) properties: fn() -> Value,
    /// The schema of its answers, from the type that it answers with.
    pub(super) output: fn() -> JsonObject,
}

fn served(profile: Profile) -> &'static [Spec] {
    match profile {
        Profile::Core => &CATALOGUE[..CORE],
        Profile::Full => CATALOGUE,
    }
}

/// The tools of a profile. Made when they are asked for: a server that starts has no time for it.
pub(super) fn tools(profile: Profile) -> Vec<Tool> {
    served(profile).iter().map(Spec::tool).collect()
}

/// The tool of this name, if the profile has it.
pub(super) fn known(profile: Profile, name: &str) -> Option<&'static str> {
    served(profile).iter().map(|spec| spec.name).find(|known| *known == name)
}

impl Spec {
    fn tool(&self) -> Tool {
        let (reads, destroys, repeatable) = match self.kind {
            Kind::Reads => (true, false, true),
            Kind::Adds => (false, false, false),
            Kind::Closes => (false, false, true),
            Kind::Replaces => (false, true, false),
        };
        let annotations =
            ToolAnnotations::new().read_only(reads).destructive(destroys).idempotent(repeatable).open_world(false);
        Tool::new(self.name, self.description, self.input())
            .with_title(self.title)
            .with_raw_output_schema(Arc::new((self.output)()))
            .with_annotations(annotations)
    }

    /// No choice between alternatives at the top: some providers of models refuse such a schema.
    fn input(&self) -> JsonObject {
        object(json!({
            "type": "object",
            "properties": (self.properties)(),
            "required": self.required,
            "additionalProperties": false,
        }))
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => unreachable!("not an object: {other}"),
    }
}
