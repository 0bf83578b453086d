//! Laws of locating, on random files, edits and quotes that drifted.
//!
//! A run of the tests looks at the same inputs every time; `PROPTEST_CASES` looks at as many random ones. Every property is a function of a locator, and faulty locators are caught by it.

mod dice;
mod draft;
mod drift;
mod drifted;
mod fixture;
mod fold;
mod found;
mod judge;
mod naive;
mod twins;

use lockgate_edit::{
    Edit, EditLimits, LineWindow, Needle, Occurrences, OnDuplicate, PlanContext, Search, plan,
};
use lockgate_error::Error;
use lockgate_matching::{MatchTolerance, TypoPolicy};
use lockgate_text::{Buffer, Hints, Plan, bytes_outside_unchanged};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestError, TestRng, TestRunner};

use dice::Random;
use drift::Quote;
use fixture::TextFixture;

const CONTEXT: PlanContext<'static> = PlanContext {
    noun: "file",
    path: "a.py",
    language: Some("python"),
    syntax: &lockgate_syntax::Grammars,
    limits: EditLimits { bytes: 10 << 20, steps: 40_000_000 },
};

/// What a locator made of a file.
#[derive(Debug, PartialEq)]
pub struct Applied {
    bytes: Vec<u8>,
    plan: Option<Plan>,
}

type Locator = fn(&Search, &Buffer) -> Result<Applied, Error>;

/// What is under test.
fn real(search: &Search, buffer: &Buffer) -> Result<Applied, Error> {
    let planned = plan(&Edit::Search(search.clone()), buffer, CONTEXT)?;
    let after = buffer.apply(&planned.plan).expect("what was planned for a buffer applies to it");
    assert!(bytes_outside_unchanged(buffer.bytes(), after.bytes(), &planned.plan));
    Ok(Applied { bytes: after.bytes().to_vec(), plan: Some(planned.plan) })
}

fn needle(search: &Search) -> &str {
    match &search.needle {
        Needle::Literal(needle) => needle,
        Needle::Regex { .. } => "",
    }
}

fn random_search(search: &str, replace: &str, dice: &mut Random<'_>) -> Search {
    let similar = |typos| MatchTolerance::Similar { threshold: MatchTolerance::THRESHOLD, typos };
    Search {
        needle: Needle::Literal(search.to_owned()),
        replace: replace.to_owned(),
        count: None,
        expect_matches: None,
        lines: None,
        within: None,
        occurrences: dice.pick(&[Occurrences::Block, Occurrences::Matches, Occurrences::EveryBlock]),
        tolerance: dice.pick(&[
            MatchTolerance::Wrapping,
            similar(TypoPolicy::Certain),
            similar(TypoPolicy::Certain),
            similar(TypoPolicy::Any),
        ]),
        on_duplicate: dice.pick(&[OnDuplicate::Reject, OnDuplicate::InsertAgain]),
    }
}

fn with_crlf(search: &Search) -> Search {
    let with_crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    Search {
        needle: Needle::Literal(with_crlf(needle(search))),
        replace: with_crlf(&search.replace),
        ..search.clone()
    }
}

fn read(bytes: Vec<u8>) -> Buffer {
    Buffer::read(bytes, Hints::default()).expect("the file is text")
}

/// Whether an edit was applied, and on which kinds of drift.
#[derive(Debug)]
struct Outcome {
    layers: Vec<drift::Drift>,
    applied: bool,
}

/// A fixture, a quote of it and a request.
fn case(dice: &mut Random<'_>) -> Option<(TextFixture, Quote, Search)> {
    let mut request = random_search("", "", dice);
    let narrow = dice.one_in(3).then(|| (dice.below(3), dice.below(3)));
    let fixture = TextFixture::new(dice)?;
    let quote = Quote::drifted(&fixture, dice)?;
    if let Some((before, behind)) = narrow {
        let (start, end) = (
            fixture.block.start.saturating_sub(before) + 1,
            (fixture.block.end + behind).min(fixture.lines.len()),
        );
        request.lines = Some(LineWindow { start, end });
    }
    request.needle = Needle::Literal(quote.search.clone());
    request.replace.clone_from(&quote.replace);
    Some((fixture, quote, request))
}

/// Checks a property with many random inputs.
fn check(cases: u32, property: impl Fn(&[u8]) -> Result<(), String>) -> Result<(), String> {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let random = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if random { config.cases } else { cases };
    let config = ProptestConfig { cases, max_shrink_iters: 20_000, ..config };
    let seed = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = if random { TestRunner::new(config) } else { TestRunner::new_with_rng(config, seed) };
    let inputs = proptest::collection::vec(any::<u8>(), 0..500);
    runner.run(&inputs, |bytes| property(&bytes).map_err(TestCaseError::fail)).map_err(|why| match why {
        TestError::Fail(why, _) => why.to_string(),
        TestError::Abort(why) => why.to_string(),
    })
}

