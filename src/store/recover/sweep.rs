//! Staged copies that no journal names: those of edits that were not written down, and those that could not be removed.
//!
//! A name and an age do not say whose a file is.
//!
//! Invariant: only what is old, named as a staged copy and to be had elsewhere is removed, and only under the lock of its target.

use super::look::PathContent;
use crate::store::document_path::LockKey;
use crate::store::folder::Folder;
use crate::store::locks::Locks;
use crate::store::publish::{may_be_cut, target_of};
use crate::store::root::Root;
use crate::text::Version;
use rustix::fs::FileType;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A younger one may be of somebody who is at work without a journal.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// What the journal knows, by which a staged copy is told from a file that only looks like one.
pub(in crate::store) struct JournalNames<'a> {
    /// Whether an edit that is under way has a staged copy of that name; asked after the folder was listed.
    pub is_named: &'a dyn Fn(&str) -> bool,
    /// Whether the journal has a text.
    pub is_kept: &'a dyn Fn(Version) -> bool,
}

/// Removes staged copies that were left in a folder beneath a root and that no edit in the journal names, where their text
/// is to be had elsewhere: in the journal, or under the target's name. Gives back what a person should know.
pub(in crate::store) fn sweep(
    roots: &[Root],
    locks: &Locks,
    root: usize,
    folder: &str,
    known: &JournalNames<'_>,
) -> Vec<String> {
    older(roots, locks, (root, folder), known, OLD)
}

/// The same of those that are at least so old.
pub(super) fn older(
    roots: &[Root],
    locks: &Locks,
    (root, folder): (usize, &str),
    known: &JournalNames<'_>,
    age: Duration,
) -> Vec<String> {
    let in_place = roots.get(root).filter(|root| root.check_in_place().is_ok());
    let opened = in_place.and_then(|root| root.folder(folder).ok());
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
        let Some(target) = target_of(&name) else { continue };
        let held = locks.try_hold(&[LockKey::below(identity, target)]);
        if held.is_none() || !is_old(&opened, &name, age) || (known.is_named)(&name) {
            continue;
        }
        let shown = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if !is_elsewhere(&opened, &name, target, &shown, known) {
            notes.push(format!(
                "{shown} has the name of a staged copy, and a text that is nowhere else: remove it if nobody needs it"
            ));
        } else if opened.unlink(&name).is_ok() {
            notes.push(format!("a staged copy that was left behind was removed: {shown}"));
        }
    }
    notes
}

/// Whether nothing is lost with a file: its text is under the target's name, or in the journal.
fn is_elsewhere(folder: &Folder, name: &str, target: &str, shown: &str, known: &JournalNames<'_>) -> bool {
    let stamp = |name| PathContent::read(folder, name, shown).ok().and_then(|text| text.stamp());
    stamp(name).is_some_and(|text| stamp(target) == Some(text) || (known.is_kept)(text))
}

fn is_old(folder: &Folder, name: &str, least: Duration) -> bool {
    let Ok(stat) = folder.stat(name) else { return false };
    let changed = u64::try_from(stat.st_ctime).map(Duration::from_secs);
    let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(UNIX_EPOCH + changed).ok());
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && age.is_some_and(|age| age >= least)
}
