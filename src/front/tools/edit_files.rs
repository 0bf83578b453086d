//! `edit_files`: edits several files, all or none.
//!
//! Invariant: `safe_edit_file` parses each entry, so fields of the same name mean the same.

use std::sync::LazyLock;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{BatchCall, Effect, RepeatEffect, Tool, ToolRequest, WireMode, safe_edit_file};
use crate::error::{Code, Error};
use crate::front::answer::{DiffDisplay, ResponseOptions, ToolProfile};
use crate::front::toolset::Toolset;
use crate::front::{arguments, schema};
use crate::request::Request;

/// The definition of `edit_files` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "edit_files",
    title: "Edit several files",
    toolset: Toolset::Edit,
    effect: Effect::Changes,
    repeat_effect: RepeatEffect::Changes,
    profile: ToolProfile::PLAIN,
    schema: || SCHEMA.clone(),
    parse: |arguments| parse(arguments).map(|call| ToolRequest::Batch(Box::new(call))),
};

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 100;

/// Fields of `safe_edit_file` that are given once for all files.
const COMMON: [&str; 3] = ["mode", "show_diff", "max_bytes"];

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<EditFiles>);

/// Edits several files: all are judged first, then all are written or none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditFiles {
    /// One entry for each file, with the fields of safe_edit_file.
    edits: Vec<FileEditArgs>,
    /// As in safe_edit_file.
    mode: Option<WireMode>,
    /// Answer with the diffs.
    #[serde(default = "safe_edit_file::default_true")]
    show_diff: bool,
    /// As in safe_edit_file.
    max_bytes: Option<i64>,
}

/// The arguments of one `safe_edit_file` call, without the common fields.
#[derive(Deserialize)]
struct FileEditArgs(JsonObject);

impl JsonSchema for FileEditArgs {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Entry".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut entry = (safe_edit_file::TOOL.schema)();
        if let Some(Value::Object(properties)) = entry.get_mut("properties") {
            properties.retain(|name, _| !COMMON.contains(&name.as_str()));
        }
        schema::without_descriptions(entry).into()
    }
}

/// Parses the arguments of a call into edits.
///
/// Errors: those of the fields, with a path such as `edits[2].line_edits[0].end_line`.
pub fn parse(arguments: JsonObject) -> Result<BatchCall, Error> {
    let input: EditFiles = arguments::read(&SCHEMA, arguments)?;
    let message = match input.edits.len() {
        0 => Some("`edits` is an empty list".to_owned()),
        1..=MAX_EDITS => None,
        length => Some(format!("`edits` has {length} entries, more than the {MAX_EDITS} of one call")),
    };
    if let Some(message) = message {
        return Err(Error::new(Code::InvalidInput, message).field("edits"));
    }
    let options = ResponseOptions {
        limit: input
            .max_bytes
            .map(safe_edit_file::limit)
            .transpose()?
            .unwrap_or(ResponseOptions::default().limit),
        diff: if input.show_diff { DiffDisplay::Shown } else { DiffDisplay::Omitted },
        ..ResponseOptions::default()
    };
    let mode = input.mode.map(WireMode::into_mode).unwrap_or_default();
    let convert = |(at, FileEditArgs(entry)): (usize, FileEditArgs)| {
        let one = safe_edit_file::parse(entry).map_err(|error| in_entry(at, error))?;
        Ok(Request { mode, ..one.request })
    };
    let requests: Vec<Request> =
        input.edits.into_iter().enumerate().map(convert).collect::<Result<_, _>>()?;
    Ok(BatchCall { paths: requests.iter().map(path).collect(), requests, options })
}

/// Prefixes the field of a rejection with the index of its entry.
fn in_entry(at: usize, mut error: Error) -> Error {
    let below = error.field.map(|field| format!(".{field}")).unwrap_or_default();
    error.field = Some(format!("edits[{at}]{below}").into());
    error
}

fn path(request: &Request) -> String {
    request.target.display_path().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::request::Mode;

    fn parse_args(arguments: Value) -> Result<BatchCall, Error> {
        super::parse(arguments.as_object().cloned().unwrap())
    }

    #[test]
    fn every_entry_is_read_as_safe_edit_file_reads_it() {
        let edits = json!([{"path": "a", "content": ""}, {"path": "b", "search": "x", "replace": "y"}]);
        for edits in [edits.clone(), json!(edits.to_string())] {
            let all = parse_args(json!({"edits": edits, "mode": "verify_only", "show_diff": false})).unwrap();
            assert_eq!(all.paths, ["a", "b"]);
            assert!(all.requests.iter().all(|request| request.mode == Mode::VerifyOnly));
            assert_eq!((all.options.diff, all.options.limit), (DiffDisplay::Omitted, 8192));
        }
    }

    #[test]
    fn a_refusal_names_the_field_within_its_entry() {
        let good = json!({"path": "a", "content": ""});
        for (edits, field) in [
            (json!([]), "edits"),
            (json!([good, {"content": ""}]), "edits[1].path"),
            (json!([good, {"path": "b"}]), "edits[1]"),
            (json!([{"path": "a", "content": "", "mode": "strict"}]), "edits[0].mode"),
            (json!([{"path": "a", "content": "", "search": "b", "replace": "c"}]), "edits[0]"),
            (
                json!([{"path": "a", "line_edits": [{"start_line": 1, "end_line": "2", "new_content": ""}]}]),
                "edits[0].line_edits[0].end_line",
            ),
            (
                json!([good, good, {"path": "a", "line_edits": [{"start_line": 2, "end_line": 1, "new_content": ""}]}]),
                "edits[2].line_edits[0].end_line",
            ),
            (json!(vec![good; 101]), "edits"),
        ] {
            let error = parse_args(json!({"edits": edits})).unwrap_err();
            assert_eq!(error.field.as_deref(), Some(field), "{edits:.80}: {error:?}");
        }
    }
}
