//! Tests of searches and listings in a real database.

use super::*;
use crate::content::Content;
use crate::history::{EditMeta, EntryKind, JournalRecord};
use crate::outcome::WriteOutcome;
use crate::row_location::RowWrite;
use crate::rows::{DefaultOwner, EntityFilter};
use crate::search::{Clock, Finder, MatchReach, SearchClock};
use crate::sql::rows::EntityDatabase;
use crate::tenant::Tenant;
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_error::Code;
use lockgate_policy::EntityOwner;
use lockgate_text::{Buffer, Hints};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A database in a temporary file.
struct Fixture {
    _dir: tempfile::TempDir,
    database: Arc<EntityDatabase>,
}

impl Fixture {
    fn new() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("content.db").display());
        let url = std::env::var("LOCKGATE_TEST_STORE").unwrap_or(url);
        Fixture { database: Arc::new(EntityDatabase::from_url(&url).unwrap()), _dir: dir }
    }

    fn store(&self, tenant: Tenant) -> EntityStore {
        EntityStore::new(Arc::clone(&self.database), tenant)
    }

    fn acme(&self) -> EntityStore {
        self.store(Tenant::Organization("acme".to_owned()))
    }
}

fn write(rows: &EntityStore, owner: EntityOwner, texts: &[(String, Vec<u8>)]) {
    let own = rows.tenant.organization().filter(|_| owner == EntityOwner::Organization);
    let kind = if owner == EntityOwner::Global { EntityKind::MODULE } else { EntityKind::WORKFLOW };
    let entity = |path: &str| Entity {
        kind: kind.clone(),
        path: path.to_owned(),
        app_id: None,
        organization_id: own.map(str::to_owned),
    };
    let place = |(path, _): &(String, _)| rows.admit(&entity(path), owner, DefaultOwner::Closest).unwrap();
    let places: Vec<RowLocation> = texts.iter().map(place).collect();
    let write = |(place, (_, text)): (_, &'_ (String, Vec<u8>))| RowWrite {
        location: place,
        before: None,
        // Leaked because it must outlive the fixture.
        after: Some(Content::new(Box::leak(text.clone().into_boxed_slice()))),
        record: JournalRecord::default(),
    };
    let writes: Vec<RowWrite<'_>> = places.iter().zip(texts).map(write).collect();
    let meta = EditMeta {
        tool: String::new(),
        author: String::new(),
        request: Version::hash(b""),
        kind: EntryKind::Edit,
        gates: String::new(),
    };
    assert!(matches!(rows.publish(&writes, &meta).unwrap(), WriteOutcome::All(_)));
}

fn workflows() -> EntityFilter<'static> {
    EntityFilter {
        kind: &EntityKind::WORKFLOW,
        owner: EntityOwner::Organization,
        app_id: None,
        organization_id: None,
    }
}

/// A row as `OWNER:PATH`.
fn row_name(place: &RowLocation) -> String {
    format!("{}:{}", place.owner.as_deref().unwrap_or_default(), place.path())
}

