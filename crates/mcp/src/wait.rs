//! Waits for a condition whose changes are notified.

use tokio::sync::Notify;

/// Repeats an attempt after each notification until it succeeds.
pub(crate) async fn wait_for<T>(changed: &Notify, attempt: impl Fn() -> Option<T>) -> T {
    loop {
        // Created first, so that a notification during the attempt counts.
        let notified = changed.notified();
        if let Some(value) = attempt() {
            return value;
        }
        notified.await;
    }
}
