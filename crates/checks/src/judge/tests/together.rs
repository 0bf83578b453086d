//! All drafts of a call form one tree, and a program that looks at the whole project runs once on it.

use super::*;

/// Finds, in the folder that is named, each line of a text with a word that begins with `bad`, and notes that it ran.
const GREP: &str = r"echo run >> {project}/log; cd $1; grep -Rn bad --include=*.txt . | sed -n 's/^\.\/\([^:]*:[0-9]*\):.*\(bad[a-z]*\).*/\1:\2:seen \2/p'";

/// A project-wide gate that runs this script, with these arguments, and time for a hundred runs on a busy machine.
fn trial(script: &str, words: &str, more: &str) -> Trial {
    let script = script.replace('\'', "''");
    Trial::new(&format!(
        "define:\n  finder:\n    about: Made up.\n    languages: ['*']\n    kind: command\n    input: staged\n    \
         scope: project\n    command: [sh, -c, '{script}', sh, {words}]\n    output: {FILES}\n    {more}\n\
         quality_gates:\n  '*': [{{ tool: finder }}]\nlimits: {{ total: 120s }}\n"
    ))
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("f{number:02}.txt")).collect()
}

/// Returns how often the program runs for this many drafts in which it finds nothing, and for the next call
/// with as many.
fn runs(script: &str, words: &str, count: usize) -> [usize; 2] {
    let (trial, names) = (trial(script, words, "canary: bad"), names(count));
    ["x\n", "y\n"].map(|text| {
        let drafts: Vec<_> = names.iter().map(|name| (name.as_str(), Some("old\n"), text)).collect();
        let before = trial.runs("log");
        let verdicts = trial.judge_together(&drafts, OnDisk::Before);
        assert!(verdicts.iter().all(|verdict| verdict.runs[0].outcome == Outcome::Passed), "{verdicts:?}");
        trial.runs("log") - before
    })
}

#[test]
fn one_run_and_one_canary_serve_all_drafts_of_a_call() {
    for count in [1, 5, 20] {
        assert_eq!(runs(GREP, "'{root}'", count), [2, 1], "{count} drafts, told the project");
        assert_eq!(runs(GREP, "'{root}', '{paths}'", count), [2, 1], "{count} drafts, told all files");
    }
    assert_eq!(runs(GREP, "'{root}', '{folders}'", 5), [2, 1], "told the folders");
    // The control: a program that gets a single file runs for each.
    assert_eq!(runs(GREP, "'{root}', '{path}'", 5), [10, 5]);
}

#[test]
fn a_single_folder_is_one_run_and_another_folder_is_another() {
    let trial = trial(GREP, "'{root}', '{folder}'", "");
    let drafts = [("a/1.txt", None, "x\n"), ("a/2.txt", None, "x\n"), ("b/1.txt", None, "x\n")];
    trial.judge_together(&drafts, OnDisk::Before);
    assert_eq!(trial.runs("log"), 2);
}

/// Returns each finding with the draft that it is reported for, its file, its line, and a flag that is true
/// if it is new.
fn shared_out(verdicts: &[Verdict]) -> Vec<(usize, Option<&str>, usize, bool)> {
    let all = verdicts.iter().enumerate();
    all.flat_map(|(at, verdict)| {
        verdict.findings.iter().map(move |it| (at, it.elsewhere.as_deref(), it.line, it.fresh))
    })
    .collect()
}

