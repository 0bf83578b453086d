//! `lockgate completions`: prints shell completions.

use std::process::ExitCode;

use clap_complete::Shell;

use super::paint;
use lockgate_error::Error;

/// The arguments of `lockgate completions`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// Shell to generate completions for
    shell: Shell,
}

/// Prints the completions for a shell.
pub(super) fn run(args: CompletionsArgs, mut command: clap::Command) -> Result<ExitCode, Error> {
    // Render to memory first, because the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "lockgate", &mut script);
    paint::print_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
