; Uses of names in style sheets; tree-sitter-css has no query for tags. A name of keyframes is a plain value.
(plain_value) @reference.name
