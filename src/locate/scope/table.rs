//! The one table of what opens a symbol, language by language.

use super::kind::Kind;
use super::minor::Names;
use super::name::Name;

/// Where the symbols and comments of some languages are: kinds of nodes of their grammars.
pub(super) struct Row {
    /// The languages' names in the catalogue.
    languages: &'static [&'static str],
    /// What opens a symbol, what names it, and what it is.
    pub(super) symbols: &'static [(Name, Kind, &'static [&'static str])],
    /// What declares symbols that hold none, what names them, and what they are.
    pub(super) minors: &'static [(Names, Kind, &'static [&'static str])],
    /// In what the declared symbols that hold none are nobody else's.
    pub(super) bodies: &'static [&'static str],
    /// What may hold a symbol and its modifiers, and belongs to it then.
    pub(super) wrappers: &'static [&'static str],
    /// What belongs to the symbol behind it.
    pub(super) attributes: &'static [&'static str],
    /// What is a comment.
    pub(super) comments: &'static [&'static str],
    /// What is a heading, and opens a symbol up to the next one of its rank.
    pub(super) headings: &'static [&'static str],
    /// What holds no symbol.
    pub(super) closed: &'static [&'static str],
    /// How a comment begins that does not belong to the symbol behind it.
    pub(super) inner: &'static [&'static str],
}

/// Gives the row of a language.
pub(super) fn row(language: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.languages.contains(&language))
}

const PLAIN: Row = Row {
    languages: &[],
    symbols: &[],
    minors: &[],
    bodies: &[],
    wrappers: &[],
    attributes: &[],
    comments: &["comment"],
    headings: &[],
    closed: &[],
    inner: &[],
};