#[test]
fn findings_go_to_the_drafts_of_their_files_once() {
    let trial = trial(GREP, "'{root}'", "");
    trial.write("other.txt", "x\nold bad\n");
    let drafts =
        [("a.txt", Some("bad\nx\n"), "bad\ny\n"), ("b.txt", Some("x\n"), "x\nbad\n"), ("c.txt", None, "x\n")];
    let verdicts = trial.judge_together(&drafts, OnDisk::Before);
    assert_eq!(
        shared_out(&verdicts),
        [(0, None, 1, false), (0, Some("other.txt"), 2, false), (1, None, 2, true)],
        "an old one, one of a file that nobody edits, and a new one"
    );
    assert_eq!(trial.runs("log"), 2, "the tree after, and the tree before");
    assert_eq!(verdicts.iter().map(Verdict::refuses).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn old_findings_of_an_unchanged_draft_stay_old_beside_a_changed_one() {
    let trial = trial(GREP, "'{root}'", "");
    let drafts = [("a.txt", Some("bad\n"), "bad\n"), ("b.txt", Some("x\n"), "y\n")];
    assert_eq!(shared_out(&trial.judge_together(&drafts, OnDisk::Before)), [(0, None, 1, false)]);
    assert_eq!(shared_out(&trial.judge_together(&drafts, OnDisk::After)), [(0, None, 1, false)]);
}

#[test]
fn an_error_that_one_draft_causes_elsewhere_rejects_the_call() {
    // A call of f is bad if a.txt no longer defines it.
    let script =
        "cd $1; grep -q f a.txt || for file in b.txt other.txt; do echo $file:1:undefined:no f; done";
    let trial = trial(script, "'{root}'", "");
    trial.write("other.txt", "f()\n");
    let drafts = [("b.txt", Some("f()\n"), "f() \n"), ("a.txt", Some("f\n"), "g\n")];
    let verdicts = trial.judge_together(&drafts, OnDisk::Before);
    assert_eq!(shared_out(&verdicts), [(0, None, 1, true), (0, Some("other.txt"), 1, true)]);
}

#[test]
fn what_was_found_in_other_files_before_is_old_for_a_new_file() {
    let trial = trial(GREP, "'{root}'", "");
    trial.write("other.txt", "bad\n");
    let verdicts = trial.judge_together(&[("a.txt", None, "bad\n")], OnDisk::Before);
    assert_eq!(shared_out(&verdicts), [(0, None, 1, true), (0, Some("other.txt"), 1, false)]);
}

#[test]
fn a_file_that_the_program_leaves_alone_is_broken_and_the_others_are_not() {
    let script = GREP.replace("--include=*.txt", "--include=*.txt --exclude=skipped.txt");
    let trial = trial(&script, "'{root}'", "canary: bad");
    let drafts = [("a.txt", None, "x\n"), ("skipped.txt", None, "x\n"), ("b.txt", None, "x\n")];
    let verdicts = trial.judge_together(&drafts, OnDisk::Before);
    let outcomes: Vec<_> = verdicts.iter().map(|verdict| verdict.runs[0].outcome).collect();
    assert_eq!(outcomes, [Outcome::Passed, Outcome::Broken, Outcome::Passed]);
    assert_eq!(trial.runs("log"), 3, "the drafts, all canaries, and the one that was not found");
}

#[test]
fn each_text_of_a_canary_is_tried_for_all_drafts_that_are_left() {
    // Nothing is checked after `stop`, `off.txt` is only parsed, and `unread.txt` is not even read.
    let script = "echo run >> {project}/log; cd $1; for file in *.txt; do awk -v file=$file 'file == \"unread.txt\" || /^stop/ { exit } \
                  /^worse/ { print file \":\" FNR \":worse:no syntax\" } \
                  file != \"off.txt\" && /^bad/ { print file \":\" FNR \":bad:seen\" }' $file; done";
    let trial = trial(script, "'{root}'", r#"canary: { append: "bad\n", finds: ^bad, text: "worse\n" }"#);
    let drafts = ["a.txt", "off.txt", "stopped.txt", "unread.txt"];
    let drafts = drafts.map(|name| (name, None, if name == "stopped.txt" { "x\nstop\n" } else { "x\n" }));
    let verdicts = trial.judge_together(&drafts, OnDisk::Before);
    let outcomes: Vec<_> = verdicts.iter().map(|verdict| verdict.runs[0].outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Passed, Outcome::Skipped, Outcome::Passed, Outcome::Broken],
        "{verdicts:?}"
    );
    assert_eq!(trial.runs("log"), 7, "the drafts, and each text for all that are left, until none is found");
}

#[test]
fn a_list_with_an_unreadable_file_is_checked_file_by_file() {
    let script = "for file in \"$@\"; do case $file in *odd*) echo no such thing >&2; exit 9;; esac; done; \
                  cat \"$@\" | grep -q bad && echo a.txt:1:bad:seen; true";
    let trial = trial(script, "'{paths}'", "");
    let drafts = [("a.txt", None, "bad\n"), ("odd.txt", None, "x\n")];
    let verdicts = trial.judge_together(&drafts, OnDisk::Before);
    let outcomes: Vec<_> = verdicts.iter().map(|verdict| verdict.runs[0].outcome).collect();
    assert_eq!(outcomes, [Outcome::Found, Outcome::Broken]);
}

/// Judges new files by a gate that lists them and runs this script; returns the number of runs and the
/// outcome of each file.
fn listed(names: &[String], script: &str) -> (usize, Vec<Outcome>) {
    let trial = trial(&format!("echo run >> {{project}}/log; {script}"), "'{paths}'", "");
    let drafts: Vec<_> = names.iter().map(|name| (name.as_str(), None, "x\n")).collect();
    let verdicts = trial.judge_together(&drafts, OnDisk::Before);
    (trial.runs("log"), verdicts.iter().map(|verdict| verdict.runs[0].outcome).collect())
}

#[test]
fn a_list_that_fails_is_halved_until_the_file_is_found_that_it_fails_on() {
    let script = "for file in \"$@\"; do case $file in *f37.txt) exit 9;; esac; done";
    let (runs, outcomes) = listed(&names(64), script);
    let broken: Vec<usize> = (0..64).filter(|at| outcomes[*at] == Outcome::Broken).collect();
    assert_eq!(broken, [37]);
    assert!(outcomes.iter().filter(|outcome| **outcome == Outcome::Passed).count() == 63, "{outcomes:?}");
    // Separate runs for each file would be 65.
    assert_eq!(runs, 13, "the whole list, and two halves at each of six steps");
}

#[test]
fn a_list_that_is_too_long_is_halved_until_it_is_short_enough() {
    let (runs, outcomes) = listed(&names(40), "test $# -le 5 || exit 9");
    assert_eq!((runs, outcomes), (15, vec![Outcome::Passed; 40]));
}

#[test]
fn a_program_that_fails_on_every_file_is_not_run_for_each() {
    let (runs, outcomes) = listed(&names(99), "exit 9");
    assert_eq!((runs, outcomes), (65, vec![Outcome::Broken; 99]));
    // The control: the program runs for each of a few files in the end.
    assert_eq!(listed(&names(4), "exit 9"), (7, vec![Outcome::Broken; 4]));
}

#[test]
fn an_unproven_file_of_a_list_does_not_repeat_the_others() {
    let script = GREP.replace("--include=*.txt", "--include=*.txt --exclude=f07.txt");
    let trial = trial(&script, "'{root}', '{paths}'", "canary: bad");
    let names = names(20);
    let drafts: Vec<_> = names.iter().map(|name| (name.as_str(), None, "x\n")).collect();
    let verdicts = trial.judge_together(&drafts, OnDisk::Before);
    for (at, verdict) in verdicts.iter().enumerate() {
        let expected = if at == 7 { Outcome::Broken } else { Outcome::Passed };
        assert_eq!(verdict.runs[0].outcome, expected, "{at}");
    }
    assert_eq!(trial.runs("log"), 3, "the drafts, all canaries, and the one that was not found");
}

#[test]
fn files_on_disk_that_run_alone_are_compared_with_the_tree_before() {
    // A list with this file fails. The name that b.txt uses is no longer in a.txt, and both are changed.
    let script = "root=$1; shift; for file in \"$@\"; do case $file in *odd*) exit 9;; esac; done; \
                  cd $root; grep -q f a.txt || echo b.txt:1:undefined:no f";
    let judge = |a: &str| {
        let trial = trial(script, "'{root}', '{paths}'", "");
        let drafts =
            [("a.txt", Some(a), "g\n"), ("b.txt", Some("f()\n"), "f() \n"), ("odd.txt", Some("x\n"), "y\n")];
        let verdicts = trial.judge_together(&drafts, OnDisk::After);
        assert_eq!(verdicts[2].runs[0].outcome, Outcome::Broken);
        verdicts
    };
    assert_eq!(shared_out(&judge("f\n")), [(1, None, 1, true)]);
    // The control: the same finding was there before.
    assert_eq!(shared_out(&judge("g \n")), [(1, None, 1, false)]);
}

#[test]
fn files_on_disk_that_are_judged_singly_are_compared_with_the_tree_before() {
    let trial = trial("cd $1; grep -q f a.txt || echo b.txt:1:undefined:no f", "'{root}', '{path}'", "");
    let drafts = [("a.txt", Some("f\n"), "g\n"), ("b.txt", Some("f()\n"), "f() \n")];
    assert_eq!(shared_out(&trial.judge_together(&drafts, OnDisk::After)), [(1, None, 1, true)]);
}

#[test]
fn findings_that_a_syntax_error_hid_in_another_draft_do_not_block_its_repair() {
    for on_fault in ["echo a.py:1:invalid:open bracket; exit 1", "exit 9"] {
        for words in ["'{root}'", "'{root}', '{paths}'", "'{root}', '{path}'"] {
            let find = GREP.replace("*.txt", "*.py").replace("cd $1; ", "");
            let script = format!("cd $1; if grep -q '^x = ($' a.py; then {on_fault}; else {find}; fi");
            let judge = |before: &str| {
                let trial = trial(&script, words, "");
                let drafts = [
                    ("a.py", Some(before), "x = 1\n"),
                    ("b.py", Some("y = 'bad'\nz = 1\n"), "y = 'bad'\nz = 2\n"),
                    ("c.py", Some("y = 1\n"), "y = 'bad'\n"),
                ];
                let verdicts = trial.judge_together(&drafts, OnDisk::Before);
                let all: Vec<_> = verdicts.iter().flat_map(|verdict| &verdict.findings).cloned().collect();
                all.into_iter().map(|it| (it.fresh, it.blocking, it.message)).collect::<Vec<_>>()
            };
            let written = (true, true, "seen bad".to_owned());
            let hidden = (true, false, "seen bad (hidden before by a syntax error)".to_owned());
            assert_eq!(judge("x = (\n"), [hidden, written.clone()], "{on_fault} {words}");
            // The control: nothing was hidden, so that the old finding is known to be old.
            assert_eq!(judge("x = 2\n"), [(false, false, "seen bad".to_owned()), written], "{words}");
        }
    }
}

#[test]
fn a_project_that_fails_in_another_file_has_no_broken_gate() {
    // Like a compiler: the first file that fails ends it.
    let script = "cd $1; for file in lib.txt a.txt; do grep -q bad $file && { echo $file:1:bad:seen; exit 1; }; done; true";
    let trial = trial(script, "'{root}'", "canary: bad");
    trial.write("lib.txt", "bad\n");
    let verdict = |text| trial.judge_together(&[("a.txt", Some("x\n"), text)], OnDisk::Before).remove(0);
    let hidden = "the project fails in other files, so this one may not have been checked";
    let told_first = verdict("y\n");
    assert_eq!(outcomes(&told_first), [("finder", Outcome::Found, hidden)]);
    assert!(!told_first.refuses());
    // The control: if nothing fails, the same program is seen to work, and a draft that fails is rejected.
    trial.write("lib.txt", "x\n");
    assert_eq!(outcomes(&verdict("z\n")), [("finder", Outcome::Passed, "")]);
    assert!(verdict("bad\n").refuses());
}

#[test]
fn files_on_disk_are_compared_with_the_tree_before() {
    // The name that b.txt uses is no longer in a.txt, and both are changed: neither fault was there before.
    let script = "cd $1; grep -q f a.txt || echo b.txt:1:undefined:no f";
    let trial = trial(script, "'{root}'", "");
    let drafts = [("a.txt", Some("f\n"), "g\n"), ("b.txt", Some("f()\n"), "f() \n")];
    let verdicts = trial.judge_together(&drafts, OnDisk::After);
    assert_eq!(shared_out(&verdicts), [(1, None, 1, true)]);
}

#[test]
fn a_limit_that_runs_out_is_named() {
    let late = |rule: &str, limits: &str| {
        let define = Define::default().gate("slow", "sleep 60", LINES, "");
        let verdict = define.policy(&format!("{{ tool: slow{rule} }}"), limits).judge("a.txt", None, "x\n");
        (verdict.runs[0].outcome, verdict.runs[0].why.clone().unwrap_or_default())
    };
    let own = "timed out: the gate has 50ms (`timeout` of `slow`)";
    assert_eq!(late(", timeout: 50ms", ""), (Outcome::TimedOut, own.to_owned()));
    let all = "timed out: all gates of the call have 60ms (`limits.total`)";
    assert_eq!(late("", "limits: { total: 60ms }"), (Outcome::TimedOut, all.to_owned()));
}

/// A crate and one that it depends on, judged by cargo itself.
fn crates(cache: &Path) -> Trial {
    let mut trial = Trial::new("quality_gates:\n  rust: [{ tool: cargo-check }]\n");
    let bin = Path::new(env!("CARGO")).parent().unwrap().to_str().unwrap();
    let path = format!("{bin}:/usr/bin:/bin");
    let search = SearchPath { folders: &[], roots: &[], path: OsStr::new(&path) };
    trial.permission = ExecPermission::Granted(ResolvedPrograms::find(trial.policy.commands(), &search));
    trial.cache = Some(cache.to_owned());
    let package =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    trial.write(
        "Cargo.toml",
        &format!("{}[workspace]\n\n[dependencies]\nd = {{ path = \"d\" }}\n", package("m")),
    );
    trial.write("d/Cargo.toml", &package("d"));
    let lock = "version = 4\n\n[[package]]\nname = \"d\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"m\"\nversion = \"0.1.0\"\ndependencies = [\n \"d\",\n]\n";
    trial.write("Cargo.lock", lock);
    trial.write("d/src/lib.rs", "pub fn f() -> i32 { 1 }\n");
    trial.write("src/lib.rs", "pub fn g() -> i32 { d::f() }\n");
    trial
}

#[test]
fn a_target_folder_that_stays_never_answers_for_another_text() {
    let cache = tempfile::tempdir().unwrap();
    let trial = crates(cache.path());
    let (number, text) = ("pub fn g() -> i32 { d::f() }\n", "pub fn g() -> String { d::f() }\n");
    let both = || {
        let d =
            ("d/src/lib.rs", Some("pub fn f() -> i32 { 1 }\n"), "pub fn f() -> String { String::new() }\n");
        trial.judge_together(&[d, ("src/lib.rs", Some(number), text)], OnDisk::Before)
    };
    let passed = |verdicts: &[Verdict]| {
        verdicts.iter().map(|verdict| (verdict.runs[0].outcome, verdict.refuses())).collect::<Vec<_>>()
    };
    assert_eq!(passed(&both()), [(Outcome::Passed, false); 2], "{:?}", both());
    // Nothing was written: the crate on disk still gives a number.
    let alone = |after: &str| trial.judge_together(&[("src/lib.rs", Some(number), after)], OnDisk::Before);
    assert_eq!(passed(&alone("pub fn g() -> i32 { d::f() + 1 }\n")), [(Outcome::Passed, false)]);
    assert!(alone("pub fn g() -> String { d::f() }\n\n")[0].refuses());
    // The control: without the record of shown texts, cargo answers for the earlier draft.
    both();
    let targets = std::fs::read_dir(cache.path().join("cargo-check")).unwrap();
    for target in targets {
        let empty = r#"{"last":null,"texts":{}}"#;
        std::fs::write(target.unwrap().path().join(".lockgate-shown.json"), empty).unwrap();
    }
    let stale = alone("pub fn g() -> i32 { d::f() + 2 }\n");
    assert!(stale[0].findings.iter().any(|finding| finding.message.contains("String")), "{stale:?}");
}

#[test]
fn all_modules_of_a_crate_are_tried_in_one_run_of_cargo() {
    let cache = tempfile::tempdir().unwrap();
    let trial = crates(cache.path());
    let names: Vec<String> = (0..5).map(|number| format!("src/m{number}.rs")).collect();
    let root: String = (0..5).map(|number| format!("pub mod m{number};\n")).collect();
    trial.write("src/unread.rs", "");
    let mut drafts: Vec<(&str, Option<&str>, &str)> =
        names.iter().map(|name| (name.as_str(), None, "pub fn f() -> i32 { 1 }\n")).collect();
    drafts.push(("src/lib.rs", Some("pub fn g() -> i32 { d::f() }\n"), &root));
    drafts.push(("src/unread.rs", Some(""), "pub fn f() {}\n"));
    let verdicts = trial.judge_together(&drafts, OnDisk::Before);
    let outcomes: Vec<_> = verdicts.iter().map(|verdict| verdict.runs[0].outcome).collect();
    // The control: the file that no `mod` leads to is not taken for one that was read.
    assert_eq!(outcomes, [[Outcome::Passed; 6].as_slice(), &[Outcome::Unavailable]].concat(), "{verdicts:?}");
}

/// Returns how often a program runs for a draft, after a change to the project, in a process that can read
/// the proofs that an earlier one saved; with a folder for them, and without.
fn runs_again(text: &str, change: impl Fn(&mut Trial)) -> [usize; 2] {
    [true, false].map(|is_kept| {
        let folder = tempfile::tempdir().unwrap();
        let process = || {
            let proofs_dir = is_kept.then(|| folder.path().join("proofs"));
            GateRuntime {
                slots: Slots::new(2),
                ceiling: Ceiling(Isolation::None),
                ..GateRuntime::with_proofs_dir(proofs_dir)
            }
        };
        let mut trial = trial(GREP, "'{root}'", "canary: bad");
        trial.write("other.txt", "import a\n");
        trial.runtime = process();
        let judge = |trial: &Trial, text: &str| {
            let before = trial.runs("log");
            let verdicts = trial.judge_together(&[("a.txt", Some("old\n"), text)], OnDisk::Before);
            assert_eq!(verdicts[0].runs[0].outcome, Outcome::Passed, "{verdicts:?}");
            trial.runs("log") - before
        };
        assert_eq!(judge(&trial, "x\n"), 2);
        trial.runtime = process();
        change(&mut trial);
        judge(&trial, text)
    })
}

#[test]
fn a_proof_outlasts_the_process_until_something_may_lead_the_program_past_the_file() {
    // The control for each: if nothing was saved, the canary is tried again.
    assert_eq!(runs_again("y\n", |_| {}), [1, 2]);
    assert_eq!(runs_again("y\n", |trial| trial.write("other.txt", "import a\nmore\n")), [1, 2]);
    assert_eq!(runs_again("# ignore this file\n", |_| {}), [2, 2], "a directive");
    assert_eq!(
        runs_again("y\n", |trial| trial.write("other.txt", "more\n")),
        [2, 2],
        "an import that is gone"
    );
    assert_eq!(runs_again("y\n", |trial| trial.write("third.txt", "")), [2, 2], "another file");
}

#[test]
fn a_proof_of_a_gate_that_looks_at_the_project_outlasts_its_minute() {
    // The control: the answer of a program that looks at one file may depend on unknown inputs.
    for (scope, runs) in [("project", 1), ("file", 2)] {
        let define = Define::default();
        let log = format!("echo run >> '{{project}}/log'; {FINDER}");
        let define = define.gate("finder", &log, LINES, &format!("scope: {scope}\n    canary: bad"));
        let trial = define.policy("{ tool: finder }", "");
        let judge = |text: &str| {
            let before = trial.runs("log");
            trial.judge("a.txt", Some("old\n"), text);
            trial.runs("log") - before
        };
        assert_eq!([judge("x\n"), judge("y\n")], [2, 1]);
        trial.runtime.proofs.age(std::time::Duration::from_secs(61));
        assert_eq!(judge("z\n"), runs, "{scope}");
        // A directive in the draft causes a trial at once, not after a minute.
        assert_eq!(judge("# nocheck\n"), 2, "{scope}");
    }
}

#[test]
fn a_file_that_is_no_module_any_more_does_not_count_as_compiled() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut trial = crates(cache.path());
    trial.runtime = GateRuntime::with_proofs_dir(Some(folder.path().join("proofs")));
    trial.write("src/lib.rs", "pub mod a;\npub fn g() -> i32 { d::f() }\n");
    let outcome = |trial: &Trial, text: &str| {
        let verdicts = trial.judge_together(&[("src/a.rs", Some("pub fn f() {}\n"), text)], OnDisk::Before);
        verdicts[0].runs[0].outcome
    };
    assert_eq!(outcome(&trial, "pub fn f() -> i32 { 1 }\n"), Outcome::Passed);
    assert_eq!(outcome(&trial, "pub fn f() -> i32 { 2 }\n"), Outcome::Passed, "the control");
    trial.write("src/lib.rs", "pub fn g() -> i32 { d::f() }\n");
    assert_eq!(outcome(&trial, "pub fn f() -> i32 { 2.5 }\n"), Outcome::Unavailable, "the same process");
    trial.runtime = GateRuntime::with_proofs_dir(Some(folder.path().join("proofs")));
    assert_eq!(outcome(&trial, "pub fn f() -> i32 { \"\" }\n"), Outcome::Unavailable);
}

/// The target folders below a cache.
fn targets(cache: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cache.join("cargo-check")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_draft_that_comes_and_goes_is_judged_each_time_by_its_own_text() {
    let cache = tempfile::tempdir().unwrap();
    let mut trial = crates(cache.path());
    let disk = "pub fn g() -> i32 { d::f() }\n";
    // Both have the length of the text on disk.
    let (good, bad) = ("pub fn g() -> i32 { d::f( )}\n", "pub fn g() -> u32 { d::f() }\n");
    assert_eq!((good.len(), bad.len()), (disk.len(), disk.len()));
    for (at, text) in [good, bad, good, bad, bad, good, bad].into_iter().enumerate() {
        // No answer comes from the cache.
        trial.runtime = GateRuntime { ceiling: Ceiling(Isolation::None), ..GateRuntime::default() };
        let verdicts = trial.judge_together(&[("src/lib.rs", Some(disk), text)], OnDisk::Before);
        assert_eq!(verdicts[0].refuses(), text == bad, "{at}: {verdicts:?}");
    }
}

#[test]
fn a_file_on_disk_that_was_replaced_by_an_older_one_is_compiled_anew() {
    let refuses = |forgets: bool| {
        let cache = tempfile::tempdir().unwrap();
        let trial = crates(cache.path());
        let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        let disk = |text: &str| {
            trial.write("d/src/lib.rs", text);
            let file = std::fs::File::open(trial.path("d/src/lib.rs")).unwrap();
            file.set_modified(hour_ago).unwrap();
            // A file that was replaced within a clock tick before a run is seen by the run after it.
            std::thread::sleep(std::time::Duration::from_millis(50));
        };
        let judge = |text: &str| {
            let before = "pub fn g() -> i32 { d::f() }\n";
            trial.judge_together(&[("src/lib.rs", Some(before), text)], OnDisk::Before).remove(0)
        };
        disk("pub fn f() -> i32 { 1 }\n");
        assert!(!judge("pub fn g() -> i32 { d::f() + 1 }\n").refuses());
        std::thread::sleep(std::time::Duration::from_millis(20));
        disk("pub fn f(_: i32) -> i32 { 1 }\n");
        if forgets {
            // As if the time of the last run was unknown.
            for target in targets(cache.path()) {
                let record = target.join(".lockgate-shown.json");
                let text = std::fs::read_to_string(&record).unwrap();
                let mut known: serde_json::Value = serde_json::from_str(&text).unwrap();
                known["last"] = serde_json::Value::Null;
                std::fs::write(record, known.to_string()).unwrap();
            }
        }
        let verdict = judge("pub fn g() -> i32 { d::f() + 2 }\n");
        verdict.findings.iter().any(|finding| finding.code.as_deref() == Some("E0061"))
    };
    assert!(refuses(false));
    // The control: cargo alone takes the crate for unchanged.
    assert!(!refuses(true));
}

#[test]
fn one_of_two_calls_waits_for_the_target_folder_and_says_so_when_its_time_is_up() {
    let cache = tempfile::tempdir().unwrap();
    let trial = crates(cache.path());
    let judge = |text: &str| {
        let before = "pub fn g() -> i32 { d::f() }\n";
        trial.judge_together(&[("src/lib.rs", Some(before), text)], OnDisk::Before).remove(0)
    };
    // Two concurrent runs happen one after the other, and both are judged by their own text.
    let (good, bad) = std::thread::scope(|scope| {
        let good = scope.spawn(|| judge("pub fn g() -> i32 { d::f() + 1 }\n"));
        let bad = scope.spawn(|| judge("pub fn g() -> u32 { d::f() + 1 }\n"));
        (good.join().unwrap(), bad.join().unwrap())
    });
    assert_eq!((good.runs[0].outcome, good.refuses(), bad.refuses()), (Outcome::Passed, false, true));
    // A run of another process that does not end.
    let locks: Vec<_> = targets(cache.path())
        .into_iter()
        .map(|target| {
            let lock = std::fs::OpenOptions::new().append(true).open(target.join(".lockgate-lock")).unwrap();
            lock.lock().unwrap();
            lock
        })
        .collect();
    let mut terms =
        trial.policy.effective_rules("src/lib.rs", language_of("src/lib.rs", None), Profile::Batch);
    terms.total = std::time::Duration::from_millis(300);
    let verdict = trial.judge_by_rules("src/lib.rs", "pub fn g() -> i32 { d::f() + 3 }\n", &terms);
    let why = "timed out waiting for another run that uses its target folder: all gates of the call have 300ms (`limits.total`)";
    assert_eq!(outcomes(&verdict), [("cargo-check", Outcome::TimedOut, why)]);
    // The control: it has ended.
    drop(locks);
    assert_eq!(judge("pub fn g() -> i32 { d::f() + 3 }\n").runs[0].outcome, Outcome::Passed);
}
