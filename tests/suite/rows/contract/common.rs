//! What the tests of the contract ask for in common.

use lockgate_edit::Edit;
use lockgate_edit::request::Expect;
use lockgate_engine::{Report, Status};
use lockgate_text::Version;

use crate::suite::rows::fixture::EntityFixture;

pub const FIVE: &str = "one\ntwo\nthree\nfour\nfive\n";

#[track_caller]
pub fn written(fixture: &EntityFixture, path: &str, edit: Edit) -> Report {
    let report = fixture.edit(path, edit, Expect::Anything).unwrap();
    assert_eq!(report.status, Status::Written, "{report:?}");
    assert_eq!(report.version, fixture.bytes(path).map(|bytes| Version::hash(&bytes)));
    assert!(report.edit_id.is_some());
    report
}

pub fn utf16(text: &str, bom: [u8; 2]) -> Vec<u8> {
    let bytes = |unit: u16| if bom == [0xFF, 0xFE] { unit.to_le_bytes() } else { unit.to_be_bytes() };
    bom.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
}
