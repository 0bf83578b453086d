//! The header fields of a request that say where its body ends.
//!
//! RFC 9112 section 6 lets a server reject a request whose body has more than one possible end. hyper accepts some
//! of these, for example `Transfer-Encoding: gzip, chunked`, or both a length and chunks. Here each is rejected.

/// Longer lines are not stored: no valid framing field has that length.
const LINE_LIMIT: usize = 128;
/// The only transfer coding of a request.
const CODING: &[u8] = b"chunked";

/// The lines of a head: the current line, and the framing fields before it.
#[derive(Debug, Clone, Default)]
pub(super) struct HeadFields {
    /// The first bytes of the current line.
    line: Vec<u8>,
    /// Set after the request line.
    has_request_line: bool,
    /// Set after the one field that says where the body ends.
    has_framing: bool,
}

impl HeadFields {
    /// Appends a byte of the current line, without its end.
    pub(super) fn push(&mut self, byte: u8) {
        if self.line.len() <= LINE_LIMIT {
            self.line.push(byte);
        }
    }

    /// Ends a line that is not empty; returns false if the head must be rejected.
    pub(super) fn end_line(&mut self) -> bool {
        let is_request_line = !std::mem::replace(&mut self.has_request_line, true);
        let is_good = is_request_line || self.is_good_field();
        self.line.clear();
        is_good
    }

    fn is_good_field(&mut self) -> bool {
        let Some(colon) = self.line.iter().position(|byte| *byte == b':') else {
            // hyper rejects a short line without a colon. The name of a long one is no framing field, unless spaces
            // follow it.
            return self.line.len() > LINE_LIMIT && !has_space(&self.line);
        };
        let (name, value) = self.line.split_at(colon);
        if name.is_empty() || has_space(name) {
            return false;
        }
        let is_length = name.eq_ignore_ascii_case(b"content-length");
        if !is_length && !name.eq_ignore_ascii_case(b"transfer-encoding") {
            return true;
        }
        let value = trim(value.get(1..).unwrap_or_default());
        let is_good_value = if is_length {
            !value.is_empty() && value.iter().all(u8::is_ascii_digit)
        } else {
            value.eq_ignore_ascii_case(CODING)
        };
        is_good_value && self.line.len() <= LINE_LIMIT && !std::mem::replace(&mut self.has_framing, true)
    }
}

fn has_space(name: &[u8]) -> bool {
    name.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b'\x0b')
}

/// Removes the spaces and tabs around a value, and nothing else.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
