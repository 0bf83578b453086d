; JSON, TOML and Markdown define names but never use them.
(ERROR) @none
