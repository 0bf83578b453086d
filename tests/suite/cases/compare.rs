//! Holding what was seen against what a case says, with differences that can be read.

use serde_json::Value;

use super::entry::{CaseEntry, Kind};
use super::scan::escape;
use super::workspace::{Entry, State};

/// Lines shown of each side of a difference.
const SHOWN: usize = 24;

/// Collects where an answer is not what the case says; `path` is the place in the answer.
///
/// A mapping asks for its keys only; `null` asks that the key be absent; a text that begins with `~ ` is a regular
/// expression; a list asks for each element in order, `{contains: [..]}` for some element for each; everything else
/// asks for equality.
pub fn answer(expected: &Value, actual: &Value, path: &str, differences: &mut Vec<String>) {
    let mut differ = |why: String| differences.push(format!("{path}: {why}"));
    match (expected, actual) {
        (Value::Null, Value::Null) => {}
        (Value::String(text), _) if text.starts_with("~ ") => {
            let subject = actual.as_str().map_or_else(|| actual.to_string(), str::to_owned);
            match regex::Regex::new(&text[2..]) {
                Ok(pattern) if pattern.is_match(&subject) => {}
                Ok(_) => differ(format!("expected a match of /{}/, seen {subject:?}", &text[2..])),
                Err(error) => differ(format!("the case has a bad pattern: {error}")),
            }
        }
        (Value::Object(expected_part), Value::Array(actual_items))
            if expected_part.keys().eq(["contains"]) =>
        {
            contains(&expected_part["contains"], actual_items, path, differences);
        }
        (Value::Object(expected_part), Value::Object(_)) => {
            for (key, value) in expected_part {
                let place = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                answer(value, &actual[key], &place, differences);
            }
        }
        (Value::Array(expected_part), Value::Array(actual_items)) => {
            if expected_part.len() != actual_items.len() {
                differ(format!(
                    "expected {} elements, seen {}: {actual}",
                    expected_part.len(),
                    actual_items.len()
                ));
            }
            for (index, (expected_part, item)) in expected_part.iter().zip(actual_items).enumerate() {
                answer(expected_part, item, &format!("{path}[{index}]"), differences);
            }
        }
        (Value::Number(expected_part), Value::Number(actual))
            if expected_part.as_f64() == actual.as_f64() => {}
        (expected_part, actual) if expected_part == actual => {}
        (Value::Null, actual) => differ(format!("expected to be absent, seen {actual}")),
        (expected_part, Value::Null) => differ(format!("expected {expected_part}, but it is absent")),
        (expected_part, actual) => differ(format!("expected {expected_part}, seen {actual}")),
    }
}

fn contains(expected: &Value, actual_items: &[Value], path: &str, differences: &mut Vec<String>) {
    for element in expected.as_array().into_iter().flatten() {
        let found = actual_items.iter().any(|candidate| {
            let mut remaining = Vec::new();
            answer(element, candidate, path, &mut remaining);
            remaining.is_empty()
        });
        if !found {
            differences.push(format!(
                "{path}: no element is {element}; seen {}",
                Value::from(actual_items.to_vec())
            ));
        }
    }
}

/// Collects where a workspace is not what the case says: what `after` names is as it says, all else is as it was, to
/// the byte, the permissions, the inode and the time of change.
pub fn state(before: &State, after: &[CaseEntry], actual: &State, differences: &mut Vec<String>) {
    for expected_entry in after {
        entry_exists(
            expected_entry,
            before.get(&expected_entry.path),
            actual.get(&expected_entry.path),
            differences,
        );
    }
    let named = |path: &String| after.iter().any(|expected_entry| expected_entry.path == *path);
    for (path, entry) in before {
        if !named(path) && actual.get(path) != Some(entry) {
            differences.push(untouched(path, entry, actual.get(path)));
        }
    }
    let holds = |folder: &str| {
        after.iter().any(|expected_entry| expected_entry.path.starts_with(&format!("{folder}/")))
    };
    for (path, entry) in actual {
        let parent = entry.kind == Kind::Folder && holds(path);
        if !named(path) && !before.contains_key(path) && !parent {
            differences
                .push(format!("{path}: was made, and no `after` block names it: {}", describe(&entry.kind)));
        }
    }
}

