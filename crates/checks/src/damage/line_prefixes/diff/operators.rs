//! Distinguishes lines that begin with an operator from lines with a diff mark.
//!
//! A diff has its marks in column 1, before the indentation or before lines of the old text. An operator joins its line to
//! the one above; the grammar shows this, if the language has one.

use crate::damage::parsed_text::path_to;
use crate::damage::patches::marked;
use crate::damage::text_pair::TextPair;
use crate::pieces::ReplacedLines;
use lockgate_text::WordList;

/// Words that begin a clause or a statement of SQL, and so never an operand.
const SQL_HEADS: [&str; 32] = [
    "select", "insert", "update", "delete", "create", "alter", "drop", "from", "where", "join", "left",
    "right", "inner", "outer", "full", "cross", "group", "order", "having", "and", "or", "set", "values",
    "union", "with", "begin", "commit", "grant", "limit", "on", "when", "end",
];
/// Words that may follow an operand in SQL.
const SQL_TAILS: [&str; 20] = [
    "as", "from", "then", "else", "end", "and", "or", "where", "collate", "is", "in", "not", "between",
    "like", "over", "asc", "desc", "group", "order", "having",
];
/// The nodes with a value of a list, in all grammars. Those with braces are told apart from blocks by nothing else.
static LISTS: WordList = WordList::new(
    "
    array array_expression array_initializer element_value_array_initializer initializer_list list
    literal_element pair set tuple
    ",
);

#[cfg(test)]
thread_local! {
    /// Set by a test that disables this module.
    pub(super) static IS_OFF: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// True if every marked line of a run begins with an operator, and none was in the replaced lines without it.
pub(super) fn are_operators(texts: &TextPair<'_>, piece: &ReplacedLines, run: &[usize]) -> bool {
    #[cfg(test)]
    if IS_OFF.get() {
        return false;
    }
    run.iter().all(|line| {
        marked(texts.after.text(*line)).is_some_and(|(_, rest)| {
            let is_indented = rest.starts_with("  ") || rest.starts_with('\t');
            !is_indented && !texts.replaced(piece, rest) && is_operator(texts, *line, rest)
        })
    })
}

fn is_operator(texts: &TextPair<'_>, line: usize, rest: &str) -> bool {
    let Some(above) = above(texts, line) else { return false };
    let is_spaced = rest.starts_with(' ');
    match texts.language() {
        "sql" => is_spaced && is_sql_operand(above, rest),
        // The grammar does not parse the body of a macro.
        "c" | "cpp" if above.ends_with('\\') => is_spaced,
        // Without semicolons the grammar also joins a new statement to the line above, but it has no space after the mark.
        "javascript" | "typescript" => {
            (is_spaced || is_number(rest) || rest.trim_end().ends_with(';'))
                && joins_in_tree(texts, line, above)
        }
        _ => joins_in_tree(texts, line, above),
    }
}

fn is_number(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the text of the nearest line above that is not blank.
fn above<'a>(texts: &TextPair<'a>, line: usize) -> Option<&'a str> {
    let after = texts.after;
    (1..line).rev().map(|line| after.text(line).trim_end()).find(|text| !text.trim().is_empty())
}

/// True if the mark of a line is an operator in the tree, and its left operand ends on an earlier line, or if it is the sign of
/// a value.
fn joins_in_tree(texts: &TextPair<'_>, line: usize, above: &str) -> bool {
    // What the grammar cannot read may be an operator.
    let Some(tree) = texts.parsed.tree() else { return texts.parsed.has_grammar() };
    if !texts.parsed.counts_descents(1) {
        return texts.is_sound(line);
    }
    let start = texts.after.span(line).start;
    let root = tree.root_node();
    let Some(operator) = root.descendant_for_byte_range(start, start + 1) else { return false };
    let (mut outer, mut node) = (root, root);
    for next in path_to(root, operator).skip(1).take_while(|next| *next != operator) {
        (outer, node) = (node, next);
        texts.parsed.counts_descents(1);
        if node.is_error() {
            return false;
        }
    }
    if root.is_error() || node.has_error() {
        return false;
    }
    // In data, the sign is a part of the number.
    if matches!(operator.kind(), "number" | "integer" | "float") {
        return operator.start_byte() == start;
    }
    let (value, around) = match operator.kind() {
        "+" | "-" => (node, outer),
        // In C, the sign of a number is a part of it, too.
        "number_literal" => (operator, node),
        _ => return false,
    };
    if value.kind().starts_with("binary_") {
        return value.start_byte() < start;
    }
    // A sign follows an operator. A `-`, and that of a number, may also follow an opening bracket, a comma or `=`, or begin a
    // value of a list.
    let is_sign = value.start_byte() == start && (value == operator || value.kind().starts_with("unary_"));
    let is_right = around.kind().starts_with("binary_") && around.child_by_field_name("right") == Some(value);
    let is_value = operator.kind() != "+" || texts.after.text(line).get(1..).is_some_and(is_number);
    let has_place = above.ends_with(['(', '[', ',', '=']) || LISTS.has(around.kind());
    is_sign && (is_right || is_value && has_place)
}

/// True if the words of a line show that it continues the expression of the line above.
fn is_sql_operand(above: &str, rest: &str) -> bool {
    let rest = rest.trim().to_lowercase();
    let mut words = rest.split_whitespace();
    let Some(first) = words.next() else { return false };
    let is_word = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let goes_on = words.next().is_none_or(|next| !is_word(next) || SQL_TAILS.contains(&next));
    let is_open = !above.ends_with([';', ',']) && !above.trim_start().starts_with("--");
    is_open && !SQL_HEADS.contains(&first) && (goes_on || first == "case" || first.contains(['(', '\'', '"']))
}
