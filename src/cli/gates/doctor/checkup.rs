//! The result of testing one gate.

use lockgate_engine::ProjectTrial;

/// The test result of one gate.
pub struct Checkup {
    pub name: String,
    /// Set when the policy or the caller names the gate, so that it has to work.
    pub is_required: bool,
    /// Set when the policy names the gate, and it runs a program.
    pub is_enabled: bool,
    pub program: Option<String>,
    pub version: Option<String>,
    pub state: GateState,
    /// Its run on a file of the project; `None` if it was not tried there.
    pub in_project: Option<ProjectTrial>,
    pub ms: u64,
    /// Commands that install the program.
    pub install: Vec<String>,
}

/// The state of a gate on this machine.
#[derive(Debug)]
pub enum GateState {
    /// It finds a mistake in its canary, or needs no program.
    Works,
    /// It has no canary, so nothing proves that it finds anything.
    Unproven,
    /// It does not work; with the reason.
    Broken(String),
    /// Its program is not installed or may not run; with the reason.
    Unavailable(String),
    /// Its program was not run because it is not trusted; with the reason.
    Untrusted(String),
    /// It checks nothing without a configuration file; with its message.
    Unconfigured(String),
}

impl GateState {
    /// Returns its name in JSON; a person reads it with spaces.
    pub fn name(&self) -> &'static str {
        match self {
            GateState::Works => "works",
            GateState::Unproven => "unproven",
            GateState::Broken(_) => "broken",
            GateState::Unavailable(_) => "unavailable",
            GateState::Untrusted(_) => "needs_trust",
            GateState::Unconfigured(_) => "needs_configuration",
        }
    }

    pub fn why(&self) -> Option<&str> {
        match self {
            GateState::Works => None,
            GateState::Unproven => Some("it has no canary, so nothing proves that it works"),
            GateState::Broken(why)
            | GateState::Unavailable(why)
            | GateState::Untrusted(why)
            | GateState::Unconfigured(why) => Some(why),
        }
    }

    /// True if no problem is known.
    pub fn is_ok(&self) -> bool {
        matches!(self, GateState::Works | GateState::Unproven)
    }
}

/// Returns true if no gate that has to work has a known problem.
pub fn all_ok(checkups: &[Checkup]) -> bool {
    checkups.iter().filter(|checkup| checkup.is_required).all(|checkup| checkup.state.is_ok())
}