fn entry_exists(
    expected_entry: &CaseEntry,
    before: Option<&Entry>,
    actual: Option<&Entry>,
    differences: &mut Vec<String>,
) {
    let path = &expected_entry.path;
    let Some(actual) = actual else {
        if expected_entry.kind != Kind::Absent {
            differences.push(format!("{path}: is not there after the call"));
        }
        return;
    };
    if actual.kind != expected_entry.kind {
        differences.push(format!("{path}: {}", describe_difference(&expected_entry.kind, &actual.kind)));
    }
    let mode = expected_entry.mode.or_else(|| before.map(|entry| entry.mode));
    if mode.is_some_and(|mode| mode != actual.mode) {
        differences.push(format!(
            "{path}: expected mode {:o}, seen {:o}",
            mode.unwrap_or_default(),
            actual.mode
        ));
    }
    let rewritten =
        before.is_some_and(|entry| entry.kind == actual.kind && entry.identity != actual.identity);
    if rewritten {
        differences.push(format!("{path}: was written again although it stayed the same"));
    }
}

fn untouched(path: &str, before: &Entry, actual: Option<&Entry>) -> String {
    match actual {
        None => format!("{path}: was removed, and no `after` block says so"),
        Some(actual) if actual.kind != before.kind => {
            format!(
                "{path}: was changed, and no `after` block names it: {}",
                describe_difference(&before.kind, &actual.kind)
            )
        }
        Some(actual) if actual.mode != before.mode => {
            format!("{path}: mode was {:o} and is {:o}", before.mode, actual.mode)
        }
        Some(_) => format!("{path}: was written again although it stayed the same"),
    }
}

fn describe_difference(expected: &Kind, actual: &Kind) -> String {
    format!("expected\n{}\n  seen\n{}", indent(&describe(expected)), indent(&describe(actual)))
}

fn indent(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("    | {line}")).collect();
    lines.join("\n")
}

fn describe(kind: &Kind) -> String {
    let Kind::File(bytes) = kind else { return format!("{kind:?}") };
    let text = escape(bytes);
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.iter().take(SHOWN).copied().collect::<Vec<_>>().join("\n");
    match lines.len() {
        0 => "(an empty file)".to_owned(),
        count if count > SHOWN => format!("{shown}\n... and {} lines more", count - SHOWN),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differences(expected: Value, actual: Value) -> Vec<String> {
        let mut differences = Vec::new();
        answer(&expected, &actual, "", &mut differences);
        differences
    }

    #[test]
    fn a_subset_is_enough_and_every_other_difference_is_named() {
        let actual = json!({"a": 1, "b": ["x", {"c": "hello", "d": 2}], "e": true});
        assert!(differences(json!({"b": ["x", {"c": "~ ^hel"}], "z": null}), actual.clone()).is_empty());
        assert!(differences(json!({"b": {"contains": [{"d": 2}]}}), actual.clone()).is_empty());
        for wrong in [
            json!({"a": 2}),
            json!({"b": ["x"]}),
            json!({"b": ["x", {"c": "hello", "d": 3}]}),
            json!({"b": {"contains": [{"d": 3}]}}),
            json!({"b": [{"c": "hello"}, "x"]}),
            json!({"e": null}),
            json!({"missing": 1}),
            json!({"b": ["x", {"c": "~ ^ello"}]}),
            json!({"a": "1"}),
        ] {
            assert_eq!(differences(wrong.clone(), actual.clone()).len().min(1), 1, "{wrong} was taken");
        }
    }
}
