//! Removes staged copies that no journal names: those of unrecorded edits, and those that could not be
//! removed.
//!
//! Name and age alone do not prove who owns a file.
//!
//! Invariant: only a file that is old, has a staged name and whose text exists elsewhere is removed, and only
//! under the lock of its target.

use super::inspect::PathContent;
use crate::disk::folder::{Folder, is_regular};
use crate::files::Files;
use crate::lock_key::LockKey;
use crate::locks::Locks;
use crate::paths::file_location::join;
use crate::staged_name::{may_be_cut, target_of};
use lockgate_text::Version;
use rustix::fs::FileType;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The age of a copy that is removed. A younger file may belong to a process that works without a journal.
pub(super) const MIN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The journal's knowledge that distinguishes a staged copy from a file that only looks like one.
pub(super) struct JournalNames<'a> {
    /// True if an edit in progress has a staged copy of that name; called after the folder was listed.
    pub is_named: &'a dyn Fn(&str) -> bool,
    /// True if the journal has a text of this version.
    pub is_kept: &'a dyn Fn(Version) -> bool,
}

impl Files {
    /// Removes from a folder in the root of that number the staged copies of at least this age that no edit in its
    /// journal names, if their text exists elsewhere: in the journal, or under the target's name. Returns notes for
    /// the user.
    pub(super) fn sweep(
        &self,
        locks: &Locks,
        (root, folder): (usize, &str),
        known: &JournalNames<'_>,
        age: Duration,
    ) -> Vec<String> {
        let in_place = self.roots.get(root).filter(|root| root.check_in_place().is_ok());
        let opened = in_place.and_then(|root| root.folder(folder).ok());
        let Some((opened, identity)) =
            opened.and_then(|opened| opened.identity().ok().map(|it| (opened, it)))
        else {
            return Vec::new();
        };
        let mut notes = Vec::new();
        for name in staged_names(&opened).unwrap_or_default() {
            let Some(target) = target_of(&name) else { continue };
            let guard = locks.try_hold(&[LockKey::below(identity, target)]);
            if guard.is_none() || !is_old(&opened, &name, age) || (known.is_named)(&name) {
                continue;
            }
            let shown = join(folder, &name);
            if !is_elsewhere(&opened, &name, target, &shown, known) {
                notes.push(format!(
                    "{shown} has the name of a staged copy and a text that exists nowhere else; remove it if you do not need it"
                ));
            } else if opened.unlink(&name).is_ok() {
                notes.push(format!("a leftover staged copy was removed: {shown}"));
            }
        }
        notes
    }
}

/// Returns the staged names in a folder that have the whole name of their target.
fn staged_names(folder: &Folder) -> rustix::io::Result<Vec<String>> {
    let mut names = Vec::new();
    folder.each(|_, kind, name| {
        let may_be_file = matches!(kind, FileType::RegularFile | FileType::Unknown);
        if may_be_file && target_of(name).is_some() && !may_be_cut(name) {
            names.push(name.to_owned());
        }
        Ok(())
    })?;
    Ok(names)
}

/// True if removing the file loses nothing: its text is under the target's name, or in the journal.
fn is_elsewhere(folder: &Folder, name: &str, target: &str, shown: &str, known: &JournalNames<'_>) -> bool {
    let version = |name| PathContent::read(folder, name, shown).ok().and_then(|text| text.version());
    version(name).is_some_and(|text| version(target) == Some(text) || (known.is_kept)(text))
}

fn is_old(folder: &Folder, name: &str, least: Duration) -> bool {
    let Ok(stat) = folder.stat(name) else { return false };
    let changed = u64::try_from(stat.st_ctime).map(Duration::from_secs);
    let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(UNIX_EPOCH + changed).ok());
    is_regular(&stat) && age.is_some_and(|age| age >= least)
}
