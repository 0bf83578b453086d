//! `lockgate edit`: one edit from the command line.
//!
//! Invariant: whatever way the request is given, it becomes the JSON of `safe_edit_file` and goes through that tool's
//! own extractor; the exit code tells what became of the edit even when nobody reads the output.

mod asked;
mod flags;

use std::process::ExitCode;

use serde_json::Value;

use super::excerpt::Excerpt;
use super::paint;
use super::roots::{Roots, Word};
use super::show;
use super::signals;
use super::told::Told;
use crate::engine::{Promise, Report};
use crate::error::{Code, Error, Family};
use crate::front::answer::{self, Call, Forms, Offers, Shape};
use crate::front::tools::{Asked, safe_edit_file};
use crate::gate::Watch;
use crate::request::Request;

/// The arguments of `lockgate edit`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Either --file, or --path with one of --content, --content-from, --new-content, --search."
)]
pub(super) struct Args {
    #[command(flatten)]
    roots: Roots,
    #[command(flatten)]
    word: Word,
    /// Prints the answer as JSON, just as the MCP tool gives it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    asked: asked::Asked,
}

/// Carries out one edit and shows what became of it.
pub(super) fn run(args: Args) -> Result<ExitCode, Error> {
    let (result, shape) = carry(args.roots, args.word.promise(), args.asked);
    if args.json {
        let answer = answer::answer(&result, &shape);
        paint::say_plain(format!("{}\n", answer.json).as_bytes())?;
    } else {
        show_answer(&result, shape)?;
    }
    Ok(exit_code(&result))
}

/// Carries out the edit, and says how its answer is to look.
fn carry(roots: Roots, promise: Promise, asked: asked::Asked) -> (Result<Report, Error>, Shape) {
    let arguments = match asked.into_object() {
        Ok(arguments) => arguments,
        Err(refusal) => return (Err(refusal), Shape::default()),
    };
    let path = arguments.get("path").and_then(Value::as_str).map(str::to_owned);
    let tool = safe_edit_file::TOOL.name;
    let again = arguments.contains_key("search").then(|| Call { tool, arguments: arguments.clone() });
    match safe_edit_file::asked(arguments) {
        Ok(Asked { request, shape }) => {
            let offers = Offers { again, reader: None };
            (edit(roots, promise, request), Shape { path, offers, ..shape })
        }
        Err(refusal) => (Err(refusal), Shape { path, ..Shape::default() }),
    }
}

fn edit(roots: Roots, promise: Promise, request: Request) -> Result<Report, Error> {
    let workspace = roots.open(promise)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|trouble| Error::new(Code::Internal, format!("cannot start the runtime: {trouble}")))?;
    let stop = {
        let _entered = runtime.enter();
        signals::stop_asked()?
    };
    runtime.block_on(workspace.edit(request, Watch::new(stop, None)))
}

/// A refusal that stopped the line goes to standard error, a report to standard output.
fn show_answer(result: &Result<Report, Error>, shape: Shape) -> Result<(), Error> {
    // A person scrolls; only programs are spared long answers.
    let roomy = Shape { limit: *Shape::LIMITS.end(), forms: Forms::Json, ..shape };
    let told = Told::read(&answer::answer(result, &roomy).json)?;
    match result {
        Ok(report) => paint::say(&show::answer(&told, &[Excerpt::whole(report.draft.view())])),
        Err(_) => {
            paint::complain(&show::answer(&told, &[]));
            Ok(())
        }
    }
}

fn exit_code(result: &Result<Report, Error>) -> ExitCode {
    match result {
        Ok(report) if report.status.is_success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(Family::Gate.exit_code()),
        Err(refusal) => ExitCode::from(refusal.code.family().exit_code()),
    }
}
