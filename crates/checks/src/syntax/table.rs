//! The table of parsers, with the reliability of each grammar.

use super::brackets::BracketReport;
use super::fault::SyntaxFault;
use super::parse::Parse;
use super::parts::PartCheck;
use super::{ecmascript, go, json, jsonc, python, rust, toml, yaml};
use lockgate_syntax::{self as grammar, Grammar, Node};

/// The parsers of a language.
pub(super) struct LanguageParsers {
    /// The language's name in the catalogue.
    pub(super) name: &'static str,
    /// Its own parser, if lockgate links one.
    pub(super) parser: Option<OwnParser>,
    /// The reliability of the faults of its grammar.
    pub(super) credit: Credit,
    /// Decides if a changed part is valid in its place; `None` if the parts of a file cannot be parsed apart.
    pub(super) part_check: Option<PartCheck>,
}

impl LanguageParsers {
    /// Returns the language's tree-sitter grammar.
    pub(super) fn grammar(&self) -> Option<&'static Grammar> {
        grammar::find(self.name)
    }

    /// True for a language in which every text is valid: any sequence of characters is a document (CommonMark 0.31.2, 2.1).
    pub(super) fn accepts_every_text(&self) -> bool {
        self.name == "markdown"
    }
}

/// A parser written for one language.
pub(super) struct OwnParser {
    /// The name of its library.
    pub(super) name: &'static str,
    /// Parses a text with the given path.
    pub(super) read: fn(&str, &str) -> Parse,
    /// The largest stack of one level of nesting, or memory that replaces it, in bytes; 0 if the parser is not recursive.
    pub(super) frame: usize,
    /// The largest memory use in bytes, per byte of text.
    pub(super) per_byte: usize,
    /// The behaviour after a fault.
    pub(super) stops: Stops,
    /// Measures the nesting of a text without recursion, if the parser has such a function; otherwise tree-sitter
    /// measures large texts.
    pub(super) levels: Option<Levels>,
    /// Pairs the brackets of a text, if the parser reports them; otherwise tree-sitter does.
    pub(super) brackets: Option<fn(&str) -> BracketReport>,
}

/// A function that returns the most levels that a text can nest, or a fault if they exceed the limit of the language.
pub(super) type Levels = fn(&str) -> Result<usize, SyntaxFault>;

/// The behaviour of a parser after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stops {
    /// It continues to the end and reports every fault.
    Never,
    /// It stops; the text before the fault has no other fault.
    AtFirst,
    /// It stops, but earlier passes have checked the whole text for other faults.
    InPasses,
}

/// The reliability of a grammar's faults, measured on files that people wrote. The grammars of C and C++ find faults in two
/// of three valid files, because they do not expand macros; that of HTML in one of two, and that of bash in one of twelve.
/// That of CSS lacks its newer rules, and in Markdown every text is valid. The faults of these grammars only warn, except
/// those that no valid file had. `shell` finds further faults of bash, which only warn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrammarTrust {
    /// All faults are certain.
    Whole,
    /// Only these are certain: unmatched brackets, if `brackets` is set, and these tokens if they are missing.
    Only(&'static [&'static str]),
}

/// The reliability of a grammar's faults, by kind.
pub(super) struct Credit {
    /// Set when unmatched brackets are faults in the language.
    pub(super) brackets: bool,
    /// The faults that are certain.
    pub(super) trust: GrammarTrust,
    /// Set when a comma before a closing bracket is valid.
    pub(super) trailing_commas: bool,
    /// Set when a preprocessor reads the text first, so that brackets are counted without the grammar.
    pub(super) preprocessor: bool,
    /// Returns the faults of a node that the grammar accepts.
    pub(super) accepted_faults: fn(Node<'_>, &str) -> Vec<SyntaxFault>,
    /// Returns a fault of a whole text that the grammar accepts, and that a part of the text may have.
    pub(super) whole_fault: fn(&str) -> Option<SyntaxFault>,
}

/// A grammar whose faults are all certain.
const FULL: Credit = Credit {
    brackets: true,
    trust: GrammarTrust::Whole,
    trailing_commas: false,
    preprocessor: false,
    accepted_faults: |_, _| Vec::new(),
    whole_fault: |_| None,
};

/// A grammar of which only unmatched brackets are certain.
const ONLY_BRACKETS: Credit = Credit { trust: GrammarTrust::Only(&[]), ..FULL };

/// A grammar of which only these tokens are certain, if they are missing.
const fn only_tokens(sure: &'static [&'static str]) -> Credit {
    Credit { brackets: false, trust: GrammarTrust::Only(sure), ..FULL }
}

/// A grammar of a language with a preprocessor, whose brackets are counted as a compiler reads them.
const PREPROCESSED: Credit = Credit { preprocessor: true, ..ONLY_BRACKETS };

