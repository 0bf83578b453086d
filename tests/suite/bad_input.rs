//! One server gets everything that no server should get: each is refused with its code, nothing is written, and the
//! server goes on.

mod fixture;
mod protected;

use serde_json::{Value, json};

use fixture::{Fixture, MEMORY};

/// A line edit of these lines.
fn range(start: Value, end: Value) -> Value {
    json!({"line_edits": [{"start_line": start, "end_line": end, "new_content": "x\n"}]})
}

#[test]
fn modes_that_exclude_each_other() {
    let mut fixture = Fixture::new();
    let conflict = [
        json!({"content": "x", "line_edits": []}),
        json!({"content": "x", "search": "one", "replace": "x"}),
        json!({"content": "", "insert_lines": [{"at_line": 1, "content": ""}]}),
        json!({"content": "x", "replace": "x"}),
        json!({"content": "x", "regex": true}),
        json!({"content": "x", "search_flags": 2}),
        json!({"content": "x", "search_count": 1}),
        json!({"content": "x", "lines": {"start": 1, "end": 1}}),
    ];
    conflict.into_iter().for_each(|fields| fixture.refuse_edit(fields, "MODE_CONFLICT"));
    for fields in [json!({}), json!({"content": null}), json!({"mode": "strict"}), json!({"regex": true})] {
        fixture.refuse_edit(fields, "MODE_MISSING");
    }
    fixture.good_edit("all of them");
}

#[test]
fn fields_that_no_edit_may_have() {
    let mut fixture = Fixture::new();
    let invalid = [
        json!({"search": "one"}),
        json!({"replace": "one"}),
        json!({"search": "", "replace": "x"}),
        json!({"search": "one", "replace": "x", "search_count": 0}),
        json!({"search": "one", "replace": "x", "search_count": -3}),
        json!({"search": "one", "replace": "x", "search_flags": 2}),
        json!({"line_edits": []}),
        json!({"insert_lines": []}),
        range(json!(2), json!(1)),
        json!({"content": "x", "mode": "force"}),
        json!({"content": "x", "contents": "y"}),
        json!({"content": "x", "": 1}),
        json!({"content": 5}),
        json!({"content": ["x"]}),
        json!({"content": {"text": "x"}}),
        json!({"content": true}),
        json!({"line_edits": "none"}),
        json!({"line_edits": {"start_line": 1}}),
        json!({"line_edits": [1]}),
        json!({"line_edits": [null]}),
        json!({"line_edits": [[]]}),
        range(json!("one"), json!(1)),
        range(json!(null), json!(1)),
        range(json!(1.5), json!(2)),
        range(json!([1]), json!(1)),
        json!({"line_edits": [{"start_line": 1, "end_line": 1, "new_content": null}]}),
        json!({"insert_lines": [{"at_line": 1}]}),
        json!({"insert_lines": [{"content": "x"}]}),
        json!({"search": 1, "replace": "x"}),
        json!({"search": "one", "replace": 1}),
        json!({"search": "one", "replace": "x", "regex": "perhaps"}),
        json!({"search": "one", "replace": "x", "lines": [1, 2]}),
        json!({"search": "one", "replace": "x", "lines": {"start": 2, "end": 1}}),
        json!({"content": "x", "show_diff": "perhaps"}),
        json!({"content": "x", "max_bytes": -1}),
        json!({"content": "x", "expected_version": 7}),
    ];
    invalid.into_iter().for_each(|fields| fixture.refuse_edit(fields, "INVALID_INPUT"));
    fixture.good_edit("all of them");
}

#[test]
fn lines_and_patterns_that_are_none() {
    let mut fixture = Fixture::new();
    for (start, end) in
        [(0, 1), (-1, 1), (1, 0), (1, 4), (4, 4), (1, i64::MAX), (i64::MAX, i64::MAX), (i64::MIN, 1)]
    {
        fixture.refuse_edit(range(json!(start), json!(end)), "RANGE_OUT_OF_BOUNDS");
    }
    for at in [0, -1, 5, i64::MAX, i64::MIN] {
        fixture
            .refuse_edit(json!({"insert_lines": [{"at_line": at, "content": "x"}]}), "RANGE_OUT_OF_BOUNDS");
    }
    for pattern in ["(", "[", "*", "(?P<x>", "(?<=a+)b", "\\", "(?z)a", "a{2,1}", "\\8"] {
        fixture.refuse_edit(json!({"search": pattern, "replace": "x", "regex": true}), "BAD_PATTERN");
    }
    for template in ["\\1", "\\g<x>", "\\g<", "\\q", "\\"] {
        fixture.refuse_edit(json!({"search": "one", "replace": template, "regex": true}), "BAD_PATTERN");
    }
    for flags in [json!(4096), json!(-1), json!("Q"), json!("I|Q"), json!(i64::MAX)] {
        fixture.refuse_edit(
            json!({"search": "one", "replace": "x", "regex": true, "search_flags": flags}),
            "BAD_PATTERN",
        );
    }
    fixture.good_edit("all of them");
}

