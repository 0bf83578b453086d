//! The hook of pre-commit, and the script of the action, as those run them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::mcp::installed;
use super::super::trust::fixture::Fixture;
use super::super::wire::{Outcome, outcome};
use super::{BAD, GOOD, check, commit, git, git_command, project, write};

fn ours(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Runs the action's script in the root, with these variables.
fn action(fixture: &Fixture, variables: &[(&str, &str)]) -> Outcome {
    let mut script = Command::new("bash");
    script.arg(ours("action/check.sh")).current_dir(fixture.root());
    for (name, folder) in [("HOME", "user"), ("XDG_STATE_HOME", "user"), ("XDG_CACHE_HOME", "user")] {
        script.env(name, fixture.at(folder));
    }
    script.env("LOCKGATE_PROGRAM", env!("CARGO_BIN_EXE_lockgate"));
    script.env("GITHUB_OUTPUT", fixture.at("outside/output")).envs(variables.iter().copied());
    outcome(&script.output().unwrap())
}

#[test]
fn the_action_annotates_and_writes_a_log() {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD), ("b c.py", GOOD)]);
    commit(&fixture, &[("a.py", BAD), ("b c.py", BAD)]);
    let run_output = action(&fixture, &[("LOCKGATE_BASE", "HEAD~1"), ("LOCKGATE_SARIF", "out/of the.sarif")]);
    assert_eq!(run_output.exit, 70, "there is no such folder: {}", run_output.stderr);
    let run_output = action(&fixture, &[("LOCKGATE_BASE", "HEAD~1"), ("LOCKGATE_SARIF", "of the.sarif")]);
    assert_eq!(run_output.exit, 1, "{}", run_output.stderr);
    assert!(
        run_output.stdout.starts_with("::error file=a.py,line=2,col=1,title=syntax::"),
        "{}",
        run_output.stdout
    );
    let log = std::fs::read_to_string(fixture.at("root/of the.sarif")).unwrap();
    assert!(log.contains("\"uri\": \"b%20c.py\""), "{log}");
    let output = std::fs::read_to_string(fixture.at("outside/output")).unwrap();
    assert!(output.ends_with("sarif=of the.sarif\n"), "{output}");
    let some =
        [("LOCKGATE_BASE", "HEAD~1"), ("LOCKGATE_PATHS", "b c.py\n\n"), ("LOCKGATE_SARIF", "../outside/x")];
    assert!(action(&fixture, &some).stdout.starts_with("::error file=b c.py,"));
    assert_eq!(action(&fixture, &[("LOCKGATE_SARIF", "../outside/x")]).exit, 0, "without a base it is HEAD");
    // No text of an input is run, or taken for a flag.
    let hostile =
        [("LOCKGATE_BASE", "$(touch owned); --trust"), ("LOCKGATE_PATHS", "--trust\n`touch owned`")];
    assert_eq!(action(&fixture, &hostile).exit, 2);
    assert!(!fixture.at("root/owned").exists());
}

/// The default base is the parent, which the first commit does not have.
#[test]
fn the_action_judges_the_first_commit() {
    let fixture = project();
    let default = [("LOCKGATE_BASE", "HEAD~1"), ("LOCKGATE_SARIF", "../outside/x")];
    let unborn = action(&fixture, &default);
    assert_eq!(unborn.exit, 2, "{}", unborn.stdout);
    commit(&fixture, &[("a.py", BAD)]);
    let first = action(&fixture, &default);
    assert_eq!(first.exit, 1, "{}", first.stderr);
    assert!(first.stdout.starts_with("::error file=a.py,line=2,"), "{}", first.stdout);
    // In a shallow clone the parent is only absent, so nothing is judged.
    commit(&fixture, &[("b.py", GOOD)]);
    let url = format!("file://{}", fixture.root().display());
    git(&fixture, "outside", &["clone", "-q", "--depth", "1", &url, "clone"]);
    let clone = fixture.at("outside/clone");
    let shallow = action(&fixture, &[&default[..], &[("LOCKGATE_ROOT", clone.to_str().unwrap())]].concat());
    assert_eq!(shallow.exit, 2, "{}", shallow.stdout);
    assert!(shallow.stderr.contains("the clone is shallow"), "{}", shallow.stderr);
}

#[test]
fn the_definitions_are_valid() {
    let Some(check) = installed("LOCKGATE_TEST_VENV", "venv", "bin/check-jsonschema") else { return };
    let Some(pre_commit) = installed("LOCKGATE_TEST_VENV", "venv", "bin/pre-commit") else { return };
    let schema = ["--builtin-schema", "vendor.github-actions"];
    let run_output = Command::new(check).args(schema).arg(ours("action.yml")).output().unwrap();
    assert!(run_output.status.success(), "{run_output:?}");
    let run_output = Command::new(pre_commit)
        .arg("validate-manifest")
        .arg(ours(".pre-commit-hooks.yaml"))
        .output()
        .unwrap();
    assert!(run_output.status.success(), "{run_output:?}");
}

