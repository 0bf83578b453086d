//! Finds a line that was replaced by one with less indentation, so that it leaves its block.
//!
//! An edit that changes only the indentation is intended. In Python the lines above must stay in the block, so that the new
//! text still parses and only its meaning changes. In languages with brackets, where indentation is a matter of style, the
//! lines on both sides must have the indentation of the replaced line.
//!
//! In Python it also finds a function that is indented like the class above it, where methods of that class follow: they
//! are now local functions.

use std::collections::{BTreeMap, HashMap, HashSet};

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
    let left = texts.pieces.iter().filter_map(|piece| left_block(texts, before, piece));
    left.chain(taken_methods(texts, before)).take(MAX_FINDINGS).collect()
}

/// Returns a finding for each new function of Python that ends a class, so that methods below become local to it.
fn taken_methods(texts: &TextPair<'_>, before: Lines<'_>) -> Vec<DamageFinding> {
    let after = texts.after;
    let is_written = texts.written().any(|(line, _)| is_function(after.text(line)));
    if texts.language() != INDENTED || !is_written {
        return Vec::new();
    }
    let [old, new] = [before, after].map(enclosing_lines);
    let is_code = |line: usize| texts.part_of_line(line) == LexicalPart::Code;
    let takes = |method: usize| {
        let class = *old.get(&method)?;
        let [class, method] = [class, method].map(|line| texts.draft.map.new_line_of(line));
        let (class, method) = (class?, method?);
        let function = *new.get(&method)?;
        let is_outside = indent(after.text(function)).len() <= indent(after.text(class)).len();
        let is_taken = first_word(after.text(class)) == "class"
            && function > class
            && is_outside
            && is_function(after.text(function))
            && texts.draft.wrote(function)
            && [class, function, method].into_iter().all(is_code);
        is_taken.then_some((function, method))
    };
    let mut methods: BTreeMap<usize, usize> = BTreeMap::new();
    for (function, method) in old.keys().filter_map(|method| takes(*method)) {
        methods.entry(function).and_modify(|first| *first = method.min(*first)).or_insert(method);
    }
    let finding = |(function, method): (usize, usize)| {
        let text = after.text(function);
        let message = format!(
            "`{}` ends the class above it, so the method on line {method} is now a function inside it; indent it like that method",
            excerpt(text, 60),
        );
        texts.finding_at(function, indent(text).len(), message)
    };
    methods.into_iter().map(finding).collect()
}

/// Returns for the first line of each function of Python the nearest line above that is indented less.
fn enclosing_lines(lines: Lines<'_>) -> HashMap<usize, usize> {
    let mut enclosing = HashMap::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (line, text) in (1..).zip(lines.iter()) {
        let body = text.trim_start();
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        let depth = text.len() - body.len();
        while open.pop_if(|(_, around)| *around >= depth).is_some() {}
        if let Some((around, _)) = open.last().filter(|_| is_function(text)) {
            enclosing.insert(line, *around);
        }
        open.push((line, depth));
    }
    enclosing
}

/// True if a function of Python begins at a line.
fn is_function(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("def ") || text.starts_with("async def ")
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
pub(super) fn is_alike(was: &str, is: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use crate::damage::tests::findings;
    use lockgate_policy::Accident;

    fn found(before: &str, after: &str) -> Vec<usize> {
        let findings = findings(Accident::LostIndentation, "a.py", Some(before), after);
        findings.iter().filter(|finding| finding.message.contains("ends the class")).map(|f| f.line).collect()
    }

    const CLASS: &str =
        "class A:\n    def a(self):\n        return 1\n\n    @b\n    async def b(self):\n        return 2\n";

    #[test]
    fn a_function_that_ends_a_class_above_its_methods_is_found() {
        for (after, line) in [
            (CLASS.replace("    @b", "def k(self):\n    return 9\n\n    @b"), 5),
            (CLASS.replace("    @b", "async def k(self):\n    return 9\n\n    @b"), 5),
            (CLASS.replace("    def a(self)", "def a(self, c)"), 2),
            (CLASS.replace("class A:\n", "class A:\n    x = 1\ndef k(self):\n"), 3),
        ] {
            assert_eq!(found(CLASS, &after), [line], "{after}");
        }
        let nested = "class C:\n    class A:\n        x = 1\n\n        def a(self):\n            return 1\n";
        let after = nested.replace("x = 1\n", "x = 1\n\n    def k(self):\n        return 9\n");
        assert_eq!(found(nested, &after), [5]);
    }

    #[test]
    fn other_functions_are_not() {
        for after in [
            // A method, and a function behind the class or above it.
            CLASS.replace("    @b", "    def k(self):\n        return 9\n\n    @b"),
            CLASS.to_owned() + "\n\ndef k():\n    def a():\n        return 1\n    return a\n",
            format!("def k():\n    return 1\n\n\n{CLASS}"),
            // A class that becomes a function, and one whose later methods are now functions.
            CLASS.replace("class A:", "def a_factory():"),
            CLASS.replace(
                "    @b\n    async def b(self):\n        return",
                "\n@b\nasync def b(a):\n    return",
            ),
            // A text that looks like a function.
            CLASS.replace("    @b", "    T = \"\"\"\ndef k():\n\"\"\"\n\n    @b"),
        ] {
            assert!(found(CLASS, &after).is_empty(), "{after}");
        }
    }
}
