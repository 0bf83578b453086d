//! The purpose of each tool of the catalogue, and the signs of its use in a project.
//!
//! Invariant: every gate of the catalogue that runs a program has one row.

/// The purpose of a tool. Only one tool for a purpose is proposed if a project shows no choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolPurpose {
    /// Formats the whole file.
    Format,
    /// Sorts, adds or removes imports.
    Imports,
    /// Finds problems in one file.
    Lint,
    /// Checks types or compiles, which reads other files of the project.
    Types,
    /// Finds insecure code.
    Security,
    /// Finds misspelled words.
    Spelling,
}

/// The condition for a proposal without a sign of use in the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WithoutSign {
    /// Never, because it is opinionated or does nothing without a configuration.
    Never,
    /// Always, because the language has no other tool or it has few false alarms.
    Always,
    /// If this file exists; a folder ends in a slash.
    IfFile(&'static str),
}

/// A row of the table of tools.
#[derive(Debug)]
pub(super) struct KnownTool {
    pub(super) gate: &'static str,
    pub(super) purpose: ToolPurpose,
    /// Condition for a proposal without a sign of use.
    pub(super) without_sign: WithoutSign,
    /// The name that its own configuration contains, in lower-case letters and digits; empty if that shows nothing.
    pub(super) config_name: &'static str,
    /// Further signs: a file, a file with a text in it (`file#text`), or a pre-commit hook (`hook:id`).
    pub(super) signs: &'static [&'static str],
}

/// Slow gates, which run in checks but not in edits.
pub(super) const SLOW: [&str; 2] = ["clippy", "golangci-lint"];

const fn row(
    gate: &'static str,
    purpose: ToolPurpose,
    without_sign: WithoutSign,
    config_name: &'static str,
    signs: &'static [&'static str],
) -> KnownTool {
    KnownTool { gate, purpose, without_sign, config_name, signs }
}

use ToolPurpose::{Format, Imports, Lint, Security, Spelling, Types};
use WithoutSign::{Always, IfFile, Never};

/// The table of tools; among installed tools with the same purpose, the first one is proposed without a sign of use.
pub(super) const TOOLS: &[KnownTool] = &[
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
    row("go-vet", Types, IfFile("go.mod"), "", &[]),
    row("go-build", Types, Never, "", &[]),
    row("gopls", Types, Never, "", &[]),
    row("rustfmt", Format, Always, "rustfmt", &["hook:fmt"]),
    row("clippy", Lint, Never, "clippy", &["Cargo.toml#lints.clippy]"]),
    row("cargo-check", Types, IfFile("Cargo.toml"), "", &[]),
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
    row("tsc", Types, IfFile("tsconfig.json"), "", &[]),
    row("clang-format", Format, Never, "clangformat", &[]),
    row("cppcheck", Lint, Never, "", &[]),
    row("shfmt", Format, Never, "", &[]),
    row("shellcheck", Lint, Always, "shellcheck", &[]),
    row("yamllint", Lint, Never, "yamllint", &[]),
    row("actionlint", Lint, IfFile(".github/workflows/"), "actionlint", &[]),
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
    use lockgate_policy::Catalogue;

    #[test]
    fn every_gate_that_runs_a_program_has_one_row() {
        let gates = Catalogue::embedded().gates().iter().filter(|gate| gate.runs_program());
        let mut wanted: Vec<&str> = gates.map(|gate| gate.name.as_str()).collect();
        let mut listed: Vec<&str> = TOOLS.iter().map(|known| known.gate).collect();
        wanted.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, wanted);
        assert!(SLOW.iter().all(|slow| listed.contains(slow)));
    }

    #[test]
    fn the_page_names_the_tools_that_only_warn() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/init.md")).unwrap();
        let row = page.lines().find(|line| line.contains("`level: warn`")).unwrap();
        let mut named: Vec<&str> =
            row.split('`').skip(1).step_by(2).filter(|it| *it != "level: warn").collect();
        let types = TOOLS.iter().filter(|known| known.purpose == Types);
        let mut wanted: Vec<&str> = types.map(|known| known.gate).collect();
        named.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(named, wanted);
    }

    #[test]
    fn a_tool_that_formats_is_one_that_can_mend() {
        for known in TOOLS.iter().filter(|known| known.purpose == Format) {
            assert!(Catalogue::embedded().find(known.gate).unwrap().can_fix(), "{}", known.gate);
        }
    }
}
