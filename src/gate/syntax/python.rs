//! Python, read by ruff's parser.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::lexer::lex;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::Parse;
use super::fault::Fault;

/// As many brackets may be open at once, and one less than as many indents: `MAXLEVEL` and `MAXINDENT` of CPython's
/// tokenizer. Ruff's has no such limit.
const MOST_OPEN: usize = 200;
const MOST_INDENTS: usize = 99;

/// Reads a module; every fault is reported.
pub(super) fn read(text: &str, _path: &str) -> Parse {
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    let faults = parsed.errors().iter().map(|error| {
        let range = error.location;
        Fault::new(range.start().to_usize(), range.end().to_usize(), error.error.to_string())
    });
    let tokens = parsed.tokens().iter().map(|token| token.as_tuple());
    let deep = too_deep(tokens.map(|(kind, range)| (kind, range.start().to_usize())));
    Parse::Read(faults.chain(deep).collect())
}

/// Finds where a text nests deeper than Python itself goes, without nesting on the way.
pub(super) fn beyond(text: &str) -> Option<Fault> {
    let mut lexer = lex(text, Mode::Module);
    let kinds = std::iter::from_fn(|| {
        let kind = lexer.next_token();
        // The lexer does not tell where a token stands: the finding speaks of the text as a whole.
        (kind != TokenKind::EndOfFile).then_some((kind, 0))
    });
    too_deep(kinds)
}

/// The first token that nests deeper than CPython's tokenizer goes.
fn too_deep(mut tokens: impl Iterator<Item = (TokenKind, usize)>) -> Option<Fault> {
    let (mut open, mut indents) = (0usize, 0usize);
    tokens.find_map(|(kind, at)| {
        match kind {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => open += 1,
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => open = open.saturating_sub(1),
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            _ => {}
        }
        match (open > MOST_OPEN, indents > MOST_INDENTS) {
            (true, _) => Some(Fault::new(at, at + 1, "too many nested parentheses")),
            (false, true) => Some(Fault::new(at, at, "too many levels of indentation")),
            (false, false) => None,
        }
    })
}
