//! The table of symbol-declaring nodes, by language.

use super::minor::MinorNames;
use super::name::NameRule;
use lockgate_text::SymbolKind;

/// The nodes of symbols and comments in some languages: kinds of nodes of their grammars.
pub(super) struct LanguageNodes {
    /// The languages' names in the catalogue.
    languages: &'static [&'static str],
    /// The nodes that declare symbols.
    pub(super) symbols: &'static [SymbolNodes],
    /// The nodes that declare minor symbols.
    pub(super) minors: &'static [MinorNodes],
    /// The nodes whose declared minor symbols are local.
    pub(super) bodies: &'static [&'static str],
    /// The nodes that may contain a symbol and its modifiers, and then belong to it.
    pub(super) wrappers: &'static [&'static str],
    /// The nodes that belong to the symbol behind them.
    pub(super) attributes: &'static [&'static str],
    pub(super) comments: &'static [&'static str],
    /// The nodes of headings, which open a symbol up to the next heading of the same rank.
    pub(super) headings: &'static [&'static str],
    /// The nodes that contain no symbol.
    pub(super) opaque: &'static [&'static str],
    /// The prefixes of comments that do not belong to the symbol behind them.
    pub(super) inner: &'static [&'static str],
}

/// Nodes that declare a symbol.
pub(super) struct SymbolNodes {
    /// The source of its name.
    pub(super) name: NameRule,
    pub(super) kind: SymbolKind,
    /// The kinds of nodes.
    pub(super) nodes: &'static [&'static str],
}

/// Nodes that declare minor symbols.
pub(super) struct MinorNodes {
    /// The source of their names.
    pub(super) names: MinorNames,
    pub(super) kind: SymbolKind,
    /// The kinds of nodes.
    pub(super) nodes: &'static [&'static str],
}

const fn symbol(name: NameRule, kind: SymbolKind, nodes: &'static [&'static str]) -> SymbolNodes {
    SymbolNodes { name, kind, nodes }
}

const fn minor(names: MinorNames, kind: SymbolKind, nodes: &'static [&'static str]) -> MinorNodes {
    MinorNodes { names, kind, nodes }
}

/// Returns the row of a language.
pub(super) fn row(language: &str) -> Option<&'static LanguageNodes> {
    TABLE.iter().find(|row| row.languages.contains(&language))
}

const PLAIN: LanguageNodes = LanguageNodes {
    languages: &[],
    symbols: &[],
    minors: &[],
    bodies: &[],
    wrappers: &[],
    attributes: &[],
    comments: &["comment"],
    headings: &[],
    opaque: &[],
    inner: &[],
};

