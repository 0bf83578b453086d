//! The tokens of a file, what its formatter may have added, and the matches of a quote.

use std::ops::Range;

use super::lexer::{self, TokenKind};
use super::rules::LexicalRules;
use super::tokens::Tokens;
use crate::budget::MatchBudget;
use crate::indent::IndentMap;
use crate::quotes::{PlainString, are_interchangeable};
use crate::search_text::Source;
use lockgate_text::{CodeTree, ParentNode};

/// The size of a file in bytes up to which its tokens are compared.
const MAX_BYTES: usize = 1 << 20;

/// The maximum number of matches that are examined.
const MAX_MATCHES: usize = 64;

/// The words after which a formatter may put an expression in parentheses.
const OPERAND_WORDS: [&str; 8] = ["return", "in", "assert", "import", "yield", "if", "while", "del"];

/// A token that the formatter may have added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormatterAddition {
    None,
    /// A comma behind the last entry of a broken list.
    Comma,
    /// A parenthesis, with the index of its partner.
    Parenthesis(usize),
}

/// The tokens of a file with its tree.
pub(super) struct SourceCode<'t> {
    pub(super) file: Tokens<'t>,
    pub(super) rules: &'static LexicalRules,
    pub(super) source: Source<'t>,
    tree: Box<dyn CodeTree>,
    brackets: OpenBrackets,
    additions: Vec<FormatterAddition>,
}

/// A match: the token of the file for each token of the quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeMatch {
    /// `None` for a comma or a parenthesis of the quote that the file lacks.
    pub(super) tokens: Vec<Option<usize>>,
    /// The last token of the file, which may be one that the formatter added.
    pub(super) last: usize,
    first: usize,
}

impl CodeMatch {
    /// Returns the bytes of the match.
    pub(super) fn span(&self, code: &SourceCode<'_>) -> Range<usize> {
        code.file.span(self.first, self.last).unwrap_or_default()
    }
}

