//! Outputs in which a finding could be lost, or a failed run could pass.

use super::super::formatted;
use super::*;
use crate::output::notes::switch::without_notes;

const TRACEBACK: &str =
    "Traceback (most recent call last):\n  File \"tool.py\", line 3, in <module>\nKeyError: 1\n";

fn lines_tool() -> CommandSpec {
    command_with(OutputSpec {
        exit_codes: vec![0, 1],
        ..output_of(lines_of(r"^(?P<file>.+?):(?P<line>\d+): (?P<message>.*)$", None))
    })
}

/// The result of reading an output, with and without known notes.
fn both(tool: &CommandSpec, run: &ProgramOutput<'_>) -> [Result<Vec<String>, String>; 2] {
    [reading(tool, run), without_notes(|| reading(tool, run))]
}

#[test]
fn a_crash_on_the_other_stream_is_no_answer() {
    let json = command(OutputForm::Json(plain_place()));
    let one = r#"[{ "file": "a.py", "line": 1, "message": "old" }]"#;
    for stderr in [
        TRACEBACK,
        "thread 'main' panicked at src/main.rs:3:1:\n",
        "[tester]\tERROR\tBandit internal error running: x on file a.py\n",
        "(node:4711) UnhandledPromiseRejectionWarning: TypeError: x\n",
    ] {
        for (code, stdout) in [(1, one), (0, "[]")] {
            let run = ProgramOutput { code, stdout: stdout.as_bytes(), stderr: stderr.as_bytes() };
            let [read, naive] = both(&json, &run);
            assert!(read.unwrap_err().starts_with("reports a crash in addition to findings: "), "{stderr}");
            assert!(naive.is_ok(), "without the check the gate has an answer");
        }
    }
    let mut swapped = command(OutputForm::Json(plain_place()));
    swapped.output.from = Stream::Stderr;
    let run = ProgramOutput { code: 1, stdout: TRACEBACK.as_bytes(), stderr: one.as_bytes() };
    assert!(reading(&swapped, &run).is_err());
}

/// A fixed message says nothing of a crash, so the crash is no finding.
#[test]
fn a_crash_is_not_what_an_exit_code_stands_for() {
    let tidy = command(OutputForm::Exit("is not tidy".to_owned()));
    for (code, stdout, stderr) in [
        (1, "", TRACEBACK),
        (1, TRACEBACK, ""),
        (0, "", "panic: runtime error: index out of range\n"),
        (1, "checking\n", "tool: internal error: no rule\n"),
    ] {
        let run = ProgramOutput { code, stdout: stdout.as_bytes(), stderr: stderr.as_bytes() };
        let [read, naive] = both(&tidy, &run);
        assert!(read.unwrap_err().starts_with("reports a crash: "), "{stdout}{stderr}");
        assert!(naive.is_ok(), "without the check the gate has an answer");
        // A text with such a line may be quoted.
        let text = "raise Failed(\"internal error\")\n";
        assert!(reading_of(text, &tidy, &run).is_ok(), "{stdout}{stderr}");
    }
    check(&tidy, 1, "a.py is not tidy\n", Ok(&["1:1 error - is not tidy"]));
    // Without a message, the finding quotes the crash.
    let plain = command(OutputForm::Exit(String::new()));
    let run = ProgramOutput { code: 1, stdout: b"", stderr: TRACEBACK.as_bytes() };
    assert!(reading(&plain, &run).unwrap().concat().contains("KeyError: 1"));
}

#[test]
fn a_traceback_of_the_end_of_an_interpreter_is_no_crash() {
    let json = command(OutputForm::Json(plain_place()));
    for head in ["Exception ignored in: <function x at 0x7f>", "--- Logging error ---"] {
        let stderr = format!("{head}\n{TRACEBACK}");
        let run = ProgramOutput { code: 0, stdout: b"[]", stderr: stderr.as_bytes() };
        assert_eq!(reading(&json, &run), Ok(Vec::new()));
        let twice = format!("{stderr}{TRACEBACK}");
        assert!(
            reading(&json, &ProgramOutput { stderr: twice.as_bytes(), ..run }).is_err(),
            "the second one is"
        );
    }
}

