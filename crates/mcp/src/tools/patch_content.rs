//! `patch_content`: replaces one text in a file or an entity.

use super::entity::RequiredEntityArgs;
use super::fields::edit_request;
use super::request::{EditCall, ToolRequest};
use crate::answer::{ExtraField, FieldNames, ResponseOptions, ToolProfile};
use lockgate_edit::request::BlockFields;
use lockgate_edit::{Occurrences, OnDuplicate};
use lockgate_error::{Code, Error};

tool! {
    PatchContent => "patch_content", "Replace a unique text",
    &[Toolset::Content], Effect::Changes, RepeatEffect::Changes, PROFILE
}

const PROFILE: ToolProfile = ToolProfile {
    names: FieldNames { search: "old_string", replace: "new_string", ..FieldNames::PLAIN },
    rejection_message,
    extra_fields: &[ExtraField::Error],
    ..ToolProfile::PLAIN
};

/// Replaces `old_string` by `new_string` in a file or an entity. It must occur exactly once: quote enough of the
/// surrounding lines. The project's quality gates judge the result before it is written; a rejection leaves the text as
/// it was.
#[derive(Deserialize, JsonSchema)]
struct PatchContent {
    /// A file: absolute, or relative to the first root. An entity: its path.
    path: String,
    /// The exact current text.
    old_string: String,
    /// The replacement; empty removes the text.
    new_string: String,
    /// Look inside this symbol only, as in Class.method.
    within: Option<String>,
    #[serde(flatten)]
    entity: RequiredEntityArgs,
    /// The `version` of an earlier answer; rejected if the edited text changed since.
    expected_version: Option<String>,
}

fn into_request(input: PatchContent) -> Result<ToolRequest, Error> {
    if input.old_string.is_empty() {
        return Err(Error::new(Code::InvalidInput, "old_string is required").named_field("old_string"));
    }
    let lines = input.old_string.lines().count().max(input.new_string.lines().count());
    let target = input.entity.fields().into_target(input.path)?;
    let fields = BlockFields {
        search: input.old_string,
        replace: input.new_string,
        occurrences: Occurrences::Block,
        within: input.within,
        on_duplicate: OnDuplicate::from_expected_version(input.expected_version.as_deref()),
        ..BlockFields::default()
    };
    let edit = fields.into_edit().map_err(|error| PROFILE.rename_error_field(error))?;
    let mut call = EditCall::new(edit_request(target, edit, None, input.expected_version), PROFILE);
    call.options.quoted_line_count = Some(lines);
    Ok(call.into())
}

fn rejection_message(error: &Error, options: &ResponseOptions) -> Option<String> {
    match error.code {
        Code::MatchNotFound => Some(format!("old_string not found in {}", options.target())),
        Code::AmbiguousMatch => Some(format!(
            "old_string matches {} locations. Include more context to make it unique.",
            error.place_count_text()
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::render_error;
    use lockgate_edit::request::{Expect, Mode, Target};
    use serde_json::{Value, json};

    fn parse_args(more: &Value) -> Result<EditCall, Error> {
        let mut arguments = json!({"path": "a", "old_string": "x", "new_string": ""});
        arguments.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        parse(arguments.as_object().cloned().unwrap()).map(ToolRequest::into_edit)
    }

    #[test]
    fn it_asks_for_the_one_place() {
        let plain = parse_args(&json!({"new_string": "y\nz\n"})).unwrap();
        assert_eq!(plain.options.quoted_line_count, Some(2));
        assert_eq!(plain.request.target, Target::File("a".into()));
        assert_eq!((plain.request.mode, &plain.request.expect), (Mode::Strict, &Expect::Anything));
        let search = plain.into_search();
        assert_eq!((search.occurrences, search.on_duplicate), (Occurrences::Block, OnDuplicate::Reject));
        let versioned = parse_args(&json!({"expected_version": "0123456789ab"})).unwrap();
        assert_eq!(versioned.request.expect, Expect::Version("0123456789ab".into()));
        assert_eq!(versioned.into_search().on_duplicate, OnDuplicate::InsertAgain);
    }

    #[test]
    fn a_rejection_names_the_field() {
        for (more, field, message) in [
            (json!({"old_string": ""}), "old_string", "old_string is required"),
            (json!({"old_string": " \n"}), "old_string", "blank"),
            (json!({"app_id": "1"}), "app_id", "only for entity_type app_file"),
            (json!({"entity_type": "Form"}), "entity_type", "is not a type name"),
            (json!({"mode": "interactive"}), "mode", "unknown field"),
        ] {
            let error = parse_args(&more).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some(field)));
            assert!(error.message.contains(message), "{}", error.message);
        }
    }

    #[test]
    fn a_rejection_has_its_words_alone_beside_the_message() {
        let options =
            ResponseOptions { path: Some("m.py".into()), profile: PROFILE, ..ResponseOptions::default() };
        for (error, message) in [
            (
                Error::new(Code::AmbiguousMatch, "m").with_place_count(3),
                "old_string matches 3 locations. Include more context to make it unique.",
            ),
            (Error::new(Code::MatchNotFound, "m"), "old_string not found in m.py"),
            (Error::new(Code::MatchNotFound, "no such symbol").field("within"), "no such symbol"),
            (Error::new(Code::EditConflict, "m"), "m"),
        ] {
            let json = render_error(&error, &options).json;
            assert_eq!(json["error"], message);
            assert_eq!(json["message"], format!("nothing was written: {message}"));
        }
    }
}
