//! Handles Ctrl-C, SIGTERM and SIGHUP.
//!
//! Invariant: the first signal requests an orderly end; the second one exits the process at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use lockgate_error::{Code, Error};

/// Returns a token that the first signal cancels. Needs a running tokio runtime.
///
/// Errors: `INTERNAL` when signals cannot be handled.
pub(super) fn stop_token() -> Result<CancellationToken, Error> {
    let mut signals = Signals::listen()
        .map_err(|error| Error::new(Code::Internal, format!("cannot listen for signals: {error}")))?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        signals.next().await;
        token.cancel();
        let number = signals.next().await;
        std::process::exit(128 + number);
    });
    Ok(stop)
}

/// The signals that end a process.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn listen() -> io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal and returns its number.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
            _ = self.hang_up.recv() => 1,
        }
    }
}
