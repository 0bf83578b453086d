//! The table of grammars.

use std::borrow::Cow;

use tree_sitter::Language;

use super::columns::IndentStack;
use super::{css_urls, memory, newer_go, newer_java, weight};

/// The tree-sitter grammar of a language, with its dialects.
#[derive(Debug)]
pub struct Grammar {
    /// The language's name in the catalogue.
    pub language: &'static str,
    dialects: fn(&str) -> Vec<Language>,
    wants_line_end: bool,
    stack: IndentStack,
    weight: fn(&str) -> usize,
    /// The steps to charge once for a text.
    base_cost: fn(&str) -> usize,
    forgets: fn(&str) -> bool,
    /// Replaces syntax that the grammar does not support; `None` if there is none.
    replace_unsupported: fn(&str) -> Option<String>,
}

impl Grammar {
    /// Returns the possible dialects of a file at this path; the one with the fewest errors is right.
    pub fn dialects(&self, path: &str) -> Vec<Language> {
        memory::install();
        (self.dialects)(path)
    }

    /// True if the grammar can parse this text safely. It must not parse any other.
    pub fn holds(&self, text: &str) -> bool {
        self.stack.holds(text)
    }

    /// Returns the number of steps to charge for each parser step in this text.
    pub fn weight(&self, text: &str) -> usize {
        (self.weight)(text)
    }

    /// Returns the number of steps to charge once, before this text is parsed.
    pub fn base_cost(&self, text: &str) -> usize {
        (self.base_cost)(text)
    }

    /// True if the grammar may report errors in this text only because the text nests too deeply.
    pub fn forgets(&self, text: &str) -> bool {
        (self.forgets)(text)
    }

    /// Prepares a text for the grammar. Some grammars report an error for a last line without a line
    /// end, and some do not support all syntax of their language; what they do not support is replaced.
    pub fn prepare<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.wants_line_end && !text.ends_with('\n') {
            return Cow::Owned(format!("{text}\n"));
        }
        (self.replace_unsupported)(text).map_or(Cow::Borrowed(text), Cow::Owned)
    }
}

/// Returns the grammar of a language.
pub fn find(language: &str) -> Option<&'static Grammar> {
    ALL.iter().find(|grammar| grammar.language == language)
}

/// Every grammar, each of another language.
pub fn grammars() -> &'static [Grammar] {
    &ALL
}

static ALL: [Grammar; 16] = [
    Grammar {
        stack: IndentStack::Python,
        base_cost: weight::of_python_comments,
        ..row("python", |_| vec![tree_sitter_python::LANGUAGE.into()])
    },
    row("javascript", |_| vec![tree_sitter_javascript::LANGUAGE.into()]),
    row("typescript", typescript),
    row("rust", |_| vec![tree_sitter_rust::LANGUAGE.into()]),
    row("json", |_| vec![tree_sitter_json::LANGUAGE.into()]),
    row("jsonc", |_| vec![tree_sitter_json::LANGUAGE.into()]),
    row("toml", |_| vec![tree_sitter_toml_ng::LANGUAGE.into()]),
    Grammar { stack: IndentStack::Yaml, ..row("yaml", |_| vec![tree_sitter_yaml::LANGUAGE.into()]) },
    Grammar {
        replace_unsupported: newer_go::without_newer_go,
        ..row("go", |_| vec![tree_sitter_go::LANGUAGE.into()])
    },
    row("bash", |_| vec![tree_sitter_bash::LANGUAGE.into()]),
    Grammar {
        weight: weight::of_html,
        base_cost: weight::of_html_comments,
        forgets: weight::html_forgets,
        ..row("html", |_| vec![tree_sitter_html::LANGUAGE.into()])
    },
    Grammar {
        replace_unsupported: css_urls::without_brackets_in_urls,
        ..row("css", |_| vec![tree_sitter_css::LANGUAGE.into()])
    },
    row("c", c),
    row("cpp", |_| vec![tree_sitter_cpp::LANGUAGE.into()]),
    Grammar {
        replace_unsupported: newer_java::without_newer_java,
        ..row("java", |_| vec![tree_sitter_java::LANGUAGE.into()])
    },
    Grammar { wants_line_end: true, ..row("markdown", |_| vec![tree_sitter_md::LANGUAGE.into()]) },
];

const fn row(language: &'static str, dialects: fn(&str) -> Vec<Language>) -> Grammar {
    Grammar {
        language,
        dialects,
        wants_line_end: false,
        stack: IndentStack::Safe,
        weight: |_| 1,
        base_cost: |_| 0,
        forgets: |_| false,
        replace_unsupported: |_| None,
    }
}

fn typescript(path: &str) -> Vec<Language> {
    if path.to_lowercase().ends_with(".tsx") {
        return vec![tree_sitter_typescript::LANGUAGE_TSX.into()];
    }
    vec![tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()]
}

/// A header may be either.
fn c(path: &str) -> Vec<Language> {
    let mut languages = vec![tree_sitter_c::LANGUAGE.into()];
    if path.to_lowercase().ends_with(".h") {
        languages.push(tree_sitter_cpp::LANGUAGE.into());
    }
    languages
}
