//! Names of files that would like to be options, patterns, commands or other files: a tool is given them as what they are.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::trust::fixture::Fixture;
use super::wire::{Answer, Server, outcome};
use names::{LEGAL, SHAPES, UNSEEMLY};

mod names;

/// Reads its input, and writes the words that it was given into a file of its own, each with a NUL behind it.
const RECORDER: &str = "#!/bin/sh\ncat > /dev/null\nfor word; do printf '%s\\0' \"$word\"; done > \"{FIXTURE}/outside/calls/$$\"\n";

/// Three gates, one for each way in which a draft reaches a tool.
const POLICY: &str = "quality_gates:
  '*': [{ tool: by-stdin, args: [--the-end] }, { tool: by-shadow }, { tool: by-copy }]
define:
  by-stdin:
    about: Is given the draft on standard input.
    languages: ['*']
    kind: command
    input: stdin
    command: [recorder, stdin, '{path}', '--file={path}', '{folder}', '{args}', '{root}']
    output: { text: exit, message: bad }
  by-shadow:
    about: Is given the path of the draft.
    languages: ['*']
    kind: command
    input: shadow
    command: [recorder, shadow, '{path}', '{draft}', '{overlay}']
    output: { text: exit, message: bad }
  by-copy:
    about: Is given a linked copy.
    languages: ['*']
    kind: command
    input: staged
    command: [recorder, copy, '{path}', '{folder}', '{root}']
    output: { text: exit, message: bad }
";

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fs::create_dir(fixture.at("outside/calls")).unwrap();
    fixture.write("bin/recorder", RECORDER);
    fixture.executable("bin/recorder");
    fixture.write("root/quality.yaml", POLICY);
    fixture
}

/// The words of each call since this was asked before.
fn calls(fixture: &Fixture) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    for entry in fs::read_dir(fixture.at("outside/calls")).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        calls.push(text.split_terminator('\0').map(str::to_owned).collect());
        fs::remove_file(path).unwrap();
    }
    calls.sort();
    calls
}

/// The words that hold something of the name and that a tool may take for anything but an absolute path.
fn misleading<'a>(words: &'a [String], name: &str) -> Vec<&'a String> {
    let parts: Vec<&str> = name.split('/').collect();
    let holds = |word: &&String| parts.iter().any(|part| word.contains(part));
    let path = |word: &str| word.strip_prefix("--file=").unwrap_or(word).starts_with('/');
    words.iter().skip(1).filter(holds).filter(|word| !path(word) && *word != "--the-end").collect()
}

/// What the three gates are given for a file of that name; one that is not on disk yet is shown in a linked copy.
fn check_calls(fixture: &Fixture, name: &str, is_new: bool) {
    let path = fixture.root().join(name).to_str().unwrap().to_owned();
    let (folder, _) = path.rsplit_once('/').unwrap();
    let root = fixture.root().display().to_string();
    let recorded = calls(fixture);
    let [copy, shadow, stdin] = &recorded[..] else { panic!("{name:?}: {recorded:?}") };
    assert_eq!(
        stdin[..],
        ["stdin", &path, &format!("--file={path}"), folder, "--the-end", &root],
        "{name:?}"
    );
    let copied = |word: &str, below: &str| word.starts_with('/') && word.ends_with(below) && word != path;
    assert!(copy.len() == 4 && copied(&copy[1], &format!("/{name}")), "{name:?}: {copy:?}");
    let shown = if is_new { copied(&shadow[1], &format!("/{name}")) } else { shadow[1] == path };
    assert!(shadow.len() == 4 && shown, "{name:?}: {shadow:?}");
    assert!(
        copy[1].starts_with(&format!("{}/", copy[2])) && copy[2].starts_with(&copy[3]),
        "{name:?}: {copy:?}"
    );
    for words in &recorded {
        assert_eq!(misleading(words, name), [""; 0], "{name:?}");
    }
}

/// The edits of every mode, each with the text that it leaves.
fn edits(path: &str) -> [(Value, &'static str); 4] {
    [
        (json!({"path": path, "content": "one\n"}), "one\n"),
        (json!({"path": path, "insert_lines": [{"at_line": 2, "content": "two\n"}]}), "one\ntwo\n"),
        (json!({"path": path, "search": "two", "replace": "2"}), "one\n2\n"),
        (
            json!({"path": path, "line_edits": [{"start_line": 1, "end_line": 1, "new_content": "1\n"}]}),
            "1\n2\n",
        ),
    ]
}

fn edit(server: &mut Server, arguments: &Value) -> Answer {
    server.try_call("safe_edit_file", arguments).unwrap_or_else(|why| panic!("{arguments}: {why}"))
}

/// Every name as it is, and in one of the other shapes.
fn legal() -> BTreeSet<String> {
    let other = |(number, name): (usize, &&str)| SHAPES[number % SHAPES.len()].replace("NAME", name);
    LEGAL.iter().map(|name| (*name).to_owned()).chain(LEGAL.iter().enumerate().map(other)).collect()
}

/// Gives a file each text in turn, and looks at what was written; `inspect` checks the rest.
fn edit_sequentially<'a>(
    fixture: &Fixture,
    server: &mut Server,
    edits: impl IntoIterator<Item = &'a (Value, &'static str)>,
    mut inspect: impl FnMut(&Answer, &str, bool),
) {
    for (arguments, text) in edits {
        let name = arguments["path"].as_str().unwrap();
        let path = fixture.root().join(name);
        let is_new = !path.exists();
        let answer = edit(server, arguments);
        assert_eq!(answer.status(), "written", "{name:?}: {}", answer.structured);
        assert_eq!(fs::read_to_string(&path).unwrap(), *text, "{name:?}");
        inspect(&answer, name, is_new);
    }
}

