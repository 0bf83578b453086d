//! Reads the arguments of a tool call and validates them against the listed schema. A rejection names the field at
//! fault, the expected type and the actual value.
//!
//! Differences between clients are accepted where the meaning is clear: `null` counts as absent, an array or object
//! may be a string of JSON, and `3.0` is read as 3. Everything else outside the schema is rejected.
//!
//! Invariant: a rejection proposes another field or value only if no other can be meant, because a call that is sent as
//! proposed may write. A name that only resembles the given one is a question in the message.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use lockgate_error::{Code, Error, FieldValue, NextCall, Score};
use lockgate_text::{correction, nearest};

/// The largest integer below which a floating-point JSON number is exact.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Maximum characters of a value that a message quotes.
const MAX_QUOTED_CHARS: usize = 40;

/// Names of one meaning, as the tools of this and of other servers have them.
const SYNONYMS: &[&[&str]] = &[
    &["path", "file_path", "target_file", "path_prefix", "filename", "file", "glob"],
    &["old_string", "search_context", "old_str", "old_text"],
    &["new_string", "new_content", "new_str", "new_text"],
    &["search", "find"],
    &["replace", "replacement"],
    &["pattern", "query"],
    &["edits", "files", "changes"],
    &["start_line", "start"],
    &["end_line", "end"],
    &["context_lines", "context"],
    &["max_results", "limit"],
    &["search_flags", "flags"],
    &["expect_matches", "expected_replacements"],
    &["expected_version", "version"],
    &["edit_id", "id"],
];

/// Fields in which a number or a boolean does not stand for its text.
const IDS: &[&str] = &["edit_id", "entity_type", "expected_version"];

/// Names of nearly one meaning. `search` replaces every match and `old_string` only one, so that a call with the other
/// name may write something else.
const RELATED: &[&[&str]] = &[
    &["search", "find", "pattern", "old_string", "search_context", "old_str", "old_text"],
    &["replace", "replacement", "new_string", "new_content", "new_str", "new_text"],
    &["pattern", "text"],
    &["code_block", "code", "new_code", "content", "new_content", "new_string", "replacement"],
    &["search_flags", "ignore_case", "case_insensitive", "case_sensitive"],
];

/// Names that are words of their own, and no misspellings of a field.
const OWN_WORDS: &[&str] =
    &["append", "code", "comment", "context", "diff", "model", "move", "multiple", "node", "patch"];

/// Reads a tool's arguments.
///
/// Errors: `INVALID_INPUT` with the path of the field, as in `line_edits[2].end_line`.
pub(crate) fn read<T: DeserializeOwned>(schema: &JsonObject, arguments: JsonObject) -> Result<T, Error> {
    let fitted = fit_object(schema, arguments, "")?;
    serde_path_to_error::deserialize(Value::Object(fitted)).map_err(|error| {
        let path = error.path().to_string();
        let message = error.inner().to_string();
        let not_integer =
            message.strip_prefix("invalid type: ").and_then(|rest| rest.strip_suffix(", expected i64"));
        let message = match not_integer {
            Some(found) => format!(" must be an integer, found the {found}"),
            None => format!(": {message}"),
        };
        let start: String = message.chars().take(4 * MAX_QUOTED_CHARS).collect();
        invalid(&path, format!("`{path}`{start}"))
    })
}

/// Returns the value as an integer: any `i64`, or a whole floating-point number that is exact.
fn integer(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    let whole = |number: f64| number.fract() == 0.0 && number.abs() <= MAX_EXACT_INTEGER;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number within the exact range")]
    let exact = |number: f64| number as i64;
    number.as_i64().or_else(|| number.as_f64().filter(|number| whole(*number)).map(exact))
}

