//! Minor symbols, which contain no others: variables, constants, fields, members of enumerations, prototypes.
//!
//! Invariant: they do not affect the other symbols, except that a statement with several declarations belongs to none
//! of them.

use super::name::{NamedNode, children, declared, declared_text, named, plain, scoped};
use crate::Node;

/// The maximum number of names from one node, and the maximum depth of patterns.
const MAX_NAMES: usize = 200;
const MAX_LEVELS: usize = 8;

/// The source of the names of a node's minor symbols, of which there may be several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MinorNames {
    /// The texts of a field, except for patterns.
    Field(&'static str),
    /// The same, if only its name belongs to each symbol.
    Each(&'static str),
    /// The names in the patterns of a field.
    Targets(&'static str),
    /// The names inside the declarators.
    Declarators,
}

impl MinorNames {
    /// Returns the names of a node.
    pub(super) fn find(self, node: Node<'_>, view: &str) -> Vec<NamedNode> {
        let mut found = Vec::new();
        match self {
            MinorNames::Field(field) | MinorNames::Each(field) => {
                let nodes = by_field(node, field).filter(|node| !node.kind().ends_with("_pattern"));
                found.extend(nodes.filter_map(|node| named(&plain(node, view)?, node)));
            }
            MinorNames::Targets(field) => {
                by_field(node, field).for_each(|node| targets(node, view, 0, &mut found))
            }
            MinorNames::Declarators => {
                let nodes = by_field(node, "declarator").filter_map(|declarator| {
                    declarator.child_by_field_name("name").or_else(|| declared(declarator))
                });
                let nodes = nodes.filter(|node| {
                    node.kind().ends_with("identifier")
                        || matches!(node.kind(), "destructor_name" | "operator_name" | "operator_cast")
                });
                found.extend(nodes.filter_map(|node| named(&scoped(declared_text(node, view)?), node)));
            }
        }
        // A name `_` marks an unused value.
        found.retain(|named| named.name != "_");
        found
    }
}

/// Returns the first named children of a field.
fn by_field<'t>(node: Node<'t>, field: &'static str) -> impl Iterator<Item = Node<'t>> {
    let mut cursor = node.walk();
    let nodes: Vec<Node<'t>> =
        node.children_by_field_name(field, &mut cursor).filter(Node::is_named).take(MAX_NAMES).collect();
    nodes.into_iter()
}

/// Adds the names that a pattern binds.
fn targets(node: Node<'_>, view: &str, level: usize, found: &mut Vec<NamedNode>) {
    match node.kind() {
        "identifier" => found.extend(plain(node, view).and_then(|name| named(&name, node))),
        "pattern_list" | "tuple_pattern" | "list_pattern" | "list_splat_pattern" if level < MAX_LEVELS => {
            children(node).take(MAX_NAMES).for_each(|child| targets(child, view, level + 1, found));
        }
        _ => {}
    }
}
