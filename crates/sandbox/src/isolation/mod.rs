//! Isolates a gate's program from the rest of the machine: with bubblewrap if it works, else with Landlock,
//! else not at all.
//!
//! All code that starts a program for a gate uses [`start`], for runs and for servers, so that none bypasses
//! the sandbox.
//!
//! Invariant: a program is started in the sandbox of its order, or not at all. If a stronger level fails, no
//! weaker one replaces it.

mod before_program;
pub(super) mod bubblewrap;
pub(super) mod landlock;
mod listener;
mod paths;
mod seccomp;
mod starter;
mod supervisor;

use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::process::{Child, Command, Stdio};

use super::environment::environment;
use super::exit::Exit;
use super::order::Order;
use crate::isolation_level::Isolation;

use self::paths::SandboxPaths;

/// Starts the program of an order in its sandbox, with this mark in its environment.
pub(super) fn start(order: &Order<'_>, mark: &str) -> io::Result<Child> {
    let sandbox = &order.sandbox;
    match sandbox.level {
        Isolation::None => {
            let mut command = configure(Command::new(order.program), order, mark, &[])?;
            command.current_dir(order.cwd).spawn()
        }
        Isolation::Landlock => {
            let paths = SandboxPaths::new(sandbox, order);
            let variables = landlock::environment(sandbox)?;
            let mut command = configure(Command::new(order.program), order, mark, &variables)?;
            command.current_dir(order.cwd);
            landlock::start(command, sandbox, &paths)
        }
        Isolation::Bubblewrap => {
            let paths = SandboxPaths::new(sandbox, order);
            let mut command = Command::new(bubblewrap::program()?);
            let filter = bubblewrap::filter()?;
            command.args(bubblewrap::arguments(sandbox, &paths, order.cwd));
            command.arg("--seccomp").arg(filter.as_raw_fd().to_string()).arg("--").arg(order.program);
            let mut command = configure(command, order, mark, &bubblewrap::environment(&paths))?;
            command.current_dir("/");
            starter::start(command, filter)
        }
    }
}

/// Adds the arguments of the order, and sets all but the working directory. `variables` is the sandbox's part of the
/// environment.
fn configure(
    mut command: Command,
    order: &Order<'_>,
    mark: &str,
    variables: &[(OsString, Option<OsString>)],
) -> io::Result<Command> {
    use std::os::unix::process::CommandExt;
    let stdin = if order.input.is_some() { Stdio::piped() } else { Stdio::null() };
    command
        .args(&order.argv)
        .env_clear()
        .envs(environment(variables, &order.env, mark))
        .process_group(0)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    before_program::limit_and_adopt_orphans(&mut command)?;
    Ok(command)
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
