//! Records which texts cargo last compiled, if they may differ from those on disk.
//!
//! cargo takes a crate for unchanged if none of its files is newer than the build. After a draft was compiled
//! in place of a file, the target folder contains the draft's crate, and the file on disk is older. So each
//! staged text is recorded next to the target folder with the time at which it was first staged. A later run
//! stages the same text with that time, and another text with the current time. One target folder then serves
//! all runs, and cargo recompiles only what changed.
//!
//! The same is done for a file on disk that was replaced since the last run by one with an older time
//! (`cp -p`, `rsync -t`, an unpacked archive). The inode change time, which no program can set, reveals this. If
//! the clock was set back before the last run, times are useless, and the build results are removed.
//!
//! Invariant: a file keeps its time on disk only if its text was not replaced since, or was written later. No
//! other run uses the target folder during a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{StagedPath, replace_with_json};
use crate::regular;
use lockgate_sandbox::{Halt, Limit, create_private, remove_tree};
use lockgate_text::Version;

/// The variable with cargo's target folder.
pub(crate) const TARGET: &str = "CARGO_TARGET_DIR";
/// The record of staged texts, a file in the target folder.
const RECORD: &str = ".lockgate-shown.json";
/// The longest sleep before the time limit is checked again, while another run uses the target folder.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The largest number of recorded texts; if there are more, the build results are removed.
const MAX_TEXTS: usize = 200;
/// The largest number of entries below the root that are searched for replaced files; if there are more, the
/// build results are removed.
const MAX_ENTRIES: usize = 200_000;
/// The largest lag of file times behind the clock: the kernel takes them from a clock that advances only at
/// ticks, at most 10 ms apart.
const TICK: Duration = Duration::from_millis(10);
/// The largest file that is checked for replacement, in bytes.
const LARGEST: u64 = 1 << 20;
/// Folders without source files, besides those whose names begin with a dot.
const SKIPPED_FOLDERS: [&str; 2] = ["target", "node_modules"];
/// The largest time that the last run may lie in the future, because clocks are read at different moments.
const SKEW: Duration = Duration::from_secs(2);

/// The recorded texts of a target folder, locked for one run.
#[derive(Debug)]
pub(crate) struct CargoRecord {
    target: PathBuf,
    record: Record,
    _lock: File,
}

/// The reason why a record cannot be opened.
#[derive(Debug)]
pub(crate) enum CargoRecordError {
    /// The wait for another run ended.
    Halted(Halt),
    /// The target folder cannot be used.
    Disk(io::Error),
}

impl From<io::Error> for CargoRecordError {
    fn from(error: io::Error) -> CargoRecordError {
        CargoRecordError::Disk(error)
    }
}

/// The record of a target folder.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// A time before the last run read the files; `None` before the first run.
    last: Option<SystemTime>,
    texts: BTreeMap<String, RecordedText>,
}

impl Record {
    fn is_sound(&self, now: SystemTime) -> bool {
        self.texts.len() <= MAX_TEXTS && self.last.is_none_or(|last| last <= now + SKEW)
    }
}

/// The text last staged at a path below the root.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RecordedText {
    hash: String,
    /// The time at which this text was first staged, after another one.
    since: SystemTime,
}

/// The largest record that is read, in bytes.
const LARGEST_RECORD: u64 = 64 << 20;

/// A text to stage at a path below the root.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextToStage {
    pub(crate) path: String,
    /// The text; `None` if no file may be there.
    pub(crate) text: Option<Vec<u8>>,
    /// The modification time to give it.
    pub(crate) since: SystemTime,
}

