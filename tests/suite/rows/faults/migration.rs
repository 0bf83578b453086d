//! The tables are made by several servers at once, and by servers that are interrupted while they make them.

use std::ffi::OsString;

use serde_json::json;

use super::{Client, clear, the_app};
use crate::suite::http::raw::ProtocolEra;
use crate::suite::http::server_process::{ServerProcess, TOKEN, entry, written};
use crate::suite::rows::fixture::OWNER;
use crate::suite::rows::postgres::{Postgres, behind};
use crate::suite::rows::proxy::{FaultPoint, Proxy, Then, When};
use crate::suite::wire::lockgate;

const SERVERS: usize = 6;

/// Has servers that begin together look for a text each.
fn all_begin(url: &str, own: &std::path::Path) {
    let begin = std::sync::Barrier::new(SERVERS);
    std::thread::scope(|scope| {
        let servers: Vec<_> = (0..SERVERS)
            .map(|number| {
                let (begin, client) = (&begin, Client::new(url, &own.join(number.to_string())));
                scope.spawn(move || {
                    begin.wait();
                    client.try_text("src/a.txt")
                })
            })
            .collect();
        for server in servers {
            assert_eq!(server.join().unwrap(), Ok(None));
        }
    });
}

#[test]
fn servers_that_make_the_tables_together_all_find_them() {
    for round in 0..40 {
        let dir = tempfile::tempdir().unwrap();
        all_begin(&format!("sqlite:{}", dir.path().join("content.db").display()), dir.path());
        if let Some(postgres) = Postgres::shared().filter(|_| round < 4) {
            let database = postgres.database();
            all_begin(&database.url(), &dir.path().join(round.to_string()));
            assert_eq!(database.boss("SELECT count(*) FROM lockgate_migrations"), "1");
        }
    }
}

#[test]
fn an_interrupted_migration_is_finished_by_the_next_server() {
    let Some(postgres) = Postgres::shared() else { return };
    let proxy = Proxy::before(&postgres.socket());
    let dir = tempfile::tempdir().unwrap();
    let mut created = 0;
    for number in (0..).step_by(2) {
        let database = postgres.database();
        let interrupted =
            Client::new(&database.url_at(proxy.address), &dir.path().join(format!("a{number}")));
        // For good: the process that began it does not return.
        let at = if number % 4 == 0 { FaultPoint::AnswerLost } else { FaultPoint::Before };
        proxy.arm(When::Number(number), at, Then::Broken);
        let answer = interrupted.try_text("src/a.txt");
        let (messages, broke) = proxy.clear_fault();
        if let Err(rejection) = &answer {
            clear(rejection);
        }
        let notes = database.boss("SELECT count(to_regclass('lockgate_migrations'))");
        created += usize::from(notes == "1");
        let next = Client::new(&database.url(), &dir.path().join(format!("b{number}")));
        assert_eq!(next.try_text("src/a.txt"), Ok(None), "{broke:?} of {messages:#?}");
        database.boss(&the_app());
        assert!(next.put("src/a.txt", "one\n").is_ok(), "{broke:?} of {messages:#?}");
        assert!(interrupted.put("src/a.txt", "two\n").is_ok(), "{broke:?} of {messages:#?}");
        assert_eq!(next.history("src/a.txt").len(), 2);
        if broke.is_none() {
            assert_eq!(answer, Ok(None));
            break;
        }
    }
    assert!(created > 2, "it was interrupted in the middle");
}

/// A file that may not grow makes a write fail in the middle.
#[test]
fn tables_of_sqlite_whose_making_was_cut_short_are_made_by_the_next_call() {
    let dir = tempfile::tempdir().unwrap();
    let mut cut_short = 0;
    for blocks in (8..).step_by(24) {
        let file = dir.path().join(format!("{blocks}/content.db"));
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        let home = tempfile::tempdir().unwrap();
        let tokens = entry("alice", TOKEN, &format!("organization: {OWNER}, tools: [all]"));
        let config = written(home.path(), &format!("listen: '127.0.0.1:0'\ntokens:\n{tokens}"));
        let script = format!("ulimit -c 0; ulimit -f {blocks}; exec \"$@\"");
        let words = ["/bin/sh", "-c", &script, "sh"].map(OsString::from);
        let mut command = behind(&words, lockgate(home.path()).args(["serve", "--config"]).arg(config));
        let store = format!("sqlite:{}", file.display());
        command.env("LOCKGATE_STORE", &store);
        let served = ServerProcess::by(command, home);
        let mut client = served.client(TOKEN, ProtocolEra::New);
        let arguments = json!({"entity_type": "module", "path": "a.py", "content": "x = 1\n"});
        client.post_call("replace_content", &arguments);
        let answer = client.raw.response();
        drop(served);
        let next = Client::new(&store, &dir.path().join(format!("own{blocks}")));
        assert_eq!(next.try_text("src/a.txt"), Ok(None), "{blocks}");
        if answer.is_ok_and(|answer| answer.answer()["result"]["structuredContent"]["status"] == "written") {
            break;
        }
        cut_short += 1;
        assert!(blocks < 4000, "it is never made");
    }
    assert!(cut_short > 2, "it was cut short in the middle");
}

#[test]
fn tables_of_a_later_version_are_left_alone() {
    let later = "INSERT INTO lockgate_migrations(version, description, success, checksum, execution_time) \
         VALUES (99, 'later', true, 'x', 0)";
    let dir = tempfile::tempdir().unwrap();
    let check = |url: &str, run: &dyn Fn(&str)| {
        assert_eq!(Client::new(url, dir.path()).try_text("src/a.txt"), Ok(None));
        run(later);
        let waiting = Client::new(url, &dir.path().join("waiting"));
        let rejection = waiting.try_text("src/a.txt").unwrap_err();
        clear(&rejection);
        assert!(rejection.message.contains("newer lockgate"), "{}", rejection.message);
        run("DELETE FROM lockgate_migrations WHERE version = 99");
        assert_eq!(waiting.try_text("src/a.txt"), Ok(None));
    };
    let file = dir.path().join("content.db");
    check(&format!("sqlite:{}", file.display()), &|sql| {
        rusqlite::Connection::open(&file).unwrap().execute_batch(sql).unwrap();
    });
    if let Some(postgres) = Postgres::shared() {
        let database = postgres.database();
        check(&database.url(), &|sql| drop(database.boss(sql)));
    }
}
