//! Properties of bytes: read bytes are kept, bytes outside an edit stay.
#![cfg(test)]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{changes, edited, encodable, file, raw_lines, wishes, without_lone_returns, words};
use crate::encoding::{self, EncodingForm};
use crate::{Buffer, Change, Encoding, Hints, bytes_outside_unchanged};
use lockgate_error::Code;

const STARTS: [&[u8]; 7] =
    [b"", b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF", b"\xFF\xFE\0\0", b"\0\0\xFE\xFF", b"\r\n\xE9"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_kept_or_refused(start in select(&STARTS[..]), rest in vec(any::<u8>(), 0..40), hint in select(&[None, Some(Encoding::Latin1), Some(Encoding::Utf16Be)][..])) {
        let bytes = [start, &rest].concat();
        match Buffer::read(bytes.clone(), Hints { charset: hint, line_end: None }) {
            Ok(buffer) => {
                prop_assert_eq!(buffer.bytes(), &bytes[..]);
                let body = buffer.encoding().encode(&buffer.text()).unwrap();
                prop_assert!(bytes.ends_with(&body) && bytes.len() - body.len() <= 3);
            }
            Err(error) => {
                prop_assert_eq!(error.code, Code::NotText);
                prop_assert!(std::str::from_utf8(&bytes).is_err());
            }
        }
    }

    #[test]
    fn a_piece_of_the_bytes_decodes_to_its_piece_of_the_view(file in file(), wishes in wishes()) {
        let buffer = file.read();
        for change in changes(buffer.view(), file.encoding, &wishes) {
            let bytes = &buffer.bytes()[buffer.byte_span(change.span.clone())];
            let text = encoding::text_of(bytes, EncodingForm { encoding: file.encoding, mark: 0 }).unwrap();
            prop_assert_eq!(text.replace("\r\n", "\n"), buffer.view().get(change.span).unwrap());
        }
    }

    #[test]
    fn the_inverse_brings_every_byte_back(file in file(), wishes in wishes()) {
        let (before, plan, after) = edited(&file, &wishes);
        prop_assert!(!plan.splices().is_empty() || before.bytes() == after.bytes());
        let inverse = plan.inverse(&before, &after);
        let back = after.apply(&inverse).unwrap();
        prop_assert_eq!(back.bytes(), &file.bytes[..]);
        prop_assert!(bytes_outside_unchanged(after.bytes(), back.bytes(), &inverse));
        let twice = inverse.inverse(&after, &back);
        prop_assert_eq!(twice, plan);
    }

    #[test]
    fn the_result_has_the_requested_text(file in file(), wishes in wishes()) {
        // A carriage return and a newline that become adjacent are one line end.
        let before = file.without_lone_returns().read();
        let mut changes = changes(before.view(), file.encoding, &wishes);
        changes.iter_mut().for_each(|change| change.text = without_lone_returns(&change.text));
        // A text at the start may repeat the mark of the file, which is not part of the view.
        let repeats = before.has_byte_order_mark() && !before.view().starts_with('\u{feff}');
        let mut wanted = before.view().to_owned();
        let mut sorted = changes.clone();
        sorted.sort_by_key(|change| change.span.start);
        for change in sorted.iter().rev() {
            let unmarked = change.text.strip_prefix('\u{feff}').filter(|_| repeats && change.span.start == 0);
            wanted.replace_range(change.span.clone(), unmarked.unwrap_or(&change.text));
        }
        let after = before.apply(&before.plan(changes).unwrap()).unwrap();
        prop_assert_eq!(after.view(), wanted.replace("\r\n", "\n"));
        if !before.line_ends().is_mixed() && before.line_ends().majority().is_some() && !after.view().is_empty() {
            prop_assert!(!after.line_ends().is_mixed());
        }
    }

    #[test]
    fn a_text_that_reads_back_exactly_need_not_be_read(file in file(), wishes in wishes(), start in select(&["", "\u{feff}"][..])) {
        let (_, _, edited) = edited(&file, &wishes);
        let start = Change { span: 0..0, text: start.to_owned() };
        let Ok(plan) = edited.plan(vec![start]) else { return Ok(()) };
        let after = edited.apply(&plan).unwrap();
        let has_mark = after.bytes().starts_with(STARTS[1]);
        let is_plain = after.encoding() == Encoding::Utf8 && !after.bytes().windows(2).any(|two| two == b"\r\n");
        prop_assert_eq!(after.reads_back_exactly(), is_plain && after.has_byte_order_mark() == has_mark);
        if after.reads_back_exactly() {
            let read = Buffer::read(after.bytes().to_vec(), after.hints()).unwrap();
            prop_assert_eq!(format!("{read:?}"), format!("{after:?}"));
        }
    }

    #[test]
    fn a_later_reading_shows_the_same(file in file(), wishes in wishes()) {
        if file.encoding != Encoding::Utf8 && file.mark == 0 {
            return Ok(());
        }
        let (_, _, after) = edited(&file, &wishes);
        let again = Buffer::read(after.bytes().to_vec(), Hints::default()).unwrap();
        prop_assert_eq!(again.view(), if file.mark == 0 { after.view().strip_prefix('\u{feff}').unwrap_or(after.view()) } else { after.view() });
        prop_assert_eq!(again.version(), after.version());
    }

    #[test]
    fn the_order_of_the_list_does_not_matter(file in file(), wishes in wishes(), rotation in any::<Index>()) {
        let before = file.read();
        let mut changes = changes(before.view(), file.encoding, &wishes);
        let plan = before.plan(changes.clone()).unwrap();
        if !changes.is_empty() {
            let rotation = rotation.index(changes.len());
            changes.rotate_left(rotation);
        }
        prop_assert_eq!(&before.plan(changes.clone()).unwrap(), &plan);
        changes.reverse();
        prop_assert_eq!(&before.plan(changes).unwrap(), &plan);
    }

    #[test]
    fn a_broken_splicing_is_detected(file in file(), wishes in wishes(), at in any::<Index>()) {
        let (before, plan, after) = edited(&file, &wishes);
        prop_assert!(bytes_outside_unchanged(before.bytes(), after.bytes(), &plan));
        let inside: Vec<_> = plan.new_spans().collect();
        let outside: Vec<usize> = (0..after.bytes().len()).filter(|byte| !inside.iter().any(|span| span.contains(byte))).collect();
        prop_assume!(!outside.is_empty());
        let byte = outside[at.index(outside.len())];
        let mut flipped = after.bytes().to_vec();
        flipped[byte] ^= 1;
        prop_assert!(!bytes_outside_unchanged(before.bytes(), &flipped, &plan), "one bit");
        let mut short = after.bytes().to_vec();
        short.remove(byte);
        prop_assert!(!bytes_outside_unchanged(before.bytes(), &short, &plan), "one byte less");
        let long = [after.bytes(), b"\n"].concat();
        prop_assert!(!bytes_outside_unchanged(before.bytes(), &long, &plan), "one byte more");
        prop_assert!(!bytes_outside_unchanged(before.bytes(), &after.bytes()[..byte], &plan), "the end is lost");
    }

    #[test]
    fn a_rewritten_file_is_the_content_as_given(file in file(), content in words(), keep in any::<bool>()) {
        let before = file.read();
        let mut content = encodable(file.encoding, &content);
        if keep {
            content = format!("{content}{}", file.text);
        }
        let plan = before.rewrite(&content).unwrap();
        let after = before.apply(&plan).unwrap();
        let expected = if file.mark > 0 { content.strip_prefix('\u{feff}').unwrap_or(&content) } else { &content };
        prop_assert_eq!(after.text().into_owned(), expected);
        prop_assert_eq!(&after.bytes()[..file.mark], &file.bytes[..file.mark]);
        prop_assert!(bytes_outside_unchanged(before.bytes(), after.bytes(), &plan));
        let same = raw_lines(&before).iter().zip(expected.split_inclusive('\n')).take_while(|(old, new)| old == new).count();
        let first = before.byte(before.lines().span(same + 1).start);
        prop_assert!(plan.splices().iter().all(|splice| splice.span.start >= first), "an unchanged line was written");
        prop_assert_eq!(plan.splices().is_empty(), expected == file.text);
    }
}

#[test]
fn a_text_for_which_utf_16_is_configured_must_be_read() {
    let is_certain = |charset| {
        Buffer::read(b"a\n".to_vec(), Hints { charset, line_end: None }).unwrap().reads_back_exactly()
    };
    assert!(is_certain(None) && is_certain(Some(Encoding::Latin1)));
    assert!(!is_certain(Some(Encoding::Utf16Le)));
}
