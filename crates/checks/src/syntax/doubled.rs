//! Finds duplicate keys in a map: parsers accept them, and most of them drop the first value.

use std::collections::HashSet;

use granit_parser::{Event, ScalarStyle};

use super::fault::SyntaxFault;
use super::parse::Parse;
use super::{jsonc, yaml};

/// The languages whose maps are checked.
pub(super) const LANGUAGES: [&str; 3] = ["yaml", "json", "jsonc"];

/// The most duplicate keys that are reported.
const MOST: usize = 100;

/// Returns a fault for each duplicate key of a text that has no other faults.
pub(super) fn keys(language: &str, text: &str) -> Vec<SyntaxFault> {
    match language {
        "yaml" => read_yaml(text).1,
        "json" | "jsonc" => in_json(text),
        _ => Vec::new(),
    }
}

/// Parses a stream up to the first fault; also returns a fault for each duplicate key before it.
pub(super) fn read_yaml(text: &str) -> (Parse, Vec<SyntaxFault>) {
    let mut keys = YamlKeys::default();
    let parse = yaml::read_events(text, &mut |event, at| keys.see(event, at));
    (parse, keys.faults(text))
}

fn doubled(at: usize, length: usize, key: &str) -> SyntaxFault {
    let key_start: String = key.chars().take(60).collect();
    SyntaxFault::new(at, at + length, format!("duplicate key `{key_start}` in this map"))
}

/// An open map or list, with the keys seen so far.
enum OpenContainer {
    Map { seen: HashSet<String>, at_key: bool },
    List,
}

impl OpenContainer {
    fn map() -> OpenContainer {
        OpenContainer::Map { seen: HashSet::new(), at_key: true }
    }
}

/// Passes one node of the innermost container; returns true for a duplicate key.
fn pass(open: &mut [OpenContainer], key: Option<&str>) -> bool {
    let Some(OpenContainer::Map { seen, at_key }) = open.last_mut() else { return false };
    let is_key = std::mem::replace(at_key, !*at_key);
    match key.filter(|_| is_key) {
        // A merge key may occur several times.
        Some("<<") | None => false,
        Some(key) => !seen.insert(key.to_owned()),
    }
}

/// Collects the duplicate keys of a YAML text from its events.
#[derive(Default)]
struct YamlKeys {
    open: Vec<OpenContainer>,
    /// The duplicate keys, each with the number of its first character.
    places: Vec<(usize, String)>,
}

impl YamlKeys {
    /// Processes an event that begins at this character of the text.
    fn see(&mut self, event: Event<'_>, at: usize) {
        let open = &mut self.open;
        match event {
            Event::MappingStart(..) => {
                pass(open, None);
                open.push(OpenContainer::map());
            }
            Event::SequenceStart(..) => {
                pass(open, None);
                open.push(OpenContainer::List);
            }
            Event::MappingEnd | Event::SequenceEnd => drop(open.pop()),
            Event::Alias(..) => drop(pass(open, None)),
            Event::Scalar(value, style, _, tag) => {
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                // YAML does not allow this character, so no other key begins with it.
                let typed = (is_plain && is_typed(&value)).then(|| format!("\u{1}{value}"));
                let stands_twice = pass(open, Some(typed.as_deref().unwrap_or(&value)));
                if stands_twice && self.places.len() < MOST {
                    self.places.push((at, value.into_owned()));
                }
            }
            _ => {}
        }
    }

    /// Returns a fault for each duplicate key.
    fn faults(self, text: &str) -> Vec<SyntaxFault> {
        // The parser counts characters, and the places are in text order.
        let (mut characters, mut faults) = (text.char_indices().enumerate(), Vec::new());
        for (index, key) in self.places {
            let at = characters.by_ref().find(|(count, _)| *count == index).map(|(_, (at, _))| at);
            faults.push(doubled(at.unwrap_or(text.len()), key.len(), &key));
        }
        faults
    }
}

/// True for a plain scalar that a YAML parser may read as a number, a boolean or null, so that it differs from the same text
/// in quotes.
fn is_typed(value: &str) -> bool {
    let unsigned = value.trim_start_matches(['+', '-']).trim_start_matches('.');
    let words = ["", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "inf", "nan"];
    unsigned.starts_with(|c: char| c.is_ascii_digit())
        || words.iter().any(|word| unsigned.eq_ignore_ascii_case(word))
}

