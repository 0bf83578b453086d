//! The database of the commands, and the output that they share.

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cli::output_format::OutputFormat;
use crate::cli::paint::{self, REJECTED, labelled, visible};
use crate::cli::store_args::StoreLocation;
use crate::cli::verbosity::Verbosity;
use lockgate_engine::{EntityDatabase, Workspace};
use lockgate_error::Error;

/// Returns the database of `--store`, or else the user's own.
pub fn database(store: &StoreLocation) -> Result<Arc<EntityDatabase>, Error> {
    Ok(store.database()?.unwrap_or_else(|| Workspace::open_database(&[])))
}

/// Returns the database of `--store`, which must exist, or else the user's own.
pub fn existing_database(store: &StoreLocation) -> Result<Arc<EntityDatabase>, Error> {
    Ok(store.existing_database()?.unwrap_or_else(|| Workspace::open_database(&[])))
}

/// Prints the result as JSON or text.
pub fn print(format: OutputFormat, value: &Value, text: &str) -> Result<(), Error> {
    match format {
        OutputFormat::Json => paint::print_json_line(value),
        OutputFormat::Text => paint::print(text),
    }
}

/// Prints the result of a command that succeeded, as JSON or text. A quiet command prints no text.
pub fn report(format: OutputFormat, verbosity: Verbosity, value: &Value, text: &str) -> Result<(), Error> {
    match (format, verbosity) {
        (OutputFormat::Text, Verbosity::Quiet) => Ok(()),
        (OutputFormat::Json | OutputFormat::Text, _) => print(format, value, text),
    }
}

/// Renders the rejected files as JSON.
pub fn failures<'a>(failed: impl Iterator<Item = (&'a str, &'a Error)>) -> Vec<Value> {
    let failure = |(name, why): (&str, &Error)| json!({"file": name, "code": why.code.name(), "message": why.message, "hint": why.next_step()});
    failed.map(failure).collect()
}

/// Prints the rejected files as text and returns the exit code of the first one.
pub fn print_rejections<'a>(
    format: OutputFormat,
    failed: impl Iterator<Item = (&'a str, &'a Error)>,
) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for (at, (name, why)) in failed.enumerate() {
        if at == 0 {
            code = ExitCode::from(why.code.family().exit_code());
        }
        if format == OutputFormat::Text {
            let (name, message) = (visible(name), visible(&why.message));
            paint::print_error(&labelled(
                REJECTED,
                "refused",
                format!("{name}: {}: {message}", why.code.name()),
            ));
        }
    }
    code
}
