//! The steps of a new process before its program: it limits itself, and becomes the parent of its orphans.
//!
//! The kernel gives a process that loses its parent to the nearest ancestor that asks for orphans (prctl(2),
//! `PR_SET_CHILD_SUBREAPER`). If the program itself is that ancestor, everything that it starts stays below it: it is
//! counted while the program runs, and belongs to no other program. The setting is kept across execve(2).
//!
//! Invariant: the program is started by execve(2) itself. The standard library would start a file of an unknown format
//! with a shell, because it uses execvp(3) for a command with a step before the program.
#![expect(
    unsafe_code,
    reason = "the standard library has only an unsafe function for a step in the new process before the program, and \
              nothing for execve(2); the steps are a few system calls, allocate nothing and take no lock"
)]

use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use rustix::process::{getpid, set_child_subreaper};

use super::super::limits;

/// Makes the program of this command start with the limits of the kernel, and adopt the orphans below it, as far as the
/// kernel can. The command must be complete but for its folder and its standard streams, have no variable that is inherited,
/// and name its program by a path.
///
/// Errors: a word or a variable has a zero byte.
pub(super) fn limit_and_adopt_orphans(command: &mut Command) -> io::Result<()> {
    let program = ExecArguments::from_command(command)?;
    let start = move || {
        limits::set_rlimits();
        let _adopts = set_child_subreaper(Some(getpid()));
        Err(program.execute())
    };
    // SAFETY: between fork(2) and execve(2) only functions that are safe in a signal handler may be called; all of
    // these are plain system calls.
    unsafe { command.pre_exec(start) };
    Ok(())
}

/// The arguments of execve(2), prepared before the new process exists.
struct ExecArguments {
    path: CString,
    words: Strings,
    variables: Strings,
}

impl ExecArguments {
    fn from_command(command: &Command) -> io::Result<ExecArguments> {
        let program = command.get_program();
        let words = [program].into_iter().chain(command.get_args()).map(OsStr::to_owned);
        let variables = command.get_envs().filter_map(|(name, value)| {
            let mut variable = name.to_owned();
            variable.push("=");
            variable.push(value?);
            Some(variable)
        });
        Ok(ExecArguments {
            path: CString::new(program.as_bytes())?,
            words: Strings::new(words.map(|word| CString::new(word.as_bytes())))?,
            variables: Strings::new(variables.map(|variable| CString::new(variable.as_bytes())))?,
        })
    }

    /// Starts the program in place of this process; returns the error if that fails.
    fn execute(&self) -> io::Error {
        // SAFETY: the path and all strings end with a zero, the two arrays with a null pointer, and all of them live
        // until the process has another program.
        unsafe {
            libc::execve(self.path.as_ptr(), self.words.pointers.as_ptr(), self.variables.pointers.as_ptr())
        };
        io::Error::last_os_error()
    }
}

/// Strings, and an array of pointers to them that ends with a null pointer.
struct Strings {
    /// Owns what the pointers lead to; the strings do not move with the vector.
    _owned: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

// SAFETY: the pointers lead to strings of the same value, which nothing changes.
unsafe impl Send for Strings {}
// SAFETY: as above.
unsafe impl Sync for Strings {}

impl Strings {
    fn new<E: Into<io::Error>>(strings: impl Iterator<Item = Result<CString, E>>) -> io::Result<Strings> {
        let owned = strings.collect::<Result<Vec<CString>, E>>().map_err(Into::into)?;
        let pointers = owned.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect();
        Ok(Strings { _owned: owned, pointers })
    }
}
