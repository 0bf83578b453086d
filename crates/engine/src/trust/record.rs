//! The stored form of a trust record.
//!
//! Invariant: a record with another format version, policy or root is ignored.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::commands::Commands;
use lockgate_checks::ResolvedProgram;
use lockgate_error::{Code, Error};

/// The format version of a record.
const VERSION: u32 = 1;

/// The policy and programs that a person trusted.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrustRecord {
    version: u32,
    root: String,
    policy: String,
    stamp: String,
    programs: BTreeMap<String, Option<TrustedProgram>>,
    /// The time of the record, in seconds since 1970.
    when: u64,
    /// What the person was shown; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
}

/// What a person was shown when trust was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownCommands {
    /// The text, as it was given to [`Workspace::trust`](crate::Workspace::trust).
    pub text: String,
    /// The moment at which trust was given.
    pub at: SystemTime,
}

/// The resolved program of one gate.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustedProgram {
    path: String,
    real: String,
}

impl TrustRecord {
    /// Creates the record for these commands as they are.
    pub(super) fn new(commands: &Commands) -> TrustRecord {
        let programs = commands
            .programs
            .iter()
            .map(|(gate, program)| (gate.to_owned(), program.map(TrustedProgram::from_program)));
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        TrustRecord {
            version: VERSION,
            root: commands.root.display().to_string(),
            policy: commands.describe().to_owned(),
            stamp: commands.version.hex(),
            programs: programs.collect(),
            when: now.map_or(0, |since| since.as_secs()),
            shown: None,
        }
    }

    /// Returns the record with the text that the person was shown.
    pub(super) fn with_shown(self, shown: &str) -> TrustRecord {
        TrustRecord { shown: Some(shown.to_owned()), ..self }
    }

    /// Returns what the person was shown, if the record is for this root and policy and has it.
    pub(super) fn shown(self, commands: &Commands) -> Option<ShownCommands> {
        let now = TrustRecord::new(commands);
        let same = (&now.root, &now.policy) == (&self.root, &self.policy);
        let at = UNIX_EPOCH.checked_add(Duration::from_secs(self.when))?;
        self.shown.filter(|_| same).map(|text| ShownCommands { text, at })
    }

    /// Parses a record. The error is the reason why it is invalid, as the end of a sentence.
    pub(super) fn read(bytes: &[u8]) -> Result<TrustRecord, String> {
        let record: TrustRecord = serde_json::from_slice(bytes).map_err(|_| "cannot be parsed".to_owned())?;
        if record.version == VERSION {
            Ok(record)
        } else {
            Err(format!("has the version {}", record.version))
        }
    }

    /// Serializes the record to JSON.
    pub(super) fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec_pretty(self)
            .map_err(|error| Error::new(Code::Internal, format!("the record cannot be written: {error}")))
    }

    /// Returns the reason why the record does not cover these commands; `None` if it does.
    pub(super) fn ended_because(&self, commands: &Commands) -> Option<String> {
        let (now, description) = (TrustRecord::new(commands), commands.describe());
        if (&now.root, &now.policy) != (&self.root, &self.policy) {
            return Some(format!("the trust record is for the commands of {} in {}", self.policy, self.root));
        }
        if now.stamp != self.stamp {
            return Some(format!(
                "{description}, or what it includes, changed since its commands were trusted"
            ));
        }
        let mut gates = now.programs.keys().chain(self.programs.keys());
        let other = gates.find(|gate| now.programs.get(*gate) != self.programs.get(*gate))?;
        let program =
            |record: &TrustRecord| describe_program(record.programs.get(other).and_then(Option::as_ref));
        let (now, then) = (program(&now), program(self));
        Some(format!("the program of the gate {other} is now {now}, and {then} was trusted"))
    }
}

impl TrustedProgram {
    fn from_program(program: &ResolvedProgram) -> TrustedProgram {
        TrustedProgram {
            path: program.program.display().to_string(),
            real: program.real.display().to_string(),
        }
    }
}

fn describe_program(program: Option<&TrustedProgram>) -> String {
    match program {
        None => "none".to_owned(),
        Some(TrustedProgram { path, real }) if path == real => path.clone(),
        Some(TrustedProgram { path, real }) => format!("{path} (which is {real})"),
    }
}
