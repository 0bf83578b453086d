//! What the command line prints for people: how much, with which colours, of which folder, and on a terminal.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{BROKEN, PYTHON, call, call_with, project, text};
use crate::suite::wire::{Outcome, lockgate, run_for};

/// A user, and a project with two edits of two files.
fn history() -> (TempDir, TempDir) {
    let (user, root) = (tempfile::tempdir().unwrap(), project());
    std::fs::write(root.path().join("b.txt"), "one\n").unwrap();
    for (path, search, replace) in [("app.py", "items", "parts"), ("b.txt", "one", "two")] {
        let edit = ["edit", "--path", path, "--search", search, "--replace", replace];
        assert_eq!(for_user(&user, root.path(), &edit).exit, 0);
    }
    (user, root)
}

fn for_user(user: &TempDir, root: &Path, arguments: &[&str]) -> Outcome {
    run_for(user.path(), arguments, root, "")
}

#[test]
fn a_command_runs_in_the_folder_that_it_names() {
    let root = project();
    std::fs::create_dir_all(root.path().join("sub/deep")).unwrap();
    std::fs::write(root.path().join("sub/deep/a.txt"), "one\n").unwrap();
    let edit = ["-C", "sub", "-C", "deep", "edit", "--path", "a.txt", "--search", "one", "--replace", "two"];
    let edited = call(root.path(), &edit);
    assert_eq!(edited.exit, 0, "{}", edited.stderr);
    assert_eq!(std::fs::read_to_string(root.path().join("sub/deep/a.txt")).unwrap(), "two\n");
    let refused = call(root.path(), &["-C", "none", "log"]);
    assert!(refused.exit == 2 && refused.stderr.contains("cannot change to none: "), "{}", refused.stderr);
}

#[test]
fn colours_are_as_they_were_asked_for() {
    let root = project();
    let edit = ["edit", "--path", "app.py", "--search", "nowhere", "--replace", ""];
    for (color, has) in [("auto", false), ("always", true), ("never", false)] {
        let refused = call(root.path(), &[&["--color", color], &edit[..]].concat()).stderr;
        assert_eq!(refused.contains("\u{1b}["), has, "{color}: {refused:?}");
        let after = call(root.path(), &[&edit[..], &["--color", color]].concat()).stderr;
        assert_eq!(after, refused, "it may stand behind the command");
    }
    assert_eq!(call(root.path(), &["--color", "blue", "log"]).exit, 2);
}

#[test]
fn quiet_commands_print_what_failed_and_verbose_ones_each_gate() {
    let root = project();
    let edit = |more: &[&str]| {
        let edit = ["edit", "--path", "app.py", "--content", PYTHON, "--expected-version", ""];
        call(root.path(), &[more, &edit[..5]].concat())
    };
    assert_eq!(edit(&["-q"]).stdout, "");
    let broken = call(root.path(), &["-q", "edit", "--path", "app.py", "--content", BROKEN]);
    assert!(broken.exit == 1 && broken.stdout.contains("GATE_REFUSED"), "{}{}", broken.stdout, broken.stderr);
    assert_eq!(text(root.path()), PYTHON);
    let changed = |flag: &[&str], from: &str, to: &str| {
        let edit = ["edit", "--path", "app.py", "--search", from, "--replace", to];
        call(root.path(), &[&edit[..], flag].concat()).stdout
    };
    let normal = changed(&[], "items", "parts");
    assert!(without_times(&normal).contains("\ngates     ok (damage, syntax)\n"), "{normal}");
    let verbose = changed(&["--verbose"], "parts", "items");
    assert!(verbose.contains("\ngate      syntax passed"), "{verbose}");
    assert!(!verbose.contains("gates     ok"), "{verbose}");
    assert_eq!(call(root.path(), &["-q", "-v", "log"]).exit, 2);
    assert_eq!(call(root.path(), &["-q", "check"]).stdout, "");
    let check = call(root.path(), &["-v", "check"]).stdout;
    assert!(check.contains("gate      syntax: passed 1; "), "{check}");
}

