//! `ai_edit_code`: edits by an instruction; the code is part of the call or comes from the client's model.

use super::fields::{WireMode, edit_request, response_limit};
use super::request::{EditCall, ToolRequest, UnwrittenEdit};
use crate::answer::{FieldNames, ResponseFormat, ToolOptions, ToolProfile};
use lockgate_edit::request::{EditType, InstructionFields, ParsedInstruction, Target};
use lockgate_engine::Report;
use lockgate_error::{Code, Error, ErrorFamily};

tool! {
    AiEditCode => "ai_edit_code", "Edit code by an instruction",
    &[Toolset::Ai], Effect::Changes, RepeatEffect::Changes, PROFILE
}

/// An older name that is accepted but not listed.
pub(super) const OLD_NAME: &str = "ai_code_editing.edit_file";

const PROFILE: ToolProfile = ToolProfile {
    names: FieldNames { path: "target_file", ..FieldNames::PLAIN },
    success_message,
    format: ResponseFormat::AiEdit(map_code),
    ..ToolProfile::PLAIN
};

/// Inserts, replaces or deletes lines of a file. `code_block` is the code; without it your client's model writes it
/// from `edit_instruction`, if the client supports this, and the answer shows it as a diff. The project's quality gates
/// judge the result before it is written; a rejection leaves the file as it was.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AiEditCode {
    /// Absolute, or relative to the first root.
    target_file: String,
    /// The task, in words.
    edit_instruction: String,
    /// First line, from 1; insert adds before it, or at the end if it is missing.
    start_line: Option<i64>,
    /// Last line, inclusive; start_line unless given.
    end_line: Option<i64>,
    /// The code.
    code_block: Option<String>,
    /// replace where lines are given, else insert.
    edit_type: Option<WireType>,
    /// strict (default) writes unless a new finding blocks; interactive writes and warns; verify_only never writes.
    mode: Option<WireMode>,
    /// The `version` of an earlier answer; rejected if these lines changed since.
    expected_version: Option<String>,
    /// Maximum size of the answer in bytes, 8192 unless given.
    max_bytes: Option<i64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WireType {
    Insert,
    Replace,
    Delete,
}

impl From<WireType> for EditType {
    fn from(wire: WireType) -> EditType {
        match wire {
            WireType::Insert => EditType::Insert,
            WireType::Replace => EditType::Replace,
            WireType::Delete => EditType::Delete,
        }
    }
}

fn into_request(input: AiEditCode) -> Result<ToolRequest, Error> {
    let limit = response_limit(input.max_bytes)?;
    let fields = InstructionFields {
        instruction: input.edit_instruction,
        start_line: input.start_line,
        end_line: input.end_line,
        code: input.code_block,
        edit_type: input.edit_type.map(EditType::from),
    };
    let options = ToolOptions { limit, ..ToolOptions::new(PROFILE) };
    let target = Target::File(input.target_file);
    let request = |edit| edit_request(target, edit, input.mode, input.expected_version);
    Ok(match fields.parse()? {
        ParsedInstruction::Complete(edit) => EditCall { request: request(edit), options }.into(),
        ParsedInstruction::NeedsCode(instruction) => {
            let request = request(instruction.insert_point.edit(CODE_PLACEHOLDER.to_owned()));
            ToolRequest::Unwritten(Box::new(UnwrittenEdit { request, instruction, options }))
        }
    })
}

/// Placeholder for code that is still missing.
const CODE_PLACEHOLDER: &str = "\n";

fn success_message(_: &Report) -> Option<String> {
    Some("File updated successfully.".to_owned())
}

/// Maps a code to one of four: errors that other input could fix become `INVALID_INPUT`, those that only a person or
/// the machine can fix become `PERMISSION_DENIED`.
fn map_code(code: Code) -> Code {
    match (code, code.family()) {
        (Code::FileNotFound, _) => Code::FileNotFound,
        (_, ErrorFamily::Conflict) => Code::EditConflict,
        (_, ErrorFamily::Access | ErrorFamily::Policy | ErrorFamily::System) => Code::PermissionDenied,
        (_, ErrorFamily::Request | ErrorFamily::Target | ErrorFamily::Match | ErrorFamily::Gate) => {
            Code::InvalidInput
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{ResponseOptions, render_error};
    use lockgate_edit::Edit;
    use lockgate_edit::request::{Expect, InsertPoint};
    use serde_json::{Value, json};

    fn parse_args(arguments: Value) -> Result<ToolRequest, Error> {
        parse(arguments.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn code_that_is_given_makes_an_edit_and_else_it_is_to_be_written() {
        let edit = parse_args(json!({"target_file": "a", "edit_instruction": "x", "code_block": "y",
            "expected_version": "0123456789ab"}));
        let edit = edit.unwrap().into_edit().request;
        assert_eq!((&edit.edit, edit.target.display_path()), (&InsertPoint::End.edit("y".into()), "a"));
        assert_eq!(edit.expect, Expect::Version("0123456789ab".into()));
        let unwritten = parse_args(json!({"target_file": "a", "edit_instruction": "x", "start_line": 2}));
        let ToolRequest::Unwritten(unwritten) = unwritten.unwrap() else { panic!() };
        assert_eq!(
            (unwritten.instruction.text.as_str(), unwritten.instruction.insert_point),
            ("x", InsertPoint::Lines(2, 2))
        );
        assert!(matches!(unwritten.request.edit, Edit::Lines(_)));
    }

    #[test]
    fn a_rejection_names_the_tool_s_own_field() {
        for (arguments, field) in [
            (json!({"target_file": "a", "code_block": "x"}), "edit_instruction"),
            (json!({"path": "a", "edit_instruction": "x"}), "path"),
            (json!({"target_file": "a", "edit_instruction": "x", "edit_type": "move"}), "edit_type"),
            (json!({"target_file": "a", "edit_instruction": "x", "max_bytes": 1}), "max_bytes"),
        ] {
            let refused = parse_args(arguments.clone()).unwrap_err();
            assert_eq!(
                (refused.code, refused.field.as_deref()),
                (Code::InvalidInput, Some(field)),
                "{arguments}"
            );
        }
    }

    #[test]
    fn a_failure_has_one_of_four_codes_and_the_precise_one() {
        let options =
            ResponseOptions { path: Some("a.py".into()), profile: PROFILE, ..ResponseOptions::default() };
        for code in Code::ALL {
            let answer = render_error(&Error::new(*code, "m"), &options);
            let (json, text) = (&answer.json, &answer.text);
            assert_eq!((&json["status"], &json["success"]), (&json!("failure"), &json!(false)));
            assert_eq!((&json["error"], &json["file_path"]), (&json["message"], &json!("a.py")));
            assert_eq!((&json["detail"], &json["outcome"]), (&json!(code.name()), &json!("refused")));
            let few = ["FILE_NOT_FOUND", "PERMISSION_DENIED", "EDIT_CONFLICT", "INVALID_INPUT"];
            let wire = json["code"].as_str().unwrap();
            assert!(few.contains(&wire) && text.contains(wire) && text.contains(code.name()), "{json}");
            assert_eq!(text.matches(code.name()).count(), 1, "{text}");
        }
        let wire_code = |code: Code| map_code(code).name();
        assert_eq!(wire_code(Code::NotConfirmed), "PERMISSION_DENIED");
        assert_eq!(wire_code(Code::LockTimeout), "EDIT_CONFLICT");
        assert_eq!(wire_code(Code::GateRefused), "INVALID_INPUT");
        assert_eq!(wire_code(Code::CodeBlockRequired), "INVALID_INPUT");
    }
}
