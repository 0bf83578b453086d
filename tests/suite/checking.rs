//! `lockgate check`: files as they are, judged against their text at a revision; the real binary, real repositories.

mod base;
mod formats;
mod gates;
mod hooks;
mod hostile;
mod requests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::trust::fixture::Fixture;
use super::wire::Outcome;

/// A function, and the same with an indentation that is wrong.
const GOOD: &str = "def a():\n    return 1\n";
const BAD: &str = "def a():\nreturn 1\n";

/// A root that is a repository without any commit.
fn project() -> Fixture {
    let fixture = Fixture::new();
    fs::remove_dir_all(fixture.root()).unwrap();
    fs::create_dir(fixture.root()).unwrap();
    git(&fixture, "root", &["init", "-q", "-b", "main"]);
    fixture
}

/// Runs git in a folder of the fixture, with no configuration but the repository's own.
fn git(fixture: &Fixture, folder: &str, arguments: &[&str]) -> String {
    let output = git_command(fixture, folder).args(arguments).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn git_command(fixture: &Fixture, folder: &str) -> Command {
    let mut git = Command::new("git");
    git.current_dir(fixture.at(folder)).env("HOME", fixture.at("user"));
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "a"),
        ("GIT_AUTHOR_EMAIL", "a@example.com"),
        ("GIT_COMMITTER_NAME", "a"),
        ("GIT_COMMITTER_EMAIL", "a@example.com"),
    ] {
        git.env(name, value);
    }
    git.args(["-c", "protocol.file.allow=always"]);
    git
}

/// Writes files below the root.
fn write(fixture: &Fixture, files: &[(&str, &str)]) {
    files.iter().for_each(|(path, text)| fixture.write(&format!("root/{path}"), text));
}

/// Writes files, and commits all that is there.
fn commit(fixture: &Fixture, files: &[(&str, &str)]) {
    write(fixture, files);
    git(fixture, "root", &["add", "-A", "-f"]);
    git(fixture, "root", &["commit", "-q", "-m", "x", "--allow-empty"]);
}

#[track_caller]
fn check(fixture: &Fixture, arguments: &[&str], exit: i32) -> Outcome {
    let output = fixture.call(&[&["check"], arguments].concat());
    assert_eq!(output.exit, exit, "{arguments:?}\n{}{}", output.stdout, output.stderr);
    output
}

#[track_caller]
fn json(fixture: &Fixture, arguments: &[&str], exit: i32) -> Value {
    let output = check(fixture, &[arguments, &["--format", "json"]].concat(), exit);
    serde_json::from_str(&output.stdout).unwrap_or_else(|why| panic!("{why}: {}", output.stdout))
}