#[test]
fn arguments_that_are_no_arguments() {
    let mut fixture = Fixture::new();
    for tool in [
        "safe_edit_file",
        "create_file",
        "edit_file",
        "edit_code",
        "read_content_lines",
        "get_content",
        "search_content",
    ] {
        for arguments in
            [json!({}), json!({"path": 5}), json!({"path": null, "content": "x"}), json!({"path": ["a.txt"]})]
        {
            fixture.refuse(tool, &arguments, &["INVALID_INPUT", "MODE_MISSING"]);
        }
    }
    for arguments in [json!([]), json!("a.txt"), json!(7)] {
        let line = json!({"jsonrpc": "2.0", "id": 9_000, "method": "tools/call",
            "params": {"name": "safe_edit_file", "arguments": arguments}});
        fixture.refuse_line(&format!("arguments {arguments}"), line.to_string().as_bytes(), Some(9_000));
    }
    let numbers = ["18446744073709551616", "-99999999999999999999", "1e308", "1e999", "0.1", "1e-400"];
    for (at, number) in numbers.iter().enumerate() {
        let id = 9_100 + at as u64;
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"safe_edit_file","arguments":{{"path":"a.txt","line_edits":[{{"start_line":{number},"end_line":{number},"new_content":"x"}}]}}}}}}"#
        );
        fixture.refuse_line(number, line.as_bytes(), Some(id));
    }
}

#[test]
fn paths_that_lead_to_no_file_of_the_root() {
    let mut fixture = Fixture::new();
    let outside = fixture.home.path().canonicalize().unwrap().join("theirs.txt");
    let root = fixture.root.display().to_string();
    for path in ["folder", "folder/", "pipe", "socket", ".", "a.txt/b", "a.txt/"] {
        fixture.refuse_path(path, &["NOT_A_FILE"]);
    }
    fixture.refuse_path(&root, &["NOT_A_FILE"]);
    for path in [
        "../theirs.txt",
        "folder/../../theirs.txt",
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/mem",
        "/etc/passwd",
        "/",
        "//etc/passwd",
        "/../etc/passwd",
        "zero",
        "link.txt",
        "up/theirs.txt",
        "up/new.txt",
        &outside.display().to_string(),
        &format!("{root}/../theirs.txt"),
        &format!("{root}x/a.txt"),
    ] {
        fixture.refuse_path(path, &["PATH_OUTSIDE_ROOT"]);
    }
    fixture.refuse_path("loop", &["NOT_A_FILE"]);
    let long = "x".repeat(10_000);
    let deep = "x/".repeat(5_000);
    for path in ["", "a\0b", "\0", "a.txt\0.py", &long, &deep, &format!("folder/{}", "x".repeat(256))] {
        fixture.refuse_path(path, &["INVALID_INPUT"]);
    }
    // A search would not find such a file; only a new one may not be called so.
    for path in ["new\nline", "tab\there", "\u{1b}[31mred", "txt\u{202e}yp.a", "\u{2066}x", "del\u{7f}"] {
        for tool in ["safe_edit_file", "create_file"] {
            fixture.refuse(tool, &json!({"path": path, "content": "x\n"}), &["INVALID_INPUT"]);
        }
    }
    fixture.good_edit("all paths");
    for arguments in [
        json!({"path": "huge.txt", "content": "x"}),
        json!({"path": "huge.txt", "search": "x", "replace": "y"}),
        json!({"path": "a.txt", "content": "x".repeat(11 << 20)}),
    ] {
        fixture.refuse("safe_edit_file", &arguments, &["TOO_LARGE"]);
    }
    fixture.refuse(
        "safe_edit_file",
        &json!({"path": "binary", "search": "E", "replace": "F"}),
        &["NOT_TEXT"],
    );
    fixture.refuse("read_content_lines", &json!({"path": "huge.txt"}), &["TOO_LARGE"]);
    fixture.refuse("read_content_lines", &json!({"path": "binary"}), &["NOT_TEXT"]);
    fixture.good_edit("large files");
}

