//! `lockgate trust`: shows the commands of a policy to a person, who allows them.
//!
//! Invariant: the record contains exactly the commands that were shown. No tool of an agent runs this command.

pub(super) mod render;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::ArgAction;

use super::confirm::is_yes;
use super::output_format::OutputFormat;
use super::paint::{self, DONE, LABEL, TITLE, WARNING, labelled, visible};
use super::roots::Roots;
use super::show;
use super::verbosity::Verbosity;
use lockgate_engine::{Commands, TrustOverride, Workspace};
use lockgate_error::{Code, Error, ErrorFamily};
use lockgate_mcp::answer::{age, counted, trust_command};
use lockgate_policy::Policy;

/// The arguments of `lockgate trust`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Any change of the policy, or of the paths of its programs, ends the trust."
)]
pub(super) struct TrustCommandArgs {
    #[command(subcommand)]
    command: Option<TrustCommand>,
    #[command(flatten)]
    roots: Roots,
    /// Folder or file of the policy, relative to --root, else to the current folder
    #[arg(default_value = ".")]
    path: String,
    /// Trusts without asking
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, clap::Subcommand)]
enum TrustCommand {
    /// Shows if a policy is trusted; exits with 0 if its commands may run
    Status {
        #[command(flatten)]
        roots: Roots,
        /// Folder or file of the policy, relative to --root, else to the current folder
        #[arg(default_value = ".")]
        path: String,
        /// Prints the policy's commands and whether they may run as JSON
        #[arg(id = "json", long, action = ArgAction::SetTrue)]
        format: OutputFormat,
    },
    /// Revokes the trust in a policy, immediately and also for running servers
    Revoke {
        #[command(flatten)]
        roots: Roots,
        /// Folder or file of the policy, relative to --root, else to the current folder [default: every policy of the root]
        path: Option<String>,
    },
}

/// Shows the commands of a policy and asks for trust, or runs the subcommand.
pub(super) fn run(args: TrustCommandArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    match &args.command {
        None => trust(&args, verbosity),
        Some(TrustCommand::Status { roots, path, format }) => {
            let opened = roots.open(TrustOverride::Recorded);
            let status = opened.and_then(|workspace| status(&workspace, path, *format, verbosity));
            status.or_else(|error| format.print_error(error))
        }
        Some(TrustCommand::Revoke { roots, path }) => {
            let count = roots.open(TrustOverride::Recorded)?.revoke(path.as_deref())?;
            let text = if count == 0 { "nothing was trusted".to_owned() } else { counted(count, "record") };
            report(&labelled(DONE, "revoked", text), verbosity)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn trust(args: &TrustCommandArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    let workspace = args.roots.open(TrustOverride::Recorded)?;
    let (policy, commands) = workspace.commands(&args.path)?;
    let shown = render::commands(&policy, &commands);
    let count = commands.programs.iter().count();
    let text = visible(commands.describe());
    let nothing_to_do = if !needs_trust(&policy, &commands) {
        Some("runs no commands and does not loosen hooks, so there is nothing to trust")
    } else if workspace.missing_trust(&commands).is_none() {
        Some("is already trusted, and nothing has changed")
    } else {
        None
    };
    if let Some(why) = nothing_to_do {
        report(&(shown + &labelled(DONE, "trusted", format!("{text} {why}"))), verbosity)?;
        return Ok(ExitCode::SUCCESS);
    }
    paint::print(&shown)?;
    let shown = anstream::adapter::strip_str(&shown).to_string();
    if let Some((diff, at)) = workspace.trust_changes(&commands, &shown) {
        let title = format!("Changed since these commands were trusted, {}", age(at));
        paint::print(&format!("\n{}\n{}\n", paint::paint(TITLE, title), show::diff(changed_lines(&diff))))?;
    }
    if !args.yes && !ask_person()? {
        paint::print(&labelled(WARNING, "withheld", "nothing was trusted"))?;
        return Ok(ExitCode::from(ErrorFamily::Policy.exit_code()));
    }
    workspace.trust(&commands, &shown)?;
    report(&labelled(DONE, "trusted", format!("{text} with {}", counted(count, "command"))), verbosity)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what went well, which a quiet command leaves out.
fn report(text: &str, verbosity: Verbosity) -> Result<(), Error> {
    if verbosity == Verbosity::Quiet { Ok(()) } else { paint::print(text) }
}

/// True if a policy has something that counts only with trust.
fn needs_trust(policy: &Policy, commands: &Commands) -> bool {
    commands.programs.iter().next().is_some() || policy.hooks.need_trust()
}

/// Returns a diff without the names of its two texts, which are the same.
fn changed_lines(diff: &str) -> &str {
    diff.find("@@").map_or(diff, |at| diff.split_at(at).1)
}

/// Asks the person at the terminal.
///
/// Errors: `INVALID_INPUT` without a terminal.
fn ask_person() -> Result<bool, Error> {
    let (input, output) = (io::stdin(), io::stdout());
    if !input.is_terminal() || !output.is_terminal() {
        let message = "cannot ask: standard input and output are not a terminal";
        return Err(
            Error::new(Code::InvalidInput, message).hint("have a person review the commands, then use --yes")
        );
    }
    paint::print("Trust these commands? [y/N] ")?;
    let mut answer = String::new();
    input
        .read_line(&mut answer)
        .map_err(|error| Error::new(Code::IoFailed, format!("the answer cannot be read: {error}")))?;
    Ok(is_yes(&answer))
}

fn status(
    workspace: &Workspace,
    path: &str,
    format: OutputFormat,
    verbosity: Verbosity,
) -> Result<ExitCode, Error> {
    let (policy, commands) = workspace.commands(path)?;
    let why = if needs_trust(&policy, &commands) { workspace.missing_trust(&commands) } else { None };
    match format {
        OutputFormat::Json => paint::print_json(&render::json(&policy, &commands, why.as_deref()))?,
        OutputFormat::Text => match &why {
            None => report(&labelled(DONE, "trusted", visible(commands.describe())), verbosity)?,
            Some(why) => {
                let command = trust_command(if path == "." { "" } else { path });
                let hint = format!("review and trust the commands with `{command}`");
                let hint = labelled(LABEL, "hint", visible(&hint));
                paint::print(&(labelled(WARNING, "withheld", visible(why)) + &hint))?;
            }
        },
    }
    Ok(why.map_or(ExitCode::SUCCESS, |_| ExitCode::from(ErrorFamily::Policy.exit_code())))
}
