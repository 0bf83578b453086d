//! `replace_content`: replaces the whole text of a file or an entity.

use std::sync::LazyLock;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::entity;
use super::{EditCall, Effect, RepeatEffect, Tool, ToolRequest};
use crate::edit::Edit;
use crate::error::Error;
use crate::front::answer::{ExtraField, ResponseOptions, ToolProfile};
use crate::front::toolset::Toolset;
use crate::front::{arguments, schema};
use crate::request::{Author, Expect, GateOptions, Mode, Request};

/// The definition of `replace_content` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "replace_content",
    title: "Write a whole text",
    toolset: Toolset::Content,
    effect: Effect::Changes,
    repeat_effect: RepeatEffect::NoChange,
    profile: PROFILE,
    schema: || SCHEMA.clone(),
    parse,
};

const PROFILE: ToolProfile = ToolProfile {
    extra_fields: &[ExtraField::Error, ExtraField::Created, ExtraField::EntityType],
    ..ToolProfile::PLAIN
};

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<ReplaceContent>);

/// Creates a file or an entity, or replaces its whole text; to change a part, prefer patch_content. The project's
/// quality gates judge the text before it is written, and it must fit its `entity_type`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReplaceContent {
    /// A file: absolute, or relative to the first root. An entity: its path.
    path: String,
    /// The whole new text, written as given.
    content: String,
    /// file (unless given), app_file, workflow (Python with a function decorated with @workflow), module (without one), or a
    /// type of the policy.
    entity_type: Option<String>,
    /// The app of an app_file, which requires it.
    app_id: Option<String>,
    /// The organization of a workflow; your own, else global, unless given.
    organization_id: Option<String>,
    /// The `version` of an earlier answer; rejected if the edited text changed since.
    expected_version: Option<String>,
}

fn parse(arguments: JsonObject) -> Result<ToolRequest, Error> {
    let input: ReplaceContent = arguments::read(&SCHEMA, arguments)?;
    let entity = entity::fields(input.entity_type, input.app_id, input.organization_id);
    let options = ResponseOptions { profile: PROFILE, ..ResponseOptions::default() };
    let request = Request {
        target: entity.into_target(input.path)?,
        edit: Edit::Content(input.content),
        mode: Mode::Strict,
        expect: input.expected_version.map_or(Expect::Anything, Expect::Version),
        gate_options: GateOptions::default(),
        author: Author::default(),
    };
    Ok(ToolRequest::Edit(Box::new(EditCall { request, options })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::request::{Entity, EntityKind, Target};

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
    fn a_refusal_names_the_field() {
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
