; JSON, TOML and Markdown name things and never use a name.
(ERROR) @none
