; Uses of names in HTML; tree-sitter-html has no query for tags. An `id` is used by the values of other attributes.
(attribute_value) @reference.name
