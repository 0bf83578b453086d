//! Requests that are judged and never carried out.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json as value};

use super::super::trust::fixture::Fixture;
use super::super::wire::outcome;
use super::{BAD, GOOD, check, finding_texts, json};

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("root/app.py", GOOD);
    fixture
}

fn request(fixture: &Fixture, name: &str, request: &Value) -> String {
    fixture.write(name, &request.to_string());
    fixture.at(name).to_str().unwrap().to_owned()
}

#[test]
fn a_request_is_judged_and_never_applied() {
    let fixture = fixture();
    let bad = request(&fixture, "bad.json", &value!({"path": "app.py", "content": BAD, "mode": "strict"}));
    let good = request(&fixture, "good.json", &value!({"path": "new.py", "content": GOOD}));
    let answer = json(&fixture, &["--request", &bad, "--request", &good], 1);
    assert_eq!(finding_texts(&answer), ["app.py"]);
    assert_eq!(
        (&answer["files"][0]["change"], &answer["files"][1]["change"]),
        (&"modified".into(), &"added".into())
    );
    json(&fixture, &["--request", &good], 0);
    assert_eq!(fs::read_to_string(fixture.at("root/app.py")).unwrap(), GOOD);
    assert!(!fixture.at("root/new.py").exists());
    let text = check(&fixture, &["--request", &bad], 1).stdout;
    assert!(text.contains("2 | return 1"), "the line of the draft: {text}");
    let log: Value =
        serde_json::from_str(&check(&fixture, &["--request", &bad, "--format", "sarif"], 1).stdout).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["baselineState"], "new");
}

#[test]
fn several_edits_and_standard_input_are_read_as_by_edit() {
    let fixture = fixture();
    let edits = value!({"edits": [{"path": "app.py", "content": GOOD}, {"path": "b.py", "content": BAD}]});
    let edits = request(&fixture, "edits.json", &edits);
    assert_eq!(finding_texts(&json(&fixture, &["--request", &edits], 1)), ["b.py"]);
    let mut command = fixture.command();
    command.args(["check", "--request", "-", "--format", "github"]).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let text = value!({"path": "app.py", "content": BAD}).to_string();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = outcome(&child.wait_with_output().unwrap());
    assert_eq!(output.exit, 1);
    assert!(
        output.stdout.starts_with("::error file=app.py,line=2,col=1,title=syntax::"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_request_that_cannot_be_judged_is_refused_as_by_edit() {
    let fixture = fixture();
    for (body, exit, code) in [
        (value!({"path": "app.py", "search": "nowhere", "replace": "x"}), 5, "NO_MATCH"),
        (value!({"path": "../app.py", "content": "x"}), 4, "PATH_OUTSIDE_ROOT"),
        (value!({"path": "none.py", "search": "a", "replace": "x"}), 3, "FILE_NOT_FOUND"),
        (value!({"path": "app.py", "contents": "x"}), 2, "INVALID_INPUT"),
    ] {
        let path = request(&fixture, "asked.json", &body);
        assert_eq!(json(&fixture, &["--request", &path], exit)["code"], code);
    }
    fixture.write("list.json", "[1]");
    let list = fixture.at("list.json");
    assert!(check(&fixture, &["--request", list.to_str().unwrap()], 2).stderr.contains("not a JSON object"));
}
