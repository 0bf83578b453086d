//! Handles Ctrl-C, SIGTERM and SIGHUP.
//!
//! Invariant: the first signal requests an orderly end; the second one exits the process at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use lockgate_error::{Code, Error};

/// Returns a token that the first signal cancels. Needs a running tokio runtime.
///
/// Errors: `INTERNAL` when signals cannot be handled.
pub(super) fn stop_token() -> Result<CancellationToken, Error> {
    let cannot = |error| Error::new(Code::Internal, format!("cannot listen for signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(cannot)?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        let mut is_second = false;
        loop {
            let number = tokio::select! {
                _ = interrupt.recv() => 2,
                _ = terminate.recv() => 15,
                _ = hang_up.recv() => 1,
            };
            if is_second {
                std::process::exit(128 + number);
            }
            token.cancel();
            is_second = true;
        }
    });
    Ok(stop)
}
