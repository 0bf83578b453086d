//! Tests that narrowing a search by an index loses no match and saves most reads.

use super::*;
use proptest::prelude::*;

/// The parts of both texts and patterns: letters that fold to others, characters with a special meaning
/// for `LIKE` or the index, and line ends.
const WORDS: [&str; 22] = [
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
    "\u{fffd}",
    " ",
    "\t",
    "\n",
    "\r\n",
];

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(WORDS.to_vec())
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(word(), 0..12).prop_map(|words| words.concat())
}

/// A piece of a pattern: text, or an equivalent expression.
fn atom() -> impl Strategy<Value = String> {
    let quoted = |text: &str| regex_syntax::escape(&text.replace("\r\n", "\n"));
    let words = prop::collection::vec(word(), 1..3).prop_map(move |words| quoted(&words.concat()));
    let part = (word(), 0_usize..4, 1_usize..4)
        .prop_map(move |(word, from, most)| quoted(&word.chars().skip(from).take(most).collect::<String>()));
    let other = prop::sample::select(vec![
        ".", ".*", r"\w", r"\b", "[a-z]", "[Aa]", "^", "$", r"\s*", "(?s:.)", "[^b]",
    ]);
    prop_oneof![4 => words, 4 => part, 3 => other.prop_map(str::to_owned)]
}

fn pattern() -> impl Strategy<Value = String> {
    let element = (atom(), atom(), 0_usize..9).prop_map(|(one, other, variant)| match variant {
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
    prop::collection::vec(element, 1..4).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn an_index_loses_no_match(
        texts in prop::collection::vec(text(), 1..30),
        patterns in prop::collection::vec((pattern(), any::<bool>()), 60),
    ) {
        let (fixture, bom) = (Fixture::new(), b"\xef\xbb\xbf".to_vec());
        let rows = fixture.acme();
        let row = |(at, text): (usize, &String)| {
            let bytes = match at % 3 {
                0 => [bom.clone(), text.clone().into_bytes()].concat(),
                1 => [b"\xff\xfe".to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
                _ => text.clone().into_bytes(),
            };
            (format!("{at}.py"), bytes)
        };
        let texts: Vec<(String, Vec<u8>)> = texts.iter().enumerate().map(row).collect();
        write(&rows, EntityOwner::Organization, &texts);
        let selector = rows.select(&workflows(), None).unwrap();
        for (pattern, lines) in patterns {
            let reach = if lines { MatchReach::Lines } else { MatchReach::Line };
            let Ok(narrowed) = SearchPattern::new(&pattern, reach) else { continue };
            let whole = SearchPattern::new(&pattern, reach).unwrap().unnarrowed();
            let (all, read) = count_matches(&rows, &selector, &whole);
            prop_assert_eq!(read, texts.len());
            prop_assert_eq!(count_matches(&rows, &selector, &narrowed).0, all, "{:?}", narrowed);
        }
    }
}

#[test]
fn an_index_spares_most_of_the_reading() {
    let fixture = Fixture::new();
    let rows = fixture.acme();
    let texts: Vec<(String, Vec<u8>)> =
        (0..40).map(|at| (format!("{at:02}.py"), format!("def f_{at:02}(): ...\n").into_bytes())).collect();
    write(&rows, EntityOwner::Organization, &texts);
    let selector = rows.select(&workflows(), None).unwrap();
    for (pattern, most) in
        [("f_17", 1), ("(?i)F_17", 1), ("f_1[0-9]", 40), (r"def .*17\(\)", 1), ("zzz", 0), ("e", 40)]
    {
        let (_, read) =
            count_matches(&rows, &selector, &SearchPattern::new(pattern, MatchReach::Line).unwrap());
        assert!(read <= most, "{pattern}: {read} rows were read");
    }
}
