//! Runs gates on files of the project as they are, to show that they work there.
//!
//! A program can work in a sample project and fail in this one, because of its configuration, its version or
//! its missing dependencies.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::super::load;
use super::super::services::Services;
use super::super::trust::CallPermissions;
use super::super::workspace::Workspace;
use super::ChangeKind;
use super::judge::AuditedFile;
use lockgate_checks::{ExecPermission, GateRun, Watch};
use lockgate_error::Error;
use lockgate_policy::{Baseline, Policy, Profile, language_of};
use lockgate_store::ListedFolders;

/// The size in bytes of the largest file on which a gate is tried.
const MAX_SIZE: usize = 256 << 10;

/// The run of a gate on a file of the project.
#[derive(Debug)]
pub struct ProjectTrial {
    /// The path of the file, relative to the root.
    pub path: String,
    /// The run; any finding counts.
    pub run: GateRun,
}

impl Workspace {
    /// Runs each of these gates on the first file of the first root to which the policy applies it; a gate
    /// without such a file has no trial.
    ///
    /// Errors: those of listing the root.
    pub fn try_in_project(&self, gates: &[&str], watch: &Watch) -> Result<Vec<ProjectTrial>, Error> {
        let services = &*self.services;
        let permissions = CallPermissions::new(&services.trust, &services.store.files);
        let (files, wanted) = services.files_to_try(gates.iter().copied().collect(), &permissions)?;
        let mut contexts: Vec<_> =
            files.iter().map(|file| services.audit_context(file, &permissions)).collect();
        for (context, wanted) in contexts.iter_mut().zip(&wanted) {
            // The file is compared with nothing, so every finding counts.
            context.rules.baseline = Baseline::All;
            context.rules.rules.retain(|rule| wanted.contains(rule.gate.name.as_str()));
        }
        let verdicts = services.audit_verdicts(&files, &contexts, Vec::new(), watch)?;
        let trials = files.iter().zip(verdicts).flat_map(|(file, verdict)| {
            verdict.runs.into_iter().map(|run| ProjectTrial { path: file.path.clone(), run })
        });
        Ok(trials.collect())
    }
}

impl Services {
    /// Chooses the files, each with the gates to try on it.
    fn files_to_try<'g>(
        &self,
        mut gates: BTreeSet<&'g str>,
        permissions: &CallPermissions<'_>,
    ) -> Result<(Vec<AuditedFile>, Vec<BTreeSet<&'g str>>), Error> {
        let (mut files, mut wanted) = (Vec::new(), Vec::new());
        // The files of a folder have one policy. To look for it costs some forty system calls.
        let mut policies: HashMap<String, Option<Arc<Policy>>> = HashMap::new();
        let listed = ListedFolders::default();
        for path in self.store.files.list(0, self.store.files.base())?.files {
            if gates.is_empty() {
                break;
            }
            let admit = || self.admit_named(0, &path, &listed);
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            let policy = match policies.get(&folder) {
                Some(policy) => policy.clone(),
                None => {
                    let Ok(place) = admit() else { continue };
                    // A nested policy may be invalid, or not trusted; that says nothing of the gate.
                    let policy = self.policies.policy(&self.store.files, &place).ok();
                    policies.entry(folder.clone()).or_insert(policy).clone()
                }
            };
            let Some(policy) = policy else { continue };
            let rules = policy.effective_rules(&path, language_of(&path, None), Profile::Check);
            let applies =
                |gate: &&str| rules.rules.iter().any(|rule| rule.enabled && rule.gate.name == **gate);
            let here: BTreeSet<&str> = gates.iter().copied().filter(applies).collect();
            if here.is_empty() || !rules.rules.iter().any(|rule| rule.gate.runs_program()) {
                continue;
            }
            let Ok(place) = admit() else { continue };
            if !matches!(permissions.grant(&place, &policy, &rules), ExecPermission::Granted(_)) {
                continue;
            }
            let Ok(current) = load::read(self, &place.clone().into(), &policy) else { continue };
            let size = current.buffer.bytes().len();
            if current.snapshot.is_none() || size == 0 || size > MAX_SIZE {
                continue;
            }
            gates.retain(|gate| !here.contains(gate));
            files.push(AuditedFile::new(place, policy, ChangeKind::Modified, None, current.buffer, path)?);
            wanted.push(here);
        }
        Ok((files, wanted))
    }
}
