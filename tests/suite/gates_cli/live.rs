//! The tools of the catalogue, as the suite installs them: the one real run of each.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockgate_policy::Catalogue;
use serde_json::Value;

use super::{ILL, entry};
use crate::suite::gates::live_gates;
use crate::suite::store::not_run;
use crate::suite::trust::fixture::Fixture;
use crate::suite::wire::{outcome, tools_path};

/// The search path with the suite's tools, and rustfmt itself before the one that asks rustup.
pub(super) fn path() -> OsString {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot =
        output.ok().map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).join("bin"));
    let tools = tools_path();
    std::env::join_paths(sysroot.into_iter().chain(std::env::split_paths(&tools))).unwrap()
}

/// Runs `lockgate gates` with the real tools; what they compile is kept from one run of the tests to the next.
fn call(fixture: &Fixture, arguments: &[&str]) -> (i32, Value) {
    call_isolated(fixture, None, arguments)
}

/// The same with a ceiling of isolation, if there is one.
fn call_isolated(fixture: &Fixture, level: Option<&str>, arguments: &[&str]) -> (i32, Value) {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    fs::create_dir_all(&cache).unwrap();
    let mut command = fixture.command();
    command.env_remove("LOCKGATE_ISOLATION").envs(level.map(|level| ("LOCKGATE_ISOLATION", level)));
    command.env("PATH", path()).env("XDG_CACHE_HOME", cache).stdin(Stdio::null());
    let output = outcome(&command.arg("gates").args(arguments).arg("--json").output().unwrap());
    let answer = serde_json::from_str(&output.stdout);
    (output.exit, answer.unwrap_or_else(|why| panic!("{why}: {}{}", output.stdout, output.stderr)))
}

pub(super) fn installed() -> bool {
    let is_set = ["LOCKGATE_TEST_VENV", "LOCKGATE_TEST_NODE"].map(|name| std::env::var_os(name).is_some());
    if is_set != [true; 2] {
        not_run("the tools of the catalogue, live: tests/run installs them");
    }
    is_set == [true; 2]
}

/// The gates that must run on this machine, and those that need no program; reports each missing one as not run.
/// Other programs on the machine may be of another version, or a name without a program.
fn required_gates<'a>(answer: &'a Value, state: &str) -> Vec<&'a Value> {
    let promised = live_gates();
    let catalogue = Catalogue::embedded();
    let is_asked = |gate: &&Value| {
        let name = gate["name"].as_str().unwrap();
        promised.contains(name) || catalogue.find(name).is_none_or(|gate| !gate.runs_program())
    };
    let all = answer["gates"].as_array().unwrap().iter().filter(is_asked);
    let (missing, available): (Vec<&Value>, Vec<&Value>) = all.partition(|gate| gate[state] == "unavailable");
    for gate in missing {
        not_run(&format!("the gate {}, live: {}", gate["name"], gate["why"]));
    }
    available
}

#[test]
fn every_tool_finds_its_bad_samples_and_passes_its_good_ones() {
    if !installed() {
        return;
    }
    let fixture = Fixture::new();
    let (exit, answer) = call(&fixture, &["test", "--require-all"]);
    let available = required_gates(&answer, "outcome");
    for gate in &available {
        assert_eq!(gate["outcome"], "passed", "{gate:#}");
        let samples = gate["samples"].as_array().unwrap();
        for finds in [true, false] {
            let such =
                |sample: &&Value| (sample["finds"].as_u64() > Some(0)) == finds && sample["agrees"] == true;
            assert!(samples.iter().any(|sample| such(&sample)), "finds {finds}: {gate:#}");
        }
    }
    let all = answer["gates"].as_array().unwrap();
    let agree = all.iter().all(|gate| gate["outcome"] == "passed");
    assert_eq!(exit == 0, agree, "a gate that is missing fails the test");
}

/// The seccomp filter stands under Landlock and in bubblewrap, and not where there is no isolation.
#[test]
fn every_tool_finds_the_same_at_every_level_of_isolation() {
    if !installed() {
        return;
    }
    let fixture = Fixture::new();
    let found = |level: &str| {
        let (_, answer) = call_isolated(&fixture, Some(level), &["test"]);
        let gates = required_gates(&answer, "outcome").into_iter().map(|gate| {
            let samples = gate["samples"].as_array().unwrap().iter();
            let samples: Vec<String> = samples
                .map(|sample| format!("{} {} {}", sample["finds"], sample["missing"], sample["unexpected"]))
                .collect();
            (gate["name"].to_string(), (gate["outcome"].to_string(), samples))
        });
        gates.collect::<std::collections::BTreeMap<_, _>>()
    };
    let without = found("none");
    assert!(without.values().any(|(_, samples)| !samples.is_empty()), "no gate was asked");
    for level in ["landlock", "bubblewrap"] {
        assert_eq!(found(level), without, "{level}");
    }
}

#[test]
fn every_tool_finds_its_canary() {
    if !installed() {
        return;
    }
    let fixture = Fixture::new();
    let commands = Catalogue::embedded().gates().iter().filter(|gate| gate.command().is_some());
    let names: Vec<&str> = commands.map(|gate| gate.name.as_str()).collect();
    let (_, answer) = call(&fixture, &[&["doctor"], names.as_slice()].concat());
    for gate in required_gates(&answer, "state") {
        assert_eq!(gate["state"], "works", "{gate:#}");
    }
}

