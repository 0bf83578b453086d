//! A search that an index narrows finds what a search through files finds.

use std::time::Instant;

use lockgate_edit::Edit;
use lockgate_edit::request::{Expect, Mode};
use lockgate_engine::SearchRequest;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use super::fixture::{EntityFixture, Storage};

/// Texts, how often each is written, and patterns that are looked for in them.
const TEXTS: usize = 20;
const TURNS: usize = 5;
const PATTERNS: usize = 400;

/// What both are made of: letters that fold to others, what a pattern of the database or its index reads otherwise, letters
/// that are none to it, line ends.
const WORDS: [&str; 23] = [
    "abc",
    "ABC",
    "task",
    "TASK",
    "ta\u{17f}k",
    "\u{212a}ey",
    "key",
    "\u{e4}\u{f6}\u{fc}",
    "\u{c4}\u{d6}\u{dc}",
    "a_b",
    "a%b",
    "\\\"'",
    "*[x]?",
    "\u{65e5}\u{672c}\u{8a9e}",
    "\u{1f600}\u{1f601}\u{1f602}",
    "stra\u{df}e",
    "i\u{307}I\u{130}\u{131}",
    "((=>",
    "\u{fffd}",
    " ",
    "\t",
    "\n",
    "\r\n",
];

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(WORDS.to_vec())
}

/// A text.
fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(word(), words).prop_map(|words| words.concat())
}

/// A text in one of several encodings.
fn encoded(text: &str, encoding: usize) -> Vec<u8> {
    match encoding % 3 {
        0 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        1 => b"\xff\xfe".iter().copied().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect(),
        _ => text.as_bytes().to_vec(),
    }
}

/// A piece of a pattern: what stands in texts, or other ways to say so.
fn atom() -> impl Strategy<Value = String> {
    let quoted = |text: &str| regex::escape(&text.replace("\r\n", "\n"));
    let words = prop::collection::vec(word(), 1..3).prop_map(move |words| quoted(&words.concat()));
    let part = (word(), 0..4_usize, 1..4_usize)
        .prop_map(move |(word, from, most)| quoted(&word.chars().skip(from).take(most).collect::<String>()));
    let other = [".", ".*", r"\w", r"\b", "[a-z]", "[Aa]", "^", "$", r"\s*", "(?s:.)", "[^b]"];
    prop_oneof![4 => words, 4 => part, 3 => prop::sample::select(other.to_vec()).prop_map(str::to_owned)]
}

fn pattern() -> impl Strategy<Value = (String, bool)> {
    let case_changed = (atom(), atom(), 0..9).prop_map(|(one, other, how)| match how {
        0 => format!("(?:{one})?"),
        1 => format!("(?:{one})+"),
        2 => format!("(?:{one}){{2}}"),
        3 => format!("(?:{one}){{0,2}}"),
        4 => format!("(?:{one}|{other})"),
        5 => format!("(?i:{one})"),
        6 => format!("(?i){one}{other}"),
        7 => format!("(?-u:{one})"),
        _ => one,
    });
    (prop::collection::vec(case_changed, 1..4).prop_map(|parts| parts.concat()), any::<bool>())
}

/// All matches, or the code of the rejection.
fn search_matches(
    fixture: &EntityFixture,
    pattern: &str,
    multiline: bool,
) -> Result<Vec<(String, usize)>, String> {
    let request = SearchRequest {
        pattern: pattern.to_owned(),
        path: None,
        entity_scope: fixture.search_scope(),
        context: 0,
        max_matches: 1000,
        hidden: false,
        multiline,
        offset: 0,
    };
    match fixture.read(request) {
        Ok(found) => {
            let mut matches: Vec<(String, usize)> =
                found.matches.iter().map(|one| (one.path.clone(), one.line_number)).collect();
            assert_eq!((matches.len(), found.truncated), (found.total_matches, false), "{pattern:?}");
            matches.sort();
            Ok(matches)
        }
        Err(rejection) => Err(rejection.code.name().to_owned()),
    }
}

fn loses_no_match(storage: Storage) {
    let Some(rows) = EntityFixture::new(storage) else { return };
    let files = EntityFixture::new(Storage::Files).unwrap();
    let mut runner = TestRunner::new(Config::default());
    let mut texts = vec![String::new(); TEXTS];
    for turn in 0..TURNS {
        for (number, text) in texts.iter_mut().enumerate() {
            // At first much, and then a little at the end of it or before it.
            let more =
                self::text(if turn == 0 { 0..60 } else { 0..4 }).new_tree(&mut runner).unwrap().current();
            *text = if turn % 2 == 0 { format!("{text}{more}") } else { format!("{more}\n{text}") };
            for fixture in [&rows, &files] {
                let edit = Edit::Restore(encoded(text, number));
                fixture
                    .edit_as(&format!("{number:02}.txt"), edit, Mode::Interactive, Expect::Anything)
                    .unwrap();
            }
        }
    }
    let (mut compared, mut matched) = (0, 0);
    for _ in 0..PATTERNS {
        let (pattern, multiline) = pattern().new_tree(&mut runner).unwrap().current();
        let expected = search_matches(&files, &pattern, multiline).map(|mut found| {
            found.retain(|(path, _)| path != "quality.yaml");
            found
        });
        assert_eq!(
            search_matches(&rows, &pattern, multiline),
            expected,
            "{pattern:?}, multiline: {multiline}"
        );
        compared += usize::from(expected.is_ok());
        matched += usize::from(expected.is_ok_and(|found| !found.is_empty()));
    }
    assert!(compared > PATTERNS / 2 && matched > PATTERNS / 8, "{matched} of {compared} were found at all");
}

#[test]
fn in_sqlite_no_match_is_lost() {
    loses_no_match(Storage::Sqlite);
}

#[test]
fn in_postgres_no_match_is_lost() {
    loses_no_match(Storage::Postgres);
}

/// How PostgreSQL would look for a text, as a server does.
#[test]
fn postgres_uses_an_index() {
    let Some(fixture) = EntityFixture::new(Storage::Postgres) else { return };
    for number in 0..50 {
        fixture.put(&format!("{number}.txt"), format!("def f_{number}(): ...\n").as_bytes());
    }
    let start = Instant::now();
    assert_eq!(search_matches(&fixture, "def f_17", false), Ok(vec![("17.txt".to_owned(), 1)]));
    assert!(start.elapsed().as_secs() < 60);
    let plan = fixture.query_as_server(
        "SET enable_seqscan = off; BEGIN; SET LOCAL cpu_operator_cost = 0.25; SET LOCAL lockgate.organization = 'acme';
         SET LOCAL lockgate.needle = '%f\\_17%';
         EXPLAIN SELECT path FROM lines WHERE organization IN ('', 'acme')",
    );
    assert!(plan.contains("lines_grams"), "{plan}");
}
