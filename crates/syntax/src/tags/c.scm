; Uses of names in C and C++: the queries for tags of tree-sitter-c and tree-sitter-cpp cover definitions only, which are
; left to the outline.
(identifier) @reference.name
(type_identifier) @reference.type
(field_identifier) @reference.member
(preproc_arg) @reference.body

[
  (function_definition)
  (compound_statement)
  (for_statement)
  (preproc_function_def)
] @local.scope

(preproc_params (identifier) @local.definition)
(parameter_declaration declarator: (identifier) @local.definition)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @local.definition))
(parameter_declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @local.definition)))
(parameter_declaration declarator: (array_declarator declarator: (identifier) @local.definition))
(declaration declarator: (identifier) @local.definition)
(declaration declarator: (pointer_declarator declarator: (identifier) @local.definition))
(declaration declarator: (array_declarator declarator: (identifier) @local.definition))
(init_declarator declarator: (identifier) @local.definition)
(init_declarator declarator: (pointer_declarator declarator: (identifier) @local.definition))
(init_declarator declarator: (array_declarator declarator: (identifier) @local.definition))
