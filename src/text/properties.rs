//! The laws of this room, on random files in every form and random edits of them.

use std::process::Command;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::encoding::Form;
use super::*;
use crate::error::Code;

const FORMS: [(Encoding, &[u8]); 7] = [
    (Encoding::Utf8, b""),
    (Encoding::Utf8, b"\xEF\xBB\xBF"),
    (Encoding::Utf16Le, b"\xFF\xFE"),
    (Encoding::Utf16Be, b"\xFE\xFF"),
    (Encoding::Utf16Le, b""),
    (Encoding::Windows1252, b""),
    (Encoding::Latin1, b""),
];

const STARTS: [&[u8]; 7] =
    [b"", b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF", b"\xFF\xFE\0\0", b"\0\0\xFE\xFF", b"\r\n\xE9"];

/// A file of a known form: its bytes, and the text that they show.
#[derive(Debug, Clone)]
struct File {
    encoding: Encoding,
    mark: usize,
    bytes: Vec<u8>,
    text: String,
}

impl File {
    fn read(&self) -> Buffer {
        let form = Form { encoding: self.encoding, mark: self.mark };
        let decoded = encoding::decode(self.bytes.clone(), form).unwrap();
        Buffer::build(form, decoded, Hints::default()).unwrap()
    }

    fn without_lone_returns(&self) -> File {
        let text = without_lone_returns(&self.text);
        let mark = &self.bytes[..self.mark];
        File { bytes: [mark, &self.encoding.encode(&text).unwrap()].concat(), text, ..self.clone() }
    }
}

fn without_lone_returns(text: &str) -> String {
    text.replace("\r\n", "\0").replace('\r', "").replace('\0', "\r\n")
}

fn words() -> impl Strategy<Value = String> {
    let long = "x".repeat(150);
    let words =
        ["a", "b", "foo", " ", "é", "ÿ", "€", "\u{85}", "\u{2028}", "\u{c}", "𝄞", "\u{feff}", "\r", "ab\n"];
    let ends = ["\n", "\n", "\r\n", "\r\n", "}\n", "}\r\n"];
    let all = words.into_iter().chain(ends).map(str::to_owned).chain([long]).collect::<Vec<_>>();
    vec(select(all), 0..40).prop_map(|words| words.concat())
}

fn held(encoding: Encoding, text: &str) -> String {
    text.chars().filter(|c| encoding.encode(c.encode_utf8(&mut [0; 4])).is_ok()).collect()
}

fn file() -> impl Strategy<Value = File> {
    (select(&FORMS[..]), words()).prop_map(|((encoding, mark), text)| {
        let text = held(encoding, &text);
        let bytes = [mark, &encoding.encode(&text).unwrap()].concat();
        File { encoding, mark: mark.len(), bytes, text }
    })
}

/// Changes of a view that do not overlap; at most one starts at each place.
fn changes(view: &str, encoding: Encoding, wishes: &[(Index, usize, String)]) -> Vec<Change> {
    let mut borders: Vec<usize> = view.char_indices().map(|(at, _)| at).collect();
    borders.push(view.len());
    let mut changes: Vec<Change> = Vec::new();
    for (at, len, text) in wishes {
        let start = at.index(borders.len());
        let end = (start + len).min(borders.len() - 1);
        let span = borders[start]..borders[end];
        let free = |other: &Change| {
            other.span.start != span.start && (other.span.end <= span.start || span.end <= other.span.start)
        };
        if changes.iter().all(free) {
            changes.push(Change { span, text: held(encoding, text) });
        }
    }
    changes
}

fn wishes() -> impl Strategy<Value = Vec<(Index, usize, String)>> {
    vec((any::<Index>(), 0..12_usize, prop_oneof![Just(String::new()), words()]), 0..6)
}

fn edited(file: &File, wishes: &[(Index, usize, String)]) -> (Buffer, Plan, Buffer) {
    let before = file.read();
    let plan = before.plan(changes(before.view(), file.encoding, wishes)).unwrap();
    let after = before.apply(&plan).unwrap();
    (before, plan, after)
}

/// Lines with their line ends as they stand in the file.
fn raw_lines(buffer: &Buffer) -> Vec<String> {
    buffer.text().split_inclusive('\n').map(str::to_owned).collect()
}

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
    fn the_view_is_the_text_with_folded_line_ends(file in file()) {
        let buffer = file.read();
        prop_assert_eq!(&buffer.text()[..], &file.text);
        prop_assert_eq!(buffer.view(), file.text.replace("\r\n", "\n"));
        prop_assert_eq!(buffer.line_ends(), LineEnds::of(&file.text));
        let lines: Vec<&str> = buffer.view().split_inclusive('\n').collect();
        prop_assert_eq!(buffer.lines().count(), lines.len());
        for (index, line) in lines.iter().enumerate() {
            prop_assert_eq!(buffer.lines().whole(index + 1), *line);
            prop_assert_eq!(buffer.lines().at(buffer.lines().span(index + 1).start), index + 1);
        }
        for (index, line) in raw_lines(&buffer).iter().enumerate() {
            let end = if line.ends_with("\r\n") { Some(LineEnd::CrLf) } else { line.ends_with('\n').then_some(LineEnd::Lf) };
            prop_assert_eq!(buffer.line_end(index + 1), end);
        }
    }

    #[test]
    fn a_piece_of_the_bytes_decodes_to_its_piece_of_the_view(file in file(), wishes in wishes()) {
        let buffer = file.read();
        for change in changes(buffer.view(), file.encoding, &wishes) {
            let bytes = &buffer.bytes()[buffer.byte_span(change.span.clone())];
            let text = encoding::text_of(bytes, Form { encoding: file.encoding, mark: 0 }).unwrap();
            prop_assert_eq!(text.replace("\r\n", "\n"), &buffer.view()[change.span]);
        }
    }

    #[test]
    fn the_inverse_brings_every_byte_back(file in file(), wishes in wishes()) {
        let (before, plan, after) = edited(&file, &wishes);
        prop_assert_eq!(plan.is_noop(), before.bytes() == after.bytes() && plan.splices().is_empty());
        let inverse = plan.inverse(&before, &after);
        let back = after.apply(&inverse).unwrap();
        prop_assert_eq!(back.bytes(), &file.bytes[..]);
        prop_assert!(bytes_outside_unchanged(after.bytes(), back.bytes(), &inverse));
        let twice = inverse.inverse(&after, &back);
        prop_assert_eq!(twice, plan);
    }

    #[test]
    fn the_outcome_shows_the_text_that_was_asked_for(file in file(), wishes in wishes()) {
        // A carriage return and a newline that come to stand side by side are one line end from then on.
        let before = file.without_lone_returns().read();
        let mut changes = changes(before.view(), file.encoding, &wishes);
        changes.iter_mut().for_each(|change| change.text = without_lone_returns(&change.text));
        let mut wanted = before.view().to_owned();
        let mut sorted = changes.clone();
        sorted.sort_by_key(|change| change.span.start);
        for change in sorted.iter().rev() {
            wanted.replace_range(change.span.clone(), &change.text);
        }
        let after = before.apply(&before.plan(changes).unwrap()).unwrap();
        prop_assert_eq!(after.view(), wanted.replace("\r\n", "\n"));
        if !before.line_ends().is_mixed() && before.line_ends().majority().is_some() && !after.view().is_empty() {
            prop_assert!(!after.line_ends().is_mixed());
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
        prop_assert_eq!(again.stamp(), after.stamp());
    }

    #[test]
    fn the_order_of_the_list_does_not_matter(file in file(), wishes in wishes(), turn in any::<Index>()) {
        let before = file.read();
        let mut changes = changes(before.view(), file.encoding, &wishes);
        let plan = before.plan(changes.clone()).unwrap();
        if !changes.is_empty() {
            let turn = turn.index(changes.len());
            changes.rotate_left(turn);
        }
        prop_assert_eq!(&before.plan(changes.clone()).unwrap(), &plan);
        changes.reverse();
        prop_assert_eq!(&before.plan(changes).unwrap(), &plan);
    }

    #[test]
    fn a_broken_splicing_is_seen(file in file(), wishes in wishes(), at in any::<Index>()) {
        let (before, plan, after) = edited(&file, &wishes);
        prop_assert!(bytes_outside_unchanged(before.bytes(), after.bytes(), &plan));
        let inside: Vec<_> = plan.landings().collect();
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
    fn the_line_map_carries_exactly_the_lines_that_stay(file in file(), wishes in wishes()) {
        let (before, plan, after) = edited(&file, &wishes);
        let map = plan.line_map(&before, &after);
        let carried: Vec<(usize, usize)> = (1..=before.lines().count()).filter_map(|old| map.carry(old).map(|new| (old, new))).collect();
        prop_assert!(carried.is_sorted_by(|one, other| one.1 < other.1));
        for &(old, new) in &carried {
            prop_assert_eq!(before.lines().text(old), after.lines().text(new));
            let by = map.shifts().iter().rev().find(|shift| shift.from <= old).map_or(0, |shift| shift.by);
            prop_assert_eq!(old.checked_add_signed(by), Some(new));
        }
        let stayed: Vec<usize> = (1..=after.lines().count()).filter(|&new| !map.touched(new)).collect();
        prop_assert_eq!(carried.iter().map(|&(_, new)| new).collect::<Vec<_>>(), stayed);
        for line in 1..=before.lines().count() {
            let bytes = before.byte_span(before.lines().span(line));
            let apart = |splice: &Splice| splice.span.end < bytes.start || splice.span.start > bytes.end;
            prop_assert!(map.carry(line).is_some() || !plan.splices().iter().all(apart), "line {line} was let go");
        }
        prop_assert_eq!((map.carry(0), map.touched(0), LineMap::default().carry(7)), (None, false, Some(7)));
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

    #[test]
    fn a_rewritten_file_is_the_content_as_given(file in file(), content in words(), keep in any::<bool>()) {
        let before = file.read();
        let mut content = held(file.encoding, &content);
        if keep {
            content = format!("{content}{}", file.text);
        }
        let plan = before.rewrite(&content).unwrap();
        let after = before.apply(&plan).unwrap();
        let given = if file.mark > 0 { content.strip_prefix('\u{feff}').unwrap_or(&content) } else { &content };
        prop_assert_eq!(&after.text()[..], given);
        prop_assert_eq!(&after.bytes()[..file.mark], &file.bytes[..file.mark]);
        prop_assert!(bytes_outside_unchanged(before.bytes(), after.bytes(), &plan));
        let same = raw_lines(&before).iter().zip(given.split_inclusive('\n')).take_while(|(old, new)| old == new).count();
        let first = before.byte(before.lines().span(same + 1).start);
        prop_assert!(plan.splices().iter().all(|splice| splice.span.start >= first), "an unchanged line was written");
        prop_assert_eq!(plan.is_noop(), given == file.text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

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

    #[test]
    fn git_takes_the_diff(marked in any::<bool>(), text in words(), wishes in wishes(), content in words(), way in 0..4) {
        let bytes = [if marked { "\u{feff}" } else { "" }, &text].concat().into_bytes();
        let file = File { encoding: Encoding::Utf8, mark: if marked { 3 } else { 0 }, bytes, text };
        let before = file.read();
        let plan = match way {
            0 => before.rewrite(&content).unwrap(),
            _ => before.plan(changes(before.view(), file.encoding, &wishes)).unwrap(),
        };
        let after = before.apply(&plan).unwrap();
        let (old, new, plan) = if way == 1 { (&after, &before, plan.inverse(&before, &after)) } else { (&before, &after, plan) };
        let diff = diff::unified("f.txt", Some(old), new, &plan);
        prop_assert_eq!(diff.render(usize::MAX).0.is_empty(), old.bytes() == new.bytes());
        if old.bytes() != new.bytes() {
            let made = by_git("f.txt", Some(old.bytes()), &diff.render(usize::MAX).0);
            prop_assert_eq!(made.map_err(TestCaseError::fail)?, new.bytes());
        }
    }
}

/// Gives what `git apply` makes of a file with this patch.
fn by_git(path: &str, before: Option<&[u8]>, patch: &str) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(path);
    if let Some(bytes) = before {
        std::fs::write(&file, bytes).unwrap();
    }
    std::fs::write(folder.path().join("the.patch"), patch).unwrap();
    let git = ["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "the.patch"];
    let out = Command::new("git").args(git).current_dir(folder.path()).output().unwrap();
    if !out.status.success() {
        return Err(format!("{}\n{patch}", String::from_utf8_lossy(&out.stderr)));
    }
    std::fs::read(&file).map_err(|error| format!("{error}\n{patch}"))
}

#[test]
fn git_takes_the_diff_of_a_creation_under_any_name() {
    for path in
        ["plain.txt", "two words.txt", "é \"q\" \\ tab\t.txt", " lead", "trail ", "line\nbreak", "\u{1}"]
    {
        for content in ["", "a", "a\r\nb\n", "\u{feff}a\n"] {
            let none = Buffer::read(Vec::new(), Hints::default()).unwrap();
            let plan = none.rewrite(content).unwrap();
            let after = none.apply(&plan).unwrap();
            let diff = diff::unified(path, None, &after, &plan);
            assert_eq!(
                by_git(path, None, &diff.render(usize::MAX).0),
                Ok(content.as_bytes().to_vec()),
                "{path:?}"
            );
            if content.is_empty() {
                continue;
            }
            for (old, new, plan) in
                [(&none, &after, plan.clone()), (&after, &none, plan.inverse(&none, &after))]
            {
                let (patch, cut) = diff::unified(path, Some(old), new, &plan).render(usize::MAX);
                assert_eq!(
                    (by_git(path, Some(old.bytes()), &patch), cut),
                    (Ok(new.bytes().to_vec()), Cut::Whole),
                    "{path:?}"
                );
            }
        }
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