#[test]
fn lines_that_are_no_messages() {
    let mut fixture = Fixture::new();
    let call = |id: u64, content: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"safe_edit_file","arguments":{{"path":"a.txt","content":"{content}"}}}}}}"#
        )
    };
    fixture.refuse_line("100 MB of JSON", call(8_001, &"a".repeat(100_000_000)).as_bytes(), Some(8_001));
    let peak = fixture.server.memory("VmHWM");
    assert!(peak < MEMORY, "100 MB of JSON took {} MiB", peak >> 20);
    fixture.refuse_line("no JSON", b"hello", None);
    fixture.refuse_line("an open brace", b"{", None);
    fixture.refuse_line("an empty line", b"", None);
    fixture.refuse_line("a NUL", b"\0", None);
    fixture.refuse_line("JSON that ends early", &call(8_002, "x").as_bytes()[..90], None);
    let mut latin = call(8_003, "caf_").into_bytes();
    let at = latin.iter().rposition(|byte| *byte == b'_').unwrap();
    latin[at] = 0xe9;
    fixture.refuse_line("invalid UTF-8", &latin, Some(8_003));
    fixture.refuse_line("half a surrogate pair", call(8_004, "\\ud800").as_bytes(), Some(8_004));
    fixture.refuse_line("an unknown escape", call(8_005, "\\q").as_bytes(), Some(8_005));
    for (id, open, close) in [(8_010, "[", "]"), (8_011, "{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"safe_edit_file","arguments":{{"path":"a.txt","line_edits":{deep}}}}}}}"#
        );
        fixture.refuse_line("deep nesting", line.as_bytes(), Some(id));
    }
    let text = json!({"path": "a.txt", "line_edits": "[".repeat(100_000)});
    fixture.refuse("safe_edit_file", &text, &["INVALID_INPUT"]);
    fixture.refuse_line("deep nesting without a message", "[".repeat(1_000_000).as_bytes(), None);
    let unknown = json!({"jsonrpc": "2.0", "id": 8_020, "method": "tools/call", "params": {"name": "rm", "arguments": {}}});
    fixture.refuse_line("an unknown tool", unknown.to_string().as_bytes(), Some(8_020));
    let unknown = json!({"jsonrpc": "2.0", "id": 8_021, "method": "no/such", "params": {}});
    fixture.refuse_line("an unknown method", unknown.to_string().as_bytes(), Some(8_021));
    let nameless = json!({"jsonrpc": "2.0", "id": 8_022, "method": "tools/call", "params": {}});
    fixture.refuse_line("a call of nothing", nameless.to_string().as_bytes(), Some(8_022));
}

/// A text whose parts stand a hundred thousand deep in each other.
fn nested(open: &str, close: &str) -> String {
    format!("{}1{}\n", open.repeat(100_000), close.repeat(100_000))
}

/// Python itself takes no more than 200 brackets within each other.
#[test]
fn python_that_nests_deeper_than_python_can() {
    let mut fixture = Fixture::new();
    for content in [nested("(", ")"), "(".repeat(100_000), nested("[", "]")] {
        fixture.refuse("safe_edit_file", &json!({"path": "a.py", "content": content}), &["GATE_REFUSED"]);
    }
    fixture.good_edit("deep Python");
}

#[test]
fn texts_that_are_too_deep_for_a_parser() {
    let mut fixture = Fixture::new();
    let texts = [
        ("a.py", nested("not ", "")),
        ("a.py", nested("-", "")),
        ("a.json", nested("[", "]")),
        ("a.json", nested("{\"a\":", "}")),
        ("a.yaml", nested("[", "]")),
        ("a.yaml", "- ".repeat(100_000)),
        ("a.toml", format!("a = {}", nested("[", "]"))),
        ("a.rs", format!("const A: u8 = {};", nested("(", ")").trim())),
        ("a.rs", format!("const A: u8 = {};", nested("-", "").trim())),
        ("a.js", nested("(", ")")),
        ("a.js", nested("{", "}")),
        ("a.ts", format!("type A = {};", nested("Array<", ">").trim())),
        ("a.go", format!("package a\nvar x = {}", nested("(", ")"))),
        ("a.c", format!("int x = {};", nested("(", ")").trim())),
        ("a.sh", nested("( ", " )")),
        ("a.html", nested("<b>", "</b>")),
        ("a.css", nested("a{", "}")),
        ("a.md", format!("# A\n\n{}", nested("> ", ""))),
        ("a.md", format!("# A\n\n{}", nested("[", "](x)"))),
    ];
    for (path, content) in texts {
        let arguments = json!({"path": path, "content": content, "mode": "verify_only", "show_diff": false});
        let answer = fixture.server.try_call("safe_edit_file", &arguments);
        let answer = answer.unwrap_or_else(|why| panic!("{path} {content:.20}: {why}"));
        let fine = answer.status() == "verified" || answer.code() == "GATE_REFUSED";
        assert!(fine, "{path} {content:.20}: {:.400}", answer.structured.to_string());
        fixture.untouched(path);
        fixture.good_edit(path);
    }
}
