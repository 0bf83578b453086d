//! The parts of a client's configuration that `lockgate init` adds.

use serde_json::{Map, Value, json};

/// A part of a configuration that `lockgate init` adds. Its place is a path of names from the root object.
#[derive(Debug, Clone)]
pub(super) enum Wanted {
    /// An object with these fields; its other fields stay.
    Object { path: Vec<&'static str>, fields: Map<String, Value> },
    /// A value; a different one is replaced only with `--force`.
    Value { path: Vec<&'static str>, value: Value },
    /// A value that is added only if there is none, and not removed.
    Default { path: Vec<&'static str>, value: Value },
    /// An element of an array. A hook of lockgate takes the place of another one.
    Element { path: Vec<&'static str>, value: Value },
}

impl Wanted {
    pub(super) fn path(&self) -> &[&'static str] {
        match self {
            Wanted::Object { path, .. }
            | Wanted::Value { path, .. }
            | Wanted::Default { path, .. }
            | Wanted::Element { path, .. } => path,
        }
    }

    /// Returns the value at the end of the path in a configuration that has nothing there.
    pub(super) fn fresh(&self) -> Value {
        match self {
            Wanted::Object { fields, .. } => json!(fields),
            Wanted::Value { value, .. } | Wanted::Default { value, .. } => value.clone(),
            Wanted::Element { value, .. } => json!([value]),
        }
    }
}
