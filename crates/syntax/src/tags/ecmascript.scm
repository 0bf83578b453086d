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
(export_specifier name: (identifier) @provided.name !alias)
(export_specifier alias: [(identifier) @provided.name (string (string_fragment) @provided.name)])
(export_statement !source (export_clause (export_specifier name: (identifier) @exported.name !alias)))
(export_statement (export_clause (export_specifier name: (identifier) @reference.reexport)) source: (string))
(export_statement value: (identifier) @exported.name)
(export_statement "*" @export.all)
(namespace_export [(identifier) @provided.name (string (string_fragment) @provided.name)])
(namespace_import (identifier) @provided.name)
; Compilers write `exports.a = void 0` first for every name that they export later.
((assignment_expression
  left: [
    (member_expression object: (_) @compared.module property: (property_identifier) @provided.name)
    (subscript_expression object: (_) @compared.module index: (string (string_fragment) @provided.name))
  ]
  right: (_) @compared.value)
  (#any-of? @compared.module "exports" "module.exports")
  (#not-match? @compared.value "(^|= *)(void 0|undefined)$")
  (#not-eq? @provided.name @compared.value))
((augmented_assignment_expression
  left: [
    (member_expression object: (_) @compared.module property: (property_identifier) @provided.name)
    (subscript_expression object: (_) @compared.module index: (string (string_fragment) @provided.name))
  ]
  right: (_) @compared.value)
  (#any-of? @compared.module "exports" "module.exports")
  (#not-eq? @provided.name @compared.value))
((assignment_expression
  left: [
    (member_expression object: (_) @compared.module property: (property_identifier) @exported.name)
    (subscript_expression object: (_) @compared.module index: (string (string_fragment) @exported.name))
  ]
  right: (identifier) @compared.value)
  (#any-of? @compared.module "exports" "module.exports")
  (#eq? @exported.name @compared.value))
((augmented_assignment_expression
  left: [
    (member_expression object: (_) @compared.module property: (property_identifier) @exported.name)
    (subscript_expression object: (_) @compared.module index: (string (string_fragment) @exported.name))
  ]
  right: (identifier) @compared.value)
  (#any-of? @compared.module "exports" "module.exports")
  (#eq? @exported.name @compared.value))
; An assignment of `exports` alone exports nothing, but hardly stands without one of `module.exports`.
((assignment_expression
  left: [(member_expression) (identifier)] @compared.module
  right: (object (pair
    key: [(property_identifier) @provided.name (string (string_fragment) @provided.name)]
    value: (_) @compared.value)))
  (#any-of? @compared.module "exports" "module.exports")
  (#not-eq? @provided.name @compared.value))
((assignment_expression
  left: [(member_expression) (identifier)] @compared.module
  right: (object (pair
    key: [(property_identifier) @exported.name (string (string_fragment) @exported.name)]
    value: (identifier) @compared.value)))
  (#any-of? @compared.module "exports" "module.exports")
  (#eq? @exported.name @compared.value))
((assignment_expression
  left: [(member_expression) (identifier)] @compared.module
  right: (object (shorthand_property_identifier) @exported.name))
  (#any-of? @compared.module "exports" "module.exports"))
((assignment_expression
  left: [(member_expression) (identifier)] @compared.module
  right: (object (method_definition
    name: [(property_identifier) @provided.name (string (string_fragment) @provided.name)])))
  (#any-of? @compared.module "exports" "module.exports"))
((assignment_expression
  left: [(member_expression) (identifier)] @compared.module
  right: (call_expression function: (identifier) @export.all))
  (#any-of? @compared.module "exports" "module.exports")
  (#eq? @export.all "require"))
((assignment_expression
  left: [(member_expression) (identifier)] @compared.module
  right: (object (spread_element (call_expression function: (identifier) @export.all))))
  (#any-of? @compared.module "exports" "module.exports")
  (#eq? @export.all "require"))
; What compilers make of `export { a } from` and of `export * from`, and what people write alike.
((call_expression
  function: (member_expression property: (property_identifier) @compared.function)
  arguments: (arguments . (_) @compared.module . (string (string_fragment) @provided.name)))
  (#eq? @compared.function "defineProperty")
  (#any-of? @compared.module "exports" "module.exports"))
((call_expression
  function: (member_expression property: (property_identifier) @compared.function)
  arguments: (arguments . (_) @compared.module (object [
    (pair key: [(property_identifier) @provided.name (string (string_fragment) @provided.name)])
    (method_definition name: (property_identifier) @provided.name)
  ])))
  (#any-of? @compared.function "assign" "defineProperties")
  (#any-of? @compared.module "exports" "module.exports"))
((call_expression
  function: [(identifier) @compared.function (member_expression property: (property_identifier) @compared.function)]
  arguments: (arguments . (call_expression function: (identifier) @export.all) . (identifier) @compared.module .))
  (#eq? @compared.function "__exportStar")
  (#eq? @export.all "require")
  (#eq? @compared.module "exports"))
((call_expression
  function: (member_expression property: (property_identifier) @compared.function)
  arguments: (arguments . (_) @compared.module (call_expression function: (identifier) @export.all)))
  (#eq? @compared.function "assign")
  (#any-of? @compared.module "exports" "module.exports")
  (#eq? @export.all "require"))
((assignment_expression
  left: (subscript_expression object: (_) @compared.module index: (identifier) @export.all))
  (#any-of? @compared.module "exports" "module.exports"))
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
