//! Repositories and names that are made to do harm.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use super::super::wire::outcome;
use super::{BAD, GOOD, check, commit, finding_texts, git, git_command, json, project, write};

/// A program of the repository's that writes down that it ran.
const SPY: &str = "#!/bin/sh\necho \"$0\" >> '{FIXTURE}/outside/ran'\ncat 2>/dev/null\n";

#[test]
fn nothing_that_a_repository_configures_is_run() {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD), (".gitattributes", "*.py filter=spy diff=spy\n")]);
    fixture.write("root/spy", SPY);
    fixture.executable("root/spy");
    for hook in
        ["post-checkout", "post-index-change", "reference-transaction", "pre-commit", "fsmonitor-watchman"]
    {
        fixture.write(&format!("root/hooks/{hook}"), SPY);
        fixture.executable(&format!("root/hooks/{hook}"));
    }
    let spy = fixture.at("root/spy").display().to_string();
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {spy}\n\thooksPath = {hooks}\n\tpager = {spy}\n\teditor = {spy}\n\
         \tsshCommand = {spy}\n\talternateRefsCommand = {spy}\n\tworktree = /\n\
         [filter \"spy\"]\n\tclean = {spy}\n\tsmudge = {spy}\n\tprocess = {spy}\n\trequired = true\n\
         [diff]\n\texternal = {spy}\n[diff \"spy\"]\n\ttextconv = {spy}\n\tcommand = {spy}\n\
         [credential]\n\thelper = !{spy}\n[uploadpack]\n\tpackObjectsHook = {spy}\n\
         [include]\n\tpath = {included}\n[alias]\n\trev-parse = !{spy}\n",
        hooks = fixture.at("root/hooks").display(),
        included = fixture.at("root/included").display()
    );
    fixture.write("root/included", "[core]\n\tfsmonitor = {FIXTURE}/root/spy\n");
    fixture.write("root/.git/config", &config);
    write(&fixture, &[("a.py", BAD)]);
    for base in [&[][..], &["--base", "HEAD"], &["--base", "HEAD..."]] {
        let answer = json(&fixture, &[base, &["a.py"]].concat(), 1);
        assert_eq!(finding_texts(&answer), ["a.py"]);
    }
    check(&fixture, &[], 1);
    assert_eq!(fixture.ran(), Vec::<String>::new(), "nothing of the repository runs");
    // The control: git itself runs it.
    let config = config.replace("\tworktree = /\n", "");
    fixture.write("root/.git/config", &config);
    git_command(&fixture, "root").args(["diff", "HEAD"]).output().unwrap();
    assert!(!fixture.ran().is_empty(), "git was to be the control");
}

#[test]
fn the_environment_does_not_say_which_repository_it_is() {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD)]);
    write(&fixture, &[("a.py", BAD)]);
    fixture.write("outside/other/a.py", BAD);
    let mut other = git_command(&fixture, "outside/other");
    assert!(other.args(["init", "-q"]).status().unwrap().success());
    let mut command = fixture.command();
    command.args(["check", "--format", "json"]).env("GIT_DIR", fixture.at("outside/other/.git"));
    command.env("GIT_OBJECT_DIRECTORY", fixture.at("outside/other/.git/objects"));
    let output = outcome(&command.output().unwrap());
    assert_eq!(finding_texts(&serde_json::from_str(&output.stdout).unwrap()), ["a.py"], "{}", output.stderr);
}

#[test]
fn a_path_that_is_not_utf_8_must_exist() {
    let fixture = project();
    fs::write(fixture.root().join(OsStr::from_bytes(b"not\xffutf8.py")), BAD).unwrap();
    let checked = |name: &[u8]| {
        let mut command = fixture.command();
        outcome(&command.args(["check", "--format", "json"]).arg(OsStr::from_bytes(name)).output().unwrap())
    };
    let missing = checked(b"nothere\xff.py");
    assert_eq!(missing.exit, 3, "{}", missing.stdout);
    let answer: Value = serde_json::from_str(&missing.stdout).unwrap();
    assert_eq!(answer["code"], "FILE_NOT_FOUND", "{answer:#}");
    assert_eq!(answer["message"], "nothere\u{fffd}.py does not exist");
    assert_eq!(checked(b"not\xffutf8.py").exit, 0);
}

/// Names that mean something to a terminal, a runner, or a URI.
const NAMES: [&str; 8] = [
    "a\n::error file=x,line=1::owned.py",
    "##[error]owned.py",
    "::add-mask::x.py",
    "esc\u{1b}[2J\u{7}.py",
    "per%0Acent,=:?#.py",
    "bi\u{202e}di.py",
    "quo\"te'\\.py",
    "-dash.py",
];

