; Uses of names in Go. Extends the query for tags of tree-sitter-go, which covers calls and types only, and leaves
; definitions to the outline.
(identifier) @reference.name
(type_identifier) @reference.type
(field_identifier) @reference.member
(qualified_type name: (type_identifier) @reference.member)
(keyed_element key: (literal_element (identifier) @reference.key))

(import_spec path: (_) @import.module)
(import_spec name: (package_identifier) @import.alias)
(import_spec name: (dot) @import.glob)

[
  (function_declaration)
  (method_declaration)
  (func_literal)
  (block)
  (if_statement)
  (for_statement)
  (expression_switch_statement)
  (type_switch_statement)
  (expression_case)
  (default_case)
  (type_case)
  (communication_case)
] @local.scope

(parameter_declaration name: (identifier) @local.definition)
(variadic_parameter_declaration name: (identifier) @local.definition)
(short_var_declaration left: (expression_list (identifier) @local.definition))
(range_clause left: (expression_list (identifier) @local.definition))
(receive_statement left: (expression_list (identifier) @local.definition))
(type_switch_statement alias: (expression_list (identifier) @local.definition))
(var_spec name: (identifier) @local.definition)
(const_spec name: (identifier) @local.definition)
