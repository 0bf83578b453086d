//! The pages that are generated from the code are what the code says.

mod packaging;
mod tools;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use lockgate_error::Code;

use super::wire;

fn page(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

fn errors() -> String {
    let mut text = String::from(
        "# Rejections\n\n\
         Generated from `crates/error/src/lib.rs`; `cargo xtask docs` rewrites it.\n\n\
         Every rejection carries one of these codes; they never change.\n\
         A rejection is an answer, not a fault of the protocol.\n\
         Over MCP it has `isError: true`, `success: false` and the `code`.\n\
         Its `message` says what was seen, and that nothing was written (for a read: `not read`).\n\
         Its `hint` names the next call.\n\
         The command line ends with the exit code of the family.\n\
         It ends with 0 when the edit was written, verified or left nothing to change.\n\
         It ends with 2 and no code when it cannot read its arguments.\n",
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
    let page_text = fs::read_to_string(&path).unwrap_or_default();
    assert!(page_text == errors(), "docs/errors.md is out of step; rewrite it with cargo xtask docs");
}

#[test]
fn the_picture_in_the_readme_is_real() {
    let readme = fs::read_to_string(page("../README.md")).unwrap();
    assert!(readme.contains("(docs/images/refused.svg)"), "the readme shows no picture");
    let picture = fs::read_to_string(page("images/refused.svg")).unwrap();
    let root = tempfile::tempdir().unwrap();
    let before = "def ship(item, quantity):\n    if quantity > item.stock:\n        raise ValueError(\"not enough\")\n    \
                  item.stock -= quantity\n";
    fs::write(root.path().join("stock.py"), before).unwrap();
    let words =
        ["edit", "--path", "stock.py", "--lines", "3-3", "--new-content", "raise ValueError(\"not enough\")"];
    let transcript = wire::run(&words, root.path(), "").stdout;
    let command =
        "$ lockgate edit --path stock.py --lines 3-3 --new-content 'raise ValueError(\"not enough\")'";
    let again = "draw it again: docs/images/refused.py LOCKGATE";
    assert_eq!(
        text_of(&picture),
        without_blanks(&format!("{command}{}", without_times(&transcript))),
        "{again}"
    );
    assert_eq!(fs::read_to_string(root.path().join("stock.py")).unwrap(), before);
}

/// The text of a drawing without its blanks.
fn text_of(picture: &str) -> String {
    let tag = regex::Regex::new("<style>[^<]*</style>|<title>[^<]*</title>|<[^>]*>").unwrap();
    let text = tag.replace_all(picture, "").replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&");
    without_blanks(&text)
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// A transcript without how long the gates took.
fn without_times(text: &str) -> String {
    regex::Regex::new(r" \d+ ms\b").unwrap().replace_all(text, "").into_owned()
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = fs::read_to_string(page("../Cargo.toml")).unwrap();
    let reasons = fs::read_to_string(page("decisions/0001-libraries.md")).unwrap();
    let named = |name: &str| name.starts_with('#') || name.is_empty() || reasons.contains(name);
    let (_, listed) = manifest.split_once("[workspace.dependencies]\n").unwrap();
    let listed = listed.split("\n[").next().unwrap();
    let names = listed.lines().filter_map(|line| line.split([' ', '=']).next());
    let names: Vec<&str> = names.filter(|name| !name.starts_with("lockgate-")).collect();
    assert!(names.len() > 50, "only {} dependencies were found", names.len());
    let names = names.into_iter();
    let without: Vec<&str> = names.filter(|name| !named(name) && !name.starts_with("tree-sitter-")).collect();
    assert!(without.is_empty(), "docs/decisions/0001-libraries.md does not say why: {without:?}");
}

#[test]
fn every_decision_is_numbered_once() {
    let mut numbers: Vec<String> = fs::read_dir(page("decisions"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| name.split('-').next().unwrap().to_owned())
        .collect();
    numbers.sort();
    let expected: Vec<String> = (1..=numbers.len()).map(|number| format!("{number:04}")).collect();
    assert_eq!(numbers, expected);
}
