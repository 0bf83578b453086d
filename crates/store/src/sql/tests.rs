//! Tests of the journal's database: recorded edits and texts read back unchanged, whatever happens in
//! between.

mod broken;
mod several;

use super::{Database, DatabaseError, EntryState, JournalRow};
use crate::content::Content;
use crate::disk::inode::{Inode, Inodes};
use crate::history::{EditFilter, EditMeta, EntryKind, RetentionLimits};
use lockgate_text::Version;
use proptest::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

fn meta(kind: EntryKind) -> EditMeta {
    let request = Version::hash(b"request");
    EditMeta { tool: "edit_file".into(), author: "tester".into(), request, kind, gates: "passed".into() }
}

fn row<'a>(path: &'a str, before: Option<&'a [u8]>, after: Option<&'a [u8]>) -> JournalRow<'a> {
    JournalRow {
        path,
        staged: ".a.0123456789abcdef.lockgate",
        before: before.map(Content::new),
        after: after.map(Content::new),
        added: 1,
        removed: 2,
        mode: None,
        folders: 0,
        keep: true,
    }
}

fn open(folder: &Path) -> Database {
    let (database, notes) = Database::open(folder).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    database
}

fn new_database() -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let database = open(dir.path());
    (dir, database)
}

fn begin(database: &Database, meta: &EditMeta, rows: &[JournalRow<'_>]) -> Result<u64, DatabaseError> {
    database.insert(meta, EntryState::Begun, rows, &[])
}

fn edit(database: &Database, path: &str, before: &[u8], after: &[u8]) -> u64 {
    let number = begin(database, &meta(EntryKind::Edit), &[row(path, Some(before), Some(after))]).unwrap();
    database.settle(number).unwrap();
    number
}

fn text(database: &Database, text: &[u8]) -> Option<Vec<u8>> {
    database.text(&Version::hash(text).hex()).unwrap()
}

fn number(database: &Database, sql: &str) -> i64 {
    database.read(|reader| reader.query_row(sql, [], |row| row.get(0))).unwrap()
}

fn newest(database: &Database, filter: EditFilter, path: Option<&str>) -> Option<u64> {
    let entry = match path {
        Some(path) => database.newest(filter, path).unwrap(),
        None => database.last(filter).unwrap().map(|(_, entry)| entry),
    };
    entry.map(|entry| entry.id.number())
}

/// A call asks for each of its files, and the last edit of all of them can be one large edit.
#[test]
fn the_last_edit_of_a_path_has_no_changes_of_other_paths() {
    let (_dir, database) = new_database();
    let paths: Vec<String> = (0..50).map(|number| format!("{number}.txt")).collect();
    let rows: Vec<_> = paths.iter().map(|path| row(path, Some(b"1"), Some(b"2"))).collect();
    let number = begin(&database, &meta(EntryKind::Edit), &rows).unwrap();
    database.settle(number).unwrap();
    let whole = database.entry(number).unwrap().unwrap();
    let last = |path: &str| database.unsettled_and_newest(path).unwrap().1.unwrap();
    for (path, changed) in paths.iter().zip(&whole.changes) {
        let found = last(path);
        assert_eq!((found.id, &found.meta, found.undone), (whole.id, &whole.meta, whole.undone));
        assert_eq!(found.changes, std::slice::from_ref(changed));
    }
    assert_eq!(whole.changes.len(), 50);
    let later = edit(&database, "7.txt", b"2", b"3");
    assert_eq!(last("7.txt").id.number(), later);
    assert_eq!(last("8.txt").id, whole.id);
}

#[test]
fn which_files_are_an_edit_s_own_is_known_until_it_is_settled_or_forgotten() {
    let (dir, database) = new_database();
    let inodes = [
        Inodes { copy: Some(Inode { number: u64::MAX, born: Some(-5) }), before: Some(7), in_place: true },
        Inodes { copy: Some(Inode { number: 1, born: None }), before: None, in_place: false },
        Inodes { copy: None, before: Some(2), in_place: false },
    ];
    let rows = [row("a", Some(b"1"), Some(b"2")), row("b", None, Some(b"3")), row("c", Some(b"4"), None)];
    let recorded_inodes = |database: &Database| -> Vec<Option<Inodes>> {
        database.unsettled().unwrap().iter().flat_map(|edit| &edit.files).map(|file| file.inodes).collect()
    };
    for is_settled in [true, false] {
        let number = begin(&database, &meta(EntryKind::Edit), &rows).unwrap();
        assert_eq!(recorded_inodes(&database), [None; 3], "nothing was recorded yet");
        database.record(number, &inodes).unwrap();
        assert_eq!(recorded_inodes(&database), inodes.map(Some));
        if is_settled {
            database.settle(number).unwrap()
        } else {
            database.forget(number).unwrap()
        }
        assert_eq!(self::number(&database, "SELECT count(*) FROM copies"), 0);
    }
    // Of an edit that an earlier version has begun, the inodes are in the table.
    let number = begin(&database, &meta(EntryKind::Edit), &rows).unwrap();
    let earlier = format!("INSERT INTO copies VALUES({number}, 0, 7, 8, 9, 1)");
    database.write(|transaction| transaction.execute_batch(&earlier)).unwrap();
    let recorded = Inodes { copy: Some(Inode { number: 7, born: Some(8) }), before: Some(9), in_place: true };
    assert_eq!(recorded_inodes(&database), [Some(recorded), None, None]);
    database.settle(number).unwrap();
    assert_eq!(self::number(&database, "SELECT count(*) FROM copies"), 0);
    // A journal of an earlier version lacks the columns, of a still earlier one the table, and their unsettled edits
    // are found.
    begin(&database, &meta(EntryKind::Edit), &rows).unwrap();
    let columns = ["copy", "born", "replaced", "in_place"];
    let earlier: String =
        columns.iter().map(|column| format!("ALTER TABLE changes DROP COLUMN {column};")).collect();
    database
        .write(|transaction| transaction.execute_batch(&format!("DROP TABLE copies; {earlier}")))
        .unwrap();
    drop(database);
    let database = open(dir.path());
    assert_eq!(recorded_inodes(&database), [None; 3]);
}

#[test]
fn an_edit_is_there_once_it_is_settled_and_is_what_was_written_down() {
    let (_dir, database) = new_database();
    let rows =
        [row("a", Some(b"one"), Some(b"two")), row("b", None, Some(b"new")), row("c", Some(b"old"), None)];
    let number = begin(&database, &meta(EntryKind::Edit), &rows).unwrap();
    assert_eq!(database.entry(number).unwrap(), None, "nobody may take back what is still under way");
    assert!(["a", "b", "c"].iter().all(|path| database.unsettled_and_newest(path).unwrap().0));
    assert!(!database.unsettled_and_newest("d").unwrap().0);
    database.settle(number).unwrap();
    assert!(!database.unsettled_and_newest("a").unwrap().0);
    let entry = database.entry(number).unwrap().unwrap();
    assert_eq!((entry.meta, entry.undone), (meta(EntryKind::Edit), false));
    let found: Vec<_> = entry.changes.iter().map(|it| (it.path.as_str(), it.before, it.after)).collect();
    let version = |text: &[u8]| Some(Version::hash(text));
    let expected =
        [("a", version(b"one"), version(b"two")), ("b", None, version(b"new")), ("c", version(b"old"), None)];
    assert_eq!(found, expected);
    assert!(entry.changes.iter().all(|it| (it.added, it.removed, it.kept) == (1, 2, true)));
    for content in [&b"one"[..], b"two", b"new", b"old"] {
        assert_eq!(text(&database, content), Some(content.to_vec()));
    }
}

#[test]
fn what_is_forgotten_is_gone_and_its_number_is_not_given_again() {
    let (_dir, database) = new_database();
    let number = begin(&database, &meta(EntryKind::Edit), &[row("a", Some(b"1"), Some(b"2"))]).unwrap();
    database.forget(number).unwrap();
    assert!(!database.unsettled_and_newest("a").unwrap().0);
    let next = edit(&database, "a", b"1", b"3");
    assert!(next > number);
    database.forget(next).unwrap();
    assert!(database.entry(next).unwrap().is_some(), "what was settled stays");
}

#[test]
fn an_edit_that_its_process_left_is_there_for_who_comes_next() {
    let (dir, database) = new_database();
    let number = begin(&database, &meta(EntryKind::Edit), &[row("a", Some(b"1"), Some(b"2"))]).unwrap();
    drop(database);
    let database = open(dir.path());
    assert!(database.unsettled_and_newest("a").unwrap().0);
    assert_eq!(text(&database, b"1"), Some(b"1".to_vec()));
    database.settle(number).unwrap();
    assert_eq!(newest(&database, EditFilter::Settled, Some("a")), Some(number));
}

#[test]
fn a_text_that_must_not_be_kept_is_not() {
    let (_dir, database) = new_database();
    let secret = JournalRow { keep: false, ..row(".env", Some(b"secret 1"), Some(b"secret 2")) };
    let number = begin(&database, &meta(EntryKind::Edit), &[secret]).unwrap();
    database.settle(number).unwrap();
    assert!(!database.entry(number).unwrap().unwrap().changes[0].kept);
    assert_eq!((text(&database, b"secret 1"), text(&database, b"secret 2")), (None, None));
    edit(&database, "a", b"plain 1", b"plain 2");
    assert!(text(&database, b"plain 1").is_some(), "the control");
}

#[test]
fn undo_and_redo_are_found_in_their_order() {
    let (_dir, database) = new_database();
    let settle = |kind, before: &[u8], after: &[u8]| {
        let number = begin(&database, &meta(kind), &[row("a", Some(before), Some(after))]).unwrap();
        database.settle(number).unwrap();
        number
    };
    let one = settle(EntryKind::Edit, b"0", b"1");
    let two = settle(EntryKind::Edit, b"1", b"2");
    let both =
        |path| (newest(&database, EditFilter::ToUndo, path), newest(&database, EditFilter::ToRedo, path));
    assert_eq!(both(Some("a")), (Some(two), None));
    settle(EntryKind::Undo(database.id(two)), b"2", b"1");
    assert_eq!(both(Some("a")), (Some(one), Some(two)), "an undo is not itself taken back");
    settle(EntryKind::Undo(database.id(one)), b"1", b"0");
    assert_eq!(both(Some("a")), (None, Some(one)), "what was taken back last comes first");
    settle(EntryKind::Redo(database.id(one)), b"0", b"1");
    assert_eq!(both(Some("a")), (Some(one), Some(two)));
    assert_eq!(both(None), both(Some("a")));
    assert_eq!(both(Some("b")), (None, None));
    let unsettled =
        begin(&database, &meta(EntryKind::Undo(database.id(one))), &[row("a", Some(b"1"), Some(b"0"))])
            .unwrap();
    assert_eq!(both(Some("a")), (Some(one), Some(two)), "nothing is marked before it is settled");
    database.forget(unsettled).unwrap();
    assert_eq!(both(Some("a")), (Some(one), Some(two)));
}

#[test]
fn entries_come_newest_first_and_no_more_than_are_wanted() {
    let (_dir, database) = new_database();
    for (number, path) in ["a", "b", "a", "b", "a"].iter().enumerate() {
        edit(&database, path, number.to_string().as_bytes(), b"after");
    }
    let numbers = |path, most| {
        let entries = database.entries(path, most).unwrap();
        entries.iter().map(|entry| entry.id.number()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(None, 3), [5, 4, 3]);
    assert_eq!(numbers(Some("a"), 2), [5, 3]);
    assert_eq!(numbers(Some("b"), 9), [4, 2]);
    assert_eq!(numbers(Some("c"), 9), [] as [u64; 0]);
}

fn cut(digits: &str, length: usize) -> &str {
    digits.get(..length).unwrap()
}

#[test]
fn a_version_is_named_by_a_beginning_that_only_one_has() {
    let (_dir, database) = new_database();
    let fake = |last: u8| {
        let mut bytes = [0xab; 32];
        bytes[31] = last;
        Version::from_bytes(bytes)
    };
    let hex = Version::hash(b"text").hex();
    database.keep(Content::new(b"text")).unwrap();
    for right in [cut(&hex, 12), cut(&hex, 13), cut(&hex.to_uppercase(), 40), &hex] {
        assert_eq!(database.text(right).unwrap(), Some(b"text".to_vec()), "{right}");
    }
    for wrong in ["", cut(&hex, 11), &format!("{}g", cut(&hex, 12)), &format!("{hex}0"), "äää012345678"] {
        assert_eq!(database.text(wrong).unwrap(), None, "{wrong}");
    }
    database.keep(Content { version: fake(1), bytes: b"x" }).unwrap();
    assert_eq!(database.text(&fake(1).hex()).unwrap(), None, "a text that has not its stamp is none");
    let mut other = *Version::hash(b"text").bytes();
    other[31] ^= 1;
    database.keep(Content { version: Version::from_bytes(other), bytes: b"y" }).unwrap();
    assert_eq!(database.text(cut(&hex, 12)).unwrap(), None, "two have this beginning");
    assert_eq!(database.text(&hex).unwrap(), Some(b"text".to_vec()), "the control");
}

/// An edit's effect on a text: a replacement of these bytes, or an earlier text again.
#[derive(Debug, Clone)]
enum Step {
    Splice(usize, usize, String),
    Back(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        9 => (0..3000_usize, 0..400_usize, "(?s).{0,80}").prop_map(|(at, length, new)| Step::Splice(at, length, new)),
        1 => (0..100_usize).prop_map(Step::Back),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn every_text_of_every_sequence_comes_back(steps in proptest::collection::vec((step(), 0..2_usize), 1..120)) {
        let (_dir, database) = new_database();
        let start: String = (0..200).map(|line| format!("line {line}\n")).collect();
        let mut now = [start.clone().into_bytes(), start.into_bytes()];
        let mut all: HashMap<Version, Vec<u8>> = HashMap::new();
        let mut history = vec![now[0].clone()];
        for (step, file) in steps {
            let next = match step {
                Step::Splice(at, length, new) => {
                    let at = at.min(now[file].len());
                    let end = (at + length).min(now[file].len());
                    [&now[file][..at], new.as_bytes(), &now[file][end..]].concat()
                }
                Step::Back(to) => history[to % history.len()].clone(),
            };
            edit(&database, ["a", "b"][file], &now[file], &next);
            all.extend([&now[file], &next].map(|text| (Version::hash(text), text.clone())));
            history.push(next.clone());
            now[file] = next;
        }
        for (version, text) in &all {
            let found = database.text(&version.hex()).unwrap();
            prop_assert_eq!(found.as_ref(), Some(text));
        }
        prop_assert_eq!(number(&database, "SELECT count(*) FROM texts"), i64::try_from(all.len()).unwrap());
        prop_assert!(number(&database, "SELECT max(depth) FROM texts") <= 32);
    }
}

/// Short texts are packed while the database is locked for writing, long ones before.
#[test]
fn a_long_chain_begins_anew_and_every_link_comes_back() {
    for lines in [300, 20_000] {
        let (_dir, database) = new_database();
        let texts: Vec<String> = (0..100).map(|line| format!("{}\n{line}", "same\n".repeat(lines))).collect();
        texts.windows(2).for_each(|pair| {
            edit(&database, "a", pair[0].as_bytes(), pair[1].as_bytes());
        });
        // A text that is known already is not stored again.
        edit(&database, "a", texts[99].as_bytes(), texts[50].as_bytes());
        assert!(texts.iter().all(|it| text(&database, it.as_bytes()) == Some(it.clone().into_bytes())));
        assert_eq!(number(&database, "SELECT count(*) FROM texts"), 100, "{lines}");
        assert_eq!(number(&database, "SELECT max(depth) FROM texts"), 32, "{lines}");
        assert_eq!(number(&database, "SELECT count(*) FROM texts WHERE base IS NULL"), 4, "{lines}");
    }
}

#[test]
fn the_bytes_that_an_edit_stores_are_counted() {
    let limit = u64::MAX;
    // Hashes cannot be compressed.
    let noise = |lines: u32| (0..lines).flat_map(|line| *Version::hash(&line.to_le_bytes()).bytes());
    for (lines, is_much) in [(1_000, false), (20_000, true)] {
        let (_dir, database) = new_database();
        let noise: Vec<u8> = noise(lines).collect();
        assert!(database.is_to_be_measured(limit), "a new journal");
        edit(&database, "a", b"", &noise);
        assert_eq!(database.is_to_be_measured(limit), is_much, "{lines}");
        edit(&database, "a", &noise, b"");
        assert!(!database.is_to_be_measured(limit), "both texts were stored before: {lines}");
    }
}

#[test]
fn lookups_go_by_an_index() {
    let (_dir, database) = new_database();
    edit(&database, "a", b"1", b"2");
    let plan = |sql: &str| {
        let explain = format!("EXPLAIN QUERY PLAN {sql}");
        let lines = database.read(|reader| {
            let mut plan = reader.prepare(&explain)?;
            let values = vec!["a"; plan.parameter_count()];
            plan.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3))?
                .collect::<rusqlite::Result<Vec<_>>>()
        });
        lines.unwrap().join("; ")
    };
    let by_path = plan(
        "SELECT edit FROM changes CROSS JOIN edits ON number = edit WHERE path = ? AND settled = 1
         ORDER BY edit DESC LIMIT 1",
    );
    assert!(
        by_path.contains("changes_path") && !by_path.contains("SCAN") && !by_path.contains("B-TREE"),
        "{by_path}"
    );
    let scan = plan("SELECT 1 FROM changes WHERE added = 1");
    assert!(scan.contains("SCAN"), "the control: {scan}");
}

#[test]
fn a_failure_in_the_middle_leaves_nothing() {
    let (_dir, database) = new_database();
    // Two changes of one position cannot be; the control is the same edit without the second.
    let fails = database.write(|transaction| {
        transaction.execute("INSERT INTO changes VALUES(1, 0, 'a', '', NULL, NULL, 0, 0, NULL, 0, 1)", [])?;
        transaction.execute("INSERT INTO changes VALUES(1, 0, 'a', '', NULL, NULL, 0, 0, NULL, 0, 1)", [])
    });
    assert!(matches!(fails, Err(DatabaseError::Other(_))), "{fails:?}");
    assert_eq!(number(&database, "SELECT count(*) FROM changes"), 0);
    edit(&database, "a", b"1", b"2");
    assert_eq!(number(&database, "SELECT count(*) FROM changes"), 1);
}

/// A text that cannot be compressed, of 64 bytes a line.
fn noise(seed: u32, lines: u32) -> Vec<u8> {
    let hash = |line: u32, half: u8| {
        *Version::hash(&[&seed.to_le_bytes()[..], &line.to_le_bytes(), &[half]].concat()).bytes()
    };
    (0..lines).flat_map(|line| [hash(line, 0), hash(line, 1)]).flatten().collect()
}

#[test]
fn a_text_is_stored_whole_unless_its_delta_is_clearly_smaller() {
    let half = |first: u32, second: u32| [noise(first, 20), noise(second, 20)].concat();
    for (texts, depth) in [
        ([noise(1, 40), noise(2, 40), noise(3, 40)], 0),
        // Half of the lines are new: too many.
        ([half(1, 2), half(1, 3), half(1, 4)], 0),
        // The control: a short part is new.
        ([noise(1, 40), [noise(1, 40), noise(2, 1)].concat(), [noise(1, 40), noise(3, 1)].concat()], 2),
    ] {
        let (_dir, database) = new_database();
        texts.windows(2).for_each(|pair| {
            edit(&database, "a", &pair[0], &pair[1]);
        });
        assert_eq!(number(&database, "SELECT max(depth) FROM texts"), depth);
        assert!(texts.iter().all(|it| text(&database, it).as_ref() == Some(it)));
    }
}

#[test]
fn a_chain_is_never_much_larger_than_its_last_text() {
    let (_dir, database) = new_database();
    // A quarter of the lines is new.
    let texts: Vec<Vec<u8>> = (0..40).map(|seed| [noise(1000, 30), noise(seed, 10)].concat()).collect();
    texts.windows(2).for_each(|pair| {
        edit(&database, "a", &pair[0], &pair[1]);
    });
    let longest = number(&database, "SELECT max(depth) FROM texts");
    assert!((1..=2).contains(&longest), "{longest}");
    assert!(texts.iter().all(|it| text(&database, it).as_ref() == Some(it)));
}

fn tidy(database: &Database, size: u64) -> i64 {
    database.tidy(RetentionLimits { size, age: Duration::from_secs(1 << 30) }).unwrap();
    number(database, "SELECT count(*) FROM edits")
}

#[test]
fn the_size_limit_leaves_the_edits_that_fit() {
    let (_dir, database) = new_database();
    let texts: Vec<Vec<u8>> = (0..61).map(|seed| noise(seed, 500)).collect();
    for (done, pair) in texts.windows(2).enumerate() {
        edit(&database, "a", &pair[0], &pair[1]);
        let left = usize::try_from(tidy(&database, 1 << 20)).unwrap();
        assert!(left >= done.min(9), "{left} of {}", done + 1);
    }
    let left = tidy(&database, 1 << 20);
    assert!(left < 20, "the control: {left}");
}

#[test]
fn no_edit_is_removed_if_that_frees_next_to_nothing() {
    for (lines, left) in [(1, 11), (200, 1)] {
        let (_dir, database) = new_database();
        (0..10).for_each(|seed| {
            edit(&database, "a", &noise(seed, lines), &noise(seed + 1, lines));
        });
        // Its text alone exceeds the limit.
        edit(&database, "b", b"", &noise(99, 5000));
        assert_eq!(tidy(&database, 128 << 10), left, "{lines}");
    }
}