/// Returns the number of matches by row, and the number of rows read.
fn count_matches(
    rows: &EntityStore,
    selector: &EntitySelector,
    pattern: &SearchPattern,
) -> (Vec<(String, usize)>, usize) {
    let clock = Clock::new(Instant::now() + Duration::from_secs(600), &());
    let bounds = SearchLimits { most: 10, largest: 1 << 20, clock: &clock };
    let (mut counts, mut read, mut finder) = (Vec::new(), 0, Finder::new(pattern));
    let skipped = rows.each(selector, pattern, bounds, &mut |RowText { location: place, bytes }| {
        let (mut count, text) = (0, Buffer::read(bytes, Hints::default()).unwrap());
        finder.each(text.view().as_bytes(), &clock, |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        read += 1;
        counts.extend((count > 0).then(|| (row_name(&place), count)));
    });
    assert_eq!(skipped, Ok(Skipped::default()));
    (counts, read)
}

#[test]
fn rows_come_in_the_order_of_their_paths_within_reach() {
    let fixture = Fixture::new();
    let (global_store, acme) = (fixture.store(Tenant::Global), fixture.acme());
    let other = fixture.store(Tenant::Organization("other".to_owned()));
    let some =
        |paths: &[&str]| paths.iter().map(|path| ((*path).to_owned(), b"abc\n".to_vec())).collect::<Vec<_>>();
    write(&global_store, EntityOwner::Organization, &some(&["a/x.py", "b.py", "a-b.py", "c/[1].py"]));
    write(&global_store, EntityOwner::Global, &some(&["a/m.py"]));
    write(&acme, EntityOwner::Organization, &some(&["a/y.py", "a/b/z.ts"]));
    write(&other, EntityOwner::Organization, &some(&["a/s.py", "only/t.py"]));
    // One path may have a global row and an organisation's row.
    write(&acme, EntityOwner::Organization, &some(&["b.py"]));
    let pattern = SearchPattern::new("abc", MatchReach::Line).unwrap();
    let found = |rows: &EntityStore, path: Option<&str>| {
        let selector = rows.select(&workflows(), path).map_err(|error| error.code)?;
        Ok(count_matches(rows, &selector, &pattern)
            .0
            .into_iter()
            .map(|(row, _)| row)
            .collect::<Vec<_>>()
            .join(" "))
    };
    let all = ":a-b.py acme:a/b/z.ts :a/x.py acme:a/y.py :b.py acme:b.py :c/[1].py";
    for (path, expected) in [
        (None, Ok(all)),
        (Some(""), Ok(all)),
        (Some("b.py"), Ok(":b.py acme:b.py")),
        (Some("a"), Ok("acme:a/b/z.ts :a/x.py acme:a/y.py")),
        (Some("a/"), Ok("acme:a/b/z.ts :a/x.py acme:a/y.py")),
        (Some("."), Ok(all)),
        (Some("./a//"), Ok("acme:a/b/z.ts :a/x.py acme:a/y.py")),
        (Some("./a/./x.py"), Ok(":a/x.py")),
        (Some("/a"), Err(Code::FileNotFound)),
        (Some("/"), Err(Code::FileNotFound)),
        (Some("a/x.py/"), Err(Code::FileNotFound)),
        (Some("a/*.py"), Ok(":a/x.py acme:a/y.py")),
        (Some("*.py"), Ok(":a-b.py :a/x.py acme:a/y.py :b.py acme:b.py :c/[1].py")),
        (Some("a/**/*.ts"), Ok("acme:a/b/z.ts")),
        (Some("c/[1].py"), Ok(":c/[1].py")),
        (Some("*.rs"), Ok("")),
        (Some("[a"), Err(Code::BadPattern)),
        (Some("none"), Err(Code::FileNotFound)),
        (Some("none/*.py"), Err(Code::FileNotFound)),
        (Some("a/s.py"), Err(Code::FileNotFound)),
        (Some("only"), Err(Code::FileNotFound)),
        (Some("only/*"), Err(Code::FileNotFound)),
        (Some("a\0"), Err(Code::FileNotFound)),
        (Some("../a"), Err(Code::FileNotFound)),
    ] {
        assert_eq!(found(&acme, path), expected.map(str::to_owned), "{path:?}");
    }
    assert_eq!(found(&global_store, None), Ok(":a-b.py :a/x.py :b.py :c/[1].py".to_owned()));
    assert_eq!(found(&global_store, Some("only")), Err(Code::FileNotFound));
    for (filter, expected) in [
        (
            EntityFilter { organization_id: Some("acme"), ..workflows() },
            Ok("acme:a/b/z.ts acme:a/y.py acme:b.py"),
        ),
        (EntityFilter { organization_id: Some("other"), ..workflows() }, Err(Code::FileNotFound)),
        (EntityFilter { organization_id: Some("no such"), ..workflows() }, Err(Code::FileNotFound)),
        (
            EntityFilter { kind: &EntityKind::MODULE, owner: EntityOwner::Global, ..workflows() },
            Ok(":a/m.py"),
        ),
        (
            EntityFilter {
                kind: &EntityKind::APP_FILE,
                owner: EntityOwner::App,
                app_id: Some("no such"),
                ..workflows()
            },
            Err(Code::FileNotFound),
        ),
    ] {
        let selector = acme.select(&filter, None).map_err(|error| error.code);
        let found_rows = selector.map(|selector| {
            count_matches(&acme, &selector, &pattern)
                .0
                .into_iter()
                .map(|(row, _)| row)
                .collect::<Vec<_>>()
                .join(" ")
        });
        assert_eq!(found_rows, expected.map(str::to_owned), "{filter:?}");
    }
    for (prefix, most, expected, more) in [
        ("", 99, all, false),
        ("", 7, all, false),
        ("", 2, ":a-b.py acme:a/b/z.ts", true),
        // A folder comes before names with the same prefix.
        ("a", 99, "acme:a/b/z.ts :a/x.py acme:a/y.py", false),
        ("a-", 99, ":a-b.py", false),
        ("a/", 99, "acme:a/b/z.ts :a/x.py acme:a/y.py", false),
        (".", 99, all, false),
        ("./a//", 99, "acme:a/b/z.ts :a/x.py acme:a/y.py", false),
        ("./a/x", 99, ":a/x.py", false),
        ("a/x", 99, ":a/x.py", false),
        ("onl", 99, "", false),
        ("a\0", 99, "", false),
        ("*.py", 99, ":a-b.py :a/x.py acme:a/y.py :b.py acme:b.py :c/[1].py", false),
        ("*.py", 2, ":a-b.py :a/x.py", true),
        ("a/*.py", 2, ":a/x.py acme:a/y.py", false),
        ("a/**/*.ts", 99, "acme:a/b/z.ts", false),
        ("*.rs", 99, "", false),
        // The beginning of a path, not a glob.
        ("c/[1", 99, ":c/[1].py", false),
    ] {
        let selector = acme.select_prefix(&workflows(), prefix).unwrap();
        let clock = Clock::new(Instant::now() + Duration::from_secs(600), &());
        let (listed, is_cut) = acme.list(&selector, most, &clock).unwrap();
        let found_rows: Vec<String> = listed.iter().map(|row| row_name(&row.location)).collect();
        assert_eq!((found_rows.join(" ").as_str(), is_cut), (expected, more), "{prefix}");
        assert!(listed.iter().all(|row| (row.size, row.version) == (4, Version::hash(b"abc\n"))));
        let (listed, is_cut) = acme.list(&selector, most, &Clock::new(Instant::now(), &())).unwrap();
        assert!(listed.is_empty() && (is_cut || selector.is_empty()), "{prefix}: the time was up");
    }
    for (prefix, code) in
        [("only/*.py", Code::FileNotFound), ("../*.py", Code::BadPattern), ("[a", Code::BadPattern)]
    {
        assert_eq!(acme.select_prefix(&workflows(), prefix).unwrap_err().code, code, "{prefix}");
    }
}

#[test]
fn a_glob_matches_nothing_where_there_is_no_row() {
    let fixture = Fixture::new();
    let rows = fixture.acme();
    let kind = EntityKind::from_name("unused").unwrap();
    let filter = EntityFilter { kind: &kind, owner: EntityOwner::Global, ..workflows() };
    for glob in ["*.txt", "**/*.txt", "./*.txt", "*/"] {
        for selector in [rows.select(&filter, Some(glob)), rows.select_prefix(&filter, glob)] {
            assert_eq!(rows.is_any(&selector.unwrap()), Ok(false), "{glob}");
        }
    }
    for path in ["a.txt", "a/*.txt"] {
        assert_eq!(rows.select(&filter, Some(path)).unwrap_err().code, Code::FileNotFound, "{path}");
    }
    assert_eq!(rows.select_prefix(&filter, "[a").unwrap_err().code, Code::BadPattern);
}

#[test]
fn an_index_spares_most_of_the_reading() {
    let fixture = Fixture::new();
    let rows = fixture.acme();
    let texts: Vec<(String, Vec<u8>)> =
        (0..40).map(|at| (format!("{at:02}.py"), format!("def f_{at:02}(): ...\n").into_bytes())).collect();
    write(&rows, EntityOwner::Organization, &texts);
    let selector = rows.select(&workflows(), None).unwrap();
    for (pattern, least, most) in [
        ("f_17", 1, 1),
        ("(?i)F_17", 1, 1),
        ("f_1[0-9]", 10, 40),
        (r"def .*17\(\)", 1, 1),
        ("zzz", 0, 0),
        // The control: it is in no index.
        ("e", 40, 40),
    ] {
        let (_, read) =
            count_matches(&rows, &selector, &SearchPattern::new(pattern, MatchReach::Line).unwrap());
        assert!((least..=most).contains(&read), "{pattern}: {read} rows were read");
    }
}

#[test]
fn pages_and_portions_do_not_show() {
    let fixture = Fixture::new();
    let rows = fixture.store(Tenant::Global);
    let count = KEYS + 70;
    let texts: Vec<(String, Vec<u8>)> =
        (0..count).map(|at| (format!("{at:05}.py"), format!("x = {at}\n").into_bytes())).collect();
    write(&rows, EntityOwner::Organization, &texts);
    let selector = rows.select(&workflows(), None).unwrap();
    for pattern in ["x", "x = "] {
        let (found, _) =
            count_matches(&rows, &selector, &SearchPattern::new(pattern, MatchReach::Line).unwrap());
        assert!(
            found
                .iter()
                .map(|(path, _)| path.get(1..).unwrap())
                .eq(texts.iter().map(|(path, _)| path.as_str()))
        );
    }
}

#[test]
fn a_row_that_is_too_large_is_counted_and_a_clock_ends_a_look() {
    let fixture = Fixture::new();
    let rows = fixture.store(Tenant::Global);
    write(
        &rows,
        EntityOwner::Organization,
        &[("a".to_owned(), b"abc".to_vec()), ("b".to_owned(), b"abcabc".to_vec())],
    );
    let (selector, pattern) =
        (rows.select(&workflows(), None).unwrap(), SearchPattern::new("abc", MatchReach::Line).unwrap());
    let end = Instant::now() + Duration::from_secs(600);
    let search = |waits: &dyn SearchClock| {
        let (clock, mut paths) = (Clock::new(end, waits), Vec::new());
        let bounds = SearchLimits { most: 10, largest: 5, clock: &clock };
        let skipped =
            rows.each(&selector, &pattern, bounds, &mut |row| paths.push(row.location.path().to_owned()));
        (skipped.unwrap().large, paths)
    };
    assert_eq!(search(&()), (1, vec!["a".to_owned()]));
    assert_eq!(search(&|| true), (0, Vec::new()));
}

#[test]
fn what_is_held_at_once_is_bounded() {
    let row = |size| RowFound {
        organization: String::new(),
        path: String::new(),
        size,
        version: Version::hash(b""),
    };
    let sizes = |sizes: &[u64]| {
        let rows: Vec<RowFound> = sizes.iter().copied().map(row).collect();
        portions(&rows).map(<[RowFound]>::len).collect::<Vec<_>>()
    };
    assert!(sizes(&[]).is_empty());
    assert_eq!(sizes(&[1; 130]), [64, 64, 2]);
    assert_eq!(sizes(&[BYTES / 2, BYTES / 2, 1, BYTES, 1, BYTES * 3, BYTES * 3]), [2, 1, 1, 1, 1, 1]);
}
