//! The transport to a client over two streams.
//!
//! Invariant: the end of the input is passed on only after every request was answered or cancelled.

use std::io;
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use super::pending_requests::PendingRequests;
use super::reader::MessageReader;
use super::writer::{ResponseSender, write};

/// Maximum number of messages in the queue of the server loop.
const QUEUE_SIZE: usize = 16;

/// The two streams of a client; clones share them.
#[derive(Clone)]
pub(super) struct Pipe {
    incoming: Arc<Mutex<mpsc::Receiver<ClientJsonRpcMessage>>>,
    output: Arc<Mutex<ResponseSender>>,
    pending: Arc<PendingRequests>,
    input_ended: CancellationToken,
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
        let pending: Arc<PendingRequests> = Arc::default();
        let reader = MessageReader::new(sender, Arc::clone(&output), Arc::clone(&pending));
        tokio::spawn(async move {
            tokio::select! {
                () = reader.run(input) => {}
                () = stop.cancelled() => {}
            }
        });
        let incoming = Arc::new(Mutex::new(incoming));
        Pipe { incoming, output, pending, input_ended: CancellationToken::new() }
    }

    /// Returns the token that is cancelled when the input has ended, after which the client can answer no question.
    pub(super) fn input_ended(&self) -> CancellationToken {
        self.input_ended.clone()
    }
}

impl Transport<RoleServer> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (output, pending) = (Arc::clone(&self.output), Arc::clone(&self.pending));
        async move {
            let sent = write(&output, &message).await;
            match message {
                JsonRpcMessage::Response(response) => pending.close(&response.id),
                JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| pending.close(id)),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.incoming.lock().await.recv().await;
        if message.is_none() {
            self.input_ended.cancel();
            self.pending.wait_empty().await;
        }
        message
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.lock().await.flush().await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rmcp::model::{EmptyResult, RequestId, ServerResult};
    use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream, duplex, sink};
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
    async fn a_request_beyond_the_limit_is_answered_at_once_and_the_others_later() {
        let (client, server) = duplex(1 << 16);
        let (input, output) = tokio::io::split(server);
        let mut pipe = Pipe::new(input, output, CancellationToken::new());
        let (answers, mut requests) = tokio::io::split(client);
        let call = |id| ping(id).replace("ping", "tools/list");
        let sent = (0..=1000).map(call).chain([ping(1001), cancel(5)]).collect::<String>();
        tokio::spawn(async move { requests.write_all(sent.as_bytes()).await });
        let mut accepted = Vec::new();
        while accepted.len() < 1002 {
            accepted.push(timeout(SHORT * 100, pipe.receive()).await.unwrap().unwrap());
        }
        let [.., ping, cancel] = accepted.as_slice() else { panic!() };
        assert!(matches!(ping, JsonRpcMessage::Request(it) if it.id == RequestId::Number(1001)));
        assert!(matches!(cancel, JsonRpcMessage::Notification(_)));
        pipe.send(answer(0)).await.unwrap();
        let mut lines = BufReader::new(answers).lines();
        let refused = lines.next_line().await.unwrap().unwrap();
        assert!(refused.contains("\"id\":1000,") && refused.contains("-32000"), "{refused}");
        let answered = lines.next_line().await.unwrap().unwrap();
        assert!(answered.contains("\"id\":0,") && answered.contains("result"), "{answered}");
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
