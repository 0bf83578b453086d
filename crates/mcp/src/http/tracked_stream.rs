//! A TCP stream that records its activity in the connection state.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::conn_state::ConnState;

/// Maximum bytes to discard at the end. If the connection closed while data arrives, the system would discard the answer
/// as well.
const MAX_DISCARDED_BYTES: usize = 16 << 20;

/// Maximum time to discard bytes at the end.
const LINGER: Duration = Duration::from_secs(1);

/// The stream of a client.
pub(super) struct TrackedStream {
    stream: TcpStream,
    state: Arc<ConnState>,
    discarded: usize,
    linger: Option<Pin<Box<Sleep>>>,
}

impl TrackedStream {
    pub(super) fn new(stream: TcpStream, state: Arc<ConnState>) -> TrackedStream {
        TrackedStream { stream, state, discarded: 0, linger: None }
    }

    fn record_write(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match result {
            Poll::Ready(_) => self.state.sent(),
            Poll::Pending => self.state.blocked(),
        }
        result
    }

    /// Discards input until the client closes or the limit is reached.
    fn discard(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut room = [0_u8; 8192];
        while self.discarded < MAX_DISCARDED_BYTES {
            let mut buffer = ReadBuf::new(&mut room);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => self.discarded += buffer.filled().len(),
                Ok(()) | Err(_) => break,
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for TrackedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.state.received();
        }
        read
    }
}

impl AsyncWrite for TrackedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.record_write(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.record_write(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.state.flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if !self.state.has_unread() {
                return Poll::Ready(Ok(()));
            }
            self.linger = Some(Box::pin(sleep(LINGER)));
        }
        let late = self.linger.as_mut().is_some_and(|ending| ending.as_mut().poll(context).is_ready());
        if !late {
            ready!(self.discard(context));
        }
        Poll::Ready(Ok(()))
    }
}
