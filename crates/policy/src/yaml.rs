//! The only reader of YAML: it parses untrusted text into a tree whose nodes have line and column.
//!
//! Invariant: parsing ends quickly and without a panic for any text. It is limited in bytes, nodes and depth,
//! and rejects anchors, aliases, merge keys, tags of other tools and duplicate keys.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{
    DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy, Options, Spanned, budget, options,
};

use super::node::{MAX_WORD, MapKey, PolicyError, TextPosition, YamlNode, YamlValue, clipped};
use super::policy_error::yaml_lines;
use lockgate_error::Error;

/// The largest text that is parsed, in bytes.
const MAX_BYTES: usize = 1024 * 1024;
/// The most nodes (scalars, lists, maps) that a text may have.
const MAX_NODES: usize = 20_000;
/// The deepest nesting of lists and maps.
const MAX_DEPTH: usize = 32;

/// Parses `text` and passes its root to `convert`; an error of either becomes `POLICY_INVALID` with position
/// and caret.
pub(super) fn read<T>(
    name: &str,
    text: &str,
    convert: impl FnOnce(&YamlNode) -> Result<T, PolicyError>,
) -> Result<T, Error> {
    let text = plain(text);
    parse(text).and_then(|root| convert(&root)).map_err(|error| error.into_error(name, text))
}

/// Reads a text that is compiled in.
pub(super) fn read_embedded<T>(
    name: &str,
    text: &str,
    convert: impl FnOnce(&YamlNode) -> Result<T, PolicyError>,
) -> T {
    match read(name, text, convert) {
        Ok(value) => value,
        // Unreachable for any input: the texts are constants, and a test parses each of them.
        Err(error) => unreachable!("{error}"),
    }
}

/// Returns the text without a byte order mark; lines and columns in messages refer to it.
pub(super) fn plain(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Parses a text to its tree.
pub(super) fn parse(text: &str) -> Result<YamlNode, PolicyError> {
    if text.len() > MAX_BYTES {
        return Err(PolicyError::new(TextPosition::START, "the file is larger than 1 MiB"));
    }
    serde_saphyr::from_str_with_options::<Spanned<RawValue>>(text, strict())
        .map(node)
        .map_err(|error| fault(&error, text))
}

/// Returns the texts at the end of a path of keys in an untrusted YAML text, those of every element where a list is on the
/// way. `None` if the text is not valid, or not within the limits of a policy: it may have no anchors.
pub fn yaml_texts(text: &str, path: &[&str]) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    add_texts(&parse(plain(text)).ok()?, path, &mut texts);
    Some(texts)
}

fn add_texts(node: &YamlNode, path: &[&str], texts: &mut Vec<String>) {
    match (&node.value, path) {
        (YamlValue::List(items), _) => items.iter().for_each(|item| add_texts(item, path, texts)),
        (YamlValue::Map(entries), [name, below @ ..]) => {
            let named = entries.iter().filter(|(key, _)| key.name == *name);
            named.for_each(|(_, value)| add_texts(value, below, texts));
        }
        (YamlValue::Text(text), []) => texts.push(text.clone()),
        _ => {}
    }
}

