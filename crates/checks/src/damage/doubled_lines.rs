//! Finds a line or a block of lines that is repeated at the edge of the edit.

use super::lexical_syntax::TextKind;
use super::lexis::LexicalPart;
use super::text_pair::MAX_FINDINGS;
use super::text_pair::{DamageFinding, TextPair};
use crate::delta::ReplacedLines;

/// The longest repeated block that is searched for, in lines.
const LONGEST: usize = 40;

/// Lines that valid texts repeat.
const COMMON: [&str; 22] = [
    "end",
    "else",
    "else:",
    "fi",
    "done",
    "esac",
    "then",
    "begin",
    "break",
    "break;",
    "continue",
    "continue;",
    "return",
    "return;",
    "pass",
    "default:",
    "try:",
    "try",
    "do",
    "finally:",
    "endif",
    "return nil",
];

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    if texts.before.is_none() || matches!(texts.kind, TextKind::Patch) {
        return Vec::new();
    }
    texts.pieces.iter().filter_map(|piece| doubled(texts, piece)).take(MAX_FINDINGS).collect()
}

fn doubled(texts: &TextPair<'_>, piece: &ReplacedLines) -> Option<DamageFinding> {
    let (first, last) = piece.new;
    let length = (last + 1).checked_sub(first).filter(|length| *length > 0)?;
    let longest = LONGEST.min(length);
    let mut sizes =
        (1..=longest).filter_map(|size| place(texts, piece, size, length).map(|line| (size, line)));
    let (size, line) = sizes.find(|(size, line)| says_enough(texts, *line, *size))?;
    if was_doubled(texts, piece, size, line) {
        return None;
    }
    let what = match size {
        1 => format!("line {line} repeats line {}", line - 1),
        _ => format!("lines {line}-{} repeat lines {}-{}", line + size - 1, line - size, line - 1),
    };
    let message = format!("{what}, at the edge of the edit; keep one of them");
    Some(DamageFinding { line, column: 1, message })
}

/// Returns the first line of the second copy of a block of this size, if it is at an edge of the piece and the edit wrote
/// a part of it.
fn place(texts: &TextPair<'_>, piece: &ReplacedLines, size: usize, length: usize) -> Option<usize> {
    let (first, last) = piece.new;
    let equal = |one: usize, other: usize| {
        one >= 1 && other <= texts.after.count() && texts.after.text(one) == texts.after.text(other)
    };
    let block = |start: usize| start > size && (start..start + size).all(|line| equal(line - size, line));
    if block(first) {
        return Some(first);
    }
    if block(last + 1) {
        return Some(last + 1);
    }
    // The diff of a block inserted next to its copy may start at any of its lines.
    let back = (1..=size).take_while(|step| first > *step && equal(first - step, last + 1 - step)).count();
    let on = (1..=size).take_while(|step| equal(first + step - 1, last + step)).count();
    (size == length && back + on >= size && back < size).then(|| first + size - back)
}

/// True if a repetition of the block is hardly intended; blank lines, brackets and rows of data do not count.
fn says_enough(texts: &TextPair<'_>, start: usize, size: usize) -> bool {
    let lines = || (start..start + size).map(|line| texts.after.text(line).trim());
    let telling = lines().filter(|text| tells(texts, text)).count();
    let in_string = texts.part_of_line(start) == LexicalPart::Text;
    match texts.kind {
        TextKind::Data => size > 2 && telling > 2 && !in_string,
        TextKind::Prose => telling > 0 && (texts.is_fenced(start) || lines().any(|text| text.len() > 8)),
        TextKind::Code => telling > 0 && (!in_string || lines().any(|text| text.len() > 20)),
        TextKind::Patch | TextKind::Unknown => telling > 0,
    }
}

fn tells(texts: &TextPair<'_>, text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let table = texts.kind == TextKind::Prose && text.starts_with(['|', '+', '<']);
    letters > 2 && !table && !text.starts_with("</") && !COMMON.contains(&text)
}

/// True if the text before already had such a pair, in or next to the replaced lines.
fn was_doubled(texts: &TextPair<'_>, piece: &ReplacedLines, size: usize, line: usize) -> bool {
    let Some(before) = texts.before else { return false };
    let from = piece.old.0.saturating_sub(2 * size).max(1);
    let to = (piece.old.1 + 2 * size).min(before.count());
    let text = texts.after.text(line);
    (from..=to).take(400).any(|line| {
        before.text(line) == text
            && line + 2 * size <= before.count() + 1
            && (line..line + size).all(|line| before.text(line) == before.text(line + size))
    })
}
