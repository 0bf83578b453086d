//! How a language reads: the grammars for tree-sitter, and the guards under which they may run.
//!
//! A grammar's own reader of indentation can end the process ([`columns`]), a step can take longer the deeper a text
//! nests ([`weight`]), and the end of a text full of faults takes tree-sitter time and memory by the square of their number
//! ([`flood`]) and much stack ([`on_stack`]). [`read`] has all guards; who needs a clock or the faults themselves puts
//! the pieces together, each guard before what it guards.
//!
//! Invariant: no text makes a grammar overflow a stack, end the process, or run on after it was told to stop.
#![deny(clippy::disallowed_methods)]

mod columns;
mod flood;
mod parse;
mod query;
mod table;
mod tags;
mod walk;
mod weight;

use std::ops::ControlFlow;

pub use self::flood::Flood;
pub use self::parse::{Deep, deep, on_stack, parse};
pub use self::query::Query;
pub use self::table::{Grammar, of};
pub use self::tags::{Use, uses};
pub use self::walk::{Next, walk};
pub use tree_sitter::{Language, Node, Tree};

/// Why there is no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// The language has no grammar.
    Unknown,
    /// The grammar cannot hold texts that are indented like this one.
    TooDeep,
    /// The text has so many faults that it must not be read as a whole.
    Flooded,
    /// The steps do not suffice.
    TooLong,
    /// The grammar panicked, or there was no stack for it.
    Broken,
}

/// Reads a text in the language of that name, in the dialect that finds the fewest faults in it. A step is a hundred
/// operations of the parser, or as many nodes that are looked at; an operation that takes long counts as several. Where the grammar wants it, the tree is that of the
/// text with a last line end more.
pub fn read(language: &str, path: &str, text: &str, steps: usize) -> Result<Tree, Unreadable> {
    deep(|deep| read_on(deep, language, path, text, steps)).map_err(|_| Unreadable::Broken)?
}

/// The same for a caller who reads many texts on one stack; a grammar that panics is the caller's.
pub fn read_on(
    _deep: &Deep,
    language: &str,
    path: &str,
    text: &str,
    steps: usize,
) -> Result<Tree, Unreadable> {
    let grammar = of(language).ok_or(Unreadable::Unknown)?;
    match grammar.holds(text) {
        true => best(grammar, path, text, steps),
        false => Err(Unreadable::TooDeep),
    }
}

fn best(grammar: &Grammar, path: &str, text: &str, mut steps: usize) -> Result<Tree, Unreadable> {
    let text = &*grammar.ended(text);
    let weight = grammar.weight(text);
    let mut best: Option<(usize, Tree)> = None;
    for language in grammar.dialects(path) {
        let mut flood = Flood::default();
        for piece in grammar.pieces(text) {
            let piece = text.get(piece).unwrap_or_default();
            let faults = faults(&counted(&language, piece, weight, &mut steps)?, &mut steps)?;
            if flood.rises(faults) {
                return Err(Unreadable::Flooded);
            }
        }
        let tree = counted(&language, text, weight, &mut steps)?;
        let faults = faults(&tree, &mut steps)?;
        if best.as_ref().is_none_or(|(fewest, _)| faults < *fewest) {
            best = Some((faults, tree));
        }
    }
    best.map(|(_, tree)| tree).ok_or(Unreadable::Unknown)
}

/// Parses as long as there are steps, and takes them off.
fn counted(language: &Language, text: &str, weight: usize, steps: &mut usize) -> Result<Tree, Unreadable> {
    parse(language, text, &mut || match steps.checked_sub(weight) {
        Some(left) => {
            *steps = left;
            ControlFlow::Continue(())
        }
        None => ControlFlow::Break(()),
    })
    .ok_or(Unreadable::TooLong)
}

/// Counts the places that could not be read, and the tokens that were missed.
fn faults(tree: &Tree, steps: &mut usize) -> Result<usize, Unreadable> {
    let (mut nodes, mut faults) = (0_usize, 0);
    walk(tree, |node, _| {
        nodes += 1;
        faults += usize::from(node.is_error() || node.is_missing());
        if nodes / 100 > *steps {
            Next::End
        } else if node.has_error() {
            Next::Inside
        } else {
            Next::Past
        }
    });
    *steps = steps.checked_sub(nodes / 100).ok_or(Unreadable::TooLong)?;
    Ok(faults)
}

#[cfg(test)]
pub use self::table::ALL;
#[cfg(test)]
pub use self::tags::own_tags;

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 1 << 20;

    #[test]
    fn every_language_is_read() {
        for grammar in &ALL {
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
        assert_eq!(read("javascript", "a", &flood, MANY).unwrap_err(), Unreadable::Flooded);
        let long = "a = 1;\n".repeat(20_000);
        assert_eq!(read("javascript", "a", &long, 100).unwrap_err(), Unreadable::TooLong);
        assert!(!read("javascript", "a", &long, MANY).unwrap().root_node().has_error());
    }

    #[test]
    fn the_same_steps_give_the_same_answer() {
        let text = "def f(:\n    x = (]\n".repeat(50);
        let enough = |steps: &usize| read("python", "a.py", &text, *steps).is_ok();
        let least = (0..MANY).find(enough).unwrap();
        assert!(least > 0 && enough(&least) && !enough(&(least - 1)));
    }
}
