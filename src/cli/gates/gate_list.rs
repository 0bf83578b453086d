//! The gates that a policy can name, the paths of their programs, and their permission to run.
//!
//! Invariant: a program inside the root, or a command defined by the policy, may run only if the policy names the
//! gate and a person trusts the policy, or if a person allows it for one command. [`GateList::runnable`] is the only way
//! to a program.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::roots::current_folder;
use lockgate_checks::{
    InstalledProgram, ResolvedProgram, ResolvedPrograms, SearchPath, required_isolation, search_path,
};
use lockgate_engine::{Cache, Commands, ProjectRoot, TrustOverride, Workspace};
use lockgate_error::{Code, Error};
use lockgate_policy::{Catalogue, Gate, Policy, Rule};
use lockgate_text::nearest;

/// The gates that a policy can name.
pub(in crate::cli) struct GateList {
    /// The gates of the catalogue in order, then those that the policy defines.
    pub(super) gates: Vec<Arc<Gate>>,
    /// The policy of the root, if there is a root.
    pub(super) root_policy: Option<RootPolicy>,
    /// The workspace of that root.
    pub(super) workspace: Option<Arc<Workspace>>,
    programs: ResolvedPrograms,
    /// The cache of programs for samples.
    cache: Option<Cache>,
    /// Permission of programs inside the root.
    inside_programs: InsidePrograms,
}

/// Permission of programs inside the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum InsidePrograms {
    /// Allowed if the policy names the gate and a person trusts the policy.
    IfTrusted,
    /// Always allowed, by a person and for this command only.
    Allowed,
    Denied,
}

pub(super) struct RootPolicy {
    pub(super) policy: Arc<Policy>,
    pub(super) commands: Commands,
    /// Reason why the commands may not run; `None` if they may.
    pub(super) untrusted_reason: Option<String>,
}

/// Reason why a gate's program does not run.
#[derive(Debug)]
pub(super) enum NotRun {
    /// It is not on this machine; lists the paths that were tried.
    Unavailable(String),
    /// It belongs to the repository, which is not trusted.
    Untrusted(String),
}

impl NotRun {
    /// Returns the reason as text.
    pub(super) fn why(&self) -> &str {
        match self {
            NotRun::Unavailable(why) | NotRun::Untrusted(why) => why,
        }
    }
}

impl GateList {
    /// Loads the policy of a root; without a root, that of the project around the current folder, if it can be a
    /// root.
    ///
    /// Errors: those of opening a root, and `POLICY_INVALID`.
    pub(super) fn open(root: Option<PathBuf>, trust_override: TrustOverride) -> Result<GateList, Error> {
        let workspace = match root {
            Some(root) => Some(Workspace::at(&[root]).with_trust_override(trust_override).open()?),
            None => current_workspace(trust_override)?,
        };
        let cache = workspace.as_ref().and_then(|workspace| workspace.sample_cache());
        let root_policy = workspace.as_deref().map(RootPolicy::new).transpose()?;
        let defined = root_policy.iter().flat_map(|root_policy| root_policy.policy.defined());
        let gates: Vec<Arc<Gate>> = Catalogue::embedded().gates().iter().chain(defined).cloned().collect();
        let roots: Vec<PathBuf> =
            root_policy.iter().map(|root_policy| root_policy.commands.root.clone()).collect();
        let (programs, inside_programs) = (find_programs(&gates, &roots), InsidePrograms::IfTrusted);
        Ok(GateList { gates, root_policy, workspace, programs, cache, inside_programs })
    }

    /// Returns the gates of the catalogue for a workspace that has no policy yet.
    pub(in crate::cli) fn before_policy(workspace: &Workspace, inside_programs: InsidePrograms) -> GateList {
        let gates = Catalogue::embedded().gates().to_vec();
        let (programs, cache) = (find_programs(&gates, &[workspace.top()]), workspace.sample_cache());
        GateList { gates, root_policy: None, workspace: None, programs, cache, inside_programs }
    }

    /// Returns the gate with this name.
    ///
    /// Errors: `INVALID_INPUT`, with the closest name as a suggestion.
    pub(super) fn find(&self, name: &str) -> Result<&Arc<Gate>, Error> {
        self.gates.iter().find(|gate| gate.name == name).ok_or_else(|| {
            let close = nearest(name, self.gates.iter().map(|gate| gate.name.as_str()));
            let suggestion = close.map(|close| format!(", did you mean `{close}`?")).unwrap_or_default();
            Error::new(Code::InvalidInput, format!("unknown gate `{name}`{suggestion}"))
                .hint("`lockgate gates` lists them all")
        })
    }

    /// Returns the gates with these names.
    ///
    /// Errors: those of [`GateList::find`].
    pub(super) fn find_all(&self, names: &[String]) -> Result<Vec<&Arc<Gate>>, Error> {
        names.iter().map(|name| self.find(name)).collect()
    }

    /// True if the policy enables this gate and it runs a program.
    pub(super) fn is_enabled(&self, gate: &Gate) -> bool {
        self.trusted_programs(gate).is_some()
    }

