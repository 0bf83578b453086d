//! Reports tool calls to a metrics sink.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::CallToolResponse;

use lockgate_checks::Watch;
use lockgate_engine::Report;
use lockgate_error::Error;

/// Receives events about tool calls.
pub trait MetricsSink: Send + Sync {
    /// Called when a tool call was answered.
    fn answered(&self, tool: &'static str, outcome: CallOutcome);

    /// Called for each report of an edit.
    fn reported(&self, tool: &'static str, report: &Report);

    /// Called when an edit was rejected without a report.
    fn refused(&self, tool: &'static str, error: &Error);

    /// Called with the time that a call waited for its locks.
    fn waited(&self, time: Duration);
}

/// The outcome of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// The call did what was asked.
    Done,
    /// The call was answered with an error.
    Refused,
}

/// Reports the calls of one tool to a sink, if there is one.
#[derive(Clone, Default)]
pub(super) struct CallMetrics {
    pub(super) sink: Option<Arc<dyn MetricsSink>>,
    pub(super) tool: &'static str,
}

impl CallMetrics {
    pub(super) fn answered(&self, response: &CallToolResponse) {
        let outcome = match response {
            CallToolResponse::Complete(result) if result.is_error == Some(true) => CallOutcome::Refused,
            CallToolResponse::Complete(_) => CallOutcome::Done,
            // The client repeats this call, and it is counted then.
            _ => return,
        };
        if let Some(sink) = &self.sink {
            sink.answered(self.tool, outcome);
        }
    }

    /// Reports the result of a call that edits.
    pub(super) fn edited(&self, result: Result<&[Report], &Error>) {
        let Some(sink) = &self.sink else { return };
        match result {
            Ok(reports) => reports.iter().for_each(|report| sink.reported(self.tool, report)),
            // A question does not end a call.
            Err(error) if error.question.is_some() => {}
            Err(error) => sink.refused(self.tool, error),
        }
    }

    /// Makes the watch of a call report its lock waits.
    pub(super) fn timing(&self, watch: Watch) -> Watch {
        match self.sink.clone() {
            Some(sink) => watch.with_lock_waits(Box::new(move |time| sink.waited(time))),
            None => watch,
        }
    }
}
