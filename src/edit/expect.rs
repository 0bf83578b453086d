//! What the caller believes is there, held against what is.

use crate::error::{Code, Error, Place};
use crate::text::Buffer;

/// Lines shown of what is really there.
const SHOWN: usize = 10;

/// Passes when the lines from `first` to `last` begin with the expected text, trailing blanks aside.
pub fn check(
    expected: Option<&str>,
    buffer: &Buffer,
    (first, last): (usize, usize),
    field: impl Fn() -> String,
) -> Result<(), Error> {
    let Some(expected) = expected else { return Ok(()) };
    let mut wanted = expected.strip_suffix('\n').unwrap_or(expected).split('\n').map(str::trim_end);
    let there = (first..=last).map(|line| buffer.lines().text(line).trim_end());
    let mut there = there.map(Some).chain(std::iter::once(None));
    if wanted.all(|line| there.next().flatten() == Some(line)) {
        return Ok(());
    }
    Err(conflict(buffer, (first, last), expected).field(field()))
}

fn conflict(buffer: &Buffer, (first, last): (usize, usize), expected: &str) -> Error {
    let expected: String = expected.lines().next().unwrap_or("").trim_end().chars().take(80).collect();
    let places: Vec<Place> =
        (first..=last).take(SHOWN).map(|line| super::place(buffer, line)).collect();
    let seen = match places.first() {
        None => "the end of the file is there".to_owned(),
        Some(place) => format!("there is {:?}", place.preview),
    };
    Error::new(
        Code::EditConflict,
        format!("line {first} is not what the request expects: expected {expected:?}, {seen}"),
    )
    .places(places)
}
