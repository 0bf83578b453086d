//! Python, read by ruff's parser.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::lexer::lex;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::Parse;
use super::fault::SyntaxFault;

/// As many brackets may be open at once, and one less than as many indents: `MAXLEVEL` and `MAXINDENT` of CPython's
/// tokenizer. Ruff's has no such limit.
const MOST_OPEN: usize = 200;
const MOST_INDENTS: usize = 99;

/// Reads a module; every fault is reported.
pub(super) fn read(text: &str, _path: &str) -> Parse {
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    let faults = parsed.errors().iter().map(|error| {
        let range = error.location;
        SyntaxFault::new(range.start().to_usize(), range.end().to_usize(), error.error.to_string())
    });
    let tokens = parsed.tokens().iter().map(|token| token.as_tuple());
    let deep = too_deep(tokens.map(|(kind, range)| (kind, range.start().to_usize())));
    Parse::Read(faults.chain(deep).collect())
}

/// Gives the most levels that a text can nest, without nesting on the way; a fault where Python does not go as deep.
pub(super) fn levels(text: &str) -> Result<usize, SyntaxFault> {
    let mut lexer = lex(text, Mode::Module);
    let mut depth = Depth::default();
    loop {
        let kind = lexer.next_token();
        if kind == TokenKind::EndOfFile {
            return Ok(depth.most);
        }
        // The lexer does not tell where a token stands: the finding speaks of the text as a whole.
        if let Some(words) = depth.see(kind) {
            return Err(SyntaxFault::new(0, 0, words));
        }
    }
}

/// The first token that nests deeper than CPython's tokenizer goes.
fn too_deep(mut tokens: impl Iterator<Item = (TokenKind, usize)>) -> Option<SyntaxFault> {
    let mut depth = Depth::default();
    tokens.find_map(|(kind, at)| depth.see(kind).map(|words| SyntaxFault::new(at, at, words)))
}

/// How deep the tokens seen so far can nest: whatever is not a bracket nests only until a comma, a bracket of its
/// own level or the end of the line closes it.
#[derive(Default)]
struct Depth {
    /// For each open bracket, what may be open around it.
    open: Vec<usize>,
    indents: usize,
    /// Tokens since the last that closed what was before.
    run: usize,
    /// What may be open around the innermost bracket.
    around: usize,
    most: usize,
}

impl Depth {
    /// Counts a token; what is wrong where it goes too deep.
    fn see(&mut self, kind: TokenKind) -> Option<&'static str> {
        self.run += 1;
        match kind {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                self.open.push(self.run);
                self.around += std::mem::take(&mut self.run);
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                self.run = self.open.pop().unwrap_or_default();
                self.around -= self.run;
            }
            TokenKind::Comma | TokenKind::Newline => self.run = 0,
            TokenKind::Indent => self.indents += 1,
            TokenKind::Dedent => self.indents = self.indents.saturating_sub(1),
            _ => {}
        }
        self.most = self.most.max(self.around + self.run + self.indents);
        match (self.open.len() > MOST_OPEN, self.indents > MOST_INDENTS) {
            (true, _) => Some("too many nested parentheses"),
            (false, true) => Some("too many levels of indentation"),
            (false, false) => None,
        }
    }
}
