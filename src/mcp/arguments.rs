//! Arguments of a call, read strictly: each by its name and type, and nothing else. A null counts as not given.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result};

/// The arguments of a call that have not been read yet.
#[derive(Debug)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(super) fn new(given: Map<String, Value>) -> Self {
        Self(given)
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// Whether there is something left of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    /// A text, if it is given.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a string", &other)),
        }
    }

    /// A text that must be given.
    pub(super) fn required(&mut self, name: &str) -> Result<String> {
        self.text(name)?.ok_or_else(|| missing(name))
    }

    /// True or false, if it is given.
    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(wrong(name, "true or false", &other)),
        }
    }

    /// A number of this range, if it is given.
    pub(super) fn number(&mut self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.as_u64().filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(name, &format!("a whole number from {} to {}", range.start(), range.end()), &value)),
        }
    }

    /// A list of texts that must be given.
    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>> {
        self.list(name)?.ok_or_else(|| missing(name))
    }

    /// A list of texts, if it is given.
    pub(super) fn list(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let Value::Array(items) = value else { return Err(wrong(name, "a list of strings", &value)) };
        let text = |item| match item {
            Value::String(text) => Ok(text),
            other => Err(wrong(name, "a list of strings", &other)),
        };
        items.into_iter().map(text).collect::<Result<_>>().map(Some)
    }

    /// An object, if it is given.
    pub(super) fn object(&mut self, name: &str) -> Result<Option<Value>> {
        match self.take(name) {
            None => Ok(None),
            Some(value @ Value::Object(_)) => Ok(Some(value)),
            Some(other) => Err(wrong(name, "an object", &other)),
        }
    }

    /// An object or a list that must be given.
    pub(super) fn nested(&mut self, name: &str) -> Result<Value> {
        match self.take(name).ok_or_else(|| missing(name))? {
            value @ (Value::Object(_) | Value::Array(_)) => Ok(value),
            other => Err(wrong(name, "an object or a list", &other)),
        }
    }

    /// Refuses what nobody asked for: a misspelt name would otherwise be lost without a word.
    pub(super) fn finish(self) -> Result<()> {
        match self.0.into_iter().next() {
            None => Ok(()),
            Some((name, _)) => Err(invalid(&name, "is not an argument of this tool")),
        }
    }
}

/// An argument that is not what it should be.
pub(super) fn invalid(name: &str, why: &str) -> Error {
    Error::new(Code::InvalidParams, format!("{name} {why}")).details(serde_json::json!({ "argument": name }))
}

/// An argument that is needed.
pub(super) fn missing(name: &str) -> Error {
    invalid(name, "is required")
}

fn wrong(name: &str, wanted: &str, found: &Value) -> Error {
    let found = match found {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    invalid(name, &format!("must be {wanted}, not {found}"))
}
