//! Tests of undo, redo and the removal of old edits.

use super::*;
use crate::history::RetentionLimits;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn an_edit_is_taken_back_and_made_again_once_each() {
    let fixture = Fixture::new();
    let rows = fixture.rows("o");
    let place = rows.at(&fixture.workflow("a", None));
    let undoable = || rows.newest(EditFilter::ToUndo, &place).unwrap().map(|entry| entry.id);
    let redoable = || rows.newest(EditFilter::ToRedo, &place).unwrap().map(|entry| entry.id);
    assert_eq!((undoable(), redoable()), (None, None));
    let (first, second) = (rows.write(&place, "1"), rows.write(&place, "2"));
    assert_eq!((undoable(), redoable()), (Some(second), None));
    let write = |text, kind| rows.write_all(&[(&place, Some(text))], kind).unwrap();
    let undo = edit(write("1", EntryKind::Undo(second)));
    assert_eq!((undoable(), redoable()), (Some(first), Some(second)));
    let entry = |id| rows.entry(id).unwrap().unwrap();
    assert!(entry(second).undone && !entry(first).undone);
    assert_eq!(entry(undo).meta.kind, EntryKind::Undo(second));
    assert!(is_overtaken(&write("0", EntryKind::Undo(second))), "it was taken back already");
    assert!(is_overtaken(&write("0", EntryKind::Redo(first))), "it was not taken back");
    edit(write("0", EntryKind::Undo(first)));
    assert_eq!((undoable(), redoable()), (None, Some(first)), "what was taken back last comes first");
    edit(write("1", EntryKind::Redo(first)));
    assert_eq!((undoable(), redoable()), (Some(first), Some(second)));
    assert_eq!(rows.text_of(&place).as_deref(), Some("1"));
}

#[test]
fn a_version_is_found_by_a_unique_prefix() {
    let fixture = Fixture::new();
    let rows = fixture.rows("");
    let (place, other) = (rows.at(&fixture.module("a")), rows.at(&fixture.module("b")));
    rows.write(&place, "one");
    rows.write(&place, "two");
    rows.write(&other, "other");
    let version = Version::hash(b"one").hex();
    for digits in [12, 13, 63, 64] {
        assert_eq!(rows.text(&place, version.split_at(digits).0).unwrap().as_deref(), Some(&b"one"[..]));
    }
    assert_eq!(rows.text(&place, &version.to_uppercase()).unwrap().as_deref(), Some(&b"one"[..]));
    for version in [
        version.split_at(11).0,
        "",
        "zzzzzzzzzzzz",
        &format!("{version}0"),
        "+00000000000",
        "0000\u{e9}0000000",
    ] {
        assert_eq!(rows.text(&place, version).unwrap(), None, "{version}");
    }
    let other_version = Version::hash(b"other").hex();
    assert_eq!(rows.text(&place, &other_version).unwrap(), None, "a text belongs to its row");
    assert!(rows.text(&other, &other_version).unwrap().is_some(), "the control");
}

#[test]
fn a_text_that_may_not_be_kept_is_not() {
    let fixture = Fixture::new();
    let rows = fixture.rows("");
    let place = rows.at(&fixture.module("a"));
    let after = Some(Content::new(b"secret"));
    let write = RowWrite { location: &place, before: None, after, record: JournalRecord::default() };
    let id = edit(rows.publish(&[write], &meta(EntryKind::Edit)).unwrap());
    assert!(!rows.entry(id).unwrap().unwrap().changes[0].kept);
    assert_eq!(rows.text(&place, &Version::hash(b"secret").hex()).unwrap(), None);
}

#[test]
fn the_oldest_edits_are_forgotten_with_the_texts_that_nothing_needs() {
    let fixture = Fixture::new();
    let rows = fixture.rows("o");
    let (place, removed) = (rows.at(&fixture.workflow("a", None)), rows.at(&fixture.workflow("b", None)));
    let other = fixture.rows("p");
    let other_place = other.at(&fixture.workflow("a", None));
    other.write(&other_place, "theirs");
    rows.write(&removed, "gone");
    edit(rows.write_all(&[(&removed, None)], EntryKind::Edit).unwrap());
    let texts: Vec<_> = (0..300).map(|number| format!("{number}")).collect();
    for text in &texts {
        rows.write(&place, text);
    }
    let tidy =
        |size, age| fixture.database.tidy(&fixture.tenant("o"), RetentionLimits { size, age }).unwrap();
    let day = Duration::from_secs(24 * 3600);
    tidy(u64::MAX, day);
    assert_eq!(rows.entries(Some(&place), 999).unwrap().len(), 300, "nothing is too old, or too much");
    tidy(1000, day);
    let entries = rows.entries(Some(&place), 999).unwrap();
    assert!((1..300).contains(&entries.len()), "{}", entries.len());
    assert_eq!(entries[0].changes[0].after, Some(Version::hash(b"299")), "the newest are left");
    for entry in &entries {
        let versions = [entry.changes[0].before, entry.changes[0].after];
        assert!(
            versions.iter().flatten().all(|version| rows.text(&place, &version.hex()).unwrap().is_some())
        );
    }
    assert_eq!(rows.text(&place, &Version::hash(b"0").hex()).unwrap(), None);
    tidy(u64::MAX, Duration::ZERO);
    assert!(
        rows.entries(None, 9)
            .unwrap()
            .iter()
            .all(|entry| entry.meta.author != "me" || entry.changes[0].path != place.path())
    );
    assert!(rows.text(&place, &Version::hash(b"299").hex()).unwrap().is_some(), "the row holds it");
    assert!(rows.text(&removed, &Version::hash(b"gone").hex()).unwrap().is_none());
    assert_eq!(rows.text_of(&place).as_deref(), Some("299"));
    assert!(
        other.newest(EditFilter::Settled, &other_place).unwrap().is_some(),
        "the past of others is theirs"
    );
    assert_eq!(rows.entries(Some(&place), 9).unwrap(), []);
    rows.write(&place, "next");
    assert!(rows.newest(EditFilter::ToUndo, &place).unwrap().is_some());
}

