//! Handles Ctrl-C, SIGTERM and SIGHUP.
//!
//! Invariant: the first signal requests an orderly end; the second one exits the process at once.

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use lockgate_error::{Code, Error};

/// The number of the first signal; 0 before it.
static RECEIVED: AtomicU8 = AtomicU8::new(0);

/// Returns the exit code of a process that the first signal ended, as shells report it; `None` without a signal.
pub(super) fn exit_code() -> Option<u8> {
    let number = RECEIVED.load(Ordering::Relaxed);
    (number > 0).then(|| 128 + number)
}

/// Returns a token that the first signal cancels. Needs a running tokio runtime.
///
/// Errors: `INTERNAL` when signals cannot be handled.
pub(super) fn stop_token() -> Result<CancellationToken, Error> {
    let mut signals = Signals::listen()
        .map_err(|error| Error::new(Code::Internal, format!("cannot listen for signals: {error}")))?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        RECEIVED.store(signals.next().await, Ordering::Relaxed);
        token.cancel();
        let number = signals.next().await;
        std::process::exit(128 + i32::from(number));
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
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
            _ = self.hang_up.recv() => 1,
        }
    }
}