impl<'t> SourceCode<'t> {
    /// Parses a file; `None` if it is too large, or its grammar cannot read it.
    pub(super) fn parse(
        source: Source<'t>,
        view: &'t str,
        rules: &'static LexicalRules,
    ) -> Option<SourceCode<'t>> {
        if view.len() > MAX_BYTES {
            return None;
        }
        let tree = source.syntax.code_tree(source.language, source.path, view)?;
        let file = Tokens { text: view, tokens: lexer::tokens_around(view, &tree.opaque_parts(view)) };
        let brackets = OpenBrackets::new(&file);
        let mut code = SourceCode { file, rules, source, tree, brackets, additions: Vec::new() };
        code.additions = (0..code.file.len()).map(|index| code.addition(index)).collect();
        Some(code)
    }

    /// Returns the node around that of a token.
    fn parent(&self, index: usize) -> Option<ParentNode<'_>> {
        self.tree.parent(self.file.token(index)?.span.clone())
    }

    /// Returns what the formatter may have added a token for.
    fn addition(&self, index: usize) -> FormatterAddition {
        match self.file.text(index) {
            "," if self.is_added_comma(index) => FormatterAddition::Comma,
            "(" | ")" if self.rules.adds_parentheses => {
                let is_added = |partner: &usize| self.is_added_pair(index.min(*partner), index.max(*partner));
                let partner = self.brackets.partner(index).filter(is_added);
                partner.map_or(FormatterAddition::None, FormatterAddition::Parenthesis)
            }
            _ => FormatterAddition::None,
        }
    }

    fn is_added_comma(&self, index: usize) -> bool {
        if !self.file.closes(index + 1) || !self.file.breaks_before(index + 1) {
            return false;
        }
        if matches!(self.file.text_before(index), "," | "(" | "[" | "{") {
            return false;
        }
        // The comma of `(a,)` makes a tuple.
        self.parent(index).is_none_or(|parent| !parent.kind.contains("tuple") || parent.child_count > 1)
    }

    /// Returns true for parentheses around a whole operand, which is broken into lines.
    fn is_added_pair(&self, open: usize, close: usize) -> bool {
        if !self.file.breaks_before(open + 1) || !self.file.breaks_before(close) {
            return false;
        }
        let kind = self.parent(open).map_or("", |parent| parent.kind);
        if !matches!(kind, "parenthesized_expression" | "import_from_statement" | "tuple") {
            return false;
        }
        let before = self.file.text_before(open);
        let earlier = self.file.text_before(open.saturating_sub(1));
        let is_adjacent = self.file.gap(open.saturating_sub(1)).is_empty();
        let assigns = before == "=" && !(is_adjacent && matches!(earlier, "=" | "!" | "<" | ">"));
        let is_arrow = before == ">" && is_adjacent && earlier == "=";
        let begins = assigns || is_arrow || OPERAND_WORDS.contains(&before);
        let ends = matches!(self.file.text(close + 1), "" | ";" | ":" | "," | ")" | "]" | "}");
        begins && (ends || self.rules.counts_lines && self.file.breaks_before(close + 1))
    }

    /// Returns the matches of a quote in a range of bytes; `None` if there are too many or the budget is used up.
    pub(super) fn matches(
        &self,
        quote: &Tokens<'_>,
        window: Range<usize>,
        steps: &mut MatchBudget,
    ) -> Option<Vec<CodeMatch>> {
        if quote.len() == 0 || !steps.take(self.file.len() * 8) {
            return None;
        }
        let mut found = Vec::new();
        for first in 0..self.file.len() {
            if !self.is_same(quote, 0, first) {
                continue;
            }
            if !steps.take(quote.len() * 16) {
                return None;
            }
            let Some(one) = self.match_from(quote, first) else { continue };
            let span = one.span(self);
            if window.start <= span.start && span.end <= window.end {
                found.push(one);
                if found.len() > MAX_MATCHES {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Returns the match that begins at a token of the file.
    pub(super) fn match_from(&self, quote: &Tokens<'_>, first: usize) -> Option<CodeMatch> {
        let mut tokens = Vec::with_capacity(quote.len());
        // The closing parentheses of those that the quote lacks.
        let mut open: Vec<usize> = Vec::new();
        let mut at = first;
        let mut row = 0;
        while row < quote.len() {
            let addition = self.additions.get(at).copied()?;
            if open.last() == Some(&at) {
                open.pop();
                at += 1;
                continue;
            }
            if self.is_same(quote, row, at) {
                tokens.push(Some(at));
                (row, at) = (row + 1, at + 1);
                continue;
            }
            if self.has_bare_parameter(quote, row, &self.file, at) {
                tokens.push(Some(at + 1));
                (row, at) = (row + 1, at + 3);
                continue;
            }
            if self.has_bare_parameter(&self.file, at, quote, row) {
                tokens.extend([None, Some(at), None]);
                (row, at) = (row + 3, at + 1);
                continue;
            }
            match addition {
                FormatterAddition::Comma => at += 1,
                FormatterAddition::Parenthesis(partner) if partner > at && !tokens.is_empty() => {
                    open.push(partner);
                    at += 1;
                }
                FormatterAddition::Parenthesis(_) | FormatterAddition::None
                    if self.lacks_comma(quote, row, at) =>
                {
                    tokens.push(None);
                    row += 1;
                }
                FormatterAddition::Parenthesis(_) | FormatterAddition::None => return None,
            }
        }
        while let Some(close) = open.last().copied() {
            if at == close {
                open.pop();
            } else if self.additions.get(at) != Some(&FormatterAddition::Comma) {
                return None;
            }
            at += 1;
        }
        let one = CodeMatch { tokens, last: at.checked_sub(1)?, first };
        self.has_same_lines(quote, &one).then_some(one)
    }

    /// Returns true if one text has the only parameter of an arrow function without the parentheses of the other text.
    fn has_bare_parameter(&self, one: &Tokens<'_>, row: usize, other: &Tokens<'_>, at: usize) -> bool {
        let is_arrow = |tokens: &Tokens<'_>, index: usize| {
            tokens.text(index) == "=" && tokens.text(index + 1) == ">" && tokens.gap(index + 1).is_empty()
        };
        let is_name = one.token(row).is_some_and(|token| token.kind == TokenKind::Alphanumeric);
        self.rules.has_arrow_functions
            && is_name
            && is_arrow(one, row + 1)
            && is_arrow(other, at + 3)
            && [other.text(at), other.text(at + 1), other.text(at + 2)] == ["(", one.text(row), ")"]
    }

    /// Returns true if the quote has a comma at the end of a broken list that is on one line in the file.
    fn lacks_comma(&self, quote: &Tokens<'_>, row: usize, at: usize) -> bool {
        let closes = quote.closes(row + 1) && quote.breaks_before(row + 1);
        let is_tuple = || {
            self.parent(at).is_some_and(|parent| {
                parent.kind == "parenthesized_expression" || parent.kind.contains("tuple")
            })
        };
        quote.text(row) == "," && closes && quote.text(row + 1) == self.file.text(at) && !is_tuple()
    }

    /// Returns true if two tokens are the same; strings may differ in interchangeable quotes.
    fn is_same(&self, quote: &Tokens<'_>, row: usize, at: usize) -> bool {
        let (quoted, actual) = (quote.text(row), self.file.text(at));
        let is_text = || quote.token(row).is_some_and(|token| token.kind == TokenKind::Text);
        quoted == actual
            || is_text() && are_interchangeable(self.source.language) && has_other_quotes(quoted, actual)
    }

    /// Returns true if the layouts differ only where it has no meaning.
    fn has_same_lines(&self, quote: &Tokens<'_>, one: &CodeMatch) -> bool {
        let mut indents = Vec::new();
        let mut previous: Option<usize> = None;
        for (row, at) in one.tokens.iter().enumerate() {
            let Some(at) = *at else { continue };
            let (quoted, actual) = (quote.breaks_before(row), self.breaks_between(previous, at));
            let is_first = previous.is_none();
            let differs = !is_first && quoted != actual;
            let before = previous.map(|before| self.file.text(before)).unwrap_or_default();
            if differs && self.rules.line_ending_words.contains(&before) {
                return false;
            }
            if !is_first && !self.has_same_operators(quote, row, at, previous) {
                return false;
            }
            // A closing bracket is still inside of its brackets.
            let is_inside = self.file.closes(at) || self.brackets.depths.get(at) != Some(&0);
            if self.rules.counts_lines && !is_inside {
                if differs {
                    return false;
                }
                if let (true, Some(quoted), Some(actual)) =
                    (quoted || is_first, quote.indent(row), self.file.indent(at))
                {
                    indents.push((quoted, actual));
                }
            }
            previous = Some(at);
        }
        indents.is_empty() || IndentMap::explaining(&indents, &[]).is_some()
    }

    /// Returns true if the match begins and ends where the quote does. A quote of whole lines is no part of a statement: its
    /// edges are line ends, or places in a list or between statements where a formatter has joined lines.
    pub(super) fn has_same_edges(&self, quote: &Tokens<'_>, one: &CodeMatch) -> bool {
        // Those of the head of a loop separate no statements.
        let ends_statement = |at: usize| {
            self.file.text(at) == ";"
                && self.brackets.opener(at).is_none_or(|open| self.file.text(open) != "(")
                && self.parent(at).is_none_or(|parent| !parent.kind.starts_with("for_"))
        };
        let head = quote.token(0).and_then(|first| quote.text.get(..first.span.start)).unwrap_or_default();
        let begins = head.is_empty()
            || self.file.indent(one.first).is_some()
            || matches!(self.file.text_before(one.first), "(" | "[" | "{" | "}" | ",")
            || one.first.checked_sub(1).is_some_and(ends_statement);
        let last = quote.len().checked_sub(1).and_then(|last| quote.token(last));
        let tail = last.and_then(|last| quote.text.get(last.span.end..)).unwrap_or_default();
        let next = one.last + 1;
        let ends = !tail.contains('\n')
            || next >= self.file.len()
            || self.file.breaks_before(next)
            || self.additions.get(next) == Some(&FormatterAddition::Comma)
            || self.file.closes(next)
            || self.file.text(one.last) == ","
            || ends_statement(one.last);
        begins && ends
    }

    /// Returns the blanks before each entry of the list around a token, if each is on a line of its own. Braces without a
    /// comma hold no list.
    pub(super) fn entry_gap(&self, at: usize) -> Option<&'t str> {
        // The token may be the bracket itself.
        let open = if self.file.opens(at) { at } else { self.brackets.opener(at)? };
        let gap = self.file.gap(open + 1);
        let depths = &self.brackets.depths;
        let commas: Vec<usize> = (open + 1..self.file.len())
            .take_while(|index| depths.get(*index).is_some_and(|depth| depths.get(open) < Some(depth)))
            .filter(|index| self.brackets.opener(*index) == Some(open) && self.file.text(*index) == ",")
            .collect();
        let is_list = !commas.is_empty() || self.file.text(open) != "{";
        let is_broken =
            gap.contains('\n') && commas.into_iter().all(|comma| self.file.breaks_before(comma + 1));
        (is_list && is_broken).then_some(gap)
    }

    /// Returns true if a line break is between two tokens of the file, which may have additions between them.
    fn breaks_between(&self, previous: Option<usize>, at: usize) -> bool {
        let Some(previous) = previous else { return false };
        (previous + 1..=at).any(|index| self.file.breaks_before(index))
    }

    /// Returns true if two operators are adjacent in both texts or in none: `- -` is not `--`.
    fn has_same_operators(&self, quote: &Tokens<'_>, row: usize, at: usize, previous: Option<usize>) -> bool {
        let is_operator =
            |text: &str| text.chars().all(|character| "+-*/<>=!&|%^~?:.@#$".contains(character));
        let both = is_operator(quote.text(row)) && row > 0 && is_operator(quote.text_before(row));
        !both || previous != at.checked_sub(1) || quote.gap(row).is_empty() == self.file.gap(at).is_empty()
    }
}

/// Returns true if two strings differ only in their quotes, of which they have none inside.
fn has_other_quotes(one: &str, other: &str) -> bool {
    PlainString::new(one)
        .zip(PlainString::new(other))
        .is_some_and(|(one, other)| one.has_other_quotes(&other))
}

/// The brackets of a file.
struct OpenBrackets {
    /// The partner of each bracket.
    partners: Vec<Option<usize>>,
    /// The number of open brackets before each token.
    depths: Vec<usize>,
    /// The innermost open bracket before each token.
    openers: Vec<Option<usize>>,
}

impl OpenBrackets {
    fn new(file: &Tokens<'_>) -> OpenBrackets {
        let mut brackets = OpenBrackets {
            partners: vec![None; file.len()],
            depths: Vec::with_capacity(file.len()),
            openers: Vec::with_capacity(file.len()),
        };
        let mut open: Vec<(usize, &str)> = Vec::new();
        for index in 0..file.len() {
            let text = file.text(index);
            let wanted = match text {
                ")" => Some("("),
                "]" => Some("["),
                "}" => Some("{"),
                _ => None,
            };
            if let Some((start, _)) = wanted.and_then(|wanted| open.pop_if(|(_, text)| *text == wanted)) {
                for (one, other) in [(start, index), (index, start)] {
                    if let Some(slot) = brackets.partners.get_mut(one) {
                        *slot = Some(other);
                    }
                }
            }
            brackets.depths.push(open.len());
            brackets.openers.push(open.last().map(|(index, _)| *index));
            if file.opens(index) {
                open.push((index, text));
            }
        }
        brackets
    }

    fn partner(&self, index: usize) -> Option<usize> {
        self.partners.get(index).copied().flatten()
    }

    fn opener(&self, index: usize) -> Option<usize> {
        self.openers.get(index).copied().flatten()
    }
}
