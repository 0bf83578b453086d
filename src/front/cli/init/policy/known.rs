//! What is known of each tool of the catalogue beside its definition: what it is for, and how a project shows that its team
//! uses it.
//!
//! Invariant: every gate of the catalogue that runs a program has one row.

/// What a tool is for. Of those for one purpose, one is enough where a project shows no choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolPurpose {
    /// Its output is the text as it should be.
    Format,
    /// It orders imports, or adds and drops them.
    Imports,
    /// It finds faults of one file.
    Lint,
    /// It understands the whole program.
    Types,
    /// It finds what is dangerous.
    Security,
    /// It finds misspelt words.
    Spelling,
}

/// Whether a tool is proposed though nothing in the project names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Uninvited {
    /// It has too many opinions, or does nothing without a configuration.
    Never,
    /// The language has no other, or it has few false alarms.
    Always,
    /// It needs such a file, and no more; a folder ends in a slash.
    With(&'static str),
}

/// One row.
#[derive(Debug)]
pub(super) struct KnownTool {
    /// The gate.
    pub(super) gate: &'static str,
    /// What it is for.
    pub(super) purpose: ToolPurpose,
    /// Whether it is proposed uninvited.
    pub(super) uninvited: Uninvited,
    /// The name that its own configuration bears, in small letters and digits; empty where that says nothing.
    pub(super) bears: &'static str,
    /// Further signs: a file, a file and a text in it (`file#text`), or a hook of pre-commit (`hook:id`).
    pub(super) signs: &'static [&'static str],
}

/// Gates that take long: an edit does not wait for them, a check does.
pub(super) const SLOW: [&str; 2] = ["clippy", "golangci-lint"];

const fn row(
    gate: &'static str,
    purpose: ToolPurpose,
    uninvited: Uninvited,
    bears: &'static str,
    signs: &'static [&'static str],
) -> KnownTool {
    KnownTool { gate, purpose, uninvited, bears, signs }
}

use ToolPurpose::{Format, Imports, Lint, Security, Spelling, Types};
use Uninvited::{Always, Never, With};

/// The rows; of several for one purpose, the first that is here is the one that is proposed uninvited.
pub(super) const KNOWN: &[KnownTool] = &[
    row("ruff-imports", Imports, Never, "", &[]),
    row("isort", Imports, Never, "isort", &[]),
    row(
        "ruff-format",
        Format,
        Never,
        "",
        &["ruff.toml#[format", ".ruff.toml#[format", "pyproject.toml#[tool.ruff.format"],
    ),
    row("black", Format, Never, "", &["pyproject.toml#[tool.black"]),
    row("ruff", Lint, Always, "ruff", &[]),
    row("flake8", Lint, Never, "flake8", &[]),
    row("pylint", Lint, Never, "pylint", &[]),
    row("bandit", Security, Never, "bandit", &["pyproject.toml#[tool.bandit"]),
    row("mypy", Types, Never, "mypy", &[]),
    row("pyright", Types, Never, "pyright", &[]),
    row("basedpyright", Types, Never, "basedpyright", &[]),
    row("ty", Types, Never, "toolty", &["ty.toml"]),
    row("pyrefly", Types, Never, "pyrefly", &[]),
    row("gofmt", Format, Always, "", &["hook:go-fmt"]),
    row("goimports", Imports, Never, "", &["hook:go-imports"]),
    row("golangci-lint", Lint, Never, "golangci", &[]),
    row("staticcheck", Lint, Never, "staticcheck", &["hook:go-staticcheck"]),
    row("go-vet", Types, With("go.mod"), "", &[]),
    row("go-build", Types, Never, "", &[]),
    row("gopls", Types, Never, "", &[]),
    row("rustfmt", Format, Always, "rustfmt", &["hook:fmt"]),
    row("clippy", Lint, Never, "clippy", &["Cargo.toml#lints.clippy]"]),
    row("cargo-check", Types, With("Cargo.toml"), "", &[]),
    row("rust-analyzer", Types, Never, "", &[]),
    row("prettier", Format, Never, "prettier", &[]),
    row(
        "eslint",
        Lint,
        Never,
        "eslintconfig",
        &[
            ".eslintrc",
            ".eslintrc.js",
            ".eslintrc.cjs",
            ".eslintrc.json",
            ".eslintrc.yml",
            ".eslintrc.yaml",
            "package.json#\"eslintConfig\"",
        ],
    ),
    row("biome", Lint, Never, "biome", &[]),
    row("oxlint", Lint, Never, "oxlint", &[]),
    row("stylelint", Lint, Never, "stylelint", &[]),
    row("html-validate", Lint, Never, "htmlvalidate", &[]),
    row("tsc", Types, With("tsconfig.json"), "", &[]),
    row("clang-format", Format, Never, "clangformat", &[]),
    row("cppcheck", Lint, Never, "", &[]),
    row("shfmt", Format, Never, "", &[]),
    row("shellcheck", Lint, Always, "shellcheck", &[]),
    row("yamllint", Lint, Never, "yamllint", &[]),
    row("actionlint", Lint, With(".github/workflows/"), "actionlint", &[]),
    row("zizmor", Security, Never, "zizmor", &[]),
    row("taplo", Format, Never, "taplo", &[]),
    row("xmllint", Lint, Always, "", &[]),
    row("sqlfluff", Lint, Never, "sqlfluff", &[]),
    row("hadolint", Lint, Never, "hadolint", &[]),
    row("markdownlint", Lint, Never, "markdownlint", &[]),
    row("rumdl", Lint, Never, "rumdl", &[]),
    row("codespell", Spelling, Never, "codespell", &[]),
    row("typos", Spelling, Never, "typos", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Catalogue;

    #[test]
    fn every_gate_that_runs_a_program_has_one_row() {
        let gates = Catalogue::embedded().gates().iter().filter(|gate| gate.runs_program());
        let mut wanted: Vec<&str> = gates.map(|gate| gate.name.as_str()).collect();
        let mut seen: Vec<&str> = KNOWN.iter().map(|known| known.gate).collect();
        wanted.sort_unstable();
        seen.sort_unstable();
        assert_eq!(seen, wanted);
        assert!(SLOW.iter().all(|slow| seen.contains(slow)));
    }

    #[test]
    fn a_tool_that_formats_is_one_that_can_mend() {
        for known in KNOWN.iter().filter(|known| known.purpose == Format) {
            assert!(Catalogue::embedded().find(known.gate).unwrap().can_mend(), "{}", known.gate);
        }
    }
}
