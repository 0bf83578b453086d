//! The database, or a server of lockgate, ends in the middle of edits.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;

use super::super::fixture::{APP, OWNER};
use super::super::postgres::{Ending, Postgres};
use super::{Client, WriteLog, WriteOutcome, the_app};
use crate::suite::wire::{Server, lockgate};

const WORKERS: usize = 4;

/// Each way is tried once some edits were acknowledged since the last, so that edits are on their way.
#[test]
fn edits_are_there_once_however_the_database_ended() {
    let Some(postgres) = Postgres::start(&[]) else { return };
    let database = postgres.database();
    let dir = tempfile::tempdir().unwrap();
    let servers = [0, 1].map(|number| Client::new(&database.url(), &dir.path().join(number.to_string())));
    assert_eq!(servers[0].text("src/0.txt"), None);
    database.boss(&the_app());
    let ledgers: Vec<Mutex<WriteLog>> = (0..WORKERS)
        .map(|worker| Mutex::new(WriteLog::begin(&servers[worker % 2], &format!("src/{worker}.txt"))))
        .collect();
    let (enough, written, refused) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for (worker, ledger) in ledgers.iter().enumerate() {
            let (servers, enough, written, refused) = (&servers, &enough, &written, &refused);
            scope.spawn(move || {
                let mut number = 0;
                while !enough.load(Ordering::SeqCst) {
                    number += 1;
                    let line = format!("worker {worker} edit {number}.");
                    // The text of a worker is its own: nobody else can be faster.
                    let mut ledger = ledger.lock().unwrap();
                    let answer = servers[(worker + number) % 2].append(&ledger.path.clone(), &line);
                    match ledger.note(&line, &answer) {
                        WriteOutcome::There => written.fetch_add(1, Ordering::SeqCst),
                        WriteOutcome::Absent | WriteOutcome::Unknown => {
                            refused.fetch_add(1, Ordering::SeqCst)
                        }
                    };
                }
            });
        }
        for how in [Ending::Immediate, Ending::Killed, Ending::Clean, Ending::Killed, Ending::Immediate] {
            await_more(&written, 12);
            postgres.end(how);
            await_more(&refused, 1);
            postgres.begin();
        }
        await_more(&written, 12);
        enough.store(true, Ordering::SeqCst);
    });
    let witness = Client::new(&database.url(), &dir.path().join("witness"));
    for ledger in &ledgers {
        ledger.lock().unwrap().check(&witness);
    }
    for server in &servers {
        assert!(server.put("src/last.txt", "service again\n").is_ok());
    }
}

/// Servers that are killed while edits are on their way: what they acknowledged is there once, and nothing is half there.
#[test]
fn edits_are_there_once_where_servers_are_killed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let file = dir.path().join("content.db");
    let mut stores = vec![(format!("sqlite:{}", file.display()), None)];
    if let Some(postgres) = Postgres::shared() {
        let database = postgres.database();
        stores.push((database.url(), Some(database)));
    }
    for (url, database) in stores {
        let witness = Client::new(&url, &dir.path().join("witness"));
        assert_eq!(witness.text("src/0.txt"), None);
        match &database {
            Some(database) => drop(database.boss(&the_app())),
            None => rusqlite::Connection::open(&file).unwrap().execute_batch(&the_app()).unwrap(),
        }
        let mut ledgers: Vec<WriteLog> =
            (0..WORKERS).map(|number| WriteLog::begin(&witness, &format!("src/{number}.txt"))).collect();
        for round in 0..6 {
            let mut command = lockgate(&dir.path().join("user"));
            command.env("LOCKGATE_STORE", &url);
            let arguments = ["--tools", "all", "--organization", OWNER];
            let mut server = Server::start_by(command, &root, &arguments);
            let line = |number: usize| format!("round {round} edit {number}.");
            let ids: Vec<u64> = (0..WORKERS * 4)
                .map(|number| {
                    let path = &ledgers[number % WORKERS].path;
                    let edit_arguments = json!({"entity_type": "app_file", "app_id": APP, "path": path,
                        "old_string": "begin\n", "new_string": format!("begin\n{}\n", line(number))});
                    server.post_call("patch_content", &edit_arguments)
                })
                .collect();
            // Some are acknowledged; of the others nobody is told.
            let first = server.wait_answer(ids[round]).unwrap();
            let end = rustix::process::Pid::from_raw(server.id().try_into().unwrap()).unwrap();
            rustix::process::kill_process(end, rustix::process::Signal::KILL).unwrap();
            for (number, id) in ids.iter().enumerate() {
                let answer = if number == round { Ok(first.clone()) } else { server.wait_answer(*id) };
                let outcome = match answer {
                    Ok(answer) if answer.status() == "written" => WriteOutcome::There,
                    Ok(answer) => panic!("{}", answer.text),
                    Err(_) => WriteOutcome::Unknown,
                };
                ledgers[number % WORKERS].sent(&line(number), outcome);
            }
        }
        ledgers.iter().for_each(|ledger| ledger.check(&witness));
    }
}

/// Waits until so many more were counted; the counter gives up before the test's time limit.
fn await_more(count: &AtomicUsize, more: usize) {
    let goal = count.load(Ordering::SeqCst) + more;
    while count.load(Ordering::SeqCst) < goal {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}
