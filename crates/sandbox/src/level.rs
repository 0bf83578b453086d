//! Detects the isolation levels of this machine by running a probe program in each sandbox.
//!
//! Invariant: a level counts only if the probe could not change the tree or read hidden files, and could
//! still work.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::isolation::{bubblewrap, landlock};
use super::order::{Order, Sandbox};
use super::run::{ProcessOutcome, run};
use crate::isolation_level::Isolation;
use crate::private_folder::PrivateFolder;
use crate::watch::Watch;

/// The variable with the highest level to use; if a policy requires a higher one, its programs do not run.
const CEILING: &str = "LOCKGATE_ISOLATION";

/// The time limit of the probe program.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// The probe's shell script. Its arguments are a hidden file, the number of seccomp filters outside of the
/// sandbox, and [`OWN_MODES`] if it can change the modes of its own files; `TMPDIR` is a private folder.
/// Kernels before Linux 5.9 do not report the number of filters.
const PROBE: &str = "\
    (: < known) || exit 10\n\
    (echo x > known) 2> /dev/null && exit 11\n\
    (echo x > new) 2> /dev/null && exit 12\n\
    (cat \"$1\") > /dev/null 2>&1 && exit 13\n\
    (echo x > \"$TMPDIR/own\") || exit 14\n\
    chmod 0600 known 2> /dev/null && exit 15\n\
    chmod 0600 \"$TMPDIR/own\" 2> /dev/null || [ \"$3\" != modes ] || exit 16\n\
    while read -r name value; do\n\
        case $name in Seccomp_filters:) [ \"$value\" -gt \"$2\" ] || exit 17;; esac\n\
    done < /proc/self/status\n\
    exit 42";

/// Passed to a probe that can change the modes of its own files.
const OWN_MODES: &str = "modes";

/// The meanings of the probe's exit codes.
const PROBE_ERRORS: [(i32, &str); 8] = [
    (10, "a sandboxed program cannot read the project"),
    (11, "a sandboxed program can write to a file of the project"),
    (12, "a sandboxed program can make a file in the project"),
    (13, "a sandboxed program can read hidden files"),
    (14, "a sandboxed program has no folder for temporary files"),
    (15, "a sandboxed program can change the mode of a file of the project"),
    (16, "a sandboxed program cannot change the mode of its own file"),
    (17, "a sandboxed program has no seccomp filter"),
];

/// The exit code of a successful probe.
const PROBE_OK: i32 = 42;

/// The highest isolation level to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceiling(pub Isolation);

impl Default for Ceiling {
    /// Reads the level from the environment; an unknown name is ignored.
    fn default() -> Ceiling {
        let name = env::var(CEILING).unwrap_or_default();
        let all = [Isolation::None, Isolation::Landlock, Isolation::Bubblewrap];
        let level = all.into_iter().find(|level| level.name() == name);
        Ceiling(level.unwrap_or(Isolation::Bubblewrap))
    }
}

static BUBBLEWRAP: LazyLock<Result<(), String>> = LazyLock::new(|| {
    bubblewrap::program().map_err(|error| error.to_string())?;
    probe(Isolation::Bubblewrap)
});
static LANDLOCK: LazyLock<Result<(), String>> = LazyLock::new(|| probe(Isolation::Landlock));

/// Returns the reason if a level does not work on this machine. Each level is probed once per process.
fn probe_result(level: Isolation) -> &'static Result<(), String> {
    match level {
        Isolation::None => &Ok(()),
        Isolation::Landlock => &LANDLOCK,
        Isolation::Bubblewrap => &BUBBLEWRAP,
    }
}

/// Returns the highest level that works, up to a ceiling.
pub fn strongest(ceiling: Ceiling) -> Isolation {
    let levels = [Isolation::Bubblewrap, Isolation::Landlock];
    let found = levels.into_iter().find(|level| *level <= ceiling.0 && probe_result(*level).is_ok());
    found.unwrap_or(Isolation::None)
}

/// Returns the reason why a program that requires this level may not run; `None` if it may.
pub fn isolation_shortfall(required: Isolation, ceiling: Ceiling) -> Option<String> {
    let found = strongest(ceiling);
    if found >= required {
        return None;
    }
    let why = unavailable_reason(required, ceiling).unwrap_or_default();
    Some(format!("the policy requires {}, and this machine has {}: {why}", required.name(), found.name()))
}

/// Returns the reason why a level is unavailable under a ceiling; `None` if it is available.
pub fn unavailable_reason(level: Isolation, ceiling: Ceiling) -> Option<String> {
    if level > ceiling.0 {
        return Some(format!("{CEILING} allows {} at most", ceiling.0.name()));
    }
    probe_result(level).clone().err()
}

/// The number of seccomp filters of this process (proc(5)).
fn filter_count() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}

/// Runs the probe in a sandbox of this level.
fn probe(level: Isolation) -> Result<(), String> {
    let message = |error: std::io::Error| error.to_string();
    let stage = PrivateFolder::new().map_err(message)?;
    let (tree, own) = (stage.folder("tree").map_err(message)?, stage.folder("own").map_err(message)?);
    let (known, hidden) = (tree.join("known"), stage.folder("hidden").map_err(message)?.join("key"));
    fs::write(&known, "known").map_err(message)?;
    fs::write(&hidden, "key").map_err(message)?;
    let sandbox = Sandbox { level, tree: Some(tree.clone()), run_dir: Some(own), ..Sandbox::default() };
    let filters = OsString::from(filter_count().to_string());
    // Under another program's supervisor all changes of modes are refused, which is no less strict.
    let modes = if level == Isolation::Landlock && !landlock::can_supervise() { "" } else { OWN_MODES };
    let argv =
        ["-c".into(), PROBE.into(), "sh".into(), OsString::from(&hidden), filters, modes.into()].to_vec();
    let order =
        Order { program: Path::new("/bin/sh"), argv, cwd: &tree, env: Vec::new(), input: None, sandbox };
    let watch = Watch::idle();
    match run(&order, watch.until(Instant::now() + PROBE_TIMEOUT)) {
        ProcessOutcome::Exited { code: PROBE_OK, .. }
            if fs::read(&known).is_ok_and(|text| text == b"known") =>
        {
            Ok(())
        }
        ProcessOutcome::Exited { code, .. } | ProcessOutcome::StdinUnread { code, .. } => {
            let error = PROBE_ERRORS.iter().find(|(known, _)| *known == code);
            Err(error.map_or_else(
                || format!("its probe ended with exit code {code}"),
                |(_, why)| (*why).to_owned(),
            ))
        }
        ProcessOutcome::Broken(why) | ProcessOutcome::Killed { why, .. } => Err(why),
        ProcessOutcome::Halted(_) => Err("its probe timed out".to_owned()),
    }
}
