//! What ends a server or an edit from outside: Ctrl-C, and SIGTERM and SIGHUP where there are such things.
//!
//! Invariant: the first signal only asks, the second ends the process at once.

use std::io;

use tokio_util::sync::CancellationToken;

use crate::error::{Code, Error};

/// Gives a token that is cancelled by the first signal. Needs a running tokio runtime.
///
/// Errors: `INTERNAL` when the system lets nobody listen.
pub(super) fn stop_asked() -> Result<CancellationToken, Error> {
    let mut signals = Signals::listen()
        .map_err(|trouble| Error::new(Code::Internal, format!("cannot listen for signals: {trouble}")))?;
    let stop = CancellationToken::new();
    let asked = stop.clone();
    tokio::spawn(async move {
        signals.next().await;
        asked.cancel();
        let number = signals.next().await;
        std::process::exit(128 + number);
    });
    Ok(stop)
}

/// The signals that ask a process to end.
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

    /// Waits for the next one, and gives its number.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
            _ = self.hang_up.recv() => 1,
        }
    }
}

/// The signals that ask a process to end.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    fn listen() -> io::Result<Signals> {
        Ok(Signals)
    }

    /// Waits for the next one, and gives its number.
    async fn next(&mut self) -> i32 {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        2
    }
}
