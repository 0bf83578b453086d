//! The function of each kind of grammar node in an outline.

use super::minor::MinorNames;
use super::name::NameRule;
use super::table::LanguageNodes;
use crate::Tree;
use lockgate_text::SymbolKind;

/// The function of a kind of node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NodePart {
    pub(super) role: NodeRole,
    /// The minor symbols that it declares.
    pub(super) minor: Option<(MinorNames, SymbolKind)>,
    /// Set if its declarations are local.
    pub(super) is_body: bool,
}

/// The role of a node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum NodeRole {
    #[default]
    None,
    Symbol(NameRule, SymbolKind),
    Wrapper,
    Attribute,
    Comment,
    Heading,
    Opaque,
}

/// Returns the function of each kind of node, by its number.
pub(super) fn parts(row: &LanguageNodes, tree: &Tree) -> Vec<NodePart> {
    let language = tree.language();
    let role = |kind: &str| match row.symbols.iter().find(|symbol| symbol.nodes.contains(&kind)) {
        Some(symbol) => NodeRole::Symbol(symbol.name, symbol.kind),
        None if row.wrappers.contains(&kind) => NodeRole::Wrapper,
        None if row.attributes.contains(&kind) => NodeRole::Attribute,
        None if row.comments.contains(&kind) => NodeRole::Comment,
        None if row.headings.contains(&kind) => NodeRole::Heading,
        None if row.opaque.contains(&kind) => NodeRole::Opaque,
        None => NodeRole::None,
    };
    let minor = |kind: &str| row.minors.iter().find(|minor| minor.nodes.contains(&kind));
    let part = |kind: &str| NodePart {
        role: role(kind),
        minor: minor(kind).map(|minor| (minor.names, minor.kind)),
        is_body: row.bodies.contains(&kind),
    };
    (0..language.node_kind_count())
        .map(|id| u16::try_from(id).unwrap_or(u16::MAX))
        .map(|id| match language.node_kind_for_id(id) {
            Some(kind) if language.node_kind_is_named(id) => part(kind),
            Some(_) | None => NodePart::default(),
        })
        .collect()
}
