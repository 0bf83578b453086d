//! Reads some lines of a text, or all of them.

use std::sync::Arc;

use super::super::resolve::resolve_for_read;
use super::super::services::Services;
use super::ReadRequest;
use crate::text_cache::absent;
use lockgate_checks::Watch;
use lockgate_edit::request::{Entity, Target};
use lockgate_error::{Code, Error, NextCall};
use lockgate_policy::Limits;
use lockgate_store::{DefaultOwner, DocumentPath, RowLocation};
use lockgate_text::{Buffer, Hints};

/// A request for some lines of one target.
///
/// Errors: `FILE_NOT_FOUND`, `NOT_TEXT`, `TOO_LARGE`, `PROTECTED`, `RANGE_OUT_OF_BOUNDS` for a start past the last line
/// or the end, and the errors of admitting a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinesRequest {
    /// The file or entity to read.
    pub target: Target,
    /// The first line, from 1.
    pub start_line: usize,
    /// The last line, inclusive; a line past the end means the last line of the text.
    pub end_line: usize,
}

impl From<Target> for LinesRequest {
    /// Creates a request for a whole text.
    fn from(target: Target) -> LinesRequest {
        LinesRequest { target, start_line: 1, end_line: usize::MAX }
    }
}

/// Some lines of a text, as it was when they were read.
#[derive(Debug)]
pub struct ReadLines {
    /// The target as lockgate names it: relative to its root, with `/`.
    pub path: String,
    /// The key of the entity, if it is stored in a database.
    pub entity: Option<Entity>,
    /// The real path, if a symbolic link was followed.
    pub resolved_path: Option<String>,
    /// The first of the lines, from 1.
    pub start_line: usize,
    /// The last of the lines, inclusive; before the first if the text is empty.
    pub end_line: usize,
    /// The whole text, of which the lines are a part.
    pub text: Arc<Buffer>,
}

impl ReadRequest for LinesRequest {
    type Output = ReadLines;

    fn target(&self) -> Option<&Target> {
        Some(&self.target)
    }

    fn size(reading: &ReadLines) -> Option<usize> {
        Some(reading.text.view().len())
    }

    fn read(&self, services: &Arc<Services>, _watch: &Watch) -> Result<ReadLines, Error> {
        services.prewarm(&self.target);
        let reading = services.read_whole(&self.target)?;
        let count = reading.text.lines().count();
        self.check_range(count)?;
        Ok(ReadLines { start_line: self.start_line, end_line: self.end_line.min(count), ..reading })
    }
}

impl Services {
    /// Reads a whole target.
    ///
    /// Errors: those of a [`LinesRequest`], except for the range.
    pub(super) fn read_whole(&self, target: &Target) -> Result<ReadLines, Error> {
        let place = resolve_for_read(self, target, DefaultOwner::Closest)?;
        let text = match &place {
            DocumentPath::File(file) => self.texts.read(&self.store, file, &self.rules_at(file))?,
            DocumentPath::Row(row) => self.text_in(row)?,
        };
        Ok(ReadLines {
            path: place.shown().to_owned(),
            entity: place.entity().cloned(),
            resolved_path: place.resolved().map(str::to_owned),
            start_line: 1,
            end_line: text.lines().count(),
            text,
        })
    }

    /// Returns the text of a row.
    ///
    /// Errors: `FILE_NOT_FOUND`, `NOT_TEXT`, `TOO_LARGE`, `STORE_UNAVAILABLE`.
    fn text_in(&self, place: &RowLocation) -> Result<Arc<Buffer>, Error> {
        let limits = self.policy_at_top().map_or_else(|_| Limits::default(), |policy| policy.limits);
        let Some(mut snapshot) = self.store.rows.read(place, limits.file)? else {
            let error = absent(place.entity().kind.name(), place.path());
            return Err(error.with_next(NextCall::List { folder: String::new() }));
        };
        Buffer::read(snapshot.take_bytes(), Hints::default()).map(Arc::new)
    }
}

impl LinesRequest {
    /// Checks that the range is one of a text of `count` lines.
    fn check_range(&self, count: usize) -> Result<(), Error> {
        let LinesRequest { target, start_line, end_line } = self;
        if *start_line > count.max(1) {
            let message = format!("Line {start_line} is out of bounds ({} has {count} lines)", target.noun());
            return Err(Error::new(Code::RangeOutOfBounds, message)
                .field("start_line")
                .hint(format!("give a start_line from 1 to {}", count.max(1)))
                .with_next_if(NextCall::read_end(count)));
        }
        if end_line < start_line {
            let message = format!("line {end_line} is out of bounds: it is before line {start_line}");
            let next = NextCall::Fields { set: Vec::new(), unset: vec!["end_line"] };
            return Err(Error::new(Code::RangeOutOfBounds, message).field("end_line").with_next(next));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Fixture;
    use std::os::unix::fs::PermissionsExt as _;

    fn read_lines(
        files: &[(&str, &str)],
        path: &str,
        lines: (usize, usize),
    ) -> Result<(usize, usize), Error> {
        let fixture = Fixture::new(files);
        let root = fixture.root();
        for (name, _) in files {
            std::fs::set_permissions(root.join(name), std::fs::Permissions::from_mode(0o444)).unwrap();
        }
        if let [(first, _), ..] = files {
            std::fs::hard_link(root.join(first), root.join("second name")).unwrap();
        }
        let target = Target::File(path.to_owned());
        let request = LinesRequest { target, start_line: lines.0, end_line: lines.1 };
        let reading = request.read(&fixture.services, &Watch::idle())?;
        Ok((reading.start_line, reading.end_line))
    }

    #[test]
    fn a_read_only_file_is_read() {
        let files = [("a.txt", "1\n2\n3\n"), ("quality.yaml", "nonsense: [")];
        assert_eq!(read_lines(&files, "a.txt", (2, 102)), Ok((2, 3)));
        assert_eq!(read_lines(&files, "second name", (1, 1)), Ok((1, 1)));
        assert_eq!(read_lines(&[("empty", "")], "empty", (1, 101)), Ok((1, 0)));
    }

    #[test]
    fn a_range_that_the_text_has_not_is_refused_with_its_field() {
        for (lines, field) in [((3, 2), "end_line"), ((4, 4), "start_line"), ((4, 2), "start_line")] {
            let error = read_lines(&[("a.txt", "1\n2\n3\n")], "a.txt", lines).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::RangeOutOfBounds, Some(field)));
        }
    }

    #[test]
    fn what_cannot_be_shown_is_refused() {
        let files = [(".env", "secret\n"), ("a.txt", "1\n")];
        for (path, start, code) in [
            (".env", 1, Code::Protected),
            ("second name", 1, Code::Protected),
            ("none", 1, Code::FileNotFound),
            ("none/none", 1, Code::FileNotFound),
            ("../a.txt", 1, Code::PathOutsideRoot),
            ("a.txt", 2, Code::RangeOutOfBounds),
            (".", 1, Code::NotAFile),
        ] {
            let result = read_lines(&files, path, (start, start)).map_err(|error| error.code);
            assert_eq!(result, Err(code), "{path}");
        }
    }
}
