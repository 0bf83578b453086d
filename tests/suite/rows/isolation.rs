//! Entities of an organisation are invisible to others: every answer is byte for byte the same as if they did not exist.
//!
//! Each call is made in two fixtures, of which only one has the other organisation's entities. What was answered is
//! compared, and what is somebody else's must be as it was.

mod calls;
mod fixture;
mod setup;
mod trial;

use std::path::Path;

use serde_json::json;

use super::postgres::{Database, Postgres};
use calls::{ACTOR, ACTORS_APP, CallState, FOREIGN, text};
use fixture::{Actor, Caller, Front, IsolationFixture, OWNED, Store};
use setup::{app_file, make, settle, settle_foreign};
use trial::Trial;

fn sqlite(dir: &Path) -> Store {
    Store::Sqlite(dir.join("content.db"))
}

fn postgres(_: &Path) -> Store {
    Store::Postgres(Postgres::shared().unwrap().database())
}

/// How many calls are made, together.
const CALLS: usize = 10_000;

#[track_caller]
fn check_isolation(seed: u64, count: usize, front: Front, actor: Actor, store: fn(&Path) -> Store) {
    let codes =
        Trial::new(seed, front, [actor, actor], store).run(count).unwrap_or_else(|wrong| panic!("{wrong}"));
    let mut counts: Vec<String> = codes.iter().map(|(code, count)| format!("{count} {code}")).collect();
    counts.sort();
    println!("{}", counts.join("\n"));
    // The calls reach what they are about: edits are written, and what is out of reach is not found.
    for tool in ["get_content", "patch_content", "replace_content", "delete_content"] {
        assert!(codes.contains_key(&format!("{tool} FILE_NOT_FOUND")), "{tool}: {counts:?}");
    }
    for outcome in
        ["patch_content written", "replace_content written", "undo_edit written", "search_content seen"]
    {
        assert!(codes.contains_key(outcome), "{outcome}: {counts:?}");
    }
}

#[test]
fn no_call_of_an_organisation_learns_of_another_in_postgresql_over_http() {
    if Postgres::shared().is_some() {
        check_isolation(1, CALLS * 4 / 10, Front::Http, Actor::Organization(ACTOR), postgres);
    }
}

#[test]
fn no_call_of_nobody_learns_of_an_organisation_in_postgresql() {
    if Postgres::shared().is_some() {
        check_isolation(2, CALLS / 10, Front::Pipes, Actor::Nobody, postgres);
    }
}

#[test]
fn no_call_of_an_organisation_learns_of_another_in_sqlite() {
    check_isolation(3, CALLS * 4 / 10, Front::Pipes, Actor::Organization(ACTOR), sqlite);
}

#[test]
fn no_call_of_nobody_learns_of_an_organisation_in_sqlite_over_http() {
    check_isolation(4, CALLS / 10, Front::Http, Actor::Nobody, sqlite);
}

/// The control: who reaches what is somebody else's is caught, whatever is reached for first.
#[test]
fn a_call_that_learns_of_another_organisation_is_caught() {
    let actors = [Actor::Organization(FOREIGN), Actor::Organization(ACTOR)];
    for (seed, front) in [(0, Front::Pipes), (1, Front::Http), (2, Front::Pipes)] {
        let caught = Trial::new(seed, front, actors, sqlite).run(60);
        assert!(caught.is_err(), "{caught:?}");
    }
}

