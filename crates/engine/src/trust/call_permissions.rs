//! The permissions of one call or audit, each found once.
//!
//! To find one, every program of the policy is looked up in the search path, which costs some forty system calls for each.
//!
//! Invariant: the files of one folder that have the same policy have the same permission.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::PathBuf;

use super::Trust;
use lockgate_checks::ExecPermission;
use lockgate_policy::{EffectiveRules, Policy};
use lockgate_store::{FileLocation, Files};
use lockgate_text::Version;

/// The permissions that were found for folders.
pub(crate) struct CallPermissions<'t> {
    trust: &'t Trust,
    files: &'t Files,
    known: Mutex<HashMap<FolderPolicy, ExecPermission>>,
}

/// A folder with its policy.
#[derive(PartialEq, Eq, Hash)]
struct FolderPolicy {
    root: PathBuf,
    /// The folder, relative to the root.
    folder: String,
    policy: Version,
}

impl<'t> CallPermissions<'t> {
    pub(crate) fn new(trust: &'t Trust, files: &'t Files) -> CallPermissions<'t> {
        CallPermissions { trust, files, known: Mutex::default() }
    }

    /// Decides if the commands of a place's policy may run, as [`Trust::grant`] does.
    pub(crate) fn grant(
        &self,
        place: &FileLocation,
        policy: &Policy,
        rules: &EffectiveRules<'_>,
    ) -> ExecPermission {
        let find = || self.trust.grant(self.files, place, policy, rules);
        let Ok(root) = self.files.root_path(place) else { return find() };
        if !rules.rules.iter().any(|rule| rule.gate.runs_program()) {
            return find();
        }
        let folder = place.in_root().rsplit_once('/').map_or("", |(folder, _)| folder);
        let key = FolderPolicy { root: root.to_owned(), folder: folder.to_owned(), policy: policy.version };
        let known = || self.known.lock();
        if let Some(permission) = known().get(&key) {
            return permission.clone();
        }
        let permission = find();
        known().insert(key, permission.clone());
        permission
    }
}