pub(super) static TABLE: [Row; 13] = [
    Row {
        languages: &["python"],
        symbols: &[
            (Name::Field("name"), Kind::Class, &["class_definition"]),
            (Name::Field("name"), Kind::Function, &["function_definition"]),
        ],
        minors: &[(Names::Targets("left"), Kind::Variable, &["assignment"])],
        bodies: &["function_definition", "lambda"],
        wrappers: &["decorated_definition"],
        ..PLAIN
    },
    Row {
        languages: &["javascript", "typescript"],
        symbols: ECMASCRIPT,
        minors: &[
            (Names::Field("name"), Kind::Variable, &["variable_declarator"]),
            (Names::Field("name"), Kind::Field, &["public_field_definition", "property_signature"]),
            (Names::Field("property"), Kind::Field, &["field_definition"]),
            (Names::Each("name"), Kind::Variant, &["enum_body"]),
            (Names::Field("name"), Kind::Variant, &["enum_assignment"]),
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
    Row {
        languages: &["rust"],
        symbols: RUST,
        minors: &[
            (Names::Field("name"), Kind::Field, &["field_declaration"]),
            (Names::Field("name"), Kind::Variant, &["enum_variant"]),
        ],
        attributes: &["attribute_item"],
        comments: &["line_comment", "block_comment"],
        inner: &["//!", "/*!"],
        ..PLAIN
    },
    Row {
        languages: &["go"],
        symbols: &[
            (Name::Field("name"), Kind::Function, &["function_declaration"]),
            (Name::Field("name"), Kind::Type, &["type_spec", "type_alias"]),
            (Name::Received, Kind::Method, &["method_declaration"]),
        ],
        minors: &[
            (Names::Field("name"), Kind::Constant, &["const_spec"]),
            (Names::Field("name"), Kind::Variable, &["var_spec"]),
            (Names::Field("name"), Kind::Field, &["field_declaration"]),
            (Names::Field("name"), Kind::Method, &["method_elem"]),
        ],
        bodies: &["block"],
        wrappers: &["type_declaration", "const_declaration", "var_declaration"],
        ..PLAIN
    },
    Row {
        languages: &["java"],
        symbols: JAVA,
        minors: &[
            (Names::Declarators, Kind::Field, &["field_declaration"]),
            (Names::Declarators, Kind::Constant, &["constant_declaration"]),
            (Names::Field("name"), Kind::Variant, &["enum_constant"]),
            (Names::Field("name"), Kind::Method, &["annotation_type_element_declaration"]),
        ],
        bodies: &["block", "constructor_body", "lambda_expression"],
        comments: &["line_comment", "block_comment"],
        ..PLAIN
    },
    Row { languages: &["c"], symbols: C, minors: C_MINORS, bodies: C_BODIES, ..PLAIN },
    Row {
        languages: &["cpp"],
        symbols: C,
        minors: C_MINORS,
        bodies: C_BODIES,
        wrappers: &["template_declaration"],
        ..PLAIN
    },
    Row {
        languages: &["bash"],
        symbols: &[(Name::Field("name"), Kind::Function, &["function_definition"])],
        minors: &[(Names::Field("name"), Kind::Variable, &["variable_assignment"])],
        bodies: &["function_definition", "command"],
        ..PLAIN
    },
    Row {
        languages: &["css"],
        symbols: &[
            (Name::Child("selectors"), Kind::Rule, &["rule_set"]),
            (Name::Child("keyframes_name"), Kind::Rule, &["keyframes_statement"]),
        ],
        comments: &["comment", "js_comment"],
        ..PLAIN
    },
    Row {
        languages: &["html"],
        symbols: &[(Name::Id, Kind::Element, &["element", "script_element", "style_element"])],
        ..PLAIN
    },
    Row {
        languages: &["json", "jsonc", "yaml"],
        symbols: &[(Name::Field("key"), Kind::Key, &["pair", "block_mapping_pair", "flow_pair"])],
        ..PLAIN
    },
    Row {
        languages: &["toml"],
        symbols: &[(Name::Key, Kind::Key, &["table", "table_array_element", "pair"])],
        ..PLAIN
    },
    Row {
        languages: &["markdown"],
        headings: &["atx_heading", "setext_heading"],
        closed: &["block_quote", "list"],
        comments: &["html_block"],
        ..PLAIN
    },
];

const ECMASCRIPT: &[(Name, Kind, &[&str])] = &[
    (
        Name::Field("name"),
        Kind::Function,
        &[
            "function_declaration",
            "generator_function_declaration",
            "function_signature",
            "method_definition",
            "method_signature",
            "abstract_method_signature",
        ],
    ),
    (Name::Field("name"), Kind::Class, &["class_declaration", "abstract_class_declaration"]),
    (Name::Field("name"), Kind::Interface, &["interface_declaration"]),
    (Name::Field("name"), Kind::Type, &["type_alias_declaration"]),
    (Name::Field("name"), Kind::Enum, &["enum_declaration"]),
    (Name::Field("name"), Kind::Module, &["module", "internal_module"]),
    (
        Name::Given { name: "name", function: "value" },
        Kind::Function,
        &["variable_declarator", "public_field_definition"],
    ),
    (Name::Given { name: "property", function: "value" }, Kind::Function, &["field_definition"]),
    (Name::Given { name: "key", function: "value" }, Kind::Function, &["pair"]),
    (Name::Given { name: "left", function: "right" }, Kind::Function, &["assignment_expression"]),
];

const RUST: &[(Name, Kind, &[&str])] = &[
    (Name::Field("name"), Kind::Function, &["function_item", "function_signature_item"]),
    (Name::Field("name"), Kind::Struct, &["struct_item", "union_item"]),
    (Name::Field("name"), Kind::Enum, &["enum_item"]),
    (Name::Field("name"), Kind::Trait, &["trait_item"]),
    (Name::Field("name"), Kind::Module, &["mod_item"]),
    (Name::Field("name"), Kind::Type, &["type_item", "associated_type"]),
    (Name::Field("name"), Kind::Constant, &["const_item"]),
    (Name::Field("name"), Kind::Variable, &["static_item"]),
    (Name::Field("name"), Kind::Macro, &["macro_definition"]),
    (Name::Scoped("type"), Kind::Impl, &["impl_item"]),
];

const JAVA: &[(Name, Kind, &[&str])] = &[
    (Name::Field("name"), Kind::Class, &["class_declaration", "record_declaration"]),
    (Name::Field("name"), Kind::Interface, &["interface_declaration", "annotation_type_declaration"]),
    (Name::Field("name"), Kind::Enum, &["enum_declaration"]),
    (
        Name::Field("name"),
        Kind::Function,
        &["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
    ),
];

/// A header in C may be C++.
const C: &[(Name, Kind, &[&str])] = &[
    (Name::Declared, Kind::Function, &["function_definition"]),
    (Name::Declared, Kind::Type, &["type_definition"]),
    (Name::Bodied("name"), Kind::Struct, &["struct_specifier", "union_specifier"]),
    (Name::Bodied("name"), Kind::Enum, &["enum_specifier"]),
    (Name::Bodied("name"), Kind::Class, &["class_specifier"]),
    (Name::Scoped("name"), Kind::Module, &["namespace_definition"]),
    (Name::Field("name"), Kind::Macro, &["preproc_def", "preproc_function_def"]),
    (Name::Field("name"), Kind::Type, &["alias_declaration", "concept_definition"]),
];

const C_MINORS: &[(Names, Kind, &[&str])] = &[
    (Names::Declarators, Kind::Variable, &["declaration"]),
    (Names::Declarators, Kind::Field, &["field_declaration"]),
    (Names::Field("name"), Kind::Variant, &["enumerator"]),
];

const C_BODIES: &[&str] = &["compound_statement", "parameter_list"];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::grammar;

    #[test]
    fn every_grammar_has_one_row() {
        let rows: Vec<&str> = TABLE.iter().flat_map(|row| row.languages).copied().collect();
        let known: BTreeSet<&str> = grammar::ALL.iter().map(|grammar| grammar.language).collect();
        assert_eq!(rows.iter().copied().collect::<BTreeSet<_>>(), known);
        assert_eq!(rows.len(), known.len(), "one stands twice");
    }

    #[test]
    fn every_kind_is_one_of_a_grammar() {
        for row in &TABLE {
            let mut dialects = Vec::new();
            for language in row.languages {
                let grammar = grammar::of(language).unwrap();
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
                .chain(row.closed)
            {
                let known = dialects.iter().any(|dialect| dialect.id_for_node_kind(kind, true) != 0);
                assert!(known, "{:?}: {kind}", row.languages);
            }
        }
    }
}