impl CargoRecord {
    /// Waits until no other run uses the target folder, and reads its record.
    pub(crate) fn open(target: &Path, limit: Limit<'_>) -> Result<CargoRecord, CargoRecordError> {
        create_private(target)?;
        // The program may write to this folder, so what has the name may be a pipe or a link.
        let lock = regular::append(&target.join(".lockgate-lock"))?;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            if let Some(halt) = limit.reached() {
                return Err(CargoRecordError::Halted(halt));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        let record = match regular::read(&target.join(RECORD), LARGEST_RECORD) {
            Ok(text) => serde_json::from_slice(&text).ok(),
            Err(error) if error.kind() == ErrorKind::NotFound => Some(Record::default()),
            Err(_) => None,
        };
        let record = match record.filter(|record: &Record| record.is_sound(SystemTime::now())) {
            Some(record) => record,
            // Without the record no build result can be used.
            None => {
                remove_builds(target)?;
                Record::default()
            }
        };
        Ok(CargoRecord { target: target.to_owned(), record, _lock: lock })
    }

    /// Returns the texts to stage for a run: the given ones, and those staged earlier that differ from the
    /// disk. They are recorded first.
    pub(crate) fn plan(&mut self, root: &Path, staged: &[StagedPath<'_>]) -> io::Result<Vec<TextToStage>> {
        self.plan_with(root, staged, |last| replaced(root, last, MAX_ENTRIES))
    }

    /// Like [`Self::plan`], with a function that finds the files replaced since a time; it returns `None` if
    /// it cannot tell.
    fn plan_with(
        &mut self,
        root: &Path,
        staged: &[StagedPath<'_>],
        find: impl FnOnce(SystemTime) -> Option<Vec<String>>,
    ) -> io::Result<Vec<TextToStage>> {
        let mut plan: Vec<TextToStage> = Vec::new();
        // A file may be replaced after the search has passed it, and the next run must notice.
        let began = SystemTime::now() - TICK;
        let replaced = match self.record.last.map_or_else(|| Some(Vec::new()), find) {
            Some(replaced) => replaced,
            None => {
                remove_builds(&self.target)?;
                self.record = Record::default();
                Vec::new()
            }
        };
        self.record.last = Some(began);
        for StagedPath { path, text } in staged {
            let since = self.since(path, &text.map_or_else(String::new, hash));
            plan.push(TextToStage { path: (*path).to_owned(), text: text.map(<[u8]>::to_vec), since });
        }
        let real_root = root.canonicalize()?;
        let other_paths: BTreeSet<String> = self.record.texts.keys().cloned().chain(replaced).collect();
        for path in other_paths.into_iter().filter(|path| !staged.iter().any(|staged| staged.path == *path)) {
            let place = root.join(&path);
            // The program may have written the record: no path in it leads out of the project.
            let is_inside = place.canonicalize().is_ok_and(|place| place.starts_with(&real_root));
            let text = if is_inside { regular::read(&place, u64::MAX).ok() } else { None };
            let Some(text) = text else {
                // cargo notices by itself that a file was removed, or is no longer a regular file.
                self.record.texts.remove(&path);
                continue;
            };
            let since = self.since(&path, &hash(&text));
            if place.metadata()?.modified()? >= since {
                // It was written since: cargo uses its own time.
                self.record.texts.remove(&path);
            } else {
                plan.push(TextToStage { path, text: Some(text), since });
            }
        }
        replace_with_json(&self.target.join(RECORD), &self.record)?;
        Ok(plan)
    }

    /// Returns the time since which this text has been staged at a path, which may be the current time.
    fn since(&mut self, path: &str, hash: &str) -> SystemTime {
        let known = self.record.texts.get(path).filter(|known| known.hash == hash).map(|known| known.since);
        known.unwrap_or_else(|| {
            let since = SystemTime::now();
            self.record.texts.insert(path.to_owned(), RecordedText { hash: hash.to_owned(), since });
            since
        })
    }
}

/// Returns the files below a root, relative to it, that were replaced since a time by files with an older
/// time; `None` if there are more than `most` entries.
fn replaced(root: &Path, since: SystemTime, most: usize) -> Option<Vec<String>> {
    let (mut replaced, mut open, mut left) = (Vec::new(), vec![PathBuf::new()], most);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            left = left.checked_sub(1)?;
            let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
            let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else { continue };
            if kind.is_dir() && !name.starts_with('.') && !SKIPPED_FOLDERS.contains(&name) {
                open.push(path);
            } else if kind.is_file()
                && entry.metadata().is_ok_and(|found| is_replaced(&found, since))
                && let Some(path) = path.to_str()
            {
                replaced.push(path.to_owned());
            }
        }
    }
    Some(replaced)
}

/// Returns true if a file changed since a time although its modification time is older.
fn is_replaced(found: &Metadata, since: SystemTime) -> bool {
    let changed = u64::try_from(found.ctime()).ok().zip(u32::try_from(found.ctime_nsec()).ok());
    let changed = changed.map(|(seconds, nanos)| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos));
    found.len() <= LARGEST
        && changed.is_some_and(|changed| changed >= since)
        && found.modified().is_ok_and(|modified| modified < since)
}

/// Removes cargo's build results from a target folder.
fn remove_builds(target: &Path) -> io::Result<()> {
    for entry in fs::read_dir(target)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    Ok(())
}

