//! Decodes file names written as URIs (RFC 3986, RFC 8089).

use percent_encoding::percent_decode_str;

/// Returns the path of a `file:` URI; `None` for other text.
pub(crate) fn path(uri: &str) -> Option<String> {
    let scheme = uri.get(..5)?;
    if !scheme.eq_ignore_ascii_case("file:") {
        return None;
    }
    let rest = uri.get(5..)?;
    let path = match rest.strip_prefix("//") {
        Some(after) => after.get(after.find('/')?..)?,
        None => rest,
    };
    Some(decode(path.split(['?', '#']).next().unwrap_or(path)))
}

/// Decodes percent-encoding; bytes that are not UTF-8 become U+FFFD.
pub(crate) fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_uris_are_paths() {
        for (uri, expected) in [
            ("file:///a/b%20c.py", Some("/a/b c.py")),
            ("FILE:///a", Some("/a")),
            ("file://localhost/a/%C3%A9", Some("/a/é")),
            ("file:/a", Some("/a")),
            ("file:///a%23b?q#f", Some("/a#b")),
            ("file:///%ff", Some("/\u{fffd}")),
            ("file:///50%", Some("/50%")),
            ("file:///%4", Some("/%4")),
            ("file:///%é9", Some("/%é9")),
            ("file://host", None),
            ("file", None),
            ("a/b.py", None),
            ("éééé", None),
            ("http://x/a", None),
        ] {
            assert_eq!(path(uri).as_deref(), expected, "{uri}");
        }
    }
}
