//! The name of an author: of a token, of a client, or of both.

use std::fmt;

/// The name under which the journal keeps the author of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorName {
    /// A token of a server that several share, and the client that used it.
    Token {
        /// The name of the token.
        token: String,
        /// The client; absent if it gave no name.
        client: Option<ClientName>,
    },
    /// A client without a token, or a command.
    Client(ClientName),
}

/// The name that a client gives itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientName {
    /// The name, which stays the same.
    pub name: String,
    /// The version, which grows; absent for a name of one word.
    pub version: Option<String>,
}

impl ClientName {
    /// Parses the text that [`ClientName`] is shown as: the last word is the version.
    pub fn parse(text: &str) -> ClientName {
        match text.rsplit_once(' ') {
            Some((name, version)) => ClientName { name: name.into(), version: Some(version.into()) },
            None => ClientName { name: text.into(), version: None },
        }
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{} {version}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl AuthorName {
    /// Parses the text that the journal keeps, which is the one that [`AuthorName`] is shown as. A token without a client
    /// reads as a client.
    pub fn parse(text: &str) -> AuthorName {
        let inside = text.strip_suffix(')').and_then(|text| text.split_once(" ("));
        match inside {
            Some((token, client)) => {
                AuthorName::Token { token: token.into(), client: Some(ClientName::parse(client)) }
            }
            None => AuthorName::Client(ClientName::parse(text)),
        }
    }

    /// Returns true if two names mean the same author: the same token, or the same client in whatever version.
    pub fn is_same(&self, other: &AuthorName) -> bool {
        match (self, other) {
            (AuthorName::Token { token: one, .. }, AuthorName::Token { token: other, .. }) => one == other,
            (AuthorName::Client(one), AuthorName::Client(other)) => one.name == other.name,
            (AuthorName::Token { token, .. }, AuthorName::Client(client))
            | (AuthorName::Client(client), AuthorName::Token { token, .. }) => {
                *token == client.name || *token == client.to_string()
            }
        }
    }
}

impl fmt::Display for AuthorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuthorName::Token { token, client: Some(client) } => write!(f, "{token} ({client})"),
            AuthorName::Token { token, client: None } => f.write_str(token),
            AuthorName::Client(client) => write!(f, "{client}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_is_recognised_by_token_or_client() {
        for (one, other, same) in [
            ("claude-code 2.1", "claude-code 2.2", true),
            ("claude-code 2.1", "codex 2.1", false),
            ("team-a (codex 1)", "team-a (claude 2)", true),
            ("team-a (codex 1)", "team-b (codex 1)", false),
            ("ci bot", "ci bot (x 1)", true),
            ("command line", "command line", true),
            ("x (beta) 1.0", "x (beta) 1.1", true),
        ] {
            let (one, other) = (AuthorName::parse(one), AuthorName::parse(other));
            assert_eq!(one.is_same(&other), same, "{one} {other}");
            assert_eq!(other.is_same(&one), same, "{other} {one}");
        }
    }

    #[test]
    fn a_name_reads_back_as_it_is_shown() {
        for text in ["", "suite", "claude-code 2.1", "team-a (codex 1)", "x (beta) 1.0", "command line"] {
            assert_eq!(AuthorName::parse(text).to_string(), text);
        }
        let client = ClientName { name: "codex".into(), version: Some("1".into()) };
        let token = AuthorName::Token { token: "team-a".into(), client: Some(client) };
        assert_eq!(AuthorName::parse(&token.to_string()), token);
    }
}
