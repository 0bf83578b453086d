(namespace_identifier) @reference.type
(qualified_identifier name: (identifier) @reference.path)
(lambda_expression) @local.scope
(parameter_declaration declarator: (reference_declarator (identifier) @local.definition))
(optional_parameter_declaration declarator: (identifier) @local.definition)
(init_declarator declarator: (reference_declarator (identifier) @local.definition))
(for_range_loop declarator: (identifier) @local.definition)
(for_range_loop declarator: (reference_declarator (identifier) @local.definition))
(for_range_loop) @local.scope
