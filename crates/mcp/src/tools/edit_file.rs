//! `edit_file`: replaces an exactly quoted text in a file.

use super::fields::{WireMode, check_edit_count, edit_request};
use super::request::{EditCall, ToolRequest};
use crate::answer::{FieldNames, ResponseOptions, ToolProfile};
use lockgate_edit::request::{BlockFields, Target};
use lockgate_edit::{Edit, EditPart, Occurrences, OnDuplicate};
use lockgate_engine::Report;
use lockgate_error::{Code, Error};

tool! {
    EditFile => "edit_file", "Replace a text in a file",
    &[Toolset::Text], Effect::Changes, RepeatEffect::Changes, PROFILE
}

const PROFILE: ToolProfile = ToolProfile {
    names: FieldNames { path: "file_path", search: "old_string", replace: "new_string", ..FieldNames::PLAIN },
    success_message,
    rejection_message,
    ..ToolProfile::PLAIN
};

/// Replaces a quoted text in a file: give `old_string` and `new_string`, or several of them as `edits`. A rejection
/// shows the nearest lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditFile {
    /// Absolute, or relative to the first root.
    file_path: String,
    /// The text in the file; a few whole lines that occur once.
    old_string: Option<String>,
    /// The replacement; empty removes the text.
    new_string: Option<String>,
    /// Replace every occurrence.
    replace_all: Option<bool>,
    /// Look inside this symbol only, as in Class.method.
    within: Option<String>,
    /// Several replacements in the text before the call.
    edits: Option<Vec<ReplacementArgs>>,
    /// interactive only warns; verify_only never writes.
    mode: Option<WireMode>,
    /// A `version` that you read; rejected if the edited text changed since.
    expected_version: Option<String>,
}

/// One replacement of several.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReplacementArgs {
    /// Same.
    old_string: String,
    /// Same.
    new_string: String,
    /// Same.
    replace_all: Option<bool>,
    /// Same.
    within: Option<String>,
}

fn into_request(input: EditFile) -> Result<ToolRequest, Error> {
    let on_duplicate = OnDuplicate::from_expected_version(input.expected_version.as_deref());
    let EditFile { old_string, new_string, replace_all, within, .. } = input;
    let edit = match input.edits {
        None => {
            let (old_string, new_string) =
                (required(old_string, "old_string")?, required(new_string, "new_string")?);
            ReplacementArgs { old_string, new_string, replace_all, within }.into_edit(on_duplicate)?
        }
        Some(edits) => {
            let given = [
                ("old_string", old_string.is_some()),
                ("new_string", new_string.is_some()),
                ("replace_all", replace_all.is_some()),
                ("within", within.is_some()),
            ];
            reject_single(given)?;
            check_edit_count(edits.len())?;
            let part = |(entry, edit): (usize, ReplacementArgs)| {
                let edit = edit.into_edit(on_duplicate).map_err(|error| error.with_entry(entry))?;
                Ok(EditPart { entry, edit })
            };
            Edit::Several(edits.into_iter().enumerate().map(part).collect::<Result<_, Error>>()?)
        }
    };
    let request = edit_request(Target::File(input.file_path), edit, input.mode, input.expected_version);
    Ok(EditCall::new(request, PROFILE).into())
}

impl ReplacementArgs {
    fn into_edit(self, on_duplicate: OnDuplicate) -> Result<Edit, Error> {
        let occurrences =
            if self.replace_all == Some(true) { Occurrences::EveryBlock } else { Occurrences::Block };
        let fields = BlockFields {
            search: self.old_string,
            replace: self.new_string,
            occurrences,
            within: self.within,
            on_duplicate,
            ..BlockFields::default()
        };
        fields.into_edit().map_err(|error| PROFILE.rename_error_field(error))
    }
}

fn required(value: Option<String>, name: &str) -> Result<String, Error> {
    value.ok_or_else(|| Error::new(Code::InvalidInput, format!("`{name}` is missing")).named_field(name))
}

/// Rejects the fields of a single replacement beside a list.
fn reject_single(given: [(&str, bool); 4]) -> Result<(), Error> {
    let Some((name, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message = format!("`{name}` and `edits` were both given");
    let error = Error::new(Code::ModeConflict, message).named_field(name);
    Err(error.hint(format!("put `{name}` into an entry of `edits`")))
}

/// Returns the message with the number of replacements.
pub(super) fn success_message(report: &Report) -> Option<String> {
    let count = report.matches.replacements?;
    Some(format!("Successfully replaced {count} occurrence(s) in {}", report.target.path))
}

fn rejection_message(error: &Error, options: &ResponseOptions) -> Option<String> {
    let path = options.target();
    let entry = error.entry_index().map(|entry| format!("edits[{entry}]: ")).unwrap_or_default();
    match error.code {
        Code::MatchNotFound => Some(format!("{entry}old_string not found in {path}")),
        Code::AmbiguousMatch => {
            Some(format!("{entry}old_string appears {} times in {path}", error.place_count_text()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::render_error;
    use lockgate_edit::request::Expect;
    use lockgate_edit::{Needle, OnDuplicate, Search};
    use lockgate_error::EvidenceLine;
    use lockgate_matching::MatchTolerance;
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
                expect_matches: None,
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
    fn a_rejection_names_the_tool_s_own_field() {
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
    fn a_rejection_is_worded_as_the_tool_words_it() {
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
            (
                Error::new(Code::AmbiguousMatch, "m").with_least_place_count(40),
                "old_string appears at least 40 times in app.py",
            ),
            (Error::new(Code::EditConflict, "m"), "m"),
        ] {
            assert_eq!(rendered(error), format!("nothing was written: {message}"));
        }
    }
}
