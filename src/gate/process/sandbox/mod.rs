//! What keeps a gate's program from the rest of the machine: bubblewrap where that works, else Landlock, else nothing.
//!
//! Whatever starts a program for a gate starts it by [`start`], a run as well as a server, so that none is left outside.
//!
//! Invariant: a program is started in the cage that its order names, or not at all; no cage is made weaker because a
//! stronger one fails.

mod bubblewrap;
mod landlock;
mod level;
mod listener;
mod places;
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
use crate::policy::Isolation;

pub(in crate::gate) use self::level::{Ceiling, lack, shortfall, strongest};
use self::places::SandboxPaths;

/// What one program is kept in.
#[derive(Debug, Clone, Default)]
pub(in crate::gate) struct Sandbox {
    /// How; with [`Isolation::None`] all else is of no account.
    pub(in crate::gate) level: Isolation,
    /// The project's tree, which it reads.
    pub(in crate::gate) tree: Option<PathBuf>,
    /// Further places that it reads, should they lie in a folder that is hidden from it.
    pub(in crate::gate) shown: Vec<PathBuf>,
    /// The folder of its run, in which it may write.
    pub(in crate::gate) own: Option<PathBuf>,
    /// A folder that lasts, in which it may write.
    pub(in crate::gate) cache: Option<PathBuf>,
    /// What lies over the tree, in the order in which it is laid; bubblewrap alone does that.
    pub(in crate::gate) layers: Vec<SandboxLayer>,
    /// Whether it may use the network.
    pub(in crate::gate) network: bool,
    /// What of the seccomp filter is left out, in a test that shows what it is for.
    #[cfg(test)]
    pub(in crate::gate) filter: FilterParts,
}

/// The parts of the seccomp filter that a program gets.
#[cfg(test)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::gate) enum FilterParts {
    /// All of it.
    #[default]
    All,
    /// The filter without its supervisor.
    Unsupervised,
    /// None.
    Nothing,
}

/// A piece of what lies over the tree; all paths are absolute and without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate) enum SandboxLayer {
    /// A folder becomes an empty one.
    Empty(PathBuf),
    /// What lies here is seen there.
    Seen { from: PathBuf, at: PathBuf },
    /// A link to this is made there.
    Link { to: PathBuf, at: PathBuf },
    /// A folder that was emptied takes no more.
    Sealed(PathBuf),
}

/// Starts the program of an order in its cage, with this mark in its environment.
pub(super) fn start(order: &Order<'_>, mark: &str) -> io::Result<Child> {
    let cage = &order.cage;
    match cage.level {
        Isolation::None => prepared(Command::new(order.program), order, mark, &[])
            .args(&order.argv)
            .current_dir(order.folder)
            .spawn(),
        Isolation::Landlock => {
            let places = SandboxPaths::new(cage, order);
            let said = landlock::said(cage)?;
            let mut command = prepared(Command::new(order.program), order, mark, &said);
            command.args(&order.argv).current_dir(order.folder);
            landlock::start(command, cage, &places)
        }
        Isolation::Bubblewrap => {
            let places = SandboxPaths::new(cage, order);
            let mut command =
                prepared(Command::new(bubblewrap::program()?), order, mark, &bubblewrap::said(&places));
            let filter = bubblewrap::filter()?;
            command.args(bubblewrap::words(cage, &places, order.folder));
            command.arg("--seccomp").arg(filter.as_raw_fd().to_string()).arg("--").arg(order.program);
            command.args(&order.argv).current_dir("/");
            starter::start(command, filter)
        }
    }
}

/// All but the words and the folder; `said` is what its cage adds to the environment.
fn prepared(
    mut command: Command,
    order: &Order<'_>,
    mark: &str,
    said: &[(OsString, Option<OsString>)],
) -> Command {
    use std::os::unix::process::CommandExt;
    let stdin = if order.input.is_some() { Stdio::piped() } else { Stdio::null() };
    command
        .env_clear()
        .envs(environment(said, &order.env, mark))
        .process_group(0)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// How the program in a cage ended, by how the process ended that was started for it.
pub(super) fn told(level: Isolation, exit: Exit) -> Exit {
    match (level, exit) {
        (Isolation::Bubblewrap, Exit::Code(code)) => bubblewrap::told(code),
        (_, exit) => exit,
    }
}

/// Why a program was never started, by what its cage said on standard error; the end of a sentence.
pub(super) fn unstarted(level: Isolation, exit: Exit, stderr: &[u8]) -> Option<String> {
    match (level, exit) {
        (Isolation::Bubblewrap, Exit::Code(code)) => bubblewrap::unstarted(code, stderr),
        _ => None,
    }
}

/// What is hidden lies in one of these folders, or is one.
fn lies_in(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Has no program inherit the descriptors that this process was started with, but for standard input, output and error.
///
/// For a program that calls it before it opens anything that its own children should have. A client may leave descriptors
/// open, and what a program has open is not kept from it by any level. Before Linux 5.11 it does nothing.
pub fn close_inherited_on_exec() {
    const AFTER_STANDARD_ERROR: u32 = 3;
    listener::close_on_exec_from(AFTER_STANDARD_ERROR);
}

/// Installs a listener for this thread and what it starts, as a program that supervises lockgate itself does; it is told of
/// no call that anybody makes.
#[cfg(test)]
pub(super) fn listen_as_another_supervisor() -> io::Result<impl Sized> {
    listener::Listener::install(&seccomp::handing_over_calls(&[libc::SYS_vhangup])?)
}