pub(super) static TABLE: [LanguageNodes; 13] = [
    LanguageNodes {
        languages: &["python"],
        symbols: &[
            symbol(NameRule::Field("name"), SymbolKind::Class, &["class_definition"]),
            symbol(NameRule::Field("name"), SymbolKind::Function, &["function_definition"]),
            symbol(NameRule::Identifier("left"), SymbolKind::Type, &["type_alias_statement"]),
        ],
        minors: &[minor(MinorNames::Targets("left"), SymbolKind::Variable, &["assignment"])],
        bodies: &["function_definition", "lambda"],
        wrappers: &["decorated_definition"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["javascript", "typescript"],
        symbols: ECMASCRIPT,
        minors: &[
            minor(MinorNames::Field("name"), SymbolKind::Variable, &["variable_declarator"]),
            minor(
                MinorNames::Field("name"),
                SymbolKind::Field,
                &["public_field_definition", "property_signature"],
            ),
            minor(MinorNames::Field("property"), SymbolKind::Field, &["field_definition"]),
            minor(MinorNames::Each("name"), SymbolKind::Variant, &["enum_body"]),
            minor(MinorNames::Field("name"), SymbolKind::Variant, &["enum_assignment"]),
            // It has no name, but its statement belongs to none of its parts: `a.x = 1, a.f = () => x;`.
            minor(MinorNames::Field("name"), SymbolKind::Variable, &["sequence_expression"]),
        ],
        bodies: &["statement_block", "arrow_function", "class_static_block"],
        wrappers: &[
            "export_statement",
            "ambient_declaration",
            "lexical_declaration",
            "variable_declaration",
            "expression_statement",
        ],
        attributes: &["decorator"],
        comments: &["comment", "html_comment"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["rust"],
        symbols: RUST,
        minors: &[
            minor(MinorNames::Field("name"), SymbolKind::Field, &["field_declaration"]),
            minor(MinorNames::Field("name"), SymbolKind::Variant, &["enum_variant"]),
        ],
        attributes: &["attribute_item"],
        comments: &["line_comment", "block_comment"],
        inner: &["//!", "/*!"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["go"],
        symbols: &[
            symbol(NameRule::Field("name"), SymbolKind::Function, &["function_declaration"]),
            symbol(NameRule::Field("name"), SymbolKind::Type, &["type_spec", "type_alias"]),
            symbol(NameRule::Receiver, SymbolKind::Method, &["method_declaration"]),
        ],
        minors: &[
            minor(MinorNames::Field("name"), SymbolKind::Constant, &["const_spec"]),
            minor(MinorNames::Field("name"), SymbolKind::Variable, &["var_spec"]),
            minor(MinorNames::Field("name"), SymbolKind::Field, &["field_declaration"]),
            minor(MinorNames::Field("name"), SymbolKind::Method, &["method_elem"]),
        ],
        bodies: &["block"],
        wrappers: &["type_declaration", "const_declaration", "var_declaration"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["java"],
        symbols: JAVA,
        minors: &[
            minor(MinorNames::Declarators, SymbolKind::Field, &["field_declaration"]),
            minor(MinorNames::Declarators, SymbolKind::Constant, &["constant_declaration"]),
            minor(MinorNames::Field("name"), SymbolKind::Variant, &["enum_constant"]),
            minor(MinorNames::Field("name"), SymbolKind::Method, &["annotation_type_element_declaration"]),
        ],
        bodies: &["block", "constructor_body", "lambda_expression"],
        comments: &["line_comment", "block_comment"],
        ..PLAIN
    },
    LanguageNodes { languages: &["c"], symbols: C, minors: C_MINORS, bodies: C_BODIES, ..PLAIN },
    LanguageNodes {
        languages: &["cpp"],
        symbols: C,
        minors: C_MINORS,
        bodies: C_BODIES,
        wrappers: &["template_declaration"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["bash"],
        symbols: &[symbol(NameRule::Field("name"), SymbolKind::Function, &["function_definition"])],
        minors: &[minor(MinorNames::Field("name"), SymbolKind::Variable, &["variable_assignment"])],
        bodies: &["function_definition", "command"],
        wrappers: &["declaration_command"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["css"],
        symbols: &[
            symbol(NameRule::Child("selectors"), SymbolKind::Rule, &["rule_set"]),
            symbol(NameRule::Child("keyframes_name"), SymbolKind::Rule, &["keyframes_statement"]),
        ],
        comments: &["comment", "js_comment"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["html"],
        symbols: &[symbol(
            NameRule::Id,
            SymbolKind::Element,
            &["element", "script_element", "style_element"],
        )],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["json", "jsonc", "yaml"],
        symbols: &[symbol(
            NameRule::Field("key"),
            SymbolKind::Key,
            &["pair", "block_mapping_pair", "flow_pair"],
        )],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["toml"],
        symbols: &[symbol(NameRule::Key, SymbolKind::Key, &["table", "table_array_element", "pair"])],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["markdown"],
        headings: &["atx_heading", "setext_heading"],
        opaque: &["block_quote", "list"],
        comments: &["html_block"],
        ..PLAIN
    },
];

const ECMASCRIPT: &[SymbolNodes] = &[
    symbol(
        NameRule::Field("name"),
        SymbolKind::Function,
        &[
            "function_declaration",
            "generator_function_declaration",
            "function_signature",
            "method_definition",
            "method_signature",
            "abstract_method_signature",
        ],
    ),
    symbol(NameRule::Field("name"), SymbolKind::Class, &["class_declaration", "abstract_class_declaration"]),
    symbol(NameRule::Field("name"), SymbolKind::Interface, &["interface_declaration"]),
    symbol(NameRule::Field("name"), SymbolKind::Type, &["type_alias_declaration"]),
    symbol(NameRule::Field("name"), SymbolKind::Enum, &["enum_declaration"]),
    symbol(NameRule::Field("name"), SymbolKind::Module, &["module", "internal_module"]),
    symbol(
        NameRule::Value { name: "name", function: "value" },
        SymbolKind::Function,
        &["variable_declarator", "public_field_definition"],
    ),
    symbol(
        NameRule::Value { name: "property", function: "value" },
        SymbolKind::Function,
        &["field_definition"],
    ),
    symbol(NameRule::Value { name: "key", function: "value" }, SymbolKind::Function, &["pair"]),
    symbol(
        NameRule::Value { name: "left", function: "right" },
        SymbolKind::Function,
        &["assignment_expression"],
    ),
];

const RUST: &[SymbolNodes] = &[
    symbol(NameRule::Field("name"), SymbolKind::Function, &["function_item", "function_signature_item"]),
    symbol(NameRule::Field("name"), SymbolKind::Struct, &["struct_item", "union_item"]),
    symbol(NameRule::Field("name"), SymbolKind::Enum, &["enum_item"]),
    symbol(NameRule::Field("name"), SymbolKind::Trait, &["trait_item"]),
    symbol(NameRule::Field("name"), SymbolKind::Module, &["mod_item"]),
    symbol(NameRule::Field("name"), SymbolKind::Type, &["type_item", "associated_type"]),
    symbol(NameRule::Field("name"), SymbolKind::Constant, &["const_item"]),
    symbol(NameRule::Field("name"), SymbolKind::Variable, &["static_item"]),
    symbol(NameRule::Field("name"), SymbolKind::Macro, &["macro_definition"]),
    symbol(NameRule::Scoped("type"), SymbolKind::Impl, &["impl_item"]),
];

const JAVA: &[SymbolNodes] = &[
    symbol(NameRule::Field("name"), SymbolKind::Class, &["class_declaration", "record_declaration"]),
    symbol(
        NameRule::Field("name"),
        SymbolKind::Interface,
        &["interface_declaration", "annotation_type_declaration"],
    ),
    symbol(NameRule::Field("name"), SymbolKind::Enum, &["enum_declaration"]),
    symbol(
        NameRule::Field("name"),
        SymbolKind::Function,
        &["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
    ),
];

/// A C header may be C++.
const C: &[SymbolNodes] = &[
    symbol(NameRule::Declarator, SymbolKind::Function, &["function_definition"]),
    symbol(NameRule::Declarator, SymbolKind::Type, &["type_definition"]),
    symbol(NameRule::WithBody("name"), SymbolKind::Struct, &["struct_specifier", "union_specifier"]),
    symbol(NameRule::WithBody("name"), SymbolKind::Enum, &["enum_specifier"]),
    symbol(NameRule::WithBody("name"), SymbolKind::Class, &["class_specifier"]),
    symbol(NameRule::Scoped("name"), SymbolKind::Module, &["namespace_definition"]),
    symbol(NameRule::Field("name"), SymbolKind::Macro, &["preproc_def", "preproc_function_def"]),
    symbol(NameRule::Field("name"), SymbolKind::Type, &["alias_declaration", "concept_definition"]),
];

const C_MINORS: &[MinorNodes] = &[
    minor(MinorNames::Declarators, SymbolKind::Variable, &["declaration"]),
    minor(MinorNames::Declarators, SymbolKind::Field, &["field_declaration"]),
    minor(MinorNames::Field("name"), SymbolKind::Variant, &["enumerator"]),
];

const C_BODIES: &[&str] = &["compound_statement", "parameter_list"];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_grammar_has_one_row() {
        let rows: Vec<&str> = TABLE.iter().flat_map(|row| row.languages).copied().collect();
        let known: BTreeSet<&str> = crate::grammars().iter().map(|grammar| grammar.language).collect();
        assert_eq!(rows.iter().copied().collect::<BTreeSet<_>>(), known);
        assert_eq!(rows.len(), known.len(), "one stands twice");
    }

    #[test]
    fn every_kind_is_one_of_a_grammar() {
        for row in &TABLE {
            let mut dialects = Vec::new();
            for language in row.languages {
                let grammar = crate::find(language).unwrap();
                dialects.extend(["a", "a.h", "a.tsx"].iter().flat_map(|path| grammar.dialects(path)));
            }
            let symbols = row.symbols.iter().flat_map(|row| row.nodes);
            for kind in symbols
                .chain(row.minors.iter().flat_map(|row| row.nodes))
                .chain(row.bodies)
                .chain(row.wrappers)
                .chain(row.attributes)
                .chain(row.comments)
                .chain(row.headings)
                .chain(row.opaque)
            {
                let known = dialects.iter().any(|dialect| dialect.id_for_node_kind(kind, true) != 0);
                assert!(known, "{:?}: {kind}", row.languages);
            }
        }
    }
}
