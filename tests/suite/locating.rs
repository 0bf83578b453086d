//! Laws of locating, on random files, edits and quotes that drifted.
//!
//! A run of the tests looks at the same inputs every time; `PROPTEST_CASES` looks at as many random ones. Every law is a function of a locator, and faulty locators are caught by it.

mod dice;
mod drift;
mod fold;
mod found;
mod judge;
mod naive;
mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;

use lockgate::edit::{Aim, Bounds, Edit, LineWindow, Needle, Scene, Search, Standing, plan};
use lockgate::error::{Error, Next};
use lockgate::locate::{Slip, Tolerance};
use lockgate::text::{Buffer, Hints, Plan, bytes_outside_unchanged};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestError, TestRng, TestRunner};

use dice::Dice;
use drift::Quote;
use judge::Judge;
use world::World;

const SCENE: Scene<'static> =
    Scene { path: "a.py", language: Some("python"), bounds: Bounds { bytes: 10 << 20, steps: 40_000_000 } };

/// What a locator made of a file.
#[derive(Debug, PartialEq)]
pub struct Applied {
    bytes: Vec<u8>,
    plan: Option<Plan>,
}

type Locator = fn(&Search, &Buffer) -> Result<Applied, Error>;

/// What is under test.
fn real(search: &Search, buffer: &Buffer) -> Result<Applied, Error> {
    let planned = plan(&Edit::Search(search.clone()), buffer, SCENE)?;
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

fn asked(search: &str, replace: &str, dice: &mut Dice<'_>) -> Search {
    let similar = |slip| Tolerance::Similar { threshold: Tolerance::THRESHOLD, slip };
    Search {
        needle: Needle::Literal(search.to_owned()),
        replace: replace.to_owned(),
        count: None,
        lines: None,
        within: None,
        aim: dice.pick(&[Aim::Block, Aim::Matches, Aim::EveryBlock]),
        tolerance: dice.pick(&[
            Tolerance::Wrapping,
            similar(Slip::Pen),
            similar(Slip::Pen),
            similar(Slip::Any),
        ]),
        standing: dice.pick(&[Standing::Done, Standing::Again]),
    }
}

fn with_crlf(search: &Search) -> Search {
    let dressed = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    Search {
        needle: Needle::Literal(dressed(needle(search))),
        replace: dressed(&search.replace),
        ..search.clone()
    }
}

fn read(bytes: Vec<u8>) -> Buffer {
    Buffer::read(bytes, Hints::default()).expect("the file is text")
}

/// Whether an edit was applied, and on which kinds of drift.
#[derive(Debug)]
struct Outcome {
    layers: Vec<drift::Layer>,
    applied: bool,
}

/// A world, a quote of it and a request.
fn case(dice: &mut Dice<'_>) -> Option<(World, Quote, Search)> {
    let mut request = asked("", "", dice);
    let narrow = dice.one_in(3).then(|| (dice.below(3), dice.below(3)));
    let world = World::new(dice)?;
    let quote = Quote::drifted(&world, dice)?;
    if let Some((before, behind)) = narrow {
        let (start, end) =
            (world.block.start.saturating_sub(before) + 1, (world.block.end + behind).min(world.lines.len()));
        request.lines = Some(LineWindow { start, end });
    }
    request.needle = Needle::Literal(quote.search.clone());
    request.replace.clone_from(&quote.replace);
    Some((world, quote, request))
}

/// An applied edit is the edit of the undrifted text.
fn equals(bytes: &[u8], locator: Locator) -> Result<Option<Outcome>, String> {
    let Some((world, quote, request)) = case(&mut Dice::new(bytes)) else { return Ok(None) };
    let buffer = read(world.bytes());
    let told = |why: String, after: &[u8]| {
        format!(
            "{why}\n{:?}\nfile {:?}\nsearch {:?}\nreplace {:?}\nlines {:?} {:?} {:?} {:?}\nblock {:?}\ntruth {:?}\nresult {:?}",
            quote.layers,
            String::from_utf8_lossy(buffer.bytes()),
            needle(&request),
            request.replace,
            request.lines,
            request.aim,
            request.tolerance,
            request.standing,
            world.block,
            world.truth().iter().map(|row| row.text.as_str()).collect::<Vec<_>>().join("\n"),
            String::from_utf8_lossy(after)
        )
    };
    let outcome = locator(&request, &buffer);
    let again = locator(&with_crlf(&request), &buffer);
    if let Some((why, bytes)) = differing(&outcome, &again) {
        return Err(told(why, bytes));
    }
    if request.aim == Aim::Matches && looked_at(&world, request.lines).contains(needle(&request)) {
        // The contract of a plain replacement of strings.
        let literal = buffer.view().replace(needle(&request), &request.replace);
        return match &outcome {
            Ok(applied) if read(applied.bytes.clone()).view() != literal => {
                Err(told("not literal".to_owned(), &applied.bytes))
            }
            _ => Ok(Some(Outcome { layers: quote.layers.clone(), applied: outcome.is_ok() })),
        };
    }
    let judge = Judge { world: &world, quote: &quote };
    if let Ok(applied) = &outcome {
        judge.judge(&applied.bytes).map_err(|why| told(why, &applied.bytes))?;
        if let Some(plan) = &applied.plan {
            within(&world, request.lines, plan).map_err(|why| told(why, &applied.bytes))?;
        }
    }
    if let Err(Error { next: Some(next), .. }) = &outcome
        && let Next::Edit { search, replace } = &**next
    {
        proposed(&request, (search, replace), &buffer, locator)
            .and_then(|bytes| judge.judge(&bytes))
            .map_err(|why| told(format!("proposal {search:?} {replace:?}: {why}"), &[]))?;
    }
    Ok(Some(Outcome { layers: quote.layers.clone(), applied: outcome.is_ok() }))
}

/// What a request comes to otherwise when its line ends are CRLF, and the text that shows it.
fn differing<'a>(
    plain: &'a Result<Applied, Error>,
    with_crlf: &'a Result<Applied, Error>,
) -> Option<(String, &'a [u8])> {
    match (plain, with_crlf) {
        (Ok(one), Ok(other)) if one.bytes != other.bytes => {
            Some(("CRLF in the request".to_owned(), &other.bytes))
        }
        (Ok(one), Err(other)) => Some((format!("refused with CRLF: {other}"), &one.bytes)),
        (Err(_), Ok(other)) => Some(("applied with CRLF alone".to_owned(), &other.bytes)),
        (Err(one), Err(other)) if one.code != other.code => Some((format!("{one} and {other}"), &[])),
        (Ok(_), Ok(_)) | (Err(_), Err(_)) => None,
    }
}

