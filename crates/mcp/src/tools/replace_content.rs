//! `replace_content`: replaces the whole text of a file or an entity.

use super::entity::WrittenEntityArgs;
use super::fields::edit_request;
use super::request::{EditCall, ToolRequest};
use crate::answer::{ExtraField, ToolProfile};
use lockgate_edit::Edit;
use lockgate_error::Error;

tool! {
    ReplaceContent => "replace_content", "Write a whole text",
    &[Toolset::Content], Effect::Changes, RepeatEffect::NoChange, PROFILE
}

const PROFILE: ToolProfile = ToolProfile {
    extra_fields: &[ExtraField::Error, ExtraField::Created, ExtraField::EntityType],
    ..ToolProfile::PLAIN
};

/// Creates a file or an entity, or replaces its whole text; to change a part, prefer patch_content. The project's
/// quality gates judge the text before it is written, and it must fit its type.
#[derive(Deserialize, JsonSchema)]
struct ReplaceContent {
    /// A file: absolute, or relative to the first root. An entity: its path.
    path: String,
    /// The whole new text, written as given.
    content: String,
    #[serde(flatten)]
    entity: WrittenEntityArgs,
    /// The `version` of an earlier answer; rejected if the edited text changed since.
    expected_version: Option<String>,
}

fn into_request(input: ReplaceContent) -> Result<ToolRequest, Error> {
    let target = input.entity.fields().into_target(input.path)?;
    let request = edit_request(target, Edit::Content(input.content), None, input.expected_version);
    Ok(EditCall::new(request, PROFILE).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::request::{Entity, EntityKind, Expect, Target};
    use lockgate_error::Code;

    #[test]
    fn it_asks_for_the_whole_text_of_what_is_named() {
        let file = parse(rmcp::object!({"path": "a", "content": ""})).unwrap().into_edit();
        assert_eq!(file.request.target, Target::File("a".into()));
        assert_eq!(file.request.edit, Edit::Content(String::new()));
        let workflow = parse(rmcp::object!({"path": "a", "content": "", "entity_type": "workflow",
            "organization_id": "1", "expected_version": "0123456789ab"}))
        .unwrap()
        .into_edit();
        assert_eq!(
            workflow.request.target,
            Target::Entity(Entity {
                kind: EntityKind::WORKFLOW,
                path: "a".into(),
                app_id: None,
                organization_id: Some("1".into())
            })
        );
        assert_eq!(workflow.request.expect, Expect::Version("0123456789ab".into()));
    }

    #[test]
    fn a_rejection_names_the_field() {
        for (arguments, field) in [
            (rmcp::object!({"path": "a"}), "content"),
            (rmcp::object!({"content": ""}), "path"),
            (
                rmcp::object!({"path": "a", "content": "", "entity_type": "file", "organization_id": "1"}),
                "organization_id",
            ),
        ] {
            let error = parse(arguments).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some(field)));
        }
    }
}
