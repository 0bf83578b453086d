//! What is asked for, in short.

use lockgate::edit::{Aim, Edit, Insertion, LineEdit, Needle, Search, Standing};
use lockgate::engine::{Report, Status};
use lockgate::locate::Tolerance;
use lockgate::request::Expect;
use lockgate::text::Stamp;

use crate::suite::rows::world::World;

pub const FIVE: &str = "one\ntwo\nthree\nfour\nfive\n";

pub fn content(text: &str) -> Edit {
    Edit::Content(text.to_owned())
}

pub fn lines(first: usize, last: usize, text: &str) -> Edit {
    Edit::Lines(vec![LineEdit {
        start_line: first,
        end_line: last,
        new_content: text.to_owned(),
        expect: None,
    }])
}

pub fn insertion(at: usize, text: &str) -> Edit {
    Edit::Insert(vec![Insertion { at_line: at, content: text.to_owned(), expect: None }])
}

pub fn search(from: &str, to: &str) -> Edit {
    Edit::Search(Search {
        needle: Needle::Literal(from.to_owned()),
        replace: to.to_owned(),
        count: None,
        lines: None,
        within: None,
        aim: Aim::Matches,
        tolerance: Tolerance::Wrapping,
        standing: Standing::Again,
    })
}

#[track_caller]
pub fn written(world: &World, path: &str, edit: Edit) -> Report {
    let report = world.edit(path, edit, Expect::Anything).unwrap();
    assert_eq!(report.status, Status::Written, "{report:?}");
    assert_eq!(report.version, world.bytes(path).map(|bytes| Stamp::of(&bytes)));
    assert!(report.edit_id.is_some());
    report
}

pub fn utf16(text: &str, mark: [u8; 2]) -> Vec<u8> {
    let bytes = |unit: u16| if mark == [0xFF, 0xFE] { unit.to_le_bytes() } else { unit.to_be_bytes() };
    mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
}
