//! Tests of tenant isolation.

use super::*;
use std::collections::BTreeSet;

#[test]
fn an_organisation_has_its_own_rows_and_global_ones() {
    let fixture = Fixture::new();
    let [one, other, global_rows, all] = ["one", "other", "", "*"].map(|tenant| fixture.rows(tenant));
    let own = one.at(&fixture.workflow("a", None));
    let theirs = other.at(&fixture.workflow("a", None));
    let global = global_rows.at(&fixture.workflow("a", None));
    assert_eq!(own.entity().organization_id, Some(fixture.name("one")));
    assert_eq!((global.entity().organization_id.as_ref(), global.owner.as_ref()), (None, None));
    let edits = [(&one, &own, "own"), (&other, &theirs, "theirs"), (&global_rows, &global, "global")]
        .map(|(rows, place, text)| rows.write(place, text));
    for (rows, visible) in [
        (&one, [true, false, true]),
        (&other, [false, true, true]),
        (&global_rows, [false, false, true]),
        (&all, [true; 3]),
    ] {
        for (number, place) in [&own, &theirs, &global].into_iter().enumerate() {
            let visible = visible[number];
            assert_eq!(rows.read(place, 99).unwrap().is_some(), visible);
            assert_eq!(rows.exists(place, place.path()).unwrap(), visible);
            assert_eq!(rows.newest(EditFilter::Settled, place).unwrap().is_some(), visible);
            assert_eq!(rows.newest(EditFilter::ToUndo, place).unwrap().is_some(), visible);
            assert_eq!(rows.entry(edits[number]).unwrap().is_some(), visible);
            assert_eq!(rows.entries(Some(place), 9).unwrap().len(), usize::from(visible));
            let version = Version::hash(["own", "theirs", "global"][number].as_bytes()).hex();
            assert_eq!(rows.text(place, &version).unwrap().is_some(), visible);
        }
        let listed: BTreeSet<_> = rows.entries(None, 99).unwrap().iter().map(|entry| entry.id).collect();
        assert_eq!(edits.map(|id| listed.contains(&id)), visible);
    }
}

#[test]
fn what_is_out_of_reach_is_not_written_either() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.rows("one"), fixture.rows("other"));
    let own = one.at(&fixture.workflow("a", None));
    one.write(&own, "own");
    let snapshot = one.read(&own, 99).unwrap();
    for text in [Some("theirs"), None] {
        assert!(other.write_over(&[(&own, text)], std::slice::from_ref(&snapshot), EntryKind::Edit).is_err());
    }
    assert!(other.write_over(&[(&own, Some("made"))], &[None], EntryKind::Edit).is_err());
    assert_eq!(one.text_of(&own).as_deref(), Some("own"));
}

#[test]
fn a_workflow_without_an_organisation_is_ones_own_before_it_is_the_global_one() {
    let fixture = Fixture::new();
    let (own, global_rows, all) = (fixture.rows("one"), fixture.rows(""), fixture.rows("*"));
    let any = fixture.workflow("a", None);
    let found = |rows: &EntityStore| rows.at(&any).owner.clone();
    assert_eq!(found(&own), Some(fixture.name("one")), "a new one is one's own");
    global_rows.write(&global_rows.at(&any), "global");
    assert_eq!((found(&own), found(&global_rows), found(&all)), (None, None, None));
    let workflow = fixture.workflow("a", Some("one"));
    own.write(&own.at(&workflow), "own");
    assert_eq!((found(&own), found(&global_rows)), (Some(fixture.name("one")), None));
    assert_eq!(own.text_of(&own.at(&any)).as_deref(), Some("own"));
    assert_eq!(all.text_of(&all.at(&workflow)).as_deref(), Some("own"));
    assert_eq!(all.text_of(&all.at(&any)).as_deref(), Some("global"));
}

