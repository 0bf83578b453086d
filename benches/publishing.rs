//! What publishing costs over standard input and output: one edit, a batch, taking an edit back, and taking turns.
//!
//!     cargo bench --bench publishing            with a young journal
//!     cargo bench --bench publishing -- --long  and with one of 100,000 edits
//!
//! The plain write of the same bytes (read, write, fsync, rename) is made in the same run, in turn with the edits.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark stops at the first error, and prints"
)]

#[path = "../tests/suite/wire.rs"]
#[expect(dead_code, reason = "the tests use more of the client than this does")]
mod wire;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use wire::{Server, plain_write};

/// Measurements of each kind.
const ROUNDS: usize = 100;

/// Files of a batch.
const BATCH: usize = 10;

/// Edits that an old journal holds.
const PAST: usize = 100_000;

fn lines(count: usize) -> String {
    (0..count).map(|line| format!("value_{line:07} = compute({line}, scale)\n")).collect()
}

fn project(policy: &str) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("quality.yaml"), format!("quality_gates: {{}}\n{policy}")).unwrap();
    for file in 0..BATCH {
        fs::write(root.path().join(format!("{file}.txt")), lines(1000)).unwrap();
    }
    fs::write(root.path().join("plain.txt"), lines(1000)).unwrap();
    root
}

fn edit(file: usize, round: usize) -> Value {
    let new = format!("round {round}\n");
    json!({"path": format!("{file}.txt"),
        "line_edits": [{"start_line": 500, "end_line": 500, "new_content": new}]})
}

fn call(server: &mut Server, tool: &str, arguments: &Value) -> Duration {
    let start = Instant::now();
    let answer = server.call(tool, arguments);
    let took = start.elapsed();
    assert!(!answer.is_error, "{}", answer.text);
    took
}

/// The time at that share of all, in milliseconds.
fn at(mut times: Vec<Duration>, share: f64) -> f64 {
    times.sort();
    times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3
}

fn row(name: &str, times: &[Duration]) {
    println!("| {name} | {:.2} | {:.2} |", at(times.to_vec(), 0.5), at(times.to_vec(), 0.99));
}

fn plain(root: &Path) -> Duration {
    let start = Instant::now();
    plain_write(&root.join("plain.txt"));
    start.elapsed()
}

fn singles(durability: &str) {
    let root = project(&format!("durability: {durability}\n"));
    let mut server = Server::start(root.path(), &[]);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        ours.push(call(&mut server, "safe_edit_file", &edit(0, round)));
        theirs.push(plain(root.path()));
    }
    row(&format!("an edit, durability `{durability}`"), &ours);
    row("beside it, a plain write", &theirs);
}

fn batches() {
    let root = project("");
    let mut server = Server::start(root.path(), &[]);
    let (mut together, mut back) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS / 2 {
        let edits: Vec<Value> = (0..BATCH).map(|file| edit(file, round)).collect();
        together.push(call(&mut server, "edit_files", &json!({"edits": edits})));
        back.push(call(&mut server, "undo_edit", &json!({})));
    }
    row(&format!("a batch of {BATCH} files"), &together);
    row("taking it back", &back);
}

fn undoing(history_length: usize) {
    let root = project("durability: process\nlimits: { journal: 4GiB }\n");
    let mut server = Server::start(root.path(), &[]);
    for round in 0..history_length {
        call(&mut server, "safe_edit_file", &edit(round % BATCH, round));
    }
    let (mut back, mut again) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        back.push(call(&mut server, "undo_edit", &json!({"path": "0.txt"})));
        again.push(call(&mut server, "redo_edit", &json!({"path": "0.txt"})));
    }
    row(&format!("taking back, after {history_length} edits, durability `process`"), &back);
    row("making it again", &again);
}

/// Two servers edit one file in turn as fast as they can: what each call takes, its wait included.
fn turns() {
    let root = project("");
    let user = tempfile::tempdir().unwrap();
    let times: Vec<Duration> = std::thread::scope(|scope| {
        let one = |number: usize| {
            let mut server = Server::start_for(user.path(), root.path(), &["--tools", "all"]);
            scope.spawn(move || {
                let edit_call = |round: usize| {
                    json!({"path": "0.txt", "show_diff": false,
                    "line_edits": [{"start_line": 10 + number, "end_line": 10 + number,
                        "new_content": format!("server {number}, round {round}\n")}]})
                };
                (0..ROUNDS)
                    .map(|round| call(&mut server, "safe_edit_file", &edit_call(round)))
                    .collect::<Vec<_>>()
            })
        };
        let workers = [one(0), one(1)];
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    row("an edit while another server edits the same file", &times);
}

fn main() {
    let long = std::env::args().any(|argument| argument == "--long");
    println!("| of 1,000 lines | median ms | p99 ms |\n|---|---|---|");
    singles("full");
    singles("process");
    batches();
    turns();
    undoing(ROUNDS);
    if long {
        undoing(PAST);
    }
}
