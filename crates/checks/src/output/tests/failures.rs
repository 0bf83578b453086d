//! Outputs of programs that report failure only by their exit code.

use std::collections::BTreeSet;

use super::*;

const PYTEST: &str = "============================= test session starts ==============================\nplatform linux -- Python 3.11.7, pytest-8.3.0\nrootdir: /tmp/lockgate-a1b2c3/project\ncollected 3 items\n\ntest_a.py ..F                                                            [100%]\n\n=================================== FAILURES ===================================\n____________________________________ test_x ____________________________________\n\n    def test_x():\n>       assert f(1) == 2\nE       assert 1 == 2\nE        +  where 1 = f(1)\n\ntest_a.py:9: AssertionError\n=========================== short test summary info ============================\nFAILED test_a.py::test_x - assert 1 == 2\n========================= 1 failed, 2 passed in 0.12s ==========================\n";
const CARGO: &str = "   Compiling m v0.1.0 (/project)\n    Finished `test` profile [unoptimized + debuginfo] target(s) in 1.23s\n     Running unittests src/lib.rs (target/debug/deps/m-0123456789abcdef)\n\nrunning 2 tests\ntest tests::error_is_told ... ok\ntest tests::adds ... FAILED\n\nfailures:\n\n---- tests::adds stdout ----\n\nthread 'tests::adds' (4711) panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\nfailures:\n    tests::adds\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`\n";
const GO: &str = "=== RUN   TestOk\n--- PASS: TestOk (0.00s)\n=== RUN   TestAdd\n    a_test.go:7: got 3, want 4\n--- FAIL: TestAdd (0.01s)\nFAIL\nFAIL\texample.com/m\t0.004s\nFAIL\n";
const TAP: &str =
    "TAP version 13\n1..2\nok 1 - starts\nnot ok 2 - adds\n  ---\n  duration_ms: 1.5\n  ...\n# time=12.5ms\n";
const MAKE: &str = "gcc -c -o a.o a.c\nlinking 0x7f001122 at 12:30:01\na.c:3:5: error: 'x' undeclared (first use in this function)\nmake: *** [Makefile:4: a.o] Error 1\n";
const TRACEBACK: &str = "starting\nTraceback (most recent call last):\n  File \"/tmp/tmpabc123/a.py\", line 3, in <module>\n    f()\nValueError: no such thing\n";
const QUIET: &str = "one\ntwo\nthree\nfour\nfive\n";

fn failure(output: &str) -> ToolFinding {
    let findings = read(
        &command(OutputForm::Exit(String::new())),
        &program_output(1, output),
        &buffer(TEXT),
        &named_file,
    )
    .unwrap();
    assert_eq!(findings.len(), 1);
    findings.into_iter().next().unwrap()
}

/// Every number, time, address and temporary path is another one.
fn another_run(output: &str) -> String {
    let more = regex::Regex::new(r"(\d)\.(\d+)").unwrap().replace_all(output, "${1}7.9${2}").into_owned();
    more.replace("0x7f00", "0x7faa")
        .replace("12:30:01", "12:31:59")
        .replace("/tmp/lockgate-a1b2c3", "/tmp/lockgate-zzz999")
        .replace("/tmp/tmpabc123", "/tmp/tmpxyz789")
        .replace("(4711)", "(815)")
        .replace("0123456789abcdef", "fedcba9876543210")
        .replace(".py:9", ".py:12")
        .replace("rs:9:9", "rs:19:9")
}

#[test]
fn the_lines_that_name_a_failure_and_the_last_ones_are_shown() {
    for (output, failures, first) in [
        (PYTEST, &["E assert 1 == 2", "1 failed, 2 passed in 0.12s"][..], "test session starts"),
        (
            CARGO,
            &["test tests::adds ... FAILED", "panicked at src/lib.rs:9:9", "error: test failed"],
            "Compiling",
        ),
        (GO, &["a_test.go:7: got 3, want 4", "--- FAIL: TestAdd"], "=== RUN"),
        (TAP, &["not ok 2 - adds"], "TAP version"),
        (MAKE, &["a.c:3:5: error: 'x' undeclared", "make: *** [Makefile:4: a.o] Error 1"], "gcc -c"),
        (TRACEBACK, &["ValueError: no such thing"], "starting"),
        (QUIET, &["two | three | four | five"], "one"),
    ] {
        let message = failure(output).message;
        assert!(
            message.starts_with("ended with exit code 1: ") && message.chars().count() <= 300,
            "{message}"
        );
        for part in failures {
            assert!(message.contains(part), "{part} in {message}");
        }
        assert!(!message.contains(first), "{message}");
    }
}

#[test]
fn what_only_looks_like_a_failure_is_not_shown() {
    for (output, expected) in [
        ("0 errors\nerror: x\nbye\n", "ended with exit code 1: error: x | bye"),
        ("2 failed, 0 errors\nbye\n", "ended with exit code 1: 2 failed, 0 errors | bye"),
        (
            "test error_is_told ... ok\nPASS TestError\nbye\n",
            "ended with exit code 1: test error_is_told ... ok | PASS TestError | bye",
        ),
        ("npm warn config error\nbye\n", "ended with exit code 1: bye"),
        ("", "ended with exit code 1"),
    ] {
        assert_eq!(failure(output).message, expected, "{output}");
    }
}

