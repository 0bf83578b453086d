//! `lockgate serve token`: a token for one more client of a server with a configuration.

use std::env;
use std::process::ExitCode;

use crate::error::{Code, Error};
use crate::front::cli::paint;
use crate::front::http::Secret;
use crate::policy::Token;

/// The variable that gives a token instead of a file.
pub(super) const TOKEN: &str = "LOCKGATE_TOKEN";

/// The variable that gives the secret of servers that take turns.
const SEAL: &str = "LOCKGATE_SEAL";

/// The arguments of `lockgate serve token`.
#[derive(Debug, clap::Args)]
pub(super) struct TokenArgs {
    /// Who the token is for, as the journal will name it
    name: String,
}

/// Prints what the configuration is told of a token, and a new token itself to standard error, so that it is not written down
/// with the rest; one that the environment gives is known already.
pub(super) fn run(args: &TokenArgs) -> Result<ExitCode, Error> {
    let name = &args.name;
    if !Token::is_name(name) {
        let seen = "a name has letters, digits, `.`, `_`, `@` and `-`, and at most 64 of them";
        return Err(Error::new(Code::InvalidInput, seen).field("NAME"));
    }
    let (secret, shown) = match given()? {
        Some(secret) => (secret, false),
        None => (Secret::fresh()?, true),
    };
    let hash = blake3::Hash::from_bytes(secret.hash()).to_hex();
    let entry = format!("  - name: {name}\n    hash: blake3:{hash}\n    roots: [/path/to/a/project]\n");
    if shown {
        paint::complain(&format!("for the client, and shown this once: {}\n", secret.reveal()));
    }
    paint::say_plain(entry.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The token that the environment gives.
pub(super) fn given() -> Result<Option<Secret>, Error> {
    secret(TOKEN)
}

/// What servers that take turns have in common, as the environment gives it.
pub(super) fn seal() -> Result<Option<Secret>, Error> {
    secret(SEAL)
}

fn secret(variable: &str) -> Result<Option<Secret>, Error> {
    match env::var_os(variable) {
        None => Ok(None),
        Some(text) if text.is_empty() => Ok(None),
        Some(text) => Secret::given(text.to_str().unwrap_or_default(), variable).map(Some),
    }
}