#[test]
fn a_removed_workflow_is_the_closest_one_in_the_history() {
    let fixture = Fixture::new();
    let (own, other, global_rows) = (fixture.rows("one"), fixture.rows("other"), fixture.rows(""));
    let any = fixture.workflow("a", None);
    let found = |rows: &EntityStore, default_owner| rows.at_or(&any, default_owner).owner;
    let organization = Some(fixture.name("one"));
    let global = global_rows.at(&any);
    global_rows.write(&global, "global");
    let place = own.at(&fixture.workflow("a", Some("one")));
    own.write(&place, "own");
    for default_owner in [DefaultOwner::Closest, DefaultOwner::ClosestInHistory, DefaultOwner::LastChanged] {
        assert_eq!(found(&own, default_owner), organization, "{default_owner:?}");
        assert_eq!(found(&other, default_owner), None, "{default_owner:?}");
    }
    assert_eq!(found(&own, DefaultOwner::Global), None);
    edit(own.write_all(&[(&place, None)], EntryKind::Edit).unwrap());
    assert_eq!(found(&own, DefaultOwner::Closest), None);
    assert_eq!(found(&own, DefaultOwner::ClosestInHistory), organization);
    assert_eq!(found(&own, DefaultOwner::LastChanged), organization);
    assert_eq!(found(&other, DefaultOwner::ClosestInHistory), None, "the history of others does not count");
    edit(global_rows.write_all(&[(&global, None)], EntryKind::Edit).unwrap());
    assert_eq!(found(&own, DefaultOwner::Closest), organization, "a new one is one's own");
    assert_eq!(found(&own, DefaultOwner::ClosestInHistory), organization);
    assert_eq!(found(&own, DefaultOwner::LastChanged), None, "the last edit removed the global one");
    assert_eq!(found(&other, DefaultOwner::ClosestInHistory), None, "the removed global one");
}

#[test]
fn another_organisation_is_refused_as_one_that_is_not_there() {
    let fixture = Fixture::new();
    let other = fixture.rows("other");
    other.write(&other.at(&fixture.workflow("a", None)), "theirs");
    for tenant in ["one", ""] {
        let rows = fixture.rows(tenant);
        let messages = ["other", "no such"].map(|organization| {
            let workflow = fixture.workflow("a", Some(organization));
            let error = rows.refused(&workflow);
            assert_eq!(error.code, Code::FileNotFound);
            format!("{error:?}").replace(organization, "it")
        });
        assert_eq!(messages[0], messages[1]);
    }
}

#[test]
fn an_apps_files_are_its_organisations() {
    let fixture = Fixture::new();
    let (one, other, global_rows) = (fixture.rows("one"), fixture.rows("other"), fixture.rows(""));
    let add = |app: &str, organization: Option<&str>| {
        let organization = organization.map(|organization| fixture.name(organization));
        fixture.database.add_app(&fixture.name(app), organization.as_deref())
    };
    let file = fixture.app_file("app", "src/a.ts");
    assert_eq!(one.refused(&file).code, Code::FileNotFound);
    assert_eq!(add("app", Some("one")), Ok(Added::New));
    assert_eq!(add("app", Some("one")), Ok(Added::Existing));
    assert_eq!(add("free", None), Ok(Added::New));
    for organization in [Some("other"), None] {
        let error = add("app", organization).unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("app_id")));
    }
    assert!(add("free", Some("one")).is_err());
    let place = one.at(&file);
    assert_eq!((place.owner.clone(), place.entity()), (Some(fixture.name("one")), &file));
    one.write(&place, "text");
    assert_eq!(
        one.newest(EditFilter::Settled, &place).unwrap().unwrap().changes[0].entity.as_ref(),
        Some(&file)
    );
    for rows in [&other, &global_rows] {
        let messages = ["app", "no such"].map(|app| {
            let error = rows.refused(&fixture.app_file(app, "src/a.ts"));
            assert_eq!(error.code, Code::FileNotFound);
            format!("{error:?}").replace(&fixture.name(app), "it")
        });
        assert_eq!(messages[0], messages[1]);
        assert!(rows.read(&place, 99).unwrap().is_none());
        assert_eq!(rows.at(&fixture.app_file("free", "a")).owner, None);
    }
    let apps = fixture.database.apps().unwrap();
    assert!(apps.contains(&(fixture.name("app"), Some(fixture.name("one")))));
    assert!(apps.contains(&(fixture.name("free"), None)) && apps.is_sorted());
}