/// The files in which something new was found, each once.
fn finding_texts(answer: &Value) -> Vec<&str> {
    let findings = answer["findings"].as_array().unwrap();
    let mut paths: Vec<&str> =
        findings.iter().filter(|it| it["new"] == true).map(|it| it["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The files that were judged.
fn judged(answer: &Value) -> Vec<&str> {
    answer["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

#[test]
fn only_what_is_new_counts() {
    let fixture = project();
    let old = "def b():\n    return (\n";
    commit(
        &fixture,
        &[("a.py", GOOD), ("old.py", old), ("same.py", BAD), ("gone.py", BAD), ("sub/c.py", GOOD)],
    );
    let clean = check(&fixture, &[], 0);
    assert!(clean.stdout.starts_with("clean     0 files judged against HEAD ("), "{}", clean.stdout);
    write(
        &fixture,
        &[
            ("a.py", BAD),
            ("old.py", &format!("# moved\n{old}")),
            ("new.py", "y = (\n"),
            ("sub/c.py", "x = 1\n"),
        ],
    );
    fs::remove_file(fixture.at("root/gone.py")).unwrap();
    let answer = json(&fixture, &[], 1);
    assert_eq!(judged(&answer), ["a.py", "new.py", "old.py", "sub/c.py"]);
    assert_eq!(finding_texts(&answer), ["a.py", "new.py"], "{answer:#}");
    let counts = &answer["counts"];
    assert_eq!((&counts["unchanged"], &counts["deleted"], &counts["old"]), (&1.into(), &1.into(), &1.into()));
    let text = check(&fixture, &[], 1).stdout;
    assert!(text.contains(" --> a.py:2:1\n") && text.contains("2 | return 1\n  | ^ syntax\n"), "{text}");
    assert!(text.contains("found     4 files judged against HEAD (") && !text.contains("old.py:"), "{text}");
    assert_eq!(fs::read_to_string(fixture.at("root/a.py")).unwrap(), BAD, "nothing is written");
}

#[test]
fn a_second_copy_of_an_old_finding_is_new() {
    let fixture = project();
    let policy = "quality_gates: { '*': [{ tool: no-todo }] }\ndefine:\n  no-todo: { about: No TODO., kind: pattern, \
                  languages: ['*'], must_not_match: 'TODO', message: a TODO }\n";
    commit(&fixture, &[("quality.yaml", policy), ("a.txt", "x\nTODO\nb\n")]);
    write(&fixture, &[("a.txt", "x\n\n\nTODO\nb\n")]);
    assert_eq!(json(&fixture, &[], 0)["counts"]["old"], 1);
    write(&fixture, &[("a.txt", "x\nTODO\nTODO\nb\n")]);
    let counts = json(&fixture, &[], 1)["counts"].clone();
    assert_eq!((&counts["old"], &counts["blocking"]), (&1.into(), &1.into()));
}

#[test]
fn a_renamed_file_is_what_it_was() {
    let fixture = project();
    commit(&fixture, &[("a.py", BAD), ("b.py", "x = (\n")]);
    fs::create_dir(fixture.at("root/d")).unwrap();
    fs::rename(fixture.at("root/a.py"), fixture.at("root/d/moved.py")).unwrap();
    let answer = json(&fixture, &[], 0);
    assert_eq!(
        (&answer["files"][0]["change"], &answer["files"][0]["from"]),
        (&"renamed".into(), &"a.py".into())
    );
    // A copy is new: the file that it was made of is still there.
    write(&fixture, &[("copy.py", "x = (\n")]);
    assert_eq!(finding_texts(&json(&fixture, &[], 1)), ["copy.py"]);
}

#[test]
fn a_deleted_file_is_renamed_to_one_file_only() {
    let fixture = project();
    commit(&fixture, &[("a.py", BAD), ("d/b.py", BAD)]);
    fs::remove_file(fixture.at("root/a.py")).unwrap();
    fs::remove_file(fixture.at("root/d/b.py")).unwrap();
    write(&fixture, &[("copy.py", BAD), ("e/a.py", BAD), ("more.py", BAD)]);
    let answer = json(&fixture, &[], 1);
    let from = |file: &Value| (file["path"].clone(), file["from"].clone());
    let renamed = answer["files"].as_array().unwrap().iter().map(from);
    let expected = [("copy.py", "d/b.py".into()), ("e/a.py", "a.py".into()), ("more.py", Value::Null)];
    assert_eq!(renamed.collect::<Vec<_>>(), expected.map(|(path, from)| (Value::from(path), from)));
    assert_eq!(finding_texts(&answer), ["more.py"]);
}

#[test]
fn paths_are_files_and_folders_and_ignore_files_hold() {
    let fixture = project();
    let ignore = ("root/.gitignore", "build/\n*.tmp.py\n");
    fixture.write(ignore.0, ignore.1);
    commit(&fixture, &[("d/a.py", GOOD), ("d/e/b.py", GOOD), ("kept.tmp.py", GOOD)]);
    write(
        &fixture,
        &[("d/a.py", BAD), ("d/e/b.py", BAD), ("c.py", BAD), ("build/x.py", BAD), ("y.tmp.py", BAD)],
    );
    write(&fixture, &[("kept.tmp.py", BAD)]);
    assert_eq!(finding_texts(&json(&fixture, &[], 1)), ["c.py", "d/a.py", "d/e/b.py", "kept.tmp.py"]);
    assert_eq!(finding_texts(&json(&fixture, &["d"], 1)), ["d/a.py", "d/e/b.py"]);
    assert_eq!(finding_texts(&json(&fixture, &["d/e", "c.py", "./d/e/b.py"], 1)), ["c.py", "d/e/b.py"]);
    assert_eq!(
        finding_texts(&json(&fixture, &["build/x.py"], 1)),
        ["build/x.py"],
        "who names a file means it"
    );
    let absolute = fixture.at("root/c.py");
    assert_eq!(finding_texts(&json(&fixture, &[absolute.to_str().unwrap()], 1)), ["c.py"]);
    fs::remove_file(fixture.at("root/d/a.py")).unwrap();
    assert_eq!(json(&fixture, &["d/a.py"], 0)["counts"]["deleted"], 1);
}

#[test]
fn a_new_file_that_git_tracks_counts_although_an_ignore_file_names_it() {
    let fixture = project();
    write(&fixture, &[(".gitignore", "build/\n"), ("build/staged.py", BAD), ("build/untracked.py", BAD)]);
    git(&fixture, "root", &["add", "-f", "build/staged.py"]);
    assert_eq!(finding_texts(&json(&fixture, &[], 1)), ["build/staged.py"], "before the first commit");
    git(&fixture, "root", &["reset", "-q"]);
    git(&fixture, "root", &["commit", "-q", "-m", "x", "--allow-empty"]);
    assert!(finding_texts(&json(&fixture, &[], 0)).is_empty(), "the control");
    git(&fixture, "root", &["add", "-f", "build/staged.py"]);
    for arguments in [&[][..], &["build"], &["build/staged.py"]] {
        let findings = json(&fixture, arguments, 1);
        assert!(finding_texts(&findings).contains(&"build/staged.py"), "{arguments:?}");
    }
    // An index that is gone or damaged hides no file of a commit.
    git(&fixture, "root", &["commit", "-q", "-m", "x"]);
    let index = fixture.at("root/.git/index");
    fs::write(&index, "DIRC").unwrap();
    assert_eq!(finding_texts(&json(&fixture, &["--base", "HEAD~1"], 1)), ["build/staged.py"]);
    fs::remove_file(&index).unwrap();
    assert_eq!(finding_texts(&json(&fixture, &["--base", "HEAD~1"], 1)), ["build/staged.py"]);
    check(&fixture, &[], 0);
    // The same for a HEAD that names no commit.
    let head = git(&fixture, "root", &["rev-parse", "HEAD"]);
    let good = git(&fixture, "root", &["rev-parse", "HEAD~1"]);
    git(&fixture, "root", &["reset", "-q"]);
    let file = fixture.at("root/.git/HEAD");
    let branch = fs::read_to_string(&file).unwrap();
    fs::write(&file, "0123456789".repeat(4)).unwrap();
    assert_eq!(finding_texts(&json(&fixture, &["--base", &good], 1)), ["build/staged.py"]);
    check(&fixture, &["--base", &head], 0);
    check(&fixture, &[], 2);
    fs::write(&file, branch).unwrap();
    // The root may be a folder of the repository.
    write(&fixture, &[("sub/.gitignore", "*.gen.py\n"), ("sub/a.gen.py", BAD), ("sub/b.gen.py", BAD)]);
    git(&fixture, "root", &["add", "-f", "sub/a.gen.py"]);
    let root = fixture.at("root/sub");
    assert_eq!(finding_texts(&json(&fixture, &["--root", root.to_str().unwrap()], 1)), ["a.gen.py"]);
}

/// A split index names a second file, which git would open.
#[test]
fn a_split_index_whose_second_file_is_a_pipe_is_not_read() {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD)]);
    git(&fixture, "root", &["update-index", "--split-index"]);
    let mut files = fs::read_dir(fixture.at("root/.git")).unwrap().map(|file| file.unwrap().path());
    let is_shared = |path: &PathBuf| path.to_string_lossy().contains("/sharedindex.");
    let shared = files.find(is_shared).unwrap();
    check(&fixture, &[], 0);
    fs::remove_file(&shared).unwrap();
    assert!(Command::new("mkfifo").arg(&shared).status().unwrap().success());
    check(&fixture, &[], 0);
}

#[test]
fn a_named_link_that_leads_to_no_file_of_a_root_is_skipped() {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD), ("d/b.py", GOOD)]);
    write(&fixture, &[("a.py", BAD), ("d/b.py", BAD)]);
    fixture.write("outside/o.py", BAD);
    for (target, name) in
        [("a.py", "file.py"), ("d", "folder"), ("none.py", "dead.py"), ("loop.py", "loop.py")]
    {
        fixture.link(Path::new(target), &format!("root/{name}"));
    }
    fixture.link(&fixture.at("outside/o.py"), "root/out.py");
    fixture.link(&fixture.at("outside"), "root/d/out");
    let answer = json(&fixture, &["a.py", "dead.py", "out.py", "./d/out", "loop.py", "out.py"], 1);
    assert_eq!(finding_texts(&answer), ["a.py"]);
    let skipped: Vec<&Value> = answer["passed_over"].as_array().unwrap().iter().collect();
    let over = |path: &str| serde_json::json!({"path": path, "why": "a link"});
    assert_eq!(skipped, ["d/out", "dead.py", "loop.py", "out.py"].map(over).iter().collect::<Vec<_>>());
    let text = check(&fixture, &["out.py"], 0).stdout;
    assert!(text.contains("note      skipped 1 file: a link\n"), "{text}");
    // The controls: a link to a file of the root is that file, and a path through a link leads nowhere else.
    assert_eq!(finding_texts(&json(&fixture, &["file.py", "folder"], 1)), ["a.py", "d/b.py"]);
    check(&fixture, &["d/out/o.py"], 4);
    check(&fixture, &["dead.py/x"], 3);
}

