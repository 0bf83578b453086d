//! Parses Python with ruff.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::lexer::lex;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::Ranged as _;

use super::brackets::{BracketPairs, BracketReport};
use super::fault::SyntaxFault;
use super::parse::Parse;
use super::parts::{self, ChangedPart};
use super::python_scopes;

/// The most open brackets, and below it the most indents: `MAXLEVEL` and `MAXINDENT` - 1 of CPython's tokenizer. Ruff's
/// tokenizer has no such limits.
const MAX_OPEN: usize = 200;
const MAX_INDENTS: usize = 99;

/// Parses a module and reports every fault. Scopes are looked at only in a module that parses.
pub(super) fn read(text: &str, path: &str) -> Parse {
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    let faults = parsed.errors().iter().map(|error| {
        let range = error.location;
        SyntaxFault::new(range.start().to_usize(), range.end().to_usize(), error.error.to_string())
    });
    let tokens = || {
        let tokens = parsed.tokens().iter().map(|token| token.as_tuple());
        tokens.map(|(kind, range)| (kind, range.start().to_usize()))
    };
    let mut faults: Vec<SyntaxFault> = faults.chain(too_deep(tokens())).collect();
    if faults.is_empty() {
        faults.extend(mixed_indentation(text, tokens()));
    }
    let module = parsed.syntax().as_module();
    if faults.is_empty() {
        faults.extend(module.into_iter().flat_map(|module| python_scopes::faults(module, text, path)));
    }
    if !faults.is_empty() {
        return Parse::faulty(faults);
    }
    let statements = module.into_iter().flat_map(|module| &module.body);
    Parse::valid(parts::thinned(
        text,
        statements.map(|statement| statement.range().start().to_usize()),
        |_| true,
    ))
}

/// True if a changed part cannot move an import from `__future__` behind other statements.
pub(super) fn fits(change: &ChangedPart<'_>, _path: &str) -> bool {
    const FUTURE: &str = "__future__";
    // The docstring of the module may be longer than the text that is known.
    let is_before_docstring =
        || change.before.is_empty() && change.after.starts_with(['"', '\'', 'r', 'R', 'u', 'U']);
    !change.new.contains(FUTURE) && !change.after.contains(FUTURE) && !is_before_docstring()
}

/// Pairs the brackets of a module; those in strings and comments do not count.
pub(super) fn brackets(text: &str) -> BracketReport {
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    let mut pairs = BracketPairs::default();
    for (kind, range) in parsed.tokens().iter().map(|token| token.as_tuple()) {
        let token = match kind {
            TokenKind::Lpar => "(",
            TokenKind::Rpar => ")",
            TokenKind::Lsqb => "[",
            TokenKind::Rsqb => "]",
            TokenKind::Lbrace => "{",
            TokenKind::Rbrace => "}",
            _ => continue,
        };
        pairs.see(token, range.start().to_usize(), text);
    }
    pairs.report()
}

/// Returns the most levels that a text can nest, without recursion, or a fault if they exceed CPython's limits.
pub(super) fn levels(text: &str) -> Result<usize, SyntaxFault> {
    let mut lexer = lex(text, Mode::Module);
    let mut depth = Depth::default();
    loop {
        let kind = lexer.next_token();
        if kind == TokenKind::EndOfFile {
            return Ok(depth.most);
        }
        // The lexer does not return the offset of a token, so the fault is at the start of the text.
        if let Some(words) = depth.see(kind) {
            return Err(SyntaxFault::new(0, 0, words));
        }
    }
}

/// Returns a fault at the first token that exceeds the limits of CPython's tokenizer.
fn too_deep(mut tokens: impl Iterator<Item = (TokenKind, usize)>) -> Option<SyntaxFault> {
    let mut depth = Depth::default();
    tokens.find_map(|(kind, at)| depth.see(kind).map(|words| SyntaxFault::new(at, at, words)))
}

/// Returns a fault at the first line whose level of indentation depends on the width of a tab. CPython counts a tab as up to
/// 8 columns and as one, and rejects a line where the two disagree. Ruff counts it as up to 2.
fn mixed_indentation(text: &str, tokens: impl Iterator<Item = (TokenKind, usize)>) -> Option<SyntaxFault> {
    let mut levels = vec![(0, 0)];
    let mut begins_line = true;
    for (kind, at) in tokens {
        match kind {
            TokenKind::Newline => begins_line = true,
            TokenKind::NonLogicalNewline
            | TokenKind::Comment
            | TokenKind::Indent
            | TokenKind::Dedent
            | TokenKind::EndOfFile => {}
            _ if std::mem::take(&mut begins_line) => {
                let before = text.get(..at)?;
                let (above, indent) = before.rsplit_once('\n').unwrap_or(("", before));
                // A line that continues another has the indentation of that one.
                let width = widths(indent).filter(|_| !above.ends_with('\\'));
                if width.is_some_and(|width| !is_consistent(&mut levels, width)) {
                    let words = "inconsistent use of tabs and spaces in indentation";
                    return Some(SyntaxFault::new(at, at, words));
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the columns of an indentation, with tabs of up to 8 columns and of one; `None` if it has other characters.
fn widths(indent: &str) -> Option<(usize, usize)> {
    indent.chars().try_fold((0, 0), |(wide, narrow), character| match character {
        ' ' => Some((wide + 1, narrow + 1)),
        '\t' => Some(((wide / 8 + 1) * 8, narrow + 1)),
        '\u{c}' => Some((0, 0)),
        _ => None,
    })
}

/// Enters or leaves levels of indentation for the next line; false if it is at none, or at another by the other width.
fn is_consistent(levels: &mut Vec<(usize, usize)>, (wide, narrow): (usize, usize)) -> bool {
    let deepest = levels.len();
    while levels.last().is_some_and(|level| level.0 > wide) {
        levels.pop();
    }
    let level = levels.last().copied().unwrap_or_default();
    if wide == level.0 {
        return narrow == level.1;
    }
    levels.push((wide, narrow));
    levels.len() > deepest && narrow > level.1
}

/// The possible nesting depth of the tokens so far. A token that is not a bracket nests until a comma, a bracket of its own
/// level or the end of the line.
#[derive(Default)]
struct Depth {
    /// For each open bracket, the number of levels that may be open directly around it.
    open: Vec<usize>,
    indents: usize,
    /// The number of tokens since the last one that closed the levels before it.
    run: usize,
    /// The number of levels that may be open around the innermost bracket.
    around: usize,
    most: usize,
}

impl Depth {
    /// Counts a token; returns a message if it nests too deep.
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
        match (self.open.len() > MAX_OPEN, self.indents > MAX_INDENTS) {
            (true, _) => Some("too many nested parentheses"),
            (false, true) => Some("too many levels of indentation"),
            (false, false) => None,
        }
    }
}
