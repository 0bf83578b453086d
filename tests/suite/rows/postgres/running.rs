//! A cluster that runs: who guards it, and the ways in which it ends.

use std::io::Write as _;
use std::process::{Child, ChildStdin};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::host::{children, is_dead};
use crate::suite::wire::TIMEOUT;

/// Runs a cluster until its input ends, and removes its folder if it was told so first.
pub const GUARD: &str = r#"
folder=$1; shift
"$@" & pid=$!
echo $pid
read -r last
kill -QUIT $pid 2>/dev/null
wait $pid
[ "$last" = keep ] || rm -rf "$folder"
"#;

/// A cluster that runs.
pub struct Running {
    pub guard: Child,
    pub input: Option<ChildStdin>,
    pub postmaster: Pid,
}

/// How a cluster is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As by a person: connections are closed, all is written.
    Clean,
    /// As by a person in a hurry: what is open is lost, and recovered at the next start.
    Immediate,
    /// As by a machine without memory: every process of it is killed.
    Killed,
}

impl Running {
    /// Tells the guard what becomes of the folder, and waits for it.
    pub fn end(&mut self, last: &str) {
        if let Some(mut input) = self.input.take() {
            writeln!(input, "{last}").ok();
        }
        self.guard.wait().ok();
    }

    /// Ends the cluster; its folder stays.
    pub fn stop(&mut self, how: Ending) {
        // Those whom the first process of a cluster does not wait for, as it is killed.
        let mut orphans = Vec::new();
        match how {
            Ending::Clean => kill_process(self.postmaster, Signal::INT).unwrap(),
            Ending::Immediate => kill_process(self.postmaster, Signal::QUIT).unwrap(),
            Ending::Killed => {
                orphans = children(self.postmaster);
                kill_process(self.postmaster, Signal::KILL).unwrap();
                for orphan in &orphans {
                    // Those that saw it first have ended.
                    kill_process(*orphan, Signal::KILL).ok();
                }
            }
        }
        let start = Instant::now();
        while !is_dead(self.postmaster) || !orphans.iter().copied().all(is_dead) {
            assert!(start.elapsed() < TIMEOUT, "PostgreSQL does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        self.end("keep");
    }
}
