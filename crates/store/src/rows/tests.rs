//! Tests of the entity store on SQLite; set `LOCKGATE_TEST_STORE` to run them on PostgreSQL. Each test
//! uses unique names.

mod history;
mod isolation;
mod starts;

use super::{DefaultOwner, EntityStore};
use crate::content::Content;
use crate::history::{EditFilter, EditId, EditMeta, Entry, EntryKind, JournalRecord};
use crate::outcome::WriteOutcome;
use crate::row_location::{RowLocation, RowSnapshot, RowWrite};
use crate::sql::rows::{Added, EntityDatabase};
use crate::tenant::Tenant;
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_error::{Code, Error};
use lockgate_policy::EntityOwner;
use lockgate_text::Version;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

/// A database, and a name that is unique in it.
struct Fixture {
    _dir: tempfile::TempDir,
    database: Arc<EntityDatabase>,
    tag: String,
}

impl Fixture {
    fn new() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let file = format!("sqlite:{}", dir.path().join("content.db").display());
        let url = std::env::var("LOCKGATE_TEST_STORE").unwrap_or(file);
        let tag = format!("{:x}", RandomState::new().build_hasher().finish());
        Fixture { _dir: dir, database: Arc::new(EntityDatabase::from_url(&url).unwrap()), tag }
    }

    /// Makes a unique name of an organisation, an app or a path.
    fn name(&self, name: &str) -> String {
        format!("{name}-{}", self.tag)
    }

    fn tenant(&self, name: &str) -> Tenant {
        match name {
            "" => Tenant::Global,
            "*" => Tenant::All,
            name => Tenant::Organization(self.name(name)),
        }
    }

    fn rows(&self, tenant: &str) -> EntityStore {
        EntityStore::new(Arc::clone(&self.database), self.tenant(tenant))
    }

    fn module(&self, path: &str) -> Entity {
        entity("module", &self.name(path))
    }

    fn workflow(&self, path: &str, organization: Option<&str>) -> Entity {
        let organization_id = organization.map(|organization| self.name(organization));
        Entity { organization_id, ..entity("workflow", &self.name(path)) }
    }

    fn app_file(&self, app: &str, path: &str) -> Entity {
        Entity { app_id: Some(self.name(app)), ..entity("app_file", path) }
    }
}

fn entity(kind: &str, path: &str) -> Entity {
    let kind = EntityKind::from_name(kind).unwrap();
    Entity { kind, path: path.to_owned(), app_id: None, organization_id: None }
}

fn owner(entity: &Entity) -> EntityOwner {
    match entity.kind.name() {
        "app_file" => EntityOwner::App,
        "workflow" => EntityOwner::Organization,
        _ => EntityOwner::Global,
    }
}

impl EntityStore {
    fn at(&self, entity: &Entity) -> RowLocation {
        self.at_or(entity, DefaultOwner::Closest)
    }

    fn at_or(&self, entity: &Entity, default_owner: DefaultOwner) -> RowLocation {
        self.admit(entity, owner(entity), default_owner).unwrap()
    }

    fn refused(&self, entity: &Entity) -> Error {
        self.admit(entity, owner(entity), DefaultOwner::Closest).unwrap_err()
    }

    /// Writes texts in one edit, each over the current one; `None` removes the row.
    fn write_all(
        &self,
        texts: &[(&RowLocation, Option<&str>)],
        kind: EntryKind,
    ) -> Result<WriteOutcome, Error> {
        let snapshots: Vec<_> = texts.iter().map(|(place, _)| self.read(place, 1 << 20).unwrap()).collect();
        self.write_over(texts, &snapshots, kind)
    }

    fn write_over(
        &self,
        texts: &[(&RowLocation, Option<&str>)],
        snapshots: &[Option<RowSnapshot>],
        kind: EntryKind,
    ) -> Result<WriteOutcome, Error> {
        let pairs = texts.iter().zip(snapshots);
        let writes: Vec<_> =
            pairs.map(|((place, text), snapshot)| write_of(place, *text, snapshot.as_ref())).collect();
        self.publish(&writes, &meta(kind))
    }

    fn write(&self, place: &RowLocation, text: &str) -> EditId {
        edit(self.write_all(&[(place, Some(text))], EntryKind::Edit).unwrap())
    }

