//! Reads untrusted JSON within limits, and extracts numbers and texts in any representation.
//!
//! Invariant: a missing value is distinguished from one that cannot be read.

use serde_json::Value;

use super::notes;
use crate::finding::sanitize;

/// The largest number of values in one text. A value takes up to a hundred bytes, so a text of a few MiB
/// could take far more memory than its length.
const MAX_VALUES: usize = 2_000_000;

/// The largest number of bytes used of a text in an output. Thousands of findings may share one text, and
/// each copies it.
const LONGEST_TEXT: usize = 4096;

/// The largest line or column; larger ones are clamped to it.
const MOST: u32 = u32::MAX;

/// The largest number of lines at which a JSON document is searched.
const MAX_TRIES: usize = 1000;

/// The length of an excerpt of text that is not JSON, in characters.
const EXCERPT: usize = 80;

/// Parses one JSON value; the parser limits nesting to 128 levels.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err("wrote nothing instead of JSON".to_owned());
    }
    check_size(text)?;
    serde_json::from_str(text).map_err(|error| format!("wrote invalid JSON ({error}): {}", excerpt(text)))
}

/// Counts the values that a text may hold, without parsing them.
///
/// Errors: if there are more than [`MAX_VALUES`].
fn check_size(text: &str) -> Result<(), String> {
    let separators = memchr::memchr3_iter(b',', b'[', b'{', text.as_bytes()).take(MAX_VALUES);
    if separators.count() == MAX_VALUES {
        return Err(format!("wrote JSON of over {MAX_VALUES} values"));
    }
    Ok(())
}

/// Reads the findings of the JSON document in a text with `read`. The document is the whole text or, if there
/// are other lines, each value that spans complete lines and has the form that `read` expects.
///
/// Errors: if there is no document, if one is truncated or invalid, if the text may hold too many values, and
/// if another line reports a crash.
pub(super) fn document<T>(
    text: &str,
    read: impl Fn(&Value) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, String> {
    check_size(text)?;
    let why = match parse(text) {
        Ok(root) => return read(&root),
        Err(why) => why,
    };
    if !notes::is_on() {
        return Err(why);
    }
    let mut found: Option<Vec<T>> = None;
    let mut strange = None;
    for value in embedded_values(text).ok_or_else(|| why.clone())? {
        match read(&value) {
            Ok(items) => found.get_or_insert_default().extend(items),
            Err(why) => strange = strange.or(Some(why)),
        }
    }
    found.ok_or_else(|| strange.unwrap_or(why))
}

/// The JSON lists and objects that begin at the start of a line and end at the end of one. `None` if one has
/// no end, because its rest may hold findings, if one is not JSON or is followed by text on its line, if
/// another line reports a crash, and if too many lines look like the start of one.
fn embedded_values(text: &str) -> Option<Vec<Value>> {
    let (mut values, mut tries) = (Vec::new(), 0);
    let mut rest = text.trim_start_matches('\u{feff}');
    while !rest.is_empty() {
        let line_end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        let (line, below) = rest.split_at_checked(line_end)?;
        if !line.starts_with(['{', '[']) {
            if notes::is_crash(line) {
                return None;
            }
            rest = below;
            continue;
        }
        tries += 1;
        if tries > MAX_TRIES {
            return None;
        }
        let mut reader = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match reader.next() {
            Some(Ok(value)) => {
                let behind = rest.get(reader.byte_offset()..)?;
                let (tail, next) = behind.split_once('\n').unwrap_or((behind, ""));
                if tail.trim().is_empty() {
                    values.push(value);
                    rest = next;
                } else if holds_objects(&value) {
                    return None;
                } else {
                    rest = below;
                }
            }
            Some(Err(error)) if error.is_eof() => return None,
            Some(Err(_)) if begins_with_object(line) => return None,
            Some(Err(_)) | None => rest = below,
        }
    }
    Some(values)
}

/// Returns true for a value that may be a result: an object, or a list of objects.
fn holds_objects(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(holds_objects),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns true for a line that begins like an object with a key or a list of objects, unlike a log line.
fn begins_with_object(line: &str) -> bool {
    let inner = line.trim_start_matches(['[', ' ']).trim_end();
    inner.strip_prefix('{').is_some_and(|keys| keys.is_empty() || keys.trim_start().starts_with('"'))
}

/// The beginning of a text that could not be read.
pub(super) fn excerpt(text: &str) -> String {
    let start: String = sanitize(text.lines().next().unwrap_or_default()).chars().take(EXCERPT).collect();
    format!("`{start}`")
}

/// Follows keys into a value, through the first item of a list. `None` if one is missing or `null`.
pub(super) fn value_at<'v, K: AsRef<str>>(value: &'v Value, keys: &[K]) -> Result<Option<&'v Value>, String> {
    let mut current = value;
    for key in keys {
        let Some(value) = first_item(current) else { return Ok(None) };
        let Value::Object(fields) = value else {
            return Err(format!("wrote something other than an object at `{}`", key.as_ref()));
        };
        let Some(next) = fields.get(key.as_ref()) else { return Ok(None) };
        current = next;
    }
    Ok(first_item(current))
}

