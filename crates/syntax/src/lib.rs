//! The tree-sitter grammars, and the guards that make them safe for arbitrary texts.
//!
//! A grammar's indentation scanner can abort the process (`columns`). A step can take longer the
//! deeper a text nests (`weight`). A tree can take a hundred times the memory of its text, and a text
//! full of errors takes memory at its end by the square of their number (`memory`), and much stack
//! ([`on_stack`]). [`parse`] limits the memory of one text, and a [`ParseSlot`] that of several;
//! [`read`] applies all guards. Callers with a clock, or that need the errors, combine the guards
//! themselves, each guard before the operation that it protects.
//!
//! Invariant: no text makes a grammar overflow a stack, abort the process, exceed its memory limit, or
//! continue after its caller stops it.
//!
//! ```
//! let outline = lockgate_syntax::outline("python", "a.py", "class A:\n    def f(self):\n        pass\n").unwrap();
//! assert_eq!(outline.names().collect::<Vec<_>>(), ["A", "A.f"]);
//! ```
#![deny(clippy::disallowed_methods)]

mod columns;
mod css_urls;
mod memory;
mod newer_go;
mod newer_java;
mod outline;
mod parse;
mod query;
mod reader;
mod rewrite;
mod slots;
mod table;
mod tags;
mod walk;
mod weight;

use std::ops::ControlFlow;

pub use self::memory::{MemoryLimit, Shortage, allowed, allowed_beside_symbols};
pub use self::outline::{outline, outline_of_tree};
pub use self::parse::{LargeStack, ParseStop, on_stack, parse, with_large_stack};
pub use self::query::Query;
pub use self::reader::Grammars;
pub use self::slots::{ParseSlot, SMALL};
pub use self::table::{Grammar, find, grammars};
pub use self::tags::{TagRole, uses};
pub use self::walk::{WalkStep, walk};
pub use tree_sitter::{Language, Node, Tree};

use self::parse::parse_within;

/// The reason why a text has no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// The language has no grammar.
    Unknown,
    /// The grammar cannot process a text with indentation like this.
    TooDeep,
    /// The tree would take too much memory.
    TooLarge(Shortage),
    /// The step limit was reached.
    TooLong,
    /// The grammar panicked, or its stack could not be allocated.
    Broken,
}

/// The tree of a text, with the slot that it occupies until it is dropped.
#[derive(Debug)]
pub struct Parsed {
    tree: Tree,
    _slot: ParseSlot,
}

impl std::ops::Deref for Parsed {
    type Target = Tree;

    fn deref(&self) -> &Tree {
        &self.tree
    }
}

/// Parses a text in this language, in the dialect with the fewest errors. A step is a hundred
/// operations of the parser, or as many visited nodes; a slow operation counts as several. If the
/// grammar needs it, the parsed text has an additional line end at its end.
pub fn read(language: &str, path: &str, text: &str, steps: usize) -> Result<Parsed, Unreadable> {
    read_within(allowed(text), language, path, text, steps)
}

/// Parses like [`read`], with this limit of memory in bytes instead of [`allowed`], for a caller who keeps the tree while
/// others parse. A text that needs more is [`Unreadable::TooLarge`].
pub fn read_within(
    memory: usize,
    language: &str,
    path: &str,
    text: &str,
    steps: usize,
) -> Result<Parsed, Unreadable> {
    let slot = ParseSlot::wait(text.len(), || false).ok_or(Unreadable::TooLong)?;
    let tree = with_large_stack(|deep| tree(deep, memory, language, path, text, steps))
        .map_err(|_| Unreadable::Broken)??;
    Ok(Parsed { tree, _slot: slot })
}

/// Parses like [`read_within`], for a caller who parses many texts on one stack. A panic of the grammar
/// reaches the caller.
pub fn read_on(
    deep: &LargeStack,
    memory: usize,
    language: &str,
    path: &str,
    text: &str,
    steps: usize,
) -> Result<Parsed, Unreadable> {
    let slot = ParseSlot::wait(text.len(), || false).ok_or(Unreadable::TooLong)?;
    Ok(Parsed { tree: tree(deep, memory, language, path, text, steps)?, _slot: slot })
}

