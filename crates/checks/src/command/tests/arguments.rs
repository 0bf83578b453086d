//! The arguments, working directory, environment and input of a program.

use serde_json::{Value, json};

use super::*;

fn stdin(more: &str) -> String {
    format!("input: stdin\n{QUIET}\n{more}")
}

fn words(record: &Value) -> Vec<&str> {
    record["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn words_are_filled_in_with_absolute_paths() {
    let fixture = Fixture::new(&[("src/pkg/a b.py", ""), ("src/conf.toml", "")]);
    let record = fixture.mirrored(
        "'--file={path}', '{folder}', '{root}'",
        &stdin("cwd: [conf.toml]"),
        "src/pkg/a b.py",
        b"x",
    );
    let root = fixture.root().display().to_string();
    let expected =
        [format!("--file={root}/src/pkg/a b.py"), format!("{root}/src/pkg"), format!("{root}/src")];
    assert_eq!(words(&record), expected);
    assert_eq!((&record["cwd"], &record["stdin"]), (&json!(format!("{root}/src")), &json!("x")));
}

#[test]
fn a_name_that_looks_like_an_option_is_none() {
    let fixture = Fixture::new(&[]);
    for name in ["-rf", "--fix", "@args", "a\nb", "$(x)", "é", "*"] {
        let record = fixture.mirrored("'{path}'", &stdin(""), name, b"x");
        assert_eq!(words(&record), [format!("{}/{name}", fixture.root().display())]);
    }
}

#[test]
fn the_arguments_of_the_policy_go_to_their_placeholder_or_to_the_end() {
    let fixture = Fixture::new(&[("a", "")]);
    for (own, unconfigured, expected) in [
        ("one, '{args}', two", "", &["one", "--policy", "p q", "two"][..]),
        ("one, two", "", &["one", "two", "--policy", "p q"]),
        (
            "one, '{args}', two",
            "config: [tool.cfg]\nunconfigured: [--plain]",
            &["one", "--plain", "--policy", "p q", "two"],
        ),
        ("one", "config: [a]\nunconfigured: [--plain]", &["one", "--policy", "p q"]),
    ] {
        let mut rule = fixture.rule(MIRROR, own, &stdin(unconfigured));
        rule.args = vec!["--policy".to_owned(), "p q".to_owned()];
        fixture.check(&rule, "a", "x").unwrap();
        assert_eq!(words(&fixture.recorded_input()), expected, "{own} {unconfigured}");
    }
}

#[test]
fn it_runs_in_the_nearest_folder_that_has_a_configuration() {
    let fixture =
        Fixture::new(&[("conf", ""), ("a/b/conf", ""), ("a/b/c/d/x", ""), ("y", ""), ("e/f/x", "")]);
    let root = fixture.root();
    for (cwd, path, expected) in [
        ("[conf]", "a/b/c/d/x", root.join("a/b")),
        ("[conf]", "y", root.clone()),
        ("[conf]", "e/f/x", root.clone()),
        ("[conf]", "a/b/new/folder/x", root.join("a/b")),
        ("[none]", "a/b/c/d/x", root.clone()),
        ("[none, x]", "a/b/c/d/x", root.join("a/b/c/d")),
        ("[c]", "a/b/c/d/x", root.join("a/b")),
    ] {
        let record = fixture.mirrored("x", &stdin(&format!("cwd: {cwd}")), path, b"");
        assert_eq!(record["cwd"], json!(expected), "{cwd} {path}");
    }
}

/// A file with the text comes first, however far above; without one, the nearest file of the name counts.
#[test]
fn the_folder_to_run_in_has_a_file_that_contains_a_text() {
    let fixture = Fixture::new(&[
        ("a/conf", "[tool]\n"),
        ("a/b/conf", "[other]\n"),
        ("a/b/c/d/x", ""),
        ("e/conf", ""),
        ("e/f/x", ""),
    ]);
    let root = fixture.root();
    for (cwd, path, expected) in [
        ("['conf#[tool']", "a/b/c/d/x", root.join("a")),
        ("['conf#[other']", "a/b/c/d/x", root.join("a/b")),
        ("['conf#[none']", "a/b/c/d/x", root.join("a/b")),
        ("['conf#[tool', own]", "e/f/x", root.join("e")),
        ("['conf#[tool']", "y", root.clone()),
    ] {
        let record = fixture.mirrored("x", &stdin(&format!("cwd: {cwd}")), path, b"");
        assert_eq!(record["cwd"], json!(expected), "{cwd} {path}");
    }
}

#[test]
fn a_configuration_counts_by_what_it_holds() {
    let fixture =
        Fixture::new(&[("pyproject.toml", "[tool.black]\n"), ("sub/pyproject.toml", "[tool.ruff.lint]\n")]);
    for (config, path, is_checked) in [
        ("['pyproject.toml#[tool.ruff']", "a.py", false),
        ("['pyproject.toml#[tool.ruff']", "sub/deep/a.py", true),
        ("[pyproject.toml]", "a.py", true),
        ("[ruff.toml, 'pyproject.toml#[tool.black']", "a.py", true),
        ("[ruff.toml]", "sub/a.py", false),
    ] {
        let more = stdin(&format!("config: {config}\nunconfigured: skip"));
        let findings = fixture.check(&fixture.rule(MIRROR, "x", &more), path, "");
        let none = Err(GateError::LeftOut("the project has no configuration of python3".to_owned()));
        assert_eq!(findings, if is_checked { Ok(Vec::new()) } else { none }, "{config} {path}");
    }
}

#[test]
fn values_come_from_the_nearest_file_that_has_them() {
    let fixture = Fixture::new(&[
        ("Cargo.toml", "[workspace.package]\nedition = \"2018\"\n"),
        ("a/Cargo.toml", "edition.workspace = true\n"),
        ("b/Cargo.toml", "edition = \"2024\"\n"),
        ("c/Cargo.toml", "edition = \"-Zunstable\"\n"),
        ("d/Cargo.toml", "edition = \"@file\"\n"),
    ]);
    let more = stdin(
        "values: { edition: { in: [none, Cargo.toml], match: '^edition = \"([^\"]*)\"', default: '2015' } }",
    );
    for (path, expected) in
        [("a/x.rs", "2018"), ("b/deep/x.rs", "2024"), ("c/x.rs", "2018"), ("d/x.rs", "2018")]
    {
        assert_eq!(words(&fixture.mirrored("'{edition}'", &more, path, b"")), [expected], "{path}");
    }
    let bare = Fixture::new(&[]);
    assert_eq!(words(&bare.mirrored("'--edition={edition}'", &more, "x.rs", b"")), ["--edition=2015"]);
}

#[test]
fn the_environment_has_what_the_definition_says_and_a_search_path() {
    let mut fixture = Fixture::new(&[("a", "")]);
    let own = fixture.root().join("env");
    fixture.write("env/bin/x", "");
    let all = [own.join("bin")].into_iter().chain(std::env::split_paths(&fixture.search)).collect::<Vec<_>>();
    fixture.search = std::env::join_paths(all).unwrap();
    let more = stdin("env: { TOOL_CACHE: '{cache}/tool', TOOL_ROOT: '{root}/' }");
    let record = fixture.mirrored("x", &more, "a", b"");
    let variable = |name: &str| record["env"].get(name).map(|value| value.as_str().unwrap().to_owned());
    assert_eq!(variable("PATH").unwrap(), fixture.search.to_str().unwrap());
    assert_eq!(variable("TOOL_CACHE").unwrap(), format!("{}/tool", fixture.cache().display()));
    assert_eq!(variable("TOOL_ROOT").unwrap(), format!("{}/", fixture.root().display()));
    assert_eq!(variable("VIRTUAL_ENV"), None);
    fixture.write("env/pyvenv.cfg", "home = /usr/bin\n");
    let record = fixture.mirrored("x", &more, "a", b"");
    assert_eq!(
        record["env"]["VIRTUAL_ENV"],
        json!(own),
        "an environment of Python comes first in the search path"
    );
}

#[test]
fn the_cache_is_private_and_without_one_there_is_one_for_the_run() {
    let fixture = Fixture::new(&[]);
    let record = fixture.mirrored("x", &stdin(""), "a", b"");
    assert_eq!(record["private"], json!("0o700"));
    let rule = fixture.rule(
        "import os, sys\nprint('1 ' + sys.argv[1])\nassert os.listdir(sys.argv[1]) == []",
        "x",
        "input: stdin\noutput: { regex: '^(?P<line>1) (?P<message>.*)$' }",
    );
    let findings = fixture
        .run(&rule, "a", b"", |input| within_a_minute(check)(&ProgramInput { cache: None, ..*input }))
        .unwrap();
    let place = Path::new(&findings[0].message);
    assert!(place.is_absolute() && place != fixture.cache() && !place.exists(), "{}", place.display());
}

#[test]
fn checks_get_the_bytes_and_formatters_the_view() {
    let fixture = Fixture::new(&[]);
    let bytes = "\u{feff}é\r\n".as_bytes();
    let latin = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect::<String>();
    let record = fixture.mirrored("x", &stdin(""), "a", bytes);
    assert_eq!(record["stdin"], json!(latin(bytes)));
    let script = format!("{MIRROR}\nsys.stdout.buffer.write(seen['stdin'].encode('latin-1') + b'\\n')");
    let rule = fixture.rule(&script, "x", "input: stdin\noutput: { text: formatted }");
    let text = fixture.run(&rule, "a", bytes, within_a_minute(fix));
    assert_eq!(text, Ok("é\n\n".to_owned()));
    assert_eq!(fixture.recorded_input()["stdin"], json!(latin("é\n".as_bytes())));
    let findings = fixture.run(&rule, "a", bytes, within_a_minute(check)).unwrap();
    assert_eq!((findings.len(), findings[0].code.as_deref()), (1, Some("format")));
}
