//! Texts as formatters would have them.

use super::super::formatted;
use super::*;

const DRAFT: &str = "a = 1\nb  =  2\nc = 3\nd = 4\n";

fn formatter() -> CommandSpec {
    let errors = regex(r"^<stdin>:(?P<line>\d+):(?P<column>\d+): (?P<message>.+)$");
    command_with(OutputSpec {
        exit_codes: vec![0, 2],
        ..output_of(OutputForm::Formatted { errors: Some(errors) })
    })
}

fn hunks(draft: &str, output: &str) -> Result<Vec<String>, String> {
    reading_of(draft, &formatter(), &program_output(0, output))
}

fn text(draft: &str, output: &[u8]) -> Result<String, GateError> {
    formatted(&formatter(), &ProgramOutput { code: 0, stdout: output, stderr: b"" }, &buffer(draft))
}

#[test]
fn each_stretch_that_differs_is_a_finding() {
    for (draft, output, expected) in [
        (DRAFT, DRAFT, &[][..]),
        ("", "", &[]),
        ("\n\n", "", &["1:1 error format not formatted as tool would: 2 lines too many"]),
        (
            DRAFT,
            "a = 1\nb = 2\nc = 3\n\n\td = 4\n",
            &[
                "2:1 error format not formatted as tool would: 1 line differs, expected `b = 2`",
                "4:1 error format not formatted as tool would: 2 lines differ, expected ``",
            ],
        ),
        (
            DRAFT,
            "a = 1\nb  =  2\nc = 3\n\td = 4\n",
            &["4:1 error format not formatted as tool would: 1 line differs, expected `\\td = 4`"],
        ),
        ("a\n\n\nb\n", "a\nb\n", &["2:1 error format not formatted as tool would: 2 lines too many"]),
        (
            "a\nb\n",
            "a\nb\n\n# end\n",
            &["2:2 error format not formatted as tool would: 2 lines differ, expected ``"],
        ),
        (
            "a\nb",
            "a\nb\n",
            &["2:1 error format not formatted as tool would: the newline at the end of the text is missing"],
        ),
        (
            "a\nb\n",
            "a\nb",
            &[
                "2:1 error format not formatted as tool would: the newline at the end of the text is superfluous",
            ],
        ),
    ] {
        assert_eq!(hunks(draft, output).unwrap(), expected, "{draft:?} {output:?}");
    }
}

#[test]
fn line_ends_and_byte_order_marks_are_the_files_and_not_the_formatters() {
    for draft in ["a = 1\r\nb = 2\r\n", "\u{feff}a = 1\nb = 2\n"] {
        for output in ["a = 1\nb = 2\n", "a = 1\r\nb = 2\r\n", "\u{feff}a = 1\nb = 2\n"] {
            assert_eq!(hunks(draft, output).unwrap(), [""; 0], "{draft:?} {output:?}");
            assert_eq!(text(draft, output.as_bytes()), Ok("a = 1\nb = 2\n".to_owned()));
        }
    }
}

#[test]
fn a_carriage_return_of_the_view_itself_stays() {
    let draft = "a\r\r\nx = 1\r\n";
    assert_eq!(text(draft, b"a\r\nx = 1\n"), Ok("a\r\nx = 1\n".to_owned()));
    assert_eq!(hunks(draft, "a\r\nx = 1\n").unwrap(), [""; 0]);
}

#[test]
fn a_text_that_cannot_be_the_draft_is_none() {
    let long = "def name(argument):\n    return argument + other\n".repeat(20);
    for (draft, output, why) in [
        (DRAFT, &b""[..], "returned an empty text"),
        (DRAFT, b" \n\n", "returned an empty text"),
        (DRAFT, b"a = 1\xff\nb = 2\nc = 3\nd = 4\n", "returned a text that is not UTF-8"),
        (DRAFT, b"\0a = 1\nb = 2\nc = 3\nd = 4\n", "returned a text with NUL"),
        (
            long.as_str(),
            b"def name(argument):\n    return argument + other\n",
            "returned less than a quarter",
        ),
        (
            DRAFT,
            b"error: cannot find the configuration, giving up on this\n",
            "returned a text that lacks half",
        ),
        (DRAFT, b"a = 1\n# \n# cut here .....", "returned a text that lacks half"),
    ] {
        let Err(GateError::Broken(message)) = text(draft, output) else { panic!("{output:?}") };
        assert!(message.starts_with(why), "{message}");
        let run = ProgramOutput { code: 0, stdout: output, stderr: b"" };
        assert_eq!(reading_of(draft, &formatter(), &run), Err(message), "as a check too");
    }
}