fn fit(schema: &Value, value: Value, path: &str) -> Result<Value, Error> {
    let Some(schema) = schema.as_object() else { return Ok(value) };
    let wanted = schema.get("type").and_then(Value::as_str);
    match (wanted, value) {
        (Some("object"), Value::Object(fields)) => fit_object(schema, fields, path).map(Value::Object),
        (Some("array"), Value::Array(items)) => fit_array(schema, items, path).map(Value::Array),
        (Some("object" | "array"), Value::String(text)) => fit_text(schema, &text, path),
        (Some("string"), Value::String(text)) => fit_name(schema, text, path),
        (Some("boolean"), value @ Value::Bool(_)) | (None, value) => Ok(value),
        // Some integers have names; the wire struct parses them.
        (Some("integer"), Value::String(text)) if text.parse::<i64>().is_err() => Ok(Value::String(text)),
        (Some("number"), value @ Value::Number(_)) => Ok(value),
        (Some("integer"), value) => match integer(&value) {
            Some(integer) => Ok(Value::Number(Number::from(integer))),
            None => Err(wrong_type(schema, &value, path)),
        },
        (Some(_), value) => Err(wrong_type(schema, &value, path)),
    }
}

fn fit_object(schema: &JsonObject, object: JsonObject, path: &str) -> Result<JsonObject, Error> {
    let none = JsonObject::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let path_of = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let mut fitted = JsonObject::new();
    for (name, value) in object {
        let within = path_of(&name);
        match known.get(&name) {
            None => return Err(unknown_field(known, &required, &name, &within)),
            Some(_) if value.is_null() => {}
            Some(schema) => {
                let value = fit(schema, value, &within)?;
                fitted.insert(name, value);
            }
        }
    }
    match required.into_iter().find(|name| !fitted.contains_key(*name)) {
        None => Ok(fitted),
        Some(name) => {
            let within = path_of(name);
            Err(invalid(&within, format!("`{within}` is missing")))
        }
    }
}

fn fit_array(schema: &JsonObject, items: Vec<Value>, path: &str) -> Result<Vec<Value>, Error> {
    let schema = schema.get("items").unwrap_or(&Value::Null);
    items.into_iter().enumerate().map(|(at, item)| fit(schema, item, &format!("{path}[{at}]"))).collect()
}

fn fit_text(schema: &JsonObject, text: &str, path: &str) -> Result<Value, Error> {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => fit(&Value::Object(schema.clone()), value, path),
        Ok(_) | Err(_) => Err(wrong_type(schema, &Value::String(text.to_owned()), path)),
    }
}

fn fit_name(schema: &JsonObject, text: String, path: &str) -> Result<Value, Error> {
    let Some(names) = schema.get("enum").and_then(Value::as_array) else { return Ok(Value::String(text)) };
    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    if names.contains(&text.as_str()) {
        return Ok(Value::String(text));
    }
    // A value that is only part of another one may stand for less: `replace` for `replace_all`.
    let next = correction(&text, names.iter().copied())
        .map(|name| NextCall::Correct { field: path.to_owned(), value: FieldValue::Text(name.to_owned()) });
    let found = quoted(&Value::String(text));
    let message = format!("`{path}` must be one of {}, found {found}", names.join(", "));
    Err(invalid(path, message).with_next_if(next))
}

fn unknown_field(known: &JsonObject, required: &[&str], name: &str, path: &str) -> Error {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let shown: String = path.chars().take(2 * MAX_QUOTED_CHARS).collect();
    let is_own_word = OWN_WORDS.contains(&name.to_lowercase().as_str());
    let misspelt = correction(name, names.iter().copied()).filter(|_| !is_own_word);
    let meant = misspelt.or_else(|| synonym(SYNONYMS, name, &names));
    let similar = meant.or_else(|| synonym(RELATED, name, &names)).or_else(|| {
        let ends_with_name =
            |known: &&&str| known.strip_suffix(name).is_some_and(|start| start.ends_with('_'));
        let is_ambiguous = names.iter().filter(ends_with_name).count() > 1;
        let is_candidate = |known: &&str| !is_own_word && !is_ambiguous && resembles(name, known);
        nearest(name, names.iter().copied().filter(is_candidate))
    });
    // No call is possible without a required field. A name with more words may mean something else: `append_content`.
    let is_required = |similar: &&str| required.contains(similar) && similar.contains(name);
    let meant = meant.or_else(|| similar.filter(is_required));
    let question = similar.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    let error = Error::new(Code::InvalidInput, format!("unknown field `{shown}`{question}"));
    let error = if shown == path { error.named_field(path) } else { error.field(path) };
    let next = meant.map(|name| NextCall::Rename { field: path.to_owned(), name: name.to_owned() });
    error.with_next_if(next).hint(format!("known fields here: {}", names.join(", ")))
}

