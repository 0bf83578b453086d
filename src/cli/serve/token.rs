//! `lockgate serve token`: creates a token for a client of a server with a configuration.

use std::env;
use std::process::ExitCode;

use crate::cli::paint;
use lockgate_error::{Code, Error};
use lockgate_mcp::http::BearerToken;
use lockgate_policy::Token;

/// The environment variable that contains the token instead of a file.
pub(super) const TOKEN: &str = "LOCKGATE_TOKEN";

/// The environment variable of the secret that servers behind one balancer share.
pub(super) const SEAL: &str = "LOCKGATE_SEAL";

/// The arguments of `lockgate serve token`.
#[derive(Debug, clap::Args)]
pub(super) struct TokenArgs {
    /// Name of the client, as recorded in the journal
    name: String,
}

/// Prints the configuration entry of a token, and a new token to standard error, so that the token is not saved with
/// the entry. A token from the environment is not printed.
pub(super) fn run(args: &TokenArgs) -> Result<ExitCode, Error> {
    let name = &args.name;
    if !Token::is_name(name) {
        let message = "a name has letters, digits, `.`, `_`, `@` and `-`, and at most 64 of them";
        return Err(Error::new(Code::InvalidInput, message).field("NAME"));
    }
    let (token, shown) = match from_env(TOKEN)? {
        Some(token) => (token, false),
        None => (BearerToken::generate()?, true),
    };
    let hash = blake3::Hash::from_bytes(token.hash()).to_hex();
    let entry = format!("  - name: {name}\n    hash: blake3:{hash}\n    roots: [/path/to/a/project]\n");
    if shown {
        paint::print_error(&format!("token for the client, shown only once: {}\n", token.reveal()));
    }
    paint::print_bytes(entry.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the token or secret in this variable of the environment.
pub(super) fn from_env(variable: &str) -> Result<Option<BearerToken>, Error> {
    let text = env::var_os(variable).filter(|text| !text.is_empty());
    text.map(|text| BearerToken::parse(text.to_str().unwrap_or_default(), variable)).transpose()
}
