//! `read_content_lines`: reads lines of a file with their numbers.

use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::EntityArgs;
use super::request::ToolRequest;
use crate::answer::ToolProfile;
use lockgate_edit::request::{LineFields, ReadRequest};
use lockgate_error::Error;

tool! {
    ReadContentLines => "read_content_lines", "Read lines of a file",
    &[Toolset::Look], Effect::Reads, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// Reads lines of a file, each after its number, which is not part of the text. Returns `total_lines`, and the
/// `version` for expected_version.
#[derive(Deserialize, JsonSchema)]
struct ReadContentLines {
    /// Absolute, or relative to the first root.
    path: String,
    /// First line, 1 unless given.
    start_line: Option<i64>,
    /// Last line, inclusive; start_line + 100 unless given.
    end_line: Option<i64>,
    #[serde(flatten)]
    entity: EntityArgs,
}

impl TryFrom<ReadContentLines> for ToolRequest {
    type Error = Error;

    fn try_from(input: ReadContentLines) -> Result<ToolRequest, Error> {
        let ReadContentLines { path, start_line, end_line, entity } = input;
        let fields = LineFields { path, scope: entity.fields(), start_line, end_line };
        fields.into_request().map(ReadRequest::Lines).map(ToolRequest::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::request::{LinesRequest, Target};
    use lockgate_error::Code;

    #[test]
    fn it_asks_for_a_look() {
        let ToolRequest::Read(ReadRequest::Lines(request)) =
            parse(rmcp::object!({"path": "a", "start_line": 40.0})).unwrap()
        else {
            panic!()
        };
        assert_eq!(
            request,
            LinesRequest {
                target: Target::File("a".into()),
                start_line: 40,
                end_line: 140,
                max_chars: 40_000
            }
        );
        let error = parse(rmcp::object!({"path": "a", "start_line": 4, "end_line": 3})).unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::RangeOutOfBounds, Some("end_line")));
    }
}
