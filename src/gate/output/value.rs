//! JSON from outside: read within bounds, and asked for numbers and texts in whatever way it has them.
//!
//! Invariant: a value that is not there is told from one that cannot be read.

use serde_json::Value;

use super::notes;
use crate::gate::finding::clean;

/// The most values in one text. A value takes up to a hundred bytes, so that a text of a few MiB could take far more
/// memory than it is long.
const MOST_VALUES: usize = 2_000_000;

/// The most bytes that are taken of a text in an output. Thousands of findings may share one text, so that a long one
/// would be copied as often.
const LONGEST_TEXT: usize = 4096;

/// The largest line or column that is told apart from a larger one.
const MOST: u32 = u32::MAX;

/// The most lines of an output at which a JSON document is looked for.
const MOST_TRIES: usize = 1000;

/// How much of a text that is not JSON is shown, in characters.
const EXCERPT: usize = 80;

/// Reads one JSON value; nesting is bounded by the reader at 128 levels.
pub(super) fn parsed(text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err("wrote nothing where JSON was due".to_owned());
    }
    within_bounds(text)?;
    serde_json::from_str(text).map_err(|error| format!("wrote no JSON ({error}): {}", excerpt(text)))
}

/// Counts the values that a text may hold, without reading them.
///
/// Errors: where there are more than [`MOST_VALUES`].
fn within_bounds(text: &str) -> Result<(), String> {
    let separators = memchr::memchr3_iter(b',', b'[', b'{', text.as_bytes()).take(MOST_VALUES);
    if separators.count() == MOST_VALUES {
        return Err(format!("wrote JSON of over {MOST_VALUES} values"));
    }
    Ok(())
}

/// Reads the findings of the JSON document that a text holds, with `read`: the text as a whole or, where other lines stand
/// beside it, each value that begins and ends with a line and is in the form that `read` expects.
///
/// Errors: where there is none, where one is cut off or spoilt, where the text may hold too many values, and where a line
/// beside it reports a crash.
pub(super) fn document<T>(
    text: &str,
    read: impl Fn(&Value) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, String> {
    within_bounds(text)?;
    let why = match parsed(text) {
        Ok(root) => return read(&root),
        Err(why) => why,
    };
    if !notes::is_on() {
        return Err(why);
    }
    let mut found: Option<Vec<T>> = None;
    let mut strange = None;
    for value in embedded(text).ok_or_else(|| why.clone())? {
        match read(&value) {
            Ok(items) => found.get_or_insert_default().extend(items),
            Err(why) => strange = strange.or(Some(why)),
        }
    }
    found.ok_or_else(|| strange.unwrap_or(why))
}

/// The JSON lists and objects that begin at the start of a line and end at the end of one. Nothing where one has no end,
/// as its rest may hold findings, where one is no JSON or has something behind it on its line, where a line between them
/// reports a crash, and where too many lines look like one.
fn embedded(text: &str) -> Option<Vec<Value>> {
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
        if tries > MOST_TRIES {
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

/// Returns true for a value that may be an answer: an object, or a list of some.
fn holds_objects(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(holds_objects),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns true for a line that begins as an object with a key, or as a list of objects, and so is no line of a log.
fn begins_with_object(line: &str) -> bool {
    let inner = line.trim_start_matches(['[', ' ']).trim_end();
    inner.strip_prefix('{').is_some_and(|keys| keys.is_empty() || keys.trim_start().starts_with('"'))
}

/// The beginning of a text that was not understood.
pub(super) fn excerpt(text: &str) -> String {
    let shown: String = clean(text.lines().next().unwrap_or_default()).chars().take(EXCERPT).collect();
    format!("`{shown}`")
}

/// Follows keys into a value; of a list on the way, its first item. Nothing where one is missing or `null`.
pub(super) fn at<'v, K: AsRef<str>>(value: &'v Value, keys: &[K]) -> Result<Option<&'v Value>, String> {
    let mut here = value;
    for key in keys {
        let Some(value) = single(here) else { return Ok(None) };
        let Value::Object(fields) = value else {
            return Err(format!("wrote something other than an object where `{}` was due", key.as_ref()));
        };
        let Some(next) = fields.get(key.as_ref()) else { return Ok(None) };
        here = next;
    }
    Ok(single(here))
}

/// The value itself, or the first of a list of them; `null` is none.
fn single(mut value: &Value) -> Option<&Value> {
    while let Value::Array(items) = value {
        value = items.first()?;
    }
    (!value.is_null()).then_some(value)
}

/// The beginning of a text from outside.
pub(super) fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST_TEXT)).unwrap_or(text)
}

/// Reads the text at the end of these keys, or the beginning of a long one.
pub(super) fn text_at<'v, K: AsRef<str>>(value: &'v Value, keys: &[K]) -> Result<Option<&'v str>, String> {
    let found = at(value, keys)?;
    let wrong = || format!("wrote a `{}` that is no text", way(keys));
    found.map(|found| found.as_str().map(cut).ok_or_else(wrong)).transpose()
}

