//! Persists short texts by key between processes, in one file for each root.
//!
//! Programs of gates can access the folder only if no sandbox isolates them.
//!
//! Invariant: a file is replaced atomically, and trusted only if no other user can have written it. The
//! number of notes for a root is bounded.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::replace_with_json;
use lockgate_sandbox::create_private;
use lockgate_text::Version;

/// The largest number of notes for a root; the oldest are dropped first.
const MAX_NOTES: usize = 4096;
/// The largest file that is read, in bytes.
const LARGEST: u64 = 2 << 20;

/// A text, and the time at which it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// The time at which it was recorded.
    pub(crate) since: SystemTime,
    pub(crate) text: String,
}

/// The folder that holds the files of notes.
#[derive(Debug)]
pub(crate) struct Notes(PathBuf);

impl Notes {
    /// Uses a folder for notes, which is made on the first write.
    pub(crate) fn in_folder(folder: PathBuf) -> Notes {
        Notes(folder)
    }

    /// Reads the notes of a root; a file that is missing, damaged or untrusted counts as empty.
    pub(crate) fn read(&self, root: &Path) -> BTreeMap<String, Note> {
        let text = read(&self.0, &self.file(root)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Adds notes for a root, and drops its notes that are older than this.
    pub(crate) fn add(&self, root: &Path, notes: Vec<(String, Note)>, life: Duration) -> io::Result<()> {
        let mut all = self.read(root);
        all.extend(notes);
        let now = SystemTime::now();
        all.retain(|_, note| now.duration_since(note.since).is_ok_and(|age| age < life));
        if all.len() > MAX_NOTES {
            let mut times: Vec<SystemTime> = all.values().map(|note| note.since).collect();
            times.sort_unstable_by(|one, other| other.cmp(one));
            let oldest = times.get(MAX_NOTES).copied().unwrap_or(now);
            all.retain(|_, note| note.since > oldest);
        }
        create_private(&self.0)?;
        replace_with_json(&self.file(root), &all)
    }

    fn file(&self, root: &Path) -> PathBuf {
        let name = Version::hash(root.as_os_str().as_encoded_bytes()).hex();
        self.0.join(format!("{name}.json"))
    }
}

/// Reads a file, if only this user can write to it and to its folder.
fn read(folder: &Path, path: &Path) -> io::Result<Vec<u8>> {
    let (folder_metadata, file_metadata) = (fs::symlink_metadata(folder)?, fs::symlink_metadata(path)?);
    let user = rustix::process::geteuid().as_raw();
    let is_ours = |found: &Metadata| found.uid() == user && found.mode() & 0o022 == 0;
    if !(folder_metadata.is_dir()
        && file_metadata.is_file()
        && is_ours(&folder_metadata)
        && is_ours(&file_metadata))
    {
        return Err(io::Error::other("another user may have written it"));
    }
    let mut text = Vec::new();
    File::open(path)?.take(LARGEST).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn note(since: SystemTime) -> Note {
        Note { since, text: "text".to_owned() }
    }

    fn add(notes: &Notes, key: &str, since: SystemTime) {
        notes.add(Path::new("/root"), vec![(key.to_owned(), note(since))], DAY).unwrap();
    }

    fn keys(notes: &Notes) -> Vec<String> {
        notes.read(Path::new("/root")).into_keys().collect()
    }

    #[test]
    fn notes_are_dropped_when_their_time_is_over_or_has_not_come() {
        let folder = tempfile::tempdir().unwrap();
        let notes = Notes::in_folder(folder.path().join("notes"));
        let now = SystemTime::now();
        add(&notes, "old", now - DAY);
        add(&notes, "future", now + DAY);
        add(&notes, "kept", now);
        assert_eq!(keys(&notes), ["kept"]);
        assert!(notes.read(Path::new("/other")).is_empty());
    }

    #[test]
    fn the_oldest_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let notes = Notes::in_folder(folder.path().join("notes"));
        let now = SystemTime::now();
        let aged = |age: usize| (format!("{age:05}"), note(now - Duration::from_secs(age as u64)));
        notes.add(Path::new("/root"), (0..MAX_NOTES + 10).map(aged).collect(), DAY).unwrap();
        let keys = keys(&notes);
        assert_eq!((keys.len(), keys.first().map(String::as_str)), (MAX_NOTES, Some("00000")));
    }

    #[test]
    fn what_others_may_have_written_counts_as_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("notes");
        let notes = Notes::in_folder(own.clone());
        add(&notes, "kept", SystemTime::now());
        let file = notes.file(Path::new("/root"));
        let set_mode =
            |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        for (path, doubtful, sound) in [(&file, 0o666, 0o600), (&own, 0o777, 0o700)] {
            set_mode(path, doubtful);
            assert!(keys(&notes).is_empty(), "{}", path.display());
            set_mode(path, sound);
            assert_eq!(keys(&notes), ["kept"], "the control");
        }
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&file, &elsewhere).unwrap();
        symlink(&elsewhere, &file).unwrap();
        assert!(keys(&notes).is_empty(), "a link");
        add(&notes, "next", SystemTime::now());
        assert_eq!(keys(&notes), ["next"], "it takes the place of the link");
        fs::write(&file, "{").unwrap();
        assert!(keys(&notes).is_empty());
    }
}
