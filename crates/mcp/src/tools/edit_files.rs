//! `edit_files`: edits several files, all or none.
//!
//! Invariant: `safe_edit_file` parses each entry, so fields of the same name mean the same.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use rmcp::model::JsonObject;
use serde_json::Value;

use super::fields::{self, WireMode, check_edit_count, response_limit};
use super::request::{BatchCall, ToolRequest};
use super::safe_edit_file;
use crate::answer::{DiffDisplay, ToolOptions, ToolProfile};
use crate::schema;
use lockgate_edit::request::{Expect, Mode, Request};
use lockgate_edit::{Edit, EditPart};
use lockgate_error::{Code, Error};

tool! {
    EditFiles => "edit_files", "Edit several files",
    &[Toolset::Edit], Effect::Changes, RepeatEffect::Changes, ToolProfile::PLAIN
}

/// Fields of `safe_edit_file` that are given once for all files.
const COMMON: [&str; 3] = ["mode", "show_diff", "max_bytes"];

/// Edits files: all are judged first, then all are written or none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditFiles {
    /// Each as in safe_edit_file; all of one file refer to its current text, or to one expected_version.
    edits: Vec<FileEditArgs>,
    /// As in safe_edit_file.
    mode: Option<WireMode>,
    /// Answer with the diffs.
    #[serde(default = "fields::default_true")]
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
        let mut entry = (safe_edit_file::TOOL.schema)().clone();
        if let Some(Value::Object(properties)) = entry.get_mut("properties") {
            properties.retain(|name, _| !COMMON.contains(&name.as_str()));
        }
        schema::insert_references(&mut entry, "Same.");
        entry.into()
    }
}

/// Errors: those of the fields, with a path such as `edits[2].line_edits[0].end_line`.
fn into_request(input: EditFiles) -> Result<ToolRequest, Error> {
    check_edit_count(input.edits.len())?;
    let options = ToolOptions {
        limit: response_limit(input.max_bytes)?,
        diff: if input.show_diff { DiffDisplay::Shown } else { DiffDisplay::Omitted },
        ..ToolOptions::new(ToolProfile::PLAIN)
    };
    let mode = input.mode.map(Mode::from).unwrap_or_default();
    let request = |(at, FileEditArgs(entry)): (usize, FileEditArgs)| {
        let call = safe_edit_file::parse_edit(entry).map_err(|error| error.with_entry(at));
        call.map(|call| Request { mode, ..call.request })
    };
    let requests: Vec<Request> =
        input.edits.into_iter().enumerate().map(request).collect::<Result<_, _>>()?;
    let paths = requests.iter().map(|request| request.target.display_path().to_owned()).collect();
    let requests = join_entries(requests)?;
    Ok(ToolRequest::Batch(Box::new(BatchCall { requests, paths, options })))
}

/// Joins the entries that name the same path into one request each; the others stay as they are.
///
/// Errors: `INVALID_INPUT` for entries of one file that expect different versions.
fn join_entries(requests: Vec<Request>) -> Result<Vec<Request>, Error> {
    let paths: HashSet<PathBuf> = requests.iter().map(plain_path).collect();
    if paths.len() == requests.len() {
        return Ok(requests);
    }
    let mut joined: Vec<Request> = Vec::new();
    for (entry, mut request) in requests.into_iter().enumerate() {
        let part = EditPart { entry, edit: std::mem::replace(&mut request.edit, Edit::Several(Vec::new())) };
        let path = plain_path(&request);
        let Some(known) = joined.iter_mut().find(|known| plain_path(known) == path) else {
            request.edit = Edit::Several(vec![part]);
            joined.push(request);
            continue;
        };
        known.expect = join_expectations(&known.expect, request.expect).ok_or_else(|| {
            let message = "an earlier edit of the same file expects another version";
            Error::new(Code::InvalidInput, message).field("expected_version").with_entry(entry)
        })?;
        if let Edit::Several(parts) = &mut known.edit {
            parts.push(part);
        }
    }
    Ok(joined)
}

/// Returns the path of a request without `.`: `./a.txt` is `a.txt`.
fn plain_path(request: &Request) -> PathBuf {
    let parts = Path::new(request.target.display_path()).components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

/// Returns what two edits of one file expect together; `None` if they contradict each other.
fn join_expectations(known: &Expect, other: Expect) -> Option<Expect> {
    match (known, other) {
        (Expect::Anything, other) => Some(other),
        (known, other) if *known == other || other == Expect::Anything => Some(known.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(arguments: Value) -> Result<BatchCall, Error> {
        match parse(arguments.as_object().cloned().unwrap())? {
            ToolRequest::Batch(all) => Ok(*all),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_entry_is_read_as_safe_edit_file_reads_it() {
        let edits = json!([{"path": "a", "content": ""}, {"path": "b", "search": "x", "replace": "y"}]);
        for edits in [edits.clone(), json!(edits.to_string())] {
            let all = asked(json!({"edits": edits, "mode": "verify_only", "show_diff": false})).unwrap();
            assert_eq!(all.paths, ["a", "b"]);
            assert!(all.requests.iter().all(|request| request.mode == Mode::VerifyOnly));
            assert_eq!((all.options.diff, all.options.limit), (DiffDisplay::Omitted, 8192));
        }
    }

    #[test]
    fn entries_of_one_file_are_one_request() {
        let edit = |path: &str| json!({"path": path, "search": "x", "replace": "y"});
        let edits = ["a/b", "./a/b", "a/./b", "../a/b", "/a/b", ".//a/b"].map(edit);
        let all = asked(json!({"edits": edits})).unwrap();
        let paths: Vec<&str> = all.requests.iter().map(|request| request.target.display_path()).collect();
        assert_eq!(paths, ["a/b", "../a/b", "/a/b"]);
        assert!(matches!(&all.requests[0].edit, Edit::Several(parts) if parts.len() == 4));
        assert_eq!(all.paths.len(), 6);
    }

    #[test]
    fn a_rejection_names_the_field_within_its_entry() {
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
            let error = asked(json!({"edits": edits})).unwrap_err();
            assert_eq!(error.field_path().as_deref(), Some(field), "{edits:.80}: {error:?}");
        }
    }
}
