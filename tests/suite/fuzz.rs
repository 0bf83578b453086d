//! Random input against the modules that parse it first: requests, files, and the location of a search text.
//!
//! A few thousand inputs in every run of the tests, and as long as `BOLERO_RANDOM_TEST_TIME_MS` says in `tests/run`.

use lockgate_edit::{Edit, EditLimits, PlanContext, plan};
use lockgate_mcp::tools::safe_edit_file;
use lockgate_text::{Buffer, Change, Hints, bytes_outside_unchanged, diff};

/// What a plan may come to, as without a policy.
const CONTEXT: PlanContext<'static> = PlanContext {
    noun: "file",
    path: "a.py",
    language: Some("python"),
    syntax: &lockgate_syntax::Grammars,
    limits: EditLimits { bytes: 10 << 20, steps: 40_000_000 },
};

/// Pieces that requests are made of, so that random choices reach past the first brace.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "true",
    "1",
    "-1",
    "0",
    "99999999999999999999",
    "3.0",
    "1e400",
    "\"path\"",
    "\"a.txt\"",
    "\"content\"",
    "\"line_edits\"",
    "\"start_line\"",
    "\"end_line\"",
    "\"new_content\"",
    "\"insert_lines\"",
    "\"at_line\"",
    "\"search\"",
    "\"replace\"",
    "\"regex\"",
    "\"search_count\"",
    "\"search_flags\"",
    "\"lines\"",
    "\"start\"",
    "\"end\"",
    "\"mode\"",
    "\"strict\"",
    "\"expect\"",
    "\"(a|b)*?$\"",
    "\"\\\\g<0>\"",
    "\"\\u0000\"",
    "\"\"",
    "\"x\\r\\n\"",
    "\"[{\\\"start_line\\\":1}]\"",
];

fn edit_of(json: &str) -> Option<Edit> {
    let arguments = serde_json::from_str(json).ok()?;
    safe_edit_file::parse_edit(arguments).ok().map(|input| input.request.edit)
}

/// Plans a request on a file if both can be read: no byte outside of the plan changes.
fn check_edit(json: &str, file: &[u8]) {
    let Some(edit) = edit_of(json) else { return };
    let Ok(buffer) = Buffer::read(file.to_vec(), Hints::default()) else { return };
    let Ok(planned) = plan(&edit, &buffer, CONTEXT) else { return };
    let after = buffer.apply(&planned.plan).expect("what was planned for a buffer applies to it");
    assert!(bytes_outside_unchanged(buffer.bytes(), after.bytes(), &planned.plan));
}

#[test]
fn requests() {
    bolero::check!().with_type::<(Vec<u8>, Vec<u8>)>().for_each(|(words, file)| {
        let json: String = words.iter().map(|word| WORDS[usize::from(*word) % WORDS.len()]).collect();
        check_edit(&json, file);
    });
}

#[test]
fn well_formed_requests() {
    bolero::check!().with_type::<(Vec<u8>, String, String, i8, i8, u8)>().for_each(
        |(file, one, two, from, to, variant)| {
            let arguments = match variant % 5 {
                0 => serde_json::json!({"path": "a", "content": one}),
                1 => serde_json::json!({"path": "a", "line_edits":
                    [{"start_line": from, "end_line": to, "new_content": one}]}),
                2 => serde_json::json!({"path": "a", "insert_lines": [{"at_line": from, "content": one}]}),
                3 => serde_json::json!({"path": "a", "search": one, "replace": two}),
                _ => serde_json::json!({"path": "a", "search": one, "replace": two, "regex": true,
                    "search_flags": i64::from(*to) & 0x7a}),
            };
            check_edit(&arguments.to_string(), file);
        },
    );
}

#[test]
fn texts() {
    bolero::check!().with_type::<(Vec<u8>, Vec<(u16, u16, String)>)>().for_each(|(bytes, changes)| {
        let Ok(buffer) = Buffer::read(bytes.clone(), Hints::default()) else { return };
        assert_eq!(buffer.bytes(), bytes);
        let changes = changes
            .iter()
            .map(|(from, to, text)| {
                let length = buffer.view().len() + 2;
                Change { span: usize::from(*from) % length..usize::from(*to) % length, text: text.clone() }
            })
            .collect();
        let Ok(plan) = buffer.plan(changes) else { return };
        let after = buffer.apply(&plan).expect("what was planned for a buffer applies to it");
        assert!(bytes_outside_unchanged(buffer.bytes(), after.bytes(), &plan));
        diff::unified("a", Some(&buffer), &after, &plan);
    });
}

#[test]
fn quotes() {
    let bytes = bolero::produce::<Vec<u8>>().with().len(0..500_usize);
    bolero::check!().with_generator(bytes).for_each(|bytes| {
        super::locating::bears_anything(bytes);
    });
}
