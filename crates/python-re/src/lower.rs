//! Selects the patterns that need no backtracking, and translates them for the linear engine.
//!
//! A pattern is accepted if its matches depend only on the order of its alternatives. It has no look-around, no
//! references, no possessive parts, no repetition of an expression that can be empty, and no `\b`. An empty match
//! must always be its last choice; otherwise the rule for a match next to an empty one would need a second search.
//!
//! Invariant: a translated pattern finds the same spans as the backtracking engine.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition};

use super::ast::{ENDLESS, Greediness, Node, Sequence};
use super::charset::CharSet;
use super::flags::Flags;
use super::fold::unit;
use super::parse::ParsedPattern;
use super::program::Anchor;

/// Represents a newline that ends the text, so that `$` can distinguish it from others. No UTF-8 text contains this
/// byte.
pub(super) const LAST_NEWLINE: u8 = 0xFF;
/// The maximum number of ranges in all sets of a pattern together.
const MAX_RANGES: usize = 60_000;

/// The meaning of `$` and `^` for the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineMode {
    /// Every newline ends a line.
    Newlines,
    /// Only the newline that ends the text ends a line.
    LastOnly,
}

/// A pattern for the engine without backtracking.
pub(super) struct Lowered {
    pub(super) hir: Hir,
    pub(super) lines: LineMode,
}

/// A translated piece, and its ability to match nothing.
struct LoweredPiece {
    hir: Hir,
    empty: Empty,
}

/// The ability of a piece to match nothing; a sequence has the least ability of its pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Empty {
    Never,
    /// Before a choice that is not empty.
    Earlier,
    /// Only as the last choice.
    Last,
}

/// Translates a pattern that needs no backtracking.
pub(super) fn lower(parsed: &ParsedPattern) -> Option<Lowered> {
    let mut anchors = Vec::new();
    collect_anchors(&parsed.sequence, parsed.flags, &mut anchors);
    let at_newlines = anchors.iter().any(|anchor| matches!(anchor, Anchor::LineStart | Anchor::LineEnd));
    let lines = match (anchors.contains(&Anchor::LastLineEnd), at_newlines) {
        // No mode is right for both.
        (true, true) => return None,
        (true, false) => LineMode::LastOnly,
        (false, _) => LineMode::Newlines,
    };
    let mut lowering = Lowering { lines, ranges: MAX_RANGES };
    let piece = lowering.sequence(&parsed.sequence, parsed.flags)?;
    if piece.empty == Empty::Earlier {
        return None;
    }
    Some(Lowered { hir: piece.hir, lines: lowering.lines })
}

/// Collects the anchors of a sequence that [`Lowering`] can translate.
fn collect_anchors(sequence: &[Node], flags: Flags, anchors: &mut Vec<Anchor>) {
    for node in sequence {
        match node {
            Node::At(at) => anchors.push(Anchor::from_position(*at, flags)),
            Node::Group { add, remove, body, .. } => {
                collect_anchors(body, flags.scoped(*add, *remove), anchors);
            }
            Node::Repeat { body, .. } => collect_anchors(body, flags, anchors),
            Node::Branch(alternatives) => {
                alternatives.iter().for_each(|sequence| collect_anchors(sequence, flags, anchors))
            }
            Node::Literal(_) | Node::NotLiteral(_) | Node::Any | Node::In(_) => {}
            Node::Atomic(_) | Node::Look { .. } | Node::Reference(_) | Node::Condition { .. } => {}
        }
    }
}

struct Lowering {
    lines: LineMode,
    ranges: usize,
}

impl Lowering {
    fn sequence(&mut self, sequence: &[Node], flags: Flags) -> Option<LoweredPiece> {
        let mut hirs = Vec::with_capacity(sequence.len());
        let mut empty = Empty::Last;
        for node in sequence {
            let piece = self.node(node, flags)?;
            empty = empty.min(piece.empty);
            hirs.push(piece.hir);
        }
        Some(LoweredPiece { hir: Hir::concat(hirs), empty })
    }

    fn node(&mut self, node: &Node, flags: Flags) -> Option<LoweredPiece> {
        if let Some(unit) = unit(node, flags) {
            let hir = self.class(&unit.to_set())?;
            return Some(LoweredPiece { hir, empty: Empty::Never });
        }
        match node {
            Node::At(at) => Some(LoweredPiece {
                hir: Hir::look(self.look(Anchor::from_position(*at, flags))?),
                empty: Empty::Last,
            }),
            Node::Group { capture: Some(_), body, .. } => self.sequence(body, flags),
            Node::Group { capture: None, add, remove, body } => {
                self.sequence(body, flags.scoped(*add, *remove))
            }
            Node::Branch(alternatives) => self.branch(alternatives, flags),
            Node::Repeat { greediness, min, max, body } => {
                self.repeat(*greediness, (*min, *max), body, flags)
            }
            Node::Literal(_) | Node::NotLiteral(_) | Node::Any | Node::In(_) => None,
            Node::Atomic(_) | Node::Look { .. } | Node::Reference(_) | Node::Condition { .. } => None,
        }
    }

