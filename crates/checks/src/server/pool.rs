//! Keeps running language servers: one for each gate, project folder, program and configuration.
//!
//! Invariant: the number of servers is limited, and each handles one request at a time. Dropping the pool
//! ends all of them. A server that died is restarted once. If it dies again within `restart_delay`, it is
//! not started until that time has passed.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::running::Launch;
use super::session::{DiagnosticsRequest, ServerSession};
use super::state::ServerExit;
use crate::error::GateError;
use crate::runtime::Slots;
use lockgate_sandbox::Limit;
use lockgate_text::Version;

/// Limits of the pool: times and the number of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolLimits {
    /// The time after which an unused server is ended.
    pub(crate) idle_timeout: Duration,
    /// The time for which a server that died twice is not restarted.
    pub(crate) restart_delay: Duration,
    /// The largest number of servers at one time.
    pub(crate) most_servers: usize,
}

impl Default for PoolLimits {
    fn default() -> PoolLimits {
        PoolLimits {
            idle_timeout: Duration::from_secs(600),
            restart_delay: Duration::from_secs(60),
            most_servers: 4,
        }
    }
}

/// The identity of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ServerKey {
    /// The hash of the gate and the project folder: there is only one server for each.
    pub(super) project: Version,
    /// The hash of the program, its arguments and its configuration.
    pub(super) configuration: Version,
}

/// A pool of running language servers.
#[derive(Debug, Default)]
pub(crate) struct ServerPool {
    enabled: AtomicBool,
    pub(crate) limits: PoolLimits,
    slots: Mutex<HashMap<Version, (Version, Arc<ServerSlot>)>>,
    /// The threads that are ending their servers.
    ending: Mutex<Vec<JoinHandle<()>>>,
}

/// The slot of one server.
#[derive(Debug)]
struct ServerSlot {
    /// Gives one caller at a time access to the server.
    access: Slots,
    server: Mutex<PooledServer>,
    last_used: Mutex<Instant>,
}

#[derive(Debug, Default)]
struct PooledServer {
    session: Option<ServerSession>,
    /// The times and reasons of its recent deaths.
    deaths: Vec<(Instant, String)>,
    /// The reason why it died twice in one request with a file that is not on disk; it gets no such file
    /// again.
    new_file_death: Option<String>,
    /// The time and reason if it ended before it answered anything.
    failed_start: Option<(Instant, String)>,
}

impl ServerPool {
    /// Lets the pool keep servers from now on.
    pub(crate) fn enable(&self) {
        self.enabled.store(true, Ordering::Relaxed);
    }

    /// Returns true if servers are kept.
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    /// Runs `work`, which sends this request, with a server, which is started if necessary.
    ///
    /// Errors: [`GateError::Unreachable`] if it cannot be used, those of the work, and those of the limit.
    pub(super) fn with_server<T>(
        &self,
        key: &ServerKey,
        request: &DiagnosticsRequest<'_>,
        limit: Limit<'_>,
        launch: impl Fn() -> Result<Launch, GateError>,
        mut work: impl FnMut(&mut ServerSession) -> Result<T, GateError>,
    ) -> Result<T, GateError> {
        let slot = self.slot(key);
        let _turn = slot.access.take(limit)?;
        let mut server = slot.server.lock();
        let mut deaths = 0;
        loop {
            if let Some(why) = server.new_file_death.as_ref().filter(|_| request.has_new_files) {
                return Err(GateError::Unreachable(format!(
                    "the language server gets no files that are not on disk, because it failed on them twice: it {why}"
                )));
            }
            let session = server.ensure_running(self.limits.restart_delay, &launch)?;
            let result = work(session);
            *slot.last_used.lock() = Instant::now();
            if session.is_hanging() {
                self.end_session(server.session.take());
                server.deaths.push((Instant::now(), "timed out more than once".to_owned()));
            }
            match result {
                Err(GateError::Unreachable(why)) => {
                    // If it has ended, it may be restarted.
                    if server.session.as_ref().is_none_or(|session| session.server.exit().is_none()) {
                        return Err(GateError::Unreachable(why));
                    }
                    deaths += 1;
                    if request.has_new_files && deaths > 1 {
                        server.avoid_new_files();
                    }
                }
                result => return result,
            }
        }
    }

    /// Starts a server that will be needed soon, if it does not run yet.
    pub(super) fn prewarm(&self, key: &ServerKey, launch: impl Fn() -> Result<Launch, GateError>) {
        let slot = self.slot(key);
        // A caller that holds the lock is using the server now.
        if let Some(mut server) = slot.server.try_lock() {
            let _unavailable = server.ensure_running(self.limits.restart_delay, &launch);
        }
    }

