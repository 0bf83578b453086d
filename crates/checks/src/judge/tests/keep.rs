//! A cached answer is used only as long as all of its inputs are the same.

use super::*;

const FIRST: &str = "bad\n";
const SECOND: &str = "bad\nbad x\n";
const THIRD: &str = "bad\nbad x\nbad y\n";

/// A gate with a program of its own, which records each run.
fn logging(scope: &str, path: &str) -> Trial {
    let script = "#!/bin/sh\necho run >> '{project}/.log/runs'\ngrep -n bad | sed 's/:.*/:bad:seen/'\n";
    let keys = format!("languages: ['*'], kind: command, input: stdin, scope: {scope}, config: [.rc]");
    let trial = Trial::new(&format!(
        "define:\n  finder: {{ about: A., {keys}, command: [finder], bin: ['{path}'], output: {LINES} }}\nquality_gates: {{ '*': [{{ tool: finder }}] }}\n"
    ));
    trial.write(".log/begun", "");
    trial.write("finder", &script.replace("{project}", trial.project.path().to_str().unwrap()));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(trial.path("finder"), mode).unwrap();
    let search = SearchPath { folders: &[], roots: &[], path: OsStr::new("/usr/bin:/bin") };
    Trial {
        permission: ExecPermission::Granted(ResolvedPrograms::find(trial.policy.commands(), &search)),
        ..trial
    }
}

/// Returns how often the program runs for a second edit of `a.txt`, when something happens after the first.
fn runs_after(scope: &str, what: impl FnOnce(&Trial)) -> usize {
    let trial = logging(scope, "{project}/finder");
    trial.write("p/b.txt", "x\n");
    trial.write("q/c.txt", "x\n");
    assert_eq!(blocked(&trial.judge("p/a.txt", Some(FIRST), SECOND)), [2]);
    assert_eq!(trial.runs(".log/runs"), 2, "after, and before");
    what(&trial);
    assert_eq!(blocked(&trial.judge("p/a.txt", Some(SECOND), THIRD)), [3]);
    trial.runs(".log/runs") - 2
}

#[test]
fn what_was_found_after_an_edit_is_what_was_there_before_the_next() {
    for scope in ["file", "package", "project"] {
        assert_eq!(runs_after(scope, |_| ()), 1, "{scope}");
    }
}

#[test]
fn a_changed_configuration_or_program_runs_again() {
    for scope in ["file", "package", "project"] {
        assert_eq!(runs_after(scope, |trial| trial.write("p/.rc", "x")), 2, "{scope}: a new configuration");
        let touched = |trial: &Trial| {
            let script = std::fs::read_to_string(trial.path("finder")).unwrap();
            trial.write("finder", &format!("{script}# new\n"));
        };
        assert_eq!(runs_after(scope, touched), 2, "{scope}: another program");
    }
}

#[test]
fn other_files_count_as_far_as_the_scope_goes() {
    let neighbour = |trial: &Trial| trial.write("p/b.txt", "y\n\n");
    let far = |trial: &Trial| trial.write("q/c.txt", "y\n\n");
    let runs = |what: &dyn Fn(&Trial)| ["file", "package", "project"].map(|scope| runs_after(scope, what));
    assert_eq!(runs(&neighbour), [1, 2, 2]);
    assert_eq!(runs(&far), [1, 1, 2]);
}

#[test]
fn an_answer_is_of_one_path_and_its_words() {
    let trial = logging("file", "{project}/finder");
    trial.judge("a.txt", None, FIRST);
    trial.judge("a.txt", None, FIRST);
    assert_eq!(trial.runs(".log/runs"), 1);
    trial.judge("b.txt", None, FIRST);
    assert_eq!(trial.runs(".log/runs"), 2);
}

#[test]
fn errors_are_not_cached() {
    let script = "echo run >> '{project}/log'; exit 9";
    let trial = Define::default().gate("finder", script, LINES, "").policy("{ tool: finder }", "");
    for runs in [1, 2] {
        assert_eq!(trial.judge("a.txt", None, FIRST).runs[0].outcome, Outcome::Broken);
        assert_eq!(trial.runs("log"), runs);
    }
}
