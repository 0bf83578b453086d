//! The bounds of the journal: in bytes on the disk, and in time.

use super::{ALL, Fixture, shared_text};
use crate::history::{EditFilter, EditId, RetentionLimits};
use lockgate_text::Version;
use proptest::prelude::*;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn rounds(default: usize) -> usize {
    std::env::var("LOCKGATE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(default)
}

fn on_disk(database: &Path) -> u64 {
    let folder = database.parent().unwrap();
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files_on_disk = files.filter(|file| !file.file_name().to_str().unwrap().ends_with("-shm"));
    files_on_disk.map(|file| file.metadata().unwrap().len()).sum()
}

/// A text of some ten kilobytes that does not squeeze well, and differs in its middle.
fn text(number: usize) -> String {
    let word = |word: usize| Version::hash(&(word as u64).to_le_bytes()).hex();
    let mut words: Vec<String> = (0..100).map(word).collect();
    let own = |place: usize| word(1000 * (number + 1) + place);
    words.iter_mut().enumerate().skip(20).take(60).for_each(|(place, word)| *word = own(place));
    words.join("\n")
}

#[test]
fn the_files_stay_within_the_bound_and_the_newest_edits_are_there() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    let bounds = RetentionLimits { size: 24 << 20, ..ALL };
    let edits = rounds(9_000);
    let mut most = 0;
    let mut last = None;
    for number in 0..edits {
        last = Some(fixture.edit(&a, &text(number), &text(number + 1)));
        fixture.journal.tidy(&a, bounds).unwrap();
        if number % 500 == 0 {
            fixture.journal.worker.wait();
        }
        most = most.max(on_disk(&fixture.databases()[0]));
    }
    fixture.journal.worker.wait();
    assert!(most <= bounds.size, "at some time there were {most} bytes");
    assert!(on_disk(&fixture.databases()[0]) <= bounds.size);
    assert_eq!(fixture.journal.newest(EditFilter::Settled, Some(&a)).unwrap().map(|entry| entry.id), last);
    let entries = fixture.journal.entries(Some(&a), edits).unwrap();
    assert!((1000..edits).contains(&entries.len()), "{} of {edits}", entries.len());
    for entry in entries.iter().step_by(50) {
        let before = entry.changes[0].before.unwrap();
        let text = fixture.journal.text(&a, &before.hex()).unwrap();
        assert!(text.is_some_and(|text| Version::hash(&text) == before), "{}", entry.id);
    }
}

#[test]
fn a_smaller_bound_shrinks_the_file() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    (0..1500).for_each(|number| drop(fixture.edit(&a, &text(number), &text(number + 1)).to_string()));
    let tidy = |bounds| {
        fixture.journal.journals[0].with_database(|database| database.tidy(bounds)).unwrap();
        on_disk(&fixture.databases()[0])
    };
    let all = tidy(ALL);
    assert_eq!(fixture.journal.entries(Some(&a), 9999).unwrap().len(), 1500, "the control");
    let bound = 400_000;
    assert!(all > bound);
    let fewer = tidy(RetentionLimits { size: bound, ..ALL });
    // The log is left to be written over.
    let log = on_disk(&fixture.databases()[0]) - fixture.databases()[0].metadata().unwrap().len();
    assert!(fewer - log <= bound, "{fewer} with a log of {log}");
    assert!(!fixture.journal.entries(Some(&a), 9999).unwrap().is_empty());
}

/// Prunes the journal of the first root to this many bytes.
fn tidy_to(fixture: &Fixture, size: u64) {
    let bounds = RetentionLimits { size, ..ALL };
    fixture.journal.journals[0].with_database(|database| database.tidy(bounds)).unwrap();
}

#[test]
fn a_bound_below_an_empty_journal_leaves_the_newest_edits() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    let edit = |number: usize, text: fn(usize) -> String| fixture.edit(&a, &text(number), &text(number + 1));
    let mut edits: Vec<EditId> = (0..41).map(|number| edit(number, |number| format!("{number}\n"))).collect();
    let left = || -> Vec<EditId> {
        fixture.journal.entries(None, 99).unwrap().iter().rev().map(|entry| entry.id).collect()
    };
    tidy_to(&fixture, 100_000);
    assert_eq!(left(), edits, "all fit");
    edits.extend((0..41).map(|number| edit(number, text)));
    for size in [100_000, 1000, 1] {
        tidy_to(&fixture, size);
        let several = left();
        assert!((1..41).contains(&several.len()) && edits.ends_with(&several), "{size}: {}", several.len());
    }
    assert_eq!(left(), edits[81..]);
    assert_eq!(fixture.text(&a, &text(40)), Some(text(40)), "it can be undone");
    tidy_to(&fixture, 0);
    assert_eq!(left(), [], "0 turns the journal off");
    assert_eq!(fixture.text(&a, &text(40)), None);
}