#[test]
fn a_file_from_outside_of_the_root_is_renamed() {
    let fixture = project();
    commit(&fixture, &[("other/a.py", BAD), ("other/b.py", "x = (\n"), ("pkg/c.py", GOOD)]);
    git(&fixture, "root", &["mv", "other/a.py", "pkg/a.py"]);
    let pkg = fixture.at("root/pkg");
    let arguments = ["--root", pkg.to_str().unwrap()];
    let answer = json(&fixture, &arguments, 0);
    assert_eq!(
        (&answer["files"][0]["path"], &answer["files"][0]["change"], &answer["files"][0]["from"]),
        (&"a.py".into(), &"renamed".into(), &"../other/a.py".into())
    );
    assert_eq!(answer["counts"]["old"], 1);
    // The controls: a second copy, and a copy of a file that is still there, are new.
    write(&fixture, &[("pkg/again.py", BAD), ("pkg/copy.py", "x = (\n")]);
    assert_eq!(finding_texts(&json(&fixture, &arguments, 1)), ["again.py", "copy.py"]);
    // Both roots together rename it once.
    let other = fixture.at("root/other");
    let both = ["--root", other.to_str().unwrap(), "--root", pkg.to_str().unwrap()];
    write(&fixture, &[("other/moved.py", BAD)]);
    let answer = json(&fixture, &both, 1);
    let files = answer["files"].as_array().unwrap();
    assert_eq!(files.iter().filter(|file| file["change"] == "renamed").count(), 1, "{answer:#}");
}

