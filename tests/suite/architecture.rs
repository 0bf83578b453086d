//! Rules inside the crates: imports run one way, pure modules say so, and few places name what has effects.

mod page;
mod reading;
mod suite;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use regex::Regex;

use reading::{Source, import_cycle, imports, manifests, pure_modules, sources, table};

/// What only some places of a crate may name: the names, and the places, as the beginnings of paths in which the crate
/// comes first. A name that ends in `_` or `:` is the beginning of one. Which crate may use which library stands in the
/// manifests.
const NAMED_BY: &[(&[&str], &[&str])] = &[
    (&["serde_saphyr"], &["policy/yaml.rs"]),
    (&["ignore::"], &["policy/glob.rs", "store/listing.rs", "store/search/"]),
    (&["grep_"], &["store/search/"]),
    (&["gix"], &["store/git/"]),
    (&["axum", "hyper", "hyper_util", "http_body_util", "prometheus_client"], &["mcp/http/"]),
    (&["tokio::net"], &["hosts/socket/", "mcp/http/", "store/sql/rows/connection/"]),
    (
        &["serde_json"],
        &[
            "checks/command/replay.rs",
            "checks/syntax/",
            "checks/output/",
            "checks/packages/",
            "checks/server/",
            "checks/stage/",
            "cli/",
            "engine/trust/",
            "hosts/",
            "mcp/",
            "policy/definition/server.rs",
            "protocol/",
        ],
    ),
    (&["tempfile"], &["checks/stage/", "cli/demo/", "cli/hook/doctor.rs", "sandbox/private_folder.rs"]),
    (&["ruff_", "oxc_", "syn::", "saphyr_parser", "granit_parser"], &["checks/syntax/"]),
    (&["toml_edit"], &["checks/syntax/", "checks/packages/", "cli/init/"]),
    // The demo is a client of its own server, as every reader of it could be; the doctor of hooks starts them as a host
    // does.
    (
        &["process::Command", "process::Child", "process::Stdio", "Command::new"],
        &["sandbox/", "cli/demo", "cli/hook/doctor.rs", "cli/pager.rs"],
    ),
    (&["rusqlite", "zstd"], &["store/sql/"]),
    (&["tokio_postgres", "rustls"], &["store/sql/rows/"]),
    (
        &["rustix::fs", "cap_std"],
        &["sandbox/limits.rs", "sandbox/removal.rs", "sandbox/isolation/", "checks/regular.rs", "store/"],
    ),
    (
        &["std::fs", "fs::"],
        &[
            "checks/command/",
            "checks/packages/",
            "checks/programs.rs",
            "sandbox/",
            "checks/regular.rs",
            "checks/stage/",
            "checks/syntax/child.rs",
            "checks/runtime/",
            "cli/",
            "store/",
        ],
    ),
    (
        &["std::env", "env::"],
        &["checks/command/", "checks/programs.rs", "sandbox/", "cli/", "main.rs", "store/"],
    ),
];

#[test]
fn the_page_lists_the_dependencies_of_each_crate() {
    assert_eq!(table(), manifests());
}

