//! A client over HTTP that sends exactly the bytes that it is told to.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};

use crate::suite::wire::TIMEOUT;

/// The protocol's two forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolEra {
    Old,
    New,
}

pub const ERAS: [ProtocolEra; 2] = [ProtocolEra::Old, ProtocolEra::New];

/// A connection.
pub struct Raw {
    pub stream: TcpStream,
    reader: BufReader<TcpStream>,
}

/// An answer to a request.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The messages in the body: one, or those of the events.
    pub fn messages(&self) -> Vec<Value> {
        if self.header("content-type").starts_with("text/event-stream") {
            let text = self.text();
            let data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
            return data
                .filter(|data| !data.is_empty())
                .map(|data| serde_json::from_str(data).unwrap())
                .collect();
        }
        vec![serde_json::from_slice(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.text()))]
    }

    /// The answer among the messages.
    pub fn answer(&self) -> Value {
        let answers = |message: &Value| message.get("result").is_some() || message.get("error").is_some();
        self.messages().into_iter().find(answers).unwrap_or_else(|| panic!("no answer: {self:?}"))
    }
}

impl Raw {
    pub fn to(address: SocketAddr) -> Raw {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        Raw { reader: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_send(bytes).unwrap();
    }

    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.stream.write_all(bytes.as_ref())
    }

    /// Reads the head of an answer.
    pub fn head(&mut self) -> Result<Response, String> {
        let line = |reader: &mut BufReader<TcpStream>| {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) => Err("the server has closed the connection".to_owned()),
                Ok(_) => Ok(line.trim_end().to_owned()),
                Err(why) => Err(why.to_string()),
            }
        };
        let first = line(&mut self.reader)?;
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or(first)?;
        let mut headers = HashMap::new();
        loop {
            let line = line(&mut self.reader)?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        Ok(Response { status, headers, body: Vec::new() })
    }

    /// Waits until the server asks for the body of a request that said that it would wait.
    pub fn expect_continue(&mut self) {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
        self.reader.read_line(&mut line).unwrap();
    }

    /// Reads a whole answer.
    pub fn response(&mut self) -> Result<Response, String> {
        let mut response = self.head()?;
        let failed = |why: std::io::Error| why.to_string();
        if response.header("transfer-encoding") == "chunked" {
            loop {
                let mut size = String::new();
                self.reader.read_line(&mut size).map_err(failed)?;
                let size =
                    usize::from_str_radix(size.trim(), 16).map_err(|why| format!("{why}: {size:?}"))?;
                let mut chunk = vec![0; size + 2];
                self.reader.read_exact(&mut chunk).map_err(failed)?;
                response.body.extend_from_slice(&chunk[..size]);
                if size == 0 {
                    return Ok(response);
                }
            }
        }
        let length = response.header("content-length").parse().unwrap_or(0);
        response.body = vec![0; length];
        self.reader.read_exact(&mut response.body).map_err(failed)?;
        Ok(response)
    }

    /// Waits until the server closes, and gives what it said before.
    pub fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        // A reset is an end, too.
        self.reader.read_to_end(&mut rest).ok();
        String::from_utf8_lossy(&rest).into_owned()
    }
}

/// The head of a request, as far as its first line and these headers.
pub fn head(method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    head + "\r\n"
}

/// A client of the protocol.
pub struct Client {
    pub raw: Raw,
    pub token: String,
    pub era: ProtocolEra,
    pub session: Option<String>,
    next: u64,
}

/// What a request carries that stands for itself.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "suite", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

impl Client {
    /// A client on this connection that has said hello, if its era has it do so.
    pub fn new(raw: Raw, token: &str, era: ProtocolEra) -> Client {
        let mut client = Client { raw, token: token.to_owned(), era, session: None, next: 0 };
        if era == ProtocolEra::Old {
            client.initialize();
        }
        client
    }

    /// The headers of a request of this client for that method and name.
    pub fn headers(&self, method: &str, name: &str) -> Vec<(String, String)> {
        let mut headers = vec![
            ("Authorization".to_owned(), format!("Bearer {}", self.token)),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("Content-Type".to_owned(), "application/json".to_owned()),
        ];
        match self.era {
            ProtocolEra::Old => {
                headers.extend(self.session.iter().map(|id| ("Mcp-Session-Id".to_owned(), id.clone())));
                if self.session.is_some() {
                    headers.push(("MCP-Protocol-Version".to_owned(), "2025-11-25".to_owned()));
                }
            }
            ProtocolEra::New => {
                headers.push(("MCP-Protocol-Version".to_owned(), "2026-07-28".to_owned()));
                headers.push(("Mcp-Method".to_owned(), method.to_owned()));
                if !name.is_empty() {
                    headers.push(("Mcp-Name".to_owned(), name.to_owned()));
                }
            }
        }
        headers
    }

    /// A message as this era has it.
    pub fn message(&self, id: u64, method: &str, mut params: Value) -> Value {
        if self.era == ProtocolEra::New {
            params["_meta"] = meta();
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// The head of a request for a method of the protocol and a name, with these headers besides those of this client.
    pub fn head(&self, verb: &str, (method, name): (&str, &str), more: &[(&str, &str)]) -> String {
        let own = self.headers(method, name);
        let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let headers: Vec<_> = own.chain([("Host", "localhost")]).chain(more.iter().copied()).collect();
        head(verb, "/mcp", &headers)
    }

    /// The bytes of a request.
    pub fn request(&self, message: &Value) -> Vec<u8> {
        let part = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (method, name) = (part(&message["method"]), part(&message["params"]["name"]));
        let body = message.to_string();
        let head = self.head("POST", (&method, &name), &[("Content-Length", &body.len().to_string())]);
        (head + &body).into_bytes()
    }

    fn initialize(&mut self) {
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "suite", "version": "1"}});
        let hello = self.message(0, "initialize", hello);
        self.raw.send(self.request(&hello));
        let greeted = self.raw.response().unwrap();
        assert_eq!(greeted.status, 200, "{greeted:?}");
        self.session = Some(greeted.header("mcp-session-id").to_owned());
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.raw.send(self.request(&ready));
        assert_eq!(self.raw.response().unwrap().status, 202);
    }

    /// Sends a call and gives its id.
    pub fn post_call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.next += 1;
        let message = self.message(self.next, "tools/call", json!({"name": tool, "arguments": arguments}));
        self.raw.send(self.request(&message));
        self.next
    }

    /// Edits `a.txt` as a client that can ask a person, and gives the result; `extra` has the fields that answer an
    /// earlier question.
    pub fn edit_with_question(&mut self, extra: &Value) -> Value {
        let mut params = json!({"name": "safe_edit_file", "arguments": {"path": "a.txt", "content": "a\n"}});
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let mut message = self.message(3, "tools/call", params);
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({"elicitation": {"form": {}}});
        self.raw.send(self.request(&message));
        self.raw.response().unwrap().answer()["result"].clone()
    }

    /// Calls a tool, and gives its result.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.post_call(tool, arguments);
        let answer = self.raw.response().unwrap().answer();
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Asks for something else.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let message = self.message(self.next, method, params);
        self.raw.send(self.request(&message));
        self.raw.response().unwrap().answer()
    }
}

/// Asks for a page.
pub fn page(address: SocketAddr, path: &str, token: Option<&str>) -> Response {
    let mut raw = Raw::to(address);
    let authorization = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![("Host", "localhost")];
    headers.extend(authorization.as_deref().map(|authorization| ("Authorization", authorization)));
    raw.send(head("GET", path, &headers));
    raw.response().unwrap()
}
