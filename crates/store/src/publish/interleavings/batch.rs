//! Two files of one edit, while other programs come to both of them.

use super::dice::Dice;
use super::foreign::{Foreign, Kind, StepResult};
use super::{BASE, Fixture, OURS, SEED, SLOTS, TARGET, THEIRS, rounds};
use crate::content::Content;
use crate::file_write::FileWrite;
use crate::outcome::PublishedBatch;
use crate::publish::{Guards, batch};
use lockgate_error::Error;
use lockgate_policy::Publishing;
use std::cell::{Cell, RefCell};
use std::fs;

const OTHER: &str = "u";
/// Looks in between the steps of an edit of two files.
const MOMENTS: usize = 2 * SLOTS;

/// What the second file is to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Second {
    /// It gets another line.
    Replaced,
    /// It is made.
    Created,
    /// It is removed.
    Removed,
}

/// What the rounds came to.
#[derive(Debug, Default)]
struct Count {
    written: usize,
    refused: usize,
    /// Refused, and the first file is new although nobody else wrote it so.
    half: usize,
    /// Lines of others that are nowhere, or in a file that is not told.
    lost: usize,
    /// Said to be written, and not there.
    untrue: usize,
    /// Files that are left beside and not told.
    left: usize,
    /// Lines of others that are in a file that is told.
    kept: usize,
}

fn text(fixture: &Fixture, name: &str) -> Option<String> {
    fs::read_to_string(fixture.dir.path().join(name)).ok()
}

fn edit(fixture: &Fixture, second: Second, guards: Guards<'_>) -> Result<PublishedBatch, Error> {
    let places = [fixture.files.admit(TARGET)?, fixture.files.admit(OTHER)?];
    let mut snapshots = Vec::new();
    for place in &places {
        snapshots.push(fixture.files.read(place, 1 << 20)?);
    }
    guards.step();
    let new: Vec<String> = snapshots
        .iter()
        .map(|snapshot| {
            let was = snapshot.as_ref().map_or(&b""[..], |snapshot| snapshot.bytes());
            format!("{OURS}{}", String::from_utf8_lossy(was))
        })
        .collect();
    let write = |index: usize| {
        FileWrite::new(
            &places[index],
            snapshots[index].as_ref().map(|snapshot| snapshot.expected(Content::new(snapshot.bytes()))),
            (index == 0 || second != Second::Removed).then(|| Content::new(new[index].as_bytes())),
        )
    };
    batch::publish_with_guards(
        &fixture.files.roots,
        &[write(0), write(1)],
        Publishing::default(),
        None,
        guards,
    )
}

/// The first file is appended to, and the second changed in any way, at any moment of the edit.
fn round(
    fixture: &Fixture,
    second: Second,
    kind: Kind,
    guards: Guards<'_>,
    mut dice: Dice,
    count: &mut Count,
) {
    fixture.reset();
    if second != Second::Created {
        fs::write(fixture.dir.path().join(OTHER), BASE).unwrap();
    }
    let foreign = [(Kind::Append, TARGET), (kind, OTHER)];
    let foreign = foreign.map(|(kind, target)| RefCell::new(Foreign::new(kind, fixture.dir.path(), target)));
    let mut slots: Vec<(usize, usize)> = (0..2 * 3).map(|number| (dice.below(MOMENTS), number % 2)).collect();
    slots.sort_unstable();
    let (now, next) = (Cell::new(0), Cell::new(0));
    let step = || {
        now.set(now.get() + 1);
        while let Some((_, writer)) = slots.get(next.get()).filter(|(slot, _)| *slot < now.get()) {
            if foreign[*writer].borrow_mut().advance() == StepResult::Blocked {
                break;
            }
            next.set(next.get() + 1);
        }
    };
    let result = edit(fixture, second, Guards { step: &step, ..guards });
    let [first, other] = foreign.map(RefCell::into_inner);
    for mut foreign in [first, other] {
        (0..100).take_while(|_| foreign.advance() != StepResult::Finished).count();
    }
    count_outcome(fixture, (second, kind), &result, count);
}

fn count_outcome(
    fixture: &Fixture,
    (second, kind): (Second, Kind),
    result: &Result<PublishedBatch, Error>,
    count: &mut Count,
) {
    let (first, other) = (text(fixture, TARGET).unwrap_or_default(), text(fixture, OTHER));
    let message = match result {
        Ok(published) => format!("{:?}", published.files),
        Err(error) => error.message.clone(),
    };
    let mut lines = first.matches(THEIRS).count() + other.iter().flat_map(|it| it.matches(THEIRS)).count();
    for name in fixture.left().iter().filter(|name| *name != OTHER) {
        if name.ends_with(".kept") && message.contains(name.as_str()) {
            let kept_lines = text(fixture, name).unwrap().matches(THEIRS).count();
            count.kept += usize::from(kept_lines > 0);
            lines += kept_lines;
        } else {
            count.left += 1;
        }
    }
    count.lost += usize::from(lines < 2);
    if result.is_ok() {
        count.written += 1;
        // Others may have saved all of their text after it was written.
        let is_second =
            |text: &String| text.contains(OURS) || (kind != Kind::Append && text.contains(THEIRS));
        let is_second = second == Second::Removed || other.as_ref().is_some_and(is_second);
        count.untrue += usize::from(!first.contains(OURS) || !is_second);
    } else {
        count.refused += 1;
        count.half += usize::from(first.contains(OURS));
    }
}

fn play(second: Second, kind: Kind, guards: Guards<'_>) -> Count {
    let (fixture, mut count) = (Fixture::new(), Count::default());
    for number in 0..rounds() / 8 {
        round(&fixture, second, kind, guards, Dice::new(SEED, number), &mut count);
        let _ = fs::remove_file(fixture.dir.path().join(OTHER));
    }
    count
}

const CASES: [(Second, Kind); 9] = [
    (Second::Replaced, Kind::InPlace),
    (Second::Replaced, Kind::Late),
    (Second::Replaced, Kind::Rename),
    (Second::Replaced, Kind::Recreate),
    (Second::Replaced, Kind::Append),
    (Second::Created, Kind::Append),
    (Second::Created, Kind::InPlace),
    (Second::Removed, Kind::Append),
    (Second::Removed, Kind::Rename),
];

#[test]
fn a_refused_edit_of_two_files_leaves_the_first_as_it_was_but_for_what_others_added() {
    assert!(super::has_leases(), "no file system that gives leases: nothing would be shown");
    for (second, kind) in CASES {
        let count = play(second, kind, Guards::ALL);
        println!("together, {second:?}, {kind:?}: {count:?}");
        assert_eq!(
            (count.half, count.lost, count.untrue, count.left),
            (0, 0, 0, 0),
            "{second:?} {kind:?}: {count:?}"
        );
        assert!(count.refused > 0, "{second:?} {kind:?}: {count:?}");
    }
}

/// The positive control: one file after the other, as soon as each can be had.
#[test]
fn a_refused_edit_whose_files_are_held_one_by_one_leaves_some_half_written() {
    let mut half_written = 0;
    for (second, kind) in CASES {
        let count = play(second, kind, Guards { together: false, ..Guards::ALL });
        println!("one by one, {second:?}, {kind:?}: {count:?}");
        half_written += count.half;
    }
    assert!(half_written > 0, "no file was left half written");
}
