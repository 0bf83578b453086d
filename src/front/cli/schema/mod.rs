//! `lockgate schema`: the interfaces as JSON Schemas.

mod policy;

use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;

use super::paint;
use super::serve::Choice;
use crate::error::{Code, Error};
use crate::front::mcp;

/// The arguments of `lockgate schema`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Interface to print
    #[arg(value_enum, default_value_t)]
    of: Of,
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Of {
    /// The tools, as `tools/list` answers
    #[default]
    Tools,
    /// The policy file, for editors and checks
    Policy,
}

/// Prints the schemas of an interface as JSON.
pub(super) fn run(args: Args) -> Result<ExitCode, Error> {
    let selection = args.choice.named()?.unwrap_or_default();
    let schema = match args.of {
        Of::Tools => json!(mcp::listed(&selection, args.choice.access())),
        Of::Policy => policy::schema(),
    };
    let mut text = serde_json::to_string_pretty(&schema)
        .map_err(|trouble| Error::new(Code::Internal, format!("the schemas cannot be written: {trouble}")))?;
    text.push('\n');
    paint::say_plain(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