/// Reads a line or a column at the end of these keys, with something added to it; what lies beyond either end is 0 or
/// [`MOST`].
pub(super) fn number_at<K: AsRef<str>>(
    value: &Value,
    keys: &[K],
    plus: u32,
) -> Result<Option<usize>, String> {
    let Some(found) = at(value, keys)? else { return Ok(None) };
    let wrong = || no_number(&way(keys), &found.to_string());
    let number = match found {
        Value::Number(number) => number.as_f64().filter(|number| number.fract() == 0.0).map(bounded),
        Value::String(digits) => bounded_digits(digits),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    Ok(Some(counted(number.ok_or_else(wrong)?.saturating_add(i64::from(plus)))))
}

/// Says that a part of a finding is no number.
pub(super) fn no_number(name: &str, seen: &str) -> String {
    format!("wrote a `{name}` that is no whole number: {}", excerpt(seen))
}

/// Reads a line or a column as digits.
pub(super) fn number(digits: &str) -> Option<usize> {
    bounded_digits(digits).map(counted)
}

fn counted(number: i64) -> usize {
    usize::try_from(number.clamp(0, i64::from(MOST))).unwrap_or(0)
}

fn bounded(number: f64) -> i64 {
    let most = f64::from(MOST);
    // Within these bounds every whole number is one of the other kind, too.
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

/// Reads a rule's name, which may be a number; nothing where there is none that can be shown.
pub(super) fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => Some(cut(name).to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The keys as a definition writes them.
pub(super) fn way<K: AsRef<str>>(keys: &[K]) -> String {
    keys.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_read_in_whatever_way_they_are_written() {
        for (value, plus, wanted) in [
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
            (json!(2.5), 0, Err("wrote a `n` that is no whole number: `2.5`")),
            (json!("a1"), 0, Err("wrote a `n` that is no whole number: `\"a1\"`")),
            (json!("٣"), 0, Err("wrote a `n` that is no whole number: `\"٣\"`")),
            (json!(""), 0, Err("wrote a `n` that is no whole number: `\"\"`")),
            (json!("-"), 0, Err("wrote a `n` that is no whole number: `\"-\"`")),
            (json!(true), 0, Err("wrote a `n` that is no whole number: `true`")),
            (json!({}), 0, Err("wrote a `n` that is no whole number: `{}`")),
        ] {
            let seen = number_at(&json!({ "n": value }), &["n"], plus);
            assert_eq!(seen, wanted.map_err(str::to_owned), "{value} + {plus}");
        }
    }

    #[test]
    fn keys_are_followed_through_lists() {
        let value = json!({ "a": [{ "b": { "c": ["x", "y"] } }], "n": null, "t": "text" });
        assert_eq!(text_at(&value, &["a", "b", "c"]), Ok(Some("x")));
        assert_eq!(text_at(&value, &["a", "z", "c"]), Ok(None));
        assert_eq!(text_at(&value, &["n", "z"]), Ok(None));
        assert!(text_at(&value, &["t", "z"]).unwrap_err().contains("where `z` was due"));
        assert!(text_at(&value, &["a"]).unwrap_err().contains("a `a` that is no text"));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = "é".repeat(3000) + "x";
        let value = json!({ "t": long });
        assert_eq!(text_at(&value, &["t"]).unwrap().unwrap(), "é".repeat(2048));
        assert_eq!(name_of(&value["t"]).unwrap().len(), LONGEST_TEXT);
        assert_eq!(cut("short"), "short");
    }

    #[test]
    fn what_is_not_read_within_bounds_is_not_read() {
        assert!(parsed(" \n").unwrap_err().contains("nothing where JSON"));
        assert!(parsed("Oops: \u{1b}[31m\n").unwrap_err().ends_with(": `Oops:`"));
        let deep = "[".repeat(100_000);
        assert!(parsed(&deep).unwrap_err().contains("recursion limit"));
        let many = format!("[{}0]", "0,".repeat(MOST_VALUES));
        assert!(parsed(&many).unwrap_err().contains("over 2000000 values"));
        assert!(parsed("1e999").is_err());
        assert_eq!(parsed("\u{feff}[]").unwrap(), json!([]));
    }

    #[test]
    fn a_document_of_too_many_values_is_not_read_in_another_way() {
        let items = |value: &Value| Ok(value.as_array().unwrap().clone());
        let many = format!("[{}0]", "0,".repeat(MOST_VALUES));
        // The control: what finds documents among other lines knows no bound of its own.
        assert_eq!(embedded(&many).map(|values| values.len()), Some(1));
        for text in [many.clone(), format!("a note\n{many}\n")] {
            assert!(document(&text, items).unwrap_err().contains("over 2000000 values"));
        }
        assert_eq!(document("a note\n[1, 2]\n", items).unwrap(), [json!(1), json!(2)]);
    }
}
