//! Finds the diff marks `+`, `-` and `@@` before new lines.

mod operators;
#[cfg(test)]
mod tests;

use super::super::code_files::is_makefile;
use super::super::lexical_syntax::TextKind;
use super::super::lexis::LexicalPart;
use super::super::patches::{hunk, marked};
use super::super::text_pair::{DamageFinding, TextPair};
use crate::pieces::ReplacedLines;

/// Returns a finding at the first line of a piece that shows that the piece is a diff.
pub(super) fn look(texts: &TextPair<'_>, piece: &ReplacedLines) -> Option<DamageFinding> {
    let text = |line: usize| texts.after.text(line);
    let lines = || piece.new_lines().filter(|line| !text(*line).trim().is_empty());
    let was_replaced = |line: usize| {
        marked(text(line))
            .is_some_and(|(mark, rest)| mark == '-' && rest.trim().len() > 2 && texts.replaced(piece, rest))
    };
    let is_diff = lines().any(was_replaced);
    let is_example = |line: usize| {
        !is_diff
            && (texts.is_patched(line)
                || texts.is_fenced(line)
                || texts.is_in_string(line)
                || texts.part_of_line(line) == LexicalPart::Comment)
    };
    if let Some(line) = lines().find(|line| hunk(text(*line)).is_some() && !is_example(*line)) {
        return Some(finding_at(line, "@@"));
    }
    let mut run: Vec<usize> = Vec::new();
    for line in lines() {
        if marked(text(line)).is_some() && !is_objc_method(texts, text(line)) {
            run.push(line);
        } else if !text(line).starts_with([' ', '\t']) || run.is_empty() {
            if let Some(finding) = judge(texts, piece, &run).filter(|finding| !is_example(finding.line)) {
                return Some(finding);
            }
            run.clear();
        }
    }
    judge(texts, piece, &run).filter(|finding| !is_example(finding.line))
}

fn finding_at(line: usize, mark: &str) -> DamageFinding {
    let message = format!("the diff mark `{mark}` is at the start of new lines; send the lines without it");
    DamageFinding { line, column: 1, message }
}

/// True for a text whose language has no list with `+` or `-` before its items, though none of its lines is surely code.
fn has_no_lists(texts: &TextPair<'_>) -> bool {
    matches!(texts.language(), "html" | "dockerfile") || texts.is_code_file
}

/// True if a line may be the head of an Objective-C method, such as `+ (NSURL *)urlFor:(NSString *)name;`. Headers of
/// Objective-C have the same file extension as those of C.
fn is_objc_method(texts: &TextPair<'_>, text: &str) -> bool {
    let objc = matches!(texts.language(), "c" | "cpp")
        && texts.draft.path.rsplit_once('.').is_some_and(|(_, ending)| matches!(ending, "h" | "m" | "mm"));
    objc && marked(text).is_some_and(|(_, rest)| {
        let rest = rest.trim_start();
        rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).is_some_and(|(of_type, name)| {
            !of_type.is_empty() && name.trim_start().starts_with(|c: char| c.is_alphabetic() || c == '_')
        })
    })
}

fn judge(texts: &TextPair<'_>, piece: &ReplacedLines, run: &[usize]) -> Option<DamageFinding> {
    let first = *run.first()?;
    let all = || run.iter().filter_map(|line| marked(texts.after.text(*line)));
    let count = |sign: char| all().filter(|(mark, _)| *mark == sign).count();
    let (plus, minus) = (count('+'), count('-'));
    // In these texts, a mark and a blank begin an item of a list, and a line may become one.
    let has_lists = matches!(texts.kind, TextKind::Prose | TextKind::Unknown) || texts.language() == "yaml";
    let is_item = |rest: &str| has_lists && rest.starts_with(' ') && !texts.replaced(piece, rest);
    let known = |sign: char| {
        let is_long = |rest: &str| rest.trim().len() > 2 && !is_item(rest);
        all().filter(|(mark, rest)| *mark == sign && is_long(rest) && was_present(texts, piece, rest)).count()
    };
    if operators::are_operators(texts, piece, run) {
        return None;
    }
    let found = match texts.kind {
        // In a style sheet, `+` is between two selectors.
        TextKind::Code if texts.language() == "css" && minus == 0 => known('+') > 0,
        TextKind::Code => {
            plus > 1
                || plus > 0 && minus > 0
                || minus > 1 && known('-') > 0
                || plus > 0 && is_alone(texts, first)
        }
        TextKind::Data if texts.language() == "yaml" => {
            plus > 1 || plus > 0 && known('-') > 0 || minus > 1 && known('-') > 1
        }
        TextKind::Data => plus + minus > 1 && texts.language() != "csv" || known('-') > 0,
        // In a makefile, `-` ignores the failure of a command or of an inclusion.
        TextKind::Unknown if is_makefile(texts.draft.path) && plus == 0 => false,
        TextKind::Prose | TextKind::Unknown => {
            let is_removed =
                || has_no_lists(texts) && all().any(|(mark, rest)| removes(texts, piece, mark, rest));
            known('-') > 0 && plus > 0 || known('+') + known('-') > 1 || plus > 0 && is_removed()
        }
        TextKind::Patch => false,
    };
    let mark = if texts.after.text(first).starts_with('+') { "+" } else { "-" };
    found.then(|| finding_at(first, mark))
}

/// True for a line that the edit replaced, with a `-` and a blank in front.
fn removes(texts: &TextPair<'_>, piece: &ReplacedLines, mark: char, rest: &str) -> bool {
    let line = rest.strip_prefix(' ').filter(|line| mark == '-' && line.trim().len() > 2);
    line.is_some_and(|line| texts.replaced(piece, line))
}

/// True if the text before had the line after the mark unchanged, including its indentation.
fn was_present(texts: &TextPair<'_>, piece: &ReplacedLines, rest: &str) -> bool {
    texts.replaced(piece, rest) || rest.trim().len() > 8 && texts.was_there(rest)
}

/// True if a single `+` at the start of a line cannot be an operator, because the line above is complete.
fn is_alone(texts: &TextPair<'_>, line: usize) -> bool {
    let above = texts.after.text(line.saturating_sub(1)).trim_end();
    let open = above.ends_with(|c: char| "([{,=+-*/&|\\<>?:.".contains(c));
    let rest = texts.after.text(line).get(1..).unwrap_or_default();
    (!open || rest.starts_with("  ")) && rest.starts_with(|c: char| c.is_alphabetic() || c.is_whitespace())
}
