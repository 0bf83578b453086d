; Uses of names in JavaScript and TypeScript. Extends the query for tags of tree-sitter-javascript, which covers calls
; and classes only, and leaves definitions to the outline.
(identifier) @reference.name
(shorthand_property_identifier) @reference.name
(member_expression property: (property_identifier) @reference.member)
(member_expression property: (private_property_identifier) @reference.member)

(import_specifier name: (identifier) @reference.import)
(import_specifier alias: (identifier) @import.alias)
(import_clause (identifier) @reference.import)
(namespace_import (identifier) @import.module)
(export_specifier alias: (identifier) @none)
(import_statement source: (string) @import.from)
(export_statement source: (string) @import.from)
((variable_declarator
  name: (identifier) @import.module
  value: (call_expression function: (identifier) @none))
  (#eq? @none "require"))
((call_expression function: (identifier) @none arguments: (arguments . (string) @import.from))
  (#eq? @none "require"))
((variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @reference.import)
  value: (call_expression function: (identifier) @none))
  (#eq? @none "require"))

[
  (function_declaration)
  (function_expression)
  (generator_function)
  (generator_function_declaration)
  (arrow_function)
  (method_definition)
  (statement_block)
  (for_statement)
  (for_in_statement)
  (catch_clause)
] @local.scope

(arrow_function parameter: (identifier) @local.definition)
(shorthand_property_identifier_pattern) @local.definition
(pair_pattern value: (identifier) @local.definition)
(array_pattern (identifier) @local.definition)
(assignment_pattern left: (identifier) @local.definition)
(rest_pattern (identifier) @local.definition)
(variable_declarator name: (identifier) @local.definition)
(catch_clause parameter: (identifier) @local.definition)
(for_in_statement left: (identifier) @local.definition)
