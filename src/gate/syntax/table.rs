//! The one table of parsers, and of how far grammars are believed.

use super::fault::SyntaxFault;
use super::{Parse, ecmascript, json, python, rust, toml, yaml};
use crate::grammar::{self, Grammar};

/// Who reads a language.
pub(super) struct LanguageParsers {
    /// The language's name in the catalogue.
    pub(super) name: &'static str,
    /// Its own parser, where there is one in process.
    pub(super) parser: Option<OwnParser>,
    /// What the faults of its grammar are worth.
    pub(super) credit: Credit,
}

impl LanguageParsers {
    /// Gives the language's grammar.
    pub(super) fn grammar(&self) -> Option<&'static Grammar> {
        grammar::find(self.name)
    }

    /// True for a language in which no text is wrong: any sequence of characters is a document (CommonMark 0.31.2, 2.1).
    pub(super) fn accepts_every_text(&self) -> bool {
        self.name == "markdown"
    }
}

/// A parser made for the language.
pub(super) struct OwnParser {
    /// Its name, as people know it.
    pub(super) name: &'static str,
    /// Reads a text that lies at a path.
    pub(super) read: fn(&str, &str) -> Parse,
    /// The most stack, or memory in its place, that one level of nesting takes, in bytes; none where the parser
    /// does not call itself.
    pub(super) frame: usize,
    /// The most memory that it takes for each byte of a text.
    pub(super) per_byte: usize,
    /// How far it reads on after a fault.
    pub(super) stops: Stops,
    /// Gives the most levels that a text can nest, or where it goes deeper than the language itself does, without
    /// nesting along; tree-sitter is asked about large texts where there is nothing of the kind.
    pub(super) levels: Option<Levels>,
}

/// Measures how deep a text can nest; a fault where that is deeper than its language goes.
pub(super) type Levels = fn(&str) -> Result<usize, SyntaxFault>;

/// How far a parser reads on after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stops {
    /// It reads on to the end and reports every fault.
    Never,
    /// It ends; all that stands before the fault was read.
    AtFirst,
    /// It ends, and has read the whole text for other faults before.
    InPasses,
}

/// How far a grammar's faults can be believed. Measured on what people wrote: the grammars of C and C++ find faults in
/// two of three good files, as they know no macros, that of HTML in one of two, that of bash in one of twelve, and that of CSS does not know its newer rules; to
/// Markdown every text is good. Their faults only warn, but for those that no good file had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrammarTrust {
    /// All are certain.
    Whole,
    /// Certain are brackets without a partner, where the language has them, and these tokens when they are missing.
    Only(&'static [&'static str]),
}

/// What the faults of a grammar are worth.
pub(super) struct Credit {
    /// Whether brackets that stand alone are faults in the language.
    pub(super) brackets: bool,
    /// Which of its faults are certain.
    pub(super) trust: GrammarTrust,
    /// Whether a comma before a closing bracket is good.
    pub(super) trailing_commas: bool,
    /// True where a preprocessor reads the text first, so that brackets are counted without the grammar.
    pub(super) preprocessor: bool,
}

/// Every fault is one.
const FULL: Credit =
    Credit { brackets: true, trust: GrammarTrust::Whole, trailing_commas: false, preprocessor: false };

const fn doubted(brackets: bool, sure: &'static [&'static str]) -> Credit {
    Credit { brackets, trust: GrammarTrust::Only(sure), ..FULL }
}

/// Its brackets are counted as a compiler reads them.
const PREPROCESSED: Credit = Credit { preprocessor: true, ..doubted(true, &[]) };

/// Measured per byte of text and per level of the tree, on the worst of a hundred kinds of nesting, and doubled.
/// Ruff's parser moves to a stack of its own when it must; what it takes there is counted all the same.
mod frame {
    pub(super) const RUFF: usize = if cfg!(debug_assertions) { 8 << 10 } else { 4 << 10 };
    pub(super) const OXC: usize = if cfg!(debug_assertions) { 8 << 10 } else { 4 << 10 };
    pub(super) const SYN: usize = if cfg!(debug_assertions) { 64 << 10 } else { 16 << 10 };
    pub(super) const NONE: usize = 0;
}

/// The most memory that a parser takes for each byte of a text. They decide which small texts are parsed in a process of
/// their own; what that process may take is a limit of the kernel.
///
/// Measured in a release build: the largest resident memory of the process for texts of 1 MB of the shapes of
/// `tests/suite/memory.rs` and `tests/tools/memory.py`, less that for an empty text, and a tenth more. The worst were
/// lists of numbers (67 for ruff), arrow functions (61 for oxc), statements (416 for syn), tables (160 for toml_edit) and
/// ordinary files (44 for granit); serde_json builds nothing.
mod heap {
    pub(super) const RUFF: usize = 75;
    pub(super) const OXC: usize = 70;
    pub(super) const SYN: usize = 460;
    pub(super) const SERDE_JSON: usize = 0;
    pub(super) const TOML_EDIT: usize = 175;
    pub(super) const GRANIT: usize = 50;
}

