//! The check of the text that a request expects at a line.

use crate::error::{Code, Error, EvidenceLine};
use crate::text::Buffer;

/// The maximum number of actual lines in an error.
const SHOWN: usize = 10;

/// Succeeds if the lines from `first` to `last` begin with the expected text. Trailing blanks are ignored.
pub fn check(
    expected: Option<&str>,
    buffer: &Buffer,
    (first, last): (usize, usize),
    field: impl Fn() -> String,
) -> Result<(), Error> {
    let Some(expected) = expected else { return Ok(()) };
    let wanted = expected.strip_suffix('\n').unwrap_or(expected).split('\n').map(str::trim_end);
    let actual = |line: usize| (line <= last).then(|| buffer.lines().text(line).trim_end());
    match (first..).zip(wanted).find(|(line, wanted)| actual(*line) != Some(wanted)) {
        None => Ok(()),
        Some((line, wanted)) => {
            let places = (first..=last).take(SHOWN).map(|line| super::evidence_line(buffer, line)).collect();
            Err(conflict(line, wanted, actual(line), places).field(field()))
        }
    }
}

fn conflict(line: usize, wanted: &str, actual: Option<&str>, places: Vec<EvidenceLine>) -> Error {
    let cut = |text: &str| text.chars().take(80).collect::<String>();
    let found = match actual {
        None => "the range ends before it".to_owned(),
        Some(text) => format!("found {:?}", cut(text)),
    };
    let message = format!("line {line} does not match the request: expected {:?}, {found}", cut(wanted));
    Error::new(Code::EditConflict, message).places(places)
}
