//! The format in which a command prints its result.

use std::process::ExitCode;

use clap::builder::{BoolValueParser, MapValueParser, TypedValueParser as _, ValueParserFactory};
use serde_json::{Value, json};

use super::paint;
use lockgate_error::{Error, NextCall};

/// The format in which a command prints its result: the value of the flag `--json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl OutputFormat {
    /// Prints the error of a command as JSON, and returns the exit code of its family.
    ///
    /// Errors: `error` itself, which is still to be printed, if the format is text; `IO_FAILED` when standard output fails.
    pub(super) fn print_error(self, error: Error) -> Result<ExitCode, Error> {
        match self {
            OutputFormat::Text => Err(error),
            OutputFormat::Json => {
                paint::print_json_line(&error_json(&error))?;
                Ok(ExitCode::from(error.code.family().exit_code()))
            }
        }
    }
}

/// Renders the error that ended a command as text.
pub(super) fn error_text(error: &Error) -> String {
    let message = format!("{}: {}", error.code.name(), paint::visible(&error.message));
    let hint = match error.next.as_deref() {
        Some(NextCall::History) => "`lockgate log` lists the edits in the journal",
        _ => error.next_step(),
    };
    paint::labelled(paint::REJECTED, "refused", message)
        + &paint::labelled(paint::LABEL, "hint", paint::visible(hint))
}

/// Renders the error that ended a command as JSON.
pub(super) fn error_json(error: &Error) -> Value {
    let mut fields = json!({"success": false, "status": "refused", "code": error.code.name(),
        "message": error.message, "hint": error.next_step()});
    if let (Some(fields), Some(field)) = (fields.as_object_mut(), error.field_path()) {
        fields.insert("field".to_owned(), field.into());
    }
    fields
}

impl ValueParserFactory for OutputFormat {
    type Parser = MapValueParser<BoolValueParser, fn(bool) -> OutputFormat>;

    fn value_parser() -> Self::Parser {
        BoolValueParser::new().map(|is_json| if is_json { OutputFormat::Json } else { OutputFormat::Text })
    }
}

#[cfg(test)]
mod tests {
    use clap::{ArgAction, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Command {
        #[arg(id = "json", long, action = ArgAction::SetTrue)]
        format: OutputFormat,
    }

    #[test]
    fn the_flag_chooses_the_format() {
        for (arguments, expected) in
            [(&["command"][..], OutputFormat::Text), (&["command", "--json"], OutputFormat::Json)]
        {
            assert_eq!(Command::try_parse_from(arguments).unwrap().format, expected);
        }
        assert!(Command::try_parse_from(["command", "--json=false"]).is_err());
    }
}