#[test]
fn quiet_commands_that_only_report_success_print_nothing() {
    let (user, root) = history();
    for arguments in [
        &["undo"][..],
        &["redo"],
        &["trust", "--yes"],
        &["trust", "status"],
        &["trust", "revoke"],
        &["init", "--no-trial"],
        &["init", "--client", "claude"],
        &["init", "--client", "claude"],
        &["init", "--client", "claude", "--uninstall"],
        &["cache", "clear"],
        &["gates", "doctor", "syntax"],
        &["gates", "test", "syntax"],
        &["store", "migrate"],
        &["store", "app", "add", "7"],
        &["store", "export", "out"],
        &["store", "import", "out"],
    ] {
        let quiet = for_user(&user, root.path(), &[&["-q"], arguments].concat());
        assert_eq!((quiet.exit, quiet.stdout.as_str()), (0, ""), "{arguments:?}: {}", quiet.stderr);
    }
    assert!(root.path().join("quality.yaml").exists());
    // The text of `--print` is what the command is for, and a list is, too.
    for arguments in [&["init", "--client", "claude", "--print"][..], &["store", "app", "list"], &["log"]] {
        let quiet = for_user(&user, root.path(), &[&["-q"], arguments].concat());
        assert!(quiet.exit == 0 && !quiet.stdout.is_empty(), "{arguments:?}: {}", quiet.stderr);
    }
    let refused = for_user(&user, root.path(), &["-q", "init", "--no-trial"]);
    assert!(refused.exit == 3 && refused.stderr.contains("FILE_EXISTS"), "{}", refused.stderr);
}