/// The block of the page that is the file of this name.
fn snippet(name: &str) -> String {
    let page = std::fs::read_to_string(ours("docs/check.md")).unwrap();
    let (_, rest) = page.split_once(&format!("```yaml title={name}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_snippets_of_the_page_are_valid() {
    let Some(check) = installed("LOCKGATE_TEST_VENV", "venv", "bin/check-jsonschema") else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, schema) in [
        (".github/workflows/lockgate.yml", "vendor.github-workflows"),
        (".gitlab-ci.yml", "vendor.gitlab-ci"),
    ] {
        let file = folder.path().join("snippet.yml");
        std::fs::write(&file, snippet(name)).unwrap();
        let output = Command::new(&check).args(["--builtin-schema", schema]).arg(&file).output().unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
    }
}

/// The script of the page's job on a merge request whose branch and base have moved apart.
#[test]
fn the_job_of_the_page_reports_what_the_branch_adds() {
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD), ("old.py", BAD)]);
    let base = git(&fixture, "root", &["rev-parse", "HEAD"]);
    git(&fixture, "root", &["checkout", "-q", "-b", "feature"]);
    commit(&fixture, &[("new.py", BAD)]);
    let job = snippet(".gitlab-ci.yml");
    let script = job.lines().find_map(|line| line.trim().strip_prefix("- lockgate ")).unwrap();
    let report = |base: &str, exit: i32| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" {script}"), env!("CARGO_BIN_EXE_lockgate")]);
        for name in ["HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            shell.env(name, fixture.at("user"));
        }
        shell.current_dir(fixture.root()).env("CI_MERGE_REQUEST_DIFF_BASE_SHA", base);
        let output = shell.output().unwrap();
        assert_eq!(output.status.code(), Some(exit), "{output:?}");
        std::fs::read_to_string(fixture.at("root/lockgate.report")).unwrap()
    };
    let found = report(&base, 1);
    assert!(found.contains("new.py") && !found.contains("old.py"), "{found}");
    assert_eq!(report("HEAD", 0).trim(), "[]", "the report itself is no finding");
}

#[test]
fn a_file_name_is_no_option_of_the_pre_commit_hook() {
    let manifest = std::fs::read_to_string(ours(".pre-commit-hooks.yaml")).unwrap();
    assert!(manifest.contains("\n  entry: lockgate check\n  args: [\"--\"]\n"), "{manifest}");
    let fixture = project();
    commit(&fixture, &[("a.py", GOOD)]);
    write(&fixture, &[("--sarif=log.py", BAD), ("--trust", "x\n")]);
    let run_output = check(&fixture, &["--", "--sarif=log.py", "--trust", "a.py"], 1);
    assert!(run_output.stdout.contains("--sarif=log.py:2:1"), "{}", run_output.stdout);
    assert!(!fixture.at("root/log.py").exists());
}

#[test]
fn pre_commit_refuses_a_commit_for_what_is_new() {
    let Some(pre_commit) = installed("LOCKGATE_TEST_VENV", "venv", "bin/pre-commit") else { return };
    let fixture = project();
    // A repository that offers the hook, as pre-commit clones it.
    fixture.write(
        "outside/hook/.pre-commit-hooks.yaml",
        &std::fs::read_to_string(ours(".pre-commit-hooks.yaml")).unwrap(),
    );
    git(&fixture, "outside/hook", &["init", "-q"]);
    git(&fixture, "outside/hook", &["add", "-A"]);
    git(&fixture, "outside/hook", &["commit", "-q", "-m", "x"]);
    let hook = fixture.at("outside/hook").display().to_string();
    let revision = git(&fixture, "outside/hook", &["rev-parse", "HEAD"]);
    let config =
        snippet(".pre-commit-config.yaml").replace("REPOSITORY", &hook).replace("REVISION", &revision);
    commit(&fixture, &[(".pre-commit-config.yaml", &config), ("a.py", GOOD), ("old.py", BAD)]);
    let binary = Path::new(env!("CARGO_BIN_EXE_lockgate")).parent().unwrap().display().to_string();
    let run = || {
        let git = git_command(&fixture, "root");
        let mut command = Command::new(&pre_commit);
        command.arg("run").current_dir(fixture.root());
        command.envs(git.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let path = format!("{binary}:{}", std::env::var("PATH").unwrap());
        command.env("PATH", path).env("PRE_COMMIT_HOME", fixture.at("user/pre-commit"));
        command.env("XDG_STATE_HOME", fixture.at("user")).env("XDG_CACHE_HOME", fixture.at("user"));
        outcome(&command.output().unwrap())
    };
    write(&fixture, &[("a.py", BAD), ("old.py", &format!("{BAD}x = 1\n"))]);
    git(&fixture, "root", &["add", "-A"]);
    let run_output = run();
    assert_eq!(run_output.exit, 1, "{}{}", run_output.stdout, run_output.stderr);
    assert!(
        run_output.stdout.contains("a.py:2:1") && !run_output.stdout.contains("old.py:2"),
        "{}",
        run_output.stdout
    );
    // What is staged is judged, though another text is on disk: pre-commit puts that aside.
    write(&fixture, &[("a.py", "x = 2\n")]);
    assert_eq!(run().exit, 1);
    git(&fixture, "root", &["add", "-A"]);
    write(&fixture, &[("a.py", BAD)]);
    let run_output = run();
    assert_eq!(run_output.exit, 0, "{}{}", run_output.stdout, run_output.stderr);
    assert_eq!(std::fs::read_to_string(fixture.at("root/a.py")).unwrap(), BAD, "and it is put back");
}