fn strict() -> Options {
    options! {
        budget: budget! {
            max_nodes: MAX_NODES,
            max_events: 3 * MAX_NODES,
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_documents: 1,
            max_anchors: 0,
            max_aliases: 0,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        reject_unsupported_tags: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        emit_comments: false,
        with_snippet: false,
    }
}

/// A value from the deserializer, before its position is attached.
struct RawValue(YamlValue);

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawValue, D::Error> {
        deserializer.deserialize_any(RawVisitor).map(RawValue)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = YamlValue;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Nothing)
    }

    fn visit_bool<E>(self, value: bool) -> Result<YamlValue, E> {
        Ok(YamlValue::Flag(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<YamlValue, E> {
        Ok(YamlValue::Whole(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<YamlValue, E> {
        Ok(YamlValue::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<YamlValue, E> {
        // With a point or an exponent, so that a message does not take it for a whole number.
        Ok(YamlValue::Number(format!("{value:?}")))
    }

    fn visit_str<E>(self, value: &str) -> Result<YamlValue, E> {
        Ok(YamlValue::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<YamlValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<RawValue>>()? {
            list.push(node(item));
        }
        Ok(YamlValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<YamlValue, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let key = MapKey { position: position(key.referenced), name: key.value };
            let value = node(entries.next_value::<Spanned<RawValue>>()?);
            map.push((key, value));
        }
        Ok(YamlValue::Map(map))
    }
}

fn node(raw: Spanned<RawValue>) -> YamlNode {
    YamlNode { position: position(raw.referenced), value: raw.value.0 }
}

fn position(location: serde_saphyr::Location) -> TextPosition {
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).max(1);
    TextPosition { line: whole(location.line()), column: whole(location.column()) }
}

fn fault(error: &serde_saphyr::Error, text: &str) -> PolicyError {
    let error = error.without_snippet();
    let at = error.location().map_or(TextPosition::START, position);
    match error {
        serde_saphyr::Error::UnknownAnchor { .. } => PolicyError::new(at, alias_message(text, at)),
        _ => PolicyError::new(at, message(error)),
    }
}

/// Describes the alias at this position; a mere `*` is meant for every language.
fn alias_message(text: &str, at: TextPosition) -> String {
    let line = yaml_lines(text).nth(at.line - 1).unwrap_or_default();
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}');
    let word: String = line.chars().skip(at.column - 1).take_while(|c| !ends(*c)).collect();
    match word.trim_end_matches(':').strip_prefix('*') {
        Some(name) if !name.is_empty() => {
            let alias = format!("*{}", clipped(name, MAX_WORD));
            format!(
                "`{alias}` is an alias, and aliases are not supported: write `\"{alias}\"` for a text, else the value itself"
            )
        }
        Some(_) | None => {
            "`*` starts an alias, and aliases are not supported: put `\"*\"` in quotes to mean every language"
                .to_owned()
        }
    }
}

/// Returns the error in words for the author of the file rather than for a user of the library.
fn message(error: &serde_saphyr::Error) -> String {
    use serde_saphyr::Error as Yaml;
    use serde_saphyr::budget::BudgetBreach;
    match error {
        Yaml::DuplicateMappingKey { key: Some(key), .. } => {
            format!("duplicate key `{}`", clipped(key, MAX_WORD))
        }
        Yaml::DuplicateMappingKey { .. } => "duplicate key".to_owned(),
        Yaml::MergeKeyNotAllowed { .. } => {
            "merge keys (`<<`) are not supported: write the keys out".to_owned()
        }
        Yaml::MultipleDocuments { .. } | Yaml::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
            "a second YAML document starts here: keep one".to_owned()
        }
        Yaml::NullIntoString { .. } => "the key is missing: write a text before the colon".to_owned(),
        Yaml::Budget { breach, .. } => match breach {
            BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. } => {
                "anchors and aliases are not supported: write the value out".to_owned()
            }
            BudgetBreach::Depth { .. } => format!("nested more than {MAX_DEPTH} deep"),
            BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
                format!("more than {MAX_NODES} values")
            }
            _ => "larger than the limits for a policy".to_owned(),
        },
        _ => clean_message(&error.to_string()),
    }
}

/// Returns the library's own message, without its position prefix and without line breaks.
fn clean_message(text: &str) -> String {
    let text = text.rsplit_once(" at line ").map_or(text, |(message, _)| message);
    match text {
        "recursion limit exceeded" => format!("nested more than {MAX_DEPTH} deep"),
        "expected string scalar" => "a key must be a text, not a list or a map".to_owned(),
        _ if text.starts_with("tabs disallowed") => "the indentation contains a tab: use spaces".to_owned(),
        _ => format!("not valid YAML: {}", text.lines().next().unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error_message(text: &str) -> String {
        read("q.yaml", text, |_| Ok(())).expect_err(text).message
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        assert_eq!(error_message(text), expected);
    }

    #[test]
    fn faults_of_the_text_have_place_excerpt_and_caret() {
        refused("a: 1\nb: 2\na: 3\n", "q.yaml:3:1: duplicate key `a`\n 3 | a: 3\n   | ^");
        refused(
            "a:\r\n\tb: c\r\n",
            "q.yaml:2:2: the indentation contains a tab: use spaces\n 2 |  b: c\n   |  ^",
        );
        refused(
            "a: [1, 2\nb: 3\n",
            "q.yaml:2:2: not valid YAML: illegal placement of ':' indicator\n 2 | b: 3\n   |  ^",
        );
        refused(
            "*: 1\n",
            "q.yaml:1:1: `*` starts an alias, and aliases are not supported: put `\"*\"` in quotes to mean every language\n 1 | *: 1\n   | ^",
        );
        refused(
            "x: &a [1]\n",
            "q.yaml:1:7: anchors and aliases are not supported: write the value out\n 1 | x: &a [1]\n   |       ^",
        );
        refused(
            "x: [1, *b]\n",
            "q.yaml:1:8: `*b` is an alias, and aliases are not supported: write `\"*b\"` for a text, else the value itself\n 1 | x: [1, *b]\n   |        ^",
        );
        refused(
            "<<: {a: 1}\n",
            "q.yaml:1:1: merge keys (`<<`) are not supported: write the keys out\n 1 | <<: {a: 1}\n   | ^",
        );
        refused(
            "a: 1\n---\nb: 1\n",
            "q.yaml:2:1: a second YAML document starts here: keep one\n 2 | ---\n   | ^",
        );
        refused(
            "a: \0\n",
            "q.yaml:1:4: not valid YAML: unexpected character: `\\u{0}'\n 1 | a: \u{fffd}\n   |    ^",
        );
        refused("[a]: 1\n", "q.yaml:1:1: a key must be a text, not a list or a map\n 1 | [a]: 1\n   | ^");
        refused(
            "a: !!python/object 1\n",
            "q.yaml:1:20: not valid YAML: unsupported tag `!!python/object`\n 1 | a: !!python/object 1\n   |                    ^",
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let text = format!("a: \"{}\" b\n", "é".repeat(500));
        let message = error_message(&text);
        let lines: Vec<&str> = message.lines().collect();
        assert_eq!(lines.len(), 3, "{message}");
        assert!(lines.iter().all(|line| line.chars().count() <= 110), "{message}");
    }

    #[test]
    fn booleans_are_true_and_false_only_and_numbers_stay_what_was_written() {
        let values = read("q.yaml", "[true, yes, on, 010, 1_0, 0, -1, .inf, 1e999, ~]", |root| {
            Ok(root.list("it")?.iter().map(|node| node.value.clone()).collect::<Vec<_>>())
        });
        let text = |text: &str| YamlValue::Text(text.to_owned());
        let number = |text: &str| YamlValue::Number(text.to_owned());
        let expected = vec![
            YamlValue::Flag(true),
            text("yes"),
            text("on"),
            text("010"),
            text("1_0"),
            YamlValue::Whole(0),
            number("-1"),
            text(".inf"),
            text(".inf"),
            YamlValue::Nothing,
        ];
        assert_eq!(values.unwrap(), expected);
    }

    /// Texts that overwhelm a reader without bounds; each was chosen to need a bound of its own.
    fn hostile() -> Vec<(String, &'static str)> {
        let bomb = "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n".to_owned();
        let block: String = (0..200).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        vec![
            ("[".repeat(10_000), "nested more than 32 deep"),
            ("{a: ".repeat(10_000), "nested more than 32 deep"),
            ("- ".repeat(10_000), "nested more than 32 deep"),
            (block, "nested more than 32 deep"),
            (bomb, "anchors and aliases are not supported"),
            (format!("a: [{}]", "1,".repeat(30_000)), "more than 20000 values"),
            ("a: 1\n".repeat(200_000), "duplicate key"),
            ("x".repeat(MAX_BYTES + 1), "larger than 1 MiB"),
            (format!("a: !{} 1", "x".repeat(500_000)), "unsupported tag"),
            (format!("{{ {0}: 1, {0}: 2 }}", "x".repeat(500)), "duplicate key"),
            ("? ".repeat(10_000), "q.yaml:1:"),
            ("\"".to_owned() + &"\\".repeat(100_001), "q.yaml:1:"),
        ]
    }

    #[test]
    fn hostile_texts_are_refused_by_their_bound() {
        for (text, expected) in hostile() {
            let message = error_message(&text);
            assert!(message.contains(expected), "{}", message.chars().take(300).collect::<String>());
            assert!(message.len() < 1000);
        }
    }

    #[test]
    fn the_bounds_are_what_refuses() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&deep(MAX_DEPTH)).is_ok());
        assert!(parse(&deep(MAX_DEPTH + 1)).is_err());
        let wide = |count: usize| format!("[{}]", "1,".repeat(count));
        assert!(parse(&wide(MAX_NODES - 1)).is_ok());
        assert!(parse(&wide(MAX_NODES)).is_err());
        let distinct: String = (0..9_000).map(|key| format!("k{key}: 1\n")).collect();
        assert!(parse(&distinct).is_ok());
    }

    #[test]
    fn texts_are_found_by_their_keys() {
        let hooks = |text: &str| yaml_texts(text, &["repos", "hooks", "id"]);
        let found = |ids: &[&str]| Some(ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
        for text in [
            "repos:\n  - repo: x\n    hooks:\n      - id: black # id: z\n  - hooks: [{ args: [id], id: 'isort' }]\n",
            "\u{feff}{repos: [{hooks: [{id: black}, {id: 1}, isort, {id: isort}]}, {hooks: black}]}",
        ] {
            assert_eq!(hooks(text), found(&["black", "isort"]), "{text}");
        }
        assert_eq!(hooks("hooks: [{id: black}]"), found(&[]));
        for (text, _) in hostile() {
            assert_eq!(hooks(&text), None);
        }
    }

    proptest! {
        #[test]
        fn random_bytes_give_a_policy_or_a_rejection(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let text = String::from_utf8_lossy(&bytes);
            let _ = crate::Policy::parse("q.yaml", &text);
        }

        #[test]
        fn random_yaml_gives_a_policy_or_a_rejection(
            text in r#"(quality_gates|limits|python|"\*"|tool|file|syntax|[-:,{}\[\]&*!|>'"%@`#?~]|\n| |\t|é|10MiB){0,60}"#
        ) {
            if let Err(error) = crate::Policy::parse("q.yaml", &text) {
                prop_assert_eq!(error.code, lockgate_error::Code::PolicyInvalid);
                prop_assert!(error.message.starts_with("q.yaml:"));
            }
        }
    }
}
