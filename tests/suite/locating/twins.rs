//! Where a quote fits two places alike, nothing is applied.

use lockgate_edit::{Needle, Occurrences, Search};

use super::dice::Random;
use super::fixture::TextFixture;
use super::{Locator, check, fixture, naive, random_search, read, real};

/// A file with two copies of a block, and a quote that is as far from one as from the other.
fn twins(dice: &mut Random<'_>) -> Option<(Vec<u8>, Search)> {
    let mut request = random_search("", "", dice);
    let kind = dice.below(3);
    let fixture = TextFixture::new(dice)?;
    let block = fixture.quoted().join("\n");
    let (one, other, quoted) = match kind {
        0 => (block.clone(), block.clone(), block),
        1 => (indented(&block, "    "), indented(&block, "        "), indented(&block, "            ")),
        _ => {
            let marked = |marker: &str| format!("{block}\nlast {marker}one more word{marker}");
            (marked("\u{201c}"), marked("\u{201f}"), marked("\""))
        }
    };
    let file = format!("begin\n{one}\nbetween\n{other}\nend\n");
    let line_end = if dice.one_in(2) { "\n" } else { "" };
    request.needle = Needle::Literal(format!("{quoted}{line_end}"));
    request.replace = if kind == 1 {
        format!("{quoted}\n            more{line_end}")
    } else {
        format!("{quoted}\nmore{line_end}")
    };
    // Every match is what a plain replacement of strings is asked for.
    request.occurrences =
        if kind == 0 { Occurrences::Block } else { dice.pick(&[Occurrences::Block, Occurrences::Matches]) };
    Some((file.into_bytes(), request))
}

fn indented(text: &str, by: &str) -> String {
    let line = |line: &str| if fixture::blank(line) { line.to_owned() } else { format!("{by}{line}") };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A quote that fits two places alike is refused.
fn refuses_twins(bytes: &[u8], locator: Locator) -> Result<(), String> {
    let Some((file, request)) = twins(&mut Random::new(bytes)) else { return Ok(()) };
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
