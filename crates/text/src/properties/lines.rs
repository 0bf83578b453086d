//! Properties of lines and offsets before and after an edit.
#![cfg(test)]

use proptest::prelude::*;

use super::{edited, file, raw_lines, wishes};
use crate::{Buffer, Change, Encoding, Hints, LineEnd, LineEnds, LineMap, Region, Splice};

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_view_is_the_text_with_folded_line_ends(file in file()) {
        let buffer = file.read();
        prop_assert_eq!(buffer.text().into_owned(), file.text.as_str());
        prop_assert_eq!(buffer.view(), file.text.replace("\r\n", "\n"));
        prop_assert_eq!(buffer.line_ends(), LineEnds::count(&file.text));
        let lines: Vec<&str> = buffer.view().split_inclusive('\n').collect();
        prop_assert_eq!(buffer.lines().count(), lines.len());
        for (index, line) in lines.iter().enumerate() {
            prop_assert_eq!(buffer.lines().with_line_end(index + 1), *line);
            prop_assert_eq!(buffer.lines().line_at(buffer.lines().span(index + 1).start), index + 1);
        }
        for (index, line) in raw_lines(&buffer).iter().enumerate() {
            let end = if line.ends_with("\r\n") { Some(LineEnd::CrLf) } else { line.ends_with('\n').then_some(LineEnd::Lf) };
            prop_assert_eq!(buffer.line_end(index + 1), end);
        }
    }

    #[test]
    fn the_line_map_carries_exactly_the_lines_that_stay(file in file(), wishes in wishes()) {
        let (before, plan, after) = edited(&file, &wishes);
        let map = plan.line_map(&before, &after);
        let mapped: Vec<(usize, usize)> = (1..=before.lines().count()).filter_map(|old| map.new_line_of(old).map(|new| (old, new))).collect();
        prop_assert!(mapped.is_sorted_by(|one, other| one.1 < other.1));
        for &(old, new) in &mapped {
            prop_assert_eq!(before.lines().text(old), after.lines().text(new));
            let by = map.shifts().iter().rev().find(|shift| shift.from <= old).map_or(0, |shift| shift.by);
            prop_assert_eq!(old.checked_add_signed(by), Some(new));
        }
        let stayed: Vec<usize> = (1..=after.lines().count()).filter(|&new| !map.touched(new)).collect();
        prop_assert_eq!(mapped.iter().map(|&(_, new)| new).collect::<Vec<_>>(), stayed);
        for line in 1..=before.lines().count() {
            let bytes = before.byte_span(before.lines().span(line));
            let apart = |splice: &Splice| splice.span.end < bytes.start || splice.span.start > bytes.end;
            prop_assert!(map.new_line_of(line).is_some() || !plan.splices().iter().all(apart), "line {line} was let go");
        }
        prop_assert_eq!((map.new_line_of(0), map.touched(0), LineMap::default().new_line_of(7)), (None, false, Some(7)));
    }

    #[test]
    fn the_regions_hold_every_line_that_changed(file in file(), wishes in wishes()) {
        let (before, plan, after) = edited(&file, &wishes);
        for (before, after, plan) in [(&before, &after, &plan), (&after, &before, &plan.inverse(&before, &after))] {
            let (old, new) = (raw_lines(before), raw_lines(after));
            let mut rebuilt = Vec::new();
            let mut from = 0;
            for region in plan.regions(before, after) {
                rebuilt.extend_from_slice(&old[from..region.start_line - 1]);
                prop_assert_eq!(rebuilt.len(), region.new_start_line - 1);
                rebuilt.extend_from_slice(&new[region.new_start_line - 1..region.new_end_line]);
                from = region.end_line;
            }
            rebuilt.extend_from_slice(&old[from..]);
            prop_assert_eq!(rebuilt, new);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_map_is_that_of_a_walk_over_every_character(file in file()) {
        let buffer = file.read();
        let (mut offset, mut byte) = (0, file.mark);
        let mut rest = file.text.chars().peekable();
        while let Some(c) = rest.next() {
            prop_assert_eq!((buffer.byte(offset), buffer.offset(byte)), (byte, offset));
            let pair = c == '\r' && rest.next_if_eq(&'\n').is_some();
            let shown = if pair { '\n' } else { c };
            let raw = if pair { "\r\n".to_owned() } else { c.to_string() };
            let width = file.encoding.encode(&raw).unwrap().len();
            for inside in byte..byte + width {
                prop_assert!(buffer.offset(inside) == offset || file.encoding == Encoding::Utf8);
            }
            (offset, byte) = (offset + shown.len_utf8(), byte + width);
        }
        prop_assert_eq!((buffer.byte(offset), buffer.offset(byte)), (file.bytes.len(), buffer.view().len()));
    }
}

#[test]
fn two_splices_that_meet_within_a_line_are_one_region() {
    let before = Buffer::read(b"x\n".to_vec(), Hints::default()).unwrap();
    let insert = |text: &str| Change { span: 0..0, text: text.into() };
    let plan = before.plan(vec![insert("a"), insert("b\n"), insert("c\n")]).unwrap();
    let after = before.apply(&plan).unwrap();
    let regions = plan.regions(&before, &after);
    assert_eq!(after.view(), "ab\nc\nx\n");
    let empty = |new| Region { start_line: 1, end_line: 0, new_start_line: new, new_end_line: new };
    assert_eq!(regions, [empty(1), empty(2)]);
}
