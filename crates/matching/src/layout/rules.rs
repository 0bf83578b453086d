//! How the code of a language is split into tokens, and what its formatters add.

/// The lexical rules of some languages.
#[derive(Debug)]
pub(super) struct LexicalRules {
    languages: &'static [&'static str],
    pub(super) line_comment: Option<&'static str>,
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// The delimiters of strings, longer ones first.
    pub(super) strings: &'static [StringRule],
    /// The letters that may stand directly before a string.
    pub(super) prefixes: &'static str,
    /// Set if a single quote may also begin a lifetime.
    pub(super) has_lifetimes: bool,
    /// Set if line breaks outside of brackets end a statement, and indentation makes blocks.
    pub(super) counts_lines: bool,
    /// Set if formatters put broken expressions in parentheses.
    pub(super) adds_parentheses: bool,
    /// Set if `x => y` and `(x) => y` are the same function.
    pub(super) has_arrow_functions: bool,
    /// Set if a line that begins with `#` is a directive.
    pub(super) has_directives: bool,
    /// The words after which a line break ends the statement.
    pub(super) line_ending_words: &'static [&'static str],
}

/// The rules of a kind of string.
#[derive(Debug, Clone, Copy)]
pub(super) struct StringRule {
    pub(super) delimiter: &'static str,
    /// Set if it may contain line ends.
    pub(super) is_multiline: bool,
    /// Set if a backslash makes the next character part of it.
    pub(super) has_escapes: bool,
}

const fn line(delimiter: &'static str) -> StringRule {
    StringRule { delimiter, is_multiline: false, has_escapes: true }
}

const fn block(delimiter: &'static str) -> StringRule {
    StringRule { delimiter, is_multiline: true, has_escapes: true }
}

const PLAIN: LexicalRules = LexicalRules {
    languages: &[],
    line_comment: Some("//"),
    block_comment: Some(("/*", "*/")),
    strings: &[line("\""), line("'")],
    prefixes: "",
    has_lifetimes: false,
    counts_lines: false,
    adds_parentheses: false,
    has_arrow_functions: false,
    has_directives: false,
    line_ending_words: &[],
};

/// The languages whose tokens may be compared without their blanks.
static RULES: [LexicalRules; 7] = [
    LexicalRules {
        languages: &["python"],
        line_comment: Some("#"),
        block_comment: None,
        strings: &[block("\"\"\""), block("'''"), line("\""), line("'")],
        prefixes: "rRbBuUfFtT",
        counts_lines: true,
        adds_parentheses: true,
        ..PLAIN
    },
    LexicalRules {
        languages: &["javascript", "typescript"],
        strings: &[line("\""), line("'"), block("`")],
        adds_parentheses: true,
        has_arrow_functions: true,
        line_ending_words: &["return", "throw", "break", "continue", "yield", "async"],
        ..PLAIN
    },
    LexicalRules {
        languages: &["rust"],
        strings: &[block("\""), line("'")],
        prefixes: "bc",
        has_lifetimes: true,
        ..PLAIN
    },
    LexicalRules {
        languages: &["go"],
        strings: &[
            line("\""),
            line("'"),
            StringRule { delimiter: "`", is_multiline: true, has_escapes: false },
        ],
        line_ending_words: &["return", "break", "continue", "fallthrough"],
        ..PLAIN
    },
    LexicalRules { languages: &["java"], strings: &[block("\"\"\""), line("\""), line("'")], ..PLAIN },
    LexicalRules { languages: &["c", "cpp"], has_directives: true, ..PLAIN },
    LexicalRules { languages: &["json"], strings: &[line("\"")], ..PLAIN },
];

/// Returns the rules of a language, by its name in the catalogue; `None` if its blanks have a meaning that the rules do
/// not know.
pub(super) fn of_language(language: &str) -> Option<&'static LexicalRules> {
    RULES.iter().find(|rules| rules.languages.contains(&language))
}
