//! The tokens of the HTTP server, with the permissions of each.

use std::path::{Path, PathBuf};

use super::keys::TOKEN;
use crate::node::{PolicyError, YamlNode};
use crate::{is_id, server_toolsets};

/// The longest name of a token, in characters.
const MAX_NAME: usize = 64;
/// The prefix of a hash.
const BLAKE3: &str = "blake3:";

/// A client token and its permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The name of the client.
    pub name: String,
    /// The BLAKE3 hash of the token.
    pub hash: [u8; 32],
    /// The roots that it can access, as absolute paths.
    pub roots: Vec<PathBuf>,
    /// Set when it has no tools that write.
    pub read_only: bool,
    /// The toolsets that it is offered, if the configuration names them; each exists in this version.
    pub toolsets: Option<Vec<String>>,
    /// Set when it may read the metrics.
    pub metrics: bool,
    /// The organisation whose stored content it can access.
    pub organization: Option<String>,
}

impl Token {
    /// True if the name is valid for a token.
    pub fn is_name(name: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '@' | '-');
        !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(plain)
    }
}

/// Reads one entry of `tokens`.
pub(super) fn token(node: &YamlNode, _: &str) -> Result<Token, PolicyError> {
    let fields = node.settings("a token", &[TOKEN])?;
    let token = Token {
        name: name(fields.require("name")?)?,
        hash: hash(fields.require("hash")?)?,
        roots: fields.each("roots", root)?,
        read_only: fields.read("read_only", false)?,
        toolsets: fields.optional("tools", server_toolsets::toolset_names)?,
        metrics: fields.read("metrics", false)?,
        organization: fields.optional("organization", organization)?,
    };
    if token.roots.is_empty() && token.organization.is_none() && !token.metrics {
        let message = "a token without `roots`, `organization` and `metrics: true` has no access to anything";
        return Err(node.fault(message));
    }
    Ok(token)
}

/// Rejects two tokens with the same name or hash.
pub(super) fn check_apart(nodes: &[YamlNode], tokens: &[Token]) -> Result<(), PolicyError> {
    for (at, (node, token)) in nodes.iter().zip(tokens).enumerate() {
        for other in tokens.iter().take(at) {
            if other.name == token.name {
                return Err(node.fault(format!("duplicate token name `{}`", token.name)));
            }
            if other.hash == token.hash {
                return Err(node.fault(format!("`{}` and `{}` are the same token", other.name, token.name)));
            }
        }
    }
    Ok(())
}

fn name(node: &YamlNode) -> Result<String, PolicyError> {
    let name = node.text("`name`")?;
    if !Token::is_name(name) {
        return Err(node.fault(format!(
            "`name` may contain only letters, digits, `.`, `_`, `@` and `-`, at most {MAX_NAME} of them"
        )));
    }
    Ok(name.to_owned())
}

/// Never displays the value: it may be the token itself, in the wrong place.
fn hash(node: &YamlNode) -> Result<[u8; 32], PolicyError> {
    let expected = "`blake3:` and 64 hexadecimal digits, as `lockgate serve token NAME` prints it";
    let error = || node.fault(format!("`hash` must be {expected}"));
    let digits = node.text("`hash`").map_err(|_| error())?.strip_prefix(BLAKE3).ok_or_else(error)?;
    blake3::Hash::from_hex(digits).map(Into::into).map_err(|_| error())
}

fn organization(node: &YamlNode, what: &str) -> Result<String, PolicyError> {
    let id = node.text(what)?;
    if !is_id(id) {
        return Err(node.fault(format!("{what} must have 1 to 128 bytes and no control characters")));
    }
    Ok(id.to_owned())
}

fn root(node: &YamlNode, what: &str) -> Result<PathBuf, PolicyError> {
    let path = Path::new(node.text(what)?);
    if !path.is_absolute() {
        return Err(node.fault(format!("{what} must be absolute paths")));
    }
    Ok(path.to_owned())
}
