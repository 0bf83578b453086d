//! The format in which a command prints its result.

use clap::builder::{BoolValueParser, MapValueParser, TypedValueParser as _, ValueParserFactory};

/// The format in which a command prints its result: the value of the flag `--json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
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
