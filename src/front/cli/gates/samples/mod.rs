//! `lockgate gates test`: runs each gate on its own samples.
//!
//! A sample lists the expected findings of its gate. lockgate's own tests verify them with recorded outputs; this
//! command runs the installed programs.

mod shown;

use std::sync::Arc;
use std::time::Instant;

use super::crew::side_by_side;
use super::doctor::standings;
use super::gate_list::{GateList, NotRun};
use super::install;
use crate::error::Error;
use crate::front::cli::paint;
use crate::gate::{
    DiskState, Finding, Installed, Mismatch, NoAnswer, Outcome as GateOutcome, Watch, inside, live, mismatch,
};
use crate::policy::{Gate, Sample};

/// The test result of one gate.
struct Tested {
    name: String,
    trials: Vec<Trial>,
    /// Reason why its program did not run.
    held: Option<NotRun>,
    /// Commands that install the program.
    install: Vec<String>,
}

/// The result of one sample.
struct Trial {
    /// Number of the sample in the gate's definition, from 1.
    number: usize,
    path: String,
    standing: Option<DiskState>,
    /// Number of findings that the sample expects.
    finds: usize,
    said: SampleReply,
    ms: u64,
}

/// The comparison of a gate's findings with its sample.
enum SampleReply {
    /// The findings are as expected.
    Agrees,
    Differs(Mismatch),
    /// The gate gave no result; with the reason.
    Nothing(String),
}

/// The result of a gate over all samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SampleOutcome {
    Passed,
    Failed,
    Unavailable,
    Untrusted,
    /// The gate has no samples.
    Untested,
}

impl Tested {
    fn outcome(&self) -> SampleOutcome {
        let agree = self.trials.iter().all(|trial| matches!(trial.said, SampleReply::Agrees));
        match &self.held {
            Some(NotRun::Unavailable(_)) => SampleOutcome::Unavailable,
            Some(NotRun::Untrusted(_)) => SampleOutcome::Untrusted,
            None if self.trials.is_empty() => SampleOutcome::Untested,
            None if agree => SampleOutcome::Passed,
            None => SampleOutcome::Failed,
        }
    }
}

/// Tests the gates, prints each result when it is ready, and returns true on success.
pub(super) fn run(
    shelf: &GateList,
    names: &[String],
    require_all: bool,
    json: bool,
    watch: &Watch,
) -> Result<bool, Error> {
    let gates = if names.is_empty() { shelf.gates.iter().collect() } else { shelf.all(names)? };
    let begun = Instant::now();
    let width = gates.iter().map(|gate| gate.name.chars().count()).max().unwrap_or_default();
    let (mut all, mut heard) = (Vec::new(), Ok(()));
    side_by_side(
        &gates,
        |gate| tested(shelf, gate, watch),
        |_, tested| {
            if !json && heard.is_ok() {
                heard = paint::say(&shown::gate(&tested, width));
            }
            all.push(tested);
        },
    );
    heard?;
    let well = all.iter().all(|tested| is_well(tested, require_all));
    if json {
        super::say_json(&shown::json(&all, well))?;
    } else {
        paint::say(&shown::sum(&all, well, begun.elapsed()))?;
    }
    Ok(well)
}

fn is_well(tested: &Tested, require_all: bool) -> bool {
    match tested.outcome() {
        SampleOutcome::Passed => true,
        SampleOutcome::Failed => false,
        SampleOutcome::Unavailable | SampleOutcome::Untrusted | SampleOutcome::Untested => !require_all,
    }
}

fn tested(shelf: &GateList, gate: &Arc<Gate>, watch: &Watch) -> Tested {
    let name = gate.name.clone();
    if !gate.runs_program() {
        return Tested { name, trials: in_process(gate), held: None, install: Vec::new() };
    }
    let ready = match shelf.ready(gate) {
        Ok(ready) => ready,
        Err(held) => {
            let install = install::hints(gate.install());
            return Tested { name, trials: Vec::new(), held: Some(held), install };
        }
    };
    // The program exists, so no install hint is needed even if it cannot run.
    match by_program(gate, standings(gate), &ready, watch) {
        Ok(trials) => Tested { name, trials, held: None, install: Vec::new() },
        Err(why) => {
            Tested { name, trials: Vec::new(), held: Some(NotRun::Unavailable(why)), install: Vec::new() }
        }
    }
}

fn in_process(gate: &Arc<Gate>) -> Vec<Trial> {
    let samples = gate.samples.iter().enumerate();
    samples.map(|(at, sample)| trial(at, sample, None, || inside(gate, sample))).collect()
}

/// Runs a program on the samples, with each way in which it receives drafts.
///
/// Errors: the reason why it cannot run at all.
fn by_program(
    gate: &Arc<Gate>,
    standings: &[DiskState],
    ready: &Installed<'_>,
    watch: &Watch,
) -> Result<Vec<Trial>, String> {
    let mut trials = Vec::new();
    for (at, sample) in gate.samples.iter().enumerate() {
        for standing in standings {
            let mut unavailable = None;
            let trial = trial(at, sample, Some(*standing), || {
                live(gate, sample, ready, *standing, watch).map_err(|silence: NoAnswer| {
                    let told = silence.to_string();
                    unavailable = (silence.outcome == GateOutcome::Unavailable).then_some(silence.why);
                    told
                })
            });
            if let Some(why) = unavailable {
                return Err(why);
            }
            trials.push(trial);
        }
    }
    Ok(trials)
}

fn trial(
    at: usize,
    sample: &Sample,
    standing: Option<DiskState>,
    ask: impl FnOnce() -> Result<Vec<Finding>, String>,
) -> Trial {
    let begun = Instant::now();
    let said = match ask() {
        Ok(found) => mismatch(sample, &found).map_or(SampleReply::Agrees, SampleReply::Differs),
        Err(why) => SampleReply::Nothing(why),
    };
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Trial { number: at + 1, path: sample.path.clone(), standing, finds: sample.finds.len(), said, ms }
}
