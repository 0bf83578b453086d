//! A text as the grammar of its language reads it.
//!
//! Invariant: the text is parsed once, when a rule first asks, and all questions together pass a limited number of nodes.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use crate::draft::Draft;
use lockgate_syntax::{self as grammar, Node, Parsed};
use lockgate_text::WordList;

/// The most nodes of the tree that are passed for all places of a text together.
const MAX_DESCENTS: usize = 2_000_000;

/// The memory limit of the tree, in bytes: the `syntax` gate may parse at the same time. Ordinary code takes 10 to 30 bytes
/// for each byte of the text, and faults take more.
const TREE_MEMORY: usize = 8 << 20;

/// The step limit for the tree that decides if an offset is code.
const STEPS: usize = 200_000;

/// The parts of a text, as its grammar tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreePart {
    Code,
    Comment,
    /// A literal, with the offset at which it begins.
    Literal(usize),
    /// Text that needs no quotes, such as that between two tags.
    Text,
}

/// The kinds of nodes that are literals, in all grammars.
static LITERALS: WordList = WordList::new(
    "
    ansi_c_string block_scalar char_literal character_literal double_quote_scalar heredoc_body
    interpreted_string_literal raw_string raw_string_literal regex regex_pattern rune_literal
    single_quote_scalar string string_content string_fragment string_literal string_value
    system_lib_string template_string text_block translated_string
    ",
);
/// The kinds of nodes with code inside of a literal.
const INTERPOLATIONS: [&str; 4] =
    ["interpolation", "template_substitution", "command_substitution", "expansion"];
/// The kinds of nodes that are text without quotes.
const TEXTS: [&str; 5] = ["jsx_text", "text", "raw_text", "plain_scalar", "string_scalar"];

/// The text of a draft after the edit, with its tree.
pub(super) struct ParsedText<'a> {
    draft: &'a Draft<'a>,
    tree: OnceCell<Option<Parsed>>,
    /// The number of nodes of the tree that were passed on the way to a place.
    descents: Cell<usize>,
}

impl<'a> ParsedText<'a> {
    pub(super) fn new(draft: &'a Draft<'a>) -> ParsedText<'a> {
        ParsedText { draft, tree: OnceCell::new(), descents: Cell::new(0) }
    }

    /// True if the language has a grammar, which may not be able to read this text.
    pub(super) fn has_grammar(&self) -> bool {
        grammar::find(self.draft.language_name()).is_some()
    }

    /// Returns the part of the text at an offset by the grammar; `None` without one, and if the text is too large or the tree
    /// too deep.
    pub(super) fn part(&self, offset: usize) -> Option<TreePart> {
        let root = self.tree()?.root_node();
        if !self.counts_descents(1) {
            return None;
        }
        let inner = root.descendant_for_byte_range(offset, offset)?;
        let mut found = TreePart::Code;
        for node in path_to(root, inner) {
            self.counts_descents(1);
            let kind = node.kind();
            if kind.contains("comment") {
                found = TreePart::Comment;
            } else if INTERPOLATIONS.contains(&kind) {
                found = TreePart::Code;
            } else if LITERALS.has(kind) && !matches!(found, TreePart::Literal(_)) {
                found = TreePart::Literal(node.start_byte());
            } else if TEXTS.contains(&kind) {
                found = TreePart::Text;
            }
        }
        Some(found)
    }

    /// True if the grammar finds no fault in the top-level node around a range, or in the whole text. False without a tree, and
    /// for the text between such nodes.
    pub(super) fn is_valid_at(&self, span: Range<usize>) -> bool {
        let Some(root) = self.tree().map(|tree| tree.root_node()) else { return false };
        if !root.has_error() {
            return true;
        }
        // How deep the tree is here is not seen; a deep tree needs a long text.
        if !self.counts_descents(1 + self.draft.after.view().len() / 100) {
            return false;
        }
        let inner = root.descendant_for_byte_range(span.start, span.end).filter(|inner| *inner != root);
        let top = inner.and_then(|inner| root.child_with_descendant(inner));
        top.is_some_and(|top| !top.has_error() && !top.is_error())
    }

    /// Returns the tree of the text after the edit; `None` if its language has no grammar, or the text cannot be parsed
    /// within [`TREE_MEMORY`].
    pub(super) fn tree(&self) -> Option<&Parsed> {
        let text = self.draft.after.view();
        let language = self.draft.language_name();
        let read = || grammar::read_within(TREE_MEMORY, language, self.draft.path, text, STEPS).ok();
        self.tree.get_or_init(read).as_ref()
    }

    /// Counts nodes that are passed on the way to a place in the tree, which may be as deep as the text is long; false if
    /// they are too many, so that no further place is to be looked for.
    pub(super) fn counts_descents(&self, nodes: usize) -> bool {
        let count = self.descents.get();
        self.descents.set(count + nodes);
        count < MAX_DESCENTS
    }
}

/// Returns the nodes around one of a tree, from the root to the node itself. To find a parent instead, tree-sitter would
/// start at the root for each node.
pub(super) fn path_to<'t>(root: Node<'t>, inner: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    std::iter::successors(Some(root), move |node| {
        node.child_with_descendant(inner).filter(|child| child != node)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::with_draft;
    use super::ParsedText;

    #[test]
    fn a_tree_that_takes_too_much_memory_is_not_kept() {
        let functions = |count: usize| {
            (0..count)
                .rev()
                .map(|n| format!("    return a + b * {n}\ndef name_{n}(a, b):\n"))
                .collect::<String>()
        };
        for (count, is_kept) in [(500, true), (20_000, false)] {
            with_draft("a.py", None, &functions(count), |draft| {
                assert_eq!(ParsedText::new(draft).tree().is_some(), is_kept, "{count}");
            });
        }
    }
}