/// Who forgets early forgets nothing but its own.
#[test]
fn a_small_journal_forgets_no_edit_of_another_organisation() {
    for store in [sqlite, postgres] {
        if Postgres::shared().is_none() {
            return;
        }
        let mut fixture = IsolationFixture::new(Front::Pipes, store);
        fixture.set_up(true);
        let mut foreigner = fixture.caller(Actor::Organization(FOREIGN));
        let mut state = CallState::default();
        settle_foreign(&mut foreigner, &mut state, 0);
        settle(&mut fixture, Actor::Organization(ACTOR));
        let before = fixture.store.rows_of(FOREIGN);
        std::fs::write(fixture.dir.path().join("root/quality.yaml"), "limits: { journal: 4KiB }\n").unwrap();
        let mut forgetful = fixture.caller(Actor::Organization(ACTOR));
        let edits = |caller: &mut Caller| {
            let history = caller.call("list_edits", &json!({"max_results": 100}));
            let edits =
                history.structured["edits"].as_array().unwrap_or_else(|| panic!("{}", history.text)).clone();
            edits.iter().map(|edit| edit["edit_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        // It forgets while nobody waits for it.
        for number in 0.. {
            if number > 20 && edits(&mut forgetful).len() < 20 {
                break;
            }
            make(
                &mut forgetful,
                &mut Vec::new(),
                app_file(ACTORS_APP, "src/own.py", &text("file", ACTOR, number)),
            );
        }
        assert_eq!(fixture.store.rows_of(FOREIGN), before);
        let remaining = edits(&mut foreigner);
        assert!(state.foreign_edits.iter().all(|id| remaining.contains(id)), "{remaining:?}");
    }
}

/// Runs a statement in a session as a server has it, scoped to an organisation or to nobody.
fn scoped(database: &Database<'_>, organization: Option<&str>, sql: &str) -> Result<String, String> {
    let scope =
        organization.map_or_else(String::new, |name| format!("SET LOCAL lockgate.organization = '{name}';"));
    database.try_query_as_server(&format!("BEGIN; {scope} {sql}; COMMIT;"))
}

/// Also a statement that forgot whose rows are meant sees, changes and makes nothing of another organisation.
#[test]
fn row_level_security_holds_where_a_statement_is_wrong() {
    if Postgres::shared().is_none() {
        return;
    }
    let mut fixture = IsolationFixture::new(Front::Pipes, postgres);
    fixture.set_up(true);
    let mut state = CallState::default();
    settle_foreign(&mut fixture.caller(Actor::Organization(FOREIGN)), &mut state, 0);
    settle(&mut fixture, Actor::Organization(ACTOR));
    let Store::Postgres(database) = &fixture.store else { unreachable!() };
    let tables = database.boss(OWNED);
    let tables: Vec<&str> = tables.lines().collect();
    assert!(tables.contains(&"entities") && tables.contains(&"apps") && tables.len() >= 5, "{tables:?}");
    let owners = |organization: Option<&str>, table: &str| {
        let all = format!("SELECT DISTINCT organization FROM {table} ORDER BY 1");
        scoped(database, organization, &all).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let before = fixture.store.rows_of(FOREIGN);
    for table in &tables {
        let all = database.boss(&format!("SELECT DISTINCT organization FROM {table}"));
        assert!(all.lines().any(|owner| owner == FOREIGN), "{table}: there is something to be seen");
        assert!(owners(Some(ACTOR), table).iter().all(|owner| owner.is_empty() || owner == ACTOR), "{table}");
        assert!(owners(Some(ACTOR), table).contains(&ACTOR.to_owned()), "{table}");
        assert!(owners(None, table).iter().all(String::is_empty), "{table}");
        // Nor by a setting that was left behind empty.
        assert!(owners(Some(""), table).iter().all(String::is_empty), "{table}");
        let took = format!("UPDATE {table} SET organization = '{FOREIGN}'");
        let refused = scoped(database, Some(ACTOR), &took).unwrap_err();
        assert!(refused.contains("row-level security"), "{table}: {refused}");
        let insert = format!(
            "INSERT INTO {table} SELECT (jsonb_populate_record(t, '{{\"organization\": \"{FOREIGN}\"}}')).* FROM {table} t"
        );
        let refused = scoped(database, Some(ACTOR), &insert).unwrap_err();
        assert!(refused.contains("row-level security"), "{table}: {refused}");
    }
    assert_eq!(fixture.store.rows_of(FOREIGN), before);
    // The control: where it is off, the same statements see and change what is somebody else's.
    for table in &tables {
        database.boss(&format!("ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY"));
        assert!(
            owners(Some(ACTOR), table).contains(&FOREIGN.to_owned()),
            "{table}: its owner is held by force alone"
        );
        database.boss(&format!("ALTER TABLE {table} FORCE ROW LEVEL SECURITY"));
    }
    let delete_all = |table: &str| scoped(database, Some(ACTOR), &format!("DELETE FROM {table}")).unwrap();
    tables.iter().for_each(|table| drop(delete_all(table)));
    assert_eq!(fixture.store.rows_of(FOREIGN), before);
    for table in &tables {
        database.boss(&format!("ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"));
        delete_all(table);
    }
    assert!(fixture.store.rows_of(FOREIGN).is_empty());
}