#[test]
fn no_name_reaches_a_tool_as_anything_but_a_path() {
    let fixture = fixture();
    let mut server = fixture.server(&["--tools", "all", "--trust"]);
    let names = legal();
    assert!(names.len() >= 200, "{}", names.len());
    for name in &names {
        let count = if LEGAL.contains(&name.as_str()) { 2 } else { 1 };
        edit_sequentially(&fixture, &mut server, &edits(name)[..count], |answer, name, is_new| {
            let gates = answer.structured["gates"].as_array().unwrap();
            assert!(gates.iter().all(|gate| gate["outcome"] == "passed"), "{name:?}: {gates:?}");
            check_calls(&fixture, name, is_new);
        });
        fs::remove_file(fixture.root().join(name)).unwrap();
    }
}

#[test]
fn every_mode_edits_a_file_of_any_name() {
    let fixture = Fixture::new();
    let mut server = fixture.server(&["--tools", "all"]);
    for name in legal() {
        // Without its ending, so that no parser has a word in it.
        let name = name.trim_end_matches(".py");
        edit_sequentially(&fixture, &mut server, &edits(name), |_, _, _| ());
    }
}

#[test]
fn misleading_names_are_refused_in_requests_but_may_exist() {
    let fixture = fixture();
    let mut server = fixture.server(&["--tools", "all", "--trust"]);
    for name in UNSEEMLY {
        let name = format!("{name}.py");
        for (arguments, _) in edits(&name) {
            let answer = edit(&mut server, &arguments);
            let expected =
                if arguments.get("content").is_some() { "INVALID_INPUT" } else { "FILE_NOT_FOUND" };
            assert!([expected, "INVALID_INPUT"].contains(&answer.code()), "{name:?}: {}", answer.structured);
        }
        if name.contains('\0') {
            continue;
        }
        // An existing file of such a name can still be fixed.
        fs::write(fixture.root().join(&name), "zero\n").unwrap();
        edit_sequentially(&fixture, &mut server, &edits(&name), |_, name, _| {
            check_calls(&fixture, name, false)
        });
    }
}

/// The control: the same check of the words finds every name that is given without its folder.
#[test]
fn a_bare_name_is_detected() {
    let fixture = fixture();
    let mut detected = 0;
    for name in LEGAL {
        let mut naive = Command::new(fixture.at("bin/recorder"));
        assert!(naive.args(["naive", name, "{draft}"]).stdin(Stdio::null()).status().unwrap().success());
        let call = calls(&fixture).remove(0);
        assert_eq!(misleading(&call, name).first(), Some(&&(*name).to_owned()), "{call:?}");
        detected += 1;
    }
    assert!(detected >= 100, "{detected}");
    let words = ["tool", "--file=/r/-x", "--file", "-x", "/r/-x", "--file=-x"].map(str::to_owned);
    assert_eq!(misleading(&words, "-x"), ["-x", "--file=-x"]);
}

#[test]
fn the_words_are_what_the_tool_was_given() {
    let fixture = fixture();
    let words = ["naive", "a b", "", "\n", "'\"\\", "é"];
    assert!(
        Command::new(fixture.at("bin/recorder")).args(words).stdin(Stdio::null()).status().unwrap().success()
    );
    assert_eq!(calls(&fixture), [words.map(str::to_owned).to_vec()]);
}

#[test]
fn a_name_that_is_no_text_is_refused_clearly() {
    let fixture = fixture();
    let name = OsStr::from_bytes(b"caf\xe9.py");
    fs::write(fixture.root().join(name), "x = 1\n").unwrap();
    let mut edit = fixture.command();
    edit.args(["edit", "--trust", "--content", "x = 2\n", "--path"]).arg(name).stdin(Stdio::null());
    let output = outcome(&edit.output().unwrap());
    assert_eq!(output.exit, 2, "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("invalid UTF-8"), "{}", output.stderr);
    assert_eq!(fs::read_to_string(fixture.root().join(name)).unwrap(), "x = 1\n");
    assert!(calls(&fixture).is_empty());
}

/// A root of any name is a root, also where its name is no text.
#[test]
fn a_root_of_a_hostile_name_is_no_option_either() {
    for name in
        [OsStr::new("-rf"), OsStr::new("a b'\"$(x)"), OsStr::new("@{path}"), OsStr::from_bytes(b"caf\xe9")]
    {
        let fixture = fixture();
        let root = fixture.at("outside").join(name);
        fs::rename(fixture.root(), &root).unwrap();
        let mut edit = fixture.command();
        edit.args(["edit", "--json", "--trust", "--path=-a.py", "--content", "x = 2\n"]).current_dir(&root);
        let output = outcome(&edit.output().unwrap());
        assert_eq!(output.exit, 0, "{name:?}: {}{}", output.stdout, output.stderr);
        assert_eq!(fs::read_to_string(root.join("-a.py")).unwrap(), "x = 2\n");
        let is_path =
            |word: &[u8]| word.starts_with(b"/") || word.starts_with(b"--file=/") || word == b"--the-end";
        for entry in fs::read_dir(fixture.at("outside/calls")).unwrap() {
            let words = fs::read(entry.unwrap().path()).unwrap();
            let words: Vec<&[u8]> = words.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
            assert!(words.len() >= 4 && words[1..].iter().all(|word| is_path(word)), "{name:?}: {words:?}");
        }
        assert_eq!(fs::read_dir(fixture.at("outside/calls")).unwrap().count(), 3, "{name:?}");
    }
}
