; Uses of names in YAML; tree-sitter-yaml has no query for tags.
(alias_name) @reference.name
