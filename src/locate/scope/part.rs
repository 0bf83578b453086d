//! What each kind of node of a grammar is to an outline.

use super::kind::Kind;
use super::minor::Names;
use super::name::Name;
use super::table::Row;
use crate::grammar::Tree;

/// What a kind of node is to us.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    pub(super) role: Role,
    /// The symbols that it declares and that hold none.
    pub(super) minor: Option<(Names, Kind)>,
    /// Whether what is declared in it is nobody else's.
    pub(super) is_body: bool,
}

/// What it does.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Role {
    #[default]
    None,
    Symbol(Name, Kind),
    Wrapper,
    Attribute,
    Comment,
    Heading,
    Closed,
}

/// What each kind is, by its number.
pub(super) fn parts(row: &Row, tree: &Tree) -> Vec<Part> {
    let language = tree.language();
    let role = |kind: &str| {
        let named = row.symbols.iter().find(|(.., kinds)| kinds.contains(&kind));
        match named {
            Some((name, what, _)) => Role::Symbol(*name, *what),
            None if row.wrappers.contains(&kind) => Role::Wrapper,
            None if row.attributes.contains(&kind) => Role::Attribute,
            None if row.comments.contains(&kind) => Role::Comment,
            None if row.headings.contains(&kind) => Role::Heading,
            None if row.closed.contains(&kind) => Role::Closed,
            None => Role::None,
        }
    };
    let minor = |kind: &str| row.minors.iter().find(|(.., kinds)| kinds.contains(&kind));
    let part = |kind: &str| Part {
        role: role(kind),
        minor: minor(kind).map(|(names, what, _)| (*names, *what)),
        is_body: row.bodies.contains(&kind),
    };
    (0..language.node_kind_count())
        .map(|id| u16::try_from(id).unwrap_or(u16::MAX))
        .map(|id| match language.node_kind_for_id(id) {
            Some(kind) if language.node_kind_is_named(id) => part(kind),
            Some(_) | None => Part::default(),
        })
        .collect()
}
