//! What a gate's program makes of a sample here and now.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::replay::{finding, told};
use super::{Ask, look};
use crate::gate::finding::Finding;
use crate::gate::process::Ceiling;
use crate::gate::server;
use crate::gate::stage::{self, Stage};
use crate::gate::watch::Watch;
use crate::gate::workshop::Workshop;
use crate::policy::{Gate, Isolation, Rule, Sample, language_of};
use crate::text::{Buffer, Hints};

/// The least time that a program gets, which may never have run on this machine.
const LEAST_TIME: Duration = Duration::from_secs(60);

/// What is on disk where a sample's draft would lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// An empty file, so that a program that reads the disk finds nothing in it.
    Empty,
    /// Nothing.
    Missing,
}

/// Asks the program at this absolute path about a sample, in a project of the sample's own, as it would be asked about a
/// draft; or gives why it says nothing. `search` is the search path for the programs that it starts itself, and `cache` a
/// folder in which the gates keep what they know from one sample to the next, each for itself.
pub fn live(
    gate: &Arc<Gate>,
    sample: &Sample,
    program: &Path,
    search: &OsStr,
    standing: Standing,
    cache: Option<&Path>,
    watch: &Watch,
) -> Result<Vec<Finding>, String> {
    let text = Buffer::read(sample.draft.as_bytes().to_vec(), Hints::default());
    let text = text.map_err(|error| error.message)?;
    let stage = Stage::new().map_err(|error| error.to_string())?;
    let root = stage.folder("sample").map_err(|error| error.to_string())?;
    let empty = (standing == Standing::Empty).then_some((sample.path.as_str(), ""));
    let with = sample.with.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    for (path, text) in with.chain(empty) {
        write(&root, path, text).map_err(|error| format!("{path}: {error}"))?;
    }
    let rule = Rule::plain(Arc::clone(gate));
    let cache = cache.map(|cache| cache.join(&gate.name));
    let workshop = Workshop::default();
    let ask = Ask {
        rule: &rule,
        program,
        search,
        root: &root,
        path: &sample.path,
        language: language_of(&sample.path, sample.draft.lines().next()),
        text: &text,
        on_disk: standing == Standing::Empty,
        gone: false,
        company: &[],
        also: &[],
        isolation: Isolation::None,
        ceiling: Ceiling::default(),
        cache: cache.as_deref(),
        versions: &workshop.versions,
    };
    let limit = watch.until(Instant::now() + rule.timeout.max(LEAST_TIME));
    let seen = match (gate.command(), gate.server()) {
        // Nothing stands in for the server, which is started for this one question.
        (None, Some(server)) => {
            server::look(&ask, server, &workshop, limit).map(|seen| seen.into_iter().flatten().collect())
        }
        (Some(_), _) | (None, None) => look(&ask, limit),
    };
    let seen = seen.map_err(|silence| told(&silence))?;
    Ok(seen.into_iter().map(|seen| finding(gate, seen)).collect())
}

fn write(root: &Path, path: &str, text: &str) -> io::Result<()> {
    if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::Error::other("no path below a root"));
    }
    let place = root.join(path);
    fs::create_dir_all(place.parent().unwrap_or(root))?;
    // Some programs know a file by its time and its size.
    stage::write(&place, text.as_bytes())
}
