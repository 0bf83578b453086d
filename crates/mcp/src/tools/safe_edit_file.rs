//! `safe_edit_file`: edits one file in one of the four modes.

use rmcp::model::JsonObject;

use super::fields::{self, WireMode, edit_request, response_limit};
use super::request::{EditCall, ToolRequest};
use crate::answer::{DiffDisplay, ToolProfile};
use lockgate_edit::OnDuplicate;
use lockgate_edit::request::{
    Fields, FilePermissions, FlagsValue, InsertFields, LineEditFields, Request, Target, WindowFields,
};
use lockgate_error::{Code, Error};

tool! {
    SafeEditFile => "safe_edit_file", "Edit a file",
    &[Toolset::Edit], Effect::Changes, RepeatEffect::Changes, ToolProfile::PLAIN
}

/// Edits or creates one file: give `path` and exactly one of `content`, `line_edits`, `insert_lines`, or `search`
/// with `replace`. Quality gates judge the result first; a rejection leaves the file as it was.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SafeEditFile {
    /// Absolute, or relative to the first root.
    path: String,
    /// The whole new text. Creates the file and its folders, too.
    content: Option<String>,
    /// A new file may be executed.
    executable: Option<bool>,
    /// New text for ranges of lines, from 1 and inclusive, as numbered before the call.
    line_edits: Option<Vec<LineEditFields>>,
    /// New text before lines, as numbered before the call.
    insert_lines: Option<Vec<InsertFields>>,
    /// Text to find, literally unless `regex`; every match is replaced.
    search: Option<String>,
    /// The replacement; with `regex` also \1, \g<name>.
    replace: Option<String>,
    /// `search` is a pattern of Python's re.
    regex: Option<bool>,
    /// Maximum number of replacements.
    #[schemars(range(min = 1))]
    search_count: Option<i64>,
    /// Any other number of matches is rejected.
    #[schemars(range(min = 1))]
    expect_matches: Option<i64>,
    // Listed as an integer, because many clients accept only one type; names are accepted as well.
    /// Flags of re added up: I=2, M=8, S=16, X=64, A=256.
    #[schemars(with = "Option<i64>")]
    search_flags: Option<FlagsValue>,
    /// Search in these lines only, from 1 and inclusive.
    lines: Option<WindowFields>,
    /// Search inside this symbol only, as in Class.method.
    within: Option<String>,
    /// strict (default): a new blocking finding stops it; interactive only warns; verify_only never writes.
    mode: Option<WireMode>,
    /// Answer with the diff.
    #[serde(default = "fields::default_true")]
    show_diff: bool,
    /// A `version` that you read; rejected if the edited text changed since.
    expected_version: Option<String>,
    /// Maximum size of the answer, 8192 unless given.
    max_bytes: Option<i64>,
}

/// Parses the arguments of a call into an edit.
///
/// Errors: those of the fields, before any file is read.
pub fn parse_edit(arguments: JsonObject) -> Result<EditCall, Error> {
    edit_call(parse_input(arguments)?)
}

fn into_request(input: SafeEditFile) -> Result<ToolRequest, Error> {
    edit_call(input).map(ToolRequest::from)
}

