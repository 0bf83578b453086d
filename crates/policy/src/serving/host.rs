//! Host names of a server and allowed web origins, as in the headers `Host` and `Origin`.
//!
//! Invariant: equal values have the same meaning, and ambiguous texts are rejected.

use std::net::Ipv6Addr;

/// A host, with its port or for any port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    name: String,
    port: Option<u16>,
}

impl Host {
    /// Reads `name`, `name:port`, `[address]` or `[address]:port`.
    pub fn read(text: &str) -> Option<Host> {
        let end =
            if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':').unwrap_or(text.len()) };
        let (name, rest) = text.split_at_checked(end)?;
        let port = match rest.strip_prefix(':') {
            Some(digits) => Some(port(digits)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        Some(Host { name: host_name(name)?, port })
    }

    /// Returns the names of the machine itself, for any port.
    pub fn own() -> Vec<Host> {
        ["localhost", "127.0.0.1", "[::1]"].iter().filter_map(|name| Host::read(name)).collect()
    }

    /// True if a request for `host` is meant for this one.
    pub fn admits(&self, host: &Host) -> bool {
        self.name == host.name && (self.port.is_none() || self.port == host.port)
    }
}

/// A web origin: scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebOrigin {
    scheme: String,
    name: String,
    port: Option<u16>,
}

impl WebOrigin {
    /// Parses `scheme://host` or `scheme://host:port`; rejects `null`, the origin of no page in particular.
    pub fn read(text: &str) -> Option<WebOrigin> {
        let (scheme, host) = text.split_once("://")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(plain) {
            return None;
        }
        let (scheme, Host { name, port }) = (scheme.to_ascii_lowercase(), Host::read(host)?);
        let port = port.or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(WebOrigin { scheme, name, port })
    }

    /// Returns the origins of the machine itself, on any port.
    pub fn own() -> Vec<WebOrigin> {
        let site = |host: Host| WebOrigin { scheme: "http".to_owned(), name: host.name, port: None };
        Host::own().into_iter().map(site).collect()
    }

    /// True if a page of `origin` matches this one.
    pub fn admits(&self, origin: &WebOrigin) -> bool {
        let port = self.port.is_none() || self.port == origin.port;
        port && self.scheme == origin.scheme && self.name == origin.name
    }
}

fn port(digits: &str) -> Option<u16> {
    let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

fn host_name(name: &str) -> Option<String> {
    if let Some(address) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        let address: Ipv6Addr = address.parse().ok()?;
        return Some(format!("[{address}]"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    (!name.is_empty() && name.len() <= 253 && name.chars().all(plain)).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_its_name_and_its_port() {
        let admits = |allowed: &str, host: &str| {
            Host::read(allowed).unwrap().admits(&Host::read(host).unwrap_or_else(|| panic!("{host}")))
        };
        for (allowed, host) in [
            ("localhost", "LOCALHOST:1"),
            ("Edits.example.com", "edits.example.com"),
            ("a:80", "a:80"),
            ("[::1]", "[0:0:0:0:0:0:0:1]:9"),
            ("127.0.0.1", "127.0.0.1:8137"),
        ] {
            assert!(admits(allowed, host), "{allowed} {host}");
        }
        for (allowed, host) in [
            ("a:80", "a"),
            ("a:80", "a:81"),
            ("a", "b"),
            ("a", "a."),
            ("a", "x.a"),
            ("a", "a.x"),
            ("[::1]", "[::2]"),
        ] {
            assert!(!admits(allowed, host), "{allowed} {host}");
        }
        for wrong in [
            "", ":80", "a:", "a:x", "a:+1", "a:65536", "a b", "u@a", "a/b", "::1", "[::1", "[::1]x", "[a]",
            "http://a", "é",
        ] {
            assert_eq!(Host::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_pages_of_this_machine_have_any_port_and_no_other_name() {
        let own =
            |text: &str| WebOrigin::own().iter().any(|site| site.admits(&WebOrigin::read(text).unwrap()));
        for text in ["http://localhost", "http://127.0.0.1:3000", "http://[::1]:8137", "http://LOCALHOST:1"] {
            assert!(own(text), "{text}");
        }
        for text in [
            "https://localhost",
            "http://localhost.evil.example",
            "http://127.0.0.2",
            "http://evil.example:80",
        ] {
            assert!(!own(text), "{text}");
        }
    }

    #[test]
    fn a_site_is_scheme_host_and_port() {
        for (one, other) in [
            ("https://a", "https://A:443"),
            ("http://a:80", "HTTP://a"),
            ("vscode-webview://1ab2", "vscode-webview://1ab2"),
        ] {
            assert_eq!(WebOrigin::read(one).unwrap(), WebOrigin::read(other).unwrap(), "{one} {other}");
        }
        for (one, other) in
            [("https://a", "http://a"), ("https://a", "https://a:80"), ("https://a", "https://b")]
        {
            assert_ne!(WebOrigin::read(one), WebOrigin::read(other), "{one} {other}");
        }
        for wrong in [
            "",
            "null",
            "a",
            "https://",
            "https:/a",
            "https://a/",
            "https://a/b",
            "https://u@a",
            "://a",
            "https://a, https://b",
        ] {
            assert_eq!(WebOrigin::read(wrong), None, "{wrong}");
        }
    }
}
