//! Foreign programs save while lockgate publishes, in any order of their system calls, by dice that fall the same each time.
//!
//! A text is lost when neither the file in the end holds it, nor a file that the answer names. `LOCKGATE_ROUNDS` says how many
//! rounds are played for each writer.

mod batch;
mod dice;
mod foreign;
mod second;

use super::Guards;
use crate::Files;
use crate::content::Content;
use crate::file_write::FileWrite;
use crate::outcome::PublishedBatch;
use dice::Dice;
use foreign::{Foreign, Kind, StepResult};
use lockgate_error::{Code, Disk, Error};
use lockgate_policy::Publishing;
use std::cell::{Cell, RefCell};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const TARGET: &str = "t";
const BASE: &str = "what stands there\n";
const OURS: &str = "ours, a line\n";
const THEIRS: &str = "theirs, another line\n";
const SEED: u64 = 0x10c9_a7e5;

/// Looks in between the steps of one edit, and some more.
const SLOTS: usize = 24;

const ALL: Guards<'static> = Guards { timeout: Duration::ZERO, ..Guards::ALL };
const EXCHANGE: Guards<'static> = Guards { lease: false, ..ALL };
const COMPARE: Guards<'static> = Guards { exchange: false, ..EXCHANGE };
const BLIND: Guards<'static> = Guards { compare: false, ..COMPARE };

const WRITERS: [Kind; 4] = [Kind::InPlace, Kind::Late, Kind::Rename, Kind::Recreate];

/// What the rounds came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    /// Edits that were said to be written.
    written: usize,
    /// Texts that were saved, by them or by us, and are nowhere, although all is said to be well.
    lost: usize,
    /// Texts of theirs that are nowhere after a rejection, and texts of ours that are there after one.
    lost_on_conflict: usize,
    /// Files that hold neither text, or ours built on half of theirs.
    torn: usize,
    /// Files that were left beside and are not told.
    left: usize,
    /// Rejections that name a file in which a text is kept: two of their steps met ours.
    kept: usize,
}

impl Count {
    fn harm(&self) -> usize {
        self.lost + self.lost_on_conflict + self.torn + self.left
    }
}

/// A folder with the one file.
struct Fixture {
    dir: TempDir,
    files: Files,
}

impl Fixture {
    fn new() -> Fixture {
        let fast = Path::new("/dev/shm");
        let dir = if fast.is_dir() { tempfile::tempdir_in(fast) } else { tempfile::tempdir() }.unwrap();
        let files = Files::open(&[dir.path().to_owned()]).unwrap();
        Fixture { dir, files }
    }

    fn reset(&self) {
        self.left().iter().for_each(|name| fs::remove_file(self.dir.path().join(name)).unwrap());
        // A new file, as one that another round left open may still be written.
        let _ = fs::remove_file(self.dir.path().join(TARGET));
        fs::write(self.dir.path().join(TARGET), BASE).unwrap();
    }

    fn text(&self) -> Option<String> {
        fs::read_to_string(self.dir.path().join(TARGET)).ok()
    }

    /// What lies beside the file.
    fn left(&self) -> Vec<String> {
        let names = fs::read_dir(self.dir.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != TARGET && !name.ends_with(".tmp")).collect()
    }
}

/// Reads, appends a line and publishes, with a look in between all steps; gives back the text too.
fn edit(fixture: &Fixture, line: &str, guards: Guards<'_>) -> Result<(String, PublishedBatch), Error> {
    guards.step();
    let place = fixture.files.admit(TARGET)?;
    let snapshot = fixture.files.read(&place, 1 << 20)?;
    guards.step();
    let was = snapshot.as_ref().map_or(&b""[..], |snapshot| snapshot.bytes());
    let text = String::from_utf8(was.to_vec()).unwrap() + line;
    let before = snapshot.as_ref().map(|snapshot| snapshot.expected(Content::new(snapshot.bytes())));
    let after = Some(Content::new(text.as_bytes()));
    let write = FileWrite::new(&place, before, after);
    let published = super::batch::publish_with_guards(
        &fixture.files.roots,
        &[write],
        Publishing::default(),
        None,
        guards,
    )?;
    guards.step();
    Ok((text, published))
}

fn round(fixture: &Fixture, kind: Kind, guards: Guards<'_>, mut dice: Dice, count: &mut Count) {
    fixture.reset();
    let mut slots: Vec<usize> = (0..Foreign::STEPS).map(|_| dice.below(SLOTS)).collect();
    slots.sort_unstable();
    let theirs = RefCell::new(Foreign::new(kind, fixture.dir.path(), TARGET));
    let (now, next) = (Cell::new(0), Cell::new(0));
    let (shared_dice, held_until) = (RefCell::new(dice), Cell::new(0));
    let step = || {
        now.set(now.get() + 1);
        while now.get() > held_until.get() && slots.get(next.get()).is_some_and(|slot| *slot < now.get()) {
            if theirs.borrow_mut().advance() == StepResult::Blocked {
                held_until.set(now.get() + shared_dice.borrow_mut().below(SLOTS / 2));
                break;
            }
            next.set(next.get() + 1);
        }
    };
    let result = edit(fixture, OURS, Guards { step: &step, ..guards });
    let mut theirs = theirs.into_inner();
    (0..100).take_while(|_| theirs.advance() != StepResult::Finished).count();
    count_outcome(fixture, &theirs.text, result, count);
}

