//! Writes messages to a client, one a line.

use std::io;

use rmcp::model::ServerJsonRpcMessage;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;

pub(super) type ResponseSender = Box<dyn AsyncWrite + Send + Unpin>;

/// Writes a message; others wait until it is complete.
pub(super) async fn write(output: &Mutex<ResponseSender>, message: &ServerJsonRpcMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}
