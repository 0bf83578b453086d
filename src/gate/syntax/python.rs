//! Python, read by ruff's parser.

use ruff_python_ast::token::{TokenKind, Tokens};

use super::Parse;
use super::fault::Fault;

/// As many brackets may be open at once, and one less than as many indents: `MAXLEVEL` and `MAXINDENT` of CPython's
/// tokenizer. Ruff's has no such limit.
const MOST_OPEN: usize = 200;
const MOST_INDENTS: usize = 99;

/// Reads a module; every fault is reported.
pub(super) fn read(text: &str, _path: &str) -> Parse {
    let options = ruff_python_parser::ParseOptions::from(ruff_python_parser::Mode::Module);
    let parsed = ruff_python_parser::parse_unchecked(text, options);
    let faults = parsed.errors().iter().map(|error| {
        let range = error.location;
        Fault::new(range.start().to_usize(), range.end().to_usize(), error.error.to_string())
    });
    Parse::Read(faults.chain(too_deep(parsed.tokens())).collect())
}

/// The first token that nests deeper than CPython's tokenizer goes.
fn too_deep(tokens: &Tokens) -> Option<Fault> {
    let (mut open, mut indents) = (0usize, 0usize);
    tokens.iter().find_map(|token| {
        match token.kind() {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => open += 1,
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => open = open.saturating_sub(1),
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            _ => {}
        }
        let words = match (open > MOST_OPEN, indents > MOST_INDENTS) {
            (true, _) => "too many nested parentheses",
            (false, true) => "too many levels of indentation",
            (false, false) => return None,
        };
        let (_, range) = token.as_tuple();
        Some(Fault::new(range.start().to_usize(), range.end().to_usize(), words))
    })
}
