//! The gates that a policy can name, where their programs lie, and which of them may run.
//!
//! Invariant: a program inside the root, and a command that the policy itself defines, may run only where the policy
//! names the gate and a person trusts the policy, or where a person allows it for one command: [`Shelf::ready`] is the one
//! way to a program.

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
    /// Those of the catalogue, in its order, then those that the policy defines.
    pub(super) gates: Vec<Arc<Gate>>,
    /// The policy of the root, where there is a root.
    pub(super) ruled: Option<Ruled>,
    pins: ResolvedPrograms,
    /// Where programs keep what they know of samples.
    cache: Option<Cache>,
    /// When a program inside the root may run.
    inside: Inside,
}

/// When a program inside the root may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::front::cli) enum Inside {
    /// Where the policy names its gate and a person trusts the policy.
    Policy,
    /// Always: a person allowed it for this command.
    Allowed,
    /// Never.
    Refused,
}

/// A root and its policy.
pub(super) struct Ruled {
    pub(super) policy: Arc<Policy>,
    pub(super) commands: Commands,
    /// Why its commands may not run; nothing when they may.
    pub(super) withheld: Option<String>,
}

/// Why a gate's program is not run.
#[derive(Debug)]
pub(super) enum NotRun {
    /// It is not on this machine; what was tried.
    Unavailable(String),
    /// It is the repository's, and nobody trusts that.
    Untrusted(String),
}

impl NotRun {
    /// What was tried, or what nobody trusts.
    pub(super) fn why(&self) -> &str {
        match self {
            NotRun::Unavailable(why) | NotRun::Untrusted(why) => why,
        }
    }
}

impl GateList {
    /// Takes what the policy of a root says; without one, that which rules the current folder, if that can be edited.
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

    /// Takes the gates of the catalogue as a policy for this workspace would find them that is still to be written.
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

    /// The gate of this name.
    ///
    /// Errors: `INVALID_INPUT`, with the name that was likely meant.
    pub(super) fn find(&self, name: &str) -> Result<&Arc<Gate>, Error> {
        self.gates.iter().find(|gate| gate.name == name).ok_or_else(|| {
            let close = nearest(name, self.gates.iter().map(|gate| gate.name.as_str()));
            let meant = close.map(|close| format!(", did you mean `{close}`?")).unwrap_or_default();
            Error::new(Code::InvalidInput, format!("unknown gate `{name}`{meant}"))
                .hint("`lockgate gates` lists them all")
        })
    }

    /// The gates of these names.
    ///
    /// Errors: as [`Shelf::find`] has them.
    pub(super) fn all(&self, names: &[String]) -> Result<Vec<&Arc<Gate>>, Error> {
        names.iter().map(|name| self.find(name)).collect()
    }

    /// Whether the policy has this gate run a program.
    pub(super) fn is_named(&self, gate: &Gate) -> bool {
        self.named_pins(gate).is_some()
    }

    /// Whether the policy defines the gate itself.
    pub(super) fn is_own(&self, gate: &Gate) -> bool {
        Catalogue::embedded().find(&gate.name).is_none()
    }

    /// Where the gate's program lies.
    pub(in crate::front::cli) fn pin(&self, gate: &Gate) -> Option<&ResolvedProgram> {
        self.pins_of(gate).pin(&pinned_as(gate))
    }

    /// What was passed over in the search for it.
    pub(super) fn passed_over(&self, gate: &Gate) -> &[String] {
        self.pins_of(gate).passed_over(&pinned_as(gate))
    }

    /// The gate's program, when it is there and may run, kept apart as the policy requires.
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

    /// Whether a person trusts what the repository has to say of a gate.
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

    /// For a gate that the policy names, what a person was shown.
    fn pins_of(&self, gate: &Gate) -> &ResolvedPrograms {
        self.named_pins(gate).unwrap_or(&self.pins)
    }

    fn named_pins(&self, gate: &Gate) -> Option<&ResolvedPrograms> {
        let pins = &self.ruled.as_ref()?.commands.pins;
        let wanted = pinned_as(gate);
        pins.iter().any(|(name, _)| name == wanted).then_some(pins)
    }
}

/// The name under which the program is kept that shows whether a gate is here: its command's, else its server's.
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

/// The workspace of the project around the current folder; none where that is refused as a root, such as the home folder.
fn here(promise: TrustOverride) -> Result<Option<Arc<Workspace>>, Error> {
    let Ok(here) = current_folder() else { return Ok(None) };
    let ProjectRoot { root, base } = ProjectRoot::around(&here);
    match Workspace::at(&[root]).with_base(base).promising(promise).open() {
        Ok(workspace) => Ok(Some(workspace)),
        Err(refusal) if refusal.code == Code::InvalidInput => Ok(None),
        Err(refusal) => Err(refusal),
    }
}
