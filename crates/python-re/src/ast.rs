//! The syntax tree of a pattern, in the form that Python's own parser builds.
//!
//! Python factors out common prefixes and unpacks groups during parsing, and some of its results depend on that. This
//! module builds the same tree.
//!
//! Invariant: a tree is at most as deep as the parser's limit allows.

use super::flags::Flags;

/// Nodes that match one after the other.
pub(super) type Sequence = Vec<Node>;

/// The maximum of an unlimited repetition.
pub(super) const ENDLESS: u32 = u32::MAX;

/// The width that represents "without limit".
pub(super) const WIDEST: u128 = 1 << 64;

/// A node of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// One character, as a number because a pattern can name a lone surrogate.
    Literal(u32),
    /// Any character except this one.
    NotLiteral(u32),
    /// `.`: any character; without the flag `s`, any except a newline.
    Any,
    /// A character set `[...]`, or a class such as `\d`.
    In(Set),
    /// A zero-width position, such as `^` or `\b`.
    At(At),
    /// `a|b`: the first alternative that matches.
    Branch(Vec<Sequence>),
    /// A group, capturing or not: `(...)`, `(?:...)` and `(?i:...)`.
    Group { capture: Option<usize>, add: Flags, remove: Flags, body: Sequence },
    /// A repetition: `*`, `+`, `?` or `{m,n}`.
    Repeat { greediness: Greediness, min: u32, max: u32, body: Sequence },
    /// `(?>...)`: a group that is never re-entered by backtracking.
    Atomic(Sequence),
    /// Look-around: `(?=...)`, `(?!...)`, `(?<=...)`, `(?<!...)`.
    Look { side: LookDirection, wanted: Polarity, body: Sequence },
    /// `\1` or `(?P=name)`: the text that a group captured.
    Reference(usize),
    /// `(?(1)yes|no)`: a branch that depends on whether a group has matched.
    Condition { group: usize, yes: Sequence, no: Option<Sequence> },
}

/// A character set as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) negated: bool,
    pub(super) items: Vec<Item>,
}

/// A member of a set as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Literal(u32),
    Range(u32, u32),
    Category(Category, Polarity),
}

/// The character classes that are written as a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Category {
    Digit,
    Space,
    /// `\w`: letters, digits and `_`.
    WordChar,
}

/// The sign of a class or look-around: positive or negated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Polarity {
    Yes,
    No,
}

/// The direction of a look-around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LookDirection {
    Ahead,
    Behind,
}

/// A zero-width position in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// `^`: the start of the text; with the flag `m`, of each line.
    Beginning,
    /// `\A`: the start of the text, whatever the flags.
    TextStart,
    /// `$`: the end of the text, or before its last newline; with the flag `m`, the end of each line.
    End,
    /// `\Z`: the end of the text, whatever the flags.
    TextEnd,
    /// A word boundary `\b`, or its opposite `\B`.
    Boundary(Polarity),
}

/// The order in which a repetition tries its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Greediness {
    Greedy,
    Lazy,
    Possessive,
}

/// The minimum and maximum number of characters that a node can match.
pub(super) type Width = (u128, u128);

/// Returns the width of a sequence as Python computes it, from the widths of the groups closed so far.
pub(super) fn width(sequence: &[Node], groups: &[Option<Width>]) -> Width {
    let mut total = (0, 0);
    for node in sequence {
        let (least, most) = node_width(node, groups);
        total = (total.0 + least, if most == WIDEST { WIDEST } else { total.1 + most });
    }
    (total.0.min(WIDEST), total.1.min(WIDEST))
}

fn node_width(node: &Node, groups: &[Option<Width>]) -> Width {
    match node {
        Node::Literal(_) | Node::NotLiteral(_) | Node::Any | Node::In(_) => (1, 1),
        Node::At(_) | Node::Look { .. } => (0, 0),
        Node::Atomic(body) | Node::Group { body, .. } => width(body, groups),
        Node::Reference(group) => groups.get(*group).copied().flatten().unwrap_or((0, WIDEST)),
        Node::Branch(alternatives) => {
            alternatives.iter().map(|sequence| width(sequence, groups)).reduce(wider).unwrap_or((0, 0))
        }
        Node::Condition { yes, no: Some(no), .. } => wider(width(yes, groups), width(no, groups)),
        Node::Condition { yes, no: None, .. } => (0, width(yes, groups).1),
        Node::Repeat { min, max, body, .. } => {
            let (least, most) = width(body, groups);
            let endless = *max == ENDLESS && most > 0;
            (least * u128::from(*min), if endless { WIDEST } else { (most * u128::from(*max)).min(WIDEST) })
        }
    }
}

fn wider(one: Width, other: Width) -> Width {
    (one.0.min(other.0), one.1.max(other.1))
}