/// Returns false for two names of several words that have only some of these in common, as `after_line` and `at_line`,
/// and for a name within a word of the other, as `text` in `context_lines`.
fn resembles(name: &str, known: &str) -> bool {
    if name.contains(known) || known.contains(name) {
        begins_word(name, known) || begins_word(known, name)
    } else {
        !(name.contains('_') && known.contains('_'))
    }
}

/// Returns true if a word of a name begins with this text.
fn begins_word(name: &str, text: &str) -> bool {
    let is_start = |before: &str| before.is_empty() || before.ends_with('_');
    name.match_indices(text).any(|(at, _)| name.get(..at).is_some_and(is_start))
}

/// Returns the known name that is in one group with another one. The spelling does not matter: `oldText` is `old_text`.
fn synonym<'a>(groups: &[&[&str]], name: &str, known: &[&'a str]) -> Option<&'a str> {
    let letters = |name: &str| name.to_lowercase().replace(['_', '-'], "");
    let wanted = letters(name);
    let mut groups = groups.iter().filter(|group| group.iter().any(|word| letters(word) == wanted));
    groups.find_map(|group| known.iter().copied().find(|known| group.contains(known)))
}

fn wrong_type(schema: &JsonObject, value: &Value, path: &str) -> Error {
    let wanted_type = schema.get("type").and_then(Value::as_str);
    let wanted = match wanted_type.unwrap_or_default() {
        "object" => "an object",
        "array" => "an array",
        "boolean" => "true or false",
        "number" => "a number",
        "integer" if value.is_number() => "a 64-bit integer",
        "integer" => "an integer",
        _ => "a string",
    };
    let corrected = match (wanted_type, value) {
        (Some("boolean"), Value::String(text)) => text.to_lowercase().parse().ok().map(FieldValue::Flag),
        (Some("boolean"), Value::Number(number)) => {
            number.as_u64().filter(|number| *number < 2).map(|number| FieldValue::Flag(number == 1))
        }
        (Some("string"), _) if IDS.contains(&path.rsplit('.').next().unwrap_or(path)) => None,
        // Other numbers may have been spelled in another way: `1.10` is read as 1.1.
        (Some("string"), Value::Number(number)) if number.is_f64() => None,
        (Some("string"), Value::Number(_) | Value::Bool(_)) => Some(FieldValue::Text(value.to_string())),
        (Some("integer"), Value::String(text)) => text.parse().ok().map(FieldValue::Number),
        (Some("number"), Value::String(text)) => {
            text.parse().ok().and_then(Score::from_ratio).map(FieldValue::Ratio)
        }
        (Some(_) | None, _) => None,
    };
    let field = path.to_owned();
    let next = match (wanted_type, value) {
        (Some("array"), Value::Object(_)) => Some(NextCall::InList { field }),
        _ => corrected.map(|value| NextCall::Correct { field, value }),
    };
    invalid(path, format!("`{path}` must be {wanted}, found {}", quoted(value))).with_next_if(next)
}

/// Describes a value in a message: its type and the start of its text.
fn quoted(value: &Value) -> String {
    let text = match value {
        Value::Null => return "null".to_owned(),
        Value::Array(items) => return format!("an array of {}", items.len()),
        Value::Object(_) => return "an object".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => {
            let start: String = text.chars().take(MAX_QUOTED_CHARS).collect();
            let more = if start.len() < text.len() { "..." } else { "" };
            format!("the string {}", Value::String(format!("{start}{more}")))
        }
    };
    text.chars().take(2 * MAX_QUOTED_CHARS).collect()
}

