//! Staged copies that no journal names: a power cut can leave them, where it took the entry with it.
//!
//! Invariant: only what is old and named as a staged copy is removed, and only under the lock of its target.

use crate::store::locks::Locks;
use crate::store::place::Key;
use crate::store::publish::{may_be_cut, target_of};
use crate::store::root::Root;
use rustix::fs::FileType;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A younger one may be of somebody who is at work without a journal.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes staged copies that were left in a folder beneath a root and that no edit in the journal names, which is asked
/// after the folder was listed; gives back what a person should know.
pub(in crate::store) fn sweep(
    roots: &[Root],
    locks: &Locks,
    root: usize,
    folder: &str,
    is_named: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let opened = roots.get(root).and_then(|root| root.folder(folder).ok());
    let Some((opened, identity)) = opened.and_then(|opened| opened.identity().ok().map(|it| (opened, it)))
    else {
        return Vec::new();
    };
    let mut names = Vec::new();
    let listed = opened.each(|_, kind, name| {
        if matches!(kind, FileType::RegularFile | FileType::Unknown)
            && target_of(name).is_some()
            && !may_be_cut(name)
        {
            names.push(name.to_owned());
        }
        Ok(())
    });
    if listed.is_err() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    for name in names {
        let held = target_of(&name).and_then(|target| locks.try_hold(&[Key::below(identity, target)]));
        let is_left = held.is_some() && is_old(&opened, &name) && !is_named(&name);
        if is_left && opened.unlink(&name).is_ok() {
            notes.push(format!("a staged copy that a power cut had left was removed: {folder}/{name}"));
        }
    }
    notes
}

fn is_old(folder: &crate::store::folder::Folder, name: &str) -> bool {
    let Ok(stat) = folder.stat(name) else { return false };
    let changed = u64::try_from(stat.st_ctime).map(Duration::from_secs);
    let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(UNIX_EPOCH + changed).ok());
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && age.is_some_and(|age| age >= OLD)
}
