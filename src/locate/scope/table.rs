//! The one table of what opens a symbol, language by language.

use super::name::Name;

/// Where the symbols and comments of some languages are: kinds of nodes of their grammars.
pub(super) struct Row {
    /// The languages' names in the catalogue.
    languages: &'static [&'static str],
    /// What opens a symbol, and what names it.
    pub(super) symbols: &'static [(Name, &'static [&'static str])],
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
        symbols: &[(Name::Field("name"), &["class_definition", "function_definition"])],
        wrappers: &["decorated_definition"],
        ..PLAIN
    },
    Row {
        languages: &["javascript", "typescript"],
        symbols: ECMASCRIPT,
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
        attributes: &["attribute_item"],
        comments: &["line_comment", "block_comment"],
        inner: &["//!", "/*!"],
        ..PLAIN
    },
    Row {
        languages: &["go"],
        symbols: &[
            (Name::Field("name"), &["function_declaration", "type_spec", "type_alias"]),
            (Name::Received, &["method_declaration"]),
        ],
        wrappers: &["type_declaration"],
        ..PLAIN
    },
    Row {
        languages: &["java"],
        symbols: &[(Name::Field("name"), JAVA)],
        comments: &["line_comment", "block_comment"],
        ..PLAIN
    },
    Row { languages: &["c"], symbols: C, ..PLAIN },
    Row { languages: &["cpp"], symbols: C, wrappers: &["template_declaration"], ..PLAIN },
    Row { languages: &["bash"], symbols: &[(Name::Field("name"), &["function_definition"])], ..PLAIN },
    Row {
        languages: &["css"],
        symbols: &[
            (Name::Child("selectors"), &["rule_set"]),
            (Name::Child("keyframes_name"), &["keyframes_statement"]),
        ],
        comments: &["comment", "js_comment"],
        ..PLAIN
    },
    Row {
        languages: &["html"],
        symbols: &[(Name::Id, &["element", "script_element", "style_element"])],
        ..PLAIN
    },
    Row {
        languages: &["json", "jsonc", "yaml"],
        symbols: &[(Name::Field("key"), &["pair", "block_mapping_pair", "flow_pair"])],
        ..PLAIN
    },
    Row { languages: &["toml"], symbols: &[(Name::Key, &["table", "table_array_element", "pair"])], ..PLAIN },
    Row {
        languages: &["markdown"],
        headings: &["atx_heading", "setext_heading"],
        closed: &["block_quote", "list"],
        comments: &["html_block"],
        ..PLAIN
    },
];

const ECMASCRIPT: &[(Name, &[&str])] = &[
    (
        Name::Field("name"),
        &[
            "function_declaration",
            "generator_function_declaration",
            "function_signature",
            "class_declaration",
            "abstract_class_declaration",
            "method_definition",
            "method_signature",
            "abstract_method_signature",
            "interface_declaration",
            "type_alias_declaration",
            "enum_declaration",
            "module",
            "internal_module",
        ],
    ),
    (Name::Given { name: "name", function: "value" }, &["variable_declarator", "public_field_definition"]),
    (Name::Given { name: "property", function: "value" }, &["field_definition"]),
    (Name::Given { name: "key", function: "value" }, &["pair"]),
    (Name::Given { name: "left", function: "right" }, &["assignment_expression"]),
];

const RUST: &[(Name, &[&str])] = &[
    (
        Name::Field("name"),
        &[
            "function_item",
            "function_signature_item",
            "struct_item",
            "enum_item",
            "union_item",
            "trait_item",
            "mod_item",
            "type_item",
            "associated_type",
            "const_item",
            "static_item",
            "macro_definition",
        ],
    ),
    (Name::Scoped("type"), &["impl_item"]),
];

const JAVA: &[&str] = &[
    "class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
    "annotation_type_declaration",
    "method_declaration",
    "constructor_declaration",
    "compact_constructor_declaration",
];

/// A header in C may be C++.
const C: &[(Name, &[&str])] = &[
    (Name::Declared, &["function_definition", "type_definition"]),
    (Name::Bodied("name"), &["struct_specifier", "union_specifier", "enum_specifier", "class_specifier"]),
    (Name::Scoped("name"), &["namespace_definition"]),
    (
        Name::Field("name"),
        &["preproc_def", "preproc_function_def", "alias_declaration", "concept_definition"],
    ),
];

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
            let symbols = row.symbols.iter().flat_map(|(_, kinds)| *kinds);
            for kind in symbols
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
