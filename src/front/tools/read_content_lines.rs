//! `read_content_lines`: reads lines of a file with their numbers.

use std::sync::LazyLock;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::fields;
use super::{Effect, RepeatEffect, Tool, ToolRequest};
use crate::error::Error;
use crate::front::answer::ToolProfile;
use crate::front::toolset::Toolset;
use crate::front::{arguments, schema};
use crate::request::{LineFields, ReadRequest};

/// The definition of `read_content_lines` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "read_content_lines",
    title: "Read lines of a file",
    toolset: Toolset::Look,
    effect: Effect::Reads,
    repeat_effect: RepeatEffect::NoChange,
    profile: ToolProfile::PLAIN,
    schema: || SCHEMA.clone(),
    parse,
};

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<ReadContentLines>);

/// Reads lines of a file, each after its number, which is not part of the text. Returns `total_lines`, and the
/// `version` for expected_version.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadContentLines {
    /// Absolute, or relative to the first root.
    path: String,
    /// First line, 1 unless given.
    start_line: Option<i64>,
    /// Last line, inclusive; start_line + 100 unless given.
    end_line: Option<i64>,
    /// file (unless given), app_file, workflow, module, or a type of the policy.
    entity_type: Option<String>,
    /// The app of an app_file.
    app_id: Option<String>,
    /// The organization of a workflow; your own, else global, unless given.
    organization_id: Option<String>,
}

fn parse(arguments: JsonObject) -> Result<ToolRequest, Error> {
    let input: ReadContentLines = arguments::read(&SCHEMA, arguments)?;
    let ReadContentLines { path, start_line, end_line, entity_type, app_id, organization_id } = input;
    let scope = fields(entity_type, app_id, organization_id);
    LineFields { path, scope, start_line, end_line }
        .into_request()
        .map(ReadRequest::Lines)
        .map(ToolRequest::Read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::request::{LinesRequest, Target};

    #[test]
    fn it_asks_for_a_look() {
        let ToolRequest::Read(ReadRequest::Lines(request)) =
            parse(rmcp::object!({"path": "a", "start_line": 40.0})).unwrap()
        else {
            panic!()
        };
        assert_eq!(request, LinesRequest { target: Target::File("a".into()), start_line: 40, end_line: 140 });
        let error = parse(rmcp::object!({"path": "a", "start_line": 4, "end_line": 3})).unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::RangeOutOfBounds, Some("end_line")));
    }
}
