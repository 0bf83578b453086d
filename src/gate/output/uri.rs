//! Names of files that are written as URIs (RFC 3986, RFC 8089).

/// Gives the path that a `file:` URI names, or nothing for another text.
pub(in crate::gate) fn path(uri: &str) -> Option<String> {
    let scheme = uri.get(..5)?;
    if !scheme.eq_ignore_ascii_case("file:") {
        return None;
    }
    let rest = uri.get(5..)?;
    let path = match rest.strip_prefix("//") {
        Some(after) => after.get(after.find('/')?..)?,
        None => rest,
    };
    Some(decoded(path.split(['?', '#']).next().unwrap_or(path)))
}

/// Undoes percent-encoding. What is no encoded byte stands for itself, and bytes that are not UTF-8 become U+FFFD.
pub(in crate::gate) fn decoded(text: &str) -> String {
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
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_uris_are_paths() {
        for (uri, wanted) in [
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
            assert_eq!(path(uri).as_deref(), wanted, "{uri}");
        }
    }
}
