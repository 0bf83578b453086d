//! A running server and its thread, which exchanges messages with it, monitors it and ends it.
//!
//! Invariant: the thread that started the program lives as long as the program. Callers wait no longer than
//! their limit. When a [`RunningServer`] is dropped, none of its processes is left.

use parking_lot::{Condvar, Mutex};
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};
use serde_json::Value;

use super::capabilities::Capabilities;
use super::frame::LspReader;
use super::state::{ServerExit, ServerState};
use crate::error::GateError;
use crate::finding::sanitize;
use crate::stage::Stage;
use lockgate_sandbox::{Daemon, Limit, Order, Sandbox};

/// The longest wait before the time limit is checked again.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The interval of checks on an unused server.
const IDLE_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The program, arguments and settings to start a server with.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) argv: Vec<OsString>,
    pub(super) folder: PathBuf,
    pub(super) env: Vec<(OsString, OsString)>,
    /// The parameters of the `initialize` request.
    pub(super) initialize_params: Value,
    pub(super) capabilities: Capabilities,
    /// The sandbox, and the private folder that it uses.
    pub(super) sandbox: Sandbox,
    pub(super) _stage: Option<Stage>,
    /// The limit of its memory, in bytes.
    pub(super) memory: u64,
    /// The time after which an unused server is ended.
    pub(super) idle_timeout: Duration,
}

impl Launch {
    /// Returns the order for the server's program; no other code names that program.
    fn order(&self) -> Order<'_> {
        let (argv, env) = (self.argv.clone(), self.env.clone());
        let sandbox = self.sandbox.clone();
        // Its input stays open, and is empty at the start.
        Order { program: &self.program, argv, cwd: &self.folder, env, input: Some(b""), sandbox }
    }
}

/// The decision of a waiting caller about the state.
pub(super) enum WaitOutcome<T> {
    /// The wait is over, with this result.
    Done(T),
    /// The caller waits for another change of the state.
    Wait,
    /// The result is complete at this time, unless the state changes first.
    Until(Instant),
}

/// A server that runs on a thread of its own.
#[derive(Debug)]
pub(super) struct RunningServer {
    shared: Arc<ServerShared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct ServerShared {
    state: Mutex<ServerState>,
    changed: Condvar,
    /// The eventfd that wakes the server's thread.
    wake_fd: OwnedFd,
}

impl RunningServer {
    /// Starts a server; `initialize` is handled in the background.
    pub(super) fn start(launch: Launch) -> Result<RunningServer, String> {
        let describe = |error: std::io::Error| format!("could not be started: {error}");
        let wake_fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake_fd = wake_fd.map_err(|error| describe(error.into()))?;
        let shared = Arc::new(ServerShared {
            state: Mutex::new(ServerState::new()),
            changed: Condvar::new(),
            wake_fd,
        });
        let server = Arc::clone(&shared);
        let run = move || {
            let end = server.run(&launch);
            let mut state = server.state.lock();
            state.exit = Some(match end {
                Ok(end) => end,
                Err(why) if state.initialized => ServerExit::Died(why),
                Err(why) => ServerExit::FailedToStart(why),
            });
            drop(state);
            server.changed.notify_all();
        };
        let thread = Builder::new().name("language server".to_owned()).spawn(run).map_err(describe)?;
        Ok(RunningServer { shared, thread: Some(thread) })
    }

    /// Runs `work` on the state, and sends the messages that it queued.
    pub(super) fn with_state<T>(&self, work: impl FnOnce(&mut ServerState) -> T) -> T {
        let mut state = self.shared.state.lock();
        let done = work(&mut state);
        let wakes = !state.outgoing.is_empty() || state.stop;
        drop(state);
        if wakes {
            self.shared.wake();
        }
        done
    }

    /// Waits until `check` returns a result, or until the limit.
    ///
    /// Errors: [`GateError::Unreachable`] if the server has ended, and those of the limit.
    pub(super) fn wait<T>(
        &self,
        limit: Limit<'_>,
        mut check: impl FnMut(&mut ServerState) -> WaitOutcome<T>,
    ) -> Result<T, GateError> {
        let mut state = self.shared.state.lock();
        loop {
            let until = match check(&mut state) {
                WaitOutcome::Done(found) => return Ok(found),
                WaitOutcome::Wait => limit.end(),
                WaitOutcome::Until(moment) => moment,
            };
            match &state.exit {
                Some(ServerExit::Died(why)) => {
                    return Err(GateError::Unreachable(format!("the language server {why}")));
                }
                Some(ServerExit::FailedToStart(why)) => {
                    return Err(GateError::Unreachable(format!(
                        "its program does not run as a language server: it {why}"
                    )));
                }
                Some(ServerExit::Stopped) => {
                    return Err(GateError::Unreachable("the language server was stopped".to_owned()));
                }
                None => {}
            }
            if let Some(halt) = limit.reached() {
                return Err(halt.into());
            }
            let left = until.min(limit.end()).saturating_duration_since(Instant::now());
            let turn = left.min(POLL_INTERVAL).max(Duration::from_millis(1));
            self.shared.changed.wait_for(&mut state, turn);
        }
    }

    /// Returns the reason once the server has ended.
    pub(super) fn exit(&self) -> Option<ServerExit> {
        self.shared.state.lock().exit.clone()
    }

    /// Ends the server, and returns the thread that does so.
    pub(super) fn stop(mut self) -> Option<JoinHandle<()>> {
        self.with_state(|state| state.stop = true);
        self.thread.take()
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.with_state(|state| state.stop = true);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl ServerShared {
    fn wake(&self) {
        let _written = rustix::io::write(&self.wake_fd, &1u64.to_ne_bytes());
    }

    /// Exchanges messages with the server from its start to its end.
    fn run(&self, launch: &Launch) -> Result<ServerExit, String> {
        let mut server = Daemon::start(&launch.order(), launch.memory)?;
        let initialize = self.state.lock().request("initialize", &launch.initialize_params);
        let mut frames = LspReader::default();
        loop {
            let outgoing = {
                let mut state = self.state.lock();
                if state.stop || (!state.busy && state.last_used.elapsed() >= launch.idle_timeout) {
                    // This is set before its processes are gone, so that no caller starts to wait for it.
                    state.exit = Some(ServerExit::Stopped);
                    drop(state);
                    server.shut_down();
                    return Ok(ServerExit::Stopped);
                }
                std::mem::take(&mut state.outgoing)
            };
            if !outgoing.is_empty() {
                server.queue_input(&outgoing)?;
            }
            let mut buffer = [0; 8];
            frames.feed(server.poll_once(self.wake_fd.as_fd(), IDLE_POLL_INTERVAL));
            let _quiet = rustix::io::read(&self.wake_fd, &mut buffer);
            while let Some(message) = frames.next()? {
                launch.capabilities.handle_message(&message, initialize, &mut self.state.lock())?;
                self.changed.notify_all();
            }
            if let Some(why) = server.describe_exit() {
                return Err(self.with_last_output(why, server));
            }
            if let Some(what) = server.exceeded_limit() {
                return Err(format!("{what}, and was stopped"));
            }
        }
    }

    /// Adds the server's own message about its end.
    fn with_last_output(&self, why: String, mut server: Daemon) -> String {
        let stderr = server.take_stderr();
        let stderr = String::from_utf8_lossy(&stderr);
        let line = stderr.lines().map(sanitize).rfind(|line| !line.is_empty());
        match line.or_else(|| self.state.lock().last_message.clone()) {
            Some(line) => format!("{why}; it said: {line}"),
            None => why,
        }
    }
}
