//! Encodes and decodes messages on a byte stream: the base protocol of LSP 3.17, headers and a JSON body.
//!
//! Invariant: the buffer is bounded whatever the server writes, and invalid input is an error, never skipped.

use serde_json::Value;

/// The largest headers of a message, in bytes.
const MAX_HEADER: usize = 4096;
/// The largest body of a message, in bytes.
const MAX_BODY: usize = 32 << 20;

/// Encodes a message with its headers.
pub(super) fn encode(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Decodes messages from a server's output.
#[derive(Debug, Default)]
pub(super) struct LspReader {
    buffer: Vec<u8>,
    /// The length of the body whose headers were read.
    body_length: Option<usize>,
}

impl LspReader {
    /// Appends output of the server.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete message.
    ///
    /// Errors: why the stream is invalid, as the end of a sentence that begins with the server's name.
    pub(super) fn next(&mut self) -> Result<Option<Value>, String> {
        let Some(length) = self.length()? else { return Ok(None) };
        if self.buffer.len() < length {
            return Ok(None);
        }
        let body: Vec<u8> = self.buffer.drain(..length).collect();
        self.body_length = None;
        let message = serde_json::from_slice(&body);
        message.map(Some).map_err(|error| format!("wrote a message that is not JSON ({error})"))
    }

    /// Returns the length of the next body, if its headers are complete.
    fn length(&mut self) -> Result<Option<usize>, String> {
        if let Some(length) = self.body_length {
            return Ok(Some(length));
        }
        let Some(end) = memchr::memmem::find(&self.buffer, b"\r\n\r\n") else {
            let odd = self.buffer.len() > MAX_HEADER || !is_header(&self.buffer);
            return if odd { Err(spoke_otherwise()) } else { Ok(None) };
        };
        let headers: Vec<u8> = self.buffer.drain(..end + 4).collect();
        let length = length_in(&headers).ok_or_else(spoke_otherwise)?;
        if length > MAX_BODY {
            return Err(format!("announced a message of {length} bytes; the limit is {MAX_BODY}"));
        }
        self.body_length = Some(length);
        Ok(Some(length))
    }
}

/// Returns true if this can be the beginning of headers, so that invalid output is rejected at once.
fn is_header(bytes: &[u8]) -> bool {
    const NAMES: [&[u8]; 2] = [b"content-length:", b"content-type:"];
    NAMES.iter().any(|name| {
        let common = bytes.len().min(name.len());
        bytes
            .get(..common)
            .is_some_and(|start| start.eq_ignore_ascii_case(name.get(..common).unwrap_or(start)))
    })
}

fn length_in(headers: &[u8]) -> Option<usize> {
    let headers = std::str::from_utf8(headers).ok()?;
    let length = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    };
    headers.split("\r\n").find_map(length)
}

fn spoke_otherwise() -> String {
    "wrote something other than the Language Server Protocol".to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(bytes: &[u8], step: usize) -> Result<Vec<Value>, String> {
        let (mut frames, mut all) = (LspReader::default(), Vec::new());
        for piece in bytes.chunks(step) {
            frames.feed(piece);
            while let Some(message) = frames.next()? {
                all.push(message);
            }
        }
        Ok(all)
    }

    #[test]
    fn messages_are_read_however_they_are_cut() {
        let both = [json!({ "a": "é😀" }), json!({})];
        let mut bytes: Vec<u8> = both.iter().flat_map(encode).collect();
        bytes.extend(b"content-type: x\r\nCONTENT-LENGTH:  2 \r\n\r\n[]");
        for step in [1, 2, 7, 1000] {
            assert_eq!(read(&bytes, step).unwrap(), [both[0].clone(), both[1].clone(), json!([])]);
        }
    }

    #[test]
    fn an_invalid_message_is_an_error() {
        let other = spoke_otherwise();
        for (bytes, why) in [
            (&b"Starting the server ...\n"[..], other.as_str()),
            (b"\n", &other),
            (b"Content-Length: x\r\n\r\n", &other),
            (b"Content-Length: -1\r\n\r\n", &other),
            (b"Content-Type: x\r\n\r\n", &other),
            (b"Content-Length: 99999999999999999999999\r\n\r\n", &other),
            (
                b"Content-Length: 999999999\r\n\r\n",
                "announced a message of 999999999 bytes; the limit is 33554432",
            ),
            (b"Content-Length: 1\r\n\r\n{", "wrote a message that is not JSON"),
        ] {
            for step in [1, 1000] {
                let message = read(bytes, step).unwrap_err();
                assert!(message.starts_with(why), "{message}");
            }
        }
        assert_eq!(read(&[&b"Content-Length: "[..], &[b'1'; 5000]].concat(), 64).unwrap_err(), other);
        assert_eq!(read(b"Content-Len", 1), Ok(Vec::new()), "the control: it may still come");
    }
}
