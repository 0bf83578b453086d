//! Edits of two files to which other programs append all the time.

use super::*;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const NAMES: [&str; 2] = ["a", "z"];
/// No longer than this, whatever is seen.
const LONGEST: Duration = Duration::from_secs(20);

#[derive(Debug, Default)]
struct Count {
    written: usize,
    refused: usize,
    /// Refused, and one file has the mark of the edit and the other has not.
    half: usize,
    /// Lines that were appended and are nowhere, or in a file that was not told.
    lost: usize,
}

/// Appends numbered lines until it is told to stop; gives how many.
fn append(path: &Path, writer: usize, stop: &AtomicBool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut wait = 0x9e37_79b9_u64 + writer as u64;
    while !stop.load(Ordering::Relaxed) {
        let line = format!("line {} of {writer}\n", lines.len());
        let mut file = fs::File::options().append(true).create(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
        drop(file);
        lines.push(line);
        wait = wait.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((wait >> 33) % 2_000));
    }
    lines
}

/// The marker in a file's first line.
fn marker(fixture: &Fixture, name: &str) -> String {
    fixture.text(name).lines().next().unwrap_or_default().to_owned()
}

/// Edits both files again and again, each with the same mark in its first line, until enough was seen.
fn play(guards: Guards<'_>, is_enough: impl Fn(&Count) -> bool) -> Count {
    let fixture = Fixture::fast(&[(NAMES[0], "mark 0\n"), (NAMES[1], "mark 0\n")]);
    let (stop, messages, mut count) = (AtomicBool::new(false), Mutex::new(String::new()), Count::default());
    let start = Instant::now();
    let lines: Vec<String> = std::thread::scope(|scope| {
        let paths = [0, 1, 2].map(|writer| (writer, fixture.at(NAMES[writer % 2])));
        let running = paths.map(|(writer, path)| {
            let stop = &stop;
            scope.spawn(move || append(&path, writer, stop))
        });
        for number in 1.. {
            if is_enough(&count) || start.elapsed() > LONGEST {
                break;
            }
            let before = NAMES.map(|name| marker(&fixture, name));
            let with_marker = |_: &str, was: &[u8]| {
                let was = String::from_utf8_lossy(was).into_owned();
                was.split_once('\n').map(|(_, rest)| format!("mark {number}\n{rest}"))
            };
            match fixture.publish_made(&NAMES, with_marker, Publishing::default(), guards) {
                Ok(_) => count.written += 1,
                Err(error) => {
                    count.refused += 1;
                    messages.lock().push_str(&error.message);
                    let now = NAMES.map(|name| marker(&fixture, name));
                    count.half += usize::from(now != before);
                }
            }
            // So that each round begins with the same mark in both.
            if marker(&fixture, NAMES[0]) != marker(&fixture, NAMES[1]) {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let messages = messages.into_inner();
    let text: String = fixture
        .names()
        .iter()
        .filter(|name| NAMES.contains(&name.as_str()) || messages.contains(name.as_str()))
        .map(|name| fixture.text(name))
        .collect();
    let text_lines: HashSet<&str> = text.split_inclusive('\n').collect();
    count.lost = lines.iter().filter(|line| !text_lines.contains(line.as_str())).count();
    count
}

const ALL: Guards<'static> = Guards { timeout: Duration::from_millis(20), ..Guards::ALL };

#[test]
fn a_refused_edit_of_files_that_are_appended_to_is_not_left_half_written() {
    let count = play(ALL, |count| count.refused >= 60 && count.written >= 20);
    println!("together: {count:?}");
    assert_eq!((count.half, count.lost), (0, 0), "{count:?}");
    assert!(count.refused > 0 && count.written > 0, "{count:?}");
}

/// The positive control.
#[test]
fn files_that_are_held_one_by_one_are_left_half_written_by_appenders() {
    let count = play(Guards { together: false, ..ALL }, |count| count.half > 0);
    println!("one by one: {count:?}");
    assert!(count.half > 0, "{count:?}");
}
