//! What a symbol is.

use super::name::{children, declared};
use crate::grammar::Node;

/// What a symbol is, as far as its declaration shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A function.
    Function,
    /// A function of a type.
    Method,
    /// A class.
    Class,
    /// A structure, or a union.
    Struct,
    /// An enumeration.
    Enum,
    /// One value of an enumeration.
    Variant,
    /// A trait.
    Trait,
    /// An interface, or a protocol of annotations.
    Interface,
    /// What a type does, apart from the type.
    Impl,
    /// Another name for a type.
    Type,
    /// A module, or a namespace.
    Module,
    /// A value that stays.
    Constant,
    /// A value that has a name.
    Variable,
    /// A value in each of a type.
    Field,
    /// What is expanded before it is compiled.
    Macro,
    /// A heading, with what stands below it.
    Heading,
    /// A key, with its value.
    Key,
    /// A rule of a style sheet.
    Rule,
    /// An element that has a name.
    Element,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 19] = [
        Kind::Function,
        Kind::Method,
        Kind::Class,
        Kind::Struct,
        Kind::Enum,
        Kind::Variant,
        Kind::Trait,
        Kind::Interface,
        Kind::Impl,
        Kind::Type,
        Kind::Module,
        Kind::Constant,
        Kind::Variable,
        Kind::Field,
        Kind::Macro,
        Kind::Heading,
        Kind::Key,
        Kind::Rule,
        Kind::Element,
    ];

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Function => "function",
            Kind::Method => "method",
            Kind::Class => "class",
            Kind::Struct => "struct",
            Kind::Enum => "enum",
            Kind::Variant => "variant",
            Kind::Trait => "trait",
            Kind::Interface => "interface",
            Kind::Impl => "impl",
            Kind::Type => "type",
            Kind::Module => "module",
            Kind::Constant => "constant",
            Kind::Variable => "variable",
            Kind::Field => "field",
            Kind::Macro => "macro",
            Kind::Heading => "heading",
            Kind::Key => "key",
            Kind::Rule => "rule",
            Kind::Element => "element",
        }
    }

    /// Whether it is a type that has members.
    pub const fn has_members(self) -> bool {
        matches!(
            self,
            Kind::Class | Kind::Struct | Kind::Enum | Kind::Trait | Kind::Interface | Kind::Impl | Kind::Type
        )
    }

    /// Whether it runs.
    pub const fn runs(self) -> bool {
        matches!(self, Kind::Function | Kind::Method)
    }

    /// Whether its name is made of parts that are joined as paths are; the name of a heading or key may hold anything.
    pub const fn is_code(self) -> bool {
        !matches!(self, Kind::Heading | Kind::Key | Kind::Rule | Kind::Element)
    }

    /// The kind of this very symbol: what its node, its name and what is around it show.
    pub(super) fn refined(self, node: Node<'_>, name: &str, around: Option<Kind>) -> Kind {
        let member = name.contains('.') || around.is_some_and(Kind::has_members);
        match self {
            Kind::Function if member => Kind::Method,
            Kind::Function => given(node).unwrap_or(Kind::Function),
            Kind::Type => written(node).unwrap_or(Kind::Type),
            Kind::Variable | Kind::Field if prototype(node) && member => Kind::Method,
            Kind::Variable | Kind::Field if prototype(node) => Kind::Function,
            Kind::Variable if member => Kind::Field,
            Kind::Variable if shouts(name) => Kind::Constant,
            kind => kind,
        }
    }
}

/// Whether a name is written as constants are.
fn shouts(name: &str) -> bool {
    name.contains(char::is_uppercase) && !name.contains(char::is_lowercase)
}

/// What is given a name where not a function is.
fn given(node: Node<'_>) -> Option<Kind> {
    let value = ["value", "right"].iter().find_map(|field| node.child_by_field_name(field))?;
    (value.kind() == "class").then_some(Kind::Class)
}

/// What a type is by how it is written.
fn written(node: Node<'_>) -> Option<Kind> {
    match node.child_by_field_name("type")?.kind() {
        "struct_type" | "struct_specifier" | "union_specifier" => Some(Kind::Struct),
        "interface_type" => Some(Kind::Interface),
        "enum_specifier" => Some(Kind::Enum),
        _ => None,
    }
}

/// Whether a declaration declares a function: its parameters stand directly behind its name.
fn prototype(node: Node<'_>) -> bool {
    let Some(declarator) = node.child_by_field_name("declarator") else { return false };
    let Some(name) = declared(declarator) else { return false };
    name.parent().is_some_and(|parent| parent.kind() == "function_declarator")
        || children(declarator).any(|child| child.kind() == "function_declarator")
            && declarator.kind() != "init_declarator"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_its_own_name() {
        let names: BTreeSet<&str> = Kind::ALL.into_iter().map(Kind::name).collect();
        assert_eq!(names.len(), Kind::ALL.len());
    }

    #[test]
    fn constants_shout() {
        assert_eq!(["MAX_SIZE", "A", "Max", "_x", "__all__"].map(shouts), [true, true, false, false, false]);
    }
}