#[test]
fn files_without_text_are_skipped_and_counted() {
    let fixture = project();
    commit(&fixture, &[("quality.yaml", "extends: default\nlimits: { file: 1KiB }\n"), ("a.py", GOOD)]);
    fs::write(fixture.at("root/image.bin"), [0, 159, 146, 150, 0, 1, 2]).unwrap();
    write(&fixture, &[("large.py", &"x = (\n".repeat(1000)), (".env", "A=1\n"), ("b.py", GOOD)]);
    fixture.link(Path::new("a.py"), "root/link.py");
    let answer = json(&fixture, &[], 0);
    assert_eq!(judged(&answer), ["b.py"]);
    let over: Vec<(&str, &str)> = answer["passed_over"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["path"].as_str().unwrap(), it["why"].as_str().unwrap()))
        .collect();
    for expected in [
        (".env", "protected"),
        ("image.bin", "not text"),
        ("large.py", "too large"),
        ("link.py", "a link"),
        ("quality.yaml", "protected"),
    ] {
        assert!(over.contains(&expected), "{expected:?}: {over:?}");
    }
    assert!(check(&fixture, &[], 0).stdout.contains("note      skipped 1 file: not text\n"));
}

#[test]
fn a_file_that_was_no_text_is_modified_and_all_its_findings_count() {
    let fixture = project();
    fs::write(fixture.at("root/a.py"), [0, 159, 146, 150, 0, 1, 2]).unwrap();
    commit(&fixture, &[("b.py", GOOD)]);
    write(&fixture, &[("a.py", BAD), ("c.py", GOOD)]);
    let answer = json(&fixture, &[], 1);
    let files = answer["files"].as_array().unwrap();
    let changes: Vec<_> =
        files.iter().map(|file| (file["path"].as_str().unwrap(), file["change"].as_str().unwrap())).collect();
    assert_eq!(changes, [("a.py", "modified"), ("c.py", "added")]);
    assert!(
        answer["findings"].as_array().unwrap().iter().all(|finding| finding["new"] == true),
        "{answer:#}"
    );
}