/// A formatter that rejects a text may quote it.
#[test]
fn a_rejection_that_quotes_a_crash_is_a_rejection() {
    let errors = regex(r"^<stdin>:(?P<line>\d+): (?P<message>.+)$");
    let tool = command_with(OutputSpec {
        exit_codes: vec![0, 2],
        ..output_of(OutputForm::Formatted { errors: Some(errors) })
    });
    let stderr = format!("<stdin>:2: expected ')'\n{TRACEBACK}");
    let refused = ProgramOutput { code: 2, stdout: b"", stderr: stderr.as_bytes() };
    assert_eq!(reading(&tool, &refused), Ok(vec!["2:1 error - expected ')'".to_owned()]));
    let made = ProgramOutput { code: 0, stdout: TEXT.as_bytes(), stderr: stderr.as_bytes() };
    assert!(matches!(formatted(&tool, &made, &buffer(TEXT)), Err(GateError::Broken(_))));
}

#[test]
fn a_text_that_quotes_the_words_of_a_skip_is_formatted() {
    let text = "# Skipped 1 files\nx = 1\n";
    let tool = command_with(OutputSpec {
        ignored_input: Some(regex(r"Skipped \d+ files")),
        ..output_of(OutputForm::Formatted { errors: None })
    });
    let run = |stdout: &str, stderr: &str| {
        let run = ProgramOutput { code: 0, stdout: stdout.as_bytes(), stderr: stderr.as_bytes() };
        formatted(&tool, &run, &buffer(text))
    };
    assert_eq!(run(text, ""), Ok(text.to_owned()));
    assert!(
        matches!(without_notes(|| run(text, "")), Err(GateError::LeftOut(_))),
        "without the check it is skipped"
    );
    for (stdout, stderr) in [("Skipped 1 files\n", ""), (text, "Skipped 1 files\n")] {
        assert!(matches!(run(stdout, stderr), Err(GateError::LeftOut(_))), "{stdout} {stderr}");
    }
}

/// A message may quote a carriage return of the text, and what follows it.
#[test]
fn a_finding_before_a_carriage_return_is_read() {
    let tool = lines_tool();
    for (output, expected) in [
        ("a.py:1: bad 'x\rnpm warn config y'\n", &["1:1 error - bad 'x"][..]),
        (" 10%\r 50%\ra.py:1: x\n", &["1:1 error - x"]),
        ("a.py:1: x\ra.py:2: y\r\n", &["1:1 error - x", "2:1 error - y"]),
    ] {
        assert_eq!(reading(&tool, &program_output(1, output)).unwrap(), expected, "{output:?}");
    }
    // The control: of what is no finding, only the last text counts, and the first output would be a note.
    let last = notes::lines("a.py:1: bad 'x\rnpm warn config y'\n", None).collect::<Vec<_>>();
    assert!(last.iter().all(|line| notes::is_note(line)), "{last:?}");
    assert!(reading(&tool, &program_output(1, "one\rtwo\n")).is_err());
}

/// A warning about installed code looks like a finding. In a folder of such a name, a finding looks like such a warning.
#[test]
fn a_warning_about_an_edited_file_is_a_finding() {
    let own = "/project/lib/python3.11/a.py";
    let named_file =
        |name: &str| if name.trim() == own { NamedFile::Edited } else { NamedFile::Other(name.to_owned()) };
    let tool = lines_tool();
    let output = format!("{own}:2: SyntaxWarning: invalid escape sequence\n  {own}:3: x\n");
    let findings = read(&tool, &program_output(1, &output), &buffer(TEXT), &named_file).unwrap();
    assert_eq!(shown(&findings), ["2:1 error - SyntaxWarning: invalid escape sequence", "3:1 error - x"]);
    let other =
        read(&tool, &program_output(0, &output), &buffer(TEXT), &|name| NamedFile::Other(name.to_owned()))
            .unwrap();
    assert_eq!(shown(&other), Vec::<String>::new(), "of another file it is a warning, with its source");
    let texts = [("b.py", &buffer(TEXT)), ("c.py", &buffer(TEXT))];
    let second =
        |name: &str| NamedFile::Other(if name.trim() == own { "c.py".to_owned() } else { name.to_owned() });
    let all = super::super::read_all(&tool, &program_output(1, &output), &texts, &second).unwrap();
    assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [0, 2]);
}

