//! The database ends in the middle of edits, and comes back.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::super::postgres::{Ending, Postgres};
use super::{Client, Fate, Ledger, the_app};

const WORKERS: usize = 4;

/// Each way is tried once some edits were acknowledged since the last, so that edits are on their way.
#[test]
fn edits_are_there_once_however_the_database_ended() {
    let Some(postgres) = Postgres::start(&[]) else { return };
    let database = postgres.database();
    let dir = tempfile::tempdir().unwrap();
    let servers = [0, 1].map(|number| Client::of(&database.url(), &dir.path().join(number.to_string())));
    assert_eq!(servers[0].text("src/0.txt"), None);
    database.boss(&the_app());
    let ledgers: Vec<Mutex<Ledger>> = (0..WORKERS)
        .map(|worker| Mutex::new(Ledger::begin(&servers[worker % 2], &format!("src/{worker}.txt"))))
        .collect();
    let (enough, there, refused) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for (worker, ledger) in ledgers.iter().enumerate() {
            let (servers, enough, there, refused) = (&servers, &enough, &there, &refused);
            scope.spawn(move || {
                let mut number = 0;
                while !enough.load(Ordering::SeqCst) {
                    number += 1;
                    let line = format!("worker {worker} edit {number}.");
                    // The text of a worker is its own: nobody else can be faster.
                    let mut ledger = ledger.lock().unwrap();
                    let answer = servers[(worker + number) % 2].append(&ledger.path.clone(), &line);
                    match ledger.note(&line, &answer) {
                        Fate::There => there.fetch_add(1, Ordering::SeqCst),
                        Fate::Absent | Fate::Unknown => refused.fetch_add(1, Ordering::SeqCst),
                    };
                }
            });
        }
        for how in [Ending::Immediate, Ending::Killed, Ending::Clean, Ending::Killed, Ending::Immediate] {
            await_more(&there, 12);
            postgres.end(how);
            await_more(&refused, 1);
            postgres.begin();
        }
        await_more(&there, 12);
        enough.store(true, Ordering::SeqCst);
    });
    let witness = Client::of(&database.url(), &dir.path().join("witness"));
    for ledger in &ledgers {
        ledger.lock().unwrap().check(&witness);
    }
    for server in &servers {
        assert!(server.put("src/last.txt", "service again\n").is_ok());
    }
}

/// Waits until so many more were counted; whoever counts gives up sooner than the test's time is up.
fn await_more(count: &AtomicUsize, more: usize) {
    let wanted = count.load(Ordering::SeqCst) + more;
    while count.load(Ordering::SeqCst) < wanted {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}
