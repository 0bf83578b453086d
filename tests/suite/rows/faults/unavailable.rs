//! A database that lets nobody in, is gone, or is kept busy by others: a clear rejection, and service when it is over.

use super::super::postgres::{KEEPER, PASSWORD, Postgres};
use super::{Client, WriteOutcome, clear, the_app, write_outcome};

/// What a person does to a database, and how it is undone.
fn disturbances(name: &str) -> [(&'static str, String, String); 5] {
    [
        (
            "the password is another",
            format!("ALTER ROLE {KEEPER} PASSWORD 'other'"),
            format!("ALTER ROLE {KEEPER} PASSWORD '{PASSWORD}'"),
        ),
        ("nobody may log in", format!("ALTER ROLE {KEEPER} NOLOGIN"), format!("ALTER ROLE {KEEPER} LOGIN")),
        (
            "too many are connected",
            format!("ALTER ROLE {KEEPER} CONNECTION LIMIT 0"),
            format!("ALTER ROLE {KEEPER} CONNECTION LIMIT -1"),
        ),
        (
            "it has another name",
            format!("ALTER DATABASE {name} RENAME TO other"),
            format!("ALTER DATABASE other RENAME TO {name}"),
        ),
        (
            "it may only be read",
            format!("ALTER DATABASE {name} SET default_transaction_read_only = on"),
            format!("ALTER DATABASE {name} RESET default_transaction_read_only"),
        ),
    ]
}

/// What a person does to the database, what a server then refuses with, and how it is undone.
#[test]
fn database_changes_by_an_administrator_are_reported_and_survived() {
    let Some(postgres) = Postgres::start(&[]) else { return };
    let database = postgres.database();
    let dir = tempfile::tempdir().unwrap();
    let url = database.url();
    let server = Client::new(&url, &dir.path().join("server"));
    assert_eq!(server.text("src/a.txt"), None);
    database.boss(&the_app());
    server.put("src/a.txt", "begin\n").unwrap();
    let name = &database.name;
    // Connections that are open already are ended first, as a person would have to.
    let end =
        format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '{KEEPER}'");
    let other_connections = format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{KEEPER}'");
    for (number, (what, disturb, restore)) in disturbances(name).into_iter().enumerate() {
        let change = |sql: &str| {
            postgres.boss("postgres", &end);
            while postgres.boss("postgres", &other_connections) != "0" {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            postgres.boss("postgres", sql);
        };
        change(&disturb);
        let rejection = server.put("src/a.txt", &format!("{what}\n")).unwrap_err();
        clear(&rejection);
        println!("{what}: {}", rejection.message);
        assert!(!rejection.message.contains(name.as_str()), "{}", rejection.message);
        let fresh = Client::new(&url, &dir.path().join(number.to_string()));
        assert_eq!(
            write_outcome(&fresh.put("src/a.txt", &format!("{what}\n"))),
            WriteOutcome::Absent,
            "{what}"
        );
        change(&restore);
        assert_eq!(server.text("src/a.txt").as_deref(), Some("begin\n"), "{what}");
        for (client, text) in [(&server, "other\n"), (&fresh, "begin\n")] {
            assert_eq!(write_outcome(&client.put("src/a.txt", text)), WriteOutcome::There, "{what}");
        }
    }
}

#[test]
fn a_database_that_is_made_anew_is_used_anew() {
    let Some(postgres) = Postgres::shared() else { return };
    let database = postgres.database();
    let dir = tempfile::tempdir().unwrap();
    let server = Client::new(&database.url(), &dir.path().join("server"));
    assert_eq!(server.text("src/a.txt"), None);
    database.boss(&the_app());
    server.put("src/a.txt", "begin\n").unwrap();
    let name = &database.name;
    postgres.boss("postgres", &format!("DROP DATABASE {name} WITH (FORCE)"));
    assert_eq!(write_outcome(&server.put("src/a.txt", "gone\n")), WriteOutcome::Absent);
    postgres.boss("postgres", &format!("CREATE DATABASE {name} OWNER {KEEPER} TEMPLATE template0"));
    // The tables may be missed once before they are made.
    let again = server.try_text("src/a.txt").or_else(|_| server.try_text("src/a.txt"));
    assert_eq!(again, Ok(None));
    database.boss(&the_app());
    assert_eq!(write_outcome(&server.put("src/a.txt", "begin\n")), WriteOutcome::There);
}

#[test]
fn a_row_that_others_hold_is_refused_in_time() {
    let Some(postgres) = Postgres::shared() else { return };
    let database = postgres.database();
    let dir = tempfile::tempdir().unwrap();
    let server = Client::new(&database.url(), &dir.path().join("server"));
    assert_eq!(server.text("src/a.txt"), None);
    database.boss(&the_app());
    server.put("src/a.txt", "begin\n").unwrap();
    std::thread::scope(|scope| {
        // It ends by the statement that ends all others, whatever happens here.
        let holding = scope.spawn(|| {
            let hold = "BEGIN; SELECT 1 FROM entities FOR UPDATE; SELECT pg_advisory_xact_lock(1); SELECT pg_sleep(60); COMMIT";
            postgres.boss_may_fail(&database.name, hold);
        });
        let locked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND granted";
        while database.boss(locked) != "1" {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let answer = server.put("src/a.txt", "held\n");
        database.boss(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1",
        );
        holding.join().unwrap();
        assert_eq!(write_outcome(&answer), WriteOutcome::Absent);
    });
    assert_eq!(server.text("src/a.txt").as_deref(), Some("begin\n"));
    assert_eq!(write_outcome(&server.put("src/a.txt", "free\n")), WriteOutcome::There);
}