    /// Returns the slot of a server. To make room, the least recently used servers are ended, and so is one
    /// with another configuration.
    fn slot(&self, key: &ServerKey) -> Arc<ServerSlot> {
        let mut slots = self.slots.lock();
        let known = slots.get(&key.project).filter(|(tool, _)| *tool == key.configuration);
        if let Some((_, slot)) = known {
            return Arc::clone(slot);
        }
        let mut ended: Vec<Arc<ServerSlot>> =
            slots.remove(&key.project).map(|(_, slot)| slot).into_iter().collect();
        while slots.len() >= self.limits.most_servers.max(1) {
            let used = |(place, (_, slot)): (&Version, &(Version, Arc<ServerSlot>))| {
                (*slot.last_used.lock(), *place)
            };
            let Some((_, place)) = slots.iter().map(used).min() else { break };
            ended.extend(slots.remove(&place).map(|(_, slot)| slot));
        }
        let slot = Arc::new(ServerSlot {
            access: Slots::new(1),
            server: Mutex::default(),
            last_used: Mutex::new(Instant::now()),
        });
        slots.insert(key.project, (key.configuration, Arc::clone(&slot)));
        drop(slots);
        // A server that a caller is using ends when that caller drops it.
        for mut server in ended.iter().filter_map(|slot| slot.server.try_lock()) {
            self.end_session(server.session.take());
        }
        slot
    }

    /// Ends a server in the background.
    fn end_session(&self, session: Option<ServerSession>) {
        if let Some(thread) = session.and_then(|session| session.server.stop()) {
            let mut ending = self.ending.lock();
            ending.retain(|thread| !thread.is_finished());
            ending.push(thread);
        }
    }

    /// The number of running servers.
    #[cfg(test)]
    pub(crate) fn running_servers(&self) -> usize {
        let slots = self.slots.lock();
        let runs = |slot: &ServerSlot| match &slot.server.lock().session {
            Some(session) => session.server.exit().is_none(),
            None => false,
        };
        slots.values().filter(|(_, slot)| runs(slot)).count()
    }
}

impl Drop for ServerPool {
    fn drop(&mut self) {
        // All are asked to end before the first is waited for.
        let slots = std::mem::take(&mut *self.slots.lock());
        for (_, slot) in slots.into_values() {
            let session = slot.server.lock().session.take();
            self.end_session(session);
        }
        for thread in std::mem::take(&mut *self.ending.lock()) {
            let _ended = thread.join();
        }
    }
}

impl PooledServer {
    /// Returns the server, started if necessary.
    ///
    /// Errors: if it died too often to be started now.
    fn ensure_running(
        &mut self,
        rest: Duration,
        launch: &impl Fn() -> Result<Launch, GateError>,
    ) -> Result<&mut ServerSession, GateError> {
        self.record_exit();
        if let Some((_, why)) = self.failed_start.as_ref().filter(|(when, _)| when.elapsed() < rest) {
            return Err(GateError::Unreachable(format!(
                "its program does not run as a language server: it {why}"
            )));
        }
        self.deaths.retain(|(when, _)| when.elapsed() < rest);
        if let [.., _, (_, why)] = self.deaths.as_slice() {
            return Err(GateError::Unreachable(format!(
                "the language server is paused because it failed more than once: it {why}"
            )));
        }
        match &mut self.session {
            Some(session) => Ok(session),
            none => {
                let session = ServerSession::start(launch()?)
                    .map_err(|why| GateError::Unreachable(format!("the language server {why}")))?;
                Ok(none.insert(session))
            }
        }
    }

    /// Records the reason if the server has ended.
    fn record_exit(&mut self) {
        match self.session.as_ref().and_then(|session| session.server.exit()) {
            Some(ServerExit::Died(why)) => self.deaths.push((Instant::now(), why)),
            Some(ServerExit::FailedToStart(why)) => self.failed_start = Some((Instant::now(), why)),
            Some(ServerExit::Stopped) => {}
            None => return,
        }
        self.session = None;
    }

    /// Records that it died twice in one request with a file that is not on disk; it is still used for other
    /// files.
    fn avoid_new_files(&mut self) {
        self.record_exit();
        if self.failed_start.is_none()
            && let Some((_, why)) = self.deaths.pop()
        {
            self.deaths.clear();
            self.new_file_death = Some(why);
        }
    }
}
