//! The grammars as a reader of texts.

use std::ops::Range;

use super::{Parsed, WalkStep, outline, read, walk};
use lockgate_text::{CodeTree, OpaquePart, Outline, ParentNode, Syntax};

/// The step limit of parsing, as for outlines.
const STEPS: usize = 500_000;

/// Reads texts with the grammars of this crate.
#[derive(Debug, Clone, Copy)]
pub struct Grammars;

impl Syntax for Grammars {
    fn outline(&self, language: &str, path: &str, view: &str) -> Option<Outline> {
        outline(language, path, view)
    }

    fn code_tree(&self, language: &str, path: &str, view: &str) -> Option<Box<dyn CodeTree>> {
        Some(Box::new(read(language, path, view, STEPS).ok()?))
    }
}

impl CodeTree for Parsed {
    fn opaque_parts(&self, view: &str) -> Vec<OpaquePart> {
        let mut found: Vec<OpaquePart> = Vec::new();
        walk(self, |node, _| {
            if !is_opaque(node.kind()) {
                return WalkStep::Enter;
            }
            let range = node.byte_range();
            let text = view.get(range.clone()).unwrap_or_default();
            let start = range.start + text.len() - text.trim_start().len();
            let span = start..range.start + text.trim_end().len();
            if !span.is_empty() && found.last().is_none_or(|last| last.span.end <= span.start) {
                found.push(OpaquePart { span, is_comment: node.kind().contains("comment") });
            }
            WalkStep::Skip
        });
        found
    }

    fn parent(&self, span: Range<usize>) -> Option<ParentNode<'_>> {
        let node = self.root_node().descendant_for_byte_range(span.start, span.end)?.parent()?;
        Some(ParentNode { kind: node.kind(), child_count: node.named_child_count() })
    }
}

/// Returns true for the kinds of nodes whose blanks have a meaning.
fn is_opaque(kind: &str) -> bool {
    const PARTS: [&str; 6] = ["string", "comment", "char_literal", "character_literal", "rune", "regex"];
    const KINDS: [&str; 6] = [
        "jsx_text",
        "preproc_include",
        "preproc_def",
        "preproc_function_def",
        "preproc_call",
        "preproc_directive",
    ];
    // It is several strings, each of which is opaque.
    kind != "concatenated_string" && (KINDS.contains(&kind) || PARTS.iter().any(|part| kind.contains(part)))
}
