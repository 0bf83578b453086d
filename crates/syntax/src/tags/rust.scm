; Uses of names in Rust. Extends the query for tags of tree-sitter-rust, which covers calls and implementations only, and
; leaves definitions to the outline. In a macro's tokens only the names have nodes.
(identifier) @reference.name
(type_identifier) @reference.type
(shorthand_field_identifier) @reference.member
(field_expression field: (field_identifier) @reference.member)
(field_initializer field: (field_identifier) @reference.member)
(field_pattern name: (field_identifier) @reference.member)
(scoped_identifier name: (identifier) @reference.path)
(scoped_type_identifier name: (type_identifier) @reference.path)
(token_tree (string_literal (string_content) @reference.format))
(token_tree (raw_string_literal (string_content) @reference.format))

(use_as_clause alias: (identifier) @any.type)
(type_parameter name: (type_identifier) @any.type)
(type_item name: (type_identifier) @any.type)
(associated_type name: (type_identifier) @any.type)
(trait_item name: (type_identifier) @any.type)
(impl_item trait: (type_identifier) @any.type)
(impl_item trait: (scoped_type_identifier name: (type_identifier) @any.type))
(impl_item trait: (generic_type type: (type_identifier) @any.type))
(impl_item trait: (generic_type type: (scoped_type_identifier name: (type_identifier) @any.type)))

(use_declaration argument: (identifier) @reference.import)
(use_declaration argument: (scoped_identifier name: (identifier) @reference.import))
(use_list (identifier) @reference.import)
(use_list (scoped_identifier name: (identifier) @reference.import))
(use_as_clause path: (identifier) @reference.import)
(use_as_clause path: (scoped_identifier name: (identifier) @reference.import))
(use_as_clause alias: (identifier) @import.alias)
(use_wildcard) @import.glob

[
  (function_item)
  (closure_expression)
  (block)
  (match_arm)
  (for_expression)
] @local.scope

(parameter pattern: (identifier) @local.definition)
(let_declaration pattern: (identifier) @local.definition)
(for_expression pattern: (identifier) @local.definition)
(closure_parameters (identifier) @local.definition)
(captured_pattern . (identifier) @local.definition)
(mut_pattern (identifier) @local.definition)
(ref_pattern (identifier) @local.definition)
(reference_pattern (identifier) @local.definition)
((tuple_pattern (identifier) @local.definition) (#match? @local.definition "^[a-z_]"))
((tuple_struct_pattern type: (_) (identifier) @local.definition) (#match? @local.definition "^[a-z_]"))
((match_pattern (identifier) @local.definition) (#match? @local.definition "^[a-z_]"))
(field_pattern pattern: (identifier) @local.definition)