#[test]
fn each_family_has_its_exit_code() {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD)]);
    for (arguments, exit, words) in [
        (&["none.py"][..], 3, "FILE_NOT_FOUND"),
        (&["../x.py"], 4, "PATH_OUTSIDE_ROOT"),
        (&["--base", "none"], 2, "INVALID_INPUT"),
        (&["--root", "/"], 2, "INVALID_INPUT"),
        (&["--request", "none.json"], 2, "INVALID_INPUT"),
    ] {
        assert!(check(&fixture, arguments, exit).stderr.contains(words), "{arguments:?}");
        let answer = json(&fixture, arguments, exit);
        assert_eq!((&answer["status"], &answer["code"]), (&"refused".into(), &words.into()));
    }
    write(&fixture, &[("quality.yaml", "quality_gate: {}\n"), ("b.py", GOOD)]);
    assert!(check(&fixture, &[], 8).stderr.contains("quality.yaml"));
    assert_eq!(check(&fixture, &["--base", "HEAD", "--request", "x"], 2).stdout, "");
}

#[test]
fn two_thousand_files_are_checked() {
    let fixture = project();
    for at in 0..2000 {
        fixture.write(&format!("root/d{}/f{at}.py", at % 40), GOOD);
    }
    commit(&fixture, &[]);
    for at in (0..2000).step_by(2) {
        fixture.write(&format!("root/d{}/f{at}.py", at % 40), if at % 100 == 0 { BAD } else { "x = 1\n" });
    }
    let answer = json(&fixture, &[], 1);
    let counts = &answer["counts"];
    assert_eq!((&counts["judged"], &counts["unchanged"]), (&1000.into(), &1000.into()));
    assert_eq!(finding_texts(&answer).len(), 20);
}

#[test]
fn several_roots_are_each_compared_with_their_own_repository() {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD)]);
    fixture.write("outside/other/b.py", BAD);
    git(&fixture, "outside/other", &["init", "-q"]);
    write(&fixture, &[("a.py", BAD)]);
    let (root, other) = (fixture.root(), fixture.at("outside/other"));
    let arguments = ["--root", root.to_str().unwrap(), "--root", other.to_str().unwrap()];
    let answer = json(&fixture, &arguments, 1);
    let absolute = other.join("b.py");
    assert_eq!(finding_texts(&answer), [absolute.to_str().unwrap(), "a.py"]);
    assert_eq!(answer["bases"][1]["why"], "no commit");
}

#[test]
fn nested_roots_judge_each_file_once() {
    let fixture = project();
    commit(&fixture, &[("sub/gone.py", GOOD)]);
    fs::remove_file(fixture.at("root/sub/gone.py")).unwrap();
    write(&fixture, &[("a.py", GOOD), ("sub/b.py", BAD)]);
    let (root, sub) = (fixture.root(), fixture.at("root/sub"));
    let (root, sub) = (root.to_str().unwrap(), sub.to_str().unwrap());
    let outer_file = format!("{root}/a.py");
    let outer_first = json(&fixture, &["--root", root, "--root", sub], 1);
    assert_eq!(
        (judged(&outer_first), finding_texts(&outer_first)),
        (vec!["a.py", "sub/b.py"], vec!["sub/b.py"])
    );
    assert_eq!(outer_first["counts"]["deleted"], 1);
    let inner_first = json(&fixture, &["--root", sub, "--root", root], 1);
    assert_eq!(
        (judged(&inner_first), finding_texts(&inner_first)),
        (vec!["b.py", outer_file.as_str()], vec!["b.py"])
    );
    assert_eq!(inner_first["counts"]["deleted"], 1);
    let text = check(&fixture, &["--root", root, "--root", sub], 1).stdout;
    assert_eq!(text.matches("HEAD (").count(), 1, "{text}");
}

#[test]
fn a_file_that_became_a_folder_is_deleted() {
    let fixture = project();
    commit(&fixture, &[("a.py", BAD), ("b.py", GOOD)]);
    fs::remove_file(fixture.at("root/b.py")).unwrap();
    write(&fixture, &[("b.py/c.py", "x = 1\n")]);
    for arguments in [vec![], vec!["b.py"]] {
        assert_eq!(json(&fixture, &arguments, 0)["counts"]["deleted"], 1, "{arguments:?}");
    }
    // It can be the source of a renamed file.
    write(&fixture, &[("moved.py", GOOD)]);
    let answer = json(&fixture, &["moved.py"], 0);
    assert_eq!(answer["files"][0]["from"], "b.py");
}

