//! Cost stays within ten times of what is promised, forty in a debug build, and memory within the promise itself.
//!
//! These are alarms for a change of kind, such as work that grows with the square of the file; docs/benchmarks.md has
//! the figures.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::wire::{Server, plain_write};

/// Promised: an edit takes 1.5 times as long as the plain write of the same bytes.
const RATIO: f64 = 1.5;

/// Promised: a server answers its first message after 20 ms.
const START: Duration = Duration::from_millis(20);

/// How far a shared machine, and a debug build, may stray from what is promised.
const SLACK: u32 = if cfg!(debug_assertions) { 40 } else { 10 };

fn lines(count: usize) -> String {
    (0..count).map(|line| format!("value_{line:07} = compute({line}, scale)\n")).collect()
}

fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_by(|one, other| one.partial_cmp(other).unwrap());
    values[values.len() / 2]
}

#[test]
fn an_edit_costs_a_small_multiple_of_a_plain_write() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("quality.yaml"), "quality_gates: {}\n").unwrap();
    let (ours, theirs) = (root.path().join("ours.txt"), root.path().join("theirs.txt"));
    fs::write(&ours, lines(10_000)).unwrap();
    fs::write(&theirs, lines(10_000)).unwrap();
    let mut server = Server::start(root.path(), &[]);
    let ratios = (0..15).map(|round| {
        let start = Instant::now();
        let edit = json!({"line_edits": [{"start_line": 5000, "end_line": 5000, "new_content": format!("{round}\n")}],
            "path": "ours.txt"});
        assert_eq!(server.call("safe_edit_file", &edit).status(), "written");
        let edited = start.elapsed();
        let start = Instant::now();
        plain_write(&theirs);
        edited.as_secs_f64() / start.elapsed().as_secs_f64()
    });
    let ratio = median(ratios.collect());
    assert!(ratio < RATIO * f64::from(SLACK), "an edit took {ratio:.1} times as long as a plain write");
}

#[test]
fn a_server_starts_at_once() {
    let root = tempfile::tempdir().unwrap();
    let starts = (0..9).map(|_| {
        let measure_start = Instant::now();
        let _server = Server::start(root.path(), &[]);
        measure_start.elapsed()
    });
    let start = median(starts.collect());
    assert!(start < START * SLACK, "the first answer came after {start:?}");
}

/// Pages of the program are not counted: they are shared, and their number is that of the build.
#[test]
fn an_edit_holds_the_file_twice_at_most() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("quality.yaml"), "quality_gates: {}\n").unwrap();
    let text = lines(200_000);
    fs::write(root.path().join("large.txt"), &text).unwrap();
    let mut server = Server::start(root.path(), &[]);
    let edit = json!({"path": "large.txt", "search": "value_0100000 =", "replace": "renamed ="});
    assert_eq!(server.call("safe_edit_file", &edit).status(), "written");
    let peak = server.memory("VmHWM") - server.memory("RssFile");
    let most = 2 * text.len() + (16 << 20);
    assert!(peak <= most, "{peak} bytes at the peak, {most} are promised");
}
