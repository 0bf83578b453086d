//! Finds symbols with the decorators, attributes, annotations and directives above them.
//!
//! Invariant: one walk over the lines, without a tree; a line that is mistaken for a symbol has no decorators.

use std::sync::LazyLock;

use regex::Regex;

use crate::constant_pattern::regex;
use crate::syntax::bracket_balance;
use lockgate_text::Lines;

/// A symbol, by its lines from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineSymbol<'t> {
    pub(super) name: &'t str,
    /// The number of the line with its name.
    pub(super) line: usize,
    /// The number of the last line of its body.
    pub(super) end: usize,
    /// The decorators above it, each with its first line.
    pub(super) above: Vec<(usize, &'t str)>,
}

/// Matches a line that begins a symbol, and captures its name.
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x) ^\s* (?: (?:export|default|public|private|protected|internal|static|final|abstract|async|override|virtual
              |readonly|sealed|unsafe|const|extern(?:\s+\x22\w+\x22)?|pub(?:\([^)]*\))?|inline|synchronized|native|declare|strictfp)\s+ )*
          (?: (?:def|class|fn|struct|enum|trait|interface|union|mod|type|impl(?:<[^>]*>)?|record)\s+ (?P<named>[\w:]+)
            | func\s+ (?:\([^)]*\)\s*)? (?P<func>\w+)
            | function\s*\*?\s* (?P<function>\w+)
            | (?:(?:static|get|set|async)\s+)* (?:[\w<>\[\],.?]+\s+){0,3} (?P<method>\w+)\s*\( [^;]*$
            | (?:readonly|static)?\s* (?P<field>[\w$]+)[?!]?\s*[:=;] )",
    )
});

/// Returns the symbols of a text in text order, each with the decorators above it.
pub(super) fn symbols<'t>(lines: Lines<'t>, language: &str) -> Vec<LineSymbol<'t>> {
    let mut symbols = Vec::new();
    let mut above: Vec<(usize, &'t str)> = Vec::new();
    let mut open = 0;
    for (line, text) in (1..).zip(lines.iter()) {
        let body = text.trim();
        if open > 0 {
            open += balance(body);
        } else if is_mark(body, language) {
            above.push((line, body));
            open = balance(body).max(0);
            if let Some(rest) = after_mark(body, language) {
                let above = std::mem::take(&mut above);
                symbols.extend(name(rest, language).map(|name| LineSymbol { name, line, end: line, above }));
            }
        } else if body.is_empty() || is_comment(body, language) {
            if body.is_empty() && language == "go" {
                above.clear();
            }
        } else if let Some(name) = name(text, language) {
            symbols.push(LineSymbol { name, line, end: line, above: std::mem::take(&mut above) });
        } else {
            above.clear();
        }
    }
    end_all(&mut symbols, lines);
    symbols
}

/// True if a line is a decorator, an attribute or an annotation.
pub(super) fn is_mark(body: &str, language: &str) -> bool {
    let at = |text: &str| {
        text.starts_with('@')
            && text.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    };
    match language {
        "rust" => body.starts_with("#["),
        "python" | "typescript" | "javascript" => at(body),
        "java" => at(body) && !body.starts_with("@interface"),
        "go" => body.starts_with("//go:") || body.starts_with("//export "),
        _ => false,
    }
}

/// Returns the rest of the line after a mark, if the mark ends on this line.
fn after_mark<'t>(body: &'t str, language: &str) -> Option<&'t str> {
    if matches!(language, "python" | "go") || balance(body) > 0 {
        return None;
    }
    let close = if language == "rust" { ']' } else { ')' };
    let end = match body.find(close) {
        Some(end)
            if language == "rust"
                || body.find(' ').is_none_or(|space| body.find('(').is_some_and(|open| open < space)) =>
        {
            end + 1
        }
        _ => body.find(' ')?,
    };
    body.get(end..).map(str::trim).filter(|rest| !rest.is_empty() && !is_mark(rest, language))
}

fn is_comment(body: &str, language: &str) -> bool {
    match language {
        "python" => body.starts_with('#'),
        _ => ["//", "/*", "*"].iter().any(|open| body.starts_with(open)),
    }
}

fn name<'t>(text: &'t str, language: &str) -> Option<&'t str> {
    let captures = HEAD.captures(text)?;
    // In Python and Go every symbol has a keyword.
    let loose: &[&str] = if matches!(language, "python" | "go") { &[] } else { &["method", "field"] };
    let mut groups = ["named", "func", "function"].iter().chain(loose);
    let name = groups.find_map(|group| captures.name(group))?.as_str();
    (!matches!(name, "let" | "if" | "for" | "while" | "switch" | "return" | "catch" | "else" | "match"))
        .then_some(name)
}

/// Returns the number of opening brackets minus the number of closing ones.
fn balance(body: &str) -> isize {
    bracket_balance(body).into_iter().sum()
}

/// Sets the end of each body: the line before the next one that is indented no deeper and closes no bracket.
fn end_all(symbols: &mut [LineSymbol<'_>], lines: Lines<'_>) {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut starts = symbols.iter().map(|symbol| symbol.line).enumerate().peekable();
    let mut end_lines = vec![lines.count(); symbols.len()];
    let mut last = 0;
    for (line, text) in (1..).zip(lines.iter()) {
        let body = text.trim_start();
        if body.is_empty() {
            continue;
        }
        let indent = text.len() - body.len();
        let closes = body.starts_with([')', ']', '}']);
        while let Some(&(index, depth)) = open.last() {
            if indent > depth || closes && indent == depth {
                break;
            }
            open.pop();
            end_lines.get_mut(index).into_iter().for_each(|end| *end = last);
        }
        if let Some((index, _)) = starts.next_if(|(_, start)| *start == line) {
            open.push((index, indent));
        }
        last = line;
    }
    symbols.iter_mut().zip(end_lines).for_each(|(symbol, end)| symbol.end = end.max(symbol.line));
}
