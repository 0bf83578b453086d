//! JSON, lines, and exit codes.

use super::*;

#[test]
fn json_lists_are_found_and_their_parts_read() {
    let pyright = place(
        "generalDiagnostics",
        ["file", "range.start.line+1", "range.start.character+1", "rule", "severity", "message"],
    );
    let pyright = command(OutputForm::Json(pyright));
    let one = r#"{"generalDiagnostics": [{"file": "a.py", "severity": "error", "message": "no\n  good",
        "range": {"start": {"line": 2, "character": 1}}, "rule": "reportX"}], "summary": {}}"#;
    check(&pyright, 1, one, Ok(&["3:2 error reportX no good"]));
    check(&pyright, 0, r#"{"generalDiagnostics": []}"#, Ok(&[]));
    check(&pyright, 0, r#"{"generalDiagnostics": null}"#, Ok(&[]));
    check(&pyright, 0, "{}", Err("wrote no list of findings at `generalDiagnostics`"));
    check(&pyright, 0, "[5]", Err("wrote something other than an object at `generalDiagnostics`"));
    check(&pyright, 0, "", Err("wrote nothing instead of JSON"));
    check(
        &pyright,
        0,
        r#"{"generalDiagnostics": [5]}"#,
        Err("wrote a list of findings with an item that is not an object"),
    );
    check(
        &pyright,
        0,
        r#"{"generalDiagnostics": [null]}"#,
        Err("wrote a list of findings with an item that is not an object"),
    );
    check(&pyright, 0, r#"{"generalDiagnostics": [{}]}"#, Err("wrote a finding without `message`"));
    check(&pyright, 1, r#"{"generalDiagnostics": []}"#, Err("found nothing, yet ended with exit code 1"));
}

#[test]
fn a_list_within_a_list_is_gone_through_and_the_item_above_is_reached() {
    let eslint = place("messages", ["^filePath", "line", "column", "ruleId", "severity", "message"]);
    let eslint = command(OutputForm::Json(eslint));
    let two = r#"[{"filePath": "a.py", "messages": [
            {"ruleId": "b", "severity": 1, "line": 2, "column": 5, "message": "later"},
            {"ruleId": "a", "severity": 2, "line": 1, "column": 1, "message": "first"}]},
        {"filePath": "b.py", "messages": [{"ruleId": null, "severity": 2, "message": "whole"}]}]"#;
    check(&eslint, 1, two, Ok(&["1:1 error a first", "2:5 warning b later", "b.py:1:1 error - whole"]));
    check(&eslint, 0, r#"[{"filePath": "a.py", "messages": []}]"#, Ok(&[]));
    check(&eslint, 0, "[]", Ok(&[]));
    check(&eslint, 0, r#"[{"filePath": "a.py"}]"#, Err("wrote no list of findings at `messages`"));
    let deep = command(OutputForm::Json(place("a.b", ["^f", "l", "c", "k", "s", "m"])));
    let text = r#"{"a": [{"f": "x.py", "b": [{"m": "1"}]}, {"f": "a.py", "b": {"m": "2"}}]}"#;
    check(&deep, 0, text, Ok(&["1:1 error - 2", "x.py:1:1 error - 1"]));
}

#[test]
fn missing_and_invalid_parts_have_different_errors() {
    let plain = command(OutputForm::Json(plain_place()));
    for (item, expected) in [
        (r#"{"message": "m"}"#, Ok("1:1 error - m")),
        (
            r#"{"message": "m", "line": null, "column": null, "code": null, "severity": null}"#,
            Ok("1:1 error - m"),
        ),
        (r#"{"message": "m", "line": 0, "column": -1}"#, Ok("1:1 error - m")),
        (r#"{"message": "m", "line": 99, "column": 7}"#, Ok("4:5 error - m")),
        (r#"{"message": "m", "line": 5, "column": 0}"#, Ok("4:5 error - m")),
        (r#"{"message": "m", "line": 4, "column": 99}"#, Ok("4:5 error - m")),
        (r#"{"message": "m", "line": "2", "code": 7, "severity": "NOTE"}"#, Ok("2:1 info 7 m")),
        (r#"{"message": "m", "line": 1e18, "column": 18446744073709551615}"#, Ok("4:5 error - m")),
        (r#"{"message": "m", "code": {}, "severity": []}"#, Ok("1:1 error - m")),
        (r#"{"message": ["m", "n"], "code": ["MD1", "name"]}"#, Ok("1:1 error MD1 m")),
        (r#"{"message": "", "code": "E1"}"#, Ok("1:1 error E1 E1")),
        (r#"{"message": "", "code": ""}"#, Ok("1:1 error - no message")),
        (r#"{"message": "\u001b[31mred\u001b[0m\u202e\u0000", "code": "\u001b[1mE"}"#, Ok("1:1 error E red")),
        (r#"{"message": "m", "file": "b.py", "line": 0, "column": 98}"#, Ok("b.py:1:99 error - m")),
        (r#"{"message": "m", "line": 1.5}"#, Err("wrote a `line` that is not a whole number: `1.5`")),
        (r#"{"message": "m", "line": "x"}"#, Err("wrote a `line` that is not a whole number")),
        (r#"{"message": "m", "line": {}}"#, Err("wrote a `line` that is not a whole number")),
        (r#"{"message": "m", "column": true}"#, Err("wrote a `column` that is not a whole number")),
        (r#"{"message": "m", "file": 5}"#, Err("wrote a `file` that is not a string")),
        (r#"{"message": 5}"#, Err("wrote a `message` that is not a string")),
        (r#"{"line": 5}"#, Err("wrote a finding without `message`")),
    ] {
        let text = format!("[{item}]");
        match expected {
            Ok(expected) => check(&plain, 0, &text, Ok(&[expected])),
            Err(why) => check(&plain, 0, &text, Err(why)),
        }
    }
    check(&plain, 0, r#"{"message": "alone", "line": 2}"#, Ok(&["2:1 error - alone"]));
    check(&plain, 0, "\u{feff}[]", Ok(&[]));
    check(&plain, 0, "5", Err("wrote a list of findings with an item that is not an object"));
}

#[test]
fn jsonl_has_one_value_on_each_line() {
    let mypy = command(OutputForm::Jsonl(plain_place()));
    let two = "{\"file\": \"a.py\", \"line\": 2, \"column\": 4, \"message\": \"m\", \"code\": \"c\", \"severity\": \
               \"note\"}\r\n\n{\"file\": \"b.py\", \"line\": 1, \"column\": 0, \"message\": \"n\"}\n";
    check(&mypy, 1, two, Ok(&["2:5 info c m", "b.py:1:1 error - n"]));
    check(&mypy, 0, "", Ok(&[]));
    check(&mypy, 0, "\n \n", Ok(&[]));
    check(&mypy, 1, "\n", Err("found nothing, yet ended with exit code 1"));
    check(&mypy, 0, "Success: no issues\n", Ok(&[]));
    let no_json = "wrote invalid JSON (expected value at line 1 column 1): `Success";
    check(&mypy, 1, "Success: no issues\n", Err(no_json));
    check(&mypy, 1, "before\n{\"message\": \"m\"}\n[after] it\n", Ok(&["1:1 error - m"]));
    for crash in ["Traceback (most recent call last):", "panic: x", "{\"message\": \"cut", "[{\"message\": 1"]
    {
        check(&mypy, 1, &format!("{{\"message\": \"m\"}}\n{crash}\n"), Err("wrote invalid JSON"));
        check(&mypy, 0, &format!("{crash}\n"), Err("wrote invalid JSON"));
    }
}

/// A document is found among other lines; one that is cut off is not, and neither are its parts.
#[test]
fn a_json_document_is_found_among_other_lines() {
    let tool =
        command(OutputForm::Json(place("items", ["file", "line", "column", "code", "severity", "message"])));
    let one = "{\n  \"items\": [\n    {\"message\": \"m\",\n     \"line\": 2}\n  ]\n}\n";
    let none = "{\"items\": []}\n";
    for (code, text, expected) in [
        (1, format!("note: old key\n[main] INFO x\n{one}[2] Done\n1 issue.\n"), Ok(&["2:1 error - m"][..])),
        (0, format!("note: old key\n{none}0 issues.\n"), Ok(&[])),
        (1, format!("{{\"level\": \"warn\", \"text\": \"x\"}}\n{one}"), Ok(&["2:1 error - m"])),
        (1, format!("{none}{one}"), Ok(&["2:1 error - m"])),
        (1, format!("note: old key\n{none}"), Err("found nothing, yet ended with exit code 1")),
        (0, "note: old key\n{\"level\": \"warn\"}\n".to_owned(), Err("wrote no list of findings at `items`")),
        (0, "note: old key\n".to_owned(), Err("wrote invalid JSON")),
        (0, format!("Traceback (most recent call last):\n  x\n{none}"), Err("wrote invalid JSON")),
        (0, format!("{none}{{\"items\": [{{\"message\":\n"), Err("wrote invalid JSON")),
        (1, format!("note: x\n{}", one.trim_end().trim_end_matches('}')), Err("wrote invalid JSON")),
        (0, format!("note: x\n{} and more\n", none.trim_end()), Err("wrote invalid JSON")),
    ] {
        check(&tool, code, &text, expected);
    }
    let strict = || reading(&tool, &program_output(1, &format!("note: old key\n{one}")));
    assert!(strict().is_ok() && notes::switch::without_notes(strict).is_err());
}

/// The first finding of a list that is cut off would be a document of its own.
#[test]
fn a_part_of_a_document_is_none() {
    let pylint = command(OutputForm::Json(plain_place()));
    let list = "[\n  {\"message\": \"m\", \"line\": 2},\n{\"message\": \"n\"}\n]\n";
    check(&pylint, 1, &format!("note\n{list}"), Ok(&["1:1 error - n", "2:1 error - m"]));
    check(&pylint, 1, &format!("note\n{}", list.trim_end().trim_end_matches(']')), Err("wrote invalid JSON"));
}

#[test]
fn an_output_of_nothing_but_beginnings_is_given_up_in_time() {
    let tool = command(OutputForm::Json(plain_place()));
    for line in ["{\n", "[x\n", "{}x\n", "[[[[\n", "{\"a\":\n"] {
        check(&tool, 0, &format!("x\n{}", line.repeat(100_000)), Err("wrote "));
    }
}

#[test]
fn rdjson_counts_bytes_and_has_a_severity_for_all() {
    let tool = command(OutputForm::Rdjson);
    let text = r#"{"source": {"name": "t"}, "severity": "WARNING", "diagnostics": [
        {"message": "m", "location": {"path": "a.py", "range": {"start": {"line": 3, "column": 6}}},
         "severity": "ERROR", "code": {"value": "E1", "url": "u"}},
        {"message": "n", "location": {"path": "a.py", "range": {"start": {"line": 4}}}, "severity": 3},
        {"message": "o", "location": {"path": "b.py"}, "severity": "UNKNOWN_SEVERITY"},
        {"message": "p", "severity": 0}]}"#;
    let expected = ["1:1 warning - p", "3:3 error E1 m", "4:1 info - n", "b.py:1:1 warning - o"];
    check(&tool, 1, text, Ok(&expected));
    check(&tool, 0, r#"{"diagnostics": []}"#, Ok(&[]));
    check(&tool, 0, r#"{"source": {}}"#, Err("wrote no list of findings at `diagnostics`"));
    check(&tool, 0, "[]", Err("wrote no list of findings at `diagnostics`"));
    check(&tool, 0, r#"{"diagnostics": [{}]}"#, Err("wrote a finding without `message`"));
    check(
        &tool,
        0,
        r#"{"diagnostics": [{"message": "m", "location": 5}]}"#,
        Err("wrote something other than"),
    );
}

#[test]
fn each_line_is_a_finding_or_known_to_say_nothing() {
    let pattern =
        r"^(?P<file>[^:]+):(?P<line>-?\w*):(?:(?P<column>\w+):)? (?:(?P<severity>\w+): )?(?P<message>.*)$";
    let vet = command(lines_of(pattern, Some("^# ")));
    let text = "# a/package\na.py:2:3: error: m\r\n\n  \nb.py:7: warning: n\na.py:1: o\n";
    check(&vet, 1, text, Ok(&["1:1 error - o", "2:3 error - m", "b.py:7:1 warning - n"]));
    check(&vet, 0, "", Ok(&[]));
    check(&vet, 0, "# a/package\n", Ok(&[]));
    check(&vet, 1, "# a/package\n", Err("found nothing, yet ended with exit code 1: # a/package"));
    check(&vet, 0, "panic!\n", Err("wrote a line that is not a finding: `panic!`"));
    check(&vet, 1, "a.py:1: m\npanic\u{1b}[0m\n", Err("wrote a line that is not a finding: `panic`"));
    check(&vet, 0, "a.py:x: m\n", Err("wrote a `line` that is not a whole number: `x`"));
    check(&vet, 0, "a.py:1:z: m\n", Err("wrote a `column` that is not a whole number: `z`"));
    check(&vet, 0, "a.py:: m\n", Ok(&["1:1 error - m"]));
    check(&vet, 0, "a.py:-1: m\n", Ok(&["1:1 error - m"]));
    check(&vet, 0, "a.py:99999999999999999999999: m\n", Ok(&["4:5 error - m"]));
}

#[test]
fn a_line_without_a_position_is_about_the_whole_text() {
    let go = command(lines_of(
        r"^(?:(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<message>.+)|package .+)$",
        None,
    ));
    let text = "package a: import cycle not allowed\na.py:2:1: m\n";
    check(&go, 1, text, Ok(&["1:1 error - package a: import cycle not allowed", "2:1 error - m"]));
}

#[test]
fn a_program_that_says_that_it_did_not_look_is_skipped() {
    let ignored = Regex::new(r#""filesAnalyzed": 0|(?m)^File ignored.*"#).ok();
    let tool =
        command_with(OutputSpec { ignored_input: ignored, ..output_of(OutputForm::Json(plain_place())) });
    for (code, stdout, stderr, expected) in [
        (0, "{\"filesAnalyzed\": 0}", "", Some("\"filesAnalyzed\": 0")),
        (32, "", "warning\nFile \u{1b}[1mignored\n", None),
        (32, "", "warning\nFile ignored \u{1b}[1mby default.\nmore", Some("File ignored by default.")),
        (0, "[]", "File not ignored", None),
    ] {
        let run = ProgramOutput { code, stdout: stdout.as_bytes(), stderr: stderr.as_bytes() };
        let skipped = expected.map(|expected| GateError::LeftOut(format!("ignored the file: {expected}")));
        match read(&tool, &run, &buffer(TEXT), &named_file) {
            Err(GateError::LeftOut(why)) => {
                assert_eq!(Some(GateError::LeftOut(why)), skipped, "{stdout}{stderr}")
            }
            other => assert_eq!(None, skipped, "{other:?}"),
        }
    }
}

/// What cargo 1.95, Go 1.19 and 1.27 and staticcheck 2023.1 print where a dependency is not on the machine.
#[test]
fn a_failure_for_lack_of_dependencies_names_the_command_that_fetches_them() {
    let no_package = "error: no matching package named `itoa` found\nlocation searched: the index\n";
    let no_sum = "a.go:3:8: missing go.sum entry for module providing package x (imported by y); to add:\n\tgo get y\n";
    let no_proxy = "go: downloading x v1.3.0\na.go:3:8: module lookup disabled by GOPROXY=off\n";
    let no_host =
        "a.go:3:8: x@v1.3.0: Get \"https://proxy.example\": dial tcp: lookup proxy.example: no such host\n";
    let no_cache = "a.go:3:8: open /root/go/pkg/mod/cache/download/example.com/x/@v/v1.0.0.lock: read-only file system\n";
    let no_access = "a.go:3:8: mkdir /root/go/pkg/mod/cache/download/x: permission denied\n";
    let compile = |message: &str| {
        let place = r#"{"file":"a.go","line":3,"column":8}"#;
        format!(
            "{{\"code\":\"compile\",\"severity\":\"error\",\"location\":{place},\"message\":\"{message}\"}}\n"
        )
    };
    let json_no_sum =
        compile(r"missing go.sum entry for module providing package x (imported by y); to add:\n\tgo get y");
    let json_no_host = compile(
        r#"x@v0.9.1: Get \"https://proxy.example/x.zip\": dial tcp: lookup proxy.example: no such host"#,
    );
    let json_no_cache = compile("go: could not create module cache: mkdir /root/go: read-only file system");
    let json_quoted = compile(r#"undefined: \"message\":\"missing go.sum entry for x"#);
    let no_lock_file = "error: cannot create the lock file /x/Cargo.lock because --locked was passed\n";
    for (gate, code, errors, fetch) in [
        ("go-vet", 1, no_cache, Some("go mod download")),
        ("go-build", 1, no_access, Some("go mod download")),
        (
            "go-build",
            1,
            "could not create module cache: mkdir /root/go: read-only file system\n",
            Some("go mod download"),
        ),
        ("staticcheck", 1, &json_no_sum, Some("go mod tidy")),
        ("staticcheck", 1, &json_no_host, Some("go mod download")),
        ("staticcheck", 1, &compile("module lookup disabled by GOPROXY=off"), Some("go mod download")),
        ("staticcheck", 1, &json_no_cache, Some("go mod download")),
        ("staticcheck", 1, &json_quoted, None),
        ("cargo-check", 101, no_lock_file, Some("cargo fetch")),
        ("go-build", 1, "a.go:3:8: cannot use x (open /cache/download: permission denied)\n", None),
        ("cargo-check", 101, no_package, Some("cargo fetch")),
        ("clippy", 101, no_package, Some("cargo fetch")),
        ("go-vet", 1, no_sum, Some("go mod tidy")),
        ("go-build", 1, no_proxy, Some("go mod download")),
        ("go-build", 1, no_host, Some("go mod download")),
        // The controls: what the text itself lacks is a finding, and a program that succeeded lacks nothing.
        ("go-build", 1, "a.go:3:8: no required module provides package x; to add it:\n\tgo get x\n", None),
        ("cargo-check", 101, "a.py:1:1: error[E0433]: failed to resolve: use of undeclared crate\n", None),
        ("go-build", 0, no_sum, None),
    ] {
        let gate = lockgate_policy::Catalogue::embedded().find(gate).unwrap();
        let run = ProgramOutput { code, stdout: b"", stderr: errors.as_bytes() };
        let read = read(gate.command().unwrap(), &run, &buffer(TEXT), &named_file);
        match (fetch, &read) {
            (Some(fetch), Err(GateError::Unready(why))) => {
                assert!(why.ends_with(&format!("): run `{fetch}`, then retry")), "{why}");
            }
            (None, other) => assert!(!matches!(other, Err(GateError::Unready(_))), "{errors}: {other:?}"),
            (Some(_), other) => panic!("{errors}: {other:?}"),
        }
    }
}

#[test]
fn columns_are_those_of_characters() {
    let pattern = r"^(?P<line>\d+):(?P<column>\d+) (?P<message>.+)$";
    for (columns, column, expected) in [
        (Columns::Characters, 6, "3:6 error - m"),
        (Columns::Utf16, 7, "3:6 error - m"),
        (Columns::Bytes, 9, "3:6 error - m"),
    ] {
        let tool = command_with(OutputSpec { columns, ..output_of(lines_of(pattern, None)) });
        check(&tool, 0, &format!("3:{column} m"), Ok(&[expected]));
    }
}

#[test]
fn an_exit_code_alone_may_be_a_finding() {
    let tool = command_with(OutputSpec {
        exit_codes: vec![0, 3],
        ..output_of(OutputForm::Exit("is not tidy".to_owned()))
    });
    check(&tool, 0, "anything", Ok(&[]));
    check(&tool, 3, "", Ok(&["1:1 error - is not tidy"]));
    check(&tool, 1, "usage: tool", Err("ended with exit code 1: usage: tool"));
}

#[test]
fn an_unexpected_exit_code_is_an_error_with_a_message() {
    let tool = command(OutputForm::Jsonl(plain_place()));
    let item = b"{\"message\": \"m\"}";
    let traceback = "Traceback (most recent call last):\n  File \"x\"\nImportError: no yaml\n\n";
    for (stderr, expected) in [
        ("\n\u{1b}[1mconfig: no such file\u{1b}[0m\nmore\n", "ended with exit code 2: config: no such file"),
        (traceback, "ended with exit code 2: ImportError: no yaml"),
        (
            "ruff failed\n  Cause: Failed to parse pyproject.toml\n  Cause: TOML parse error at line 96, column 1\n   |\n\
             96 | [tool.ruff]\n   | ^^^\nunknown field `show-source`\n",
            "ended with exit code 2: ruff failed: Failed to parse pyproject.toml: TOML parse error at line 96, column 1",
        ),
        (
            "error: failed to load manifest\n\nCaused by:\n  failed to parse manifest\n\nCaused by:\n  no targets\n",
            "ended with exit code 2: error: failed to load manifest: failed to parse manifest: no targets",
        ),
        (
            "Usage: tool [OPTIONS]\nTry --help\n\nError: Invalid value for '--mode'\n",
            "ended with exit code 2: Error: Invalid value for '--mode'",
        ),
        ("error: no\nCaused by:\n", "ended with exit code 2: error: no"),
        (
            "Traceback (most recent call last):\n",
            "ended with exit code 2: Traceback (most recent call last):",
        ),
        ("", "ended with exit code 2: {\"message\": \"m\"}"),
    ] {
        let run = ProgramOutput { code: 2, stdout: item, stderr: stderr.as_bytes() };
        assert_eq!(reading(&tool, &run), Err(expected.to_owned()));
    }
    assert_eq!(
        reading(&tool, &ProgramOutput { code: -9, stdout: b"\xff", stderr: b"\0" }).unwrap_err(),
        "ended with exit code -9: \u{fffd}"
    );
    let never =
        command_with(OutputSpec { exit_codes: vec![1], ..output_of(OutputForm::Jsonl(plain_place())) });
    check(&never, 0, "", Err("ended with exit code 0"));
}

#[test]
fn the_message_of_a_failed_program_is_shown() {
    let tool = command(OutputForm::Json(plain_place()));
    let why = "wrote nothing instead of JSON";
    let message = |stdout: &'static str, stderr: &'static str| {
        let run = ProgramOutput { code: 1, stdout: stdout.as_bytes(), stderr: stderr.as_bytes() };
        reading(&tool, &run).unwrap_err()
    };
    assert_eq!(message("", "\nno configuration\nmore"), format!("{why}; it said: no configuration"));
    assert_eq!(message("", ""), why);
    assert_eq!(message("Oops", "Oops\n"), "wrote invalid JSON (expected value at line 1 column 1): `Oops`");
}

#[test]
fn findings_are_read_from_the_stream_that_is_named() {
    let from = |from| {
        let mut tool = command(lines_of(r"^(?P<line>\d) (?P<message>.*)$", None));
        tool.output.from = from;
        tool
    };
    let run = ProgramOutput { code: 1, stdout: b"1 out", stderr: b"2 err \xff" };
    assert_eq!(reading(&from(Stream::Stdout), &run).unwrap(), ["1:1 error - out"]);
    assert_eq!(reading(&from(Stream::Stderr), &run).unwrap(), ["2:1 error - err \u{fffd}"]);
    assert_eq!(reading(&from(Stream::Both), &run).unwrap(), ["1:1 error - out", "2:1 error - err \u{fffd}"]);
}
