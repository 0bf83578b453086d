//! `lockgate demo`: a tour that makes real edits of a sample project with a real server and verifies each result.
//!
//! Invariant: statements about the disk come from the disk. A difference from the answer is reported and makes the
//! demo fail.

mod checks;
mod client;
mod project;
mod steps;

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::excerpt::Excerpt;
use super::paint::{self, DONE, FAINT, LABEL, REJECTED, TITLE, WARNING, labelled, paint, visible};
use super::show;
use super::verbosity::Verbosity;
use client::DemoClient;
use lockgate_error::{Code, Error};
use lockgate_mcp::tools::safe_edit_file;
use lockgate_protocol::{BatchResponse, EditResponse};
use project::{Cleanup, DemoProject};
use steps::{DemoOutcome, DemoStep, steps};

/// The arguments of `lockgate demo`.
#[derive(Debug, clap::Args)]
pub(super) struct DemoArgs {
    /// Keeps the folder, and prints its path
    #[arg(long)]
    keep: bool,
}

/// Runs the demo. A quiet one prints only the path of a folder that it keeps, and the steps that fail.
///
/// Errors: `INTERNAL` when a result differs from the answer, `IO_FAILED` when the folder cannot be created.
pub(super) fn run(args: DemoArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    let cleanup = if args.keep { Cleanup::Keep } else { Cleanup::Remove };
    let project = DemoProject::create(cleanup)?;
    let is_quiet = verbosity == Verbosity::Quiet;
    match (is_quiet, cleanup) {
        (false, _) => paint::print(&opening(&project))?,
        // This option asks for the path. A demo that fails keeps the folder too.
        (true, Cleanup::Keep) => paint::print(&format!("{}\n", project.root().display()))?,
        (true, Cleanup::Remove) => {}
    }
    let mut client = DemoClient::start(project.root(), project.state_folder())?;
    let steps = steps();
    let (mut wrong, mut missing) = (0, Vec::new());
    for (index, step) in steps.iter().enumerate() {
        let heading = heading(step, index + 1, steps.len());
        if !is_quiet {
            paint::print(&heading)?;
        }
        let result = run_step(&mut client, &project, step);
        let is_right = result.as_ref().is_ok_and(|result| result.is_right);
        if is_quiet && !is_right {
            paint::print(&heading)?;
        }
        let result = result?;
        if !is_quiet || !is_right {
            paint::print(&result.text)?;
        }
        wrong += usize::from(!is_right);
        missing.extend(result.missing_tool);
    }
    drop(client);
    if wrong > 0 {
        return Err(Error::new(Code::Internal, format!("{wrong} of {} steps failed", steps.len())));
    }
    if !is_quiet {
        paint::print(&closing(&project, cleanup, &missing))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The result of a step.
struct StepResult {
    /// The answer, and what is on disk.
    text: String,
    /// True if the disk agrees with the answer.
    is_right: bool,
    /// The tool that did not check the edit, because this machine has none.
    missing_tool: Option<&'static str>,
}

/// Makes the call of a step, and renders the answer.
fn run_step(client: &mut DemoClient, project: &DemoProject, step: &DemoStep) -> Result<StepResult, Error> {
    let mut paths: Vec<&str> = DemoProject::files().collect();
    paths.push(step.path());
    let read = |path: &str| Ok((path.to_owned(), project.bytes(path)?));
    let before: BTreeMap<String, Option<Vec<u8>>> =
        paths.into_iter().filter(|path| !path.is_empty()).map(read).collect::<Result<_, Error>>()?;
    let answer = client.call(step.tool, &step.arguments)?;
    let (mut text, files) = match answer.get("files") {
        Some(_) => {
            let batch: BatchResponse = parse(answer)?;
            (show::batch(&batch, |_| None, Verbosity::Normal), batch_files(batch))
        }
        None => {
            let edit: EditResponse = parse(answer)?;
            let excerpts = edit.diff.as_deref().map(Excerpt::from_diff).unwrap_or_default();
            (show::edit(&edit, &excerpts, Verbosity::Normal), vec![(step.path().to_owned(), edit)])
        }
    };
    let is_unavailable = |gate: &&str| {
        files.iter().filter_map(|(_, file)| file.gate(gate)).any(|run| run.outcome == "unavailable")
    };
    let lacking = step.gate.filter(is_unavailable);
    if let Some(gate) = lacking {
        let why = format!("this machine has no {gate}, so it did not check the edit");
        text += &labelled(WARNING, "unavailable", why);
    }
    let expected = if lacking.is_some() { DemoOutcome::Written } else { step.outcome };
    let mut is_right = true;
    for (path, file) in files {
        let old = before.get(&path).and_then(Option::as_deref);
        let checked = checks::check_outcome(expected, &file, old, project.bytes(&path)?.as_deref());
        is_right &= checked.is_ok();
        text += &match &checked {
            Ok(detail) => labelled(DONE, "on disk", detail),
            Err(detail) => labelled(REJECTED, "wrong", detail),
        };
    }
    Ok(StepResult { text, is_right, missing_tool: lacking })
}

/// Parses the structured content of an answer.
///
/// Errors: `INTERNAL` when the value is not such a response.
fn parse<T: DeserializeOwned>(answer: Value) -> Result<T, Error> {
    serde_json::from_value(answer)
        .map_err(|error| Error::new(Code::Internal, format!("the answer cannot be read: {error}")))
}

/// Returns the response for each file, with the common fields added.
fn batch_files(batch: BatchResponse) -> Vec<(String, EditResponse)> {
    let whole = |mut file: EditResponse| {
        file.bytes_outside_edit = file.bytes_outside_edit.or_else(|| batch.bytes_outside_edit.clone());
        (file.path.clone().unwrap_or_default(), file)
    };
    batch.files.into_iter().map(whole).collect()
}

fn opening(project: &DemoProject) -> String {
    let files: Vec<&str> = DemoProject::files().collect();
    format!(
        "{}\n\nA small project lies in {}\n({}).\nA server was started for it, with `--trust`, as this program wrote \
         the policy itself; calls of its tools follow, as a coding agent makes them.\n",
        paint(TITLE, "The tour of lockgate"),
        project.root().display(),
        files.join(", ")
    )
}

fn heading(step: &DemoStep, number: usize, of: usize) -> String {
    let mut text =
        format!("\n{}\n{}\n", paint(TITLE, format!("{number} of {of}: {}", step.title)), step.about);
    if step.tool != safe_edit_file::TOOL.name {
        text += &format!("  {} {}\n", paint(LABEL, "tool"), step.tool);
    }
    if let Value::Object(arguments) = &step.arguments {
        for (name, value) in arguments {
            argument(&mut text, name, value);
        }
    }
    text + "\n"
}

/// Prints an argument with the path of its field; multi-line texts are printed as a block.
fn argument(text: &mut String, name: &str, value: &Value) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                argument(text, &format!("{name}[{index}]"), item);
            }
        }
        Value::Object(fields) => {
            for (field, value) in fields {
                argument(text, &format!("{name}.{field}"), value);
            }
        }
        Value::String(block) if block.contains('\n') => {
            *text += &format!("  {}\n", paint(LABEL, name));
            for line in block.lines() {
                *text += &format!("  {} {}\n", paint(FAINT, "|"), visible(line));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let shown = value.as_str().map_or_else(|| value.to_string(), |text| visible(text).into_owned());
            *text += &format!("  {} {shown}\n", paint(LABEL, name));
        }
    }
}

fn closing(project: &DemoProject, cleanup: Cleanup, missing: &[&str]) -> String {
    let shown = match missing {
        [] => "All calls worked as shown".to_owned(),
        tools => format!(
            "All calls worked; what {} would do was not shown, as it is missing here",
            tools.join(" and ")
        ),
    };
    let folder = match cleanup {
        Cleanup::Keep => format!("The project stays in {}", project.root().display()),
        Cleanup::Remove => "The project's folder is removed (`lockgate demo --keep` keeps it)".to_owned(),
    };
    let next = [
        ("lockgate serve --root DIR", "for your MCP client, in its own configuration"),
        ("lockgate edit --help", "one edit from the shell or a script"),
        ("lockgate log --help", "the edits that were made, and how to undo them"),
        ("lockgate --help", "every command"),
    ];
    let next = next.map(|(command, about)| format!("  {LABEL}{command:<27}{LABEL:#}{about}\n"));
    format!("\n{}\n{shown}. {folder}.\n\nWhere to go next:\n{}", paint(TITLE, "The end"), next.concat())
}
