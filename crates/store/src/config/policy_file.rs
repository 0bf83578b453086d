//! Finds the policy of a path: the nearest policy file from its folder up to the root.
//!
//! Invariant: an existing policy file is read whole or is an error; none is skipped because it could not be
//! read, and none applies that an edit could change.

use super::ancestors::{candidates, candidates_above, upwards};
use super::file;
use crate::disk::fingerprint::FileFingerprint;
use crate::disk::folder::is_regular;
use crate::paths::access;
use crate::paths::file_location::{FileLocation, join};
use crate::paths::folder_names::POLICY_NAMES;
use crate::paths::root::{Root, named};
use cap_std::fs::Dir;
use lockgate_error::{Code, Error};
use parking_lot::Mutex;
use rustix::fs::AtFlags;
use std::collections::HashMap;
use std::path::Path;
use std::time::SystemTime;

/// The most texts that are known; above this, all are read again when needed.
const MAX_KNOWN: usize = 64;

/// A policy file and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyText {
    /// Its displayed name: relative below the first root, else absolute.
    pub name: String,
    /// Its path relative to its root.
    pub in_root: String,
    /// The folder to which it applies, relative to that root; empty for the root itself.
    pub folder: String,
    /// The text of the policy.
    pub text: String,
    root: usize,
}

/// The texts of policy files that were read, each with the fingerprint that proves that it is current.
#[derive(Debug, Default)]
pub(crate) struct KnownPolicies(Mutex<HashMap<(usize, String), (FileFingerprint, String)>>);

impl KnownPolicies {
    /// The text of a regular file, if it is known and current.
    fn text(&self, root: &Root, index: usize, in_root: &str) -> Option<String> {
        let known = self.0.lock().get(&(index, in_root.to_owned())).cloned();
        let (fingerprint, text) = known?;
        (current(root.dir(), in_root)? == fingerprint).then_some(text)
    }

    fn insert(&self, index: usize, in_root: &str, fingerprint: FileFingerprint, text: &str) {
        let mut entries = self.0.lock();
        if entries.len() >= MAX_KNOWN {
            entries.clear();
        }
        entries.insert((index, in_root.to_owned()), (fingerprint, text.to_owned()));
    }
}

/// The fingerprint of the regular file at a path.
fn current(dir: &Dir, in_root: &str) -> Option<FileFingerprint> {
    let stat = rustix::fs::statat(dir, in_root, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    is_regular(&stat).then(|| FileFingerprint::from_stat(&stat))
}

/// Returns the policy file nearest to a path, of those in the folders that are wanted. One that is a regular file in its
/// folder is read only if it has changed.
pub(crate) fn nearest(
    roots: &[Root],
    known: &KnownPolicies,
    place: &FileLocation,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Option<PolicyText>, Error> {
    let Some(root) = roots.get(place.root) else { return Ok(None) };
    let is_plain = |folder: &str, name: &str| {
        let depth = folder.split('/').filter(|name| !name.is_empty()).count();
        POLICY_NAMES.first() == Some(&name)
            && place.configs.get(depth).is_some_and(|configs| configs.has_plain_policy())
    };
    let candidates = candidates_above(root, place, POLICY_NAMES);
    first(candidates.into_iter().filter(|(folder, _)| is_wanted(folder)), |folder, name| {
        if is_plain(folder, name) {
            read_known(roots, known, place.root, folder, join(folder, name))
        } else {
            read(roots, place.root, folder, join(folder, name))
        }
    })
}

/// Returns the policy file for the base of the first root: the root itself, or a folder below it.
pub(crate) fn at_top(roots: &[Root]) -> Result<Option<PolicyText>, Error> {
    upward(roots, 0, roots.first().map_or("", Root::base))
}

/// Returns the next policy file above the folder of this one.
pub(crate) fn above(roots: &[Root], below: &PolicyText) -> Result<Option<PolicyText>, Error> {
    match upwards(&below.folder).nth(1) {
        Some(folder) => upward(roots, below.root, folder),
        None => Ok(None),
    }
}

/// Returns the first policy file from a folder up to the root.
fn upward(roots: &[Root], index: usize, folder: &str) -> Result<Option<PolicyText>, Error> {
    let Some(root) = roots.get(index) else { return Ok(None) };
    let candidates = candidates(root, folder, POLICY_NAMES);
    first(candidates.into_iter(), |folder, name| read(roots, index, folder, join(folder, name)))
}

/// Returns the first policy file that `read` finds under the names of some folders.
fn first<'p>(
    candidates: impl Iterator<Item = (&'p str, Vec<&'static str>)>,
    read: impl Fn(&str, &str) -> Result<Option<PolicyText>, Error>,
) -> Result<Option<PolicyText>, Error> {
    for (folder, names) in candidates {
        for name in names {
            if let Some(found) = read(folder, name)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// Does the same as [`read`] for a regular file, but reads it only if its text is not known, or has changed.
fn read_known(
    roots: &[Root],
    known: &KnownPolicies,
    index: usize,
    folder: &str,
    in_root: String,
) -> Result<Option<PolicyText>, Error> {
    let Some(root) = roots.get(index) else { return Ok(None) };
    if let Some(text) = known.text(root, index, &in_root) {
        return Ok(Some(policy_text(roots, index, folder, in_root, text)));
    }
    let began = SystemTime::now();
    let before = current(root.dir(), &in_root);
    let Some(found) = read(roots, index, folder, in_root)? else { return Ok(None) };
    let after = current(root.dir(), &found.in_root).filter(|after| before == Some(*after));
    if let Some(fingerprint) = after.and_then(|fingerprint| fingerprint.settled(began, root.dir())) {
        known.insert(index, &found.in_root, fingerprint, &found.text);
    }
    Ok(Some(found))
}

/// Reads the policy of a folder from the file of this path; `None` if there is no such entry.
fn read(roots: &[Root], index: usize, folder: &str, in_root: String) -> Result<Option<PolicyText>, Error> {
    let Some(root) = roots.get(index) else { return Ok(None) };
    let refused = |reason: String| invalid(&shown(roots, index, &in_root), &reason);
    let Some(text) = file::read(root.dir(), &in_root).map_err(refused)? else { return Ok(None) };
    refuse_unguarded(root.dir(), folder, &in_root).map_err(refused)?;
    Ok(Some(policy_text(roots, index, folder, in_root, text)))
}

fn policy_text(roots: &[Root], index: usize, folder: &str, in_root: String, text: String) -> PolicyText {
    let name = shown(roots, index, &in_root);
    PolicyText { name, in_root, folder: folder.to_owned(), text, root: index }
}

fn shown(roots: &[Root], index: usize, in_root: &str) -> String {
    named(roots, index, in_root).unwrap_or_else(|| in_root.to_owned())
}

/// Fails for a policy behind a symlink whose target could be edited, because the edits that it judges could
/// change it.
///
/// A target is guarded if its own name is protected, or if the link lies above it.
fn refuse_unguarded(dir: &Dir, above: &str, name: &str) -> Result<(), String> {
    if file::links(dir, name).next().is_none() {
        return Ok(());
    }
    let real = dir.canonicalize(name).map_err(|error| error.to_string())?;
    let real = real.to_str().ok_or("it is a symlink to a name that is not UTF-8")?;
    if access::rule_for(real).is_some() || Path::new(real).starts_with(above) {
        return Ok(());
    }
    Err(format!(
        "it is a symlink to {real}, which may be edited like any file; ask a person to name the target quality.yaml"
    ))
}

fn invalid(name: &str, reason: &str) -> Error {
    Error::new(Code::PolicyInvalid, format!("the policy {name} cannot be read: {reason}"))
}
