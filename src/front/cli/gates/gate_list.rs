//! The gates that a policy can name, the paths of their programs, and their permission to run.
//!
//! Invariant: a program inside the root, or a command defined by the policy, may run only if the policy names the
//! gate and a person trusts the policy, or if a person allows it for one command. [`GateList::runnable`] is the only way
//! to a program.

use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::{Cache, Commands, ProjectRoot, TrustOverride, Workspace};
use crate::error::{Code, Error};
use crate::front::cli::roots::current_folder;
use crate::gate::{Installed, ResolvedProgram, ResolvedPrograms, SearchPath, search_path};
use crate::policy::{Catalogue, Gate, Policy, Rule};
use crate::text::nearest;

/// The gates that a policy can name.
pub(in crate::front::cli) struct GateList {
    /// The gates of the catalogue in order, then those that the policy defines.
    pub(super) gates: Vec<Arc<Gate>>,
    /// The policy of the root, if there is a root.
    pub(super) ruled: Option<Ruled>,
    pins: ResolvedPrograms,
    /// The cache of programs for samples.
    cache: Option<Cache>,
    /// Permission of programs inside the root.
    inside: Inside,
}

/// Permission of programs inside the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::front::cli) enum Inside {
    /// Allowed if the policy names the gate and a person trusts the policy.
    Policy,
    /// Always allowed, by a person and for this command only.
    Allowed,
    Refused,
}

pub(super) struct Ruled {
    pub(super) policy: Arc<Policy>,
    pub(super) commands: Commands,
    /// Reason why the commands may not run; `None` if they may.
    pub(super) withheld: Option<String>,
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
    pub(super) fn open(root: Option<PathBuf>, promise: TrustOverride) -> Result<GateList, Error> {
        let workspace = match root {
            Some(root) => Some(Workspace::at(&[root]).promising(promise).open()?),
            None => here(promise)?,
        };
        let cache = workspace.as_ref().and_then(|workspace| workspace.sample_cache());
        let ruled = workspace.map(|workspace| Ruled::new(&workspace)).transpose()?;
        let defined = ruled.iter().flat_map(|ruled| ruled.policy.defined());
        let gates: Vec<Arc<Gate>> = Catalogue::embedded().gates().iter().chain(defined).cloned().collect();
        let roots: Vec<PathBuf> = ruled.iter().map(|ruled| ruled.commands.root.clone()).collect();
        let rules: Vec<Rule> = gates.iter().map(|gate| Rule::plain(Arc::clone(gate))).collect();
        let pins = ResolvedPrograms::find(
            &rules,
            &SearchPath { folders: &roots, roots: &roots, path: &search_path() },
        );
        Ok(GateList { gates, ruled, pins, cache, inside: Inside::Policy })
    }

    /// Returns the gates of the catalogue for a workspace that has no policy yet.
    pub(in crate::front::cli) fn before_policy(workspace: &Workspace, inside: Inside) -> GateList {
        let gates = Catalogue::embedded().gates().to_vec();
        let roots = [workspace.top()];
        let rules: Vec<Rule> = gates.iter().map(|gate| Rule::plain(Arc::clone(gate))).collect();
        let pins = ResolvedPrograms::find(
            &rules,
            &SearchPath { folders: &roots, roots: &roots, path: &search_path() },
        );
        GateList { gates, ruled: None, pins, cache: workspace.sample_cache(), inside }
    }

    /// Returns the gate with this name.
    ///
    /// Errors: `INVALID_INPUT`, with the closest name as a suggestion.
    pub(super) fn find(&self, name: &str) -> Result<&Arc<Gate>, Error> {
        self.gates.iter().find(|gate| gate.name == name).ok_or_else(|| {
            let close = nearest(name, self.gates.iter().map(|gate| gate.name.as_str()));
            let meant = close.map(|close| format!(", did you mean `{close}`?")).unwrap_or_default();
            Error::new(Code::InvalidInput, format!("unknown gate `{name}`{meant}"))
                .hint("`lockgate gates` lists them all")
        })
    }

    /// Returns the gates with these names.
    ///
    /// Errors: those of [`GateList::find`].
    pub(super) fn all(&self, names: &[String]) -> Result<Vec<&Arc<Gate>>, Error> {
        names.iter().map(|name| self.find(name)).collect()
    }

