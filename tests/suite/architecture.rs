//! The house keeps its own rules: who may use whom, who is pure, who may name what, and how long things may be.

mod reading;

use std::fs;
use std::path::Path;

use reading::{climbs_out, functions, pure_places, rooms_named, sources, table, uncommented};

/// Lines that a file may have without the tests at its end, and that the median file that is no test has at most.
const FILE_LINES: (usize, usize) = (300, 120);

/// Lines that a function's body may have, and that the median function has at most.
const FUNCTION_LINES: (usize, usize) = (50, 8);

/// What only some places may name: the names, and the places, as the beginnings of paths under `src`. A name that ends
/// in `_` or `:` is the beginning of one.
const NAMED_BY: &[(&[&str], &[&str])] = &[
    (&["serde_saphyr"], &["policy/yaml.rs"]),
    (&["ignore::"], &["policy/glob.rs", "store/listing.rs", "store/search/"]),
    (&["grep_"], &["store/search/"]),
    (&["jsonc_parser"], &["front/cli/init/"]),
    (&["gix"], &["store/git/"]),
    (&["rmcp", "schemars"], &["front/"]),
    (&["axum", "hyper", "hyper_util", "http_body_util", "prometheus_client", "tokio::net"], &["front/http/"]),
    (
        &["clap::", "clap_complete::", "anstream", "annotate_snippets", "indicatif"],
        &["front/cli/", "main.rs"],
    ),
    (
        &["serde_json"],
        &[
            "front/",
            "engine/trust/",
            "gate/command/replay.rs",
            "gate/syntax/",
            "gate/output/",
            "gate/server/",
            "gate/stage/",
            "policy/definition/server.rs",
        ],
    ),
    (&["tempfile"], &["gate/stage/"]),
    (&["tree_sitter", "tree_sitter_"], &["grammar/"]),
    (&["ruff_", "oxc_", "syn::", "saphyr_parser", "granit_parser", "toml_edit"], &["gate/syntax/"]),
    // The demo is a client of its own server, as every reader of it could be.
    (
        &["process::Command", "process::Child", "process::Stdio", "Command::new"],
        &["front/cli/demo", "gate/process/"],
    ),
    (&["rusqlite", "sqlx", "zstd"], &["store/sql/"]),
    (&["rustix::fs", "cap_std"], &["store/", "gate/process/bounds.rs"]),
    (
        &["std::fs", "fs::"],
        &[
            "store/",
            "front/cli/",
            "gate/command/",
            "gate/pins.rs",
            "gate/process/",
            "gate/server/documents.rs",
            "gate/stage/",
            "gate/workshop/",
        ],
    ),
    (
        &["std::env", "env::"],
        &["store/", "front/cli/", "gate/command/", "gate/pins.rs", "gate/process/", "main.rs"],
    ),
];