    fn text_of(&self, place: &RowLocation) -> Option<String> {
        let snapshot = self.read(place, 1 << 20).unwrap()?;
        assert_eq!(snapshot.version, Version::hash(snapshot.bytes()));
        Some(String::from_utf8(snapshot.bytes().to_vec()).unwrap())
    }
}

fn write_of<'a>(
    place: &'a RowLocation,
    text: Option<&'a str>,
    snapshot: Option<&'a RowSnapshot>,
) -> RowWrite<'a> {
    RowWrite {
        location: place,
        before: snapshot.map(|snapshot| (snapshot, Content::new(snapshot.bytes()))),
        after: text.map(|text| Content::new(text.as_bytes())),
        record: JournalRecord { added: 2, removed: 1, keep: true },
    }
}

fn meta(kind: EntryKind) -> EditMeta {
    let text = |text: &str| text.to_owned();
    EditMeta { tool: text("tool"), author: text("me"), request: Version::hash(b"r"), kind, gates: text("ok") }
}

fn edit(outcome: WriteOutcome) -> EditId {
    match outcome {
        WriteOutcome::All(batch) => batch.edit.unwrap(),
        WriteOutcome::Overtaken => panic!("overtaken"),
    }
}

fn is_overtaken(outcome: &WriteOutcome) -> bool {
    matches!(outcome, WriteOutcome::Overtaken)
}

#[test]
fn a_row_is_made_replaced_removed_and_made_again() {
    let fixture = Fixture::new();
    let rows = fixture.rows("");
    let place = rows.at(&fixture.module("a.py"));
    assert!(rows.read(&place, 9).unwrap().is_none() && !rows.exists(&place, place.path()).unwrap());
    let mut edits = Vec::new();
    for text in ["one\n", "two\n", "", "two\n"] {
        edits.push(rows.write(&place, text));
        assert_eq!(rows.text_of(&place).as_deref(), Some(text));
    }
    assert!(rows.exists(&place, place.path()).unwrap() && !rows.exists(&place, "no such").unwrap());
    edits.push(edit(rows.write_all(&[(&place, None)], EntryKind::Edit).unwrap()));
    assert!(rows.text_of(&place).is_none() && !rows.exists(&place, place.path()).unwrap());
    edits.push(rows.write(&place, "three\n"));
    let entries = rows.entries(Some(&place), 99).unwrap();
    assert_eq!(entries.iter().rev().map(|entry| entry.id).collect::<Vec<_>>(), edits);
    assert!(entries.is_sorted_by(|newer, older| newer.at > older.at));
    assert_eq!(rows.newest(EditFilter::Settled, &place).unwrap().unwrap(), entries[0]);
    let [changed] = entries[1].changes.as_slice() else { panic!("{entries:?}") };
    assert_eq!((changed.before, changed.after), (Some(Version::hash(b"two\n")), None));
    assert_eq!((changed.entity.as_ref(), changed.path.as_str()), (Some(place.entity()), place.path()));
    assert_eq!((changed.added, changed.removed, changed.kept), (2, 1, true));
    assert_eq!(entries[0].meta, meta(EntryKind::Edit));
}

#[test]
fn a_row_that_is_not_what_was_read_overtakes_the_edit() {
    let fixture = Fixture::new();
    let rows = fixture.rows("");
    let place = rows.at(&fixture.module("a"));
    let absent = [rows.read(&place, 99).unwrap()];
    rows.write(&place, "one");
    let one = [rows.read(&place, 99).unwrap()];
    let write_over =
        |snapshots: &[_], text| rows.write_over(&[(&place, text)], snapshots, EntryKind::Edit).unwrap();
    assert!(is_overtaken(&write_over(&absent, Some("new"))), "somebody made it");
    rows.write(&place, "two");
    assert!(is_overtaken(&write_over(&one, Some("new"))) && is_overtaken(&write_over(&one, None)));
    let now = [rows.read(&place, 99).unwrap()];
    edit(rows.write_all(&[(&place, None)], EntryKind::Edit).unwrap());
    assert!(
        is_overtaken(&write_over(&now, Some("new"))) && is_overtaken(&write_over(&now, None)),
        "somebody removed it"
    );
    assert_eq!(rows.entries(Some(&place), 99).unwrap().len(), 3);
    assert!(!is_overtaken(&write_over(&absent, Some("new"))), "the control");
}