/// A text of 8192 characters that compresses to about half of that, different for each number.
fn long_text(number: u64) -> String {
    (0..128).map(|word| Version::hash(&(number << 8 | word).to_le_bytes()).hex()).collect()
}

fn tidy_to(fixture: &Fixture, tenant: &str, size: u64) {
    let limits = RetentionLimits { size, age: Duration::from_secs(24 * 3600) };
    fixture.database.tidy(&fixture.tenant(tenant), limits).unwrap();
}

#[test]
fn texts_that_rows_hold_do_not_count_against_the_limit() {
    let fixture = Fixture::new();
    let rows = fixture.rows("o");
    let place = rows.at(&fixture.workflow("a", None));
    let others: Vec<_> =
        (0..20).map(|number| rows.at(&fixture.workflow(&number.to_string(), None))).collect();
    for (number, other) in (0..).zip(&others) {
        rows.write(other, &long_text(number));
    }
    let edits: Vec<EditId> = ["1", "2", "3"].iter().map(|text| rows.write(&place, text)).collect();
    let count =
        || others.iter().filter(|other| rows.newest(EditFilter::Settled, other).unwrap().is_some()).count();
    // The live texts have about 80 KB, and those that only edits hold a few bytes.
    tidy_to(&fixture, "o", 20_000);
    assert_eq!((rows.entries(Some(&place), 9).unwrap().len(), count()), (3, 20));
    assert_eq!(rows.newest(EditFilter::ToUndo, &place).unwrap().map(|entry| entry.id), edits.last().copied());
    // The control: texts that rows no longer hold count.
    for (number, other) in (100..).zip(&others) {
        rows.write(other, &long_text(number));
    }
    tidy_to(&fixture, "o", 20_000);
    assert!(rows.newest(EditFilter::Settled, &place).unwrap().is_none(), "the oldest are removed first");
    assert!(rows.newest(EditFilter::Settled, &others[19]).unwrap().is_some());
}

#[test]
fn as_many_of_the_newest_edits_stay_as_fit() {
    let fixture = Fixture::new();
    let rows = fixture.rows("o");
    let place = rows.at(&fixture.workflow("a", None));
    let edits: Vec<EditId> = (0..120).map(|number| rows.write(&place, &long_text(number))).collect();
    let left = || -> Vec<EditId> {
        rows.entries(Some(&place), 999).unwrap().iter().rev().map(|entry| entry.id).collect()
    };
    let before = |entry: &Entry| entry.changes[0].before.unwrap().hex();
    tidy_to(&fixture, "o", 1 << 20);
    assert_eq!(left(), edits, "the control: all fit");
    // About 48 texts fit, and a sixteenth of the edits is removed at a time.
    tidy_to(&fixture, "o", 200_000);
    let fitting = left();
    assert!((40..=50).contains(&fitting.len()), "{}", fitting.len());
    assert!(edits.ends_with(&fitting));
    // One text is more than this.
    tidy_to(&fixture, "o", 1000);
    assert_eq!(left(), edits[119..], "the newest stays");
    let newest = rows.newest(EditFilter::ToUndo, &place).unwrap().unwrap();
    assert!(rows.text(&place, &before(&newest)).unwrap().is_some());
    tidy_to(&fixture, "o", 0);
    assert_eq!(left(), []);
}

#[test]
fn only_now_and_then_it_is_looked_whether_there_is_too_much() {
    let fixture = Fixture::new();
    let rows = fixture.rows("");
    let place = rows.at(&fixture.module("a"));
    let limits = RetentionLimits { size: 0, age: Duration::ZERO };
    rows.due.store(false, Ordering::Relaxed);
    rows.write(&place, "1");
    rows.due.store(false, Ordering::Relaxed);
    rows.tidy(limits).unwrap();
    assert!(rows.newest(EditFilter::Settled, &place).unwrap().is_some());
    rows.due.store(true, Ordering::Relaxed);
    rows.tidy(limits).unwrap();
    assert!(rows.newest(EditFilter::Settled, &place).unwrap().is_none());
}

#[test]
fn an_undo_is_taken_back_when_its_edit_is_no_longer_in_the_history() {
    let fixture = Fixture::new();
    let rows = fixture.rows("o");
    let place = rows.at(&fixture.workflow("a", None));
    rows.write(&place, "1");
    let second = rows.write(&place, "2");
    let write = |text, kind| rows.write_all(&[(&place, Some(text))], kind).unwrap();
    let undo = edit(write("1", EntryKind::Undo(second)));
    tidy_to(&fixture, "o", 1);
    assert_eq!(rows.entry(second).unwrap(), None);
    assert_eq!(rows.last_reversal(second).unwrap().map(|entry| entry.id), Some(undo));
    let redo = edit(write("2", EntryKind::Redo(second)));
    assert_eq!(rows.last_reversal(second).unwrap().map(|entry| entry.id), Some(redo));
}