/// The value itself, or the first item of a list; `None` for `null`.
fn first_item(mut value: &Value) -> Option<&Value> {
    while let Value::Array(items) = value {
        value = items.first()?;
    }
    (!value.is_null()).then_some(value)
}

/// Returns the first [`LONGEST_TEXT`] bytes of an untrusted text, or fewer to end at a character boundary.
pub(super) fn truncate(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST_TEXT)).unwrap_or(text)
}

/// Returns the text at these keys, truncated if it is long.
pub(super) fn text_at<'v, K: AsRef<str>>(value: &'v Value, keys: &[K]) -> Result<Option<&'v str>, String> {
    let found = value_at(value, keys)?;
    let wrong = || format!("wrote a `{}` that is not a string", format_keys(keys));
    found.map(|found| found.as_str().map(truncate).ok_or_else(wrong)).transpose()
}

/// Returns a line or column at these keys plus an offset, clamped to 0 and [`MOST`].
pub(super) fn number_at<K: AsRef<str>>(
    value: &Value,
    keys: &[K],
    plus: u32,
) -> Result<Option<usize>, String> {
    let Some(found) = value_at(value, keys)? else { return Ok(None) };
    let wrong = || number_error(&format_keys(keys), &found.to_string());
    let number = match found {
        Value::Number(number) => number.as_f64().filter(|number| number.fract() == 0.0).map(bounded),
        Value::String(digits) => bounded_digits(digits),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    Ok(Some(counted(number.ok_or_else(wrong)?.saturating_add(i64::from(plus)))))
}

/// The message for a part of a finding that is not a number.
pub(super) fn number_error(name: &str, text: &str) -> String {
    format!("wrote a `{name}` that is not a whole number: {}", excerpt(text))
}

/// Parses a line or a column from digits.
pub(super) fn number(digits: &str) -> Option<usize> {
    bounded_digits(digits).map(counted)
}

fn counted(number: i64) -> usize {
    usize::try_from(number.clamp(0, i64::from(MOST))).unwrap_or(0)
}

fn bounded(number: f64) -> i64 {
    let most = f64::from(MOST);
    // Within these limits every whole number converts exactly.
    number.clamp(-most, most) as i64
}

fn bounded_digits(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let most = i64::from(MOST);
    let number = digits.parse().map_or(most, |number: i64| number.min(most));
    Some(if text.starts_with('-') { -number } else { number })
}

/// Returns a rule's name, which may be a number; `None` if there is none to show.
pub(super) fn rule_name(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => Some(truncate(name).to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Formats keys as a definition writes them.
pub(super) fn format_keys<K: AsRef<str>>(keys: &[K]) -> String {
    keys.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(".")
}

/// The items of a list; `None` if the key is missing, which is not the same as an empty list.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> Option<&'v [Value]> {
    value.get(key)?.as_array().map(Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_read_in_whatever_way_they_are_written() {
        for (value, plus, expected) in [
            (json!(3), 0, Ok(Some(3))),
            (json!(3), 1, Ok(Some(4))),
            (json!(3.0), 0, Ok(Some(3))),
            (json!("3"), 1, Ok(Some(4))),
            (json!(" +3 "), 0, Ok(Some(3))),
            (json!(null), 1, Ok(None)),
            (json!([7, 8]), 0, Ok(Some(7))),
            (json!([]), 0, Ok(None)),
            (json!(0), 0, Ok(Some(0))),
            (json!(-1), 1, Ok(Some(0))),
            (json!(-5), 1, Ok(Some(0))),
            (json!(u64::MAX), 1, Ok(Some(MOST as usize))),
            (json!(1e300), 1, Ok(Some(MOST as usize))),
            (json!("99999999999999999999999"), 1, Ok(Some(MOST as usize))),
            (json!("-99999999999999999999999"), 0, Ok(Some(0))),
            (json!(2.5), 0, Err("wrote a `n` that is not a whole number: `2.5`")),
            (json!("a1"), 0, Err("wrote a `n` that is not a whole number: `\"a1\"`")),
            (json!("٣"), 0, Err("wrote a `n` that is not a whole number: `\"٣\"`")),
            (json!(""), 0, Err("wrote a `n` that is not a whole number: `\"\"`")),
            (json!("-"), 0, Err("wrote a `n` that is not a whole number: `\"-\"`")),
            (json!(true), 0, Err("wrote a `n` that is not a whole number: `true`")),
            (json!({}), 0, Err("wrote a `n` that is not a whole number: `{}`")),
        ] {
            let found = number_at(&json!({ "n": value }), &["n"], plus);
            assert_eq!(found, expected.map_err(str::to_owned), "{value} + {plus}");
        }
    }

    #[test]
    fn keys_are_followed_through_lists() {
        let value = json!({ "a": [{ "b": { "c": ["x", "y"] } }], "n": null, "t": "text" });
        assert_eq!(text_at(&value, &["a", "b", "c"]), Ok(Some("x")));
        assert_eq!(text_at(&value, &["a", "z", "c"]), Ok(None));
        assert_eq!(text_at(&value, &["n", "z"]), Ok(None));
        assert!(text_at(&value, &["t", "z"]).unwrap_err().contains("other than an object at `z`"));
        assert!(text_at(&value, &["a"]).unwrap_err().contains("a `a` that is not a string"));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = "é".repeat(3000) + "x";
        let value = json!({ "t": long });
        assert_eq!(text_at(&value, &["t"]).unwrap().unwrap(), "é".repeat(2048));
        assert_eq!(rule_name(&value["t"]).unwrap().len(), LONGEST_TEXT);
        assert_eq!(truncate("short"), "short");
    }

    #[test]
    fn what_is_not_read_within_bounds_is_not_read() {
        assert!(parse(" \n").unwrap_err().contains("nothing instead of JSON"));
        assert!(parse("Oops: \u{1b}[31m\n").unwrap_err().ends_with(": `Oops:`"));
        let deep = "[".repeat(100_000);
        assert!(parse(&deep).unwrap_err().contains("recursion limit"));
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert!(parse(&many).unwrap_err().contains("over 2000000 values"));
        assert!(parse("1e999").is_err());
        assert_eq!(parse("\u{feff}[]").unwrap(), json!([]));
    }

    #[test]
    fn a_document_of_too_many_values_is_not_read_in_another_way() {
        let items = |value: &Value| Ok(value.as_array().unwrap().clone());
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        // Control: the search for embedded documents has no limit of its own.
        assert_eq!(embedded_values(&many).map(|values| values.len()), Some(1));
        for text in [many.clone(), format!("a note\n{many}\n")] {
            assert!(document(&text, items).unwrap_err().contains("over 2000000 values"));
        }
        assert_eq!(document("a note\n[1, 2]\n", items).unwrap(), [json!(1), json!(2)]);
    }
}
