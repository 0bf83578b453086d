; Uses of names in shell scripts; tree-sitter-bash has no query for tags.
(command_name (word) @reference.name)
(variable_name) @reference.name
