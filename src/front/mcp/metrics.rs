//! What whoever keeps count is told of the calls.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::CallToolResponse;

use crate::engine::Report;
use crate::error::Error;
use crate::front::answer::RevertedEdit;
use crate::gate::Watch;

/// Keeps count of calls.
pub trait MetricsSink: Send + Sync {
    /// A call of a tool was answered.
    fn answered(&self, tool: &'static str, success: bool);

    /// A target of an edit has this report.
    fn reported(&self, tool: &'static str, report: &Report);

    /// An edit was refused before there was a report.
    fn refused(&self, tool: &'static str, refusal: &Error);

    /// A call waited so long for its locks.
    fn waited(&self, time: Duration);
}

/// Tells an ear of the calls of one tool; without an ear, nobody.
#[derive(Clone, Default)]
pub(super) struct CallMetrics {
    pub(super) ear: Option<Arc<dyn MetricsSink>>,
    pub(super) tool: &'static str,
}

impl CallMetrics {
    pub(super) fn answered(&self, response: &CallToolResponse) {
        let success = match response {
            CallToolResponse::Complete(result) => result.is_error != Some(true),
            // The same call comes again, and is counted then.
            _ => return,
        };
        if let Some(ear) = &self.ear {
            ear.answered(self.tool, success);
        }
    }

    pub(super) fn edited<T: Edited>(&self, done: &Result<T, Error>) {
        let Some(ear) = &self.ear else { return };
        match done {
            Ok(done) => match done.reports() {
                Ok(reports) => reports.iter().for_each(|report| ear.reported(self.tool, report)),
                Err(refusal) => self.refused(refusal),
            },
            Err(refusal) => self.refused(refusal),
        }
    }

    /// Has the watch over a call tell how long it waited.
    pub(super) fn timing(&self, watch: Watch) -> Watch {
        match self.ear.clone() {
            Some(ear) => watch.timing(Box::new(move |time| ear.waited(time))),
            None => watch,
        }
    }

    fn refused(&self, refusal: &Error) {
        // A question is not the end of a call.
        if let (Some(ear), None) = (&self.ear, &refusal.question) {
            ear.refused(self.tool, refusal);
        }
    }
}

/// What an edit came to.
pub(super) trait Edited {
    /// Its reports, or why there are none.
    fn reports(&self) -> Result<&[Report], &Error>;
}

impl Edited for Report {
    fn reports(&self) -> Result<&[Report], &Error> {
        Ok(std::slice::from_ref(self))
    }
}

impl Edited for Vec<Report> {
    fn reports(&self) -> Result<&[Report], &Error> {
        Ok(self)
    }
}

impl Edited for (Result<Vec<Report>, Error>, RevertedEdit) {
    fn reports(&self) -> Result<&[Report], &Error> {
        self.0.as_deref()
    }
}
