//! Trust: decides if the programs of a policy may run.
//!
//! Trust is given for one text of a policy, with all that it includes, and for the programs that its commands
//! resolved to at that time. `lockgate trust` records it; `--trust` gives it for one process.
//!
//! Invariant: permission is granted for the policy and the programs as they are at that moment, or not at
//! all. Any difference from the trusted state ends the trust until a person renews it.

mod call_permissions;
mod commands;
mod record;

use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use dashmap::DashMap;

pub(super) use self::call_permissions::CallPermissions;
pub use self::commands::Commands;
use self::commands::subject;
pub use self::record::ShownCommands;
use self::record::TrustRecord;
use super::caches::{BoundSchedule, shared};
use lockgate_checks::{ExecPermission, ResolvedPrograms, SearchPath, sanitize, search_path};
use lockgate_error::Error;
use lockgate_policy::{EffectiveRules, Policy};
use lockgate_store::{Cache, FileLocation, Files, PolicyFile, RecordSubject, StateFolder};

/// The source of trust in commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TrustOverride {
    /// Records of `lockgate trust`, each for one policy and valid until something changes.
    #[default]
    Recorded,
    /// All policies that existed when this process began, each as it was when first needed.
    Process,
}

/// The trust records and the state folder of a workspace.
#[derive(Debug)]
pub(super) struct Trust {
    trust_override: TrustOverride,
    started_at: SystemTime,
    roots: Vec<PathBuf>,
    path: OsString,
    state: StateFolder,
    bound_schedule: BoundSchedule,
    /// The caches that calls use now, by root.
    caches: Mutex<HashMap<PathBuf, Weak<Cache>>>,
    process_records: DashMap<RecordSubject, TrustRecord>,
}

impl Trust {
    /// Creates the trust of a workspace.
    pub(super) fn new(trust_override: TrustOverride, files: &Files, state: StateFolder) -> Trust {
        Trust {
            trust_override,
            started_at: SystemTime::now(),
            roots: files.root_paths(),
            path: search_path(),
            state,
            bound_schedule: BoundSchedule::default(),
            caches: Mutex::default(),
            process_records: DashMap::new(),
        }
    }

    /// Decides if the commands of a place's policy may run, with the programs as they are now; `rules` are
    /// the effective rules of the place.
    pub(super) fn grant(
        &self,
        files: &Files,
        place: &FileLocation,
        policy: &Policy,
        rules: &EffectiveRules<'_>,
    ) -> ExecPermission {
        if !rules.rules.iter().any(|rule| rule.gate.runs_program()) {
            return ExecPermission::Untrusted("there is no command to run".to_owned());
        }
        let commands = match self.commands(files, place, policy) {
            Ok(commands) => commands,
            Err(error) => return ExecPermission::Untrusted(sanitize(&error.message)),
        };
        match self.missing_trust(&commands) {
            None => ExecPermission::Granted(commands.programs),
            Some(why) => ExecPermission::Untrusted(why),
        }
    }

    /// Records that a person trusts these commands; `shown` is the text in which they were displayed.
    pub(super) fn record(&self, commands: &Commands, shown: &str) -> Result<(), Error> {
        self.state.write(commands.subject(), &TrustRecord::new(commands).with_shown(shown).to_json()?)
    }

    /// Returns what the person was shown who trusted the commands of this policy, even if they changed since.
    pub(super) fn shown(&self, commands: &Commands) -> Option<ShownCommands> {
        let bytes = self.state.read(commands.subject()).ok()??;
        TrustRecord::read(&bytes).ok()?.shown(commands)
    }

    /// Deletes the records of the policy of a folder, or of all policies of the roots, and returns the number
    /// of records.
    pub(super) fn revoke(&self, files: &Files, path: Option<&str>) -> Result<usize, Error> {
        let Some(path) = path else {
            return self.roots.iter().map(|root| self.state.remove_root(root)).sum();
        };
        let place = files.find_folder(path)?;
        let policy_files = files.policy_files(&place)?;
        self.state.remove(subject(files.root_path(&place)?, &policy_files))
    }

    /// Returns the cache folder for the tools of a place's root if they may run, and creates it if needed. It
    /// is not removed while the result is held.
    pub(super) fn cache(
        &self,
        files: &Files,
        place: &FileLocation,
        permission: &ExecPermission,
    ) -> Option<Arc<Cache>> {
        let ExecPermission::Granted(_) = permission else { return None };
        let root = files.root_path(place).ok()?;
        shared(&self.caches, root, || {
            self.bound_schedule.bound(&self.state);
            let cache = self.state.cache(root);
            cache.inspect_err(|why| tracing::debug!(%why, "tools have no cache")).ok()
        })
    }

    /// Returns the commands of a place's policy.
    pub(super) fn commands(
        &self,
        files: &Files,
        place: &FileLocation,
        policy: &Policy,
    ) -> Result<Commands, Error> {
        let (root, files) = (files.root_path(place)?.to_owned(), files.policy_files(place)?);
        let folder = root.join(files.first().map_or("", |file| file.folder.as_str()));
        let folders: Vec<PathBuf> =
            folder.ancestors().take_while(|above| above.starts_with(&root)).map(Path::to_owned).collect();
        let search = SearchPath { folders: &folders, roots: &self.roots, path: &self.path };
        let programs = ResolvedPrograms::find(policy.commands(), &search);
        Ok(Commands { root, files, version: policy.version, programs })
    }

    /// Returns the reason why these commands may not run now; `None` if they may.
    pub(super) fn missing_trust(&self, commands: &Commands) -> Option<String> {
        let why = match self.trust_override {
            TrustOverride::Recorded => self.check_record(commands),
            // Trust that a person has recorded since the start counts as well.
            TrustOverride::Process => {
                self.check_override(commands).filter(|_| self.check_record(commands).is_some())
            }
        };
        why.map(|why| sanitize(&why))
    }

    fn check_record(&self, commands: &Commands) -> Option<String> {
        let record = match self.state.read(commands.subject()) {
            Ok(None) => return Some(format!("the commands of {} are not trusted", commands.describe())),
            Ok(Some(bytes)) => TrustRecord::read(&bytes),
            Err(why) => Err(why),
        };
        match record {
            Ok(record) => record.ended_because(commands),
            Err(why) => Some(format!("the trust record is ignored: it {why}")),
        }
    }

    fn check_override(&self, commands: &Commands) -> Option<String> {
        let is_late = |file: &&PolicyFile| file.changed.is_none_or(|when| when > self.started_at);
        if let Some(late) = commands.files.iter().find(is_late) {
            let name = &late.name;
            return Some(format!(
                "{name} changed after this process started, and `--trust` covers only what existed then"
            ));
        }
        self.process_records
            .entry(commands.subject())
            .or_insert_with(|| TrustRecord::new(commands))
            .ended_because(commands)
    }
}
