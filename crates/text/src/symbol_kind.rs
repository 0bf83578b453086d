//! The kinds of symbols.

/// The kind of a symbol, as far as its declaration shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// A function outside a type.
    Function,
    /// A function of a type.
    Method,
    /// A class, in languages that call it so.
    Class,
    /// A structure, or a union.
    Struct,
    /// An enumeration, such as `enum` in Rust or C.
    Enum,
    /// One value of an enumeration.
    Variant,
    /// A trait, as in Rust.
    Trait,
    /// An interface, or a protocol of annotations.
    Interface,
    /// An implementation block of a type.
    Impl,
    /// An alias of a type.
    Type,
    /// A module, or a namespace.
    Module,
    /// A value that does not change.
    Constant,
    /// A named value that may change.
    Variable,
    /// A field of a type.
    Field,
    /// A macro, which is expanded before compilation.
    Macro,
    /// A heading, with the section below it.
    Heading,
    /// A key, with its value.
    Key,
    /// A rule of a style sheet.
    Rule,
    /// An element of markup with an `id`.
    Element,
}

impl SymbolKind {
    /// All kinds, each exactly once.
    pub const ALL: [SymbolKind; 19] = [
        SymbolKind::Function,
        SymbolKind::Method,
        SymbolKind::Class,
        SymbolKind::Struct,
        SymbolKind::Enum,
        SymbolKind::Variant,
        SymbolKind::Trait,
        SymbolKind::Interface,
        SymbolKind::Impl,
        SymbolKind::Type,
        SymbolKind::Module,
        SymbolKind::Constant,
        SymbolKind::Variable,
        SymbolKind::Field,
        SymbolKind::Macro,
        SymbolKind::Heading,
        SymbolKind::Key,
        SymbolKind::Rule,
        SymbolKind::Element,
    ];

    /// Returns the kind's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            SymbolKind::Function => "function",
            SymbolKind::Method => "method",
            SymbolKind::Class => "class",
            SymbolKind::Struct => "struct",
            SymbolKind::Enum => "enum",
            SymbolKind::Variant => "variant",
            SymbolKind::Trait => "trait",
            SymbolKind::Interface => "interface",
            SymbolKind::Impl => "impl",
            SymbolKind::Type => "type",
            SymbolKind::Module => "module",
            SymbolKind::Constant => "constant",
            SymbolKind::Variable => "variable",
            SymbolKind::Field => "field",
            SymbolKind::Macro => "macro",
            SymbolKind::Heading => "heading",
            SymbolKind::Key => "key",
            SymbolKind::Rule => "rule",
            SymbolKind::Element => "element",
        }
    }

    /// Returns true for a type that has members.
    pub const fn has_members(self) -> bool {
        matches!(
            self,
            SymbolKind::Class
                | SymbolKind::Struct
                | SymbolKind::Enum
                | SymbolKind::Trait
                | SymbolKind::Interface
                | SymbolKind::Impl
                | SymbolKind::Type
        )
    }

    /// Returns true for kinds that contain executable code.
    pub const fn is_executable(self) -> bool {
        matches!(self, SymbolKind::Function | SymbolKind::Method)
    }

    /// Returns true if the name is a path of identifiers; the name of a heading or key may contain anything.
    pub const fn is_code(self) -> bool {
        !matches!(self, SymbolKind::Heading | SymbolKind::Key | SymbolKind::Rule | SymbolKind::Element)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_its_own_name() {
        let names: BTreeSet<&str> = SymbolKind::ALL.into_iter().map(SymbolKind::name).collect();
        assert_eq!(names.len(), SymbolKind::ALL.len());
    }
}
