//! The results of running gates on their samples.

use std::time::Duration;

use crate::cli::gates::gate_list::NotRun;
use lockgate_checks::{DiskState, Mismatch};

/// The test result of one gate.
pub struct TestedGate {
    pub name: String,
    pub trials: Vec<Trial>,
    /// Reason why its program did not run.
    pub not_run: Option<NotRun>,
    /// Commands that install the program.
    pub install: Vec<String>,
}

/// The result of one sample.
pub struct Trial {
    /// Number of the sample in the gate's definition, from 1.
    pub number: usize,
    pub path: String,
    pub disk_state: Option<DiskState>,
    /// Number of findings that the sample expects.
    pub expected_count: usize,
    pub comparison: SampleComparison,
    pub ms: u64,
}

/// The findings of a gate in a sample, compared with the expected ones.
pub enum SampleComparison {
    Agrees,
    Differs(Mismatch),
    /// The gate gave no result, with the reason.
    NoResult(String),
}

/// The result of a gate over all samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleOutcome {
    Passed,
    Failed,
    Unavailable,
    Untrusted,
    /// The gate has no samples.
    Untested,
}

impl SampleOutcome {
    /// Returns its name in JSON; a person reads it with spaces.
    pub fn name(self) -> &'static str {
        match self {
            SampleOutcome::Passed => "passed",
            SampleOutcome::Failed => "failed",
            SampleOutcome::Unavailable => "unavailable",
            SampleOutcome::Untrusted => "needs_trust",
            SampleOutcome::Untested => "untested",
        }
    }
}

impl TestedGate {
    /// Returns the time of all its samples together, in milliseconds.
    pub fn ms(&self) -> u64 {
        self.trials.iter().map(|trial| trial.ms).sum()
    }

    pub fn outcome(&self) -> SampleOutcome {
        let agree = self.trials.iter().all(|trial| matches!(trial.comparison, SampleComparison::Agrees));
        match &self.not_run {
            Some(NotRun::Unavailable(_)) => SampleOutcome::Unavailable,
            Some(NotRun::Untrusted(_)) => SampleOutcome::Untrusted,
            None if self.trials.is_empty() => SampleOutcome::Untested,
            None if agree => SampleOutcome::Passed,
            None => SampleOutcome::Failed,
        }
    }
}

/// The gates that must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredGates {
    /// Those that can be tested here.
    Testable,
    /// All, also those without samples, and those whose program is not installed or not trusted.
    All,
}

/// The results of all gates.
pub struct SampleResults {
    pub gates: Vec<TestedGate>,
    pub required: RequiredGates,
    pub took: Duration,
}

impl SampleResults {
    /// True if all required gates passed.
    pub fn is_success(&self) -> bool {
        self.gates.iter().all(|tested| match tested.outcome() {
            SampleOutcome::Passed => true,
            SampleOutcome::Failed => false,
            SampleOutcome::Unavailable | SampleOutcome::Untrusted | SampleOutcome::Untested => {
                self.required == RequiredGates::Testable
            }
        })
    }
}
