//! `delete_content`: deletes a file or an entity.

use super::entity::RequiredEntityArgs;
use super::fields::edit_request;
use super::request::{EditCall, ToolRequest};
use crate::answer::{DiffDisplay, ExtraField, ResponseOptions, ToolProfile};
use lockgate_edit::Edit;
use lockgate_error::{Code, Error};

tool! {
    DeleteContent => "delete_content", "Delete a file",
    &[Toolset::Content], Effect::Changes, RepeatEffect::NoChange, PROFILE
}

const PROFILE: ToolProfile =
    ToolProfile { rejection_message, extra_fields: &[ExtraField::Error], ..ToolProfile::PLAIN };

/// Deletes a file or an entity. Its text stays in the journal, so that it can be restored.
#[derive(Deserialize, JsonSchema)]
struct DeleteContent {
    /// A file: absolute, or relative to the first root. An entity: its path.
    path: String,
    #[serde(flatten)]
    entity: RequiredEntityArgs,
    /// The `version` of an earlier answer; rejected if the text changed since.
    expected_version: Option<String>,
}

fn into_request(input: DeleteContent) -> Result<ToolRequest, Error> {
    let target = input.entity.fields().into_target(input.path)?;
    let mut call = EditCall::new(edit_request(target, Edit::Remove, None, input.expected_version), PROFILE);
    call.options.diff = DiffDisplay::Omitted;
    Ok(call.into())
}

fn rejection_message(error: &Error, options: &ResponseOptions) -> Option<String> {
    match error.code {
        Code::FileNotFound => Some(format!("{} not found: {}", options.noun(), options.target())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::request::{Expect, Mode, Target};

    #[test]
    fn it_asks_for_no_file() {
        let plain = parse(rmcp::object!({"path": "a"})).unwrap().into_edit().request;
        assert_eq!((plain.target, plain.edit), (Target::File("a".into()), Edit::Remove));
        assert_eq!((plain.mode, plain.expect), (Mode::Strict, Expect::Anything));
        let versioned = parse(rmcp::object!({"path": "a", "expected_version": "0123456789ab"})).unwrap();
        assert_eq!(versioned.into_edit().request.expect, Expect::Version("0123456789ab".into()));
        let error = parse(rmcp::object!({"entity_type": "file"})).unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("path")));
    }
}
