//! Sends progress notifications while the gates run.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use lockgate_checks::Watch;

/// Returns the latest step once this time has come; `None` if the watch is dropped before.
async fn latest(steps: &mut mpsc::UnboundedReceiver<GateStep>, time: Instant) -> Option<GateStep> {
    let mut step = steps.recv().await?;
    while let Ok(newer) = timeout_at(time, steps.recv()).await {
        step = newer?;
        if Instant::now() >= time {
            break;
        }
    }
    Some(step)
}

#[derive(Debug)]
struct GateStep {
    gate: String,
    done: usize,
    total: usize,
}

/// The time between two notifications of a call. A client shows them to a person, and each takes bytes.
const INTERVAL: Duration = Duration::from_millis(250);

/// Sends the gates' steps to a client that asked for them.
pub(super) struct ProgressSender {
    steps: Option<(ProgressToken, mpsc::UnboundedReceiver<GateStep>)>,
    peer: Peer<RoleServer>,
}

/// Creates the watch of one call. It ends when `ended` is cancelled, and reports progress if the client gave a token.
pub(super) fn watch(
    context: &RequestContext<RoleServer>,
    ended: CancellationToken,
) -> (Watch, ProgressSender) {
    let peer = context.peer.clone();
    let Some(token) = context.meta.get_progress_token() else {
        return (Watch::new(ended, None), ProgressSender { steps: None, peer });
    };
    let (sender, receiver) = mpsc::unbounded_channel();
    let report = move |gate: &str, done: usize, total: usize| {
        // A disconnected client needs no progress.
        drop(sender.send(GateStep { gate: gate.to_owned(), done, total }));
    };
    let watch = Watch::new(ended, Some(Box::new(report)));
    (watch, ProgressSender { steps: Some((token, receiver)), peer })
}

impl ProgressSender {
    /// Sends steps until the watch is dropped: at most one per interval, the latest.
    pub(super) async fn send_all(self) {
        let Some((token, mut steps)) = self.steps else { return };
        let mut next = Instant::now();
        while let Some(GateStep { gate, done, total }) = latest(&mut steps, next).await {
            next = Instant::now() + INTERVAL;
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
        let (sender, mut steps) = mpsc::unbounded_channel();
        for done in 1..=100 {
            sender.send(GateStep { gate: "files read".to_owned(), done, total: 100 }).unwrap();
        }
        let time = Instant::now() + Duration::from_millis(50);
        assert_eq!(latest(&mut steps, time).await.unwrap().done, 100);
        assert!(Instant::now() >= time);
        sender.send(GateStep { gate: "ruff".to_owned(), done: 1, total: 2 }).unwrap();
        assert_eq!(latest(&mut steps, Instant::now()).await.unwrap().done, 1);
        drop(sender);
        assert!(latest(&mut steps, Instant::now()).await.is_none());
    }
}
