//! Reads the messages of a client.
//!
//! Large messages are parsed on another thread, so that small ones behind them are not delayed. Invalid messages are
//! answered with an error, and reading continues. So is a request whose id is in flight, one beyond the limits, and each
//! request of a batch.
//!
//! Invariant: at most one large message is being parsed, and only requests may overtake it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetExtensions as _, InitializeRequestParams,
    JsonRpcMessage, RequestId, RequestMetaObject, ServerJsonRpcMessage,
};
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::error::Category;
use tokio::io::AsyncRead;
use tokio::sync::{Mutex, Semaphore, mpsc};

use super::batch_ids::batch_ids;
use super::id_scanner::IdScanner;
use super::in_flight::Arrival;
use super::input_lines::{InputLine, InputLines};
use super::pending_requests::PendingRequests;
use super::writer::{ResponseSender, write};

/// Maximum length of a message: fits a file of the default limit with the longest escapes.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// Maximum number of values in a message. Parsing takes up to 230 bytes for each, however short it is.
const MAX_MESSAGE_VALUES: usize = 250_000;

/// Messages from this size on are parsed on a blocking thread, in bytes.
pub(crate) const LARGE_MESSAGE_BYTES: usize = 32 * 1024;

/// The byte order mark of UTF-8, which is accepted before a message.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads messages, passes on the valid ones, and answers the others.
#[derive(Clone)]
pub(super) struct MessageReader {
    sender: mpsc::Sender<ClientJsonRpcMessage>,
    output: Arc<Mutex<ResponseSender>>,
    pending: Arc<PendingRequests>,
    large: Arc<Semaphore>,
}

/// The result of parsing a line.
pub(crate) enum ParsedMessage {
    Message(Box<ClientJsonRpcMessage>),
    /// An invalid message, which is answered with this error.
    Invalid(ErrorData, Option<RequestId>),
    /// Several messages in one, none of which is handled. Each of these requests is answered with this error.
    Batch(ErrorData, Vec<RequestId>),
    UnknownNotification,
}

impl ParsedMessage {
    /// Adds the time of its arrival to a request.
    fn with_arrival(mut self, time: Instant) -> ParsedMessage {
        if let ParsedMessage::Message(message) = &mut self
            && let JsonRpcMessage::Request(request) = &mut **message
        {
            request.request.extensions_mut().insert(Arrival(time));
        }
        self
    }
}

impl MessageReader {
    /// Creates a reader that passes messages to `sender`.
    pub(super) fn new(
        sender: mpsc::Sender<ClientJsonRpcMessage>,
        output: Arc<Mutex<ResponseSender>>,
        pending: Arc<PendingRequests>,
    ) -> MessageReader {
        MessageReader { sender, output, pending, large: Arc::new(Semaphore::new(1)) }
    }

    /// Reads until the input ends or the server loop has ended.
    pub(super) async fn run(self, input: impl AsyncRead + Send + Unpin) {
        let mut frames = InputLines::new(input, MAX_MESSAGE_BYTES);
        loop {
            let outcome = match frames.next().await {
                Ok(Some(InputLine::Line(line))) if line.len() < LARGE_MESSAGE_BYTES => {
                    self.pass(parse_message(&line).with_arrival(frames.read_at()), 0).await
                }
                Ok(Some(InputLine::Line(line))) => self.parse_large(line, frames.read_at()).await,
                Ok(Some(InputLine::TooLong(id))) => self.pass(too_long(id), 0).await,
                Ok(None) => return,
                Err(error) => {
                    tracing::error!(%error, "cannot read from the client");
                    return;
                }
            };
            if outcome.is_none() {
                return;
            }
        }
    }

    /// Passes a message on, or answers it; `None` if the server loop has ended. `large_bytes` is the length of a large
    /// message, and 0 for any other.
    async fn pass(&self, parsed: ParsedMessage, large_bytes: usize) -> Option<()> {
        match parsed {
            ParsedMessage::Message(message) => {
                if large_bytes == 0 && !matches!(*message, JsonRpcMessage::Request(_)) {
                    // A cancellation must not overtake its request.
                    drop(self.large.acquire().await);
                }
                self.deliver(message, large_bytes).await
            }
            ParsedMessage::Invalid(error, id) => self.reject(error, id).await,
            ParsedMessage::Batch(error, ids) if ids.is_empty() => self.reject(error, None).await,
            ParsedMessage::Batch(error, ids) => {
                for id in ids {
                    self.reject(error.clone(), Some(id)).await?;
                }
                Some(())
            }
            ParsedMessage::UnknownNotification => Some(()),
        }
    }

