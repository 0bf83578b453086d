//! Property tests of this module, on random files in every form and random edits of them.
#![cfg(test)]

mod bytes;
mod git;
mod lines;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::encoding::{self, EncodingForm};
use super::{Buffer, Change, Encoding, Hints, Plan};

const FORMS: [(Encoding, &[u8]); 7] = [
    (Encoding::Utf8, b""),
    (Encoding::Utf8, b"\xEF\xBB\xBF"),
    (Encoding::Utf16Le, b"\xFF\xFE"),
    (Encoding::Utf16Be, b"\xFE\xFF"),
    (Encoding::Utf16Le, b""),
    (Encoding::Windows1252, b""),
    (Encoding::Latin1, b""),
];

#[derive(Debug, Clone)]
struct File {
    encoding: Encoding,
    mark: usize,
    bytes: Vec<u8>,
    text: String,
}

impl File {
    fn read(&self) -> Buffer {
        let form = EncodingForm { encoding: self.encoding, mark: self.mark };
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
    let line_ends = ["\n", "\n", "\r\n", "\r\n", "}\n", "}\r\n"];
    let all = words.into_iter().chain(line_ends).map(str::to_owned).chain([long]).collect::<Vec<_>>();
    vec(select(all), 0..40).prop_map(|words| words.concat())
}

fn encodable(encoding: Encoding, text: &str) -> String {
    text.chars().filter(|c| encoding.encode(c.encode_utf8(&mut [0; 4])).is_ok()).collect()
}

fn file() -> impl Strategy<Value = File> {
    (select(&FORMS[..]), words()).prop_map(|((encoding, mark), text)| {
        let text = encodable(encoding, &text);
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
            changes.push(Change { span, text: encodable(encoding, text) });
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

/// The lines with the line ends of the file.
fn raw_lines(buffer: &Buffer) -> Vec<String> {
    buffer.text().split_inclusive('\n').map(str::to_owned).collect()
}