#[test]
fn names_break_no_format() {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD)]);
    for name in NAMES {
        fs::write(fixture.root().join(name), BAD).unwrap();
    }
    fs::write(fixture.root().join(OsStr::from_bytes(b"not\xffutf8.py")), BAD).unwrap();
    let answer = json(&fixture, &[], 1);
    let mut names = NAMES.to_vec();
    names.sort_unstable();
    assert_eq!(finding_texts(&answer), names);
    assert_eq!(answer["passed_over"][0]["why"], "its name is not UTF-8");

    let log: Value = serde_json::from_str(&check(&fixture, &["--format", "sarif"], 1).stdout).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let mut uris: Vec<String> = results
        .iter()
        .map(|it| it["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap())
        .map(decoded)
        .collect();
    uris.sort_unstable();
    uris.dedup();
    assert_eq!(uris, names, "each path comes back from its URI");

    let annotations = check(&fixture, &["--format", "github"], 1).stdout;
    for line in annotations.lines() {
        let ours = line.starts_with("::error file=") && line.matches("::").count() >= 2;
        assert!(ours || !(line.trim_start().starts_with("::") || line.contains("##[")), "{line:?}");
        let is_control_or_bidi = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!line.contains(is_control_or_bidi), "{line:?}");
    }
    assert_eq!(
        annotations.lines().filter(|line| line.starts_with("::error file=")).count(),
        results.len().min(10)
    );

    let text = check(&fixture, &[], 1).stdout;
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("::")), "{text}");
}

/// What a percent-encoded path stands for; what is not plain must be encoded.
fn decoded(uri: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~/%".contains(c);
    assert!(uri.chars().all(plain), "{uri}");
    let (mut bytes, mut rest) = (Vec::new(), uri.as_bytes());
    while let Some((first, more)) = rest.split_first() {
        if *first == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&more[..2]).unwrap(), 16).unwrap());
            rest = &more[2..];
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_path_that_is_not_utf_8_is_named_with_the_reason() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD)]);
    let path = fixture.root().join(std::ffi::OsStr::from_bytes(b"b\xff.py"));
    fs::write(&path, BAD).unwrap();
    let mut command = crate::suite::wire::lockgate(&fixture.at("user"));
    let output = command.args(["check", "-v"]).arg(&path).current_dir(fixture.root()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("b\u{fffd}.py: its name is not UTF-8"), "{text}");
}

#[test]
fn an_ignored_name_that_is_not_utf_8_is_reported_if_git_tracks_it() {
    let fixture = project();
    let names = [&b"b\xff.py"[..], b"d\xff/c.py", b"untracked\xff.py", b"staged\xff.py"];
    let [committed, in_folder, untracked, staged] =
        names.map(|name| fixture.root().join(OsStr::from_bytes(name)));
    fs::create_dir(in_folder.parent().unwrap()).unwrap();
    fs::write(&committed, GOOD).unwrap();
    fs::write(&in_folder, GOOD).unwrap();
    commit(&fixture, &[("a.py", GOOD)]);
    fs::write(&staged, GOOD).unwrap();
    git(&fixture, "root", &["add", "."]);
    fs::write(&untracked, GOOD).unwrap();
    write(&fixture, &[(".gitignore", "*\n")]);
    let answer = json(&fixture, &[], 0);
    let reason = "its name is not UTF-8";
    let skipped = |path: &str| serde_json::json!({"path": path, "why": reason});
    let all = ["b\u{fffd}.py", "d\u{fffd}/c.py", "staged\u{fffd}.py"].map(skipped);
    assert_eq!(answer["passed_over"], serde_json::json!(all), "{answer:#}");
    fs::remove_file(committed).unwrap();
    assert_eq!(json(&fixture, &[], 0)["passed_over"], serde_json::json!(all[1..]));
}

#[test]
fn a_folder_that_became_a_link_leads_nowhere_else() {
    let fixture = project();
    commit(&fixture, &[("d/a.py", GOOD)]);
    fixture.write("outside/d/a.py", BAD);
    fs::remove_dir_all(fixture.at("root/d")).unwrap();
    fixture.link(&fixture.at("outside/d"), "root/d");
    let answer = json(&fixture, &[], 0);
    assert_eq!(answer["counts"]["judged"], 0, "{answer:#}");
    check(&fixture, &["d/a.py"], 4);
}