fn edit_call(input: SafeEditFile) -> Result<EditCall, Error> {
    let limit = response_limit(input.max_bytes)?;
    let fields = Fields {
        content: input.content,
        line_edits: input.line_edits,
        insert_lines: input.insert_lines,
        search: input.search,
        replace: input.replace,
        regex: input.regex,
        search_count: input.search_count,
        expect_matches: input.expect_matches,
        search_flags: input.search_flags,
        lines: input.lines,
        within: input.within,
        on_duplicate: OnDuplicate::from_expected_version(input.expected_version.as_deref()),
    };
    let target = Target::File(input.path);
    let permissions = match (input.executable, &fields.content) {
        (Some(true), Some(_)) => FilePermissions::Executable,
        (Some(true), None) => {
            let message = "`executable` is only for content, which can create a file";
            return Err(Error::new(Code::ModeConflict, message).named_field("executable"));
        }
        (Some(false) | None, _) => FilePermissions::Usual,
    };
    let request = edit_request(target, fields.into_edit()?, input.mode, input.expected_version);
    let request = Request { permissions, ..request };
    let mut call = EditCall::new(request, ToolProfile::PLAIN);
    call.options.limit = limit;
    call.options.diff = if input.show_diff { DiffDisplay::Shown } else { DiffDisplay::Omitted };
    Ok(call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::Edit;
    use lockgate_edit::request::{Expect, Mode};
    use serde_json::{Value, json};

    fn asked(arguments: Value) -> Result<EditCall, Error> {
        parse_edit(arguments.as_object().cloned().unwrap_or_default())
    }

    fn refused(arguments: Value) -> (Code, Option<String>, String) {
        let error = asked(arguments).unwrap_err();
        (error.code, error.field.map(String::from), error.message)
    }

    #[test]
    fn every_mode_is_read() {
        let line_edit = json!({"start_line": 1, "end_line": 2, "new_content": "x"});
        for (fields, mode) in [
            (json!({"content": ""}), "content"),
            (json!({"line_edits": [line_edit]}), "line_edits"),
            (json!({"line_edits": format!("[{line_edit}]")}), "line_edits"),
            (json!({"insert_lines": [{"at_line": 1.0, "content": "x", "expect": null}]}), "insert_lines"),
            (json!({"search": "a", "replace": "", "lines": "{\"start\": 1, \"end\": 2}"}), "search/replace"),
            (json!({"search": "a", "replace": "", "regex": true, "search_flags": "I|M"}), "search/replace"),
            (json!({"search": "a", "replace": "", "regex": true, "search_flags": 2}), "search/replace"),
            (json!({"content": "x", "search": null, "regex": false, "search_flags": 0}), "content"),
        ] {
            let mut arguments = json!({"path": "a"});
            arguments.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
            let call = asked(arguments).unwrap_or_else(|error| panic!("{fields}: {error:?}"));
            assert_eq!(call.request.edit.mode(), mode, "{fields}");
            assert_eq!(call.request.mode, Mode::Strict);
        }
    }

    #[test]
    fn the_rest_of_the_request_is_read() {
        let call = asked(json!({"path": "a", "content": "x", "mode": "verify_only", "show_diff": false,
            "expected_version": "0123456789ab", "max_bytes": 2000}))
        .unwrap();
        assert_eq!(call.request.edit, Edit::Content("x".into()));
        assert_eq!(call.request.mode, Mode::VerifyOnly);
        assert_eq!(call.request.expect, Expect::Version("0123456789ab".into()));
        assert_eq!((call.options.limit, call.options.diff), (2000, DiffDisplay::Omitted));
    }

    #[test]
    fn a_rejection_names_the_field() {
        let (code, field, _) = refused(json!({"content": "x"}));
        assert_eq!((code, field.as_deref()), (Code::InvalidInput, Some("path")));
        let good = json!({"start_line": 1, "end_line": 1, "new_content": ""});
        let (code, field, message) = refused(json!({"path": "a", "line_edits": [good, good,
            {"start_line": 1, "end_line": "x", "new_content": ""}]}));
        assert_eq!(
            (code, field.as_deref()),
            (Code::InvalidInput, Some("line_edits[2].end_line")),
            "{message}"
        );
        for bytes in [json!(0), json!(-5), json!(1_000_000_000)] {
            assert_eq!(
                refused(json!({"path": "a", "content": "", "max_bytes": bytes})).1.as_deref(),
                Some("max_bytes")
            );
        }
        let (_, field, message) =
            refused(json!({"path": "a", "search": "x", "replace": "", "search_flags": [1]}));
        assert_eq!(field.as_deref(), Some("search_flags"));
        assert!(message.contains("must be an integer"), "{message}");
        assert_eq!(refused(json!({"path": "a"})).0, Code::ModeMissing);
    }
}
