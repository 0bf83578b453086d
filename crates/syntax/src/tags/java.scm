; Uses of names in Java. Extends the query for tags of tree-sitter-java, which covers only calls, superclasses and types
; created by `new`, and leaves definitions to the outline.
(identifier) @reference.name
(type_identifier) @reference.type
(method_invocation name: (identifier) @reference.member)
(field_access field: (identifier) @reference.member)
(method_reference (_) (identifier) @reference.member)

(package_declaration (_) @none)
(import_declaration (scoped_identifier name: (identifier) @reference.import))
(import_declaration (asterisk) @import.glob)
(element_value_pair key: (identifier) @reference.member)

[
  (method_declaration)
  (constructor_declaration)
  (lambda_expression)
  (block)
  (for_statement)
  (enhanced_for_statement)
  (catch_clause)
  (try_with_resources_statement)
] @local.scope

(formal_parameter name: (identifier) @local.definition)
(spread_parameter (variable_declarator name: (identifier) @local.definition))
(catch_formal_parameter name: (identifier) @local.definition)
(enhanced_for_statement name: (identifier) @local.definition)
(resource name: (identifier) @local.definition)
(inferred_parameters (identifier) @local.definition)
(lambda_expression parameters: (identifier) @local.definition)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @local.definition))

; The components of a record are its accessor methods.
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @provided.name)))
(record_declaration parameters: (formal_parameters (spread_parameter (variable_declarator name: (identifier) @provided.name))))
