//! Finds the id of a JSON-RPC message without parsing it, so that a message that is too long or not JSON can be
//! answered.
//!
//! Invariant: memory does not grow with the message.

use rmcp::model::RequestId;

/// Maximum length of an id; longer ones are ignored.
const MAX_ID_BYTES: usize = 256;

/// Scans a message for its top-level `id`, chunk by chunk.
#[derive(Debug, Default)]
pub(super) struct IdScanner {
    depth: usize,
    part: EnvelopePart,
    /// Bytes of the last top-level string or number.
    last: Vec<u8>,
    /// Set when the next top-level value is the id.
    expects_id: bool,
    found: Option<RequestId>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum EnvelopePart {
    #[default]
    Structure,
    Text,
    Escape,
    Scalar,
    /// The first message has ended; what follows on its line is not part of it.
    End,
}

impl IdScanner {
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            bytes = rest;
            match self.part {
                EnvelopePart::Structure => self.structure(byte),
                EnvelopePart::Escape => {
                    self.keep(byte);
                    self.part = EnvelopePart::Text;
                }
                EnvelopePart::Text if byte == b'"' => self.end_text(),
                EnvelopePart::Text => {
                    self.keep(byte);
                    if byte == b'\\' {
                        self.part = EnvelopePart::Escape;
                    } else if self.depth > 1 {
                        bytes = skip_text(rest);
                    }
                }
                EnvelopePart::Scalar if matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n') => {
                    self.end_scalar();
                    self.structure(byte);
                }
                EnvelopePart::Scalar => self.keep(byte),
                EnvelopePart::End => return,
            }
        }
    }

    /// Returns the id and resets the scanner for the next message.
    pub(super) fn take(&mut self) -> Option<RequestId> {
        self.end_scalar();
        std::mem::take(self).found
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.part = EnvelopePart::End;
                }
            }
            b'"' => {
                self.last.clear();
                self.part = EnvelopePart::Text;
            }
            b':' => self.expects_id = self.depth == 1 && self.last == b"id",
            b',' | b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => {
                self.last.clear();
                self.part = EnvelopePart::Scalar;
                self.keep(byte);
            }
        }
        if matches!(byte, b'{' | b'[' | b',') {
            self.expects_id = false;
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.last.len() <= MAX_ID_BYTES {
            self.last.push(byte);
        }
    }

    fn end_text(&mut self) {
        self.part = EnvelopePart::Structure;
        if self.expects_id {
            self.set([b"\"", self.last.as_slice(), b"\""].concat().as_slice());
        }
    }

    fn end_scalar(&mut self) {
        if self.part == EnvelopePart::Scalar {
            self.part = EnvelopePart::Structure;
            let id = std::mem::take(&mut self.last);
            if self.expects_id {
                self.set(&id);
            }
        }
    }

    fn set(&mut self, id: &[u8]) {
        self.expects_id = false;
        if id.len() <= MAX_ID_BYTES {
            self.found = serde_json::from_slice(id).ok();
        }
    }
}

/// Returns the rest of a text from its next quotation mark or backslash.
fn skip_text(bytes: &[u8]) -> &[u8] {
    let next = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
    bytes.get(next..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn id_of(text: &str, piece: usize) -> Option<RequestId> {
        let mut envelope = IdScanner::default();
        for piece in text.as_bytes().chunks(piece) {
            envelope.feed(piece);
        }
        envelope.take()
    }

    #[test]
    fn the_id_is_found_at_every_position() {
        for text in [
            r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#,
            r#"{"params":{"id":1,"a":[{"id":2}],"s":"\",\"id\":3"},"id" : 7 }"#,
            r#"{"a":"id","b":["id",1],"id":7,"#,
            r#"{"id":7"#,
            r#"{"id":7,"params":{"deep":[[[["#,
            r#"{"id":7,"method":"x"}{"id":8,"method":"x"}"#,
        ] {
            for piece in [1, 3, 1000] {
                assert_eq!(id_of(text, piece), Some(RequestId::Number(7)), "{text}");
            }
        }
        assert_eq!(id_of(r#"{"id":"a\"b"}"#, 1), Some(RequestId::String("a\"b".into())));
    }

    #[test]
    fn what_is_no_id_is_none() {
        for text in [
            "",
            "garbage",
            r#"{"method":"id"}"#,
            r#"{"id":null}"#,
            r#"{"id":{"id":1}}"#,
            r#"{"method":"x"} {"id":1,"method":"x"}"#,
            r#"[{"id":1}]"#,
            "\"id\":1",
        ] {
            assert_eq!(id_of(text, 2), None, "{text}");
        }
        let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(1000));
        assert_eq!(id_of(&long, 7), None);
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,6}|id|\"|\\\\".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("id|[a-z]{1,3}|\\PC{0,2}", inner, 0..4)
                    .prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_finds_what_a_parser_finds(params in json_value(), id in any::<i64>(), first in any::<bool>(), piece in 1_usize..9) {
            let mut message = json!({});
            let fields = message.as_object_mut().unwrap();
            if first {
                fields.insert("id".into(), id.into());
            }
            fields.insert("params".into(), params);
            fields.insert("id".into(), id.into());
            prop_assert_eq!(id_of(&message.to_string(), piece), Some(RequestId::Number(id)));
        }

        #[test]
        fn any_bytes_are_survived(bytes in any::<Vec<u8>>(), piece in 1_usize..9) {
            let mut envelope = IdScanner::default();
            for piece in bytes.chunks(piece) {
                envelope.feed(piece);
            }
            envelope.take();
        }
    }
}