#[test]
fn the_transcript_in_the_readme_is_real() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```console\n$ lockgate check --base main...\n").unwrap();
    let expected = rest.split("```").next().unwrap();
    let fixture = project();
    let body = "    if quantity > item.stock:\n        raise ValueError(\"not enough\")\n    item.stock -= quantity\n";
    let stock = format!("def ship(item, quantity):\n{body}");
    commit(&fixture, &[("stock.py", &stock), ("old.py", "x = (\n"), ("README.md", "# Stock\n")]);
    write(
        &fixture,
        &[("stock.py", &stock.replace("        raise", "raise")), ("old.py", "# moved\nx = (\n")],
    );
    let transcript = check(&fixture, &["--base", "main..."], 1).stdout;
    let id = git(&fixture, "root", &["rev-parse", "HEAD"]);
    assert_eq!(transcript, expected.replace("6c11e102fe", &id[..10]));
}

/// Links of pages, changed or not, to files that are gone: a warning at each link.
#[test]
fn links_to_deleted_and_renamed_files_are_found() {
    let fixture = project();
    let page = "# Page\n\n[guide](docs/guide.md), [other](docs/other.md)\n\n![logo](logo.png)\n";
    let pages = [
        ("page.md", page),
        ("docs/near.md", "# Near\n\n[guide][g] and [other](other.md)\n\n[g]: guide.md\n"),
        ("docs/guide.md", "# Guide\n\ntext of the guide\n"),
        ("docs/other.md", "# Other\n\n[logo](../logo.png)\n"),
        ("docs/quiet.md", "# Quiet\n\nguide.md is only named, [dead before](nowhere.md)\n"),
        ("logo.png", "no picture"),
    ];
    commit(&fixture, &pages);
    let dead = |answer: &Value| -> Vec<String> {
        let findings = answer["findings"].as_array().unwrap().iter();
        let new = findings.filter(|it| it["new"] == true);
        new.map(|it| {
            let [path, severity, message] =
                ["path", "severity", "message"].map(|key| it[key].as_str().unwrap());
            format!("{path}:{} {severity} {message}", it["line"])
        })
        .collect()
    };
    assert_eq!(dead(&json(&fixture, &[], 0)), [""; 0], "the control: nothing is gone");
    fs::remove_file(fixture.at("root/logo.png")).unwrap();
    fs::rename(fixture.at("root/docs/guide.md"), fixture.at("root/docs/manual.md")).unwrap();
    // One of the pages changed as well.
    write(
        &fixture,
        &[("docs/near.md", "# Near\n\n[guide][g] and [other](other.md)\n\nmore\n\n[g]: guide.md\n")],
    );
    let answer = json(&fixture, &[], 0);
    assert_eq!(
        dead(&answer),
        [
            "docs/near.md:7 warning the link leads to docs/guide.md, which no longer exists",
            "docs/other.md:3 warning the link leads to logo.png, which no longer exists",
            "page.md:3 warning the link leads to docs/guide.md, which no longer exists",
            "page.md:5 warning the link leads to logo.png, which no longer exists",
        ],
        "{answer:#}"
    );
    let changes: Vec<(&str, &str)> = answer["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap(), file["change"].as_str().unwrap()))
        .collect();
    let expected = [
        ("docs/manual.md", "renamed"),
        ("docs/near.md", "modified"),
        ("docs/other.md", "unchanged"),
        ("page.md", "unchanged"),
    ];
    assert_eq!(changes, expected);
    assert_eq!(answer["counts"]["unchanged"], 1, "{answer:#}");
    // Pages that follow the change are not reported.
    write(&fixture, &[("page.md", &page.replace("guide.md", "manual.md").replace("![logo](logo.png)", ""))]);
    assert_eq!(dead(&json(&fixture, &[], 0)).len(), 2);
    // A link to such a file that is new as well is reported once.
    let other = "# Other\n\n[logo](../logo.png)\n";
    write(&fixture, &[("docs/other.md", &format!("{other}\n[guide](guide.md)\n"))]);
    let mut found = dead(&json(&fixture, &[], 1));
    found.retain(|found| found.starts_with("docs/other.md:5"));
    assert_eq!(found, ["docs/other.md:5 error the link leads to docs/guide.md, which does not exist"]);
    write(&fixture, &[("docs/other.md", other)]);
    // The gate decides: without it, nothing is searched or judged.
    write(&fixture, &[("quality.yaml", "quality_gates: { markdown: [{ tool: syntax }] }\n")]);
    let answer = json(&fixture, &[], 0);
    assert!(dead(&answer).is_empty() && !judged(&answer).contains(&"docs/other.md"), "{answer:#}");
}