/// The stack per level of nesting is measured per byte of text and per level of the tree, on the worst of a hundred kinds of
/// nesting, and doubled. Ruff's parser allocates further stacks when it needs them; these are included.
///
/// The memory per byte of text decides which small texts are parsed in another process; the kernel limits the memory of that
/// process. It is measured in a release build: the largest resident memory of the process for texts of 1 MB of the shapes of
/// `tests/suite/memory.rs` and `tests/tools/memory.py`, minus that for an empty text, plus a tenth. The worst were
/// lists of numbers (67 for ruff), arrow functions (61 for oxc), statements (416 for syn), tables (160 for toml_edit) and
/// ordinary files (44 for granit); serde_json builds nothing.
const RUFF: OwnParser = OwnParser {
    levels: Some(python::levels),
    brackets: Some(python::brackets),
    ..own("ruff", python::read, Stops::Never, (frame(4, 8), 75))
};
const OXC: OwnParser = own("oxc", ecmascript::read_javascript, Stops::AtFirst, (frame(4, 8), 70));
const SYN: OwnParser = own("syn", rust::read, Stops::AtFirst, (frame(16, 64), 460));
const SERDE_JSON: OwnParser = own("serde_json", json::read, Stops::AtFirst, (0, 0));
const TOML_EDIT: OwnParser = own("toml_edit", toml::read, Stops::InPasses, (0, 175));
const GRANIT: OwnParser = own("granit-parser", yaml::read, Stops::AtFirst, (0, 50));

/// Returns the stack per level in bytes, from its KiB in a release build and in a debug build.
const fn frame(release: usize, debug: usize) -> usize {
    if cfg!(debug_assertions) { debug << 10 } else { release << 10 }
}

const fn own(
    name: &'static str,
    read: fn(&str, &str) -> Parse,
    stops: Stops,
    (frame, per_byte): (usize, usize),
) -> OwnParser {
    OwnParser { name, read, frame, per_byte, stops, levels: None, brackets: None }
}

/// Returns the parsers of a language, if the table has it.
pub(super) fn row(name: &str) -> Option<&'static LanguageParsers> {
    TABLE.iter().find(|row| row.name == name)
}

pub(super) static TABLE: [LanguageParsers; 16] = [
    LanguageParsers { parser: Some(RUFF), part_check: Some(python::fits), ..tree("python", FULL) },
    LanguageParsers { parser: Some(OXC), part_check: Some(ecmascript::fits), ..tree("javascript", FULL) },
    LanguageParsers {
        parser: Some(OwnParser { read: ecmascript::read_typescript, ..OXC }),
        part_check: Some(ecmascript::fits),
        ..tree("typescript", FULL)
    },
    LanguageParsers { parser: Some(SYN), part_check: Some(rust::fits), ..tree("rust", FULL) },
    LanguageParsers { parser: Some(SERDE_JSON), ..tree("json", FULL) },
    LanguageParsers {
        parser: Some(OwnParser { read: jsonc::read, ..SERDE_JSON }),
        ..tree("jsonc", Credit { trailing_commas: true, ..FULL })
    },
    LanguageParsers { parser: Some(TOML_EDIT), ..tree("toml", FULL) },
    LanguageParsers { parser: Some(GRANIT), ..tree("yaml", FULL) },
    LanguageParsers {
        part_check: Some(go::fits),
        ..tree("go", Credit { accepted_faults: go::faults, whole_fault: go::missing_package, ..FULL })
    },
    tree("bash", only_tokens(&["fi", "done", "esac"])),
    tree("html", only_tokens(&[])),
    tree("css", ONLY_BRACKETS),
    tree("c", PREPROCESSED),
    tree("cpp", PREPROCESSED),
    tree("java", FULL),
    tree("markdown", only_tokens(&[])),
];

const fn tree(name: &'static str, credit: Credit) -> LanguageParsers {
    LanguageParsers { name, parser: None, credit, part_check: None }
}