#[test]
fn a_line_that_is_not_the_drafts_is_never_written() {
    for (draft, output, line) in [
        ("a: 1\nb: 2\n", "warning: old key\na: 1\nb: 2\n", "warning: old key"),
        ("a: 1\nb: 2\n", "a: 1\nb: 2\nDone!\n", "Done!"),
        ("a: 1\nb: 2\n", "a: 1\nnpm warn config b\nb: 2\n", "npm warn config b"),
        (
            "a: 1\nb: 2\n",
            "a: 1\nUsing another configuration file\nb: 2\n",
            "Using another configuration file",
        ),
        ("# A title\n\ntext\n", "Fixing /tmp/x/a.md\n# A title\n\ntext\n", "Fixing /tmp/x/a.md"),
    ] {
        let expected = format!("added a line that is not part of the text: `{line}`");
        assert_eq!(text(draft, output.as_bytes()), Err(GateError::Broken(expected.clone())));
        assert_eq!(hunks(draft, output), Err(expected));
        let believed = notes::switch::without_notes(|| text(draft, output.as_bytes()));
        assert_eq!(believed, Ok(output.to_owned()), "without the check it would be written");
    }
}

#[test]
fn a_text_that_is_printed_more_than_once_is_never_written() {
    let repeated = DRAFT.repeat(2);
    for (draft, made) in [
        (DRAFT, repeated.clone()),
        (DRAFT, DRAFT.repeat(3)),
        ("a = 1\n", "a = 1\na = 1\n".to_owned()),
        // Each copy is formatted, or only one of them.
        (DRAFT, "a = 1\nb = 2\nc = 3\nd = 4\n".repeat(2)),
        (DRAFT, format!("{DRAFT}\na = 1\nb = 2\nc = 3\nd = 4\n")),
        ("f('a', 'b')\ng = 0XFF\n", "f('a', 'b')\ng = 0XFF\nf(\"a\", \"b\")\ng = 0xFF\n".to_owned()),
        ("f('a', 'b')\ng = 0XFF\n", "f(\"a\", \"b\")\ng = 0xFF\nf('a', 'b')\ng = 0XFF\n".to_owned()),
        // A draft that repeats itself has more copies afterwards.
        (repeated.as_str(), DRAFT.repeat(4)),
        (repeated.as_str(), DRAFT.repeat(3)),
    ] {
        let wanted = "returned the text of the draft more than once".to_owned();
        assert_eq!(text(draft, made.as_bytes()), Err(GateError::Broken(wanted.clone())), "{made:?}");
        assert_eq!(hunks(draft, &made), Err(wanted), "{made:?}");
    }
    for (draft, made) in [
        (repeated.as_str(), "a = 1\nb = 2\nc = 3\nd = 4\n".repeat(2)),
        ("a;a", "a\na\n".to_owned()),
        ("x = [1,1,1,1]\n", "x = [\n    1,\n    1,\n    1,\n    1,\n]\n".to_owned()),
        ("import os\nf(1)\nf(1)\n", "f(1)\nf(1)\n".to_owned()),
        ("namespace a::b::c {}\n", "namespace a::b::c {\n} // namespace a::b::c\n".to_owned()),
        ("a\n***\n", "a\n\n____________\n".to_owned()),
        ("***\n", "____________\n".to_owned()),
        ("|a|b|\n|-|-|\n", "| a    | b    |\n| ---- | ---- |\n".to_owned()),
    ] {
        assert_eq!(text(draft, made.as_bytes()), Ok(made.clone()), "{draft:?}");
    }
}