fn in_json(text: &str) -> Vec<SyntaxFault> {
    let bytes = text.as_bytes();
    let (mut open, mut faults, mut at) = (Vec::<OpenContainer>::new(), Vec::new(), 0);
    while let Some(byte) = bytes.get(at).filter(|_| faults.len() < MOST) {
        let rest = text.get(at..).unwrap_or_default();
        let mut length = 1;
        match byte {
            b'{' => open.push(OpenContainer::map()),
            b'[' => open.push(OpenContainer::List),
            b'}' | b']' => drop(open.pop()),
            b':' | b',' => {
                if let Some(OpenContainer::Map { at_key, .. }) = open.last_mut() {
                    *at_key = *byte == b',';
                }
            }
            b'"' => {
                length = jsonc::string_length(rest);
                if let (Some(OpenContainer::Map { seen, at_key: true }), Some(key)) =
                    (open.last_mut(), rest.get(1..length.saturating_sub(1)))
                    && !seen.insert(key.to_owned())
                {
                    faults.push(doubled(at, length, key));
                }
            }
            b'/' => length = jsonc::comment_length(rest).unwrap_or(1),
            _ => {}
        }
        at += length;
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duplicates(language: &str, text: &str) -> Vec<String> {
        let describe = |fault: SyntaxFault| {
            format!("{} {}", fault.at, fault.message.split('`').nth(1).unwrap_or_default())
        };
        keys(language, text).into_iter().map(describe).collect()
    }

    #[test]
    fn a_duplicate_key_in_a_map_is_found() {
        assert_eq!(duplicates("yaml", "é: 1\nb: 2\nb: 3\n"), ["11 b"]);
        assert_eq!(duplicates("yaml", "a: { b: 1, b: 2 }\nc:\n  - d: 1\n    d: 2\n"), ["11 b", "34 d"]);
        assert_eq!(duplicates("yaml", "1: a\n1: b\n\"1\": c\n\"a\": d\na: e\n"), ["5 1", "24 a"]);
        assert_eq!(duplicates("yaml", "'1': a\n\"1\": b\n"), ["7 1"]);
        assert_eq!(duplicates("yaml", "a: [x]\na:\n  b: 1\n"), ["7 a"]);
        assert_eq!(duplicates("json", r#"{"a": {"b": 1, "b": "b"}, "a": 2}"#), ["15 b", "26 a"]);
        assert_eq!(duplicates("jsonc", r#"{"a": 1, /*/ { /*/ "a": 2}"#), ["19 a"]);
        assert_eq!(duplicates("jsonc", r#"{"a": 1, /**/ "a": 2}"#), ["14 a"]);
        assert_eq!(duplicates("jsonc", "{\n // \"a\": {\n \"a\": 1, /* } */ \"a\": 2,\n}\n"), ["30 a"]);
    }

    #[test]
    fn equal_keys_of_different_maps_and_equal_values_are_good() {
        for text in [
            "a: { b: 1 }\nc: { b: 1 }\n",
            "- a: 1\n- a: 2\n",
            "a: 1\n---\na: 2\n",
            "a: a\nb: a\n",
            "x: &x { a: 1 }\ny: &y { b: 1 }\nz:\n  <<: *x\n  <<: *y\n",
            "[a, a, a]\n",
            "1: a\n\"1\": b\n",
            "true: a\n'true': b\n-1.5: a\n'-1.5': b\n~: a\n'~': b\n",
            "? [a]\n: a\n? [a]\n: a\n",
            "*a : 1\n",
            "a: !Ref b\nc: !Sub\n  - b\n  - b: b\n",
        ] {
            assert_eq!(duplicates("yaml", text), [""; 0], "{text}");
        }
        for text in [
            r#"{"a": "a", "b": ["a", "a"], "c": {"a": 1}}"#,
            r#"[{"a": 1}, {"a": 2}]"#,
            r#"{"a\"": 1, "a": 2}"#,
        ] {
            assert_eq!(duplicates("json", text), [""; 0], "{text}");
        }
        for text in [r#"{"a": 1 /*/ , "a": 2 */}"#, r#"{"a": 1 /*/"#, r#"{"a": 1 /*"#] {
            assert_eq!(duplicates("jsonc", text), [""; 0], "{text}");
        }
    }
}
