//! The pages that are generated from the code are what the code says.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use lockgate::error::Code;

fn page(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

fn errors() -> String {
    let mut text = String::from(
        "# Refusals\n\n\
         Generated from `src/error.rs`; `UPDATE=1 cargo test --test all docs` rewrites it.\n\n\
         Every refusal carries one of these codes; they never change. A refusal is an answer, not a fault of the\n\
         protocol: over MCP it has `isError: true`, `success: false`, the `code`, a `message` that says what was seen and\n\
         that nothing was written, and a `hint` for the next call. The command line ends with the exit code of the family.\n",
    );
    let mut family = None;
    for code in Code::ALL {
        if family != Some(code.family()) {
            family = Some(code.family());
            let (name, exit) = (code.family().name(), code.family().exit_code());
            write!(text, "\n## {name} (exit code {exit})\n\n| code | what was seen | what to do next |\n|---|---|---|\n")
                .unwrap();
        }
        writeln!(text, "| `{}` | {} | {} |", code.name(), code.meaning(), code.remedy()).unwrap();
    }
    text
}

#[test]
fn errors_page_is_what_the_code_says() {
    let path = page("errors.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, errors()).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == errors(), "docs/errors.md is out of step; rewrite it with UPDATE=1 cargo test --test all docs");
}

#[test]
fn every_decision_is_numbered_once() {
    let mut numbers: Vec<String> = fs::read_dir(page("decisions"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| name.split('-').next().unwrap().to_owned())
        .collect();
    numbers.sort();
    let wanted: Vec<String> = (1..=numbers.len()).map(|number| format!("{number:04}")).collect();
    assert_eq!(numbers, wanted);
}