#[test]
fn what_formatters_do_is_let_through() {
    for (draft, output) in [
        ("import os, sys\nX = 0XFF\nprint( os.sep )\n", "import os\n\nX = 0xff\nprint(os.sep)\n"),
        ("select a from t", "SELECT\n  a\nFROM\n  t\n"),
        ("{ \"a\" :\t\t\t\t\t\t\t\t\t\t\t\t\t\t 1 }", "{\"a\":1}\n"),
        ("fmt.Println()\nos.Exit(1)\n", "import (\n\t\"fmt\"\n\t\"os\"\n)\n\nfmt.Println()\nos.Exit(1)\n"),
        ("x = 1\ny = 2\n", "from __future__ import annotations\n\nx = 1\ny = 2\n"),
        ("var x = 1;\n", "const x = 1;\n"),
        ("one\nold\n", "one\nnew\n"),
        ("old\n\none\n", "new\n\none\n"),
        ("namespace a {}\n", "namespace a {\n} // namespace a\n"),
        ("warning: a long line of text\n", "warning: a\nlong line of text\n"),
        ("<p>a</p>\n", "<?xml version=\"1.0\"?>\n<p>a</p>\n"),
        ("\u{0}a", "\u{0}a\n"),
        ("()", "( )\n"),
        ("", "# header\n"),
    ] {
        assert_eq!(text(draft, output.as_bytes()), Ok(output.to_owned()), "{draft:?}");
    }
}

#[test]
fn a_draft_that_cannot_be_read_has_findings_and_no_text() {
    let stderr = b"warming up\r\n<stdin>:2:4: expected ')'\r\n<stdin>:1:1: found 'x'\n";
    let run = ProgramOutput { code: 2, stdout: b"", stderr };
    let findings = reading_of(DRAFT, &formatter(), &run).unwrap();
    assert_eq!(findings, ["1:1 error - found 'x'", "2:4 error - expected ')'"]);
    let none = formatted(&formatter(), &run, &buffer(DRAFT));
    assert_eq!(none, Err(GateError::Unread("could not read the draft: expected ')'".to_owned())));
}

/// rustfmt names the fault on one line and the place on the next; black says the place only.
#[test]
fn a_reason_may_take_several_lines_or_be_the_whole_line() {
    let with = |errors: &str| {
        command_with(OutputSpec {
            exit_codes: vec![0, 1],
            ..output_of(OutputForm::Formatted { errors: Some(regex(errors)) })
        })
    };
    let stderr = b"error: expected `}`\n --> <stdin>:2:3\n  |\nerror: cannot parse: a.py:3:1\n";
    let run = ProgramOutput { code: 1, stdout: b"", stderr };
    let rustfmt = with(r"^error: (?P<message>expected.*)\n --> <stdin>:(?P<line>\d+):(?P<column>\d+)$");
    assert_eq!(reading_of(DRAFT, &rustfmt, &run).unwrap(), ["2:3 error - expected `}`"]);
    let black = with(r"^error: cannot parse: .*:(?P<line>\d+):\d+$");
    assert_eq!(reading_of(DRAFT, &black, &run).unwrap(), ["3:1 error - error: cannot parse: a.py:3:1"]);
    let nothing = with("z*");
    assert!(
        reading_of(DRAFT, &nothing, &run).unwrap_err().starts_with("ended with exit code 1: error: expected")
    );
}

#[test]
fn a_formatter_that_fails_gives_neither() {
    let whole = DRAFT.as_bytes();
    let without_errors = command(OutputForm::Formatted { errors: None });
    for (tool, code, stderr, why) in [
        (&formatter(), 2, &b"no such option\n"[..], "ended with exit code 2: no such option"),
        (
            &formatter(),
            1,
            b"<stdin>:2:4: expected ')'\n",
            "ended with exit code 1: <stdin>:2:4: expected ')'",
        ),
        (&without_errors, 1, b"would reformat\n", "ended with exit code 1: would reformat"),
    ] {
        let run = ProgramOutput { code, stdout: whole, stderr };
        assert_eq!(reading_of(DRAFT, tool, &run), Err(why.to_owned()));
        assert_eq!(formatted(tool, &run, &buffer(DRAFT)), Err(GateError::Broken(why.to_owned())));
    }
    let other = command(OutputForm::Exit("no".to_owned()));
    assert!(matches!(
        formatted(&other, &program_output(0, DRAFT), &buffer(DRAFT)),
        Err(GateError::Broken(_))
    ));
}
