//! The fields of an edit by instruction: the position, and the code, which may still have to be written.

use super::fields::parse_line;
use crate::modes::Edit;
use crate::operations::{Insertion, LineEdit, LineEditNames};
use lockgate_error::{Code, Error};

/// The longest instruction from which code is written, in bytes.
const MAX_BYTES: usize = 16 * 1024;

/// The fields of an edit by instruction, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct InstructionFields {
    /// The instruction in natural language.
    pub instruction: String,
    /// The first line, from 1.
    pub start_line: Option<i64>,
    /// The last line, inclusive; the first one if absent.
    pub end_line: Option<i64>,
    /// The code to insert, if it is known.
    pub code: Option<String>,
    /// The kind of edit; if absent, the given lines decide.
    pub edit_type: Option<EditType>,
}

/// The kind of an edit by instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditType {
    /// Insert code before a line, or at the end.
    Insert,
    /// Replace the given lines with code.
    Replace,
    /// Delete the given lines; code other than empty is an error.
    Delete,
}

/// An edit by instruction, with or without its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedInstruction {
    /// The code is known; the edit is complete.
    Complete(Edit),
    /// The code is still to be written.
    NeedsCode(Instruction),
}

/// An instruction from which code is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The instruction in natural language.
    pub text: String,
    /// The position of the code.
    pub insert_point: InsertPoint,
}

/// The position at which code is inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertPoint {
    /// Before a line, from 1.
    Before(usize),
    /// At the end of the text.
    End,
    /// In place of these lines, first to last.
    Lines(usize, usize),
}

impl InstructionFields {
    /// Converts the fields to an edit. Without a type, lines are replaced, and code without lines is
    /// inserted.
    ///
    /// Errors: `INVALID_INPUT` for fields that do not go together, with the field; also for an empty or too
    /// long instruction if code is to be written from it; `RANGE_OUT_OF_BOUNDS` for a line below 1.
    pub fn parse(self) -> Result<ParsedInstruction, Error> {
        let insert_point = self.insert_point()?;
        match (self.edit_type(), self.code) {
            (EditType::Delete, Some(code)) if !code.is_empty() => {
                Err(invalid_field("code_block", "code_block cannot be used when the lines are deleted")
                    .hint("leave code_block out, or give `edit_type: replace`"))
            }
            (EditType::Delete, Some(_) | None) => {
                Ok(ParsedInstruction::Complete(insert_point.edit(String::new())))
            }
            (EditType::Insert, Some(code)) if code.is_empty() => {
                Err(invalid_field("code_block", "code_block is empty, so there is nothing to insert"))
            }
            (EditType::Insert | EditType::Replace, Some(code)) => {
                Ok(ParsedInstruction::Complete(insert_point.edit(code)))
            }
            (EditType::Insert | EditType::Replace, None) => Ok(ParsedInstruction::NeedsCode(Instruction {
                text: check_text(self.instruction)?,
                insert_point,
            })),
        }
    }

    fn edit_type(&self) -> EditType {
        let lines = self.start_line.is_some() || self.end_line.is_some();
        self.edit_type.unwrap_or(if lines { EditType::Replace } else { EditType::Insert })
    }

    fn insert_point(&self) -> Result<InsertPoint, Error> {
        let line = |value: Option<i64>, field: &str| {
            value.map(|line| parse_line(line, || field.to_owned())).transpose()
        };
        let (start, end) = (line(self.start_line, "start_line")?, line(self.end_line, "end_line")?);
        match (self.edit_type(), start, end) {
            (EditType::Insert, None, None) => Ok(InsertPoint::End),
            (EditType::Insert, Some(start), None) => Ok(InsertPoint::Before(start)),
            (EditType::Insert, Some(start), Some(end)) if start == end => Ok(InsertPoint::Before(start)),
            (EditType::Insert, _, Some(_)) => Err(invalid_field(
                "end_line",
                "code is inserted before start_line, so end_line has no effect",
            )
            .hint("leave end_line out, or give `edit_type: replace`")),
            (EditType::Replace | EditType::Delete, None, _) => {
                Err(invalid_field("start_line", "start_line is missing, so the lines to replace are unknown")
                    .hint("give start_line and end_line; without both, `edit_type: insert` appends"))
            }
            (EditType::Replace | EditType::Delete, Some(start), end) => {
                let end = end.unwrap_or(start);
                if end < start {
                    let message = format!("start_line must be <= end_line, found {start} and {end}");
                    return Err(invalid_field("end_line", message));
                }
                Ok(InsertPoint::Lines(start, end))
            }
        }
    }
}

impl InsertPoint {
    /// Builds the edit with this code.
    pub fn edit(self, code: String) -> Edit {
        let names = LineEditNames::Instruction;
        let at_line = match self {
            InsertPoint::Before(line) => line,
            InsertPoint::End => Insertion::END,
            InsertPoint::Lines(start_line, end_line) => {
                let edit = LineEdit { start_line, end_line, new_content: code, expect: None, names };
                return Edit::Lines(vec![edit]);
            }
        };
        Edit::Insert(vec![Insertion { at_line, content: code, expect: None, names }])
    }
}