#[test]
fn texts_that_were_only_read_displace_no_edit() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    (0..20).for_each(|number| drop(fixture.edit(&a, &text(number), &text(number + 1)).to_string()));
    for number in 100..400 {
        fixture.journal.keep(&a, shared_text(text(number).as_bytes()), ALL);
        fixture.journal.worker.wait();
    }
    let left = || fixture.journal.entries(None, 99).unwrap().len();
    tidy_to(&fixture, 1 << 20);
    assert_eq!(left(), 20);
    assert!(fixture.text(&a, &text(100)).is_none() && fixture.text(&a, &text(399)).is_some());
    tidy_to(&fixture, 100_000);
    assert!(left() < 20, "the control");
}

#[test]
fn texts_that_were_only_read_stay_within_the_bound() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    let bounds = RetentionLimits { size: 1 << 20, ..ALL };
    let keep = |numbers: Range<usize>, bounds| {
        let size = |number| {
            fixture.journal.keep(&a, shared_text(text(number).as_bytes()), bounds);
            fixture.journal.worker.wait();
            on_disk(&fixture.databases()[0])
        };
        numbers.map(size).collect::<Vec<_>>()
    };
    let unbounded = keep(0..400, ALL);
    assert!(unbounded.last().is_some_and(|size| *size > 2 * bounds.size), "the control: {unbounded:?}");
    let sizes = keep(400..800, bounds);
    assert!(sizes.iter().skip(20).all(|size| *size <= bounds.size), "{sizes:?}");
    assert!(fixture.text(&a, &text(799)).is_some());
    keep(800..801, RetentionLimits { size: 0, ..ALL });
    assert_eq!(fixture.text(&a, &text(800)), None, "0 turns the journal off");
}

#[test]
fn what_is_too_old_is_forgotten_with_its_texts() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    fixture.edit(&a, "1", "2");
    let pending = fixture.begin(&a, Some("left before"), "left after");
    fixture.journal.keep(&a, shared_text(b"read"), ALL);
    fixture.journal.worker.wait();
    let tidy = |age| {
        fixture.journal.journals[0]
            .with_database(|database| database.tidy(RetentionLimits { age, ..ALL }))
            .unwrap()
    };
    tidy(Duration::from_secs(60));
    assert!(fixture.text(&a, "1").is_some() && fixture.text(&a, "read").is_some(), "the control");
    // Other tests of this process may have made edits faster than one in a millisecond, which puts times ahead of the clock.
    let ahead = fixture
        .journal
        .newest(EditFilter::Settled, Some(&a))
        .unwrap()
        .unwrap()
        .at
        .duration_since(SystemTime::now());
    std::thread::sleep(ahead.unwrap_or_default() + Duration::from_millis(20));
    tidy(Duration::ZERO);
    assert_eq!(fixture.journal.newest(EditFilter::Settled, Some(&a)).unwrap(), None);
    assert_eq!((fixture.text(&a, "1"), fixture.text(&a, "2"), fixture.text(&a, "read")), (None, None, None));
    assert!(fixture.text(&a, "left before").is_some(), "an edit under way is not forgotten");
    pending.settle().unwrap();
    assert!(fixture.journal.newest(EditFilter::Settled, Some(&a)).unwrap().is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Edits, edits that are dropped, returns to earlier texts, and forgetting, in any order.
    #[test]
    fn no_text_is_lost_that_an_edit_names(steps in proptest::collection::vec((0..8_usize, 0..60_usize), 1..150)) {
        let fixture = Fixture::new();
        let a = fixture.place("a");
        let mut now = 0;
        for (step, to) in steps {
            match step {
                0 => drop(fixture.begin(&a, Some(&text(now)), &text(to))),
                1 => fixture.journal.journals[0].with_database(|database| database.forget_some(to)).unwrap(),
                _ => {
                    fixture.edit(&a, &text(now), &text(to));
                    now = to;
                }
            }
            for entry in fixture.journal.entries(None, 999).unwrap() {
                let changed = &entry.changes[0];
                for version in [changed.before.unwrap(), changed.after.unwrap()] {
                    prop_assert!(fixture.journal.text(&a, &version.hex()).unwrap().is_some());
                }
            }
        }
        fixture.journal.journals[0].with_database(|database| database.forget_some(9999)).unwrap();
        prop_assert!((0..60).all(|number| fixture.text(&a, &text(number)).is_none()), "nothing stays for ever");
    }
}