/// The control: the same tool by the same definition, but for one word of what it is to find.
#[test]
fn a_sample_that_is_spoilt_is_noticed() {
    if !installed() {
        return;
    }
    let fixture = Fixture::new();
    let text = include_str!("../../../gates/ruff.yaml");
    let define = |text: &str| {
        let lines: String = text.lines().map(|line| format!("    {line}\n")).collect();
        let policy = format!("quality_gates: {{ python: [{{ tool: copy }}] }}\ndefine:\n  copy:\n{lines}");
        fixture.write("root/quality.yaml", &policy);
        call(&fixture, &["test", "copy", "--trust", "--require-all"])
    };
    let (exit, answer) = define(text);
    if required_gates(&answer, "outcome").is_empty() {
        return;
    }
    assert_eq!(exit, 0, "{answer:#}");
    let spoilt = text.replace("column: 8, code: F401", "column: 8, code: F402");
    assert_ne!(spoilt, text);
    let (exit, answer) = define(&spoilt);
    assert_eq!((exit, &entry(&answer, "copy")["outcome"]), (ILL, &"failed".into()), "{answer:#}");
    let differing =
        entry(&answer, "copy")["samples"].as_array().unwrap().iter().filter(|one| one["agrees"] == false);
    assert_eq!(differing.count(), 1, "{answer:#}");
}

/// A definition of the catalogue, the path of a draft, the file that makes its program print more than findings and its text,
/// a draft that has no finding and one that has one, and that finding.
type Noisy = (&'static str, &'static str, &'static str, &'static str, [&'static str; 2], &'static str);

const NOISY: [Noisy; 7] = [
    (
        "mypy",
        "a.py",
        "setup.cfg",
        "[mypy]\\nwarn_unused_configs = True\\nnonsense = 1\\n[mypy-foo.*]\\nignore_errors = True\\n",
        ["x: int = 1\\n", "x: int = 'a'\\n"],
        "{ line: 1, code: assignment }",
    ),
    (
        "codespell",
        "a.txt",
        "setup.cfg",
        "[codespell]\\nquiet-level = 0\\n",
        ["the\\n", "teh\\n"],
        "{ line: 1 }",
    ),
    (
        "ruff",
        "a.py",
        "pyproject.toml",
        "[tool.ruff]\\nselect = [\\\"F\\\"]\\n",
        ["x = 1\\n", "import os\\n"],
        "{ line: 1, code: F401 }",
    ),
    (
        "rumdl",
        "a.md",
        ".rumdl.toml",
        "nonsense = 1\\n[global]\\nfoo = 2\\n",
        ["# B\\n", "# A\\n\\n#B\\n"],
        "{ line: 3, code: MD018 }",
    ),
    (
        "pyrefly",
        "a.py",
        "pyrefly.toml",
        "nonsense = 1\\n",
        ["x: int = 1\\n", "x: int = 'a'\\n"],
        "{ line: 1 }",
    ),
    (
        "prettier",
        "a.js",
        ".prettierrc.json",
        "{\\\"nonsense\\\": 1}\\n",
        ["f(1);\\n", "f( 1 )\\n"],
        "{ line: 1, code: format }",
    ),
    (
        "rustfmt",
        "src/a.rs",
        "rustfmt.toml",
        "group_imports = \\\"StdExternalCrate\\\"\\n",
        ["fn f() {}\\n", "fn  f() {}\\n"],
        "{ line: 1, code: format }",
    ),
];

/// Settings that are out of date or unknown make these programs print notes, some of them among their findings.
#[test]
fn notes_of_real_tools_neither_hide_nor_make_a_finding() {
    if !installed() {
        return;
    }
    for (name, path, file, config, [good, bad], finds) in NOISY {
        let fixture = Fixture::new();
        let text =
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("gates/{name}.yaml")))
                .unwrap();
        let (head, _) = text.split_once("\nsamples:\n").unwrap();
        let sample = |draft: &str, finds: &str| {
            format!(
                "  - path: {path}\n    draft: \"{draft}\"\n    with: {{ \"{file}\": \"{config}\" }}\n    output: ''\n    finds: [{finds}]\n"
            )
        };
        let text = format!("{head}\nsamples:\n{}{}", sample(good, ""), sample(bad, finds));
        let lines: String = text.lines().map(|line| format!("    {line}\n")).collect();
        fixture.write(
            "root/quality.yaml",
            &format!("quality_gates: {{ '*': [{{ tool: copy }}] }}\ndefine:\n  copy:\n{lines}"),
        );
        let (exit, answer) = call(&fixture, &["test", "copy", "--trust"]);
        if entry(&answer, "copy")["outcome"] == "unavailable" {
            not_run(&format!("the gate {name} with notes, live: {}", entry(&answer, "copy")["why"]));
            continue;
        }
        assert_eq!((exit, &entry(&answer, "copy")["outcome"]), (0, &"passed".into()), "{name}: {answer:#}");
    }
}

/// cargo warns of a key that it does not know, and waits aloud for another cargo.
#[test]
fn an_unused_key_of_a_manifest_hides_no_finding() {
    if !installed() {
        return;
    }
    let text = include_str!("../../../gates/cargo-check.yaml");
    let noisy = text.replace("[package]\\nname", "[package]\\nnonsense = 1\\nname");
    assert_ne!(noisy, text);
    let fixture = Fixture::new();
    let lines: String = noisy.lines().map(|line| format!("    {line}\n")).collect();
    fixture.write(
        "root/quality.yaml",
        &format!("quality_gates: {{ rust: [{{ tool: copy }}] }}\ndefine:\n  copy:\n{lines}"),
    );
    let (exit, answer) = call(&fixture, &["test", "copy", "--trust"]);
    if entry(&answer, "copy")["outcome"] == "unavailable" {
        not_run(&format!("the gate cargo-check with notes, live: {}", entry(&answer, "copy")["why"]));
        return;
    }
    assert_eq!((exit, &entry(&answer, "copy")["outcome"]), (0, &"passed".into()), "{answer:#}");
}
