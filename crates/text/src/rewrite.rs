//! Replacement of a whole text, as splices of the lines that differ.
//!
//! Invariant: the result is the given content, in the file's encoding and behind its byte order mark.

use super::align::{DifferingLines, differing_texts};
use super::buffer::{Buffer, fits};
use super::change::{Change, Splice};
use super::line_end::LineEnds;
use super::lines::{self, Lines};
use super::plan::{MARK, Plan};
use lockgate_error::Error;

impl Buffer {
    /// Plans the replacement of the file's text by `content`, with its line ends. Unchanged lines are outside the
    /// splices. If the file has a byte order mark, one of the content is no part of the text.
    ///
    /// The plan's notes mention changed line ends.
    ///
    /// Errors: `NOT_ENCODABLE` for a character that the file's encoding cannot represent.
    pub fn rewrite(&self, content: &str) -> Result<Plan, Error> {
        let marked = self.has_byte_order_mark().then(|| content.strip_prefix(MARK)).flatten();
        self.checked(self.replace_text(marked.unwrap_or(content))?)
    }

    /// Does the same for a content that has no byte order mark: a first U+FEFF is a character of the text.
    fn replace_text(&self, content: &str) -> Result<Plan, Error> {
        fits(content.len())?;
        let text = self.text();
        let starts = [lines::starts(&text), lines::starts(content)];
        let [old, new] = [Lines::new(&text, &starts[0]), Lines::new(content, &starts[1])];
        let splices: Result<Vec<Splice>, Error> =
            differing_texts(old, new).iter().map(|piece| self.replace_lines(piece, &new, content)).collect();
        let note = self.line_ends().change_to(&LineEnds::count(content));
        Ok(Plan::new(self, splices?)?.with_note(note))
    }

    /// Plans the replacement of the view by a text with `\n` line ends only. A changed line takes the line ends of
    /// its neighbours.
    ///
    /// Errors: `NOT_ENCODABLE` for a character that the file's encoding cannot represent.
    pub fn revise(&self, view: &str) -> Result<Plan, Error> {
        fits(view.len())?;
        let starts = lines::starts(view);
        let [old, new] = [self.lines(), Lines::new(view, &starts)];
        let change = |piece: &DifferingLines| Change {
            span: old.block(piece.old.start + 1, piece.old.end),
            text: view.get(new.block(piece.new.start + 1, piece.new.end)).unwrap_or_default().to_owned(),
        };
        self.plan(differing_texts(old, new).iter().map(change).collect())
    }

    /// Plans the change of this file into another version of it, byte for byte. An empty file takes the byte order mark of
    /// the other version.
    ///
    /// Errors: `NOT_ENCODABLE` if the other version has another encoding and contains characters that this one cannot
    /// represent.
    pub fn plan_to(&self, other: &Buffer) -> Result<Plan, Error> {
        if self.bytes().is_empty() && other.has_byte_order_mark() {
            return self.replace_all(other.bytes());
        }
        self.replace_text(&other.text())
    }

