//! SARIF, as its tools write it.

use serde_json::{Value, json};

use super::*;

/// A log with one run of these results, by a tool with some rules.
fn log(results: &Value) -> Value {
    json!({
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tool",
                "rules": [
                    { "id": "E1", "defaultConfiguration": { "level": "error" },
                      "messageStrings": { "default": { "text": "`{0}` is bad" } } },
                    { "id": "N1", "shortDescription": { "text": "a remark" }, "defaultConfiguration": { "level": "note" } }
                ],
                "globalMessageStrings": { "all": { "text": "for all" } }
            }},
            "columnKind": "utf16CodeUnits",
            "results": results,
        }]
    })
}

fn at(line: u32, column: u32) -> Value {
    let region = json!({ "startLine": line, "startColumn": column });
    json!([{ "physicalLocation": { "artifactLocation": { "uri": "a.py", "uriBaseId": "SRCROOT" }, "region": region } }])
}

#[track_caller]
fn reads(log: &Value, expected: Result<&[&str], &str>) {
    check(&command(OutputForm::Sarif), 0, &log.to_string(), expected);
}

#[test]
fn results_are_findings() {
    let results = json!([
        { "ruleId": "E1", "message": { "text": "no" }, "locations": at(3, 4) },
        { "ruleId": "E1", "level": "note", "message": { "id": "default", "arguments": ["x"] }, "locations": at(1, 1) },
        { "ruleIndex": 1, "message": {}, "locations": at(2, 1) },
        { "rule": { "id": "E1/sub" }, "message": { "id": "all" }, "locations": at(2, 2) },
        { "message": { "text": "unknown rule" }, "locations": at(2, 3) },
        { "ruleId": "X", "level": "none", "message": { "markdown": "**m**" }, "locations": at(2, 4) },
        { "ruleId": "E1", "kind": "review", "message": { "text": "look" }, "locations": at(2, 5) },
        { "ruleId": "X", "level": "warning", "message": { "text": "nowhere" } },
        { "ruleId": "X", "message": { "text": "there" },
          "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "file:///x/b%20c.py" } } }] }
    ]);
    reads(
        &log(&results),
        Ok(&[
            "1:1 info E1 `x` is bad",
            "1:1 warning X nowhere",
            "2:1 info N1 a remark",
            "2:2 error E1/sub for all",
            "2:3 warning - unknown rule",
            "2:4 info X **m**",
            "2:5 info E1 look",
            "3:3 error E1 no",
            "/x/b c.py:1:1 warning X there",
        ]),
    );
}

#[test]
fn what_is_no_finding_is_passed_over() {
    let result = |key: &str, value: Value| {
        let mut result = json!({ "message": { "text": "m" } });
        result[key] = value;
        result
    };
    for (key, value, counts) in [
        ("kind", json!("pass"), false),
        ("kind", json!("notApplicable"), false),
        ("kind", json!("fail"), true),
        ("baselineState", json!("absent"), false),
        ("baselineState", json!("unchanged"), true),
        ("suppressions", json!([{ "kind": "inSource" }]), false),
        ("suppressions", json!([{ "kind": "inSource", "status": "accepted" }]), false),
        ("suppressions", json!([{ "kind": "external", "status": "rejected" }]), true),
        ("suppressions", json!([]), true),
    ] {
        let expected: &[&str] = if counts { &["1:1 warning - m"] } else { &[] };
        reads(&log(&json!([result(key, value)])), Ok(expected));
    }
}

#[test]
fn a_log_that_saw_nothing_is_none() {
    reads(&log(&json!([])), Ok(&[]));
    reads(&log(&json!(null)), Err("wrote a run without `results`"));
    reads(&json!({ "runs": [{}] }), Err("wrote a run without `results`"));
    reads(&json!({ "runs": [] }), Err("wrote a log without `runs`"));
    reads(&json!({ "version": "2.1.0" }), Err("wrote a log without `runs`"));
    reads(&json!([]), Err("wrote a log without `runs`"));
    reads(&log(&json!([{}])), Err("wrote a result with neither a text nor a rule"));
    reads(&log(&json!([5])), Err("wrote a result with neither a text nor a rule"));
    let mut failed = log(&json!([]));
    failed["runs"][0]["invocations"] = json!([{
        "executionSuccessful": false,
        "toolExecutionNotifications": [{ "message": { "text": "no memory" } }]
    }]);
    reads(&failed, Err("reports that it failed: no memory"));
    failed["runs"][0]["results"] = json!([{ "message": { "text": "m" } }]);
    reads(&failed, Ok(&["1:1 warning - m"]));
    failed["runs"][0]["invocations"] = json!([{ "executionSuccessful": true }]);
    failed["runs"][0]["results"] = json!([]);
    reads(&failed, Ok(&[]));
}

#[test]
fn columns_are_counted_as_the_run_says_else_as_the_definition() {
    let mut log = log(&json!([{ "message": { "text": "m" }, "locations": at(3, 4) }]));
    for (kind, expected) in [
        (json!("utf16CodeUnits"), "3:3 warning - m"),
        (json!("unicodeCodePoints"), "3:4 warning - m"),
        (json!(null), "3:2 warning - m"),
    ] {
        log["runs"][0]["columnKind"] = kind;
        let bytes = command_with(OutputSpec { columns: Columns::Bytes, ..output_of(OutputForm::Sarif) });
        check(&bytes, 0, &log.to_string(), Ok(&[expected]));
    }
}

#[test]
fn parts_of_the_wrong_kind_are_no_findings_lost() {
    let place = |value: Value| json!([{ "message": { "text": "m" }, "locations": value }]);
    for (locations, expected) in [
        (json!(5), Ok("1:1 warning - m")),
        (json!([]), Ok("1:1 warning - m")),
        (json!([{ "physicalLocation": 5 }]), Err("wrote something other than an object at `region`")),
        (
            json!([{ "physicalLocation": { "region": { "startLine": "x" } } }]),
            Err("wrote a `region.startLine`"),
        ),
        (
            json!([{ "physicalLocation": { "region": { "startLine": 2 }, "artifactLocation": 5 } }]),
            Ok("2:1 warning - m"),
        ),
    ] {
        match expected {
            Ok(expected) => reads(&log(&place(locations)), Ok(&[expected])),
            Err(why) => reads(&log(&place(locations)), Err(why)),
        }
    }
}