#[test]
fn a_mode_for_a_request_that_has_none_is_refused_by_its_flag() {
    let root = project();
    let content = "{\"entity_type\": \"module\", \"path\": \"a.py\", \"content\": \"\"}";
    let refused = call_with(root.path(), &["edit", "--file", "-", "--mode", "strict"], content);
    assert!(
        refused.exit == 2 && refused.stderr.contains("--mode is not for a request"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_confirmation_without_a_terminal_says_that_one_is_needed() {
    let root = project();
    std::fs::write(root.path().join("quality.yaml"), "confirm: always\n").unwrap();
    let edit = ["edit", "--path", "app.py", "--content-from", "-"];
    let refused = call_with(root.path(), &edit, "x = 1\n");
    assert!(refused.exit == 4 && refused.stderr.contains("NOT_CONFIRMED"), "{}", refused.stderr);
    let hint = "standard input and standard error must be the terminal";
    assert!(refused.stderr.contains(hint), "{}", refused.stderr);
    assert_eq!(text(root.path()), PYTHON);
}

#[test]
fn a_patch_of_an_entity_by_other_names_is_told_the_fields_of_a_patch() {
    let root = project();
    let request = r#"{"entity_type": "module", "path": "m", "search": "a", "replace": "b"}"#;
    let refused = call_with(root.path(), &["edit", "--file", "-"], request).stderr;
    assert!(refused.contains("`search`") && refused.contains("old_string"), "{refused}");
    let request = r#"{"entity_type": "module", "path": "m", "contents": "a"}"#;
    let refused = call_with(root.path(), &["edit", "--file", "-"], request).stderr;
    assert!(refused.contains("`content`") && !refused.contains("old_string"), "the control: {refused}");
}

#[test]
fn an_address_without_an_ip_address_or_a_port_says_what_is_one() {
    let root = project();
    for address in ["8137", "localhost:8137", "127.0.0.1"] {
        let refused = call(root.path(), &["serve", "--http", address]);
        let hint = "give an IP address and a port, as in `127.0.0.1:8137`";
        assert!(refused.exit == 2 && refused.stderr.contains(hint), "{address}: {}", refused.stderr);
    }
}

#[test]
fn a_configuration_that_is_missing_is_refused_as_a_missing_request_is() {
    let root = project();
    for arguments in [&["serve", "--config", "none.yaml"][..], &["edit", "--file", "none.yaml"]] {
        let refused = call(root.path(), arguments);
        assert!(refused.exit == 2 && refused.stderr.contains("cannot read none.yaml"), "{}", refused.stderr);
        assert!(
            refused.stderr.contains("hint      correct the field that the message names"),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn the_log_shows_as_much_as_it_is_asked_for() {
    let (user, root) = history();
    let log = |arguments: &[&str]| {
        let log = for_user(&user, root.path(), &[&["log"], arguments].concat());
        assert_eq!(log.exit, 0, "{arguments:?}: {}", log.stderr);
        log.stdout
    };
    let short = log(&[]);
    assert_eq!(short.lines().count(), 2, "{short}");
    assert!(
        short.lines().next().unwrap().ends_with(" lockgate edit by command line: b.txt +1 -1"),
        "{short}"
    );
    assert!(log(&["--stat"]).contains("\n          b.txt +1 -1\n"));
    assert!(log(&["-p", "-n", "1"]).contains("\n-one\n+two\n"));
    // The age of an edit may grow between two calls.
    let without_age = |text: &str| {
        regex::Regex::new(r"\d+ (second|minute)s? +ago")
            .unwrap()
            .replace_all(text, "ago")
            .replace("\n\n", "\n")
    };
    assert_eq!(without_age(&log(&["--since", "1h"])), without_age(&short));
    assert_eq!(log(&["--since", "2100-01-01"]), "nothing   no edits found\n");
    assert_eq!(log(&["--since", "1h", "-n", "1"]).lines().count(), 2, "one edit, and that there are more");
    let refused = for_user(&user, root.path(), &["log", "--since", "soon"]);
    assert!(refused.exit == 2 && refused.stderr.contains("2026-01-31"), "{}", refused.stderr);
    let shown = for_user(&user, root.path(), &["show"]).stdout;
    assert!(shown.contains("\n-one\n+two\n"), "{shown}");
    let none = call(root.path(), &["show"]);
    assert!(none.exit == 2 && none.stderr.contains("there is no edit yet"), "{}", none.stderr);
    assert_eq!(for_user(&user, root.path(), &["edit", "--path", "c.txt", "--content", "made\n"]).exit, 0);
    assert_eq!(for_user(&user, root.path(), &["undo"]).exit, 0);
    let removed = for_user(&user, root.path(), &["show"]).stdout;
    assert!(removed.contains("\n--- a/c.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-made\n"), "{removed}");
}

#[test]
fn an_edit_is_shown_with_all_files_and_whole_diffs() {
    let (user, root) = history();
    let run = |arguments: &[&str], input: &str| {
        let outcome = run_for(user.path(), arguments, root.path(), input);
        assert_eq!(outcome.exit, 0, "{arguments:?}: {}", outcome.stderr);
        outcome.stdout
    };
    let diffs = |shown: &str| -> Vec<String> {
        let shown: serde_json::Value = serde_json::from_str(shown).unwrap();
        let files = shown["files"].as_array().unwrap();
        files.iter().map(|file| file["diff"].as_str().unwrap().to_owned()).collect()
    };
    let lines: Vec<String> = (0..2_000).map(|number| format!("line {number}\n")).collect();
    run(&["edit", "--path", "long.txt", "--content-from", "-"], &lines.concat());
    for command in [&["show"][..], &["log", "-p", "-n", "1"]] {
        assert!(run(command, "").contains("\n+line 1999\n"), "{command:?}");
    }
    assert!(diffs(&run(&["show", "--json"], ""))[0].ends_with("\n+line 1999\n"));
    let changed = (0..2_000).map(|at| lines[at].replace("line", if at % 20 == 0 { "row" } else { "line" }));
    let changed: String = changed.collect();
    run(&["edit", "--path", "long.txt", "--content-from", "-"], &changed);
    assert_eq!(run(&["show"], "").matches("\n@@ ").count(), 100);
    assert_eq!(diffs(&run(&["show", "--json"], ""))[0].matches("\n@@ ").count(), 100);
    let added = |number: usize| format!("*** Add File: many/{number}.txt\n+{number}\n");
    let patch: String = (0..25).map(added).collect();
    run(&["edit", "--patch", "-"], &format!("*** Begin Patch\n{patch}*** End Patch\n"));
    let shown = run(&["show"], "");
    assert!(shown.contains("\n+24\n") && !shown.contains("more files"), "{shown}");
    assert_eq!(diffs(&run(&["show", "--json"], "")).len(), 25);
    let list: serde_json::Value = serde_json::from_str(&run(&["log", "--json"], "")).unwrap();
    let newest = &list["edits"][0];
    assert_eq!(
        (newest["files"].as_array().unwrap().len(), &newest["more_files"]),
        (20, &5.into()),
        "the control"
    );
}

#[test]
fn a_conflict_counts_the_hunks_that_it_does_not_show() {
    let (user, root) = history();
    let lines = |word: &str| -> String {
        (0..2_000).map(|at| format!("{} {at}\n", if at % 10 == 0 { word } else { "line" })).collect()
    };
    let edit = |text: &str, more: &[&str]| {
        let arguments = [&["edit", "--path", "long.txt", "--content-from", "-", "--json"], more].concat();
        let outcome = run_for(user.path(), &arguments, root.path(), text);
        serde_json::from_str::<serde_json::Value>(&outcome.stdout).unwrap()
    };
    let first = edit(&lines("one"), &[]);
    edit(&lines("two"), &[]);
    let refused = edit("x\n", &["--expected-version", first["version"].as_str().unwrap()]);
    assert_eq!(refused["code"], "EDIT_CONFLICT", "{refused:#}");
    let shown = refused["since"]["diff"].as_str().unwrap().matches("\n@@ ").count();
    let note = format!("the diff is cut: {shown} of 200 hunks are shown");
    assert!(refused["notes"].to_string().contains(&note), "{refused:#}");
    assert!(refused.to_string().len() <= 8192, "{}", refused.to_string().len());
}

/// The edits and the texts that remain in a journal of this limit, after an edit of a file in `sub`.
fn kept_in_journal(at_top: &str, in_sub: &str) -> (usize, bool) {
    let (user, root) = history();
    std::fs::create_dir(root.path().join("sub")).unwrap();
    let policy = |limits: &str| format!("limits: {{ {limits} }}\n");
    std::fs::write(root.path().join("quality.yaml"), policy(at_top)).unwrap();
    std::fs::write(root.path().join("sub/quality.yaml"), policy(in_sub)).unwrap();
    let text = "Zm3#qW8 xK!p2 vRt_94 ~bN";
    let edit = ["edit", "--path", "sub/new.txt", "--content", text];
    assert_eq!(for_user(&user, root.path(), &edit).exit, 0);
    let mut grep = Command::new("grep");
    let has_text = grep.arg("-rqaF").arg(text).arg(user.path()).status().unwrap().success();
    let log = for_user(&user, root.path(), &["log", "--json"]).stdout;
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    (log["edits"].as_array().unwrap().len(), has_text)
}

#[test]
fn the_policy_at_the_top_limits_the_journal() {
    assert_eq!(kept_in_journal("file: 1MiB", "file: 1MiB"), (3, true), "the control");
    assert_eq!(kept_in_journal("file: 1MiB", "journal: 0"), (3, true));
    assert_eq!(kept_in_journal("journal_age: 30d", "journal_age: 1ms"), (3, true));
    assert_eq!(kept_in_journal("journal: 0", "journal: 10MiB"), (0, false));
    let (edits, _) = kept_in_journal("journal_age: 1ms", "journal_age: 30d");
    assert!(edits <= 1, "{edits}");
}

#[test]
fn a_log_that_follows_shows_the_next_edit() {
    let (user, root) = history();
    let mut follow = lockgate(user.path());
    let out = root.path().join("out.txt");
    follow.args(["log", "-f", "-n", "1"]).current_dir(root.path());
    let mut child = follow.stdout(std::fs::File::create(&out).unwrap()).stdin(Stdio::null()).spawn().unwrap();
    let printed = |count: usize| {
        let began = Instant::now();
        loop {
            let text = std::fs::read_to_string(&out).unwrap();
            if text.lines().count() >= count {
                return text;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    assert_eq!(printed(1).lines().count(), 1, "the newest edit alone");
    let edit = ["edit", "--path", "b.txt", "--search", "two", "--replace", "three\nfour"];
    assert_eq!(for_user(&user, root.path(), &edit).exit, 0);
    let text = printed(2);
    assert!(text.lines().last().unwrap().ends_with(": b.txt +2 -1"), "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(child.wait().is_ok());
}

#[test]
fn a_log_that_follows_ends_with_its_reader() {
    let (user, root) = history();
    let mut follow = lockgate(user.path());
    follow.args(["log", "-f", "-n", "1"]).current_dir(root.path()).stdin(Stdio::null());
    let mut child = follow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(!line.is_empty());
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it goes on without a reader");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

/// What a command prints on a terminal of 60 columns; `settings` are set in its environment.
fn on_a_terminal(user: &TempDir, root: &Path, words: &str, settings: &[(&str, &str)]) -> String {
    let program = lockgate(user.path());
    let mut script = Command::new("script");
    let command = format!("stty cols 60; exec '{}' {words}", program.get_program().to_str().unwrap());
    script.args(["-qec", &command, "/dev/null"]).current_dir(root).stdin(Stdio::null());
    script.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.env("TERM", "xterm").env_remove("NO_COLOR").envs(settings.iter().copied());
    let output = script.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn long_output_goes_through_the_pager_of_a_terminal() {
    let (user, root) = history();
    let pager = [("PAGER", "sed 's/^/PAGED /'")];
    let paged = on_a_terminal(&user, root.path(), "log", &pager);
    assert!(paged.lines().all(|line| line.starts_with("PAGED ")), "{paged:?}");
    assert!(paged.contains("\u{1b}["), "the pager gets colours: {paged:?}");
    let plain = on_a_terminal(&user, root.path(), "--color never log", &pager);
    assert!(plain.starts_with("PAGED ") && !plain.contains("\u{1b}["), "{plain:?}");
    for none in ["", "cat", "no-such-pager-here"] {
        let direct = on_a_terminal(&user, root.path(), "log", &[("PAGER", none)]);
        assert!(direct.contains("b.txt") && !direct.contains("PAGED"), "{none:?}: {direct:?}");
    }
    let mut piped = lockgate(user.path());
    piped.args(["log"]).current_dir(root.path()).envs(pager);
    assert!(
        !String::from_utf8_lossy(&piped.output().unwrap().stdout).contains("PAGED"),
        "not without a terminal"
    );
}

#[test]
fn a_terminal_says_which_gate_is_waited_for() {
    let (user, root) = (tempfile::tempdir().unwrap(), project());
    let policy = "quality_gates: { python: [{ tool: slow-gate }] }\ndefine:\n  slow-gate:\n    about: Finds nothing.\n    \
                  languages: ['*']\n    kind: command\n    input: stdin\n    command: [sh, -c, 'sleep 1.2; cat > /dev/null']\n    \
                  output: { jsonl: { line: line, message: message } }\n    timeout: 30s\n";
    std::fs::write(root.path().join("quality.yaml"), policy).unwrap();
    let edit = "edit --path app.py --search items --replace parts --trust";
    let seen = on_a_terminal(&user, root.path(), edit, &[]);
    assert!(seen.contains("slow-gate"), "{seen:?}");
    assert!(text(root.path()).contains("parts"), "{seen}");
}

#[test]
fn lines_are_cut_at_the_width_of_a_terminal_and_of_nothing_else() {
    let root = project();
    let long = format!("x = ({}\n", "1 + ".repeat(100));
    let input = format!("{{\"path\": \"app.py\", \"content\": {}}}", serde_json::Value::from(long.as_str()));
    let refused = call_with(root.path(), &["edit", "--file", "-"], &input).stdout;
    assert!(refused.lines().any(|line| line.contains(long.trim_end())), "{refused}");
}

/// An answer without how long the gates took, which slow ones add.
fn without_times(text: &str) -> String {
    regex::Regex::new(r" \d+(\.\d+)? m?s\b").unwrap().replace_all(text, "").into_owned()
}