    /// True if the policy defines the gate itself.
    pub(super) fn is_defined_by_policy(&self, gate: &Gate) -> bool {
        Catalogue::embedded().find(&gate.name).is_none()
    }

    /// Returns the resolved program of the gate.
    pub(in crate::cli) fn program(&self, gate: &Gate) -> Option<&ResolvedProgram> {
        self.programs_of(gate).resolved(&program_key(gate))
    }

    /// Returns the paths that were skipped in the search for the program.
    pub(super) fn skipped_paths(&self, gate: &Gate) -> &[String] {
        self.programs_of(gate).rejected(&program_key(gate))
    }

    /// Returns the gate's program with its isolation, if it exists and may run.
    pub(super) fn runnable(&self, gate: &Gate) -> Result<InstalledProgram<'_>, NotRun> {
        let programs = self.programs_of(gate);
        let name = program_key(gate);
        let Some(resolved) = programs.resolved(&name) else {
            return Err(NotRun::Unavailable(programs.rejected(&name).join("; ")));
        };
        if resolved.inside || self.is_defined_by_policy(gate) {
            self.check_trust(gate, resolved)?;
        }
        let isolation = self
            .root_policy
            .as_ref()
            .map_or_else(|| Policy::embedded().isolation, |root_policy| root_policy.policy.isolation);
        Ok(InstalledProgram {
            program: &resolved.program,
            search: programs.path(),
            cache: self.cache.as_ref().map(Cache::folder),
            isolation: required_isolation(isolation),
        })
    }

    /// Checks that a person trusts the repository's program or command for a gate.
    fn check_trust(&self, gate: &Gate, resolved: &ResolvedProgram) -> Result<(), NotRun> {
        match self.inside_programs {
            InsidePrograms::IfTrusted => {}
            InsidePrograms::Allowed => return Ok(()),
            InsidePrograms::Denied => {
                let program = resolved.program.display();
                return Err(NotRun::Untrusted(format!("{program} lies in the project, so it was not run")));
            }
        }
        let what =
            if resolved.inside { resolved.program.display().to_string() } else { "its command".to_owned() };
        let untrusted =
            |why: &str| Err(NotRun::Untrusted(format!("{what} belongs to the repository, and {why}")));
        match self.root_policy.as_ref().filter(|_| self.is_enabled(gate)) {
            None => untrusted("trust covers only the gates that the policy names"),
            Some(RootPolicy { untrusted_reason: Some(why), .. }) => untrusted(why),
            Some(RootPolicy { untrusted_reason: None, .. }) => Ok(()),
        }
    }

    /// Returns the programs that were shown to a person, for a gate that the policy names.
    fn programs_of(&self, gate: &Gate) -> &ResolvedPrograms {
        self.trusted_programs(gate).unwrap_or(&self.programs)
    }

    fn trusted_programs(&self, gate: &Gate) -> Option<&ResolvedPrograms> {
        let programs = &self.root_policy.as_ref()?.commands.programs;
        let wanted = program_key(gate);
        programs.iter().any(|(name, _)| name == wanted).then_some(programs)
    }
}

/// Looks for the programs of the gates, in these roots first.
fn find_programs(gates: &[Arc<Gate>], roots: &[PathBuf]) -> ResolvedPrograms {
    let rules: Vec<Rule> = gates.iter().map(|gate| Rule::plain(Arc::clone(gate))).collect();
    ResolvedPrograms::find(&rules, &SearchPath { folders: roots, roots, path: &search_path() })
}

/// Returns the key of the gate's program: that of its command, or else of its server.
fn program_key(gate: &Gate) -> String {
    if gate.command().is_none() && gate.server().is_some() {
        ResolvedPrograms::server_name(&gate.name)
    } else {
        gate.name.clone()
    }
}

impl RootPolicy {
    fn new(workspace: &Workspace) -> Result<RootPolicy, Error> {
        let (policy, commands) = workspace.commands(".")?;
        let mut root_policy = RootPolicy { policy, commands, untrusted_reason: None };
        if root_policy.runs_commands() {
            root_policy.untrusted_reason = workspace.missing_trust(&root_policy.commands);
        }
        Ok(root_policy)
    }

    /// True if a gate of the policy runs a program.
    pub(super) fn runs_commands(&self) -> bool {
        self.commands.programs.iter().next().is_some()
    }
}

/// Returns the workspace of the project around the current folder; `None` if it cannot be a root, such as the home
/// folder.
fn current_workspace(trust_override: TrustOverride) -> Result<Option<Arc<Workspace>>, Error> {
    let Ok(folder) = current_folder() else { return Ok(None) };
    let ProjectRoot { root, base } = ProjectRoot::around(&folder);
    match Workspace::at(&[root]).with_base(base).with_trust_override(trust_override).open() {
        Ok(workspace) => Ok(Some(workspace)),
        Err(error) if error.code == Code::InvalidInput => Ok(None),
        Err(error) => Err(error),
    }
}
