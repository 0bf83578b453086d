//! An applied edit is that of the text before it drifted, or the caller is told.

use std::cell::RefCell;
use std::collections::BTreeMap;

use lockgate_edit::{LineWindow, Needle, Occurrences, Search};
use lockgate_error::{Error, NextCall};
use lockgate_text::{Buffer, Plan};

use super::dice::Random;
use super::fixture::TextFixture;
use super::judge::Judge;
use super::{Applied, Locator, Outcome, case, check, fixture, naive, needle, read, real, with_crlf};

/// An applied edit is the edit of the undrifted text.
fn equals(bytes: &[u8], locator: Locator) -> Result<Option<Outcome>, String> {
    let Some((fixture, quote, request)) = case(&mut Random::new(bytes)) else { return Ok(None) };
    let buffer = read(fixture.bytes());
    let failure = |why: String, after: &[u8]| {
        format!(
            "{why}\n{:?}\nfile {:?}\nsearch {:?}\nreplace {:?}\nlines {:?} {:?} {:?} {:?}\nblock {:?}\ntruth {:?}\nresult {:?}",
            quote.layers,
            String::from_utf8_lossy(buffer.bytes()),
            needle(&request),
            request.replace,
            request.lines,
            request.occurrences,
            request.tolerance,
            request.on_duplicate,
            fixture.block,
            fixture.truth().iter().map(|row| row.text.as_str()).collect::<Vec<_>>().join("\n"),
            String::from_utf8_lossy(after)
        )
    };
    let outcome = locator(&request, &buffer);
    let again = locator(&with_crlf(&request), &buffer);
    if let Some((why, bytes)) = differing(&outcome, &again) {
        return Err(failure(why, bytes));
    }
    if request.occurrences == Occurrences::Matches
        && window_text(&fixture, request.lines).contains(needle(&request))
    {
        // The contract of a plain replacement of strings.
        let literal = buffer.view().replace(needle(&request), &request.replace);
        return match &outcome {
            Ok(applied) if read(applied.bytes.clone()).view() != literal => {
                Err(failure("not literal".to_owned(), &applied.bytes))
            }
            _ => Ok(Some(Outcome { layers: quote.layers.clone(), applied: outcome.is_ok() })),
        };
    }
    let judge = Judge { world: &fixture, quote: &quote };
    if let Ok(applied) = &outcome {
        judge.judge(&applied.bytes).map_err(|why| failure(why, &applied.bytes))?;
        if let Some(plan) = &applied.plan {
            check_in_window(&fixture, request.lines, plan).map_err(|why| failure(why, &applied.bytes))?;
        }
    }
    if let Err(Error { next: Some(next), .. }) = &outcome
        && let NextCall::Edit { search, replace } = &**next
    {
        proposed(&request, (search, replace), &buffer, locator)
            .and_then(|bytes| judge.judge(&bytes))
            .map_err(|why| failure(format!("proposal {search:?} {replace:?}: {why}"), &[]))?;
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

/// The text of the searched lines.
fn window_text(fixture: &TextFixture, lines: Option<LineWindow>) -> String {
    let LineWindow { start, end } = lines.unwrap_or(LineWindow { start: 1, end: fixture.lines.len() });
    let text = fixture.lines[start - 1..end].iter().map(|line| line.text.clone() + line.end);
    text.collect::<String>().replace("\r\n", "\n")
}

/// Checks that all splices are in the searched lines; but at an open end the newline before the last line goes
/// with that line.
fn check_in_window(fixture: &TextFixture, lines: Option<LineWindow>, plan: &Plan) -> Result<(), String> {
    let Some(LineWindow { start, end }) = lines else { return Ok(()) };
    let length =
        |lines: &[fixture::Line]| lines.iter().map(|line| line.text.len() + line.end.len()).sum::<usize>();
    let bom_length = if fixture.mark { 3 } else { 0 };
    let (mut from, to) =
        (bom_length + length(&fixture.lines[..start - 1]), bom_length + length(&fixture.lines[..end]));
    if end == fixture.lines.len() && fixture.lines[end - 1].end.is_empty() && start > 1 {
        from -= fixture.lines[start - 2].end.len();
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
    let sent = |occurrences| {
        let next = Search {
            needle: Needle::Literal(search.to_owned()),
            replace: replace.to_owned(),
            occurrences,
            ..request.clone()
        };
        locator(&next, buffer).map(|applied| applied.bytes).map_err(|why| format!("{occurrences:?}: {why}"))
    };
    let (block, matches, every) =
        (sent(Occurrences::Block)?, sent(Occurrences::Matches)?, sent(Occurrences::EveryBlock)?);
    let view = |bytes: &Vec<u8>| read(bytes.clone()).view().to_owned();
    let same = if buffer.line_ends().is_mixed() { view(&block) == view(&matches) } else { block == matches };
    if same && block == every { Ok(block) } else { Err("not the same for every aim".to_owned()) }
}

#[test]
fn an_applied_edit_is_that_of_the_undrifted_text() {
    let counts_by_layer = RefCell::new(BTreeMap::<String, (usize, usize)>::new());
    let result = check(3_000, |bytes| {
        if let Some(outcome) = equals(bytes, real)? {
            let mut counts_by_layer = counts_by_layer.borrow_mut();
            let name = match outcome.layers.as_slice() {
                [] => "Exact".to_owned(),
                [one] => format!("{one:?}"),
                _ => "several".to_owned(),
            };
            let counts = counts_by_layer.entry(name).or_default();
            *counts = (counts.0 + 1, counts.1 + usize::from(outcome.applied));
        }
        Ok(())
    });
    for (name, (all, applied)) in counts_by_layer.borrow().iter() {
        println!("{name}: {applied} of {all}");
    }
    let (all, applied) =
        counts_by_layer.borrow().values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(applied * 2 > all, "{applied} of {all} applied: the law holds of too little");
    result.unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn pasting_and_tidying_are_caught() {
    for faulty in [naive::paste as Locator, naive::tidy] {
        assert!(check(2_000, |bytes| equals(bytes, faulty).map(drop)).is_err());
    }
}
