//! The table of the comment and string syntax of each language, and the kind of text that it holds.
//!
//! Invariant: no other table in this module has these data; a language that is not in it has [`TextKind::Unknown`].

/// The kind of text that a language holds, which decides how strict the rules are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// Statements; few of them start with `+` or `12:`.
    Code,
    /// Values; equal rows and rows of numbers are common.
    Data,
    /// Sentences; they may quote code, diffs and elisions.
    Prose,
    /// Patches, which contain diff marks and conflict markers.
    Patch,
    Unknown,
}

/// The syntax of one kind of string literal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quoted {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// Set when a backslash escapes the next character.
    pub(super) escapes: bool,
    /// Set when the string may span lines; otherwise the end of the line ends it.
    pub(super) lines: bool,
}

/// A lexical rule particular to a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quirk {
    /// The language has no such rule.
    None,
    /// `'a` may be a lifetime, `r#"` begins a raw string, and comments nest.
    Rust,
    /// A `/` may begin a regular expression.
    Slashes,
    /// A `#` begins a comment only at the start of a word, and `<<` begins a here-document.
    Shell,
    /// A `#` begins a comment only at the start of a word.
    Words,
}

/// The lexical syntax of a language.
#[derive(Debug)]
pub(super) struct LexicalSyntax {
    pub(super) name: &'static str,
    pub(super) kind: TextKind,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    pub(super) strings: &'static [Quoted],
    pub(super) quirk: Quirk,
}

/// Returns the syntax of a string of one line in which a backslash escapes the next character.
const fn quoted(open: &'static str) -> Quoted {
    Quoted { open, close: open, escapes: true, lines: false }
}

impl Quoted {
    /// Returns the same without escapes.
    const fn raw(self) -> Quoted {
        Quoted { escapes: false, ..self }
    }

    /// Returns the same for a string that may span lines.
    const fn multiline(self) -> Quoted {
        Quoted { lines: true, ..self }
    }
}

const DOUBLE: Quoted = quoted("\"");
const SINGLE: Quoted = quoted("'");
const C_LIKE: &[Quoted] = &[DOUBLE, SINGLE];
const SLASHES: &[&str] = &["//"];
const STARS: Option<(&str, &str)> = Some(("/*", "*/"));
const POINTED: Option<(&str, &str)> = Some(("<!--", "-->"));

const fn code(name: &'static str, strings: &'static [Quoted]) -> LexicalSyntax {
    let quirk = Quirk::None;
    LexicalSyntax { name, kind: TextKind::Code, line_comments: SLASHES, block_comment: STARS, strings, quirk }
}

const fn hashed(
    name: &'static str,
    kind: TextKind,
    strings: &'static [Quoted],
    quirk: Quirk,
) -> LexicalSyntax {
    LexicalSyntax { name, kind, line_comments: &["#"], block_comment: None, strings, quirk }
}

const fn plain(name: &'static str, kind: TextKind) -> LexicalSyntax {
    LexicalSyntax { name, kind, line_comments: &[], block_comment: None, strings: &[], quirk: Quirk::None }
}

static TABLE: [LexicalSyntax; 22] = [
    hashed(
        "python",
        TextKind::Code,
        &[quoted("\"\"\"").multiline(), quoted("'''").multiline(), DOUBLE, SINGLE],
        Quirk::None,
    ),
    code("go", &[DOUBLE, SINGLE, quoted("`").raw().multiline()]),
    LexicalSyntax { quirk: Quirk::Rust, ..code("rust", &[quoted("\"").multiline()]) },
    LexicalSyntax { quirk: Quirk::Slashes, ..code("javascript", &[DOUBLE, SINGLE, quoted("`").multiline()]) },
    LexicalSyntax { quirk: Quirk::Slashes, ..code("typescript", &[DOUBLE, SINGLE, quoted("`").multiline()]) },
    code("c", C_LIKE),
    code("cpp", C_LIKE),
    code("java", &[quoted("\"\"\"").multiline(), DOUBLE, SINGLE]),
    LexicalSyntax { line_comments: &[], ..code("css", C_LIKE) },
    hashed(
        "bash",
        TextKind::Code,
        &[quoted("\"").multiline(), quoted("'").raw().multiline(), quoted("`").multiline()],
        Quirk::Shell,
    ),
    LexicalSyntax {
        kind: TextKind::Data,
        line_comments: &[],
        block_comment: None,
        ..code("json", &[DOUBLE])
    },
    LexicalSyntax { kind: TextKind::Data, ..code("jsonc", &[DOUBLE]) },
    hashed(
        "toml",
        TextKind::Data,
        &[quoted("\"\"\"").multiline(), quoted("'''").raw().multiline(), DOUBLE, quoted("'").raw()],
        Quirk::None,
    ),
    hashed("yaml", TextKind::Data, &[quoted("\"").multiline(), quoted("'").raw().multiline()], Quirk::Words),
    LexicalSyntax {
        line_comments: &["--"],
        ..code("sql", &[quoted("'").raw().multiline(), quoted("\"").raw().multiline()])
    },
    hashed("dockerfile", TextKind::Unknown, &[], Quirk::Words),
    LexicalSyntax { block_comment: POINTED, ..plain("xml", TextKind::Data) },
    LexicalSyntax { block_comment: POINTED, ..plain("html", TextKind::Prose) },
    LexicalSyntax { block_comment: POINTED, ..plain("markdown", TextKind::Prose) },
    plain("text", TextKind::Prose),
    plain("csv", TextKind::Data),
    plain("diff", TextKind::Patch),
];

/// Returns the lexical syntax of a language, if the table has it.
pub(super) fn find(language: &str) -> Option<&'static LexicalSyntax> {
    TABLE.iter().find(|syntax| syntax.name == language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::languages;

    #[test]
    fn every_language_of_the_catalogue_is_known_here() {
        let unknown: Vec<&str> = languages()
            .iter()
            .map(|language| language.name.as_str())
            .filter(|name| find(name).is_none())
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        let unknown = TABLE.iter().filter(|syntax| languages().iter().all(|known| known.name != syntax.name));
        assert_eq!(unknown.count(), 0);
    }
}
