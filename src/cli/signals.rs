//! Handles Ctrl-C, and SIGTERM and SIGHUP on Unix.
//!
//! Invariant: the first signal requests an orderly end; the second one exits the process at once.

use std::io;

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
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
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

/// The signals that end a process.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    fn listen() -> io::Result<Signals> {
        Ok(Signals)
    }

    /// Waits for the next signal and returns its number.
    async fn next(&mut self) -> i32 {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        2
    }
}