/// The lines that are looked at.
fn looked_at(world: &World, lines: Option<LineWindow>) -> String {
    let LineWindow { start, end } = lines.unwrap_or(LineWindow { start: 1, end: world.lines.len() });
    let text = world.lines[start - 1..end].iter().map(|line| line.text.clone() + line.end);
    text.collect::<String>().replace("\r\n", "\n")
}

/// All that is spliced lies in the lines that were looked at; but at an open end the newline before the last line goes
/// with that line.
fn within(world: &World, lines: Option<LineWindow>, plan: &Plan) -> Result<(), String> {
    let Some(LineWindow { start, end }) = lines else { return Ok(()) };
    let length =
        |lines: &[world::Line]| lines.iter().map(|line| line.text.len() + line.end.len()).sum::<usize>();
    let mark = if world.mark { 3 } else { 0 };
    let (mut from, to) = (mark + length(&world.lines[..start - 1]), mark + length(&world.lines[..end]));
    if end == world.lines.len() && world.lines[end - 1].end.is_empty() && start > 1 {
        from -= world.lines[start - 2].end.len();
    }
    let beyond = plan.splices().iter().find(|splice| splice.span.start < from || to < splice.span.end);
    beyond.map_or(Ok(()), |splice| Err(format!("{:?} lies outside of {:?}", splice.span, from..to)))
}

/// A proposal is applied, as a block and as a replacement of strings, to the same text; line ends that are mixed may
/// differ, as a replacement of strings writes lines that stay anew.
fn proposed(
    request: &Search,
    (search, replace): (&str, &str),
    buffer: &Buffer,
    locator: Locator,
) -> Result<Vec<u8>, String> {
    let sent = |aim| {
        let next = Search {
            needle: Needle::Literal(search.to_owned()),
            replace: replace.to_owned(),
            aim,
            ..request.clone()
        };
        locator(&next, buffer).map(|applied| applied.bytes).map_err(|why| format!("{aim:?}: {why}"))
    };
    let (block, matches, every) = (sent(Aim::Block)?, sent(Aim::Matches)?, sent(Aim::EveryBlock)?);
    let view = |bytes: &Vec<u8>| read(bytes.clone()).view().to_owned();
    let same = if buffer.line_ends().is_mixed() { view(&block) == view(&matches) } else { block == matches };
    if same && block == every { Ok(block) } else { Err("not the same for every aim".to_owned()) }
}

/// Holds a law against many random inputs.
fn check(cases: u32, law: impl Fn(&[u8]) -> Result<(), String>) -> Result<(), String> {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let random = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if random { config.cases } else { cases };
    let config = ProptestConfig { cases, max_shrink_iters: 20_000, ..config };
    let seed = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = if random { TestRunner::new(config) } else { TestRunner::new_with_rng(config, seed) };
    let inputs = proptest::collection::vec(any::<u8>(), 0..500);
    runner.run(&inputs, |bytes| law(&bytes).map_err(TestCaseError::fail)).map_err(|why| match why {
        TestError::Fail(why, _) => why.to_string(),
        TestError::Abort(why) => why.to_string(),
    })
}

