//! `edit_file`: replaces an exactly quoted text in a file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{EditCall, ToolRequest, WireMode, edit_request};
use crate::edit::Occurrences;
use crate::engine::Report;
use crate::error::{Code, Error};
use crate::front::answer::{FieldNames, ResponseOptions, ToolProfile};
use crate::request::{BlockFields, Target};

tool! {
    EditFile => "edit_file", "Replace a text in a file",
    Toolset::Text, Effect::Changes, RepeatEffect::Changes, PROFILE
}

const PROFILE: ToolProfile = ToolProfile {
    names: FieldNames { path: "file_path", search: "old_string", replace: "new_string", ..FieldNames::PLAIN },
    success_message,
    rejection_message,
    ..ToolProfile::PLAIN
};

/// Replaces `old_string` in a file by `new_string`. It must occur exactly once, unless `replace_all`; quote a few
/// whole lines. The project's quality gates judge the result before it is written; a rejection leaves the file as it
/// was and shows the nearest lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditFile {
    /// Absolute, or relative to the first root.
    file_path: String,
    /// The exact text in the file.
    old_string: String,
    /// The replacement; empty removes the text.
    new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
    /// Look inside this symbol only, as in Class.method.
    within: Option<String>,
    /// strict (default) writes unless a new finding blocks; interactive writes and warns; verify_only never writes.
    mode: Option<WireMode>,
    /// The `version` of an earlier answer; rejected if the edited text changed since.
    expected_version: Option<String>,
}

impl TryFrom<EditFile> for ToolRequest {
    type Error = Error;

    fn try_from(input: EditFile) -> Result<ToolRequest, Error> {
        let fields = BlockFields {
            search: input.old_string,
            replace: input.new_string,
            occurrences: if input.replace_all { Occurrences::EveryBlock } else { Occurrences::Block },
            within: input.within,
            versioned: input.expected_version.is_some(),
            ..BlockFields::default()
        };
        let edit = fields.into_edit().map_err(|error| PROFILE.rename_error_field(error))?;
        let target = Target::File(input.file_path);
        Ok(EditCall::new(edit_request(target, edit, input.mode, input.expected_version), PROFILE).into())
    }
}

/// Returns the message with the number of replacements.
pub(super) fn success_message(report: &Report) -> Option<String> {
    let count = report.replacements?;
    Some(format!("Successfully replaced {count} occurrence(s) in {}", report.path))
}

fn rejection_message(error: &Error, options: &ResponseOptions) -> Option<String> {
    if error.field.as_deref() == Some("within") {
        return None;
    }
    let path = options.target();
    match error.code {
        Code::MatchNotFound => Some(format!("old_string not found in {path}")),
        Code::AmbiguousMatch => Some(format!("old_string appears {} times in {path}", error.place_count())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Needle, OnDuplicate, Search};
    use crate::error::EvidenceLine;
    use crate::front::answer::render_error;
    use crate::locate::MatchTolerance;
    use crate::request::Expect;
    use serde_json::{Value, json};

    fn parse_args(arguments: Value) -> Result<EditCall, Error> {
        parse(arguments.as_object().cloned().unwrap_or_default()).map(ToolRequest::into_edit)
    }

    fn search(arguments: Value) -> Search {
        parse_args(arguments).unwrap().into_search()
    }

    #[test]
    fn it_asks_for_one_place_or_for_all() {
        let one = search(json!({"file_path": "a", "old_string": "x", "new_string": "", "within": "f"}));
        assert_eq!(
            one,
            Search {
                needle: Needle::Literal("x".into()),
                replace: String::new(),
                count: None,
                lines: None,
                within: Some("f".into()),
                occurrences: Occurrences::Block,
                tolerance: MatchTolerance::Wrapping,
                on_duplicate: OnDuplicate::Reject,
            }
        );
        let all = json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true,
            "expected_version": "0123456789ab"});
        assert_eq!(
            (search(all.clone()).occurrences, search(all.clone()).on_duplicate),
            (Occurrences::EveryBlock, OnDuplicate::InsertAgain)
        );
        assert_eq!(parse_args(all).unwrap().request.expect, Expect::Version("0123456789ab".into()));
    }

    #[test]
    fn a_refusal_names_the_tool_s_own_field() {
        for (arguments, field) in [
            (json!({"file_path": "a", "old_string": " \n", "new_string": "y"}), "old_string"),
            (json!({"file_path": "a", "new_string": "y"}), "old_string"),
            (json!({"path": "a", "old_string": "x", "new_string": "y"}), "path"),
            (
                json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": "yes"}),
                "replace_all",
            ),
        ] {
            let error = parse_args(arguments).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some(field)));
        }
        let missing = PROFILE.rename_error_field(Error::new(Code::FileNotFound, "no").field("path"));
        assert_eq!(missing.field.as_deref(), Some("file_path"));
    }

    #[test]
    fn a_refusal_is_worded_as_the_tool_words_it() {
        let options =
            ResponseOptions { path: Some("app.py".into()), profile: PROFILE, ..ResponseOptions::default() };
        let rendered =
            |error: Error| render_error(&error, &options).json["message"].as_str().unwrap().to_owned();
        let place = EvidenceLine { line: 1, preview: "x".into(), symbol: None };
        for (error, message) in [
            (Error::new(Code::MatchNotFound, "m"), "old_string not found in app.py"),
            (
                Error::new(Code::AmbiguousMatch, "m").places(vec![place; 2]),
                "old_string appears 2 times in app.py",
            ),
            (
                Error::new(Code::AmbiguousMatch, "m").with_place_count(40),
                "old_string appears 40 times in app.py",
            ),
            (Error::new(Code::EditConflict, "m"), "m"),
        ] {
            assert_eq!(rendered(error), format!("nothing was written: {message}"));
        }
    }
}