fn hash(text: &[u8]) -> String {
    Version::hash(text).hex()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::Watch;

    fn staged<'a>(path: &'a str, text: &'a str) -> StagedPath<'a> {
        StagedPath { path, text: Some(text.as_bytes()) }
    }

    fn opened(target: &Path) -> CargoRecord {
        CargoRecord::open(target, Watch::idle().until(Instant::now() + Duration::from_secs(9))).unwrap()
    }

    /// The paths and texts that are staged for a run.
    fn shown(target: &Path, root: &Path, staged: &[StagedPath<'_>]) -> Vec<(String, String, SystemTime)> {
        let text = |showing: TextToStage| {
            let text = String::from_utf8(showing.text.unwrap_or_default()).unwrap();
            (showing.path, text, showing.since)
        };
        opened(target).plan(root, staged).unwrap().into_iter().map(text).collect()
    }

    #[test]
    fn what_was_shown_and_is_not_on_disk_is_followed_by_what_is_there() {
        let (target, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (target, root) = (target.path(), root.path());
        fs::write(root.join("a.rs"), "disk").unwrap();
        let first = shown(target, root, &[staged("a.rs", "draft"), staged("gone.rs", "draft")]);
        let next = shown(target, root, &[]);
        assert_eq!((next.len(), &next[0].0, &next[0].1), (1, &"a.rs".to_owned(), &"disk".to_owned()));
        assert!(next[0].2 > first[0].2, "it changed after the draft was shown");
        assert_eq!(shown(target, root, &[]), next, "and not again");
        let again = shown(target, root, &[staged("a.rs", "draft")]);
        assert!(again[0].2 > next[0].2);
        assert_eq!(shown(target, root, &[staged("a.rs", "draft")]), again, "the same draft is no change");
    }

    #[test]
    fn what_was_written_since_has_its_own_time() {
        let (target, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (target, root) = (target.path(), root.path());
        shown(target, root, &[staged("a.rs", "draft")]);
        std::thread::sleep(Duration::from_millis(20));
        fs::write(root.join("a.rs"), "draft").unwrap();
        assert!(shown(target, root, &[]).is_empty());
    }

    #[test]
    fn a_record_that_is_too_long_or_cannot_be_read_has_what_was_compiled_removed() {
        let (target, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (target, root) = (target.path(), root.path());
        let names: Vec<String> = (0..=MAX_TEXTS).map(|number| format!("{number}.rs")).collect();
        let many: Vec<StagedPath<'_>> = names.iter().map(|name| staged(name, "draft")).collect();
        let compiled = || {
            fs::create_dir_all(target.join("debug")).unwrap();
            drop(opened(target));
            target.join("debug").exists()
        };
        shown(target, root, &many[..MAX_TEXTS]);
        assert!(compiled());
        shown(target, root, &many);
        assert!(!compiled());
        fs::write(target.join(RECORD), "{").unwrap();
        assert!(!compiled());
    }

    #[test]
    fn a_file_that_was_replaced_by_an_older_one_is_shown_as_new() {
        let (target, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (target, root) = (target.path(), root.path());
        let before = SystemTime::now() - Duration::from_secs(3600);
        let write = |path: &str, text: &str, time: Option<SystemTime>| {
            let place = root.join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(&place, text).unwrap();
            time.into_iter().for_each(|time| File::open(&place).unwrap().set_modified(time).unwrap());
        };
        write("src/a.rs", "one", Some(before));
        write("target/b.rs", "one", Some(before));
        assert!(shown(target, root, &[]).is_empty(), "the first run");
        std::thread::sleep(Duration::from_millis(20));
        // Control: written since, with the current time.
        write("src/a.rs", "two", None);
        write("target/b.rs", "two", Some(before));
        assert!(shown(target, root, &[]).is_empty());
        std::thread::sleep(Duration::from_millis(20));
        write("src/a.rs", "six", Some(before));
        let first = shown(target, root, &[]);
        assert_eq!((first.len(), first[0].0.as_str(), first[0].1.as_str()), (1, "src/a.rs", "six"));
        assert!(first[0].2 > before);
        assert_eq!(shown(target, root, &[]), first, "as long as it has the older time");
        std::thread::sleep(Duration::from_millis(20));
        write("src/a.rs", "ten", None);
        let next = shown(target, root, &[]);
        assert_eq!((next.len(), next[0].1.as_str()), (1, "ten"));
        assert!(next[0].2 > first[0].2, "it changed once more");
    }

    #[test]
    fn a_file_that_is_replaced_behind_the_walk_is_found_by_the_next_run() {
        let before = SystemTime::now() - Duration::from_secs(3600);
        // Control: with the time after the search, the file is never noticed.
        for (is_noted_after, expected) in [(false, vec!["a.rs"]), (true, Vec::new())] {
            let (target, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let (target, root) = (target.path(), root.path());
            let write = |text: &str| {
                fs::write(root.join("a.rs"), text).unwrap();
                File::open(root.join("a.rs")).unwrap().set_modified(before).unwrap();
            };
            write("one");
            std::thread::sleep(TICK * 3);
            shown(target, root, &[]);
            std::thread::sleep(TICK * 3);
            let mut second = opened(target);
            let started = SystemTime::now();
            let walk = |last: SystemTime| {
                let found = replaced(root, last, MAX_ENTRIES);
                write("two");
                found
            };
            assert_eq!(second.plan_with(root, &[], walk).unwrap(), []);
            assert!(second.record.last.unwrap() <= SystemTime::now() - TICK);
            assert!(second.record.last.unwrap() >= started - TICK);
            if is_noted_after {
                std::thread::sleep(TICK * 3);
                second.record.last = Some(SystemTime::now());
                replace_with_json(&second.target.join(RECORD), &second.record).unwrap();
            }
            drop(second);
            let next = shown(target, root, &[]);
            assert_eq!(next.iter().map(|(path, ..)| path.as_str()).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn if_not_all_entries_can_be_read_the_compiled_files_are_removed() {
        let (target, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (target, root) = (target.path(), root.path());
        for name in ["a.rs", "b.rs", "c.rs"] {
            fs::write(root.join(name), "one").unwrap();
        }
        let now = SystemTime::now();
        assert_eq!(replaced(root, now, 2), None);
        assert_eq!(replaced(root, now, 3), Some(Vec::new()));
        shown(target, root, &[]);
        for (most, stays) in [(3, true), (2, false)] {
            fs::create_dir_all(target.join("debug")).unwrap();
            opened(target).plan_with(root, &[], |last| replaced(root, last, most)).unwrap();
            assert_eq!(target.join("debug").exists(), stays, "{most}");
        }
    }

    #[test]
    fn a_pipe_in_place_of_a_recorded_file_does_not_block() {
        let (target, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        shown(target.path(), root.path(), &[staged("a.rs", "draft")]);
        regular::make_pipe(&root.path().join("a.rs"));
        let (place, folder) = (root.path().to_owned(), target.path().to_owned());
        assert_eq!(regular::in_time(move || shown(&folder, &place, &[])), []);
        // Control: a file in that place is read.
        fs::remove_file(root.path().join("a.rs")).unwrap();
        shown(target.path(), root.path(), &[staged("a.rs", "draft")]);
        fs::write(root.path().join("a.rs"), "disk").unwrap();
        File::open(root.path().join("a.rs")).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(shown(target.path(), root.path(), &[])[0].1, "disk");
    }

    #[test]
    fn a_clock_that_was_set_back_has_what_was_compiled_removed() {
        let (target, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (target, root) = (target.path(), root.path());
        let is_compiled_after = |last: SystemTime| {
            shown(target, root, &[]);
            fs::create_dir_all(target.join("debug")).unwrap();
            let record = Record { last: Some(last), ..Record::default() };
            fs::write(target.join(RECORD), serde_json::to_vec(&record).unwrap()).unwrap();
            drop(opened(target));
            target.join("debug").exists()
        };
        let hour = Duration::from_secs(3600);
        assert!(is_compiled_after(SystemTime::now() - hour));
        assert!(!is_compiled_after(SystemTime::now() + hour));
    }

    #[test]
    fn one_run_at_a_time_uses_a_target_folder() {
        let target = tempfile::tempdir().unwrap();
        let first = opened(target.path());
        let watch = Watch::idle();
        let soon = watch.until(Instant::now() + Duration::from_millis(30));
        let error = CargoRecord::open(target.path(), soon).unwrap_err();
        assert!(matches!(error, CargoRecordError::Halted(Halt::TimedOut)), "{error:?}");
        drop(first);
        drop(opened(target.path()));
    }

    /// The program that a run starts may write to the target folder.
    #[test]
    fn what_a_program_leaves_in_place_of_the_record_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (root, target) = (folder.path().join("root"), folder.path().join("target"));
        let secret = folder.path().join("secret");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(&secret, "SECRET").unwrap();
        std::os::unix::fs::symlink(folder.path(), root.join("out")).unwrap();
        let mut record = opened(&target);
        fs::write(root.join("src/a.rs"), "old").unwrap();
        record.plan(&root, &[staged("src/a.rs", "new"), staged("out/secret", "new")]).unwrap();
        let planned = record.plan(&root, &[]).unwrap();
        let paths: Vec<&str> = planned.iter().map(|text| text.path.as_str()).collect();
        assert_eq!(paths, ["src/a.rs"], "what lies outside is not read");
        drop(record);
        fs::remove_file(target.join(RECORD)).unwrap();
        regular::make_pipe(&target.join(RECORD));
        let again = target.clone();
        regular::in_time(move || drop(opened(&again)));
        fs::remove_file(target.join(".lockgate-lock")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("made"), target.join(".lockgate-lock")).unwrap();
        let watch = Watch::idle();
        let refused = CargoRecord::open(&target, watch.until(Instant::now() + Duration::from_secs(9)));
        assert!(refused.is_err() && !folder.path().join("made").exists());
    }
}
