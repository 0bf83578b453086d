//! Extracts a declaration's signature as one line, and the first line of its documentation.

use std::ops::Range;

use lockgate_text::SymbolKind;

/// The maximum length of a signature and of a doc line, in characters.
const LONGEST: usize = 200;
/// The maximum number of bytes examined of a declaration, or above one.
const MAX_EXAMINED: usize = 4_096;

/// Comment markers; a longer one comes before its prefixes.
const OPENERS: [&str; 10] = ["<!--", "/**", "/*!", "///", "//!", "--", "/*", "//", "*/", "#"];

/// Returns the declaration from `head`, on one line and without its body.
pub(super) fn signature(view: &str, head: &Range<usize>, kind: SymbolKind) -> String {
    let start = line_start(view, head.start);
    let end = head.end.min(start.saturating_add(MAX_EXAMINED));
    let whole = view.get(start..view.floor_char_boundary(end)).unwrap_or_default();
    let whole = without_annotations(whole);
    let whole = match kind {
        SymbolKind::Key | SymbolKind::Heading | SymbolKind::Element => {
            whole.lines().next().unwrap_or_default()
        }
        SymbolKind::Constant
        | SymbolKind::Variable
        | SymbolKind::Field
        | SymbolKind::Macro
        | SymbolKind::Function
        | SymbolKind::Method => whole,
        // The head ends where the body begins.
        _ if view.get(head.end..).is_some_and(|body| body.starts_with('{')) => whole,
        _ => before_body(whole),
    };
    let folded = folded(whole);
    let bare = folded.trim_end_matches(['{', ':', '=', ' ', '(', ',', ';']);
    let bare = bare.strip_suffix("=>").unwrap_or(bare).trim_end_matches([' ', '=']);
    // The parameters of a prototype end in a character that would otherwise open a body.
    clipped(if bare.is_empty() { &folded } else { bare })
}

/// Returns a declaration up to the first brace that is in no parentheses or brackets.
fn before_body(declaration: &str) -> &str {
    let mut depth = 0_usize;
    let body = declaration.char_indices().find(|(_, c)| {
        depth = match c {
            '(' | '[' => depth + 1,
            ')' | ']' => depth.saturating_sub(1),
            _ => depth,
        };
        *c == '{' && depth == 0
    });
    body.and_then(|(at, _)| declaration.get(..at)).unwrap_or(declaration)
}

/// Removes the annotations before a declaration.
fn without_annotations(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(annotation) =
        rest.strip_prefix('@').filter(|annotation| !annotation.starts_with("interface"))
    {
        let after = annotation.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
        let mut depth = 0_usize;
        let end = after.char_indices().find(|(_, c)| {
            depth = match c {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            depth == 0 && *c != ')'
        });
        match end {
            Some((end, _)) => rest = after.get(end..).unwrap_or_default().trim_start(),
            None => return text,
        }
    }
    rest
}

/// Returns the first line of a symbol's documentation: from the docstring in Python, else from the
/// comment above it.
pub(super) fn doc(view: &str, extent: &Range<usize>, head: &Range<usize>, language: &str) -> Option<String> {
    let inside = if language == "python" { docstring(view, head.end) } else { None };
    inside.or_else(|| comment(view, extent.start..head.start, language))
}

fn docstring(view: &str, body: usize) -> Option<String> {
    let end = view.floor_char_boundary(body.saturating_add(MAX_EXAMINED));
    let text = view.get(body..end)?.trim_start().trim_start_matches(['r', 'R', 'u', 'U', 'b', 'B']);
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| text.starts_with(quote))?;
    let inside = text.get(quote.len()..)?;
    let inside = inside.split(quote).next()?;
    inside.lines().map(folded).find(|line| has_words(line)).map(|line| clipped(&line))
}

/// Returns the first meaningful line of the comment; decorators and attributes may stand between it and
/// the declaration.
fn comment(view: &str, above: Range<usize>, language: &str) -> Option<String> {
    let start = above.start.max(above.end.saturating_sub(MAX_EXAMINED));
    let text = view.get(view.ceil_char_boundary(start)..above.end)?;
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        let is_attribute = line.starts_with('@') || (language == "rust" && line.starts_with("#["));
        let opener = OPENERS.into_iter().find(|opener| line.starts_with(opener));
        if is_attribute || (opener.is_none() && !inside) {
            continue;
        }
        let is_block = inside || line.starts_with("/*") || line.starts_with("<!--");
        let words = opener.map_or(line, |opener| line.get(opener.len()..).unwrap_or_default());
        // The declaration may be on the line of the comment.
        let end = match opener {
            Some("*/") => Some(0),
            _ if is_block => words.find("*/"),
            _ => None,
        };
        inside = is_block && end.is_none() && !line.ends_with("*/") && !line.ends_with("-->");
        let words = words.get(..end.unwrap_or(words.len())).unwrap_or_default();
        let words = words.trim_start_matches(['*', '/', '#', '!', '-', ' ']).trim_end_matches("-->");
        let words = folded(words);
        if has_words(&words) {
            return Some(clipped(&words));
        }
    }
    None
}

/// True if a line has words that are meant for people.
fn has_words(line: &str) -> bool {
    const MARKS: [&str; 7] = ["eslint-", "noqa", "type: ignore", "pylint:", "go:", "nolint", "@ts-"];
    line.contains(char::is_alphabetic) && !MARKS.iter().any(|comment_sign| line.starts_with(comment_sign))
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a line to the maximum length; a cut line ends in an ellipsis.
pub(super) fn clipped(line: &str) -> String {
    shortened(line, LONGEST)
}

/// Cuts a line to this many characters; a cut line ends in an ellipsis.
pub(super) fn shortened(line: &str, most: usize) -> String {
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line.to_owned(),
    }
}

/// Returns the offset of the first character on the declaration's line, where its modifiers may be.
fn line_start(view: &str, at: usize) -> usize {
    let start = view.ceil_char_boundary(at.saturating_sub(MAX_EXAMINED));
    let before = view.get(start..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let line = line.rsplit("*/").next().unwrap_or_default();
    // Earlier text on the line belongs to the declaration, unless another construct ends there.
    if line.contains(['{', '}', ';', ')', ']']) { at } else { at - line.trim_start().len() }
}
