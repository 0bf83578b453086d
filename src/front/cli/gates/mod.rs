//! `lockgate gates`: what gates there are, what they are, and whether they work on this machine.
//!
//! Invariant: nothing of a repository is run, but what a person has trusted; programs are given texts of their own
//! definitions, in temporary folders, and never a file of the project.

mod crew;
mod doctor;
pub(super) mod install;
mod list;
mod samples;
pub(super) mod shelf;
mod show;
pub(super) mod trial;

use std::path::PathBuf;
use std::process::ExitCode;

use tokio::runtime::Builder;

use self::shelf::Shelf;
use super::paint;
use super::roots::Word;
use super::work::runtime;
use crate::engine::Promise;
use crate::error::{Error, Family};
use crate::gate::Watch;

/// The arguments of `lockgate gates`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    of: Of,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Lists the gates that a policy can name, and whether this machine has their programs (the default)
    List {
        #[command(flatten)]
        of: Of,
    },
    /// Shows what a gate is, how it is run, and where its program lies
    Show {
        /// Name of the gate
        name: String,
        #[command(flatten)]
        of: Of,
    },
    /// Says what this machine lacks, and whether each gate finds a mistake in a sample project of its own
    #[command(after_help = DOCTOR)]
    Doctor {
        /// Gates to look at [default: those of the policy, and all whose programs are found]
        names: Vec<String>,
        #[command(flatten)]
        of: Of,
        #[command(flatten)]
        word: Word,
    },
    /// Has each gate judge its own samples here and now, and compares
    #[command(after_help = "Ends with 1 when a sample gives something else than its definition says.")]
    Test {
        /// Gates to test [default: all]
        names: Vec<String>,
        /// Fails as well for a gate whose program is not here, or not trusted
        #[arg(long)]
        require_all: bool,
        #[command(flatten)]
        of: Of,
        #[command(flatten)]
        word: Word,
    },
}

const DOCTOR: &str = "Ends with 1 when a gate that the policy names, or that is asked for, does not work. A gate without a \
                      canary is unproven, which is no failure.";

/// Which gates, and how they are shown.
#[derive(Debug, clap::Args)]
struct Of {
    /// Folder whose policy may define gates of its own [default: the current folder, in the project around it]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Does what the verb says.
pub(super) fn run(args: Args) -> Result<ExitCode, Error> {
    match args.verb.unwrap_or(Verb::List { of: args.of }) {
        Verb::List { of } => {
            let shelf = Shelf::open(of.root, Promise::Recorded)?;
            say(of.json, || list::json(&shelf), || list::text(&shelf))
        }
        Verb::Show { name, of } => {
            let shelf = Shelf::open(of.root, Promise::Recorded)?;
            let gate = shelf.find(&name)?;
            say(of.json, || show::json(&shelf, gate), || show::text(&shelf, gate))
        }
        Verb::Doctor { names, of, word } => {
            let shelf = Shelf::open(of.root, word.promise())?;
            watched(|watch| doctor::run(&shelf, &names, of.json, watch))
        }
        Verb::Test { names, require_all, of, word } => {
            let shelf = Shelf::open(of.root, word.promise())?;
            watched(|watch| samples::run(&shelf, &names, require_all, of.json, watch))
        }
    }
}

fn say(
    json: bool,
    for_programs: impl FnOnce() -> serde_json::Value,
    for_people: impl FnOnce() -> String,
) -> Result<ExitCode, Error> {
    if json {
        say_json(&for_programs())?
    } else {
        paint::say(&for_people())?
    }
    Ok(ExitCode::SUCCESS)
}

fn say_json(value: &serde_json::Value) -> Result<(), Error> {
    paint::say_plain(format!("{value:#}\n").as_bytes())
}

/// Does work that a signal ends, and the programs with it. The work says whether all is well.
fn watched(work: impl FnOnce(&Watch) -> Result<bool, Error>) -> Result<ExitCode, Error> {
    // One thread listens for signals while the work goes on.
    let (_runtime, stop) = runtime(Builder::new_multi_thread(), 1)?;
    let watch = Watch::new(stop, None);
    let well = work(&watch)?;
    Ok(match (watch.cancelled(), well) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::from(Family::Gate.exit_code()),
    })
}

/// The exit code after a signal, as shells have it.
pub(super) const INTERRUPTED: u8 = 130;
