//! Several threads and several processes at one database.

use super::{Database, edit, number, open, text};
use crate::history::EditFilter;
use std::process::{Command, Stdio};
use std::sync::Arc;

const AT: &str = "LOCKGATE_TEST_JOURNAL";

#[test]
fn threads_write_and_read_side_by_side() {
    let (_dir, database) = super::new_database();
    let database = Arc::new(database);
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let database = Arc::clone(&database);
            std::thread::spawn(move || work(&database, &format!("thread {thread}"), 50))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(number(&database, "SELECT count(*) FROM edits WHERE settled = 1"), 200);
}

/// A text that no edit needs any more is used again while unused texts are removed.
#[test]
fn a_text_that_is_used_again_keeps_the_texts_that_it_is_stored_against() {
    let (_dir, database) = super::new_database();
    let text_of = |number: usize| format!("{number}\n{}", "line\n".repeat(100)).into_bytes();
    for round in 0..4 {
        edit(&database, "a", &text_of(round), &text_of(round + 1));
    }
    let again = || {
        edit(&database, "b", &text_of(3), b"other\n");
    };
    database.forget_some_during(4, again).unwrap();
    assert_eq!(text(&database, &text_of(3)), Some(text_of(3)));
    assert_eq!(text(&database, &text_of(4)), None, "the control: what is not used goes");
}

fn work(database: &Database, name: &str, edits: usize) {
    let text_of = |number: usize| format!("{name} {number}\n{}", "line\n".repeat(100)).into_bytes();
    for round in 0..edits {
        let number = edit(database, name, &text_of(round), &text_of(round + 1));
        let latest = database.newest(EditFilter::Settled, name).unwrap().unwrap();
        assert_eq!(latest.id.number(), number, "what one has written it sees");
        assert_eq!(text(database, &text_of(round)), Some(text_of(round)));
    }
}

/// The test below starts this as a separate process.
#[test]
fn as_one_of_several_processes() {
    if let Ok(at) = std::env::var(AT) {
        let database = open(at.as_ref());
        work(&database, &format!("process {}", std::process::id()), 50);
    }
}

#[test]
fn processes_begin_one_journal_and_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "sql::tests::several::as_one_of_several_processes"]);
        command.env(AT, dir.path()).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap()
    };
    let processes: Vec<_> = (0..4).map(|_| start()).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    let database = open(dir.path());
    assert_eq!(number(&database, "SELECT count(*) FROM edits WHERE settled = 1"), 200);
    assert_eq!(number(&database, "SELECT count(DISTINCT path) FROM changes"), 4);
}