fn tree(
    _deep: &LargeStack,
    memory: usize,
    language: &str,
    path: &str,
    text: &str,
    mut steps: usize,
) -> Result<Tree, Unreadable> {
    let grammar = find(language).ok_or(Unreadable::Unknown)?;
    if !grammar.holds(text) {
        return Err(Unreadable::TooDeep);
    }
    let text = &*grammar.prepare(text);
    let weight = grammar.weight(text);
    let base_cost = grammar.base_cost(text);
    let mut best: Option<(usize, Tree)> = None;
    for language in grammar.dialects(path) {
        steps = steps.checked_sub(base_cost).ok_or(Unreadable::TooLong)?;
        let tree = counted(&language, memory, text, weight, &mut steps)?;
        let error_count = count_errors(&tree, &mut steps)?;
        if best.as_ref().is_none_or(|(fewest, _)| error_count < *fewest) {
            best = Some((error_count, tree));
        }
    }
    best.map(|(_, tree)| tree).ok_or(Unreadable::Unknown)
}

/// Parses while there are steps left, and subtracts the steps taken.
fn counted(
    language: &Language,
    memory: usize,
    text: &str,
    weight: usize,
    steps: &mut usize,
) -> Result<Tree, Unreadable> {
    parse_within(memory, language, text, &mut || match steps.checked_sub(weight) {
        Some(remaining) => {
            *steps = remaining;
            ControlFlow::Continue(())
        }
        None => ControlFlow::Break(()),
    })
    .map_err(|stop| match stop {
        ParseStop::Cancelled => Unreadable::TooLong,
        ParseStop::Memory(shortage) => Unreadable::TooLarge(shortage),
    })
}

/// Counts the error nodes and the missing tokens.
fn count_errors(tree: &Tree, steps: &mut usize) -> Result<usize, Unreadable> {
    let (mut nodes, mut error_count) = (0_usize, 0);
    walk(tree, |node, _| {
        nodes += 1;
        error_count += usize::from(node.is_error() || node.is_missing());
        if nodes / 100 > *steps {
            WalkStep::Stop
        } else if node.has_error() {
            WalkStep::Enter
        } else {
            WalkStep::Skip
        }
    });
    *steps = steps.checked_sub(nodes / 100).ok_or(Unreadable::TooLong)?;
    Ok(error_count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 1 << 20;

    #[test]
    fn every_language_is_read() {
        for grammar in grammars() {
            for path in ["a", "a.h", "a.tsx"] {
                assert!(read(grammar.language, path, "", MANY).is_ok(), "{} {path}", grammar.language);
            }
        }
        assert_eq!(read("cobol", "a", "", MANY).unwrap_err(), Unreadable::Unknown);
    }

    #[test]
    fn a_header_is_read_in_the_language_that_fits() {
        let class = "class A : public B { int f(); };\n";
        let kinds = |path: &str, text: &str| read("c", path, text, MANY).unwrap().root_node().to_sexp();
        assert!(kinds("a.h", class).contains("class_specifier"));
        assert!(kinds("a.h", "int class;\n").contains("(declaration type"));
        assert!(!kinds("a.c", class).contains("class_specifier"));
    }

    #[test]
    fn what_cannot_be_read_safely_is_not_read() {
        let steps: String = (0..600).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
        assert_eq!(read("yaml", "a", &steps, MANY).unwrap_err(), Unreadable::TooDeep);
        let flood = "let = ;\n".repeat(20_000);
        assert!(matches!(read("javascript", "a", &flood, MANY), Err(Unreadable::TooLarge(_))));
        let long = "a = 1;\n".repeat(20_000);
        assert_eq!(read("javascript", "a", &long, 100).unwrap_err(), Unreadable::TooLong);
        assert!(!read("javascript", "a", &long, MANY).unwrap().root_node().has_error());
    }

    #[test]
    fn comments_that_do_not_end_are_charged_for_the_text_that_they_are_sought_in() {
        let read_html = |text: &str| read("html", "a.html", text, 500_000).map(drop);
        let open = "<!--".repeat(60_000);
        assert_eq!(read_html(&open), Err(Unreadable::TooLong));
        assert_eq!(read_html(&(open + "-->")), Ok(()), "each of them ends there");
    }

    #[test]
    fn the_same_steps_give_the_same_answer() {
        let text = "def f(:\n    x = (]\n".repeat(50);
        let enough = |steps: &usize| read("python", "a.py", &text, *steps).is_ok();
        let least = (0..MANY).find(enough).unwrap();
        assert!(least > 0 && enough(&least) && !enough(&(least - 1)));
    }
}