#[test]
fn an_applied_edit_is_that_of_the_undrifted_text() {
    let seen = RefCell::new(BTreeMap::<String, (usize, usize)>::new());
    let held = check(3_000, |bytes| {
        if let Some(outcome) = equals(bytes, real)? {
            let mut seen = seen.borrow_mut();
            let name = match outcome.layers.as_slice() {
                [] => "Exact".to_owned(),
                [one] => format!("{one:?}"),
                _ => "several".to_owned(),
            };
            let counts = seen.entry(name).or_default();
            *counts = (counts.0 + 1, counts.1 + usize::from(outcome.applied));
        }
        Ok(())
    });
    for (name, (all, applied)) in seen.borrow().iter() {
        println!("{name}: {applied} of {all}");
    }
    let (all, applied) = seen.borrow().values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(applied * 2 > all, "{applied} of {all} applied: the law holds of too little");
    held.unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn pasting_and_tidying_are_caught() {
    for faulty in [naive::paste as Locator, naive::tidy] {
        assert!(check(2_000, |bytes| equals(bytes, faulty).map(drop)).is_err());
    }
}

/// A file with two copies of a block, and a quote that is as far from one as from the other.
fn twins(dice: &mut Dice<'_>) -> Option<(Vec<u8>, Search)> {
    let mut request = asked("", "", dice);
    let kind = dice.below(3);
    let world = World::new(dice)?;
    let block = world.quoted().join("\n");
    let (one, other, quoted) = match kind {
        0 => (block.clone(), block.clone(), block),
        1 => (indented(&block, "    "), indented(&block, "        "), indented(&block, "            ")),
        _ => {
            let marked = |mark: &str| format!("{block}\nlast {mark}one more word{mark}");
            (marked("\u{201c}"), marked("\u{201f}"), marked("\""))
        }
    };
    let file = format!("begin\n{one}\nbetween\n{other}\nend\n");
    let ended = if dice.one_in(2) { "\n" } else { "" };
    request.needle = Needle::Literal(format!("{quoted}{ended}"));
    request.replace = if kind == 1 {
        format!("{quoted}\n            more{ended}")
    } else {
        format!("{quoted}\nmore{ended}")
    };
    // Every match is what a plain replacement of strings is asked for.
    request.aim = if kind == 0 { Aim::Block } else { dice.pick(&[Aim::Block, Aim::Matches]) };
    Some((file.into_bytes(), request))
}

fn indented(text: &str, by: &str) -> String {
    let line = |line: &str| if world::blank(line) { line.to_owned() } else { format!("{by}{line}") };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A quote that fits two places alike is refused.
fn refuses_twins(bytes: &[u8], locator: Locator) -> Result<(), String> {
    let Some((file, request)) = twins(&mut Dice::new(bytes)) else { return Ok(()) };
    let shown = String::from_utf8_lossy(&file).into_owned();
    match locator(&request, &read(file)) {
        Ok(applied) => Err(format!("{request:?}\n{shown:?}\n{:?}", String::from_utf8_lossy(&applied.bytes))),
        Err(_) => Ok(()),
    }
}

#[test]
fn a_quote_that_fits_two_places_alike_is_refused() {
    check(1_500, |bytes| refuses_twins(bytes, real)).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn the_first_of_two_places_is_caught() {
    assert!(check(500, |bytes| refuses_twins(bytes, naive::paste)).is_err());
}

/// Any bytes as file, search and replacement end in a refusal or in a result that keeps what it does not name; twice
/// the same.
pub fn bears_anything(bytes: &[u8]) {
    let mut dice = Dice::new(bytes);
    let mut request = asked("", "", &mut dice);
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
fn any_text_is_borne() {
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
    let Some((world, quote, mut request)) = case(&mut Dice::new(bytes)) else { return Ok(()) };
    if quote.replace.contains("&amp;lt;") || quote.search.contains('\\') || world.block.len() == 1 {
        return Ok(());
    }
    request.aim = Aim::Block;
    request.standing = Standing::Done;
    let buffer = read(world.bytes());
    let Ok(applied) = locator(&request, &buffer) else { return Ok(()) };
    let after = read(applied.bytes);
    let Ok(again) = locator(&request, &after) else { return Ok(()) };
    if again.bytes == after.bytes() {
        return Ok(());
    }
    let copies = |text: &str| {
        let (text, needle) = (fold::normal(text), fold::normal(&world.quoted().join("\n")));
        (0..text.len()).filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(&needle))).count()
    };
    if copies(after.view()) > copies(&quote.replace) {
        return Ok(());
    }
    let told = |why: &str| {
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
    if world.rows.iter().filter(|row| !world::blank(&row.text)).count()
        > world.quoted().iter().filter(|text| !world::blank(text)).count()
    {
        return Err(told("applied twice"));
    }
    let same = |one: &str, other: &str| {
        one.lines().zip(other.lines()).take_while(|(one, other)| one == other).count()
    };
    let twice = read(again.bytes.clone());
    let head = same(after.view(), twice.view());
    let reach = world.block.start + world.rows.len() + 1;
    if head + 1 < world.block.start || head > reach { Err(told("applied elsewhere")) } else { Ok(()) }
}

fn again(search: &Search, buffer: &Buffer) -> Result<Applied, Error> {
    real(&Search { standing: Standing::Again, ..search.clone() }, buffer)
}

#[test]
fn an_edit_is_not_applied_twice() {
    check(2_000, |bytes| once_is_enough(bytes, real)).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn a_second_copy_is_caught() {
    assert!(check(2_000, |bytes| once_is_enough(bytes, again)).is_err());
}
