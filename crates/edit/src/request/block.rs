//! The fields of a block edit, for tools that have only this mode.

use super::fields::parse_line;
use crate::modes::Edit;
use crate::operations::{LineWindow, Needle, Occurrences, Search};
use lockgate_error::{Code, Error, NextCall, Score};
use lockgate_matching::{MatchTolerance, OnDuplicate, TypoPolicy};

/// The fields of a block edit, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct BlockFields {
    /// The text to search for.
    pub search: String,
    /// The text that replaces the match.
    pub replace: String,
    /// The occurrences to replace: one or all.
    pub occurrences: Occurrences,
    /// The tolerance for a line that differs, if any.
    pub tolerance: Option<ToleranceFields>,
    /// The first line of the search range.
    pub start_line: Option<i64>,
    /// The last line of the search range.
    pub end_line: Option<i64>,
    /// The symbol to search in.
    pub within: Option<String>,
    /// The action if the replacement is already in the file.
    pub on_duplicate: OnDuplicate,
}

/// The tolerance for differing lines, as given.
#[derive(Debug, Clone, Copy)]
pub struct ToleranceFields {
    /// The minimum score, from 0 to 1.
    pub threshold: f64,
    /// Set when any line except the first may differ.
    pub any_line: bool,
}

impl BlockFields {
    /// Converts the fields to an edit.
    ///
    /// Errors: `INVALID_INPUT` for a blank search, a threshold outside 0 to 1, and `any_line` without a
    /// search range; `RANGE_OUT_OF_BOUNDS` for a line below 1.
    pub fn into_edit(self) -> Result<Edit, Error> {
        if self.search.trim().is_empty() {
            let message = "the text to look for is blank, so it would match everywhere";
            let error = Error::new(Code::InvalidInput, message).field("search");
            return Err(error.hint("quote the lines to change").with_next(NextCall::WholeText));
        }
        let tolerance =
            self.tolerance.map_or(Ok(MatchTolerance::Wrapping), |likeness| self.parse_tolerance(likeness))?;
        let lines = self.parse_window()?;
        Ok(Edit::Search(Search {
            needle: Needle::Literal(self.search),
            replace: self.replace,
            count: None,
            expect_matches: None,
            lines,
            within: self.within,
            occurrences: self.occurrences,
            tolerance,
            on_duplicate: self.on_duplicate,
        }))
    }

    fn parse_tolerance(&self, likeness: ToleranceFields) -> Result<MatchTolerance, Error> {
        let threshold = Score::from_ratio(likeness.threshold).ok_or_else(|| {
            let message = format!("threshold must be from 0 to 1, found {}", likeness.threshold);
            Error::new(Code::InvalidInput, message).named_field("threshold")
        })?;
        let narrowed = self.within.is_some() || self.start_line.is_some();
        match (likeness.any_line, narrowed) {
            (true, false) => {
                let message = "`similar: any` needs `within` or `start_line`, which narrow the place";
                Err(Error::new(Code::InvalidInput, message).named_field("similar"))
            }
            (true, true) => Ok(MatchTolerance::Similar { threshold, typos: TypoPolicy::Any }),
            (false, _) => Ok(MatchTolerance::Similar { threshold, typos: TypoPolicy::Certain }),
        }
    }

    /// Returns the search range. A start without an end extends to the last line; an end without a start
    /// begins at the first.
    fn parse_window(&self) -> Result<Option<LineWindow>, Error> {
        if self.start_line.is_none() && self.end_line.is_none() {
            return Ok(None);
        }
        let line = |value: i64, field: &str| parse_line(value, || field.to_owned());
        let start = self.start_line.map_or(Ok(1), |start| line(start, "lines.start"))?;
        let end = self.end_line.map_or(Ok(LineWindow::OPEN), |end| line(end, "lines.end"))?;
        if end < start {
            let message = format!("the last line must not be before the first, found {start} and {end}");
            return Err(Error::new(Code::InvalidInput, message).field("lines.end"));
        }
        Ok(Some(LineWindow { start, end }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> BlockFields {
        BlockFields {
            search: "a".into(),
            replace: "b".into(),
            occurrences: Occurrences::Block,
            tolerance: None,
            start_line: None,
            end_line: None,
            within: None,
            on_duplicate: OnDuplicate::Reject,
        }
    }

    fn parsed(fields: BlockFields) -> Search {
        match fields.into_edit() {
            Ok(Edit::Search(search)) => search,
            other => panic!("{other:?}"),
        }
    }

    fn refused(fields: BlockFields) -> (Code, Option<String>) {
        let error = fields.into_edit().unwrap_err();
        (error.code, error.field.map(String::from))
    }

    #[test]
    fn a_version_asks_for_a_second_copy() {
        for (version, expected) in [(None, OnDuplicate::Reject), (Some("01"), OnDuplicate::InsertAgain)] {
            let on_duplicate = OnDuplicate::from_expected_version(version);
            let search = parsed(BlockFields { on_duplicate, ..fields() });
            assert_eq!(search.on_duplicate, expected);
        }
    }

    #[test]
    fn a_blank_search_is_refused_before_anything_else() {
        let tolerance = Some(ToleranceFields { threshold: 7.0, any_line: true });
        for search in ["", " ", "\n\t\n"] {
            let wrong = BlockFields { search: search.into(), tolerance, start_line: Some(-1), ..fields() };
            assert_eq!(refused(wrong), (Code::InvalidInput, Some("search".into())), "{search:?}");
        }
    }

    #[test]
    fn an_open_window_reaches_to_the_end() {
        let window = |start_line, end_line| parsed(BlockFields { start_line, end_line, ..fields() }).lines;
        assert_eq!(window(None, None), None);
        assert_eq!(window(Some(3), None), Some(LineWindow { start: 3, end: LineWindow::OPEN }));
        assert_eq!(window(None, Some(3)), Some(LineWindow { start: 1, end: 3 }));
        let wrong = BlockFields { start_line: Some(3), end_line: Some(2), ..fields() };
        assert_eq!(refused(wrong), (Code::InvalidInput, Some("lines.end".into())));
        let wrong = BlockFields { start_line: Some(0), ..fields() };
        assert_eq!(refused(wrong), (Code::RangeOutOfBounds, Some("lines.start".into())));
    }

    #[test]
    fn any_line_may_differ_only_where_the_place_is_narrowed() {
        let any = |any_line| Some(ToleranceFields { threshold: 0.85, any_line });
        let threshold = Score::from_ratio(0.85).unwrap();
        assert_eq!(
            parsed(BlockFields { tolerance: any(false), ..fields() }).tolerance,
            MatchTolerance::Similar { threshold, typos: TypoPolicy::Certain }
        );
        let narrowed = BlockFields { tolerance: any(true), within: Some("f".into()), ..fields() };
        assert_eq!(parsed(narrowed).tolerance, MatchTolerance::Similar { threshold, typos: TypoPolicy::Any });
        let wide = BlockFields { tolerance: any(true), end_line: Some(9), ..fields() };
        assert_eq!(refused(wide), (Code::InvalidInput, Some("similar".into())));
        for threshold in [-0.1, 1.01, 50.0] {
            let tolerance = Some(ToleranceFields { threshold, any_line: false });
            assert_eq!(refused(BlockFields { tolerance, ..fields() }).1.as_deref(), Some("threshold"));
        }
    }
}