/// Holds what is there against what was said.
fn count_outcome(
    fixture: &Fixture,
    theirs: &str,
    result: Result<(String, PublishedBatch), Error>,
    count: &mut Count,
) {
    let text = fixture.text().unwrap_or_default();
    let message = match &result {
        Ok((_, published)) => format!("{:?}", published.files),
        Err(error) => error.message.clone(),
    };
    let (kept_names, left_names): (Vec<String>, Vec<String>) = fixture
        .left()
        .into_iter()
        .partition(|name| message.contains(name.as_str()) && name.ends_with(".kept"));
    count.left += left_names.len();
    let kept_text: String =
        kept_names.iter().map(|name| fs::read_to_string(fixture.dir.path().join(name)).unwrap()).collect();
    let has_theirs = text.contains(THEIRS) || kept_text.contains(THEIRS);
    match result {
        Ok((ours, _)) => {
            count.written += 1;
            // Ours may be gone only where they have saved after it.
            count.lost += usize::from(!has_theirs || (text != ours && text != theirs));
            let base = ours.strip_suffix(OURS).unwrap();
            let is_whole =
                base == BASE || base == theirs || (base.is_empty() && ours == OURS && text == theirs);
            count.torn += usize::from(!is_whole || (text != ours && text != theirs));
        }
        Err(error) => {
            assert!(matches!(error.code, Code::EditConflict), "{error:?}");
            count.kept += usize::from(error.message.contains(".kept"));
            let is_ours = text.contains(OURS) && error.disk == Disk::Untouched;
            count.lost_on_conflict += usize::from(!has_theirs || is_ours);
            count.torn += usize::from(text != theirs);
        }
    }
}

fn rounds() -> usize {
    std::env::var("LOCKGATE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2_000)
}

fn play(kind: Kind, guards: Guards<'_>) -> Count {
    let (fixture, mut count) = (Fixture::new(), Count::default());
    (0..rounds()).for_each(|number| round(&fixture, kind, guards, Dice::new(SEED, number), &mut count));
    count
}

fn play_two(guards: Guards<'_>) -> Count {
    let (fixture, mut count) = (Fixture::new(), Count::default());
    (0..rounds()).for_each(|number| second::round(&fixture, guards, Dice::new(SEED, number), &mut count));
    count
}

/// Whether the file system that is played on gives leases.
fn has_leases() -> bool {
    let fixture = Fixture::new();
    fixture.reset();
    edit(&fixture, OURS, Guards::ALL).unwrap().1.files[0].level == crate::GuardLevel::Lease
}

#[test]
fn with_all_guards_nothing_is_lost_to_any_writer() {
    assert!(has_leases(), "no file system that gives leases: nothing would be shown");
    for kind in WRITERS {
        let count = play(kind, ALL);
        println!("all guards, {kind:?}: {count:?} of {}", rounds());
        assert_eq!(count.harm(), 0, "{kind:?}: {count:?}");
        assert!(count.written > rounds() / 20, "{kind:?}: hardly anything was written: {count:?}");
    }
}

#[test]
fn with_all_guards_two_lockgates_lose_nothing() {
    let count = play_two(ALL);
    println!("all guards, a second lockgate: {count:?} of {}", rounds());
    assert_eq!(count.harm(), 0, "{count:?}");
    assert!(count.written > rounds(), "{count:?}");
}

/// The positive controls: each guard that is switched off lets texts be lost.
#[test]
fn without_guards_texts_are_lost() {
    for kind in WRITERS {
        let [blind, compare, exchange] = [BLIND, COMPARE, EXCHANGE].map(|guards| play(kind, guards));
        println!("{kind:?} of {}: blind {blind:?}\n  compare {compare:?}\n  exchange {exchange:?}", rounds());
        assert!(blind.lost > rounds() / 20, "{kind:?}: {blind:?}");
        assert!(compare.lost > 0, "{kind:?}: {compare:?}");
        // A file that is open already is written by its old descriptor, which only a lease knows of.
        let by_name = matches!(kind, Kind::Rename | Kind::Recreate);
        assert!(if by_name { exchange.lost == 0 } else { exchange.lost > 0 }, "{kind:?}: {exchange:?}");
    }
    let [blind, compare, exchange] = [BLIND, COMPARE, EXCHANGE].map(play_two);
    println!("second of {}: blind {blind:?}\n  compare {compare:?}\n  exchange {exchange:?}", rounds());
    assert!(
        blind.lost > rounds() / 20 && compare.lost > 0 && exchange.harm() == 0,
        "{blind:?} {compare:?} {exchange:?}"
    );
}