/// Any bytes as file, search and replacement end in a rejection or in a result that keeps what it does not name; twice
/// the same.
pub fn bears_anything(bytes: &[u8]) {
    let mut dice = Random::new(bytes);
    let mut request = random_search("", "", &mut dice);
    request.lines = dice
        .one_in(2)
        .then(|| LineWindow { start: 1 + dice.below(4), end: dice.pick(&[1, 2, 5, 9, LineWindow::OPEN]) });
    request.lines = request.lines.filter(|lines| lines.start <= lines.end);
    let pieces = [
        "\n", "\r\n", "\r", "\t", "    ", " ", "a", "value", "\u{201c}", "&amp;", "\u{200b}", "...", "```",
        "1: ", "2: ", "\\n", "+", "-", "\u{feff}",
    ];
    let mut text = |most: usize| -> String {
        let count = dice.below(most);
        (0..count)
            .map(|_| {
                if dice.one_in(12) {
                    char::from(dice.below(256) as u8).to_string()
                } else {
                    dice.pick(&pieces).to_owned()
                }
            })
            .collect()
    };
    let (search, replace, file) = (text(12), text(12), text(60));
    request.needle = Needle::Literal(search);
    request.replace = replace;
    let Ok(buffer) = Buffer::read(file.into_bytes(), Hints::default()) else { return };
    let (one, again) = (real(&request, &buffer), real(&request, &buffer));
    assert_eq!(one, again, "two runs");
}

#[test]
fn any_text_is_accepted() {
    check(3_000, |bytes| {
        bears_anything(bytes);
        Ok(())
    })
    .unwrap_or_else(|why| panic!("{why}"));
}

/// An edit that was applied is not applied again by the same request: it is refused, or nothing changes. This holds
/// where the replacement has more lines than the search and brings no further copy of it about, but for an entity of an entity, which is folded in one pass;
/// else it changes at most the same lines once more. Quotes of one line, which may be a piece of a
/// new one, are left out, and searches with a backslash: read without escapes such a one may be
/// what stands elsewhere.
fn once_is_enough(bytes: &[u8], locator: Locator) -> Result<(), String> {
    let Some((fixture, quote, mut request)) = case(&mut Random::new(bytes)) else { return Ok(()) };
    if quote.replace.contains("&amp;lt;") || quote.search.contains('\\') || fixture.block.len() == 1 {
        return Ok(());
    }
    request.occurrences = Occurrences::Block;
    request.on_duplicate = OnDuplicate::Reject;
    let buffer = read(fixture.bytes());
    let Ok(applied) = locator(&request, &buffer) else { return Ok(()) };
    let after = read(applied.bytes);
    let Ok(again) = locator(&request, &after) else { return Ok(()) };
    if again.bytes == after.bytes() {
        return Ok(());
    }
    let copies = |text: &str| {
        let (text, needle) = (fold::normal(text), fold::normal(&fixture.quoted().join("\n")));
        (0..text.len()).filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(&needle))).count()
    };
    if copies(after.view()) > copies(&quote.replace) {
        return Ok(());
    }
    let failure = |why: &str| {
        format!(
            "{why} {:?}\nsearch {:?}\nreplace {:?}\nlines {:?} {:?}\nfile {:?}\nonce {:?}\ntwice {:?}",
            quote.layers,
            needle(&request),
            request.replace,
            request.lines,
            request.tolerance,
            buffer.view(),
            after.view(),
            String::from_utf8_lossy(&again.bytes)
        )
    };
    if fixture.rows.iter().filter(|row| !fixture::blank(&row.text)).count()
        > fixture.quoted().iter().filter(|text| !fixture::blank(text)).count()
    {
        return Err(failure("applied twice"));
    }
    let same = |one: &str, other: &str| {
        one.lines().zip(other.lines()).take_while(|(one, other)| one == other).count()
    };
    let twice = read(again.bytes.clone());
    let head = same(after.view(), twice.view());
    let last_line = fixture.block.start + fixture.rows.len() + 1;
    if head + 1 < fixture.block.start || head > last_line {
        Err(failure("applied elsewhere"))
    } else {
        Ok(())
    }
}

fn locate_again(search: &Search, buffer: &Buffer) -> Result<Applied, Error> {
    real(&Search { on_duplicate: OnDuplicate::InsertAgain, ..search.clone() }, buffer)
}

#[test]
fn an_edit_is_not_applied_twice() {
    check(2_000, |bytes| once_is_enough(bytes, real)).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn a_second_copy_is_caught() {
    assert!(check(2_000, |bytes| once_is_enough(bytes, locate_again)).is_err());
}
