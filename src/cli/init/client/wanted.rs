//! The parts of a client's configuration that `lockgate init` adds.

use serde_json::{Map, Value, json};

/// The keys of a server's program and its arguments.
const PROGRAM: [&str; 2] = ["command", "args"];

/// The content that a file gets.
#[derive(Debug)]
pub(super) enum Content {
    /// Parts of a JSON configuration.
    Json(Vec<Wanted>),
    /// The server in the table `key` of a TOML configuration.
    TomlServer { key: &'static str, fields: Map<String, Value> },
    /// The whole text of a file of lockgate's own.
    Own {
        text: String,
        /// The permission bits of a new file, if they differ from the default.
        mode: Option<u32>,
    },
}

impl Content {
    /// Returns the permission bits of a new file, if they differ from the default.
    pub(super) fn mode(&self) -> Option<u32> {
        match self {
            Content::Own { mode, .. } => *mode,
            Content::Json(_) | Content::TomlServer { .. } => None,
        }
    }
}

/// The contents of files, by their names below the destination; an empty name is the destination itself.
pub(super) type Contents = Vec<(&'static str, Content)>;

/// A part of a configuration that `lockgate init` adds.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// Its place: the names from the root object.
    pub(super) path: Vec<&'static str>,
    pub(super) value: WantedValue,
}

/// The value of a part.
#[derive(Debug, Clone)]
pub(super) enum WantedValue {
    /// An object with these fields; its other fields stay.
    Object(Map<String, Value>),
    /// A value; a different one is replaced only with `--force`.
    Exact(Value),
    /// A value that is added only if there is none, and not removed.
    Default(Value),
    /// An element of an array. A hook of lockgate takes the place of another one.
    Element(Value),
}

impl Wanted {
    /// Returns the paths of the objects around it, and of its array, from the outside to the inside.
    pub(super) fn containers(&self) -> impl Iterator<Item = &[&'static str]> {
        let is_array = matches!(self.value, WantedValue::Element(_));
        let depth = if is_array { self.path.len() } else { self.path.len().saturating_sub(1) };
        (1..=depth).filter_map(|end| self.path.get(..end))
    }

    /// Returns the value at the end of the path in a configuration that has nothing there.
    pub(super) fn fresh(&self) -> Value {
        match &self.value {
            WantedValue::Object(fields) => json!(fields),
            WantedValue::Exact(value) | WantedValue::Default(value) => value.clone(),
            WantedValue::Element(value) => json!([value]),
        }
    }
}

/// Returns the fields of an object; none for another value.
pub(super) fn object_fields(object: Value) -> Map<String, Value> {
    if let Value::Object(fields) = object { fields } else { Map::new() }
}

/// Returns true if an existing server has the same program and arguments as the one that `init` adds, whatever its
/// toolsets. Other keys do not matter.
pub(super) fn is_same_server(fields: &Map<String, Value>, existing: &Map<String, Value>) -> bool {
    let (own, existing) = (words(fields), words(existing));
    match existing.strip_prefix(own.as_slice()) {
        Some([]) => true,
        Some([option, list]) => option.as_str() == Some("--tools") && list.is_string(),
        Some(_) | None => false,
    }
}

/// The fields of a server that a client reaches over the network.
const REMOTE: [&str; 8] = [
    "url",
    "httpUrl",
    "serverUrl",
    "headers",
    "oauth",
    // Codex
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
];

/// True if a field of an existing server belongs to a server of another kind than this one, which the client starts as a
/// program.
pub(super) fn is_foreign_field(fields: &Map<String, Value>, name: &str, value: &Value) -> bool {
    if !fields.contains_key("command") || fields.contains_key(name) {
        return false;
    }
    let is_program = || value.as_str().is_some_and(|kind| ["stdio", "local"].contains(&kind));
    REMOTE.contains(&name) || (name == "type" && !is_program())
}

/// Returns the program of a server and its arguments.
fn words(fields: &Map<String, Value>) -> Vec<&Value> {
    let values = PROGRAM.iter().filter_map(|name| fields.get(*name));
    values
        .flat_map(|value| value.as_array().map_or_else(|| vec![value], |items| items.iter().collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_its_program_and_arguments() {
        let plain = object_fields(json!({"command": "lockgate", "args": ["serve", "--root", "."]}));
        let list = object_fields(json!({"type": "local", "command": ["lockgate", "serve"]}));
        for (fields, existing, expected) in [
            (&plain, json!({"args": ["serve", "--root", "."], "command": "lockgate", "env": {}}), true),
            (
                &plain,
                json!({"command": "lockgate", "args": ["serve", "--root", ".", "--tools", "all"]}),
                true,
            ),
            (
                &plain,
                json!({"command": "lockgate", "args": ["serve", "--root", ".", "--trust", "all"]}),
                false,
            ),
            (&plain, json!({"command": "lockgate", "args": ["serve", "--root", ".", "--tools"]}), false),
            (&plain, json!({"command": "lockgate", "args": ["serve"]}), false),
            (&plain, json!({"command": "/opt/lockgate", "args": ["serve", "--root", "."]}), false),
            (&plain, json!({"env": {}}), false),
            (&list, json!({"command": ["lockgate", "serve"], "enabled": false}), true),
            (&list, json!({"type": "local", "command": ["lockgate", "check"]}), false),
        ] {
            assert_eq!(is_same_server(fields, &object_fields(existing.clone())), expected, "{existing}");
        }
    }
}
