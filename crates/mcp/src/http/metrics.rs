//! Metrics and their Prometheus format.
//!
//! Invariant: the number of series depends on this program alone: no name from a client or a project is a label.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::connections::Connections;
use crate::rpc::{CallOutcome, MetricsSink};
use lockgate_engine::Report;
use lockgate_error::Error;
use lockgate_policy::Catalogue;

/// Upper bounds of the duration buckets, in seconds.
const SECONDS: [f64; 12] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Label of all gates that policies define themselves.
const DEFINED_GATE: &str = "defined";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EditLabels {
    tool: &'static str,
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Matched {
    tier: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct GateLabels {
    gate: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct GateName {
    gate: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabels {
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AskLabels {
    operation: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    operation: &'static str,
}

type Times = Family<GateName, Histogram, fn() -> Histogram>;

/// The metrics of the server.
pub(super) struct HttpMetrics {
    registry: Registry,
    connections: Arc<Connections>,
    open: Gauge,
    sessions: Gauge,
    edits: Family<EditLabels, Counter>,
    calls: Family<CallLabels, Counter>,
    matches: Family<Matched, Counter>,
    gates: Family<GateLabels, Counter>,
    gate_times: Times,
    lock_waits: Histogram,
    store: Family<AskLabels, Counter>,
    store_times: Family<Operation, Histogram, fn() -> Histogram>,
    requests: Family<AnswerLabels, Counter>,
    rejections: Family<Reason, Counter>,
}

fn times() -> Histogram {
    Histogram::new(SECONDS)
}

impl HttpMetrics {
    /// Creates the metrics with zero values.
    pub(super) fn new(connections: Arc<Connections>) -> Arc<HttpMetrics> {
        let mut counts = HttpMetrics {
            registry: Registry::with_prefix("lockgate"),
            connections,
            open: Gauge::default(),
            sessions: Gauge::default(),
            edits: Family::default(),
            calls: Family::default(),
            matches: Family::default(),
            gates: Family::default(),
            gate_times: Family::new_with_constructor(times),
            lock_waits: times(),
            store: Family::default(),
            store_times: Family::new_with_constructor(times),
            requests: Family::default(),
            rejections: Family::default(),
        };
        counts.register();
        Arc::new(counts)
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("edits", "Targets of edits, by status", self.edits.clone());
        registry.register("calls", "Answered tool calls", self.calls.clone());
        registry.register("matches", "Search texts that were found, by match level", self.matches.clone());
        registry.register("gate_runs", "Gate runs, by outcome", self.gates.clone());
        registry.register("gate_seconds", "Duration of gate runs", self.gate_times.clone());
        registry.register("lock_wait_seconds", "Time that edits waited for locks", self.lock_waits.clone());
        let of_store = "Operations of the entity database, by outcome";
        registry.register("store_operations", of_store, self.store.clone());
        registry.register("store_seconds", "Duration of database operations", self.store_times.clone());
        registry.register("http_requests", "Requests, by HTTP status", self.requests.clone());
        registry.register("http_refusals", "Rejected requests, by reason", self.rejections.clone());
        registry.register("http_connections", "Open connections", self.open.clone());
        registry.register(
            "http_sessions",
            "Sessions of clients of 2025-11-25 and older",
            self.sessions.clone(),
        );
    }

    /// Records an operation of the entity database.
    pub(super) fn record_store(&self, operation: &'static str, outcome: &'static str, time: Duration) {
        self.store.get_or_create(&AskLabels { operation, outcome }).inc();
        self.store_times.get_or_create(&Operation { operation }).observe(time.as_secs_f64());
    }

    pub(super) fn record_request(&self, status: StatusCode) {
        self.requests.get_or_create(&AnswerLabels { status: status.as_u16() }).inc();
    }

    /// Records a request that was rejected before it reached the protocol.
    pub(super) fn record_rejection(&self, reason: &'static str) {
        self.rejections.get_or_create(&Reason { reason }).inc();
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

impl MetricsSink for HttpMetrics {
    fn answered(&self, tool: &'static str, outcome: CallOutcome) {
        let outcome = match outcome {
            CallOutcome::Done => "done",
            CallOutcome::Refused => "refused",
        };
        self.calls.get_or_create(&CallLabels { tool, outcome }).inc();
    }

    fn reported(&self, tool: &'static str, report: &Report) {
        self.edits.get_or_create(&EditLabels { tool, status: report.status.name() }).inc();
        if let Some(match_info) = &report.matches.info {
            self.matches.get_or_create(&Matched { tier: match_info.level.name() }).inc();
        }
        for run in &report.verdict.runs {
            let gate = Catalogue::names().find(|name| *name == run.gate).unwrap_or(DEFINED_GATE);
            self.gates.get_or_create(&GateLabels { gate, outcome: run.outcome.name() }).inc();
            let time = Duration::from_millis(run.ms);
            self.gate_times.get_or_create(&GateName { gate }).observe(time.as_secs_f64());
        }
    }

    fn refused(&self, tool: &'static str, error: &Error) {
        self.edits.get_or_create(&EditLabels { tool, status: error.code.name() }).inc();
    }

    fn waited(&self, time: Duration) {
        self.lock_waits.observe(time.as_secs_f64());
    }
}
