//! Runs a gate's program on a sample on this machine.

use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io};

use super::replay::finding;
use super::{ProgramInput, check};
use crate::finding::Finding;
use crate::runtime::GateRuntime;
use crate::server;
use crate::stage::{self, Stage};
use crate::verdict::Outcome;
use lockgate_policy::{Gate, Rule, Sample, language_of};
use lockgate_sandbox::{Ceiling, Isolation, Limit, Watch};
use lockgate_text::{Buffer, Hints};

/// The shortest time limit, for a program that may never have run on this machine.
const LEAST_TIME: Duration = Duration::from_secs(60);

/// The file on disk at the path of a sample's draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskState {
    /// An empty file, so that a program that reads the disk finds nothing in it.
    Empty,
    /// No file exists at that path.
    Missing,
}

/// An installed program, and the settings to run it with.
#[derive(Debug, Clone, Copy)]
pub struct InstalledProgram<'a> {
    /// The absolute path of the program.
    pub program: &'a Path,
    /// The search path for programs that it starts itself.
    pub search: &'a OsStr,
    /// A folder in which each gate caches data between samples.
    pub cache: Option<&'a Path>,
    /// The isolation that the policy requires.
    pub isolation: Isolation,
}

/// The outcome and reason of a gate that returned no findings for a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleError {
    /// The outcome that an edit would have.
    pub outcome: Outcome,
    /// The reason for that outcome.
    pub why: String,
}

impl SampleError {
    fn broken(why: impl ToString) -> SampleError {
        SampleError { outcome: Outcome::Broken, why: why.to_string() }
    }
}

impl Display for SampleError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.outcome.name(), self.why)
    }
}

/// Runs a program on a sample, in a project of the sample's own, as it would run on a draft.
///
/// Errors: the outcome that an edit would have.
pub fn run_sample(
    gate: &Arc<Gate>,
    sample: &Sample,
    installed: &InstalledProgram<'_>,
    disk_state: DiskState,
    watch: &Watch,
) -> Result<Vec<Finding>, SampleError> {
    let timeout = Rule::plain(Arc::clone(gate)).timeout.max(LEAST_TIME);
    run_sample_within(gate, sample, installed, disk_state, watch.until(Instant::now() + timeout))
}

/// Same as [`run_sample`], within a limit.
pub(crate) fn run_sample_within(
    gate: &Arc<Gate>,
    sample: &Sample,
    installed: &InstalledProgram<'_>,
    disk_state: DiskState,
    limit: Limit<'_>,
) -> Result<Vec<Finding>, SampleError> {
    let text = Buffer::read(sample.draft.as_bytes().to_vec(), Hints::default());
    let text = text.map_err(|error| SampleError::broken(error.message))?;
    let stage = Stage::new().map_err(SampleError::broken)?;
    let root = stage.folder("sample").map_err(SampleError::broken)?;
    let empty = (disk_state == DiskState::Empty).then_some((sample.path.as_str(), ""));
    let with = sample.with.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    for (path, text) in with.chain(empty) {
        write(&root, path, text).map_err(|error| SampleError::broken(format!("{path}: {error}")))?;
    }
    let rule = Rule::plain(Arc::clone(gate));
    let cache = installed.cache.map(|cache| cache.join(&gate.name));
    let runtime = GateRuntime::default();
    let input = ProgramInput {
        rule: &rule,
        program: installed.program,
        search: installed.search,
        root: &root,
        path: &sample.path,
        language: language_of(&sample.path, sample.draft.lines().next()),
        text: &text,
        on_disk: disk_state == DiskState::Empty,
        is_removed: false,
        overlays: &[],
        batched: &[],
        isolation: installed.isolation,
        ceiling: Ceiling::default(),
        cache: cache.as_deref(),
        versions: &runtime.versions,
    };
    let findings = match (gate.command(), gate.server()) {
        // The server is started for this one request, and its errors are not replaced by a command.
        (None, Some(server)) => {
            server::check(&input, server, &runtime, limit).map(|lists| lists.into_iter().flatten().collect())
        }
        (Some(_), _) | (None, None) => check(&input, limit),
    };
    let findings = findings.map_err(|error| {
        let (outcome, _, why) = error.outcome();
        SampleError { outcome, why: why.to_owned() }
    })?;
    Ok(findings.into_iter().map(|found| finding(gate, found)).collect())
}

fn write(root: &Path, path: &str, text: &str) -> io::Result<()> {
    if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::Error::other("not a path below a root"));
    }
    let place = root.join(path);
    fs::create_dir_all(place.parent().unwrap_or(root))?;
    // Some programs identify a file version by its time and size.
    stage::write(&place, text.as_bytes())
}