/// Checks an instruction from which code is to be written.
fn check_text(text: String) -> Result<String, Error> {
    match text.len() {
        _ if text.trim().is_empty() => {
            Err(invalid_field("edit_instruction", "edit_instruction is blank, and there is no code_block"))
        }
        0..=MAX_BYTES => Ok(text),
        length => {
            let message = format!("edit_instruction has {length} bytes, more than the limit of {MAX_BYTES}");
            Err(invalid_field("edit_instruction", message))
        }
    }
}

fn invalid_field(field: &str, message: impl Into<String>) -> Error {
    Error::new(Code::InvalidInput, message).named_field(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: (Option<i64>, Option<i64>) = (None, None);

    fn parsed(
        edit_type: Option<EditType>,
        (start_line, end_line): (Option<i64>, Option<i64>),
        code: Option<&str>,
    ) -> Result<ParsedInstruction, Error> {
        let code = code.map(str::to_owned);
        InstructionFields { instruction: "do it".into(), start_line, end_line, code, edit_type }.parse()
    }

    #[test]
    fn the_type_follows_from_the_lines() {
        let known =
            |insert_point: InsertPoint| Ok(ParsedInstruction::Complete(insert_point.edit("x".into())));
        assert_eq!(parsed(None, NONE, Some("x")), known(InsertPoint::End));
        assert_eq!(parsed(None, (Some(3), None), Some("x")), known(InsertPoint::Lines(3, 3)));
        assert_eq!(parsed(None, (Some(3), Some(5)), Some("x")), known(InsertPoint::Lines(3, 5)));
        let insert = Some(EditType::Insert);
        assert_eq!(parsed(insert, (Some(3), None), Some("x")), known(InsertPoint::Before(3)));
        assert_eq!(parsed(insert, (Some(3), Some(3)), Some("x")), known(InsertPoint::Before(3)));
        let removal = Ok(ParsedInstruction::Complete(InsertPoint::Lines(2, 4).edit(String::new())));
        for (edit_type, code) in
            [(EditType::Delete, None), (EditType::Delete, Some("")), (EditType::Replace, Some(""))]
        {
            assert_eq!(parsed(Some(edit_type), (Some(2), Some(4)), code), removal, "{edit_type:?}");
        }
    }

    #[test]
    fn code_that_is_not_given_is_to_be_written() {
        let unwritten_edit = |insert_point| {
            Ok(ParsedInstruction::NeedsCode(Instruction { text: "do it".into(), insert_point }))
        };
        assert_eq!(parsed(None, NONE, None), unwritten_edit(InsertPoint::End));
        assert_eq!(parsed(None, (Some(1), None), None), unwritten_edit(InsertPoint::Lines(1, 1)));
        assert_eq!(
            parsed(Some(EditType::Insert), (Some(1), None), None),
            unwritten_edit(InsertPoint::Before(1))
        );
    }

    #[test]
    fn an_instruction_must_tell_something_only_where_code_is_to_be_written() {
        let blank = |code: Option<&str>| InstructionFields {
            instruction: " \n".into(),
            code: code.map(str::to_owned),
            ..InstructionFields::default()
        };
        assert!(blank(Some("x")).parse().is_ok());
        let long =
            InstructionFields { instruction: "x".repeat(MAX_BYTES + 1), ..InstructionFields::default() };
        for wrong in [blank(None), long] {
            let error = wrong.parse().unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("edit_instruction")));
        }
    }

    #[test]
    fn fields_that_do_not_go_together_are_refused() {
        use EditType::{Delete, Insert, Replace};
        for (edit_type, lines, code, field) in [
            (Some(Replace), NONE, Some("x"), "start_line"),
            (Some(Delete), NONE, None, "start_line"),
            (None, (None, Some(3)), Some("x"), "start_line"),
            (None, (Some(3), Some(2)), Some("x"), "end_line"),
            (Some(Insert), (Some(3), Some(4)), Some("x"), "end_line"),
            (Some(Insert), (None, Some(4)), Some("x"), "end_line"),
            (Some(Insert), NONE, Some(""), "code_block"),
            (Some(Delete), (Some(1), None), Some("x"), "code_block"),
        ] {
            let error = parsed(edit_type, lines, code).unwrap_err();
            let found = (error.code, error.field.as_deref());
            assert_eq!(found, (Code::InvalidInput, Some(field)), "{edit_type:?} {lines:?}");
        }
        for lines in [(Some(0), None), (Some(-1), Some(2)), (Some(1), Some(0))] {
            let error = parsed(None, lines, Some("x")).unwrap_err();
            assert_eq!(error.code, Code::RangeOutOfBounds, "{lines:?}");
        }
    }
}
