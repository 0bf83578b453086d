//! Isolates a gate's program from the rest of the machine: with bubblewrap if it works, else with Landlock,
//! else not at all.
//!
//! All code that starts a program for a gate uses [`start`], for runs and for servers, so that none bypasses
//! the sandbox.
//!
//! Invariant: a program is started in the sandbox of its order, or not at all. If a stronger level fails, no
//! weaker one replaces it.

mod bubblewrap;
mod landlock;
mod level;
mod listener;
mod paths;
mod seccomp;
mod starter;
mod supervisor;

use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::Order;
use super::environment::environment;
use super::running::Exit;
use lockgate_policy::Isolation;

pub(crate) use self::level::{Ceiling, isolation_shortfall, strongest, unavailable_reason};
use self::paths::SandboxPaths;

/// The sandbox of one program: its isolation level, and the paths it may read and write.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sandbox {
    /// The isolation level; with [`Isolation::None`] the other fields have no effect.
    pub(crate) level: Isolation,
    /// The project's tree, which the program may read.
    pub(crate) tree: Option<PathBuf>,
    /// Further readable paths, in case they are in a hidden folder.
    pub(crate) readable: Vec<PathBuf>,
    /// The folder of the run, which the program may write to.
    pub(crate) run_dir: Option<PathBuf>,
    /// A folder that outlasts the run, which the program may write to.
    pub(crate) cache: Option<PathBuf>,
    /// Layers mounted over the tree, in mounting order; only bubblewrap supports them.
    pub(crate) layers: Vec<SandboxLayer>,
    /// Set when the program may use the network.
    pub(crate) network: bool,
    /// The parts of the seccomp filter to install, for tests that show what each is for.
    #[cfg(test)]
    pub(crate) filter: FilterParts,
}

/// The parts of the seccomp filter that a program gets.
#[cfg(test)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FilterParts {
    /// The filter and its supervisor.
    #[default]
    All,
    /// The filter without its supervisor.
    Unsupervised,
    /// No seccomp filter at all.
    Off,
}

/// A layer over the tree; all paths are absolute and without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SandboxLayer {
    /// Mounts an empty folder over this one.
    Empty(PathBuf),
    /// Binds `from` read-only at `at`.
    Bind { from: PathBuf, at: PathBuf },
    /// Makes a symbolic link to `to` at `at`.
    Link { to: PathBuf, at: PathBuf },
    /// Makes an emptied folder read-only.
    ReadOnly(PathBuf),
}

/// Starts the program of an order in its sandbox, with this mark in its environment.
pub(super) fn start(order: &Order<'_>, mark: &str) -> io::Result<Child> {
    let sandbox = &order.sandbox;
    match sandbox.level {
        Isolation::None => configure(Command::new(order.program), order, mark, &[])
            .args(&order.argv)
            .current_dir(order.cwd)
            .spawn(),
        Isolation::Landlock => {
            let places = SandboxPaths::new(sandbox, order);
            let variables = landlock::environment(sandbox)?;
            let mut command = configure(Command::new(order.program), order, mark, &variables);
            command.args(&order.argv).current_dir(order.cwd);
            landlock::start(command, sandbox, &places)
        }
        Isolation::Bubblewrap => {
            let places = SandboxPaths::new(sandbox, order);
            let mut command = configure(
                Command::new(bubblewrap::program()?),
                order,
                mark,
                &bubblewrap::environment(&places),
            );
            let filter = bubblewrap::filter()?;
            command.args(bubblewrap::arguments(sandbox, &places, order.cwd));
            command.arg("--seccomp").arg(filter.as_raw_fd().to_string()).arg("--").arg(order.program);
            command.args(&order.argv).current_dir("/");
            starter::start(command, filter)
        }
    }
}

/// Sets all but the arguments and the working directory. `variables` is the sandbox's part of the environment.
fn configure(
    mut command: Command,
    order: &Order<'_>,
    mark: &str,
    variables: &[(OsString, Option<OsString>)],
) -> Command {
    use std::os::unix::process::CommandExt;
    let stdin = if order.input.is_some() { Stdio::piped() } else { Stdio::null() };
    command
        .env_clear()
        .envs(environment(variables, &order.env, mark))
        .process_group(0)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Returns the exit status of the program itself, from that of the process that was started for it.
pub(super) fn program_exit(level: Isolation, exit: Exit) -> Exit {
    match (level, exit) {
        (Isolation::Bubblewrap, Exit::Code(code)) => bubblewrap::program_exit(code),
        (_, exit) => exit,
    }
}

/// Describes why a program was never started, from the sandbox's standard error; the end of a sentence.
pub(super) fn start_failure(level: Isolation, exit: Exit, stderr: &[u8]) -> Option<String> {
    match (level, exit) {
        (Isolation::Bubblewrap, Exit::Code(code)) => bubblewrap::start_failure(code, stderr),
        _ => None,
    }
}

/// Returns true if a path is in one of these folders, or is one.
fn is_inside(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Prevents programs from inheriting the descriptors of this process, except standard input, output and
/// error.
///
/// Call it before opening descriptors that child processes should inherit. A client may leave descriptors
/// open, and no isolation level keeps a program from an open descriptor. Does nothing before Linux 5.11.
pub fn close_inherited_on_exec() {
    const AFTER_STANDARD_ERROR: u32 = 3;
    listener::close_on_exec_from(AFTER_STANDARD_ERROR);
}

/// Installs a listener for this thread and its children, like a program that supervises lockgate. It receives
/// no call that any program makes.
#[cfg(test)]
pub(super) fn install_foreign_listener() -> io::Result<impl Sized> {
    listener::Listener::install(&seccomp::supervising_filter_for(&[libc::SYS_vhangup])?)
}