const fn own(
    name: &'static str,
    read: fn(&str, &str) -> Parse,
    (frame, per_byte): (usize, usize),
    stops: Stops,
) -> Option<OwnParser> {
    Some(OwnParser { name, read, frame, per_byte, stops, levels: None })
}

/// Gives who reads this language.
pub(super) fn row(name: &str) -> Option<&'static LanguageParsers> {
    TABLE.iter().find(|row| row.name == name)
}

pub(super) static TABLE: [LanguageParsers; 16] = [
    LanguageParsers {
        name: "python",
        parser: Some(OwnParser {
            name: "ruff",
            read: python::read,
            frame: frame::RUFF,
            per_byte: heap::RUFF,
            stops: Stops::Never,
            levels: Some(python::levels),
        }),
        credit: FULL,
    },
    LanguageParsers {
        name: "javascript",
        parser: own("oxc", ecmascript::read_javascript, (frame::OXC, heap::OXC), Stops::AtFirst),
        credit: FULL,
    },
    LanguageParsers {
        name: "typescript",
        parser: own("oxc", ecmascript::read_typescript, (frame::OXC, heap::OXC), Stops::AtFirst),
        credit: FULL,
    },
    LanguageParsers {
        name: "rust",
        parser: own("syn", rust::read, (frame::SYN, heap::SYN), Stops::AtFirst),
        credit: FULL,
    },
    LanguageParsers {
        name: "json",
        parser: own("serde_json", json::read, (frame::NONE, heap::SERDE_JSON), Stops::AtFirst),
        credit: FULL,
    },
    tree("jsonc", Credit { trailing_commas: true, ..FULL }),
    LanguageParsers {
        name: "toml",
        parser: own("toml_edit", toml::read, (frame::NONE, heap::TOML_EDIT), Stops::InPasses),
        credit: FULL,
    },
    LanguageParsers {
        name: "yaml",
        parser: own("granit-parser", yaml::read, (frame::NONE, heap::GRANIT), Stops::AtFirst),
        credit: FULL,
    },
    tree("go", FULL),
    tree("bash", doubted(false, &["fi", "done", "esac"])),
    tree("html", doubted(false, &[])),
    tree("css", doubted(true, &[])),
    tree("c", PREPROCESSED),
    tree("cpp", PREPROCESSED),
    tree("java", FULL),
    tree("markdown", doubted(false, &[])),
];

const fn tree(name: &'static str, credit: Credit) -> LanguageParsers {
    LanguageParsers { name, parser: None, credit }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write as _;

    use super::super::cases::judged;
    use super::*;
    use crate::gate::Outcome;
    use crate::policy::{Catalogue, Languages};

    #[test]
    fn every_row_has_a_grammar_and_every_grammar_a_row() {
        let grammars: BTreeSet<&str> = grammar::ALL.iter().map(|grammar| grammar.language).collect();
        assert_eq!(grammars, TABLE.iter().map(|row| row.name).collect());
        for row in &TABLE {
            assert!(row.grammar().is_some(), "{}", row.name);
        }
    }

    #[test]
    fn the_rows_are_the_languages_of_the_gate() {
        let gate = Catalogue::embedded().find("syntax").unwrap();
        let Languages::Only(names) = &gate.languages else { panic!("the gate names its languages") };
        let named: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let rows: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
        assert_eq!(rows, named);
        assert_eq!((rows.len(), named.len()), (TABLE.len(), names.len()), "one stands twice");
    }

    /// What a fault does at level `block`: which ones refuse the edit, and which ones are only reported.
    fn grip(row: &LanguageParsers) -> (String, &'static str) {
        match (&row.parser, row.credit.trust) {
            (Some(_), _) | (None, GrammarTrust::Whole) => ("every fault".to_owned(), "nothing"),
            (None, GrammarTrust::Only([])) if !row.credit.brackets => ("nothing".to_owned(), "every fault"),
            (None, GrammarTrust::Only(sure)) => {
                let missing = sure.iter().map(|word| format!("a missing `{word}`"));
                let lone = row.credit.brackets.then(|| "a bracket without a partner".to_owned());
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
        let page = include_str!("../../../docs/policy.md");
        assert!(page.contains(&format!("\n\n{table}\n")), "docs/policy.md has another table than\n{table}");
    }

    #[test]
    fn what_the_page_says_of_warnings_is_what_the_judge_does() {
        for (path, text, blocks) in [
            ("a.sh", "if true; then\n  echo a\n", true),
            ("a.sh", "for a in b; do\n  echo a\n", true),
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
            // The control: a bracket of the same text that is left open.
            assert!(judged("a.css", None, &format!("{text}\nd {{\n")).blocking().count() > 0, "{text}");
        }
        assert!(warned > 8, "with every fault believed, {warned} of these were refused");
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