/// An empty list, which a plugin may print, is no answer beside one that cannot be read.
#[test]
fn an_invalid_document_next_to_a_valid_one_is_an_error() {
    let json = command(OutputForm::Json(plain_place()));
    let one = r#"[{ "file": "a.py", "line": 1, "message": "m" }]"#;
    for altered in [
        r#"[{"file": "a.py", "line": NaN, "message": "m"}]"#,
        r#"{"file": "a.py", "line": 1, "message": 'm'}"#,
        "[{\n  \"file\": \"a.py\", \"line\": 01, \"message\": \"m\" }]",
        "[{\"file\": \"a.py\", \"line\": 1, \"message\": \"m\"}] and more",
    ] {
        for output in [format!("[]\n{altered}\n"), format!("{altered}\n[]\n"), format!("{altered}\n{one}\n")]
        {
            assert!(reading(&json, &program_output(0, &output)).is_err(), "{output}");
        }
    }
    // The control: lines of a log that begin with a bracket hide nothing and are passed over.
    for note in ["[warn] x", "[1/3] building", "{x} y", "[]: none", "[notice] x"] {
        let output = format!("{note}\n{one}\n");
        assert_eq!(
            reading(&json, &program_output(0, &output)),
            Ok(vec!["1:1 error - m".to_owned()]),
            "{note}"
        );
        assert_eq!(reading(&json, &program_output(0, &format!("{note}\n[]\n"))), Ok(Vec::new()), "{note}");
    }
}

#[test]
fn an_error_behind_findings_is_why_the_run_failed() {
    let jsonl =
        command_with(OutputSpec { exit_codes: vec![0, 1, 2], ..output_of(OutputForm::Jsonl(plain_place())) });
    let note = r#"{ "file": "a.py", "line": 1, "severity": "note", "message": "m" }"#;
    for error in ["error: cannot go on", "tool: fatal: no memory", "FATAL x", "Critical: x"] {
        let output = format!("{note}\n{error}\n");
        assert!(reading(&jsonl, &program_output(2, &output)).is_err(), "{error}");
        assert_eq!(
            reading(&jsonl, &program_output(0, &output)),
            Ok(vec!["1:1 info - m".to_owned()]),
            "{error}"
        );
    }
    // The control: a line that names no error would not matter.
    let output = format!("{note}\nerrata: 1\n");
    assert_eq!(reading(&jsonl, &program_output(2, &output)), Ok(vec!["1:1 info - m".to_owned()]));
}

#[test]
fn a_note_that_reports_a_crash_is_no_note() {
    let tool = lines_tool();
    for (line, is_note) in [
        ("(node:4711) UnhandledPromiseRejectionWarning: TypeError: x", false),
        ("warning: deprecated option, internal error", false),
        ("(node:4711) Warning: x", true),
        ("warning: deprecated option", true),
    ] {
        assert_eq!(reading(&tool, &program_output(0, &format!("{line}\n"))).is_ok(), is_note, "{line}");
    }
}

#[test]
fn a_run_that_notes_an_error_has_no_answer() {
    let sarif = command(OutputForm::Sarif);
    let log = |level: &str, suppressions: &str| {
        format!(
            r#"{{"runs": [{{"results": [{{"message": {{"text": "m"}}, "suppressions": [{suppressions}]}}],
            "invocations": [{{"executionSuccessful": false, "toolExecutionNotifications":
            [{{"level": "{level}", "message": {{"text": "no memory"}}}}]}}]}}]}}"#
        )
    };
    let failed = || Err("reports that it failed: no memory".to_owned());
    for (level, suppressions, expected) in [
        ("error", "", failed()),
        ("note", "", Ok(vec!["1:1 warning - m".to_owned()])),
        ("note", r#"{"kind": "inSource"}"#, failed()),
    ] {
        assert_eq!(
            reading(&sarif, &program_output(0, &log(level, suppressions))),
            expected,
            "{level} {suppressions}"
        );
    }
}
