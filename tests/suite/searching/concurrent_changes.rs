//! What is looked at while somebody changes it: a search stays in the root, and shows a file in one state.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lockgate_store::Files;
use serde_json::{Value, json};

use super::{BOUNDED, count_matches, write};
use crate::suite::wire::{Answer, Server};

/// A walk that looks whether a folder is a link, and then goes by its name.
fn naive_walk(root: &Path) -> String {
    let Ok(entries) = fs::read_dir(root) else { return String::new() };
    let mut text = String::new();
    for entry in entries.flatten() {
        match entry.path().symlink_metadata() {
            Ok(found) if found.is_dir() => text += &naive_walk(&entry.path()),
            Ok(found) if found.is_file() => text += &fs::read_to_string(entry.path()).unwrap_or_default(),
            _ => {}
        }
    }
    text
}

#[test]
fn a_folder_that_becomes_a_link_does_not_lead_out() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("root");
    write(root.join("folder/ours.txt"), "ours\n");
    write(home.path().join("theirs/ours.txt"), "theirs\n");
    let files = Files::open(std::slice::from_ref(&root)).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _ends = StopOnDrop(&stop);
        scope.spawn(|| {
            let (folder, away) = (root.join("folder"), home.path().join("away"));
            // Each state lasts from no time to longer than a search takes: both are met, and so is every moment between.
            for rest in (0..400).cycle().map(Duration::from_micros) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                fs::rename(&folder, &away).unwrap();
                symlink("../theirs", &folder).unwrap();
                std::thread::sleep(rest);
                fs::remove_file(&folder).unwrap();
                fs::rename(&away, &folder).unwrap();
                std::thread::sleep(rest);
            }
        });
        assert!(comes(|| count_matches(&files, "ours").0 > 0), "the folder was never there");
        assert!((0..2000).all(|_| count_matches(&files, "theirs").0 == 0), "a search left the root");
        assert!(comes(|| naive_walk(&root).contains("theirs")), "the control never left it");
    });
}

/// True if it comes to be so, within [`BOUNDED`].
fn comes(mut so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + BOUNDED;
    while Instant::now() < end {
        if so() {
            return true;
        }
    }
    false
}

/// Lines of the file that is changed while it is looked at; few enough for all of them to be shown.
const LINES: usize = 200;

/// A state of that file: one letter on all of its lines, and a length of its own, so that none can be taken for another.
fn state(round: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(round % 26).unwrap());
    format!("{}\n", letter.to_string().repeat(50 + round % 26)).repeat(LINES)
}

/// Ends the writer, also where a look has failed.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Looks at a file while it is written; gives the texts that were seen, each of which was that of its version.
fn search_while(written: impl Fn(usize) + Sync, root: &Path) -> Vec<String> {
    let (stop, rounds, mut texts) = (AtomicBool::new(false), AtomicUsize::new(0), Vec::new());
    let mut server = Server::start(root, &[]);
    std::thread::scope(|scope| {
        let _ends = StopOnDrop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                written(rounds.fetch_add(1, Ordering::Relaxed));
            }
        });
        let enough = |looks: usize| looks >= 40 && rounds.load(Ordering::Relaxed) > 20;
        for _ in (0..2000).take_while(|looks| !enough(*looks)) {
            for (tool, arguments) in [
                ("search_content", json!({"pattern": "^", "max_results": 1000, "context_lines": 0})),
                ("read_content_lines", json!({"path": "a", "start_line": 1, "end_line": LINES})),
                ("get_content", json!({"path": "a"})),
            ] {
                texts.extend(text_of(&server.call(tool, &arguments)));
            }
        }
    });
    assert!(rounds.into_inner() > 20, "the file did not change often enough");
    texts
}

/// The text that an answer shows, which must be that of its version; nothing where it shows none.
fn text_of(answer: &Answer) -> Option<String> {
    let response = &answer.structured;
    if answer.is_error {
        let codes = ["EDIT_CONFLICT", "FILE_NOT_FOUND"];
        assert!(codes.contains(&answer.code()), "{response}");
        return None;
    }
    let (text, version) = match (response["matches"].as_array(), response["start_line"].as_u64()) {
        (Some(matches), _) => {
            let versions: Vec<&Value> = matches.iter().map(|found| &found["version"]).collect();
            assert!(versions.windows(2).all(|pair| pair[0] == pair[1]), "two states in one answer");
            let rows: Vec<&str> = matches.iter().map(|found| found["match"].as_str().unwrap()).collect();
            (rows.join("\n"), versions.first().map(|version| (*version).clone())?)
        }
        (None, Some(_)) => {
            let rows =
                response["content"].as_str().unwrap().lines().map(|row| row.split_once(": ").unwrap().1);
            (rows.collect::<Vec<_>>().join("\n"), response["version"].clone())
        }
        (None, None) => (response["content"].as_str().unwrap().to_owned(), response["version"].clone()),
    };
    let stamped = |text: &str| json!(lockgate_text::Version::hash(text.as_bytes()).to_string()) == version;
    let with_line_end = format!("{text}\n");
    assert!(stamped(&text) || stamped(&with_line_end), "{version} is not the version of {text:.80}");
    Some(if stamped(&text) { text } else { with_line_end })
}

#[test]
fn a_concurrently_replaced_file_is_read_in_one_state() {
    let root = tempfile::tempdir().unwrap();
    let (file, staged) = (root.path().join("a"), root.path().join(".staged"));
    fs::write(&file, state(0)).unwrap();
    let texts = search_while(
        |round| {
            fs::write(&staged, state(round)).unwrap();
            fs::rename(&staged, &file).unwrap();
        },
        root.path(),
    );
    let states: Vec<String> = (0..26).map(state).collect();
    assert!(texts.len() > 60, "only {} answers showed something", texts.len());
    assert!(texts.iter().all(|text| states.contains(text)), "something that the file never was");
    assert!(texts.iter().any(|text| *text != texts[0]), "the file was never seen to change");
}

#[test]
fn a_file_rewritten_in_place_has_the_version_of_the_text_shown() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("a");
    fs::write(&file, state(0)).unwrap();
    let texts = search_while(
        |round| {
            fs::write(&file, state(round)).unwrap();
            // So that it can be read between two writes.
            std::thread::sleep(Duration::from_millis(5));
        },
        root.path(),
    );
    assert!(!texts.is_empty());
}
