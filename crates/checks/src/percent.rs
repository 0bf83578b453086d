//! Percent-encoding and decoding of paths: RFC 3986, 2.1.
#![deny(clippy::disallowed_methods)]

/// Decodes a text to bytes; anything that is no encoded byte is copied.
pub(super) fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        match (first, behind.split_at_checked(2)) {
            (b'%', Some((digits, after))) if digits.iter().all(u8::is_ascii_hexdigit) => {
                let digits = std::str::from_utf8(digits).unwrap_or_default();
                bytes.push(u8::from_str_radix(digits, 16).unwrap_or_default());
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    bytes
}

/// Encodes a path for a URI (RFC 3986, 3.3). Only unreserved characters stay, as servers agree on those only.
pub(super) fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}
