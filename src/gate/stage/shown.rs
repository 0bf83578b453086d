//! The texts that cargo last compiled, where they may not be those on disk.
//!
//! cargo takes a crate for unchanged when no file of it is newer than what it was compiled to. After a draft was compiled
//! in the place of a file, the target folder holds the draft's crate, and the file on disk is older than that. So each text
//! that was shown is written down beside the target folder with the time at which it was shown first. A later run is shown
//! the same text as one of that time, and another text as one that changed just now. With that, one target folder serves
//! all runs, and cargo compiles again what changed and no more.
//!
//! Invariant: a file is left to its time on disk only where its text was not replaced since, or was written later; and while
//! a run goes on, nobody else uses the target folder.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{Staged, private_folder};
use crate::gate::watch::{Halt, Limit};
use crate::text::Stamp;

/// The variable by which cargo is told where it keeps what it compiled.
pub(in crate::gate) const TARGET: &str = "CARGO_TARGET_DIR";
/// The file in a target folder in which it is written down what was shown.
const RECORD: &str = ".lockgate-shown.json";
/// How long a wait for the target folder lasts before the limit is looked at again.
const TURN: Duration = Duration::from_millis(10);

/// The most texts that are written down; where they are more, what was compiled is removed.
const MOST_TEXTS: usize = 200;

/// The texts that were shown to the runs in a target folder, while one of them goes on.
#[derive(Debug)]
pub(in crate::gate) struct Shown {
    target: PathBuf,
    texts: BTreeMap<String, Text>,
    _lock: File,
}

/// What was shown last at a path below the root.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Text {
    hash: String,
    /// When this text was shown first, after another one.
    since: SystemTime,
}

/// What a run is to be shown at a path below the root.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::gate) struct Showing {
    pub(in crate::gate) path: String,
    /// Its text; nothing where no file is to be seen.
    pub(in crate::gate) text: Option<Vec<u8>>,
    /// When it changed.
    pub(in crate::gate) since: SystemTime,
}

impl Shown {
    /// Waits until no other run uses the target folder, and reads what it was shown.
    ///
    /// Errors: those of the limit inside, those of the disk outside.
    pub(in crate::gate) fn open(target: &Path, limit: Limit<'_>) -> io::Result<Result<Shown, Halt>> {
        private_folder(target)?;
        let mut options = OpenOptions::new();
        let lock = options.create(true).append(true).mode(0o600).open(target.join(".lockgate-lock"))?;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
            if let Some(halt) = limit.reached() {
                return Ok(Err(halt));
            }
            std::thread::sleep(TURN);
        }
        let texts = match fs::read(target.join(RECORD)) {
            Ok(text) => serde_json::from_slice(&text).ok(),
            Err(error) if error.kind() == ErrorKind::NotFound => Some(BTreeMap::new()),
            Err(error) => return Err(error),
        };
        let texts = match texts.filter(|texts: &BTreeMap<String, Text>| texts.len() <= MOST_TEXTS) {
            Some(texts) => texts,
            // Without the record nothing of what was compiled can be used.
            None => {
                forget(target)?;
                BTreeMap::new()
            }
        };
        Ok(Ok(Shown { target: target.to_owned(), texts, _lock: lock }))
    }

    /// Gives what a run is to be shown that is asked about these texts: those, and what was shown before and is not on disk.
    /// It is written down before it is given.
    pub(in crate::gate) fn plan(&mut self, root: &Path, staged: &[Staged<'_>]) -> io::Result<Vec<Showing>> {
        let mut plan: Vec<Showing> = Vec::new();
        for Staged { path, text } in staged {
            let since = self.since(path, &text.map_or_else(String::new, hash));
            plan.push(Showing { path: (*path).to_owned(), text: text.map(<[u8]>::to_vec), since });
        }
        let others: Vec<String> = self.texts.keys().cloned().collect();
        for path in others.into_iter().filter(|path| !staged.iter().any(|staged| staged.path == *path)) {
            let place = root.join(&path);
            let Ok(text) = fs::read(&place) else {
                // cargo sees by itself that a file is gone.
                self.texts.remove(&path);
                continue;
            };
            let since = self.since(&path, &hash(&text));
            if place.metadata()?.modified()? >= since {
                // It was written since: cargo goes by its own time.
                self.texts.remove(&path);
            } else {
                plan.push(Showing { path, text: Some(text), since });
            }
        }
        self.write()?;
        Ok(plan)
    }

    /// Since when this text has been shown at a path, which may be just now.
    fn since(&mut self, path: &str, hash: &str) -> SystemTime {
        let known = self.texts.get(path).filter(|known| known.hash == hash).map(|known| known.since);
        known.unwrap_or_else(|| {
            let since = SystemTime::now();
            self.texts.insert(path.to_owned(), Text { hash: hash.to_owned(), since });
            since
        })
    }

    fn write(&self) -> io::Result<()> {
        let mut whole = tempfile::NamedTempFile::new_in(&self.target)?;
        serde_json::to_writer(&mut whole, &self.texts).map_err(io::Error::from)?;
        whole.persist(self.target.join(RECORD)).map(drop).map_err(|error| error.error)
    }
}

/// Removes what was compiled.
fn forget(target: &Path) -> io::Result<()> {
    for entry in fs::read_dir(target)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

fn hash(text: &[u8]) -> String {
    Stamp::of(text).hex()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::gate::Watch;

    fn staged<'a>(path: &'a str, text: &'a str) -> Staged<'a> {
        Staged { path, text: Some(text.as_bytes()) }
    }

    fn opened(target: &Path) -> Shown {
        Shown::open(target, Watch::idle().until(Instant::now() + Duration::from_secs(9))).unwrap().unwrap()
    }

    /// The paths and texts that a run is shown.
    fn shown(target: &Path, root: &Path, staged: &[Staged<'_>]) -> Vec<(String, String, SystemTime)> {
        let text = |showing: Showing| {
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
        let names: Vec<String> = (0..=MOST_TEXTS).map(|number| format!("{number}.rs")).collect();
        let many: Vec<Staged<'_>> = names.iter().map(|name| staged(name, "draft")).collect();
        let compiled = || {
            fs::create_dir_all(target.join("debug")).unwrap();
            drop(opened(target));
            target.join("debug").exists()
        };
        shown(target, root, &many[..MOST_TEXTS]);
        assert!(compiled());
        shown(target, root, &many);
        assert!(!compiled());
        fs::write(target.join(RECORD), "{").unwrap();
        assert!(!compiled());
    }

    #[test]
    fn one_run_at_a_time_uses_a_target_folder() {
        let target = tempfile::tempdir().unwrap();
        let first = opened(target.path());
        let watch = Watch::idle();
        let soon = watch.until(Instant::now() + Duration::from_millis(30));
        assert_eq!(Shown::open(target.path(), soon).unwrap().unwrap_err(), Halt::TimedOut);
        drop(first);
        drop(opened(target.path()));
    }
}
