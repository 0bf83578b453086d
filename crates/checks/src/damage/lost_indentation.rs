//! Finds a line that was replaced by one with less indentation, so that it leaves its block.
//!
//! An edit that changes only the indentation is intended. In Python the lines above must stay in the block, so that the new
//! text still parses and only its meaning changes. In languages with brackets, where indentation is a matter of style, the
//! lines on both sides must have the indentation of the replaced line.

use std::collections::HashSet;

use super::lexical_syntax::TextKind;
use super::lexis::LexicalPart;
use super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair, excerpt, indent};
use crate::pieces::ReplacedLines;
use lockgate_text::Lines;

/// The language whose blocks are marked by indentation.
const INDENTED: &str = "python";
/// The languages whose blocks have brackets.
const BRACKETED: [&str; 7] = ["go", "rust", "javascript", "typescript", "java", "c", "cpp"];

/// Words that start a line which continues a block above it or begins a new block.
const HEADS: [&str; 13] =
    ["def", "class", "@", "async", "else", "elif", "except", "finally", "case", "if", "for", "while", "with"];

/// The most words of a line that are compared, and below it the fewest letters of a word that may have grown.
const MAX_WORDS: usize = 100;
const LEAST_GROWN: usize = 3;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let Some(before) = texts.before.filter(|_| texts.kind == TextKind::Code) else { return Vec::new() };
    texts.pieces.iter().filter_map(|piece| left_block(texts, before, piece)).take(MAX_FINDINGS).collect()
}

fn left_block(texts: &TextPair<'_>, before: Lines<'_>, piece: &ReplacedLines) -> Option<DamageFinding> {
    let after = texts.after;
    let is_text = |lines: Lines<'_>, line: usize| !lines.text(line).trim().is_empty();
    let old = piece.old_lines().find(|line| is_text(before, *line))?;
    let new = piece.new_lines().find(|line| is_text(after, *line))?;
    let [was, is] = [before.text(old), after.text(new)];
    let [deep, flat] = [was, is].map(indent);
    let is_flatter = deep.starts_with(flat) && deep.len() > flat.len();
    if !is_flatter
        || was.trim() == is.trim()
        || !is_alike(was, is)
        || texts.part_of_line(new) != LexicalPart::Code
    {
        return None;
    }
    let above = (1..piece.new.0).rev().find(|line| is_text(after, *line))?;
    let below = (piece.new.1 + 1..=after.count()).find(|line| is_text(after, *line));
    let stays_in_block = |line: usize| indent(after.text(line)) == deep;
    let leaves = match texts.language() {
        INDENTED => {
            let begins = HEADS.iter().any(|head| first_word(is) == *head) || is.trim_start().starts_with('@');
            // If the last line above is nested deeper, its inner block ends there.
            let in_block = stays_in_block(above)
                || (indent(after.text(above)).len() > deep.len() && has_sibling(after, above, deep));
            let ends_with = first_word(is) == "return" && ends_a_with(after, above, flat);
            !begins && in_block && is_statement_end(after.text(above)) && !ends_with
        }
        language if BRACKETED.contains(&language) => {
            let is_label = is.trim_end().ends_with(':') || is.trim_start().starts_with(['#', '}', ')', ']']);
            let is_label = is_label || matches!(language, "c" | "cpp") && begins_with_label(is);
            // The calls of a chain may have any indentation.
            let is_chain = is.trim_start().starts_with(['.', '?']);
            !is_label && !is_chain && stays_in_block(above) && below.is_some_and(stays_in_block)
        }
        _ => false,
    };
    let message = format!(
        "`{}` is indented by {}, the line that it replaces by {}, so it leaves its block; indent it like the lines around it",
        excerpt(is, 60),
        flat.chars().count(),
        deep.chars().count(),
    );
    leaves.then(|| texts.finding_at(new, flat.len(), message))
}

/// True if one of the lines above, within the block, has this indentation.
fn has_sibling(lines: Lines<'_>, from: usize, deep: &str) -> bool {
    let texts = (1..=from).rev().map(|line| lines.text(line)).filter(|text| !text.trim().is_empty());
    let mut within = texts.take_while(|text| indent(text).len() >= deep.len());
    within.any(|text| indent(text) == deep)
}

/// True if the block above, whose head has this indentation, belongs to a `with`; a `return` is valid after it as well.
fn ends_a_with(lines: Lines<'_>, from: usize, flat: &str) -> bool {
    let texts = (1..=from).rev().map(|line| lines.text(line)).filter(|text| !text.trim().is_empty());
    let mut heads = texts.skip_while(|text| indent(text).len() > flat.len());
    heads.next().is_some_and(|head| {
        let head = head.strip_prefix(flat).unwrap_or_default();
        first_word(head) == "with" || head.starts_with("async with ")
    })
}

/// True if a line begins with a label, as in `out: f();`.
fn begins_with_label(text: &str) -> bool {
    let text = text.trim_start();
    let word = first_word(text);
    let behind = text.strip_prefix(word).unwrap_or_default();
    !word.is_empty() && behind.starts_with(':') && !behind.starts_with("::")
}

/// True if the statement of a line seems to end on this line.
fn is_statement_end(text: &str) -> bool {
    !text.trim_end().ends_with(['(', '[', '{', ',', '\\', ':', '+', '='])
}

/// True if two lines are versions of one statement: half of the words of the shorter line are in the other line, where a
/// word may have grown.
fn is_alike(was: &str, is: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words.take(MAX_WORDS).map(str::to_owned).collect()
    };
    let (old, new) = (words(was), words(is));
    let grew = |one: &str, other: &str| one.len() >= LEAST_GROWN && other.starts_with(one);
    let is_in_both = |word: &&String| {
        new.contains(*word) || new.iter().any(|other| grew(word, other) || grew(other, word))
    };
    let shared = old.iter().filter(is_in_both).count();
    shared > 0 && shared * 2 >= old.len().min(new.len())
}

fn first_word(text: &str) -> &str {
    text.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}
