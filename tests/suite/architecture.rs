//! The house keeps its own rules: who may use whom, who is pure, and who may name what.

mod reading;
mod suite;

use std::path::Path;

use reading::{climbs_out, pure_modules, rooms_named, sources, table};

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
            "gate/packages/",
            "gate/server/",
            "gate/stage/",
            "policy/definition/server.rs",
        ],
    ),
    (&["tempfile"], &["gate/stage/"]),
    (&["tree_sitter", "tree_sitter_"], &["grammar/"]),
    (&["ruff_", "oxc_", "syn::", "saphyr_parser", "granit_parser"], &["gate/syntax/"]),
    (&["toml_edit"], &["gate/syntax/", "gate/packages/"]),
    // The demo is a client of its own server, as every reader of it could be.
    (
        &["process::Command", "process::Child", "process::Stdio", "Command::new"],
        &["front/cli/demo", "gate/process/"],
    ),
    (&["rusqlite", "sqlx", "zstd"], &["store/sql/"]),
    (
        &["rustix::fs", "cap_std"],
        &[
            "store/",
            "gate/process/bounds.rs",
            "gate/process/cage/bubblewrap.rs",
            "gate/process/cage/supervisor.rs",
            "gate/regular.rs",
        ],
    ),
    (
        &["std::fs", "fs::"],
        &[
            "store/",
            "front/cli/",
            "gate/command/",
            "gate/packages/",
            "gate/pins.rs",
            "gate/process/",
            "gate/regular.rs",
            "gate/stage/",
            "gate/syntax/child.rs",
            "gate/workshop/",
        ],
    ),
    (
        &["std::env", "env::"],
        &[
            "store/",
            "front/cli/",
            "gate/command/",
            "gate/stage/owner.rs",
            "gate/pins.rs",
            "gate/process/",
            "main.rs",
        ],
    ),
];

#[test]
fn dependence_runs_one_way() {
    let allowed = table();
    let mut wrong = Vec::new();
    for source in sources() {
        let room = source.module();
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
    let pure = pure_modules();
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

/// True if code holds this word, and not as a part of another.
fn names(code: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    code.match_indices(word).any(|(at, _)| {
        let open = word.ends_with(['_', ':']);
        !part(code[..at].chars().next_back()) && (open || !part(code[at + word.len()..].chars().next()))
    })
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
    fn files_for_tests_are_told_apart() {
        let text = "#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\n#[cfg(test)]\nmod laws;\nmod code;\n";
        let files = test_files(Path::new("src/a/mod.rs"), text);
        assert_eq!(files, [Path::new("src/a/x_tests.rs"), Path::new("src/a/laws.rs")]);
    }
}