    /// Passes a message to the server loop, unless it is a request that is not accepted.
    async fn deliver(&self, mut message: Box<ClientJsonRpcMessage>, large_bytes: usize) -> Option<()> {
        // Reserved first: a message that is recorded is delivered, even if the reader is stopped meanwhile.
        let permit = self.sender.reserve().await.ok()?;
        match self.pending.record(&mut message, large_bytes) {
            Ok(()) => {
                permit.send(*message);
                Some(())
            }
            Err(refusal) => {
                drop(permit);
                self.reject(refusal.error, refusal.id).await
            }
        }
    }

    /// Answers a message with an error.
    async fn reject(&self, error: ErrorData, id: Option<RequestId>) -> Option<()> {
        write(&self.output, &ServerJsonRpcMessage::error(error, id)).await.ok()
    }

    /// Parses one large message while reading continues.
    async fn parse_large(&self, line: Vec<u8>, arrival: Instant) -> Option<()> {
        let alone = Arc::clone(&self.large).acquire_owned().await.ok()?;
        let (reader, length) = (self.clone(), line.len());
        tokio::spawn(async move {
            let parse = move || parse_message(&line).with_arrival(arrival);
            let parsed = tokio::task::spawn_blocking(parse).await;
            let outcome = match parsed {
                Ok(parsed) => reader.pass(parsed, length).await,
                Err(error) => {
                    tracing::error!(%error, "a message could not be parsed");
                    None
                }
            };
            drop((alone, outcome));
        });
        Some(())
    }
}

pub(crate) fn parse_message(line: &[u8]) -> ParsedMessage {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    if has_too_many_values(line) {
        return too_many_values(line);
    }
    let error = match serde_json::from_slice(line) {
        Ok(message) => {
            return invalid_initialize(&message).unwrap_or_else(|| ParsedMessage::Message(Box::new(message)));
        }
        Err(error) => error,
    };
    tracing::debug!(%error, "a message was not understood");
    let error = match error.classify() {
        Category::Data if is_notification(line) => return ParsedMessage::UnknownNotification,
        Category::Data if line.trim_ascii_start().starts_with(b"[") => {
            let message = "batches are not supported; send each message by itself";
            return ParsedMessage::Batch(ErrorData::invalid_request(message, None), batch_ids(line));
        }
        Category::Data => {
            ErrorData::invalid_request(format!("the message is not a JSON-RPC request: {error}"), None)
        }
        Category::Syntax | Category::Eof | Category::Io => {
            ErrorData::parse_error(format!("the message is not JSON: {error}"), None)
        }
    };
    ParsedMessage::Invalid(error, message_id(line))
}

/// Returns the id of a message that is not parsed.
fn message_id(line: &[u8]) -> Option<RequestId> {
    let mut scanner = IdScanner::default();
    scanner.feed(line);
    scanner.take()
}

/// Returns the error for an `initialize` with invalid parameters, which is parsed as a request with an unknown method.
/// Later protocol versions have no `initialize`; their requests name the version in `_meta`.
fn invalid_initialize(message: &ClientJsonRpcMessage) -> Option<ParsedMessage> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(unknown) = &request.request else { return None };
    let meta = unknown.extensions.get::<RequestMetaObject>();
    if unknown.method != "initialize" || meta.is_some_and(|meta| meta.protocol_version().is_some()) {
        return None;
    }
    let params = unknown.params.clone().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let error = serde_path_to_error::deserialize::<_, InitializeRequestParams>(params).err()?;
    let error = ErrorData::invalid_params(format!("params of initialize: {error}"), None);
    Some(ParsedMessage::Invalid(error, Some(request.id.clone())))
}

/// True if a message has a method and no `id`; the id `null` is one, too.
fn is_notification(line: &[u8]) -> bool {
    serde_json::from_slice::<HashMap<String, IgnoredAny>>(line)
        .is_ok_and(|fields| fields.contains_key("method") && !fields.contains_key("id"))
}

fn too_long(id: Option<RequestId>) -> ParsedMessage {
    let message =
        format!("the message is longer than {MAX_MESSAGE_BYTES} bytes and was not read; nothing was written");
    ParsedMessage::Invalid(ErrorData::invalid_request(message, None), id)
}

