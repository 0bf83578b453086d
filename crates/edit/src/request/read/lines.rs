//! Some lines of one target.

use super::super::fields::parse_line;
use super::super::{EntityFields, Target};
use lockgate_error::{Code, Error, NextCall};

/// The number of lines after the first that are shown by default.
const DEFAULT_LINES: usize = 100;
/// The most characters that are shown by default, and if the last line is given.
const DEFAULT_CHARS: usize = 40_000;
const MAX_CHARS: usize = 100_000;

/// The fields of a request for lines, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct LineFields {
    /// The path of the file or entity.
    pub path: String,
    /// The entity type and its ids.
    pub scope: EntityFields,
    /// The first line, from 1.
    pub start_line: Option<i64>,
    /// The last line, inclusive; 100 lines after the first if absent.
    pub end_line: Option<i64>,
}

/// A request for some lines of one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinesRequest {
    /// The file or entity to read.
    pub target: Target,
    /// The first line, from 1.
    pub start_line: usize,
    /// The last line, inclusive, not before the first; a line past the end means the last line of the text.
    pub end_line: usize,
    /// The most characters of the lines with their numbers that are shown.
    pub max_chars: usize,
}

impl LineFields {
    /// Converts the fields to a request.
    ///
    /// Errors: `RANGE_OUT_OF_BOUNDS` for a line below 1, and for an end before the start; `INVALID_INPUT` for
    /// ids of another scope.
    pub fn into_request(self) -> Result<LinesRequest, Error> {
        let line = |value: i64, field: &str| parse_line(value, || field.to_owned());
        let start_line = self.start_line.map_or(Ok(1), |start| line(start, "start_line"))?;
        let ahead = start_line.saturating_add(DEFAULT_LINES);
        let end_line = self.end_line.map_or(Ok(ahead), |end| line(end, "end_line"))?;
        if end_line < start_line {
            let message = format!("line {end_line} is out of bounds: it is before line {start_line}");
            let next = NextCall::Fields { set: Vec::new(), unset: vec!["end_line"] };
            return Err(Error::new(Code::RangeOutOfBounds, message).field("end_line").with_next(next));
        }
        let max_chars = if self.end_line.is_some() { MAX_CHARS } else { DEFAULT_CHARS };
        Ok(LinesRequest { target: self.scope.into_target(self.path)?, start_line, end_line, max_chars })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(start_line: Option<i64>, end_line: Option<i64>) -> Result<(usize, usize), Error> {
        let request =
            LineFields { path: "a".into(), start_line, end_line, ..LineFields::default() }.into_request()?;
        Ok((request.start_line, request.end_line))
    }

    #[test]
    fn an_absent_line_has_its_default() {
        assert_eq!(parsed(None, None), Ok((1, 101)));
        assert_eq!(parsed(Some(40), None), Ok((40, 140)));
        assert_eq!(parsed(None, Some(7)), Ok((1, 7)));
        assert_eq!(parsed(Some(7), Some(7)), Ok((7, 7)));
        assert!(parsed(Some(i64::MAX), None).is_ok());
    }

    #[test]
    fn a_range_that_no_text_has_is_refused() {
        for (start, end, field) in [
            (Some(0), None, "start_line"),
            (Some(-1), Some(3), "start_line"),
            (None, Some(0), "end_line"),
            (Some(5), Some(4), "end_line"),
        ] {
            let error = parsed(start, end).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::RangeOutOfBounds, Some(field)));
        }
    }
}