/// Returns the error for a field whose path the message has.
fn invalid(path: &str, message: String) -> Error {
    Error::new(Code::InvalidInput, message).named_field(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::TOOLS;
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
    struct Part {
        line: i64,
    }
    #[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
    struct TestArgs {
        path: String,
        parts: Option<Vec<Part>>,
        deep: Option<bool>,
        line_count: Option<i64>,
        share: Option<f64>,
    }

    fn parse(arguments: Value) -> Result<TestArgs, Error> {
        let schema = crate::schema::input_schema::<TestArgs>();
        read(&schema, arguments.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn plain_meanings_are_taken() {
        let full = parse(json!({"path": "a", "parts": [{"line": 3}, {"line": 4}], "deep": null})).unwrap();
        for same in [
            json!({"path": "a", "parts": "[{\"line\": 3.0}, {\"line\": 4}]", "line_count": null}),
            json!({"path": "a", "parts": ["{\"line\": 3}", {"line": 4e0}]}),
        ] {
            assert_eq!(parse(same).unwrap(), full);
        }
    }

    #[test]
    fn a_number_may_be_whole() {
        for (value, wanted) in [(json!(0.9), 0.9), (json!(1), 1.0), (json!(-0.0), 0.0)] {
            assert_eq!(parse(json!({"path": "a", "share": value})).unwrap().share, Some(wanted));
        }
    }

    fn assert_rejected(arguments: Value, field: &str, message: &str) {
        let error = parse(arguments.clone()).unwrap_err();
        assert_eq!(error.code, Code::InvalidInput);
        assert_eq!((error.field.as_deref(), error.message.as_str()), (Some(field), message), "{arguments}");
    }

    #[test]
    fn another_type_is_refused_at_its_field() {
        for (field, value, message) in [
            ("path", json!(3), "must be a string, found 3"),
            ("deep", json!("true"), "must be true or false, found the string \"true\""),
            ("parts", json!("x"), "must be an array, found the string \"x\""),
            ("share", json!("0.9"), "must be a number, found the string \"0.9\""),
            ("share", json!(true), "must be a number, found true"),
            ("line_count", json!(1.5), "must be a 64-bit integer, found 1.5"),
            ("line_count", json!(1e30), "must be a 64-bit integer, found 1e+30"),
            ("line_count", json!(u64::MAX), "must be a 64-bit integer, found 18446744073709551615"),
            ("line_count", json!(false), "must be an integer, found false"),
        ] {
            let mut arguments = json!({"path": "a"});
            arguments[field] = value;
            assert_rejected(arguments, field, &format!("`{field}` {message}"));
        }
        let within = |part: Value| json!({"path": "a", "parts": [{"line": 1}, part]});
        assert_rejected(within(Value::Null), "parts[1]", "`parts[1]` must be an object, found null");
        assert_rejected(
            within(json!({"line": []})),
            "parts[1].line",
            "`parts[1].line` must be an integer, found an array of 0",
        );
        assert_rejected(
            within(json!({"line": "x"})),
            "parts[1].line",
            "`parts[1].line` must be an integer, found the string \"x\"",
        );
    }

    #[test]
    fn another_type_is_corrected_if_the_value_is_certain() {
        let correct = |field: &str, value| Some(NextCall::Correct { field: field.to_owned(), value });
        for (arguments, next) in [
            (r#"{"path": 3}"#, correct("path", FieldValue::Text("3".to_owned()))),
            (r#"{"path": -3}"#, correct("path", FieldValue::Text("-3".to_owned()))),
            (r#"{"path": true}"#, correct("path", FieldValue::Text("true".to_owned()))),
            (r#"{"path": 1.10}"#, None),
            (r#"{"path": 1e2}"#, None),
            (r#"{"path": -0}"#, None),
            (r#"{"path": 12345678901234567890123}"#, None),
            (r#"{"path": "a", "deep": "True"}"#, correct("deep", FieldValue::Flag(true))),
            (r#"{"path": "a", "deep": 2}"#, None),
            (r#"{"path": "a", "line_count": "2"}"#, correct("line_count", FieldValue::Number(2))),
            (r#"{"path": "a", "line_count": "-2"}"#, None),
            (r#"{"path": "a", "line_count": "2x"}"#, None),
            (r#"{"path": "a", "share": "0.9"}"#, correct("share", FieldValue::Ratio(Score::NINE_TENTHS))),
            (r#"{"path": "a", "share": "90"}"#, None),
            (r#"{"path": "a", "parts": {"line": 1}}"#, Some(NextCall::InList { field: "parts".to_owned() })),
            (r#"{"path": "a", "parts": 1}"#, None),
        ] {
            let error = parse(serde_json::from_str(arguments).unwrap()).unwrap_err();
            assert_eq!(error.next.as_deref(), next.as_ref(), "{arguments}");
        }
    }

    #[test]
    fn a_number_or_a_boolean_in_place_of_an_id_is_not_corrected() {
        for (tool, field, arguments) in [
            ("undo_edit", "edit_id", json!({"edit_id": 42})),
            ("redo_edit", "edit_id", json!({"edit_id": true})),
            ("get_content", "entity_type", json!({"path": "a", "entity_type": 5})),
            ("edit_files", "edits[0].expected_version", json!({"edits": [{"expected_version": 42}]})),
        ] {
            let tool = TOOLS.iter().find(|listed| listed.name == tool).unwrap();
            let arguments = arguments.as_object().cloned().unwrap();
            let error = fit_object((tool.schema)(), arguments, "").unwrap_err();
            assert_eq!((error.field.as_deref(), error.next), (Some(field), None), "{}", tool.name);
        }
    }

    #[test]
    fn a_missing_or_unknown_field_is_refused_by_name() {
        for none in [json!({}), json!({"path": null})] {
            assert_rejected(none, "path", "`path` is missing");
        }
        assert_rejected(json!({"path": "a", "parts": [{}]}), "parts[0].line", "`parts[0].line` is missing");
        for (field, message) in [
            ("zebra", "unknown field `zebra`"),
            ("lines_count", "unknown field `lines_count`; did you mean `line_count`?"),
            ("target_file", "unknown field `target_file`; did you mean `path`?"),
        ] {
            let mut arguments = json!({"path": "a"});
            arguments[field] = json!(1);
            assert_rejected(arguments.clone(), field, message);
            let hint = "known fields here: path, parts, deep, line_count, share";
            assert_eq!(parse(arguments).unwrap_err().next_step(), hint);
        }
        let nested = json!({"path": "a", "parts": [{"lin": 1}]});
        assert_rejected(nested, "parts[0].lin", "unknown field `parts[0].lin`; did you mean `line`?");
    }

    #[test]
    fn only_a_field_that_is_certainly_meant_is_proposed() {
        let schema = rmcp::object!({
            "properties": {"path": {}, "at_line": {}, "new_content": {}, "replace_all": {}, "content_type": {}},
            "required": ["at_line", "new_content"],
        });
        for (given, proposed, question) in [
            ("new_contnet", Some("new_content"), Some("new_content")),
            ("atLine", Some("at_line"), Some("at_line")),
            ("file_path", Some("path"), Some("path")),
            ("at", None, None),
            ("content", Some("new_content"), Some("new_content")),
            ("append_new_content", None, Some("new_content")),
            ("replace", None, Some("new_content")),
            ("newText", Some("new_content"), Some("new_content")),
            ("limit", None, None),
            ("after_line", None, None),
        ] {
            let arguments = [(given.to_owned(), json!("x"))].into_iter().collect();
            let error = fit_object(&schema, arguments, "").unwrap_err();
            let question = question.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            assert_eq!(error.message, format!("unknown field `{given}`{question}"));
            let rename = |name: &str| NextCall::Rename { field: given.to_owned(), name: name.to_owned() };
            assert_eq!(error.next.as_deref(), proposed.map(rename).as_ref(), "{given}");
        }
    }

    #[test]
    fn the_names_of_other_tools_are_known() {
        for (tool, given, proposed, question) in [
            ("safe_edit_file", "find", Some("search"), Some("search")),
            ("safe_edit_file", "old_string", None, Some("search")),
            ("safe_edit_file", "newText", None, Some("replace")),
            ("safe_edit_file", "count", None, Some("search_count")),
            ("safe_edit_file", "text", None, None),
            ("edit_file", "oldText", Some("old_string"), Some("old_string")),
            ("edit_file", "search", None, Some("old_string")),
            ("search_content", "limit", Some("max_results"), Some("max_results")),
            ("search_content", "context", Some("context_lines"), Some("context_lines")),
            ("search_content", "glob", Some("path"), Some("path")),
            ("search_content", "text", None, Some("pattern")),
            ("search_content", "ignore_case", None, Some("search_flags")),
            ("read_content_lines", "start", Some("start_line"), Some("start_line")),
            ("read_content_lines", "line", None, None),
            ("undo_edit", "id", Some("edit_id"), Some("edit_id")),
            ("safe_edit_file", "expected_replacements", Some("expect_matches"), Some("expect_matches")),
            ("edit_file", "expected_replacements", None, None),
            ("undo_edit", "patch", None, None),
            ("undo_edit", "patth", Some("path"), Some("path")),
            ("read_content_lines", "Patch", None, None),
            ("safe_edit_file", "code", None, Some("content")),
            ("edit_file", "code", None, Some("new_string")),
            ("edit_files", "code", None, None),
            ("safe_edit_file", "diff", None, None),
            ("delete_content", "append", None, None),
        ] {
            let tool = TOOLS.iter().find(|listed| listed.name == tool).unwrap();
            let arguments = [(given.to_owned(), json!("x"))].into_iter().collect();
            let error = fit_object((tool.schema)(), arguments, "").unwrap_err();
            let question = question.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            assert_eq!(error.message, format!("unknown field `{given}`{question}"), "{}", tool.name);
            let rename = |name: &str| NextCall::Rename { field: given.to_owned(), name: name.to_owned() };
            assert_eq!(error.next.as_deref(), proposed.map(rename).as_ref(), "{given}");
        }
    }

    #[test]
    fn only_a_misspelt_value_is_proposed() {
        let schema = json!({"type": "string", "enum": ["single_match", "replace_all", "overwrite_file"]});
        for (given, proposed) in [
            ("replace_al", Some("replace_all")),
            ("SingleMatch", Some("single_match")),
            ("overwrite-file", Some("overwrite_file")),
            ("replace", None),
            ("overwrite", None),
            ("match", None),
        ] {
            let error = fit(&schema, json!(given), "strategy").unwrap_err();
            let correct = |name: &str| NextCall::Correct {
                field: "strategy".to_owned(),
                value: FieldValue::Text(name.to_owned()),
            };
            assert_eq!(error.next.as_deref(), proposed.map(correct).as_ref(), "{given}");
        }
    }

    #[test]
    fn deep_text_is_refused_and_not_followed() {
        let deep = "[".repeat(100_000);
        let error = parse(json!({"path": "a", "parts": deep})).unwrap_err();
        assert_eq!(error.field.as_deref(), Some("parts"));
        assert!(error.message.len() < 200);
    }

    proptest! {
        #[test]
        fn integers_are_taken_whole_or_not_at_all(number in any::<i64>(), fraction in any::<f64>()) {
            prop_assert_eq!(integer(&json!(number)), Some(number));
            if let Some(whole) = integer(&json!(fraction)) {
                #[expect(clippy::cast_precision_loss, reason = "what is tested")]
                let back = whole as f64;
                prop_assert_eq!(back, fraction);
            }
        }
    }
}