fn has_too_many_values(line: &[u8]) -> bool {
    // A value has at least two bytes, with the comma behind it.
    line.len() / 2 > MAX_MESSAGE_VALUES && count_values(line) > MAX_MESSAGE_VALUES
}

/// Counts the values of a JSON text: one for each comma and each opening bracket outside of its strings, and itself. An empty
/// list or object counts twice.
fn count_values(mut json: &[u8]) -> usize {
    let separators = |bytes: &[u8]| bytes.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    let mut count = 1;
    while let Some((outside, text)) = memchr::memchr(b'"', json).and_then(|at| json.split_at_checked(at)) {
        count += separators(outside);
        json = after_string(text.get(1..).unwrap_or_default());
    }
    count + separators(json)
}

/// Returns what follows a string whose opening quote was read.
fn after_string(mut text: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', text) {
        let is_end = text.get(at) == Some(&b'"');
        text = text.get(at + if is_end { 1 } else { 2 }..).unwrap_or_default();
        if is_end {
            return text;
        }
    }
    b""
}

fn too_many_values(line: &[u8]) -> ParsedMessage {
    let message = format!(
        "the message has more than {MAX_MESSAGE_VALUES} values and was not read; nothing was written: send fewer edits in one \
         call, or the whole text as `content`"
    );
    ParsedMessage::Invalid(ErrorData::invalid_request(message, None), message_id(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_with_too_many_values_is_not_parsed() {
        let list = |count: usize| {
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":[{}0]}}"#, "0,".repeat(count))
        };
        let ParsedMessage::Invalid(error, id) = parse_message(list(MAX_MESSAGE_VALUES).as_bytes()) else {
            panic!()
        };
        assert!(error.message.starts_with("the message has more than 250000 values"), "{}", error.message);
        assert_eq!(id, Some(RequestId::Number(7)));
        // Controls: fewer values, and the same signs in a string.
        let ParsedMessage::Invalid(error, _) = parse_message(list(MAX_MESSAGE_VALUES - 10).as_bytes()) else {
            panic!()
        };
        assert!(!error.message.contains("values"), "{}", error.message);
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"a","arguments":{{"x":"\"{}"}}}}}}"#,
            "[,".repeat(MAX_MESSAGE_VALUES)
        );
        assert!(matches!(parse_message(text.as_bytes()), ParsedMessage::Message(_)));
    }

    #[test]
    fn values_are_counted() {
        for (json, count) in
            [("1", 1), ("[1,2]", 3), (r#"{"a":"[,\\","b":["\",["]}"#, 4), ("[[],{}]", 5), (r#""[,"#, 1)]
        {
            assert_eq!(count_values(json.as_bytes()), count, "{json}");
        }
    }

    #[test]
    fn an_initialize_names_its_invalid_field() {
        let whole = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
        let parsed = |params: &Value| {
            let message = json!({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params});
            parse_message(message.to_string().as_bytes())
        };
        for name in ["protocolVersion", "capabilities", "clientInfo"] {
            let mut params = whole.clone();
            params.as_object_mut().unwrap().remove(name);
            let ParsedMessage::Invalid(error, id) = parsed(&params) else { panic!("{name}") };
            assert_eq!(error.message, format!("params of initialize: missing field `{name}`"));
            assert_eq!((error.code.0, id), (-32602, Some(RequestId::Number(7))));
        }
        let mut wrong = whole.clone();
        wrong["clientInfo"]["name"] = json!(1);
        let ParsedMessage::Invalid(error, _) = parsed(&wrong) else { panic!() };
        assert!(
            error.message.starts_with("params of initialize: clientInfo.name: invalid type"),
            "{error:?}"
        );
        let bare = parse_message(br#"{"jsonrpc":"2.0","id":7,"method":"initialize"}"#);
        assert!(
            matches!(bare, ParsedMessage::Invalid(error, _) if error.message.ends_with("`protocolVersion`"))
        );
        let stateless = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
        for params in [whole, stateless] {
            assert!(matches!(parsed(&params), ParsedMessage::Message(_)), "the control: {params}");
        }
    }

    #[test]
    fn an_invalid_message_is_answered_with_its_id_even_after_a_byte_order_mark() {
        for mark in ["", "\u{feff}"] {
            let parsed = parse_message(format!("{mark}{{\"id\":7").as_bytes());
            assert!(matches!(parsed, ParsedMessage::Invalid(_, Some(RequestId::Number(7)))), "{mark:?}");
        }
    }
}