#[test]
fn dependence_runs_one_way() {
    let allowed = table();
    let mut wrong = Vec::new();
    for source in sources() {
        let room = source.room();
        if room == "lib" {
            continue;
        }
        let Some(may_use) = allowed.get(room) else {
            wrong.push(format!("{}: the room {room} is not in the table", source.path));
            continue;
        };
        for used in rooms_named(&source.code) {
            if used != room && !may_use.contains(&used) {
                wrong.push(format!("{}: {room} may not use {used}", source.path));
            }
        }
        if climbs_out(&source) {
            wrong.push(format!("{}: leaves its room by `super`", source.path));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_has_no_circle() {
    let mut left = table();
    while !left.is_empty() {
        let free: Vec<String> = left
            .iter()
            .filter(|(_, uses)| uses.iter().all(|used| !left.contains_key(used)))
            .map(|(room, _)| room.clone())
            .collect();
        assert!(!free.is_empty(), "these use each other: {:?}", left.keys());
        free.iter().for_each(|room| drop(left.remove(room)));
    }
}

#[test]
fn pure_rooms_say_that_they_are() {
    let sources = sources();
    let pure = pure_places();
    assert!(pure.len() >= 5, "the sentence that ends in `are **pure**` is not understood: {pure:?}");
    let says = |place: &&String| {
        let (room, file) = (format!("{place}/mod.rs"), format!("{place}.rs"));
        let source = sources.iter().find(|source| source.path == room || source.path == file);
        source.is_some_and(|source| source.code.contains("#![deny(clippy::disallowed_methods)]"))
    };
    let silent: Vec<&String> = pure.iter().filter(|place| !says(place)).collect();
    assert!(
        silent.is_empty(),
        "called pure by docs/architecture.md, but without the lint, or not there: {silent:?}"
    );
}

#[test]
fn only_some_places_name_some_things() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test) {
        let code = source.without_tests();
        for (words, places) in NAMED_BY {
            let allowed = places.iter().any(|place| source.path.starts_with(place));
            if let (false, Some(word)) = (allowed, words.iter().find(|word| names(&code, word))) {
                wrong.push(format!("{}: names {word}, which only {places:?} may", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether code holds this word, and not as a part of another.
fn names(code: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    code.match_indices(word).any(|(at, _)| {
        let open = word.ends_with(['_', ':']);
        !part(code[..at].chars().next_back()) && (open || !part(code[at + word.len()..].chars().next()))
    })
}

#[test]
fn files_are_short() {
    let sources = sources();
    let long: Vec<_> = sources.iter().filter(|source| source.lines.len() > FILE_LINES.0).collect();
    let named: Vec<_> = long.iter().map(|source| (&source.path, source.lines.len())).collect();
    assert!(named.is_empty(), "over {} lines without the tests at their end: {named:?}", FILE_LINES.0);
    let mut lengths: Vec<usize> =
        sources.iter().filter(|source| !source.is_test).map(|source| source.lines.len()).collect();
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= FILE_LINES.1, "the median file has {median} lines");
}

#[test]
fn functions_are_short() {
    let mut lengths = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test) {
        lengths.extend(
            functions(&source.lines).into_iter().map(|(name, length)| (length, name, source.path.clone())),
        );
    }
    lengths.sort();
    let long: Vec<_> = lengths.iter().filter(|(length, ..)| *length > FUNCTION_LINES.0).collect();
    assert!(long.is_empty(), "over {} lines: {long:?}", FUNCTION_LINES.0);
    let (median, ..) = &lengths[lengths.len() / 2];
    assert!(*median <= FUNCTION_LINES.1, "the median function has {median} lines");
}

#[test]
fn no_file_of_the_suite_is_forgotten() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let names = |folder: &Path| -> Vec<String> {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let rust = files.filter(|path| path.extension().is_some_and(|it| it == "rs"));
        rust.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
    };
    let mut forgotten =
        unnamed(&fs::read_to_string(home.join("all.rs")).unwrap(), &names(&home.join("suite")));
    for folder in fs::read_dir(home.join("suite"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
    {
        let inside = fs::read_to_string(folder.with_extension("rs"))
            .or_else(|_| fs::read_to_string(folder.join("mod.rs")));
        let files: Vec<String> = names(&folder).into_iter().filter(|name| name != "mod").collect();
        forgotten.extend(unnamed(&inside.unwrap_or_default(), &files));
    }
    assert!(forgotten.is_empty(), "files of tests that no test binary has: {forgotten:?}");
    let beside: Vec<String> = names(&home).into_iter().filter(|name| name != "all").collect();
    assert!(beside.is_empty(), "with `autotests = false` these are never run: {beside:?}");
}

/// The files that a module does not name.
fn unnamed(module: &str, files: &[String]) -> Vec<String> {
    let named = |name: &&String| uncommented(module).contains(&format!("mod {name};"));
    files.iter().filter(|name| !named(name)).cloned().collect()
}

/// Positive controls: what these tests look for is found when it is there.
mod controls {
    use super::reading::{Source, test_files};
    use super::*;

    fn source(path: &str, code: &str) -> Source {
        Source {
            path: path.into(),
            code: code.into(),
            lines: code.lines().map(str::to_owned).collect(),
            is_test: false,
        }
    }

    #[test]
    fn every_way_to_name_a_room_is_seen() {
        let code = "use crate::{edit::{Edit, Search}, text::Buffer};\nfn f() { crate::store::Files::open(lockgate::front::go()) }";
        let seen: Vec<String> = rooms_named(code).into_iter().collect();
        assert_eq!(seen, ["edit", "front", "store", "text"]);
        assert!(rooms_named("let x = $crate::Error; // crate::nothing").iter().all(|room| room == "nothing"));
        assert!(climbs_out(&source("text/lines.rs", "use super::super::store::Files;")));
        assert!(climbs_out(&source("text/mod.rs", "use super::store::Files;")));
        assert!(!climbs_out(&source("text/lines.rs", "use super::Buffer;")));
    }

    #[test]
    fn a_name_is_told_from_its_parts() {
        assert!(names("use syn::File;", "syn::") && names("oxc_span::Span", "oxc_") && names("rmcp", "rmcp"));
        assert!(!names("async_rmcp", "rmcp") && !names("rmcps", "rmcp") && !names("my_syn::x", "syn::"));
    }

    #[test]
    fn a_forgotten_file_is_seen() {
        let files = ["store".to_owned(), "regex".to_owned()];
        assert_eq!(unnamed("mod suite {\n    mod store;\n    // mod regex;\n}", &files), ["regex"]);
    }

    #[test]
    fn long_functions_are_measured() {
        let body = "    let x = 1;\n".repeat(60);
        let code = format!(
            "impl A {{\n    pub fn short(&self) -> u8 {{ 1 }}\n}}\npub(crate) async fn long(\n    a: u8,\n) -> u8 {{\n{body}    // a reason\n\n}}\nfn none();\n"
        );
        let lines: Vec<String> = code.lines().map(str::to_owned).collect();
        assert_eq!(functions(&lines), [("short".to_owned(), 1), ("long".to_owned(), 60)]);
    }

    #[test]
    fn files_for_tests_are_told_apart() {
        let text = "#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\n#[cfg(test)]\nmod laws;\nmod code;\n";
        let files = test_files(Path::new("src/a/mod.rs"), text);
        assert_eq!(files, [Path::new("src/a/x_tests.rs"), Path::new("src/a/laws.rs")]);
    }
}