#[test]
fn two_runs_that_fail_alike_are_the_same() {
    for output in [PYTEST, CARGO, GO, TAP, MAKE, TRACEBACK, QUIET] {
        let (one, other) = (failure(output), failure(&another_run(output)));
        assert_eq!(one.identity, other.identity, "{output}");
        assert!(!one.identity.is_empty());
        if output != QUIET {
            // Control: the message differs.
            assert_ne!(output, another_run(output));
        }
    }
    let messages =
        [PYTEST, MAKE, GO].map(|output| (failure(output).message, failure(&another_run(output)).message));
    assert!(messages.iter().any(|(one, other)| one != other), "{messages:?}");
}

#[test]
fn a_number_that_is_part_of_a_name_tells_two_failures_apart() {
    let digits = regex::Regex::new(r"\d+").unwrap();
    for (one, other) in [
        ("FAILED t.py::test_case1", "FAILED t.py::test_case2"),
        ("FAILED t.py::test_x[1]", "FAILED t.py::test_x[2]"),
        ("FAILED t.py::test_x[1.5-2] - assert", "FAILED t.py::test_x[2.5-2] - assert"),
        ("test tests::v1_reads ... FAILED", "test tests::v2_reads ... FAILED"),
        ("--- FAIL: TestAll/case_1 (0.00s)", "--- FAIL: TestAll/case_2 (0.00s)"),
        ("--- FAIL: TestAll/#01 (0.00s)", "--- FAIL: TestAll/#02 (0.00s)"),
        ("FAILED cases/001.txt", "FAILED cases/002.txt"),
        ("not ok 1", "not ok 2"),
        ("KeyError: no key2 in v1", "KeyError: no key2 in v2"),
    ] {
        // The control: without their digits they are the same.
        assert_eq!(digits.replace_all(one, ""), digits.replace_all(other, ""));
        let known = failure(&format!("{one}\n")).identity;
        let both = failure(&format!("{one}\n{other}\n")).identity;
        assert!(known.is_subset(&both) && !both.is_subset(&known), "{one}: {both:?}");
    }
}

#[test]
fn a_number_that_counts_or_measures_tells_no_failures_apart() {
    for (one, other) in [
        ("1 failed, 2 passed in 0.12s", "1 failed, 13 passed in 1m30s"),
        ("FAILED after 59.5s", "FAILED after 1m2.5s"),
        ("error: a.c:3:5: x", "error: a.c:12:15: x"),
        ("error: src/a1.c:3:5: x", "error: src/a1.c:4:5: x"),
        ("make[1]: *** [Makefile:4: all] Error 1", "make[1]: *** [Makefile:5: all] Error 1"),
        ("app[4711]: error: x", "app[815]: error: x"),
        ("[gw0] FAILED t.py::test_x", "[gw3] FAILED t.py::test_x"),
        ("E   assert 1.5e-05 < 2", "E   assert 2.5e-06 < 3"),
        ("error: 12 kB of build/tmp/a1/x", "error: 4 kB of build/tmp/b2/x"),
        ("error at 20260101T101112Z", "error at 20260102T111213Z"),
        ("thread 'a' (4711) panicked", "thread 'a' (815) panicked"),
    ] {
        let identity = |line: &str| failure(&format!("{line}\n")).identity;
        assert_eq!(identity(one), identity(other));
        // Control: the shown lines differ.
        assert_ne!(failure(one).message, failure(other).message);
    }
}

#[test]
fn another_failure_is_another_one_and_a_part_is_a_part() {
    for (output, name, other) in [
        (PYTEST, "test_x", "test_y"),
        (CARGO, "tests::adds", "tests::takes"),
        (GO, "TestAdd", "TestTake"),
        (TAP, "not ok 2 - adds", "not ok 2 - takes"),
        (MAKE, "'x'", "'y'"),
        (TRACEBACK, "ValueError", "KeyError"),
        (QUIET, "five", "six"),
    ] {
        assert_ne!(failure(output).identity, failure(&output.replace(name, other)).identity, "{output}");
    }
    let two = failure(&GO.replace("FAIL\nFAIL", "--- FAIL: TestTake (0.00s)\nFAIL\nFAIL")).identity;
    let one: BTreeSet<String> = failure(GO).identity;
    assert!(one.is_subset(&two) && one != two, "{one:?} {two:?}");
}

/// Two failures that differ in a number of their names are two, and more of a kind are more.
#[test]
fn numbers_of_names_tell_failures_apart() {
    let run = |names: &[&str]| {
        let lines: String =
            names.iter().map(|name| format!("FAILED test_a.py::{name} - assert 1 == 2\n")).collect();
        failure(&lines).identity
    };
    assert_ne!(run(&["test_1"]), run(&["test_2"]));
    assert!(!run(&["test_1", "test_2"]).is_subset(&run(&["test_1"])));
    assert!(!run(&["test_x[1]", "test_x[2]"]).is_subset(&run(&["test_x[1]"])));
    assert!(run(&["test_x[1]"]).is_subset(&run(&["test_x[1]", "test_x[2]"])));
    // The control: a number that stands alone differs from run to run, and so does a worker's.
    assert_eq!(failure("error: 3 of 4\n").identity, failure("error: 5 of 6\n").identity);
    let worker = |number: u8| failure(&format!("[gw{number}] [ 50%] FAILED test_a.py::test_1\n")).identity;
    assert_eq!(worker(0), worker(3));
}