#[test]
fn the_modules_of_each_crate_import_each_other_one_way() {
    let sources = sources();
    let crates: BTreeSet<&str> = sources.iter().map(Source::krate).collect();
    assert!(crates.len() > 10, "only {crates:?} were found");
    let mut wrong = Vec::new();
    for name in crates {
        let imports = imports(name, &sources);
        if name == "engine" {
            assert!(imports["pipeline"].contains("judge"), "{:?}", imports["pipeline"]);
        }
        let cycle = import_cycle(&imports);
        if !cycle.is_empty() {
            wrong.push(format!("{name}: these import each other: {cycle:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_modules_say_that_they_are() {
    let sources = sources();
    let pure = pure_modules();
    assert!(pure.len() >= 5, "the sentence that ends in `are **pure**` is not understood: {pure:?}");
    let says = |place: &&String| {
        let (module, file) = (format!("{place}/mod.rs"), format!("{place}.rs"));
        let source = sources.iter().find(|source| source.path == module || source.path == file);
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

/// The crates that another editor or agent can use alone, and what they must not depend on. `blake3` names `cc` for its
/// build, but compiles nothing with it: its feature `pure` is set.
#[test]
fn matching_and_splicing_need_no_c_code_no_runtime_and_no_database() {
    let dependencies = |name: &str| -> BTreeSet<String> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "none"]);
        let output =
            cargo.args(["--package", name]).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    };
    let heavy = |name: &String| {
        ["tokio", "rusqlite", "tokio-postgres"].contains(&name.as_str())
            || name.starts_with("tree-sitter")
            || name.ends_with("-sys")
    };
    for name in ["lockgate-text", "lockgate-python-re", "lockgate-matching", "lockgate-edit"] {
        let all = dependencies(name);
        let found: Vec<&String> = all.iter().filter(|name| heavy(name)).collect();
        assert!(all.contains(name) && found.is_empty(), "{name} needs {found:?}");
    }
    // The control.
    assert!(dependencies("lockgate-syntax").iter().any(heavy));
}

/// The greatest number of type names that may be defined more than once.
const MAX_SHARED_NAMES: usize = 20;

#[test]
fn few_type_names_are_defined_twice() {
    let mut defined: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources().iter().filter(|source| !source.is_test) {
        for name in types_defined(&source.without_tests()) {
            defined.entry(name).or_default().insert(source.path.clone());
        }
    }
    let shared: Vec<_> = defined.iter().filter(|(_, paths)| paths.len() > 1).collect();
    assert!(defined.len() > 500, "only {} types were found", defined.len());
    assert!(shared.len() <= MAX_SHARED_NAMES, "{} names: {shared:#?}", shared.len());
}

/// Returns the names of the types that code defines.
fn types_defined(code: &str) -> Vec<String> {
    static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union|type) ([A-Z]\w*)").unwrap()
    });
    let is_associated =
        |found: &regex::Captures<'_>| found[0].trim_start_matches('\n').starts_with("    type ");
    let all = DEFINITION.captures_iter(code).filter(|found| !is_associated(found));
    all.map(|found| found[1].to_owned()).collect()
}

/// Positive controls: what these tests look for is found when it is there.
mod controls {
    use super::reading::test_files;
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
    fn a_cycle_of_imports_is_found_through_exports_and_groups() {
        let cycle = |extra: &str| {
            let modules = "mod a;\nmod b;\nmod c;\npub use b::{self, inner::{Other, Thing}};";
            let sources = [
                source("engine/mod.rs", modules),
                source("engine/a.rs", "use super::{Thing, c};\nuse lockgate_text::Buffer;"),
                source("engine/b/mod.rs", "mod inner;\npub(super) use inner::Thing;"),
                source("engine/b/inner.rs", &format!("pub struct Thing;\n{extra}")),
                source("engine/c.rs", "use std::fmt;"),
            ];
            import_cycle(&imports("engine", &sources)).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(cycle(""), [""; 0]);
        assert_eq!(cycle("use super::super::c::f;"), [""; 0]);
        let extras = [
            "use super::super::a::f;",
            "use crate::{a::g};",
            "fn f() { super::super::a::g() }",
            "use super::super::a;\nfn f() { a::g() }",
        ];
        for extra in extras {
            assert_eq!(cycle(extra), ["a", "b::inner"], "{extra}");
        }
    }

    #[test]
    fn only_the_items_of_tests_are_left_out() {
        let text = "use a::A;\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests;\nuse rmcp::X;\nstruct S {\n    #[cfg(test)]\n    \
                    field: u8,\n    other: u8,\n}\n#[cfg(test)]\nmod more {\n    use b::B;\n}\nuse c::C;\n";
        let left = ["use a::A;", "use rmcp::X;", "struct S {", "    other: u8,", "}", "use c::C;"];
        assert_eq!(reading::without_test_items(text), left);
    }

    #[test]
    fn a_name_is_distinct_from_its_parts() {
        assert!(names("use syn::File;", "syn::") && names("oxc_span::Span", "oxc_") && names("rmcp", "rmcp"));
        assert!(!names("async_rmcp", "rmcp") && !names("rmcps", "rmcp") && !names("my_syn::x", "syn::"));
    }

    #[test]
    fn every_kind_of_type_definition_is_found() {
        let code = "pub struct A;\n    enum B {}\npub(super) trait C {}\ntype D = A;\nimpl X for Y {\n    type Output = A;\n}\n";
        assert_eq!(types_defined(code), ["A", "B", "C", "D"]);
    }

    #[test]
    fn test_files_are_distinguished() {
        let text = "#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\n#[cfg(test)]\nmod laws;\nmod code;\n";
        let files = test_files(Path::new("src/a/mod.rs"), text);
        assert_eq!(files, [Path::new("src/a/x_tests.rs"), Path::new("src/a/laws.rs")]);
    }
}