/// The parser that read a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParserKind {
    /// The language's own parser, and its behaviour after a fault.
    Own(Stops),
    /// Tree-sitter with the language's grammar.
    Tree,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write as _;

    use super::super::cases::judged;
    use super::*;
    use crate::Outcome;
    use lockgate_policy::{Catalogue, Languages};

    #[test]
    fn every_row_has_a_grammar_and_every_grammar_a_row() {
        let grammars: BTreeSet<&str> = grammar::grammars().iter().map(|grammar| grammar.language).collect();
        assert_eq!(grammars, TABLE.iter().map(|row| row.name).collect());
        for row in &TABLE {
            assert!(row.grammar().is_some(), "{}", row.name);
        }
    }

    #[test]
    fn the_rows_are_the_languages_of_the_gate() {
        let gate = Catalogue::embedded().find("syntax").unwrap();
        let Languages::Only(names) = &gate.languages else { panic!("the gate names its languages") };
        let gate_languages: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let rows: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
        assert_eq!(rows, gate_languages);
        assert_eq!((rows.len(), gate_languages.len()), (TABLE.len(), names.len()), "one stands twice");
    }

    /// Returns the faults that block an edit at level `block`, and the faults that only warn.
    fn grip(row: &LanguageParsers) -> (String, &'static str) {
        match (&row.parser, row.credit.trust) {
            (Some(_), _) | (None, GrammarTrust::Whole) => ("every fault".to_owned(), "nothing"),
            (None, GrammarTrust::Only([])) if !row.credit.brackets => ("nothing".to_owned(), "every fault"),
            (None, GrammarTrust::Only(sure)) => {
                let missing = sure.iter().map(|word| format!("a missing `{word}`"));
                let lone = row.credit.brackets.then(|| "an unmatched bracket".to_owned());
                (missing.chain(lone).collect::<Vec<_>>().join(", "), "all others")
            }
        }
    }

    #[test]
    fn the_page_says_who_reads_what_and_what_blocks() {
        let mut table = "| language | read by | blocks | only warns |\n|---|---|---|---|\n".to_owned();
        for row in &TABLE {
            let reader = row.parser.as_ref().map_or("tree-sitter", |own| own.name);
            let (blocks, warns) = grip(row);
            writeln!(table, "| {} | {reader} | {blocks} | {warns} |", row.name).unwrap();
        }
        let page = include_str!("../../../../docs/policy.md");
        assert!(
            page.contains(&format!("\n\n{table}\n")),
            "replace the table of parsers in docs/policy.md by\n{table}"
        );
    }

    #[test]
    fn what_the_page_says_of_warnings_is_what_the_judge_does() {
        for (path, text, blocks) in [
            ("a.sh", "if true; then\n  echo a\n", true),
            ("a.sh", "for a in b; do\n  echo a\n", true),
            ("a.sh", "case a in\n  b) c ;;\n", true),
            ("a.sh", "echo \"$(cat\n", false),
            ("a.html", "<p>a</b></p>\n", false),
            ("a.c", "int f(void) {\n", true),
            ("a.c", "int a = 1\n", false),
            ("a.cpp", "int f() { return (1; }\n", true),
            ("a.cpp", "int a = 1\n", false),
            ("a.css", "p { color: red;\n", true),
            ("a.css", "p { color: red; }}\n", true),
            ("a.css", "@media (min-width: 1px { p { color: red; } }\n", true),
            ("a.css", "p { color red }\n", false),
        ] {
            let verdict = judged(path, None, text);
            assert!(!verdict.findings.is_empty(), "{path}: {text}");
            assert_eq!(verdict.blocking().count() > 0, blocks, "{path}: {text} {:?}", verdict.findings);
        }
    }

    #[test]
    fn css_that_the_grammar_does_not_know_only_warns() {
        let mut warned = 0;
        for text in [
            "@media (width >= 600px) { a { b: c; } }",
            "@media (400px <= width <= 700px) { a { b: c; } }",
            "@container foo (min-width: 1px) { a { b: c; } }",
            "@container style(--x: y) { a { b: c; } }",
            "@page :first { margin: 1in; }",
            "a[href$=\".x\" i] {}",
            "@keyframes x { 50.5% { b: c; } }",
            "a { color: red !important; ; }",
            "a { color: red ! important; }",
            "a { --x: { a: b }; }",
            "a { b: var(--y,); }",
            "@import url(x) layer(a) supports(display: grid);",
            "<!-- a { b: c; } -->",
            "@custom-variant dark (&:where(.dark, .dark *));",
            "a { *zoom: 1; }",
            "a { b: url('data:x,\\\ny'); }",
        ] {
            let verdict = judged("a.css", None, &format!("{text}\n"));
            assert_eq!(verdict.blocking().count(), 0, "{text}: {:?}", verdict.findings);
            warned += usize::from(!verdict.findings.is_empty());
            // The control: the same text with an unclosed bracket.
            assert!(judged("a.css", None, &format!("{text}\nd {{\n")).blocking().count() > 0, "{text}");
        }
        assert!(warned > 8, "with every fault believed, {warned} of these were refused");
    }

    #[test]
    fn brackets_in_an_unquoted_url_are_no_brackets_of_css() {
        let blocks = |text: &str| judged("a.css", None, &format!("{text}\n")).blocking().count() > 0;
        for text in [
            "a { b: url(x{y); }",
            "a { b: url(x}y); }",
            "a { b: url( x[y ); }",
            r"a { b: url(foo\)bar); }",
            r"a { b: url(foo\(bar), url(c); }",
            "@import url(x{y);",
        ] {
            assert!(!blocks(text), "{text}");
            // The control: the brackets around it still count.
            assert!(blocks(&format!("{text}\nd {{")), "{text}");
        }
        for text in ["a { b: url(x{y; }", "a { b: my-url(x{y); }", "a { b: url(x(y); }"] {
            assert!(blocks(text), "{text}");
        }
    }

    #[test]
    fn markdown_is_read_and_never_blocks() {
        let texts = [
            "# A\n\n- b\n",
            "",
            "```\nno end",
            "|a|\n|-|\n|",
            "<div>\n",
            "[a]: <",
            "***",
            "- [ \n>#\n\t1) \0",
        ];
        for text in texts {
            let verdict = judged("a.md", Some("# A\n"), text);
            assert!(
                matches!(verdict.runs[0].outcome, Outcome::Passed | Outcome::Found),
                "{text:?}: {verdict:?}"
            );
            assert_eq!(verdict.blocking().count(), 0, "{text:?}: {:?}", verdict.findings);
        }
    }
}
