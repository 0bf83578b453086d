//! Sends progress notifications while the gates run.

use std::time::Duration;

use http::request::Parts;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::in_flight::Arrival;
use lockgate_checks::Watch;

/// The start of a gate, or of another part of a call.
#[derive(Debug)]
struct GateStep {
    gate: String,
    done: usize,
    total: usize,
}

/// The steps of a call that were not sent yet.
struct Steps {
    receiver: mpsc::UnboundedReceiver<GateStep>,
    /// Cancelled when the call ends before its watch is dropped, such as by its client.
    ended: CancellationToken,
}

impl Steps {
    /// Returns the next step. Of several with this message, such as the files that are read, it is the latest one once the
    /// time has come. `None` if the call has ended before.
    async fn latest(&mut self, message: &str, time: Instant) -> Option<GateStep> {
        let mut step = self.receive().await?;
        while step.gate == message && Instant::now() < time {
            let Ok(newer) = timeout_at(time, self.receive()).await else { break };
            let newer = newer?;
            if newer.gate != step.gate {
                return Some(newer);
            }
            step = newer;
        }
        Some(step)
    }

    async fn receive(&mut self) -> Option<GateStep> {
        self.ended.run_until_cancelled(self.receiver.recv()).await.flatten()
    }
}

/// The time between two notifications of a call. A client shows them to a person, and each takes bytes.
const INTERVAL: Duration = Duration::from_millis(250);

/// Sends the gates' steps to a client that asked for them.
pub(super) struct ProgressSender {
    steps: Option<(ProgressToken, Steps)>,
    peer: Peer<RoleServer>,
}

/// Creates the watch of one call. It ends when `ended` is cancelled, and reports progress if the client gave a token.
pub(super) fn watch(
    context: &RequestContext<RoleServer>,
    ended: CancellationToken,
) -> (Watch, ProgressSender) {
    let peer = context.peer.clone();
    let arrival = arrival(context);
    let Some(token) = context.meta.get_progress_token() else {
        return (Watch::new(ended, None).with_arrival(arrival), ProgressSender { steps: None, peer });
    };
    let (sender, receiver) = mpsc::unbounded_channel();
    let report = move |gate: &str, done: usize, total: usize| {
        // A disconnected client needs no progress.
        drop(sender.send(GateStep { gate: gate.to_owned(), done, total }));
    };
    let watch = Watch::new(ended.clone(), Some(Box::new(report))).with_arrival(arrival);
    (watch, ProgressSender { steps: Some((token, Steps { receiver, ended })), peer })
}

/// Returns the time at which the call arrived: over HTTP, that of its head.
fn arrival(context: &RequestContext<RoleServer>) -> std::time::Instant {
    let over_http = || context.extensions.get::<Parts>()?.extensions.get::<Arrival>();
    let arrival = context.extensions.get::<Arrival>().or_else(over_http);
    arrival.map_or_else(std::time::Instant::now, |arrival| arrival.0)
}

impl ProgressSender {
    /// Sends steps until the call ends: of those with the same message at most one per interval, the latest.
    pub(super) async fn send_all(self) {
        let Some((token, mut steps)) = self.steps else { return };
        let (mut last, mut next) = (String::new(), Instant::now());
        while let Some(GateStep { gate, done, total }) = steps.latest(&last, next).await {
            next = Instant::now() + INTERVAL;
            last.clone_from(&gate);
            #[expect(clippy::cast_precision_loss, reason = "a number of gates")]
            let (done, total) = (done as f64, total as f64);
            let step =
                ProgressNotificationParam::new(token.clone(), done).with_total(total).with_message(gate);
            if let Err(error) = self.peer.notify_progress(step).await {
                tracing::debug!(%error, "progress could not be sent");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn of_many_steps_the_latest_is_sent_when_its_time_has_come() {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut steps = Steps { receiver, ended: CancellationToken::new() };
        let step = |gate: &str, done| GateStep { gate: gate.to_owned(), done, total: 100 };
        for done in 1..=100 {
            sender.send(step("files read", done)).unwrap();
        }
        let now = Instant::now();
        let time = now + Duration::from_millis(50);
        assert_eq!(steps.latest("", time).await.unwrap().done, 1, "the first one is not late");
        assert_eq!(steps.latest("files read", time).await.unwrap().done, 100);
        assert!(Instant::now() >= time);
        // Each gate is told.
        let later = Instant::now() + Duration::from_secs(60);
        for gate in ["damage", "syntax"] {
            sender.send(step(gate, 1)).unwrap();
            assert_eq!(steps.latest("files read", later).await.unwrap().gate, gate);
        }
        drop(sender);
        assert!(steps.latest("files read", later).await.is_none());
    }

    #[tokio::test]
    async fn a_call_that_has_ended_sends_no_step() {
        let (sender, receiver) = mpsc::unbounded_channel();
        let ended = CancellationToken::new();
        let mut steps = Steps { receiver, ended: ended.clone() };
        let step = |done| GateStep { gate: "files read".to_owned(), done, total: 100 };
        sender.send(step(1)).unwrap();
        assert_eq!(steps.latest("", Instant::now()).await.unwrap().done, 1);
        sender.send(step(2)).unwrap();
        let cancel = async {
            tokio::task::yield_now().await;
            ended.cancel();
        };
        let later = Instant::now() + Duration::from_millis(50);
        let (waiting, ()) = tokio::join!(steps.latest("files read", later), cancel);
        assert!(waiting.is_none(), "a step was waiting for its time");
        sender.send(step(3)).unwrap();
        assert!(steps.latest("", Instant::now()).await.is_none());
    }
}
