//! The catalogue of gates that lockgate ships, by name.
//!
//! Invariant: the catalogue is the files of `gates/`, each read once at most; each gate is there once.

use std::sync::{Arc, OnceLock};

use super::definition::{self, Gate};
use super::node::YamlNode;
use super::yaml;
use crate::error::Error;
use crate::text::Version;

/// The embedded definitions: the name for a policy, and the text.
static FILES: [(&str, &str); 52] = [
    ("syntax", include_str!("../../gates/syntax.yaml")),
    ("markdown-structure", include_str!("../../gates/markdown-structure.yaml")),
    ("damage", include_str!("../../gates/damage.yaml")),
    ("scaffold", include_str!("../../gates/scaffold.yaml")),
    ("entity-workflow", include_str!("../../gates/entity-workflow.yaml")),
    ("entity-module", include_str!("../../gates/entity-module.yaml")),
    ("ruff", include_str!("../../gates/ruff.yaml")),
    ("ruff-format", include_str!("../../gates/ruff-format.yaml")),
    ("ruff-imports", include_str!("../../gates/ruff-imports.yaml")),
    ("black", include_str!("../../gates/black.yaml")),
    ("isort", include_str!("../../gates/isort.yaml")),
    ("flake8", include_str!("../../gates/flake8.yaml")),
    ("mypy", include_str!("../../gates/mypy.yaml")),
    ("pyright", include_str!("../../gates/pyright.yaml")),
    ("basedpyright", include_str!("../../gates/basedpyright.yaml")),
    ("ty", include_str!("../../gates/ty.yaml")),
    ("pyrefly", include_str!("../../gates/pyrefly.yaml")),
    ("pylint", include_str!("../../gates/pylint.yaml")),
    ("bandit", include_str!("../../gates/bandit.yaml")),
    ("gofmt", include_str!("../../gates/gofmt.yaml")),
    ("goimports", include_str!("../../gates/goimports.yaml")),
    ("go-vet", include_str!("../../gates/go-vet.yaml")),
    ("go-build", include_str!("../../gates/go-build.yaml")),
    ("gopls", include_str!("../../gates/gopls.yaml")),
    ("golangci-lint", include_str!("../../gates/golangci-lint.yaml")),
    ("staticcheck", include_str!("../../gates/staticcheck.yaml")),
    ("rustfmt", include_str!("../../gates/rustfmt.yaml")),
    ("cargo-check", include_str!("../../gates/cargo-check.yaml")),
    ("rust-analyzer", include_str!("../../gates/rust-analyzer.yaml")),
    ("clippy", include_str!("../../gates/clippy.yaml")),
    ("eslint", include_str!("../../gates/eslint.yaml")),
    ("biome", include_str!("../../gates/biome.yaml")),
    ("oxlint", include_str!("../../gates/oxlint.yaml")),
    ("prettier", include_str!("../../gates/prettier.yaml")),
    ("tsc", include_str!("../../gates/tsc.yaml")),
    ("stylelint", include_str!("../../gates/stylelint.yaml")),
    ("html-validate", include_str!("../../gates/html-validate.yaml")),
    ("clang-format", include_str!("../../gates/clang-format.yaml")),
    ("cppcheck", include_str!("../../gates/cppcheck.yaml")),
    ("shellcheck", include_str!("../../gates/shellcheck.yaml")),
    ("shfmt", include_str!("../../gates/shfmt.yaml")),
    ("yamllint", include_str!("../../gates/yamllint.yaml")),
    ("actionlint", include_str!("../../gates/actionlint.yaml")),
    ("zizmor", include_str!("../../gates/zizmor.yaml")),
    ("taplo", include_str!("../../gates/taplo.yaml")),
    ("xmllint", include_str!("../../gates/xmllint.yaml")),
    ("sqlfluff", include_str!("../../gates/sqlfluff.yaml")),
    ("hadolint", include_str!("../../gates/hadolint.yaml")),
    ("markdownlint", include_str!("../../gates/markdownlint.yaml")),
    ("rumdl", include_str!("../../gates/rumdl.yaml")),
    ("codespell", include_str!("../../gates/codespell.yaml")),
    ("typos", include_str!("../../gates/typos.yaml")),
];

/// The gates of the catalogue, each parsed on first use: there are many, and a policy names few.
#[derive(Debug)]
pub struct Catalogue {
    gates: [OnceLock<Arc<Gate>>; FILES.len()],
    all: OnceLock<Vec<Arc<Gate>>>,
}

impl Catalogue {
    /// Returns the catalogue that is embedded in the binary.
    pub fn embedded() -> &'static Catalogue {
        static CATALOGUE: Catalogue =
            Catalogue { gates: [const { OnceLock::new() }; FILES.len()], all: OnceLock::new() };
        &CATALOGUE
    }

    /// Returns every gate, in the order of the catalogue.
    pub fn gates(&self) -> &[Arc<Gate>] {
        self.all.get_or_init(|| self.files().map(|(file, cell)| Arc::clone(parse(file, cell))).collect())
    }

    /// Returns the gate of this name.
    pub fn find(&self, name: &str) -> Option<&Arc<Gate>> {
        self.files().find(|((known, _), _)| *known == name).map(|(file, cell)| parse(file, cell))
    }

    /// Returns the name of every gate, in the order of the catalogue.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    fn files(&self) -> impl Iterator<Item = (&'static (&'static str, &'static str), &OnceLock<Arc<Gate>>)> {
        FILES.iter().zip(&self.gates)
    }
}

fn parse<'a>((name, text): &(&str, &str), cell: &'a OnceLock<Arc<Gate>>) -> &'a Arc<Gate> {
    cell.get_or_init(|| {
        let convert = |root: &YamlNode| definition::gate(name, root, Version::hash(text.as_bytes()));
        Arc::new(compiled_in(yaml::read(&format!("gates/{name}.yaml"), text, convert)))
    })
}

/// Unwraps the result of parsing an embedded text.
pub(super) fn compiled_in<T>(read: Result<T, Error>) -> T {
    match read {
        Ok(value) => value,
        // Unreachable for any input: the texts are constants, and a test parses each of them.
        Err(error) => unreachable!("{error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{GateKind, Languages, PatternRules, language_named, languages};

    #[test]
    fn every_definition_reads_and_has_good_and_bad_samples() {
        for gate in Catalogue::embedded().gates() {
            assert!(gate.samples.iter().any(|sample| sample.finds.is_empty()), "{}", gate.name);
            assert!(gate.samples.iter().any(|sample| !sample.finds.is_empty()), "{}", gate.name);
            assert_ne!(gate.languages, Languages::Only(Vec::new()), "{}", gate.name);
        }
    }

    #[test]
    fn every_language_has_a_gate() {
        let gates = Catalogue::embedded().gates();
        for language in languages() {
            assert!(gates.iter().any(|gate| gate.covers(Some(language))), "{}", language.name);
        }
        let markdown = Catalogue::embedded().find("markdown-structure").unwrap();
        assert!(matches!(markdown.kind, GateKind::Pattern(PatternRules::Markdown)));
        assert!(!markdown.covers(language_named("python")) && !markdown.covers(None));
    }
}
