//! docs/architecture.md names functions that exist, and quotes the pipeline.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
}

/// Returns the path of a file that the page names by its crate and its path there.
fn source_path(file: &str) -> String {
    match file.split_once('/') {
        Some((name, rest)) if name != "cli" => format!("crates/{name}/src/{rest}"),
        Some(_) | None => format!("src/{file}"),
    }
}

/// Returns the rows of the tables of hops whose function does not exist in their file.
fn missing_hops(page: &str) -> (usize, Vec<String>) {
    let row = Regex::new(r"(?m)^\| `([\w/]+\.rs)` \| `(\w+)` \|").unwrap();
    let mut missing = Vec::new();
    let mut count = 0;
    for found in row.captures_iter(page) {
        count += 1;
        let (file, function) = (&found[1], &found[2]);
        let is_there = read(&source_path(file))
            .is_some_and(|code| Regex::new(&format!(r"\bfn {function}\b")).unwrap().is_match(&code));
        if !is_there {
            missing.push(format!("{file}: {function}"));
        }
    }
    (count, missing)
}

/// Returns the lines of Rust in the page that the pipeline does not have.
fn misquoted(page: &str, pipeline: &str) -> Vec<String> {
    let lines: BTreeSet<&str> = pipeline.lines().map(str::trim).collect();
    let quotes = page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next());
    let quoted = quotes.flat_map(str::lines).filter(|line| !lines.contains(line.trim()));
    quoted.map(str::to_owned).collect()
}

#[test]
fn the_page_names_functions_that_exist_and_quotes_the_pipeline() {
    let page = read("docs/architecture.md").unwrap();
    let (count, missing) = missing_hops(&page);
    assert!(count > 40, "only {count} rows were found");
    assert!(missing.is_empty(), "{missing:#?}");
    let pipeline = read(&source_path("engine/pipeline.rs")).unwrap();
    assert!(page.contains("```rust\n"), "nothing is quoted");
    assert_eq!(misquoted(&page, &pipeline), [""; 0]);
    // The controls.
    let (_, missing) =
        missing_hops("| `engine/pipeline.rs` | `no_such_step` | x |\n| `no.rs` | `run` | x |\n");
    assert_eq!(missing, ["engine/pipeline.rs: no_such_step", "no.rs: run"]);
    assert_eq!(misquoted("```rust\nlet x = 1;\n```\n", &pipeline), ["let x = 1;"]);
}