    fn look(&self, anchor: Anchor) -> Option<Look> {
        match anchor {
            Anchor::TextStart => Some(Look::Start),
            Anchor::TextEnd => Some(Look::End),
            Anchor::LineStart => Some(Look::StartLF),
            Anchor::LineEnd | Anchor::LastLineEnd => Some(Look::EndLF),
            Anchor::Boundary(..) => None,
        }
    }

    fn class(&mut self, set: &CharSet) -> Option<Hir> {
        self.ranges = self.ranges.checked_sub(set.ranges().len())?;
        let ranges = set.ranges().iter().flat_map(|(from, to)| scalars(*from, *to));
        let class = Hir::class(Class::Unicode(ClassUnicode::new(ranges)));
        if self.lines == LineMode::LastOnly && set.contains(10) {
            return Some(Hir::alternation(vec![class, Hir::literal([LAST_NEWLINE])]));
        }
        Some(class)
    }

    fn branch(&mut self, alternatives: &[Sequence], flags: Flags) -> Option<LoweredPiece> {
        let mut hirs = Vec::with_capacity(alternatives.len());
        let mut empty = Empty::Never;
        for sequence in alternatives {
            let piece = self.sequence(sequence, flags)?;
            empty = if empty == Empty::Never { piece.empty } else { Empty::Earlier };
            hirs.push(piece.hir);
        }
        Some(LoweredPiece { hir: Hir::alternation(hirs), empty })
    }

    fn repeat(
        &mut self,
        greediness: Greediness,
        (min, max): (u32, u32),
        body: &[Node],
        flags: Flags,
    ) -> Option<LoweredPiece> {
        let piece = self.sequence(body, flags)?;
        if piece.empty != Empty::Never || max == 0 {
            return None;
        }
        let (greedy, empty) = match greediness {
            Greediness::Greedy => (true, if min == 0 { Empty::Last } else { Empty::Never }),
            Greediness::Lazy => (false, if min == 0 { Empty::Earlier } else { Empty::Never }),
            Greediness::Possessive => return None,
        };
        let max = (max != ENDLESS).then_some(max);
        let hir = Hir::repetition(Repetition { min, max, greedy, sub: Box::new(piece.hir) });
        Some(LoweredPiece { hir, empty })
    }
}

/// Returns a range without the surrogates, which no text contains.
fn scalars(from: u32, to: u32) -> impl Iterator<Item = ClassUnicodeRange> {
    let low = char::from_u32(from).zip(char::from_u32(to.min(0xD7FF)));
    let high = char::from_u32(from.max(0xE000)).zip(char::from_u32(to));
    let low = low.filter(|(from, to)| from <= to);
    let high = high.filter(|(from, to)| from <= to && u32::from(*to) > 0xD7FF);
    low.into_iter().chain(high).map(|(from, to)| ClassUnicodeRange::new(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{CarriageReturnMode, parse};

    fn is_linear(pattern: &str) -> bool {
        lower(&parse(pattern, Flags::default(), CarriageReturnMode::Kept).unwrap()).is_some()
    }

    #[test]
    fn plain_patterns_need_no_backtracking() {
        for pattern in [
            "(a+)+$",
            "(a|aa)+$",
            "a*b",
            r".*[^A-Z]|[A-Z]",
            r"(?i)\w+\s*=",
            "(?m)^foo.*$",
            "x?",
            "(a*?)b",
            "(?:|a)b",
        ] {
            assert!(is_linear(pattern), "{pattern}");
        }
    }

    #[test]
    fn patterns_that_could_differ_are_left_to_the_other_engine() {
        for pattern in
            [r"\bfoo", "(a*)*", "a*?", "|a", r"(a)\1", "(?=a)", "a++", "(?>a)", "(?m:$)$", "(|a)b?", "a??"]
        {
            assert!(!is_linear(pattern), "{pattern}");
        }
    }

    #[test]
    fn surrogates_fall_out_of_ranges() {
        let spans = |from, to| scalars(from, to).map(|r| (r.start(), r.end())).collect::<Vec<_>>();
        assert_eq!(spans(0x41, 0x10_FFFF), [('A', '\u{D7FF}'), ('\u{E000}', '\u{10FFFF}')]);
        assert_eq!(spans(0xD800, 0xDFFF), []);
        assert_eq!(spans(0xD900, 0xE001), [('\u{E000}', '\u{E001}')]);
        assert_eq!(spans(0x61, 0x61), [('a', 'a')]);
        assert_eq!(spans(0xF000, 0xF001), [('\u{F000}', '\u{F001}')]);
    }
}
