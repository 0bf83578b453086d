//! The transport to a client over two streams.
//!
//! Invariant: the end of the input is passed on only after every request was answered or cancelled.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex as Lock;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::reader::MessageReader;
use super::writer::{ResponseSender, write};

/// Maximum number of messages in the queue of the server loop.
const QUEUE_SIZE: usize = 16;

/// The two streams of a client; clones share them.
#[derive(Clone)]
pub(super) struct Pipe {
    incoming: Arc<Mutex<mpsc::Receiver<ClientJsonRpcMessage>>>,
    output: Arc<Mutex<ResponseSender>>,
    open: Arc<PendingRequests>,
}

impl Pipe {
    /// Starts to read from a client. The input ends at its own end, or when `stop` is cancelled. Needs a running
    /// tokio runtime.
    pub(super) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        stop: CancellationToken,
    ) -> Pipe {
        let (sender, incoming) = mpsc::channel(QUEUE_SIZE);
        let output: Arc<Mutex<ResponseSender>> = Arc::new(Mutex::new(Box::new(output)));
        let reader = MessageReader::new(sender, Arc::clone(&output));
        tokio::spawn(async move {
            tokio::select! {
                () = reader.run(input) => {}
                () = stop.cancelled() => {}
            }
        });
        Pipe { incoming: Arc::new(Mutex::new(incoming)), output, open: Arc::default() }
    }
}

impl Transport<RoleServer> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (output, open) = (Arc::clone(&self.output), Arc::clone(&self.open));
        async move {
            let sent = write(&output, &message).await;
            match message {
                JsonRpcMessage::Response(response) => open.close(&response.id),
                JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| open.close(id)),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.incoming.lock().await.recv().await;
        match &message {
            Some(message) => self.open.record(message),
            None => self.open.wait_empty().await,
        }
        message
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.lock().await.flush().await
    }
}

/// The requests that are not yet answered.
#[derive(Default)]
struct PendingRequests {
    ids: Lock<HashSet<RequestId>>,
    closed: Notify,
}

impl PendingRequests {
    fn record(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => {
                self.ids.lock().insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    cancelled.params.request_id.iter().for_each(|id| self.close(id));
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    fn close(&self, id: &RequestId) {
        self.ids.lock().remove(id);
        self.closed.notify_waiters();
    }

    /// Waits until there is none.
    async fn wait_empty(&self) {
        loop {
            let closed = self.closed.notified();
            if self.ids.lock().is_empty() {
                return;
            }
            closed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rmcp::model::{EmptyResult, ServerResult};
    use tokio::io::{DuplexStream, duplex, sink};
    use tokio::time::timeout;

    use super::*;

    const SHORT: Duration = Duration::from_millis(50);

    fn pipe() -> (DuplexStream, Pipe) {
        stoppable(&CancellationToken::new())
    }

    fn stoppable(stop: &CancellationToken) -> (DuplexStream, Pipe) {
        let (client, server) = duplex(1 << 16);
        (client, Pipe::new(server, sink(), stop.clone()))
    }

    fn ping(id: i64) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
    }

    fn answer(id: i64) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), RequestId::Number(id))
    }

    fn cancel(id: i64) -> String {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
        )
    }

    #[tokio::test]
    async fn the_end_waits_for_every_answer() {
        let (mut client, mut pipe) = pipe();
        client.write_all((ping(1) + &ping(2)).as_bytes()).await.unwrap();
        drop(client);
        assert!(pipe.receive().await.is_some() && pipe.receive().await.is_some());
        for id in [1, 2] {
            assert!(timeout(SHORT, pipe.receive()).await.is_err(), "the end came before answer {id}");
            pipe.send(answer(id)).await.unwrap();
        }
        assert!(timeout(SHORT, pipe.receive()).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_stop_ends_the_pipe_although_the_client_is_connected() {
        let stop = CancellationToken::new();
        let (mut client, mut pipe) = stoppable(&stop);
        client.write_all(ping(1).as_bytes()).await.unwrap();
        assert!(pipe.receive().await.is_some());
        pipe.send(answer(1)).await.unwrap();
        assert!(timeout(SHORT, pipe.receive()).await.is_err(), "the end came unasked");
        client.write_all(ping(2).as_bytes()).await.unwrap();
        assert!(pipe.receive().await.is_some());
        stop.cancel();
        assert!(timeout(SHORT, pipe.receive()).await.is_err(), "the end came before answer 2");
        pipe.send(answer(2)).await.unwrap();
        assert!(timeout(SHORT, pipe.receive()).await.unwrap().is_none());
        drop(client);
    }

    #[tokio::test]
    async fn a_cancelled_request_is_not_waited_for() {
        let (mut client, mut pipe) = pipe();
        client.write_all((ping(1) + &cancel(1)).as_bytes()).await.unwrap();
        drop(client);
        assert!(pipe.receive().await.is_some() && pipe.receive().await.is_some());
        assert!(timeout(SHORT, pipe.receive()).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_large_message_holds_up_no_small_one_but_its_own_cancellation() {
        let (mut client, mut pipe) = pipe();
        let arguments =
            format!("{{\"name\":\"x\",\"arguments\":{{\"content\":\"{}\"}}}}", "\\n".repeat(2_000_000));
        let large =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{arguments}}}\n");
        let sent = large + &ping(2) + &cancel(1);
        tokio::spawn(async move { client.write_all(sent.as_bytes()).await });
        let mut answers = Vec::new();
        while let Some(message) = pipe.receive().await {
            match message {
                JsonRpcMessage::Request(request) => {
                    answers.push(request.id.to_string());
                    pipe.send(answer(2)).await.unwrap();
                }
                JsonRpcMessage::Notification(_) => answers.push("cancel".into()),
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
            }
        }
        assert_eq!(answers, ["2", "1", "cancel"]);
    }
}
