//! `lockgate gates`: lists, shows and tests the gates.
//!
//! Invariant: nothing of a repository runs unless a person trusts it. Programs get texts of their own definitions in
//! temporary folders, never a file of the project.

mod doctor;
pub(super) mod gate_list;
pub(super) mod install;
mod list;
mod parallel;
mod samples;
mod show;
pub(super) mod trial;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ArgAction;
use tokio::runtime::Builder;

use self::gate_list::GateList;
use self::samples::RequiredGates;
use super::async_work::runtime;
use super::output_format::OutputFormat;
use super::paint;
use super::roots::TrustArgs;
use super::verbosity::Verbosity;
use lockgate_checks::Watch;
use lockgate_engine::TrustOverride;
use lockgate_error::{Error, ErrorFamily};

/// The arguments of `lockgate gates`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct GatesArgs {
    #[command(subcommand)]
    command: Option<GatesCommand>,
    #[command(flatten)]
    selection: GateSelection,
}

#[derive(Debug, clap::Subcommand)]
enum GatesCommand {
    /// Lists the gates that a policy can name, and which of their programs are installed (the default)
    List {
        #[command(flatten)]
        selection: GateSelection,
    },
    /// Shows a gate's definition, its command and the path of its program
    Show {
        /// Name of the gate
        name: String,
        #[command(flatten)]
        selection: GateSelection,
    },
    /// Tests if each gate is installed and finds a mistake in a sample project of its own
    #[command(after_help = DOCTOR)]
    Doctor {
        /// Gates to test [default: those of the policy, and all whose programs are found]
        names: Vec<String>,
        #[command(flatten)]
        selection: GateSelection,
        #[command(flatten)]
        trust: TrustArgs,
    },
    /// Runs each gate on its own samples and compares the findings
    #[command(after_help = "Exits with 1 if the findings of a sample differ from its definition.")]
    Test {
        /// Gates to test [default: all]
        names: Vec<String>,
        /// Also fails for a gate whose program is not installed or not trusted
        #[arg(long)]
        require_all: bool,
        #[command(flatten)]
        selection: GateSelection,
        #[command(flatten)]
        trust: TrustArgs,
    },
}

const DOCTOR: &str = "Exits with 1 if a gate that the policy or the command names does not work. The gates of a \
                      trusted policy must also give a result for one file of the project. A gate without a canary is \
                      unproven, which is not a failure.";

/// Selection of the gates and the output format.
#[derive(Debug, clap::Args)]
struct GateSelection {
    /// Folder whose policy may define gates of its own [default: the current folder, in the project around it]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Prints JSON
    #[arg(id = "json", long, action = ArgAction::SetTrue)]
    format: OutputFormat,
}

pub(super) fn run(args: GatesArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    let command = args.command.unwrap_or(GatesCommand::List { selection: args.selection });
    let (GatesCommand::List { selection }
    | GatesCommand::Show { selection, .. }
    | GatesCommand::Doctor { selection, .. }
    | GatesCommand::Test { selection, .. }) = &command;
    let format = selection.format;
    run_command(command, verbosity).or_else(|error| format.print_error(error))
}

fn run_command(command: GatesCommand, verbosity: Verbosity) -> Result<ExitCode, Error> {
    match command {
        GatesCommand::List { selection } => {
            let gate_list = GateList::open(selection.root, TrustOverride::Recorded)?;
            print(selection.format, || list::json(&gate_list), || list::text(&gate_list))
        }
        GatesCommand::Show { name, selection } => {
            let gate_list = GateList::open(selection.root, TrustOverride::Recorded)?;
            let gate = gate_list.find(&name)?;
            print(selection.format, || show::json(&gate_list, gate), || show::text(&gate_list, gate))
        }
        GatesCommand::Doctor { names, selection, trust } => {
            let gate_list = GateList::open(selection.root, trust.trust_override())?;
            run_cancellable(|watch| doctor::run(&gate_list, &names, selection.format, verbosity, watch))
        }
        GatesCommand::Test { names, require_all, selection, trust } => {
            let gate_list = GateList::open(selection.root, trust.trust_override())?;
            let required = if require_all { RequiredGates::All } else { RequiredGates::Testable };
            run_cancellable(|watch| {
                samples::run(&gate_list, &names, required, selection.format, verbosity, watch)
            })
        }
    }
}

fn print(
    format: OutputFormat,
    for_programs: impl FnOnce() -> serde_json::Value,
    for_people: impl FnOnce() -> String,
) -> Result<ExitCode, Error> {
    match format {
        OutputFormat::Json => paint::print_json(&for_programs())?,
        OutputFormat::Text => paint::print(&for_people())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs work that a signal cancels together with its programs. The work returns true on success.
fn run_cancellable(work: impl FnOnce(&Watch) -> Result<bool, Error>) -> Result<ExitCode, Error> {
    // One thread handles signals during the work.
    let (_runtime, stop) = runtime(Builder::new_multi_thread(), 1)?;
    let watch = Watch::new(stop, None);
    let is_ok = work(&watch)?;
    Ok(match (watch.cancelled(), is_ok) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::from(ErrorFamily::Gate.exit_code()),
    })
}

/// The exit code after SIGINT, as in shells.
pub(super) const INTERRUPTED: u8 = 130;
