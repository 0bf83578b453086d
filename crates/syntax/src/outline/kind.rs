//! The kind of a symbol, from its node.

use super::name::{children, declared};
use crate::Node;
use lockgate_text::SymbolKind;

/// Refines the kind that a node of a grammar has by default, from the node, its name and its enclosing symbol.
pub(super) fn refine(kind: SymbolKind, node: Node<'_>, name: &str, around: Option<SymbolKind>) -> SymbolKind {
    let member = name.contains('.') || around.is_some_and(SymbolKind::has_members);
    match kind {
        SymbolKind::Function if member => SymbolKind::Method,
        SymbolKind::Function => value_kind(node).unwrap_or(SymbolKind::Function),
        SymbolKind::Type => type_kind(node).unwrap_or(SymbolKind::Type),
        SymbolKind::Variable | SymbolKind::Field if prototype(node) && member => SymbolKind::Method,
        SymbolKind::Variable | SymbolKind::Field if prototype(node) => SymbolKind::Function,
        SymbolKind::Variable if member => SymbolKind::Field,
        SymbolKind::Variable if is_constant_style(name) => SymbolKind::Constant,
        kind => kind,
    }
}

/// Returns true if a name is written in the style of constants.
fn is_constant_style(name: &str) -> bool {
    name.contains(char::is_uppercase) && !name.contains(char::is_lowercase)
}

/// Returns the kind of a named value that is not a function.
fn value_kind(node: Node<'_>) -> Option<SymbolKind> {
    let value = ["value", "right"].iter().find_map(|field| node.child_by_field_name(field))?;
    (value.kind() == "class").then_some(SymbolKind::Class)
}

/// Returns the kind of a type from its syntax.
fn type_kind(node: Node<'_>) -> Option<SymbolKind> {
    match node.child_by_field_name("type")?.kind() {
        "struct_type" | "struct_specifier" | "union_specifier" => Some(SymbolKind::Struct),
        "interface_type" => Some(SymbolKind::Interface),
        "enum_specifier" => Some(SymbolKind::Enum),
        _ => None,
    }
}

/// Returns true if a declaration declares a function: its parameters are directly behind its name.
fn prototype(node: Node<'_>) -> bool {
    let Some(declarator) = node.child_by_field_name("declarator") else { return false };
    let Some(name) = declared(declarator) else { return false };
    name.parent().is_some_and(|parent| parent.kind() == "function_declarator")
        || children(declarator).any(|child| child.kind() == "function_declarator")
            && declarator.kind() != "init_declarator"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_shout() {
        assert_eq!(
            ["MAX_SIZE", "A", "Max", "_x", "__all__"].map(is_constant_style),
            [true, true, false, false, false]
        );
    }
}
