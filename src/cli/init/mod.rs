//! `lockgate init`: writes a first policy for a project, or changes a client's configuration.
//!
//! Invariant: no program of the project runs without `--trust`. Existing files are never overwritten, and nothing is
//! written through a link, or outside the root and the user's own configuration. No tool of an agent runs this command.

mod client;
mod outcome;
mod policy;
mod writing;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgAction;

use self::client::{Addition, Change, Client, ClientCall, Scope};
pub(super) use self::client::{ConfiguredHook, HookStart, configured_hooks, server_files, user_hook_files};
use self::outcome::InitOutcome;
use self::policy::Trial;
use self::writing::{OnExisting, WriteMode};
use super::gates::INTERRUPTED;
use super::gates::gate_list::InsidePrograms;
use super::output_format::OutputFormat;
use super::paint;
use super::roots::current_folder;
use super::verbosity::Verbosity;
use lockgate_engine::Workspace;
use lockgate_error::Error;
use lockgate_mcp::selection::Selection;

/// The arguments of `lockgate init`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --client, writes quality.yaml for the languages of the project and the tools that are found and \
                  pass their trial: each finds a mistake in a sample project of its own, and nothing in a good sample. \
                  All trials together take at most 60 s. An existing policy is never overwritten."
)]
pub(super) struct InitArgs {
    /// Folder of the project [default: the current folder]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Client whose configuration gets the server
    #[arg(long, value_enum)]
    client: Option<Client>,
    /// Adds hooks instead of the server: lockgate judges the edits of the client's own tools
    #[arg(long, requires = "client", conflicts_with = "tools")]
    hooks: bool,
    /// Leaves out the client's own edit tools, so that the agent uses those of the server
    #[arg(long, requires = "client", conflicts_with_all = ["hooks", "tools"])]
    replace: bool,
    /// Changes the configuration of the user, for all projects, instead of that of the project
    #[arg(long, requires = "client", conflicts_with = "root")]
    user: bool,
    /// Removes what the same command without this option adds
    #[arg(long, requires = "client", conflicts_with = "force")]
    uninstall: bool,
    /// Prints the text that would be written, and writes nothing
    #[arg(long)]
    print: bool,
    /// Toolsets that the server offers, separated by commas, or `all`
    #[arg(long, value_name = "LIST")]
    tools: Option<String>,
    /// Also tries programs inside the project (`.venv`, `node_modules`), which runs them
    #[arg(long, conflicts_with_all = ["client", "no_trial"])]
    trust: bool,
    /// Runs no program, and proposes the tools that are found without a trial
    #[arg(long, conflicts_with = "client")]
    no_trial: bool,
    /// Replaces a different server `lockgate`, different hooks of lockgate, or a different setting
    #[arg(long, requires = "client")]
    force: bool,
    /// Prints JSON
    #[arg(id = "json", long, action = ArgAction::SetTrue)]
    format: OutputFormat,
}

/// Proposes a policy, or adds the server to a client's configuration.
pub(super) fn run(args: InitArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    let (format, print) = (args.format, args.print);
    match (execute(args), format) {
        (Ok(None), _) => Ok(ExitCode::from(INTERRUPTED)),
        (Ok(Some(outcome)), OutputFormat::Text) if print => outcome.print(verbosity),
        (Ok(Some(outcome)), _) => outcome.finish(format, verbosity),
        (Err(error), OutputFormat::Text) => Err(error),
        (Err(error), OutputFormat::Json) => {
            paint::print_json(&outcome::error_json(&error))?;
            Ok(ExitCode::from(error.code.family().exit_code()))
        }
    }
}

/// Runs the command; returns `None` if a signal cancelled it.
fn execute(args: InitArgs) -> Result<Option<InitOutcome>, Error> {
    let toolsets = args.tools.as_deref().map(toolsets).transpose()?;
    let writing = if args.print { WriteMode::Show } else { WriteMode::Write };
    let force = if args.force { OnExisting::Replace } else { OnExisting::Keep };
    let workspace = open(args.root)?;
    match args.client {
        Some(client) => {
            let call = ClientCall {
                client,
                addition: match (args.hooks, args.replace) {
                    (true, _) => Addition::Hooks,
                    (false, true) => Addition::Exclusion,
                    (false, false) => Addition::Server,
                },
                scope: if args.user { Scope::User } else { Scope::Project },
                change: if args.uninstall { Change::Remove } else { Change::Add(force) },
                // What is removed is recognised whatever its toolsets.
                toolsets: toolsets.as_deref().filter(|_| !args.uninstall),
                writing,
            };
            client::run(&workspace, &call).map(Some)
        }
        None => {
            let trial = match (args.no_trial, args.trust) {
                (true, _) => Trial::Skip,
                (false, true) => Trial::Run(InsidePrograms::Allowed),
                (false, false) => Trial::Run(InsidePrograms::Denied),
            };
            policy::run(&workspace, toolsets.as_deref(), writing, trial)
        }
    }
}

/// Returns the list of toolsets without blanks.
///
/// Errors: `INVALID_INPUT` for an unknown toolset.
fn toolsets(list: &str) -> Result<String, Error> {
    list.parse::<Selection>().map_err(|error| error.field("--tools"))?;
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(names.collect::<Vec<_>>().join(","))
}

fn open(root: Option<PathBuf>) -> Result<Arc<Workspace>, Error> {
    Workspace::open(&[root.map_or_else(current_folder, Ok)?])
}
