//! Parses JavaScript and TypeScript with oxc.

use oxc_allocator::Allocator;
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

use super::fault::SyntaxFault;
use super::parse::Parse;

/// Parses JavaScript. If the file name names neither module nor script, the statements decide.
pub(super) fn read_javascript(text: &str, path: &str) -> Parse {
    read(text, source_type(path).unwrap_or_else(|| SourceType::unambiguous().with_jsx(true)))
}

/// Parses TypeScript, in the dialect of the file extension.
pub(super) fn read_typescript(text: &str, path: &str) -> Parse {
    read(text, source_type(path).unwrap_or_else(SourceType::ts))
}

/// True if the first comment of a text enables or disables Flow, whose type annotations are not JavaScript.
pub(super) fn is_flow(text: &str) -> bool {
    let is_comment = |line: &&str| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with("/*") || line.starts_with('*') || line.starts_with("//")
    };
    let has_pragma = |line: &str| line.split_whitespace().any(|word| matches!(word, "@flow" | "@noflow"));
    text.lines().take(100).take_while(is_comment).any(has_pragma)
}

fn read(text: &str, source_type: SourceType) -> Parse {
    let arena = Allocator::default();
    // CommonJS wraps a file in a function, so it may return; a file name does not distinguish CommonJS from a script.
    let options =
        ParseOptions { allow_return_outside_function: !source_type.is_module(), ..ParseOptions::default() };
    let parsed = Parser::new(&arena, text, source_type).with_options(options).parse();
    Parse::Read(parsed.diagnostics.errors().map(|error| fault(error, text.len())).collect())
}

/// Returns the dialect that the last extension of a path names.
fn source_type(path: &str) -> Option<SourceType> {
    SourceType::from_path(path.to_lowercase()).ok()
}

fn fault(error: &OxcDiagnostic, end: usize) -> SyntaxFault {
    let label = error.labels.iter().find(|label| label.primary()).or_else(|| error.labels.first());
    let at = label.map_or(end, |label| label.offset() as usize);
    let length = label.map_or(0, |label| label.len() as usize);
    SyntaxFault::new(at, at.saturating_add(length), error.message.clone())
}

#[cfg(test)]
mod tests {
    use super::super::cases::judged;
    use crate::Outcome;

    #[test]
    fn a_file_of_flow_is_not_judged_where_it_is_no_javascript() {
        let annotated = "\n\nexport const a: ?number = 1;\n";
        let outcome = |text: &str| judged("a.js", None, text).runs[0].outcome;
        for head in ["/**\n * @flow strict-local\n */", "// @flow", "'use strict';"] {
            assert_eq!(outcome(&format!("{head}\n\nexport const a = 1;\n")), Outcome::Passed, "{head}");
        }
        assert_eq!(
            outcome(&format!("/**\n * @format\n * @flow strict-local\n */{annotated}")),
            Outcome::Unavailable
        );
        assert_eq!(outcome(&format!("/* no pragma */{annotated}")), Outcome::Found);
        assert_eq!(outcome(&format!("const b = '@flow';{annotated}")), Outcome::Found);
    }
}
