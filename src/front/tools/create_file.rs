//! `create_file`: a deprecated tool for older clients.

use std::sync::LazyLock;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{EditCall, Effect, RepeatEffect, Tool, ToolRequest};
use crate::edit::Edit;
use crate::error::Error;
use crate::front::answer::{ResponseOptions, ToolProfile};
use crate::front::toolset::Toolset;
use crate::front::{arguments, schema};
use crate::request::{Author, Expect, GateOptions, Mode, Request, Target};

/// The definition of `create_file` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "create_file",
    title: "Create a file (deprecated)",
    toolset: Toolset::Legacy,
    effect: Effect::Adds,
    repeat_effect: RepeatEffect::NoChange,
    profile: ToolProfile::PLAIN,
    schema: || SCHEMA.clone(),
    parse,
};

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<CreateFile>);

/// Deprecated: use `safe_edit_file` with `content`. Creates a file and its folders; an existing file is never replaced.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateFile {
    /// Path of the new file: absolute, or relative to the first root.
    path: String,
    /// The file's text.
    content: String,
}

fn parse(arguments: JsonObject) -> Result<ToolRequest, Error> {
    let CreateFile { path, content } = arguments::read(&SCHEMA, arguments)?;
    let request = Request {
        target: Target::File(path),
        edit: Edit::Content(content),
        mode: Mode::Strict,
        expect: Expect::Absent,
        gate_options: GateOptions::default(),
        author: Author::default(),
    };
    Ok(ToolRequest::Edit(Box::new(EditCall { request, options: ResponseOptions::default() })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_requires_an_absent_file() {
        let request = parse(rmcp::object!({"path": "a/b", "content": ""})).unwrap();
        let ToolRequest::Edit(request) = request else { panic!("{request:?}") };
        let request = request.request;
        assert_eq!(request.edit, Edit::Content(String::new()));
        assert_eq!(request.expect, Expect::Absent);
        assert_eq!(request.target.display_path(), "a/b");
    }

    #[test]
    fn both_fields_are_needed() {
        let missing = |arguments: serde_json::Value| {
            parse(arguments.as_object().cloned().unwrap_or_default()).unwrap_err().field
        };
        assert_eq!(missing(json!({"path": "a"})).as_deref(), Some("content"));
        assert_eq!(missing(json!({"content": "a"})).as_deref(), Some("path"));
        assert_eq!(missing(json!({"path": "a", "content": "a", "mode": "strict"})).as_deref(), Some("mode"));
    }
}