    /// True if the policy enables this gate and it runs a program.
    pub(super) fn is_named(&self, gate: &Gate) -> bool {
        self.named_pins(gate).is_some()
    }

    /// True if the policy defines the gate itself.
    pub(super) fn is_own(&self, gate: &Gate) -> bool {
        Catalogue::embedded().find(&gate.name).is_none()
    }

    /// Returns the resolved program of the gate.
    pub(in crate::front::cli) fn pin(&self, gate: &Gate) -> Option<&ResolvedProgram> {
        self.pins_of(gate).pin(&pinned_as(gate))
    }

    /// Returns the paths that were skipped in the search for the program.
    pub(super) fn passed_over(&self, gate: &Gate) -> &[String] {
        self.pins_of(gate).passed_over(&pinned_as(gate))
    }

    /// Returns the gate's program with its isolation, if it exists and may run.
    pub(super) fn ready(&self, gate: &Gate) -> Result<Installed<'_>, NotRun> {
        let pins = self.pins_of(gate);
        let name = pinned_as(gate);
        let Some(pin) = pins.pin(&name) else {
            return Err(NotRun::Unavailable(pins.passed_over(&name).join("; ")));
        };
        if pin.inside || self.is_own(gate) {
            self.trusted(gate, pin)?;
        }
        let isolation =
            self.ruled.as_ref().map_or_else(|| Policy::embedded().isolation, |ruled| ruled.policy.isolation);
        Ok(Installed {
            program: &pin.program,
            search: pins.path(),
            cache: self.cache.as_ref().map(Cache::folder),
            isolation,
        })
    }

    /// Checks that a person trusts the repository's program or command for a gate.
    fn trusted(&self, gate: &Gate, pin: &ResolvedProgram) -> Result<(), NotRun> {
        match self.inside {
            Inside::Policy => {}
            Inside::Allowed => return Ok(()),
            Inside::Refused => {
                let program = pin.program.display();
                return Err(NotRun::Untrusted(format!("{program} lies in the project, so it was not run")));
            }
        }
        let what = if pin.inside { pin.program.display().to_string() } else { "its command".to_owned() };
        let untrusted = |why: &str| Err(NotRun::Untrusted(format!("{what} is the repository's, and {why}")));
        match self.ruled.as_ref().filter(|_| self.is_named(gate)) {
            None => untrusted("trust covers only the gates that the policy names"),
            Some(Ruled { withheld: Some(why), .. }) => untrusted(why),
            Some(Ruled { withheld: None, .. }) => Ok(()),
        }
    }

    /// Returns the programs that were shown to a person, for a gate that the policy names.
    fn pins_of(&self, gate: &Gate) -> &ResolvedPrograms {
        self.named_pins(gate).unwrap_or(&self.pins)
    }

    fn named_pins(&self, gate: &Gate) -> Option<&ResolvedPrograms> {
        let pins = &self.ruled.as_ref()?.commands.pins;
        let wanted = pinned_as(gate);
        pins.iter().any(|(name, _)| name == wanted).then_some(pins)
    }
}

/// Returns the key of the gate's program: that of its command, or else of its server.
fn pinned_as(gate: &Gate) -> String {
    if gate.command().is_none() && gate.server().is_some() {
        ResolvedPrograms::of_server(&gate.name)
    } else {
        gate.name.clone()
    }
}

impl Ruled {
    fn new(workspace: &Workspace) -> Result<Ruled, Error> {
        let (policy, commands) = workspace.commands(".")?;
        let withheld =
            if commands.pins.iter().next().is_none() { None } else { workspace.withheld(&commands) };
        Ok(Ruled { policy, commands, withheld })
    }
}

/// Returns the workspace of the project around the current folder; `None` if it cannot be a root, such as the home
/// folder.
fn here(promise: TrustOverride) -> Result<Option<Arc<Workspace>>, Error> {
    let Ok(here) = current_folder() else { return Ok(None) };
    let ProjectRoot { root, base } = ProjectRoot::around(&here);
    match Workspace::at(&[root]).with_base(base).promising(promise).open() {
        Ok(workspace) => Ok(Some(workspace)),
        Err(refusal) if refusal.code == Code::InvalidInput => Ok(None),
        Err(refusal) => Err(refusal),
    }
}
