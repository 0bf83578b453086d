//! `delete_content`: deletes a file or an entity.

use std::sync::LazyLock;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::entity;
use super::{EditCall, Effect, RepeatEffect, Tool, ToolRequest};
use crate::edit::Edit;
use crate::error::{Code, Error};
use crate::front::answer::{DiffDisplay, ExtraField, ResponseOptions, ToolProfile};
use crate::front::toolset::Toolset;
use crate::front::{arguments, schema};
use crate::request::{Author, Expect, GateOptions, Mode, Request};

/// The definition of `delete_content` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "delete_content",
    title: "Delete a file",
    toolset: Toolset::Content,
    effect: Effect::Changes,
    repeat_effect: RepeatEffect::NoChange,
    profile: PROFILE,
    schema: || SCHEMA.clone(),
    parse,
};

const PROFILE: ToolProfile =
    ToolProfile { rejection_message, extra_fields: &[ExtraField::Error], ..ToolProfile::PLAIN };

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<DeleteContent>);

/// Deletes a file or an entity. Its text stays in the journal, so that undo_edit can restore it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteContent {
    /// A file: absolute, or relative to the first root. An entity: its path.
    path: String,
    /// file (unless given), app_file, workflow, module, or a type of the policy.
    entity_type: Option<String>,
    /// The app of an app_file, which requires it.
    app_id: Option<String>,
    /// The organization of a workflow; your own, else global, unless given.
    organization_id: Option<String>,
    /// The `version` of an earlier answer; rejected if the text changed since.
    expected_version: Option<String>,
}

fn parse(arguments: JsonObject) -> Result<ToolRequest, Error> {
    let input: DeleteContent = arguments::read(&SCHEMA, arguments)?;
    let entity = entity::fields(input.entity_type, input.app_id, input.organization_id);
    let request = Request {
        target: entity.into_target(input.path)?,
        edit: Edit::Remove,
        mode: Mode::Strict,
        expect: input.expected_version.map_or(Expect::Anything, Expect::Version),
        gate_options: GateOptions::default(),
        author: Author::default(),
    };
    let options =
        ResponseOptions { profile: PROFILE, diff: DiffDisplay::Omitted, ..ResponseOptions::default() };
    Ok(ToolRequest::Edit(Box::new(EditCall { request, options })))
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
    use crate::request::Target;

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
