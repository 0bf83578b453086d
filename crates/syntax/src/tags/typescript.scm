; Extends the query for tags of tree-sitter-typescript, which covers types in annotations only.
(type_identifier) @reference.type
(nested_type_identifier name: (type_identifier) @reference.member)
(nested_identifier property: (property_identifier) @reference.member)
(required_parameter pattern: (identifier) @local.definition)
(optional_parameter pattern: (identifier) @local.definition)
(import_require_clause (identifier) @import.module)
(import_require_clause (identifier) @provided.name)
(import_alias . (identifier) @provided.name)
; Parameters of a constructor that are members of the class.
(required_parameter (accessibility_modifier) pattern: (identifier) @provided.name)
(required_parameter (override_modifier) pattern: (identifier) @provided.name)
(required_parameter "readonly" pattern: (identifier) @provided.name)
(optional_parameter (accessibility_modifier) pattern: (identifier) @provided.name)
(optional_parameter (override_modifier) pattern: (identifier) @provided.name)
(optional_parameter "readonly" pattern: (identifier) @provided.name)
; The variables of a namespace, and of `declare global`, are not local.
(internal_module body: (statement_block [
  (_ (variable_declarator name: (identifier) @local.outer))
  (export_statement declaration: (_ (variable_declarator name: (identifier) @local.outer)))]))
(module body: (statement_block [
  (_ (variable_declarator name: (identifier) @local.outer))
  (export_statement declaration: (_ (variable_declarator name: (identifier) @local.outer)))]))
(ambient_declaration (statement_block (_ (variable_declarator name: (identifier) @local.outer))))
