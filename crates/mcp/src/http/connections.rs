//! The open connections, up to a maximum. At the maximum, a new connection replaces the one that was idle longest.
//!
//! Invariant: a connection with a request is never closed for a new one.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use rustix::process::{Resource, getrlimit};
use tokio::sync::Notify;

use super::conn_state::ConnState;
use lockgate_policy::ServerLimits;

/// File descriptors reserved for edited files and gate programs.
const RESERVED_FILES: u64 = 256;
/// Minimum number of connections of a server.
const MIN_CONNECTIONS: usize = 16;

#[derive(Debug)]
pub(super) struct Connections {
    limits: ServerLimits,
    max: usize,
    open: Mutex<OpenConnections>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    states: HashMap<u64, Arc<ConnState>>,
    last: u64,
}

/// The slot of one connection.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    pub(super) state: Arc<ConnState>,
    number: u64,
    connections: Arc<Connections>,
}

impl Connections {
    /// Creates an empty set, limited by the configuration and the system's limit of open files.
    pub(super) fn new(bounds: ServerLimits) -> Arc<Connections> {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).saturating_sub(RESERVED_FILES);
        let most = bounds.connections.min(usize::try_from(files).unwrap_or(usize::MAX)).max(MIN_CONNECTIONS);
        if most < bounds.connections {
            tracing::warn!("limited to {most} connections: the limit of open files (ulimit -n) is low");
        }
        Arc::new(Connections { limits: bounds, max: most, open: Mutex::default(), changed: Notify::new() })
    }

    /// Returns the number of connections.
    pub(super) fn count(&self) -> usize {
        self.open.lock().states.len()
    }

    pub(super) async fn acquire(self: &Arc<Self>) -> ConnectionSlot {
        loop {
            let changed = self.changed.notified();
            if let Some(place) = self.try_acquire() {
                return place;
            }
            changed.await;
        }
    }

    /// Waits until there is no connection.
    pub(super) async fn wait_closed(&self) {
        loop {
            let changed = self.changed.notified();
            if self.count() == 0 {
                return;
            }
            changed.await;
        }
    }

    fn try_acquire(self: &Arc<Self>) -> Option<ConnectionSlot> {
        let mut open = self.open.lock();
        if open.states.len() >= self.max {
            let idle = open.states.iter().filter_map(|(number, state)| Some((state.idle_since()?, *number)));
            let (_, longest) = idle.min()?;
            if let Some(state) = open.states.remove(&longest) {
                state.ended.cancel();
            }
        }
        open.last += 1;
        let (number, state) = (open.last, Arc::new(ConnState::new(self.limits)));
        open.states.insert(number, Arc::clone(&state));
        Some(ConnectionSlot { state, number, connections: Arc::clone(self) })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.open.lock().states.remove(&self.number);
        self.connections.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    fn connections() -> Arc<Connections> {
        Connections::new(ServerLimits { connections: 16, ..ServerLimits::default() })
    }

    #[tokio::test]
    async fn who_was_idle_longest_makes_room_and_who_is_busy_does_not() {
        let connections = connections();
        let mut places = Vec::new();
        for _ in 0..16 {
            places.push(connections.acquire().await);
        }
        let busy = places[0].state.begin_request();
        let _next = connections.acquire().await;
        let ended: Vec<bool> = places.iter().map(|place| place.state.ended.is_cancelled()).collect();
        assert_eq!(ended.iter().position(|ended| *ended), Some(1));
        assert_eq!((ended.iter().filter(|ended| **ended).count(), connections.count()), (1, 16));
        drop(busy);
    }

    #[tokio::test]
    async fn where_all_are_busy_one_waits_for_a_place() {
        let connections = connections();
        let mut places = Vec::new();
        for _ in 0..16 {
            let place = connections.acquire().await;
            places.push((place.state.begin_request(), place));
        }
        assert!(timeout(Duration::from_millis(50), connections.acquire()).await.is_err());
        drop(places.pop());
        assert!(timeout(Duration::from_secs(20), connections.acquire()).await.is_ok());
        places.clear();
        timeout(Duration::from_secs(20), connections.wait_closed()).await.unwrap();
    }
}
