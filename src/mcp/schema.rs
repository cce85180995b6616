//! The JSON schemas of the answers of tools, made from the types that are serialized.
//!
//! Clients may show them to a model with every request, so they have no descriptions.

use std::borrow::Cow;
use std::marker::PhantomData;

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

/// The schema of a tool's answers: the envelope around this outcome, or around an error.
pub(super) fn answer<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(without_words));
    let mut schema = settings.into_generator().into_root_schema_for::<Envelope<T>>();
    schema.remove("$schema"); // the one that the protocol assumes
    match schema.to_value() {
        Value::Object(schema) => schema,
        other => unreachable!("not an object: {other}"),
    }
}

/// Descriptions are for readers of the source, and formats such as `uint64` make JavaScript clients complain. That a
/// count is not negative goes without saying.
fn without_words(schema: &mut Schema) {
    for key in ["title", "description", "format", "minimum"] {
        schema.remove(key);
    }
}

/// The form of every answer, as `answer::envelope` makes it.
struct Envelope<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for Envelope<T> {
    fn schema_name() -> Cow<'static, str> {
        "Envelope".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "oneOf": [
                {
                    "properties": { "ok": { "const": true }, "data": T::json_schema(generator) },
                    "required": ["ok", "data"],
                },
                {
                    "properties": {
                        "ok": { "const": false },
                        "error": {
                            "type": "object",
                            "properties": { "code": { "type": "string" }, "message": { "type": "string" } },
                            "required": ["code", "message", "hint", "details"],
                        },
                    },
                    "required": ["ok", "error"],
                },
            ],
        })
    }
}
