//! Reads process information from proc(5).
//!
//! Invariant: each result describes one moment. The process may have ended since, and its number may be
//! reused.

use std::fs;
use std::str::FromStr;

use rustix::process::Pid;

/// A process, as its `stat` file describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    /// Set when it has ended and only waits to be reaped.
    pub(super) ended: bool,
    /// Its parent. `None` for the first process, or if the parent is outside of this namespace.
    pub(super) parent: Option<Pid>,
    pub(super) group: Option<Pid>,
    /// Its start time, in clock ticks since boot.
    pub(super) started: u64,
}

impl Process {
    /// Reads the state of a process. `None` if it does not exist.
    pub(super) fn read(pid: Pid) -> Option<Process> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        parse(&String::from_utf8_lossy(&stat))
    }
}

/// Parses a `stat` line. The second field is the program's name in parentheses, and may itself contain
/// parentheses.
fn parse(stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Process {
        ended: matches!(field(3)?, "Z" | "X"),
        parent: pid(field(4)?),
        group: pid(field(5)?),
        started: field(22)?.parse().ok()?,
    })
}

/// Returns the children of all threads of a process.
pub(super) fn children(parent: Pid) -> Vec<Pid> {
    let threads = numbers(&format!("/proc/{parent}/task"));
    let lists = threads.map(|thread| fs::read_to_string(format!("/proc/{parent}/task/{thread}/children")));
    lists
        .flat_map(|list| list.unwrap_or_default().split_whitespace().filter_map(pid).collect::<Vec<_>>())
        .collect()
}

/// Returns the processes whose numbers were assigned after this one, and perhaps more.
///
/// Numbers increase, and wrap around at `/proc/sys/kernel/pid_max`. The last one assigned is at the end of
/// `/proc/loadavg`.
pub(super) fn started_after(first: Pid) -> impl Iterator<Item = Pid> {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let last = load.split_whitespace().last().and_then(pid);
    numbers("/proc").filter(move |pid| last.is_none_or(|last| is_after(*pid, first, last)))
}

fn is_after(pid: Pid, first: Pid, last: Pid) -> bool {
    let begun_again = last.as_raw_pid() < first.as_raw_pid();
    pid.as_raw_pid() > first.as_raw_pid() || (begun_again && pid.as_raw_pid() <= last.as_raw_pid())
}

/// Returns the value of a variable in the environment with which a process was started. Another user's
/// environment cannot be read.
pub(super) fn variable(of: Pid, name: &str) -> Option<Vec<u8>> {
    let environment = fs::read(format!("/proc/{of}/environ")).ok()?;
    let value =
        |variable: &[u8]| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=").map(<[u8]>::to_vec);
    environment.split(|byte| *byte == 0).find_map(value)
}

fn numbers(folder: &str) -> impl Iterator<Item = Pid> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| pid(entry.file_name().to_str()?))
}

fn pid(digits: &str) -> Option<Pid> {
    i32::from_str(digits).ok().filter(|number| *number > 0).and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use rustix::process::getpid;

    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let fields: Vec<String> = (6..=30).map(|number| number.to_string()).collect();
        let stat = |name: &str, state: &str| format!("7 ({name}) {state} 1 5 {}", fields.join(" "));
        let expected = Process { ended: false, parent: pid("1"), group: pid("5"), started: 22 };
        for name in ["true", "a b", ") Z 9 9 9", "(("] {
            assert_eq!(parse(&stat(name, "S")), Some(expected));
        }
        assert_eq!(parse(&stat("x", "Z")), Some(Process { ended: true, ..expected }));
        assert_eq!(parse("7 (x) S 1"), None);
    }

    #[test]
    fn numbers_begin_again_from_below() {
        let later = |first, last| {
            let numbers = [2, 5, 9].map(|number| Pid::from_raw(number).unwrap()).into_iter();
            let (first, last) = (Pid::from_raw(first).unwrap(), Pid::from_raw(last).unwrap());
            numbers.filter(|pid| is_after(*pid, first, last)).map(Pid::as_raw_pid).collect::<Vec<_>>()
        };
        assert_eq!(later(5, 9), [9]);
        assert_eq!(later(9, 3), [2]);
        assert_eq!(later(4, 2), [2, 5, 9]);
        assert_eq!(later(9, 9), [0; 0]);
    }

    #[test]
    fn this_process_is_found() {
        let own = Process::read(getpid()).unwrap();
        assert!(!own.ended && own.started > 0);
        assert!(children(own.parent.unwrap()).contains(&getpid()));
        assert!(
            started_after(Pid::INIT).any(|pid| pid == getpid())
                && started_after(getpid()).all(|pid| pid != getpid())
        );
        assert_eq!(
            variable(getpid(), "CARGO_PKG_NAME").is_some(),
            std::env::var_os("CARGO_PKG_NAME").is_some()
        );
        assert_eq!(variable(getpid(), "CARGO_PKG_NAM"), None);
    }
}