    fn replace_lines(&self, piece: &DifferingLines, new: &Lines<'_>, content: &str) -> Result<Splice, Error> {
        let span = self.lines().block(piece.old.start + 1, piece.old.end);
        let text = content.get(new.block(piece.new.start + 1, piece.new.end)).unwrap_or_default();
        let bytes = self.encode(text, piece.new.start + 1)?;
        Ok(Splice { span: self.byte_span(span), bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hints;
    use lockgate_error::Code;

    fn rewritten(bytes: &[u8], content: &str) -> (Vec<u8>, usize, Vec<String>) {
        let before = Buffer::read(bytes.to_vec(), Hints::default()).unwrap();
        let plan = before.rewrite(content).unwrap();
        let after = before.apply(&plan).unwrap();
        (after.bytes().to_vec(), plan.splices().len(), plan.notes().to_vec())
    }

    #[test]
    fn lines_that_stay_lie_outside_the_splices() {
        let (bytes, splices, notes) = rewritten(b"a\nb\nc\nd\n", "a\nx\nc\ny\n");
        assert_eq!((bytes.as_slice(), splices, notes.len()), (b"a\nx\nc\ny\n".as_slice(), 2, 0));
    }

    #[test]
    fn line_ends_are_written_as_given_and_noted() {
        let (bytes, _, notes) = rewritten(b"a\r\nb\r\n", "a\nb\n");
        assert_eq!(
            (bytes.as_slice(), notes),
            (b"a\nb\n".as_slice(), vec!["line ends changed from CRLF to LF".to_owned()])
        );
    }

    #[test]
    fn encoding_and_byte_order_mark_are_kept() {
        for content in ["\u{e9}\n", "\u{feff}\u{e9}\n"] {
            assert_eq!(rewritten(b"\xEF\xBB\xBFa\n", content).0, b"\xEF\xBB\xBF\xC3\xA9\n");
            assert_eq!(rewritten(b"\xFF\xFEa\0\n\0", content).0, b"\xFF\xFE\xE9\0\n\0");
        }
        assert_eq!(rewritten(b"\xE8\n", "\u{e9}\n").0, b"\xE9\n");
    }

    #[test]
    fn a_revised_text_keeps_the_line_ends_of_the_file() {
        let revised = |bytes: &[u8], view: &str| {
            let before = Buffer::read(bytes.to_vec(), Hints::default()).unwrap();
            before.apply(&before.revise(view).unwrap()).unwrap().bytes().to_vec()
        };
        assert_eq!(revised(b"\xEF\xBB\xBFa\r\nb\r\n", "a\nc\nd\n"), b"\xEF\xBB\xBFa\r\nc\r\nd\r\n");
        assert_eq!(revised(b"a\r\nb\nc\n", "a\nb\nx\nc\n"), b"a\r\nb\nx\nc\n");
        assert_eq!(revised(b"\xE8\r\n", "\u{e8}\nb\n"), b"\xE8\r\nb\r\n");
        assert_eq!(revised(b"a\nb", "a\nb\n"), b"a\nb\n");
        assert_eq!(revised(b"a\n", ""), b"");
    }

    #[test]
    fn an_empty_file_takes_the_byte_order_mark_of_the_other_version() {
        for bytes in ["\u{feff}a\r\nb".as_bytes(), b"\xFF\xFEa\0"] {
            let other = Buffer::read(bytes.to_vec(), Hints::default()).unwrap();
            let plan = Buffer::default().plan_to(&other).unwrap();
            assert_eq!(plan.splice(b""), bytes);
        }
    }

    #[test]
    fn a_second_byte_order_mark_is_text_of_a_version() {
        let [one, two] = ["\u{feff}a\nb\n", "\u{feff}\u{feff}a\nb\n"]
            .map(|text| Buffer::read(text.into(), Hints::default()).unwrap());
        for (before, after) in [(&one, &two), (&two, &one)] {
            assert_eq!(before.plan_to(after).unwrap().splice(before.bytes()), after.bytes());
        }
        // The control: of a content it is that of the file.
        assert_eq!(rewritten(one.bytes(), "\u{feff}a\nb\n").0, one.bytes());
    }

    proptest::proptest! {
        #[test]
        fn a_version_becomes_the_other_byte_for_byte(
            has_mark in proptest::bool::ANY,
            before in "(a|b|\r|\r\n|\n|é|\u{feff}){0,12}",
            after in "(a|b|\r|\r\n|\n|é|\u{feff}){0,12}",
        ) {
            let byte_order_mark = if has_mark { "\u{feff}" } else { "" };
            let read = |text: &str| Buffer::read(format!("{byte_order_mark}{text}").into_bytes(), Hints::default()).unwrap();
            // Behind a byte order mark, the text itself can begin with one. Without one, its first would be that of the file.
            let text = |text: &str| if has_mark { text.to_owned() } else { text.trim_start_matches('\u{feff}').to_owned() };
            let (before, after) = (read(&text(&before)), read(&text(&after)));
            let applied = before.apply(&before.plan_to(&after).unwrap()).unwrap();
            proptest::prop_assert_eq!(applied.bytes(), after.bytes());
            // A revised text is a caller's, whose byte order mark is that of the file.
            let is_marked = after.view().starts_with('\u{feff}') && !before.view().starts_with('\u{feff}');
            if !is_marked && ![&before, &after].iter().any(|text| text.view().contains("\r\n")) {
                let revised = before.apply(&before.revise(after.view()).unwrap()).unwrap();
                proptest::prop_assert_eq!(revised.view(), after.view());
            }
        }
    }

    #[test]
    fn a_character_that_the_file_cannot_hold_is_refused_with_its_line() {
        let before = Buffer::read(b"\xE8\nb\n".to_vec(), Hints::default()).unwrap();
        let error = before.rewrite("\u{e8}\nb\nc\n\u{1d11e}\n").unwrap_err();
        assert_eq!((error.code, error.places.first().map(|place| place.line)), (Code::NotEncodable, Some(4)));
    }
}
