//! The table of symbol-declaring nodes, by language.

use super::minor::MinorNames;
use super::name::NameRule;
use lockgate_text::SymbolKind;

/// The nodes of symbols and comments in some languages: kinds of nodes of their grammars.
pub(super) struct LanguageNodes {
    /// The languages' names in the catalogue.
    languages: &'static [&'static str],
    /// The nodes that declare symbols, with the source of the name and the kind.
    pub(super) symbols: &'static [(NameRule, SymbolKind, &'static [&'static str])],
    /// The nodes that declare minor symbols, with the source of the names and the kind.
    pub(super) minors: &'static [(MinorNames, SymbolKind, &'static [&'static str])],
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
            (NameRule::Field("name"), SymbolKind::Class, &["class_definition"]),
            (NameRule::Field("name"), SymbolKind::Function, &["function_definition"]),
        ],
        minors: &[(MinorNames::Targets("left"), SymbolKind::Variable, &["assignment"])],
        bodies: &["function_definition", "lambda"],
        wrappers: &["decorated_definition"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["javascript", "typescript"],
        symbols: ECMASCRIPT,
        minors: &[
            (MinorNames::Field("name"), SymbolKind::Variable, &["variable_declarator"]),
            (
                MinorNames::Field("name"),
                SymbolKind::Field,
                &["public_field_definition", "property_signature"],
            ),
            (MinorNames::Field("property"), SymbolKind::Field, &["field_definition"]),
            (MinorNames::Each("name"), SymbolKind::Variant, &["enum_body"]),
            (MinorNames::Field("name"), SymbolKind::Variant, &["enum_assignment"]),
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
            (MinorNames::Field("name"), SymbolKind::Field, &["field_declaration"]),
            (MinorNames::Field("name"), SymbolKind::Variant, &["enum_variant"]),
        ],
        attributes: &["attribute_item"],
        comments: &["line_comment", "block_comment"],
        inner: &["//!", "/*!"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["go"],
        symbols: &[
            (NameRule::Field("name"), SymbolKind::Function, &["function_declaration"]),
            (NameRule::Field("name"), SymbolKind::Type, &["type_spec", "type_alias"]),
            (NameRule::Receiver, SymbolKind::Method, &["method_declaration"]),
        ],
        minors: &[
            (MinorNames::Field("name"), SymbolKind::Constant, &["const_spec"]),
            (MinorNames::Field("name"), SymbolKind::Variable, &["var_spec"]),
            (MinorNames::Field("name"), SymbolKind::Field, &["field_declaration"]),
            (MinorNames::Field("name"), SymbolKind::Method, &["method_elem"]),
        ],
        bodies: &["block"],
        wrappers: &["type_declaration", "const_declaration", "var_declaration"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["java"],
        symbols: JAVA,
        minors: &[
            (MinorNames::Declarators, SymbolKind::Field, &["field_declaration"]),
            (MinorNames::Declarators, SymbolKind::Constant, &["constant_declaration"]),
            (MinorNames::Field("name"), SymbolKind::Variant, &["enum_constant"]),
            (MinorNames::Field("name"), SymbolKind::Method, &["annotation_type_element_declaration"]),
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
        symbols: &[(NameRule::Field("name"), SymbolKind::Function, &["function_definition"])],
        minors: &[(MinorNames::Field("name"), SymbolKind::Variable, &["variable_assignment"])],
        bodies: &["function_definition", "command"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["css"],
        symbols: &[
            (NameRule::Child("selectors"), SymbolKind::Rule, &["rule_set"]),
            (NameRule::Child("keyframes_name"), SymbolKind::Rule, &["keyframes_statement"]),
        ],
        comments: &["comment", "js_comment"],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["html"],
        symbols: &[(NameRule::Id, SymbolKind::Element, &["element", "script_element", "style_element"])],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["json", "jsonc", "yaml"],
        symbols: &[(NameRule::Field("key"), SymbolKind::Key, &["pair", "block_mapping_pair", "flow_pair"])],
        ..PLAIN
    },
    LanguageNodes {
        languages: &["toml"],
        symbols: &[(NameRule::Key, SymbolKind::Key, &["table", "table_array_element", "pair"])],
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

const ECMASCRIPT: &[(NameRule, SymbolKind, &[&str])] = &[
    (
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
    (NameRule::Field("name"), SymbolKind::Class, &["class_declaration", "abstract_class_declaration"]),
    (NameRule::Field("name"), SymbolKind::Interface, &["interface_declaration"]),
    (NameRule::Field("name"), SymbolKind::Type, &["type_alias_declaration"]),
    (NameRule::Field("name"), SymbolKind::Enum, &["enum_declaration"]),
    (NameRule::Field("name"), SymbolKind::Module, &["module", "internal_module"]),
    (
        NameRule::Value { name: "name", function: "value" },
        SymbolKind::Function,
        &["variable_declarator", "public_field_definition"],
    ),
    (NameRule::Value { name: "property", function: "value" }, SymbolKind::Function, &["field_definition"]),
    (NameRule::Value { name: "key", function: "value" }, SymbolKind::Function, &["pair"]),
    (NameRule::Value { name: "left", function: "right" }, SymbolKind::Function, &["assignment_expression"]),
];

const RUST: &[(NameRule, SymbolKind, &[&str])] = &[
    (NameRule::Field("name"), SymbolKind::Function, &["function_item", "function_signature_item"]),
    (NameRule::Field("name"), SymbolKind::Struct, &["struct_item", "union_item"]),
    (NameRule::Field("name"), SymbolKind::Enum, &["enum_item"]),
    (NameRule::Field("name"), SymbolKind::Trait, &["trait_item"]),
    (NameRule::Field("name"), SymbolKind::Module, &["mod_item"]),
    (NameRule::Field("name"), SymbolKind::Type, &["type_item", "associated_type"]),
    (NameRule::Field("name"), SymbolKind::Constant, &["const_item"]),
    (NameRule::Field("name"), SymbolKind::Variable, &["static_item"]),
    (NameRule::Field("name"), SymbolKind::Macro, &["macro_definition"]),
    (NameRule::Scoped("type"), SymbolKind::Impl, &["impl_item"]),
];

const JAVA: &[(NameRule, SymbolKind, &[&str])] = &[
    (NameRule::Field("name"), SymbolKind::Class, &["class_declaration", "record_declaration"]),
    (
        NameRule::Field("name"),
        SymbolKind::Interface,
        &["interface_declaration", "annotation_type_declaration"],
    ),
    (NameRule::Field("name"), SymbolKind::Enum, &["enum_declaration"]),
    (
        NameRule::Field("name"),
        SymbolKind::Function,
        &["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
    ),
];

/// A C header may be C++.
const C: &[(NameRule, SymbolKind, &[&str])] = &[
    (NameRule::Declarator, SymbolKind::Function, &["function_definition"]),
    (NameRule::Declarator, SymbolKind::Type, &["type_definition"]),
    (NameRule::WithBody("name"), SymbolKind::Struct, &["struct_specifier", "union_specifier"]),
    (NameRule::WithBody("name"), SymbolKind::Enum, &["enum_specifier"]),
    (NameRule::WithBody("name"), SymbolKind::Class, &["class_specifier"]),
    (NameRule::Scoped("name"), SymbolKind::Module, &["namespace_definition"]),
    (NameRule::Field("name"), SymbolKind::Macro, &["preproc_def", "preproc_function_def"]),
    (NameRule::Field("name"), SymbolKind::Type, &["alias_declaration", "concept_definition"]),
];

const C_MINORS: &[(MinorNames, SymbolKind, &[&str])] = &[
    (MinorNames::Declarators, SymbolKind::Variable, &["declaration"]),
    (MinorNames::Declarators, SymbolKind::Field, &["field_declaration"]),
    (MinorNames::Field("name"), SymbolKind::Variant, &["enumerator"]),
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
            let symbols = row.symbols.iter().flat_map(|(.., kinds)| *kinds);
            for kind in symbols
                .chain(row.minors.iter().flat_map(|(.., kinds)| *kinds))
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