#[test]
fn an_edit_is_seen_where_all_that_it_changed_is_within_reach() {
    let fixture = Fixture::new();
    let [all, one, other, global_rows] = ["*", "one", "other", ""].map(|tenant| fixture.rows(tenant));
    let own = all.at(&fixture.workflow("a", Some("one")));
    let theirs = all.at(&fixture.workflow("a", Some("other")));
    let global = all.at(&fixture.module("a"));
    let write = |places: &[&RowLocation]| {
        let texts: Vec<_> = places.iter().map(|place| (*place, Some("text"))).collect();
        edit(all.write_all(&texts, EntryKind::Edit).unwrap())
    };
    let (both, mixed) = (write(&[&own, &theirs]), write(&[&global, &own]));
    let is_visible = |rows: &EntityStore, id| {
        let listed = rows.entries(None, 99).unwrap().iter().any(|entry| entry.id == id);
        let found = rows.entry(id).unwrap().is_some();
        assert_eq!(listed, found);
        found
    };
    assert_eq!(
        [&all, &one, &other, &global_rows].map(|rows| is_visible(rows, both)),
        [true, false, false, false]
    );
    assert_eq!(
        [&all, &one, &other, &global_rows].map(|rows| is_visible(rows, mixed)),
        [true, true, false, false]
    );
    assert!(
        other.newest(EditFilter::Settled, &global).unwrap().is_none()
            && one.newest(EditFilter::Settled, &own).unwrap().unwrap().id == mixed
    );
    // A change remains visible.
    assert_eq!(other.text_of(&global).as_deref(), Some("text"));
}

#[test]
fn a_person_is_shown_every_row() {
    let fixture = Fixture::new();
    fixture.database.add_app(&fixture.name("app"), Some(&fixture.name("one"))).unwrap();
    let all = fixture.rows("*");
    let mut expected: Vec<(Entity, Vec<u8>)> = Vec::new();
    for number in 0..20 {
        expected
            .push((fixture.workflow(&format!("{number}"), Some("one")), format!("{number}").into_bytes()));
    }
    expected.push((fixture.app_file("app", "a.ts"), b"app".to_vec()));
    expected.push((fixture.module("a.py"), b"module".to_vec()));
    for (entity, bytes) in &expected {
        all.write(&all.at(entity), std::str::from_utf8(bytes).unwrap());
    }
    let mut found = Vec::new();
    fixture
        .database
        .each_row(&mut |entity, bytes| {
            found.push((entity, bytes));
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert!(expected.iter().all(|row| found.iter().filter(|found| *found == row).count() == 1));
    let mut count = 0;
    fixture
        .database
        .each_row(&mut |_, _| {
            count += 1;
            if count == 3 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(count, 3);
}

#[test]
fn an_id_that_is_none_is_refused_by_name() {
    let fixture = Fixture::new();
    let rows = fixture.rows("one");
    for id in ["", "a\n", &"x".repeat(129)] {
        let app = Entity { app_id: Some(id.to_owned()), ..entity("app_file", "a") };
        assert_eq!(rows.refused(&app).field.as_deref(), Some("app_id"));
        let of = Entity { organization_id: Some(id.to_owned()), ..entity("workflow", "a") };
        assert_eq!(rows.refused(&of).field.as_deref(), Some("organization_id"));
        assert_eq!(fixture.database.add_app(id, None).unwrap_err().field.as_deref(), Some("app_id"));
        assert_eq!(
            fixture.database.add_app("a", Some(id)).unwrap_err().field.as_deref(),
            Some("organization_id")
        );
    }
}
