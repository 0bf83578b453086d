//! `lockgate schema`: prints the interfaces as JSON Schemas.

mod policy;

use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;

use super::paint;
use super::serve::ToolsetChoice;
use lockgate_error::Error;
use lockgate_mcp::rpc;
use lockgate_mcp::selection::EntityStorage;

/// The arguments of `lockgate schema`.
#[derive(Debug, clap::Args)]
pub(super) struct SchemaArgs {
    /// Interface to print
    #[arg(value_enum, default_value_t)]
    of: SchemaTopic,
    #[command(flatten)]
    choice: ToolsetChoice,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum SchemaTopic {
    /// The tools, as `tools/list` answers
    #[default]
    Tools,
    /// The policy file, for editors and checks
    Policy,
}

/// Prints the schemas of an interface as JSON.
pub(super) fn run(args: SchemaArgs) -> Result<ExitCode, Error> {
    let selection = args.choice.selection()?.unwrap_or_default();
    let schema = match args.of {
        SchemaTopic::Tools => {
            json!(rpc::listed(&selection, args.choice.access(), EntityStorage::Unconfigured))
        }
        SchemaTopic::Policy => policy::schema(),
    };
    paint::print_json(&schema)?;
    Ok(ExitCode::SUCCESS)
}
