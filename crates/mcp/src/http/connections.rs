//! The open connections, up to a maximum. At the maximum, a new connection replaces the one that was idle longest.
//!
//! Invariant: a connection with a request is never closed for a new one.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use rustix::process::{Resource, getrlimit};
use tokio::sync::Notify;

use super::conn_state::ConnState;
use crate::wait::wait_for;
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
    /// Notified when a connection may have become idle, and when one was closed.
    changed: Arc<Notify>,
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
    pub(super) fn new(limits: ServerLimits) -> Arc<Connections> {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).saturating_sub(RESERVED_FILES);
        let most = limits.connections.min(usize::try_from(files).unwrap_or(usize::MAX)).max(MIN_CONNECTIONS);
        if most < limits.connections {
            tracing::warn!("limited to {most} connections: the limit of open files (ulimit -n) is low");
        }
        Arc::new(Connections { limits, max: most, open: Mutex::default(), changed: Arc::default() })
    }

    /// Returns the number of connections.
    pub(super) fn count(&self) -> usize {
        self.open.lock().states.len()
    }

    /// Waits for a free slot, or for a connection that is idle and makes room.
    pub(super) async fn acquire(self: &Arc<Self>) -> ConnectionSlot {
        wait_for(&self.changed, || self.try_acquire()).await
    }

    /// Waits until there is no connection.
    pub(super) async fn wait_closed(&self) {
        wait_for(&self.changed, || (self.count() == 0).then_some(())).await;
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
        let state = Arc::new(ConnState::new(self.limits, Arc::clone(&self.changed)));
        let number = open.last;
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
        let mut slots = Vec::new();
        for _ in 0..16 {
            slots.push(connections.acquire().await);
        }
        let busy = slots[0].state.begin_request();
        let _next = connections.acquire().await;
        let ended: Vec<bool> = slots.iter().map(|slot| slot.state.ended.is_cancelled()).collect();
        assert_eq!(ended.iter().position(|ended| *ended), Some(1));
        assert_eq!((ended.iter().filter(|ended| **ended).count(), connections.count()), (1, 16));
        drop(busy);
    }

    #[tokio::test]
    async fn where_all_are_busy_one_waits_for_a_place() {
        let connections = connections();
        let mut slots = Vec::new();
        for _ in 0..16 {
            let slot = connections.acquire().await;
            slots.push((slot.state.begin_request(), slot));
        }
        assert!(timeout(Duration::from_millis(50), connections.acquire()).await.is_err());
        drop(slots.pop());
        assert!(timeout(Duration::from_secs(20), connections.acquire()).await.is_ok());
        slots.clear();
        timeout(Duration::from_secs(20), connections.wait_closed()).await.unwrap();
    }

    #[tokio::test]
    async fn where_all_are_busy_the_first_that_becomes_idle_makes_room() {
        let connections = connections();
        let mut slots = Vec::new();
        for _ in 0..16 {
            let slot = connections.acquire().await;
            slots.push((slot.state.begin_request(), slot));
        }
        let acquire = |seconds| timeout(Duration::from_secs_f32(seconds), connections.acquire());
        let (request, idle) = slots.pop().unwrap();
        drop(request);
        assert!(acquire(0.05).await.is_err(), "the end of the answer is not written");
        let (next, ()) = tokio::join!(acquire(20.0), async { idle.state.flushed() });
        let next = next.unwrap();
        let _busy = next.state.begin_request();
        assert!(idle.state.ended.is_cancelled());
        let (request, unread) = slots.pop().unwrap();
        unread.state.blocked();
        drop(request);
        unread.state.sent();
        assert!(acquire(0.05).await.is_err(), "the client has read a part of the answer");
        let (last, ()) = tokio::join!(acquire(20.0), async { unread.state.flushed() });
        assert!(last.is_ok() && unread.state.ended.is_cancelled());
    }
}
