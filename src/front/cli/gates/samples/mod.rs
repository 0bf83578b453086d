//! `lockgate gates test`: every sample of a gate, judged by the gate itself here and now.
//!
//! A sample says what its gate finds in a text. Recorded outputs keep that promise in lockgate's own tests; here the
//! real programs do, in the versions that this machine has.

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

/// What came of one gate.
struct Tested {
    name: String,
    trials: Vec<Trial>,
    /// Why its program was not run.
    held: Option<NotRun>,
    /// How its program is installed.
    install: Vec<String>,
}

/// What came of one sample.
struct Trial {
    /// Its place among the gate's samples, from 1.
    number: usize,
    path: String,
    standing: Option<DiskState>,
    /// How many findings the sample says.
    finds: usize,
    said: SampleReply,
    ms: u64,
}

/// What a gate says of its sample.
enum SampleReply {
    /// What the sample says.
    Agrees,
    /// Something else.
    Differs(Mismatch),
    /// Nothing; why.
    Nothing(String),
}

/// How the whole gate did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SampleOutcome {
    Passed,
    Failed,
    Unavailable,
    Untrusted,
    /// It has no samples.
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

/// Tests the gates, tells of each as soon as it has ended, and says whether all did as they should.
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
    // The program is there, so that there is nothing to install, whatever keeps it from running.
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

/// The samples judged by a program in each of the ways in which it is given drafts.
///
/// Errors: why it may not run here at all.
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
