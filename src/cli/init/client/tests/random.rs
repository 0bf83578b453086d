//! Tests of merging into random texts in all valid layouts.

use super::*;
use proptest::prelude::*;

/// A value, one way to write it, and the comments in that text.
#[derive(Debug, Clone)]
struct Written {
    value: Value,
    text: String,
}

/// Returns blanks and comments between two tokens.
fn between() -> impl Strategy<Value = String> {
    let blank =
        prop_oneof![4 => Just(""), 3 => Just(" "), 1 => Just("\t"), 2 => Just("\n"), 1 => Just("\n    ")];
    let comment = prop_oneof![
        12 => Just(""),
        1 => Just("// } , { \"mcpServers\": { \"lockgate\"\n"),
        1 => Just("/* \" } , \n */"),
        1 => Just("// é 日本\n"),
        1 => Just("/**/"),
    ];
    (blank.clone(), comment, blank).prop_map(|(one, two, three)| format!("{one}{two}{three}"))
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a".to_owned()),
        Just("mcpServers".to_owned()),
        Just("lock".to_owned()),
        Just("// no comment".to_owned()),
        Just("é \" \\ }".to_owned()),
        "[a-z]{1,5}",
    ]
}

fn leaf() -> impl Strategy<Value = Written> {
    let plain = |value: Value| Written { text: value.to_string(), value };
    prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        any::<i32>().prop_map(|number| json!(number)),
        name().prop_map(|text| json!(text)),
        Just(json!("http://example.org/ /* no comment */ \u{1}")),
        Just(json!({})),
        Just(json!([])),
    ]
    .prop_map(plain)
}

/// Joins items with the text between them; `open` adds a trailing comma.
fn listed(items: &[String], gaps: &[String], open: bool) -> String {
    let mut gaps = gaps.iter().cycle();
    let mut gap = || gaps.next().cloned().unwrap_or_default();
    let mut text = gap();
    for (at, item) in items.iter().enumerate() {
        text += &format!("{item}{}", gap());
        if at + 1 < items.len() || open {
            text += &format!(",{}", gap());
        }
    }
    text
}

fn value() -> impl Strategy<Value = Written> {
    leaf().prop_recursive(4, 40, 5, |inner| {
        let gaps = || prop::collection::vec(between(), 1..9);
        let array = (prop::collection::vec(inner.clone(), 0..5), gaps(), any::<bool>()).prop_map(
            |(items, gaps, open)| {
                let texts: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
                let text = format!("[{}]", listed(&texts, &gaps, open && !items.is_empty()));
                Written { value: items.into_iter().map(|item| item.value).collect(), text }
            },
        );
        prop_oneof![array, object(inner)]
    })
}

fn object(inner: impl Strategy<Value = Written> + 'static) -> impl Strategy<Value = Written> {
    let gaps = prop::collection::vec(between(), 1..9);
    let fields = prop::collection::btree_map(name(), inner, 0..5);
    (fields, gaps, any::<bool>()).prop_map(|(fields, gaps, open)| {
        let text = |(name, item): (&String, &Written)| {
            format!("{}{}:{}{}", json!(name), gaps[0], gaps[gaps.len() / 2], item.text)
        };
        let texts: Vec<String> = fields.iter().map(text).collect();
        let text = format!("{{{}}}", listed(&texts, &gaps, open && !texts.is_empty()));
        Written { value: fields.into_iter().map(|(name, item)| (name, item.value)).collect(), text }
    })
}

/// Returns the comments of a text, and the text without comments and trailing commas. Uses other code than the code
/// under test.
fn strict(text: &str) -> (Vec<String>, String) {
    let (mut comments, mut plain) = (Vec::new(), String::new());
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").unwrap() + 2
        } else if first == '"' {
            let mut escaped = true;
            let is_end = |(_, character): &(usize, char)| {
                let is_quote = *character == '"' && !escaped;
                escaped = *character == '\\' && !escaped;
                is_quote
            };
            let (end, _) = rest.char_indices().find(is_end).unwrap();
            end + 1
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(length);
        if token.starts_with("//") || token.starts_with("/*") {
            comments.push(token.to_owned());
        } else if !token.trim().is_empty() {
            if token == "}" || token == "]" {
                plain = plain.trim_end_matches(',').to_owned();
            }
            plain += token;
        }
        rest = behind;
    }
    (comments, plain)
}

fn is_within(one: &str, other: &str) -> bool {
    let mut other = other.chars();
    one.chars().all(|wanted| other.any(|found| found == wanted))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_existing_text_is_lost(
        written in object(value().boxed()),
        around in (between(), between()),
        (byte_order_mark, crlf) in (any::<bool>(), any::<bool>()),
    ) {
        let byte_order_mark = if byte_order_mark { "\u{feff}" } else { "" };
        let mut text = format!("{byte_order_mark}{}{}{}", around.0, written.text, around.1);
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let (comments, plain) = strict(&text);
        prop_assert_eq!(&serde_json::from_str::<Value>(&plain).unwrap(), &written.value, "the control: {}", text);
        let after = match merged(&text) {
            Ok(MergeResult::Added(after)) => after,
            Err(_) => {
                prop_assert!(written.value.get("mcpServers").is_some_and(|servers| !servers.is_object()), "{}", text);
                return Ok(());
            }
            other => return Err(TestCaseError::fail(format!("{other:?}: {text}"))),
        };
        let mut wanted = written.value.clone();
        wanted["mcpServers"]["lockgate"] = Value::Object(entry());
        let (comments_after, plain_after) = strict(&after);
        prop_assert_eq!(serde_json::from_str::<Value>(&plain_after).unwrap(), wanted, "{}", after);
        prop_assert_eq!(&comments_after, &comments, "{}", after);
        prop_assert_eq!(merged(&after), Ok(MergeResult::Unchanged), "{}", after);
        let made = new_containers(&text, &server()).unwrap();
        let cut = remove(&after, &server(), &made).unwrap().unwrap();
        let (comments_cut, plain_cut) = strict(&cut);
        let left: Value = serde_json::from_str(&plain_cut).unwrap();
        prop_assert_eq!(&left, &written.value, "{}", cut);
        prop_assert_eq!(comments_cut, comments_after, "{}", cut);
        // Only blanks before a brace may go.
        let solid = |text: &str| text.chars().filter(|c| !matches!(c, ' ' | '\t')).collect::<String>();
        prop_assert!(is_within(&solid(&text), &solid(&after)), "{}", after);
        prop_assert!(after.starts_with(byte_order_mark));
        if text.contains('\n') {
            prop_assert_eq!(after.replace("\r\n", "").contains('\n'), !crlf, "{}", after);
        }
    }
}
