//! The fields of a block edit, for tools that have only this mode.

use super::fields::raise_line;
use crate::edit::{Edit, LineWindow, Needle, Occurrences, OnDuplicate, Search};
use crate::error::{Code, Error, Score};
use crate::locate::{MatchTolerance, TypoPolicy};

/// The fields of a block edit, each as given or absent.
#[derive(Debug, Clone)]
pub struct BlockFields {
    /// The text to search for.
    pub search: String,
    /// The replacement.
    pub replace: String,
    /// The occurrences to replace: one or all.
    pub aim: Occurrences,
    /// The tolerance for a line that differs, if any.
    pub likeness: Option<LikenessFields>,
    /// The first line of the search range.
    pub start_line: Option<i64>,
    /// The last line of the search range.
    pub end_line: Option<i64>,
    /// The symbol to search in.
    pub within: Option<String>,
    /// Set when the file has the version that the caller knows. A second copy of the replacement is intended
    /// then.
    pub versioned: bool,
}

/// The tolerance for differing lines, as given.
#[derive(Debug, Clone, Copy)]
pub struct LikenessFields {
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
    pub fn raise(self) -> Result<Edit, Error> {
        if self.search.trim().is_empty() {
            let message = "the text to look for is blank, so it would match everywhere";
            return Err(Error::new(Code::InvalidInput, message).field("search"));
        }
        let tolerance =
            self.likeness.map_or(Ok(MatchTolerance::Wrapping), |likeness| self.raise_likeness(likeness))?;
        let lines = self.raise_window()?;
        Ok(Edit::Search(Search {
            needle: Needle::Literal(self.search),
            replace: self.replace,
            count: None,
            lines,
            within: self.within,
            aim: self.aim,
            tolerance,
            standing: OnDuplicate::from_versioned(self.versioned),
        }))
    }

    fn raise_likeness(&self, likeness: LikenessFields) -> Result<MatchTolerance, Error> {
        let threshold = Score::from_ratio(likeness.threshold).ok_or_else(|| {
            let message = format!("threshold must be from 0 to 1, found {}", likeness.threshold);
            Error::new(Code::InvalidInput, message).field("threshold")
        })?;
        let narrowed = self.within.is_some() || self.start_line.is_some();
        match (likeness.any_line, narrowed) {
            (true, false) => {
                let message = "`similar: any` needs `within` or `start_line`, which narrow the place";
                Err(Error::new(Code::InvalidInput, message).field("similar"))
            }
            (true, true) => Ok(MatchTolerance::Similar { threshold, slip: TypoPolicy::Any }),
            (false, _) => Ok(MatchTolerance::Similar { threshold, slip: TypoPolicy::Pen }),
        }
    }

    /// Returns the search range. A start without an end extends to the last line; an end without a start
    /// begins at the first.
    fn raise_window(&self) -> Result<Option<LineWindow>, Error> {
        if self.start_line.is_none() && self.end_line.is_none() {
            return Ok(None);
        }
        let line = |given: i64, field: &str| raise_line(given, || field.to_owned());
        let start = self.start_line.map_or(Ok(1), |start| line(start, "lines.start"))?;
        let end = self.end_line.map_or(Ok(LineWindow::OPEN), |end| line(end, "lines.end"))?;
        if end < start {
            let message = format!("the last line must not lie before the first, found {start} and {end}");
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
            aim: Occurrences::Block,
            likeness: None,
            start_line: None,
            end_line: None,
            within: None,
            versioned: false,
        }
    }

    fn raised(fields: BlockFields) -> Search {
        match fields.raise() {
            Ok(Edit::Search(search)) => search,
            other => panic!("{other:?}"),
        }
    }

    fn refused(fields: BlockFields) -> (Code, Option<String>) {
        let error = fields.raise().unwrap_err();
        (error.code, error.field.map(String::from))
    }

    #[test]
    fn a_version_asks_for_a_second_copy() {
        assert_eq!(raised(fields()).standing, OnDuplicate::Done);
        assert_eq!(raised(BlockFields { versioned: true, ..fields() }).standing, OnDuplicate::Again);
    }

    #[test]
    fn a_blank_search_is_refused_before_anything_else() {
        let likeness = Some(LikenessFields { threshold: 7.0, any_line: true });
        for search in ["", " ", "\n\t\n"] {
            let wrong = BlockFields { search: search.into(), likeness, start_line: Some(-1), ..fields() };
            assert_eq!(refused(wrong), (Code::InvalidInput, Some("search".into())), "{search:?}");
        }
    }

    #[test]
    fn an_open_window_reaches_to_the_end() {
        let window = |start_line, end_line| raised(BlockFields { start_line, end_line, ..fields() }).lines;
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
        let any = |any_line| Some(LikenessFields { threshold: 0.85, any_line });
        let threshold = Score::from_ratio(0.85).unwrap();
        assert_eq!(
            raised(BlockFields { likeness: any(false), ..fields() }).tolerance,
            MatchTolerance::Similar { threshold, slip: TypoPolicy::Pen }
        );
        let narrowed = BlockFields { likeness: any(true), within: Some("f".into()), ..fields() };
        assert_eq!(raised(narrowed).tolerance, MatchTolerance::Similar { threshold, slip: TypoPolicy::Any });
        let wide = BlockFields { likeness: any(true), end_line: Some(9), ..fields() };
        assert_eq!(refused(wide), (Code::InvalidInput, Some("similar".into())));
        for threshold in [-0.1, 1.01, 50.0] {
            let likeness = Some(LikenessFields { threshold, any_line: false });
            assert_eq!(refused(BlockFields { likeness, ..fields() }).1.as_deref(), Some("threshold"));
        }
    }
}
