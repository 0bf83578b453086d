//! Trust: decides if the programs of a policy may run.
//!
//! Trust is given for one text of a policy, with all that it includes, and for the programs that its commands
//! resolved to at that time. `lockgate trust` records it; `--trust` gives it for one process.
//!
//! Invariant: permission is granted for the policy and the programs as they are at that moment, or not at
//! all. Any difference from the trusted state ends the trust until a person renews it.

mod record;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::SystemTime;

use dashmap::DashMap;

use self::record::TrustRecord;
use super::Workspace;
use super::caches::{BoundSchedule, shared};
use crate::error::Error;
use crate::gate::{ExecPermission, ResolvedPrograms, SearchPath, sanitize, search_path};
use crate::policy::{EffectiveRules, Policy};
use crate::store::{Cache, FileLocation, Files, PolicyFile, RecordSubject, StateFolder, outside};
use crate::text::Version;

/// The source of trust in commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TrustOverride {
    /// Records of `lockgate trust`, each for one policy and valid until something changes.
    #[default]
    Recorded,
    /// All policies that existed when this process began, each as it was when first needed.
    Process,
}

/// The commands of a policy at one moment.
#[derive(Debug, Clone)]
pub struct Commands {
    /// The real path of the root.
    pub root: PathBuf,
    /// The policy's file and those above it, the nearest first; none for the built-in policy.
    pub files: Vec<PolicyFile>,
    /// The hash of the policy, with all that it includes.
    pub version: Version,
    /// The resolved programs of its commands.
    pub programs: ResolvedPrograms,
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

impl Workspace {
    /// Returns the policy of a folder, or of a file's folder, and its commands.
    ///
    /// Errors: `FILE_NOT_FOUND`, `PATH_OUTSIDE_ROOT`, `POLICY_INVALID`.
    pub fn commands(&self, path: &str) -> Result<(Arc<Policy>, Commands), Error> {
        let place = self.store.files.find_folder(path)?;
        let policy = self.rules.policy(&self.store.files, &place)?;
        let commands = self.trust.commands(&self.store.files, &place, &policy)?;
        Ok((policy, commands))
    }

    /// Returns the reason why these commands may not run now; `None` if they may.
    pub fn missing_trust(&self, commands: &Commands) -> Option<String> {
        self.trust.missing_trust(commands)
    }

    /// Records that a person trusts these commands, as they were displayed.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate may not write its state, and errors of the operating system.
    pub fn trust(&self, commands: &Commands) -> Result<(), Error> {
        let bytes = TrustRecord::new(commands).to_json()?;
        self.trust.state.write(commands.subject(), &bytes)
    }

    /// Deletes the records of the policy of a folder, or of all policies of the roots, and returns the number
    /// of records.
    ///
    /// Errors: those of [`Workspace::commands`], but the policy need not be valid; errors of the operating
    /// system.
    pub fn revoke(&self, path: Option<&str>) -> Result<usize, Error> {
        let state = &self.trust.state;
        let Some(path) = path else {
            return self.trust.roots.iter().map(|root| state.remove_root(root)).sum();
        };
        let place = self.store.files.find_folder(path)?;
        let files = self.store.files.policy_files(&place)?;
        state.remove(subject(self.store.files.root_path(&place)?, &files))
    }

    /// Decides if the commands of a place's policy may run, with the programs as they are now; `terms` are
    /// the effective rules of the place.
    pub(super) fn grant(
        &self,
        place: &FileLocation,
        policy: &Policy,
        terms: &EffectiveRules<'_>,
    ) -> ExecPermission {
        if !terms.rules.iter().any(|rule| rule.gate.runs_program()) {
            return ExecPermission::Untrusted("there is no command to run".to_owned());
        }
        self.trust.grant(&self.store.files, place, policy)
    }

    /// Returns the cache folder for the tools of a place's root, and creates it if needed. It is not removed
    /// while the result is held.
    pub(super) fn cache(&self, place: &FileLocation) -> Option<Arc<Cache>> {
        let root = self.store.files.root_path(place).ok()?;
        shared(&self.trust.caches, root, || {
            self.trust.bound_schedule.bound(&self.trust.state);
            let made = self.trust.state.cache(root);
            made.inspect_err(|why| tracing::debug!(%why, "tools have no cache")).ok()
        })
    }

    /// Returns a secret of the user and its file; creates it with `fresh` if there is none.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate may not write its state, or if others could have read the
    /// file.
    pub fn cache_secret(
        &self,
        name: &str,
        fresh: impl FnOnce() -> Result<String, Error>,
    ) -> Result<(PathBuf, String), Error> {
        self.trust.state.secret(name, fresh)
    }

    /// Returns the reason why a file must not configure the server: it lies where an edit could change it. `None` if the
    /// file may be used.
    pub fn covers(&self, file: &Path) -> Option<String> {
        outside(file, &self.trust.roots).err()
    }

    /// Returns the cache folder for the samples of gates, which belong to no root.
    pub fn sample_cache(&self) -> Option<Cache> {
        self.trust.state.cache(Path::new("samples")).ok()
    }
}

impl Trust {
    /// Creates the trust of a workspace.
    pub(super) fn new(trust_override: TrustOverride, files: &Files, state: StateFolder) -> Trust {
        let roots = files.root_paths();
        let (started_at, path) = (SystemTime::now(), search_path());
        Trust {
            trust_override,
            started_at,
            roots,
            path,
            state,
            bound_schedule: BoundSchedule::default(),
            caches: Mutex::default(),
            process_records: DashMap::new(),
        }
    }

    fn grant(&self, files: &Files, place: &FileLocation, policy: &Policy) -> ExecPermission {
        let commands = match self.commands(files, place, policy) {
            Ok(commands) => commands,
            Err(refusal) => return ExecPermission::Untrusted(sanitize(&refusal.message)),
        };
        match self.missing_trust(&commands) {
            None => ExecPermission::Granted(commands.programs),
            Some(why) => ExecPermission::Untrusted(why),
        }
    }

    fn commands(&self, files: &Files, place: &FileLocation, policy: &Policy) -> Result<Commands, Error> {
        let (root, files) = (files.root_path(place)?.to_owned(), files.policy_files(place)?);
        let ruled = root.join(files.first().map_or("", |file| file.folder.as_str()));
        let folders: Vec<PathBuf> =
            ruled.ancestors().take_while(|above| above.starts_with(&root)).map(Path::to_owned).collect();
        let search = SearchPath { folders: &folders, roots: &self.roots, path: &self.path };
        let programs = ResolvedPrograms::find(policy.commands(), &search);
        Ok(Commands { root, files, version: policy.version, programs })
    }

    fn missing_trust(&self, commands: &Commands) -> Option<String> {
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

impl Commands {
    /// Returns the display name of the policy.
    pub fn describe(&self) -> &str {
        self.files.first().map_or("the built-in policy", |file| file.name.as_str())
    }

    fn subject(&self) -> RecordSubject {
        subject(&self.root, &self.files)
    }
}

fn subject(root: &Path, files: &[PolicyFile]) -> RecordSubject {
    RecordSubject::new(root, files.first().map_or("", |file| file.name.as_str()))
}
