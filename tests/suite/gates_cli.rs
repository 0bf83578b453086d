//! `lockgate gates`: what is known, what works on this machine, and the samples of every gate judged by the real tools.

mod canaries;
mod doctor;
mod go;
mod live;
mod offline;
mod packages;
mod samples;

use lockgate_policy::Catalogue;
use serde_json::Value;

use super::trust::fixture::Fixture;
use super::wire::{Outcome, lockgate, outcome};

/// The exit codes of a gate that does not do as it should, and of a request that cannot be carried out.
const ILL: i32 = 1;
const REFUSED: i32 = 2;

/// A program that finds each line with `bad` in it, says its version, and writes down that it ran.
const FINDS: &str = "#!/bin/sh\nprintf '%s\\n' \"$0 $*\" >> '{FIXTURE}/outside/ran'\n[ \"$1\" = --version ] && { echo 'it 1.2.3'; exit; }\ngrep -n bad || true\n";

/// The same, but that it finds nothing.
const BLIND: &str = "#!/bin/sh\nprintf '%s\\n' \"$0 $*\" >> '{FIXTURE}/outside/ran'\ncat > /dev/null\n";

/// A program that fails.
const FAILS: &str = "#!/bin/sh\ncat > /dev/null\nexit 3\n";

const DEFINED: &str = "quality_gates: { python: [{ tool: it, level: warn, timeout: 7s }] }
define:
  it:
    about: Finds what is bad.
    languages: [python]
    kind: command
    input: stdin
    command: [it, \"{path}\"]
    bin: [\"{venv}/bin/it\", it]
    output: { regex: '^(?P<line>\\d+):(?P<message>.*)$' }
    probe: [it, --version]
    install: [\"pkg:pypi/it\"]
    canary: \"bad\\n\"
    samples:
      - { path: a.py, draft: \"good\\n\" }
      - { path: a.py, draft: \"good\\nbad one\\n\", finds: [{ line: 2, message: one }] }
";

/// A project whose policy defines the gate `it`, with nothing else to be found but the system's own programs.
fn fixture(program: &str) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.path = format!("{}:/usr/bin:/bin", fixture.at("bin").display());
    fixture.write("root/quality.yaml", DEFINED);
    executable(&fixture, "bin/it", program);
    fixture
}

fn executable(fixture: &Fixture, path: &str, text: &str) {
    fixture.write(path, text);
    fixture.executable(path);
}

#[track_caller]
fn gates(fixture: &Fixture, arguments: &[&str], exit: i32) -> Outcome {
    let output = fixture.call(&[&["gates"], arguments].concat());
    assert_eq!(output.exit, exit, "{arguments:?}\n{}{}", output.stdout, output.stderr);
    output
}

#[track_caller]
fn json(fixture: &Fixture, arguments: &[&str], exit: i32) -> Value {
    let output = gates(fixture, &[arguments, &["--json"]].concat(), exit);
    serde_json::from_str(&output.stdout).unwrap_or_else(|why| panic!("{why}: {}", output.stdout))
}

/// What an answer says of one gate.
#[track_caller]
fn entry<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let gates = answer["gates"].as_array().unwrap();
    gates.iter().find(|gate| gate["name"] == name).unwrap_or_else(|| panic!("no {name}: {answer:#}"))
}

#[test]
fn the_list_has_every_gate_in_a_row_of_its_own() {
    let fixture = fixture(FINDS);
    executable(&fixture, "bin/ruff", BLIND);
    let text = gates(&fixture, &[], 0).stdout;
    assert_eq!(text, gates(&fixture, &["list"], 0).stdout);
    let names: Vec<&str> = text.lines().skip(1).map(|row| row.split_whitespace().next().unwrap()).collect();
    let catalogue: Vec<&str> = Catalogue::embedded().gates().iter().map(|gate| gate.name.as_str()).collect();
    assert_eq!(names, [catalogue.as_slice(), &["it"]].concat());
    assert!(text.lines().all(|row| row.chars().count() <= 100), "{text}");
    let row = |name: &str| text.lines().find(|row| row.starts_with(&format!("{name} "))).unwrap();
    assert!(row("ruff").contains(" here "), "{text}");
    assert!(row("mypy").contains(" missing ") && row("syntax").contains(" built in "), "{text}");
    assert!(!text.contains(fixture.at("bin").to_str().unwrap()), "{text}");

    let answer = json(&fixture, &["list"], 0);
    assert_eq!(answer["gates"].as_array().unwrap().len(), names.len());
    let ruff = entry(&answer, "ruff");
    assert_eq!((ruff["from"].as_str(), ruff["here"].as_bool()), (Some("catalogue"), Some(true)));
    assert_eq!(ruff["program"], fixture.at("bin/ruff").to_str().unwrap());
    assert_eq!(
        (&entry(&answer, "it")["from"], &entry(&answer, "it")["languages"][0]),
        (&"policy".into(), &"python".into())
    );
    assert_eq!(entry(&answer, "mypy")["here"], false);
    let elsewhere =
        lockgate(&fixture.at("user")).args(["gates", "--json"]).current_dir("/").output().unwrap();
    assert!(!outcome(&elsewhere).stdout.contains("\"it\""), "where no root is, there is the catalogue");
    let root = fixture.root();
    let named = gates(&fixture, &["--root", root.to_str().unwrap()], 0).stdout;
    assert_eq!(named, text);
    assert!(fixture.ran().is_empty(), "nothing runs by being listed");
}

#[test]
fn a_gate_is_shown_with_all_there_is_to_know() {
    let fixture = fixture(FINDS);
    let text = gates(&fixture, &["show", "it"], 0).stdout;
    for part in [
        "it Finds what is bad.",
        "languages python",
        "kind      command, check",
        "runs      it {path} {args}",
        "input     stdin",
        "output    regex, from stdout, columns in characters",
        "scope     file",
        "timeout   5s",
        "samples   2",
        "canary    yes",
        &fixture.fill("program   {FIXTURE}/bin/it"),
        "tried     no bin/it in .venv or venv of the project",
        "install   pip install it",
        "policy    python: level: warn, timeout: 7s",
    ] {
        assert!(text.lines().any(|line| line.starts_with(part)), "{part}\n{text}");
    }
    let answer = json(&fixture, &["show", "it"], 0);
    assert_eq!(
        (&answer["canary"], &answer["samples"], &answer["scope"]),
        (&true.into(), &2.into(), &"file".into())
    );
    // Its origin, as in the list, and not the stream that is read.
    assert_eq!((&answer["from"], &answer["stream"]), (&"policy".into(), &"stdout".into()));
    let mypy = gates(&fixture, &["show", "mypy"], 0).stdout;
    assert!(mypy.contains("program   not on this machine") && !mypy.contains("\npolicy "), "{mypy}");
    for name in Catalogue::embedded().gates().iter().map(|gate| &gate.name) {
        assert_eq!(json(&fixture, &["show", name], 0)["name"], name.as_str());
    }
    let unproven = DEFINED.replace("canary: ", "# ");
    fixture.write("root/quality.yaml", &unproven);
    assert!(gates(&fixture, &["show", "it"], 0).stdout.contains("canary    none, so the gate is unproven"));
    fixture.write("root/quality.yaml", &DEFINED.replace("about: Finds what is bad.", "about: ''"));
    let title = gates(&fixture, &["show", "it"], 0).stdout.lines().next().map(str::to_owned);
    assert_eq!(title.as_deref(), Some("it"));
    assert!(fixture.ran().is_empty());
}

#[test]
fn an_unknown_name_is_refused_with_a_suggestion() {
    let fixture = fixture(FINDS);
    for arguments in [["show", "ruf"], ["doctor", "ruf"], ["test", "ruf"]] {
        let stderr = gates(&fixture, &arguments, REFUSED).stderr;
        assert!(stderr.contains("INVALID_INPUT: unknown gate `ruf`, did you mean `ruff`?"), "{stderr}");
    }
    fixture.append("root/quality.yaml", "quality: 1\n");
    assert!(gates(&fixture, &["list"], 8).stderr.contains("POLICY_INVALID"));
}