#[test]
fn all_rows_of_an_edit_are_written_or_none() {
    let fixture = Fixture::new();
    let rows = fixture.rows("o");
    let places = ["b", "a", "c"].map(|path| rows.at(&fixture.workflow(path, None)));
    let texts = || places.iter().zip([Some("1"), Some("2"), Some("3")]).collect::<Vec<_>>();
    let first = edit(rows.write_all(&texts(), EntryKind::Edit).unwrap());
    let paths = |entry: Entry| entry.changes.into_iter().map(|changed| changed.path).collect::<Vec<_>>();
    let expected: Vec<_> = places.iter().map(|place| place.path().to_owned()).collect();
    assert_eq!(paths(rows.entry(first).unwrap().unwrap()), expected, "in the order of the writes");
    let snapshots: Vec<_> = places.iter().map(|place| rows.read(place, 99).unwrap()).collect();
    rows.write(&places[2], "other");
    let next: Vec<_> = places.iter().zip([Some("4"), None, Some("6")]).collect();
    assert!(is_overtaken(&rows.write_over(&next, &snapshots, EntryKind::Edit).unwrap()));
    let texts = places.each_ref().map(|place| rows.text_of(place).unwrap());
    assert_eq!(texts, ["1", "2", "other"]);
    assert_eq!(rows.entries(Some(&places[0]), 99).unwrap().len(), 1);
}

#[test]
fn every_text_comes_back_as_the_bytes_that_it_was() {
    let fixture = Fixture::new();
    let rows = fixture.rows("");
    let wide: Vec<u8> = "\u{feff}caf\u{e9}\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let large = "line\n".repeat(100_000);
    let texts: [&[u8]; 6] =
        [b"a\r\nb", "\u{feff}a".as_bytes(), &wide, b"a\0b", b"\xff\xfe\xfd", large.as_bytes()];
    for (number, bytes) in texts.into_iter().enumerate() {
        let place = rows.at(&fixture.module(&format!("{number}")));
        let write = RowWrite {
            location: &place,
            before: None,
            after: Some(Content::new(bytes)),
            record: JournalRecord { keep: true, ..JournalRecord::default() },
        };
        edit(rows.publish(&[write], &meta(EntryKind::Edit)).unwrap());
        assert_eq!(rows.read(&place, 1 << 20).unwrap().unwrap().bytes(), bytes);
        let version = Version::hash(bytes).hex();
        assert_eq!(rows.text(&place, version.split_at(12).0).unwrap().as_deref(), Some(bytes));
    }
    let place = rows.at(&fixture.module("5"));
    assert_eq!(rows.read(&place, 499_999).unwrap_err().code, Code::TooLarge);
    assert!(rows.read(&place, 500_000).is_ok());
}

#[test]
fn of_many_who_swap_one_row_each_is_there_once() {
    let fixture = Fixture::new();
    let place = fixture.rows("").at(&fixture.module("a"));
    fixture.rows("").write(&place, "0");
    let count = |rows: EntityStore, place: &RowLocation| {
        let mut swapped = 0;
        while swapped < 12 {
            let snapshot = rows.read(place, 99).unwrap();
            let number: u32 =
                std::str::from_utf8(snapshot.as_ref().unwrap().bytes()).unwrap().parse().unwrap();
            let next = (number + 1).to_string();
            let outcome = rows.write_over(&[(place, Some(&next))], &[snapshot], EntryKind::Edit).unwrap();
            swapped += u32::from(!is_overtaken(&outcome));
        }
    };
    std::thread::scope(|threads| {
        for _ in 0..6 {
            threads.spawn(|| count(fixture.rows(""), &place));
        }
    });
    let rows = fixture.rows("");
    assert_eq!(rows.text_of(&place).unwrap(), "72");
    let entries = rows.entries(Some(&place), 99).unwrap();
    assert!(entries.len() == 73 && entries.is_sorted_by(|newer, older| newer.at > older.at));
    let after: Vec<_> = entries.iter().rev().map(|entry| entry.changes[0].after).collect();
    let expected: Vec<_> = (0..73).map(|n: u32| Some(Version::hash(n.to_string().as_bytes()))).collect();
    assert_eq!(after, expected);
}
