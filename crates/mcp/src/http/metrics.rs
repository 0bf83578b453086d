//! Metrics and their Prometheus format.
//!
//! Invariant: the number of series depends on this program alone: no name from a client or a project is a label.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

use super::connections::Connections;
use crate::rpc::{CallOutcome, MetricsSink};
use lockgate_engine::Report;
use lockgate_error::Error;
use lockgate_policy::Catalogue;

/// Upper bounds of the duration buckets, in seconds.
const SECONDS: [f64; 12] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Label of all gates that policies define themselves.
const DEFINED_GATE: &str = "defined";

/// The labels of a series: names and values.
type Labels<const N: usize, V = &'static str> = [(&'static str, V); N];

/// Counters by their labels.
type Counts<const N: usize, V = &'static str> = Family<Labels<N, V>, Counter>;

/// Durations by their labels.
type Times = Family<Labels<1>, Histogram, fn() -> Histogram>;

/// The metrics of the server.
pub(super) struct HttpMetrics {
    registry: Registry,
    connections: Arc<Connections>,
    open: Gauge,
    sessions: Gauge,
    edits: Counts<2>,
    calls: Counts<2>,
    matches: Counts<1>,
    gates: Counts<2>,
    gate_times: Times,
    lock_waits: Histogram,
    store: Counts<2>,
    store_times: Times,
    requests: Counts<1, u16>,
    rejections: Counts<1>,
}

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

impl HttpMetrics {
    /// Creates the metrics with zero values.
    pub(super) fn new(connections: Arc<Connections>) -> Arc<HttpMetrics> {
        let mut registry = Registry::with_prefix("lockgate");
        let new = &mut registry;
        let times = || Times::new_with_constructor(seconds);
        Arc::new(HttpMetrics {
            edits: counts(new, "edits", "Targets of edits, by status"),
            calls: counts(new, "calls", "Answered tool calls"),
            matches: counts(new, "matches", "Search texts that were found, by match level"),
            gates: counts(new, "gate_runs", "Gate runs, by outcome"),
            gate_times: registered(new, "gate_seconds", "Duration of gate runs", times()),
            lock_waits: registered(new, "lock_wait_seconds", "Time that edits waited for locks", seconds()),
            store: counts(new, "store_operations", "Operations of the entity database, by outcome"),
            store_times: registered(new, "store_seconds", "Duration of database operations", times()),
            requests: counts(new, "http_requests", "Requests, by HTTP status"),
            rejections: counts(new, "http_refusals", "Rejected requests, by reason"),
            open: registered(new, "http_connections", "Open connections", Gauge::default()),
            sessions: registered(
                new,
                "http_sessions",
                "Sessions of clients of 2025-11-25 and older",
                Gauge::default(),
            ),
            registry,
            connections,
        })
    }

    /// Records an operation of the entity database.
    pub(super) fn record_store(&self, operation: &'static str, outcome: &'static str, time: Duration) {
        self.store.get_or_create(&[("operation", operation), ("outcome", outcome)]).inc();
        self.store_times.get_or_create(&[("operation", operation)]).observe(time.as_secs_f64());
    }

    pub(super) fn record_request(&self, status: StatusCode) {
        self.requests.get_or_create(&[("status", status.as_u16())]).inc();
    }

    /// Records a request that was rejected before it reached the protocol.
    pub(super) fn record_rejection(&self, reason: &'static str) {
        self.rejections.get_or_create(&[("reason", reason)]).inc();
    }

    /// Renders the metrics in the Prometheus text format.
    pub(super) fn text(&self, sessions: usize) -> String {
        let whole = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.open.set(whole(self.connections.count()));
        self.sessions.set(whole(sessions));
        let mut text = String::new();
        if encode(&mut text, &self.registry).is_err() {
            tracing::error!("the metrics could not be encoded");
        }
        text
    }
}

/// Adds counters to the registry and returns them.
fn counts<const N: usize, V>(registry: &mut Registry, name: &str, help: &str) -> Counts<N, V>
where
    Counts<N, V>: Metric + Default,
{
    registered(registry, name, help, Counts::default())
}

/// Adds a metric to the registry and returns it.
fn registered<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

impl MetricsSink for HttpMetrics {
    fn answered(&self, tool: &'static str, outcome: CallOutcome) {
        let outcome = match outcome {
            CallOutcome::Done => "done",
            CallOutcome::Refused => "refused",
        };
        self.calls.get_or_create(&[("tool", tool), ("outcome", outcome)]).inc();
    }

    fn reported(&self, tool: &'static str, report: &Report) {
        self.edits.get_or_create(&[("tool", tool), ("status", report.status.name())]).inc();
        if let Some(match_info) = &report.matches.info {
            self.matches.get_or_create(&[("tier", match_info.level.name())]).inc();
        }
        for run in &report.verdict.runs {
            let gate = Catalogue::names().find(|name| *name == run.gate).unwrap_or(DEFINED_GATE);
            self.gates.get_or_create(&[("gate", gate), ("outcome", run.outcome.name())]).inc();
            let time = Duration::from_millis(run.ms);
            self.gate_times.get_or_create(&[("gate", gate)]).observe(time.as_secs_f64());
        }
    }

    fn refused(&self, tool: &'static str, error: &Error) {
        self.edits.get_or_create(&[("tool", tool), ("status", error.code.name())]).inc();
    }

    fn waited(&self, time: Duration) {
        self.lock_waits.observe(time.as_secs_f64());
    }
}
