//! `lockgate log`: lists the edits, newest first.

use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::ArgAction;
use clap::builder::RangedU64ValueParser;

use super::list::{self, Style};
use super::since::Since;
use crate::cli::async_work::work;
use crate::cli::output_format::OutputFormat;
use crate::cli::pager;
use crate::cli::paint;
use crate::cli::store_args::CommandWorkspace;
use lockgate_checks::Watch;
use lockgate_edit::request::{HistoryRequest, Target};
use lockgate_engine::{EditId, Entry, Workspace};
use lockgate_error::Error;
use lockgate_mcp::answer::{self, Forms, ResponseOptions};
use lockgate_protocol::{EditRecord, HistoryResponse};

/// The time between two looks for new edits.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(500);

/// The arguments of `lockgate log`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct LogArgs {
    /// Only the edits of this file: absolute, or relative to the first --root, else to the current folder
    path: Option<String>,
    /// Maximum number of edits to show [default: 20; with --since, as many as there are]
    #[arg(short = 'n', long = "number", value_name = "N", value_parser = numbers())]
    number: Option<usize>,
    /// Only edits since a time: a date, a time, or an age such as `2h` or `3 days`
    #[arg(long, value_name = "TIME")]
    since: Option<Since>,
    /// Shows the diff of each edit
    #[arg(short = 'p', long)]
    patch: bool,
    /// Lists the files of each edit, with the numbers of added and removed lines
    #[arg(long, conflicts_with = "patch")]
    stat: bool,
    /// Then shows new edits as they are made, until it is interrupted or its output is closed
    #[arg(short = 'f', long, conflicts_with = "json")]
    follow: bool,
    #[command(flatten)]
    workspace: CommandWorkspace,
    /// Prints the list as JSON, like the MCP tool
    #[arg(id = "json", long, action = ArgAction::SetTrue, conflicts_with_all = ["patch", "stat"])]
    format: OutputFormat,
}

/// Number of edits that are shown unless the caller chooses.
const DEFAULT_NUMBER: usize = 20;

/// Maximum number of edits that can be shown: one less than a list may have, because one extra edit shows if there are
/// more.
const MAX_NUMBER: usize = HistoryRequest::MAX_ENTRIES - 1;

fn numbers() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=u64::try_from(MAX_NUMBER).unwrap_or(u64::MAX))
}

pub(in crate::cli) fn run(args: LogArgs) -> Result<ExitCode, Error> {
    let format = args.format;
    log(args).or_else(|error| format.print_error(error))
}

fn log(args: LogArgs) -> Result<ExitCode, Error> {
    let LogArgs { path, number, since, patch, stat, follow, workspace: workspace_args, format } = args;
    let since = since.map(|Since(moment)| moment);
    let number = number.unwrap_or(if since.is_some() { MAX_NUMBER } else { DEFAULT_NUMBER });
    let style = match (patch, stat) {
        (true, _) => Style::Patch,
        (false, true) => Style::Files,
        (false, false) => Style::Line,
    };
    let target = path.map(Target::File);
    let opened = workspace_args.open_to_read();
    work(opened, |workspace, watch| async move {
        let mut entries = edits(&workspace, target.clone(), number).await?;
        let known = entries.iter().map(|entry| entry.id).collect();
        if let Some(since) = since {
            entries.retain(|entry| entry.at >= since);
        }
        let truncated = (entries.len() > number).then_some(true);
        if format == OutputFormat::Json {
            let options =
                ResponseOptions { limit: usize::MAX, forms: Forms::Json, ..ResponseOptions::default() };
            return paint::print_json_line(&answer::history(&entries, number, |_| "", &options).json);
        }
        entries.truncate(number);
        if follow {
            return follow_edits(&workspace, target, entries, known, style, &watch).await;
        }
        let edits = records(&workspace, entries, style).await?;
        let listed = HistoryResponse { edits, truncated };
        pager::page(&match truncated.filter(|_| number == MAX_NUMBER) {
            Some(_) => longest_list(listed, target.as_ref(), style),
            None => list::list(&listed, style),
        })
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Renders the longest list that can be shown, if there are more edits.
fn longest_list(listed: HistoryResponse, target: Option<&Target>, style: Style) -> String {
    let next_step = match target {
        None => "a path shows those of one file",
        Some(_) => "no more of them can be shown",
    };
    list::list(&HistoryResponse { truncated: None, ..listed }, style) + &list::more(next_step)
}

/// Returns the edits, newest first: at most `number`, and one more if there are more.
async fn edits(
    workspace: &Arc<Workspace>,
    target: Option<Target>,
    number: usize,
) -> Result<Vec<Entry>, Error> {
    let request = HistoryRequest { target, max_entries: number + 1 };
    workspace.read(request, Watch::idle()).await
}

/// Returns the records of these edits, with their diffs if the style shows them.
async fn records(
    workspace: &Arc<Workspace>,
    entries: Vec<Entry>,
    style: Style,
) -> Result<Vec<EditRecord>, Error> {
    if style == Style::Patch {
        let mut records = Vec::new();
        for entry in &entries {
            records.push(answer::record_with_diffs(&workspace.entry_diffs(entry.id.to_string()).await?));
        }
        return Ok(records);
    }
    Ok(entries.iter().map(answer::record).collect())
}

/// Prints these edits, the oldest first, and then each edit that is not `known` until the command is interrupted, or
/// until the pipe of standard output is closed.
async fn follow_edits(
    workspace: &Arc<Workspace>,
    target: Option<Target>,
    mut entries: Vec<Entry>,
    mut known: HashSet<EditId>,
    style: Style,
    watch: &Watch,
) -> Result<(), Error> {
    loop {
        entries.reverse();
        let edits = records(workspace, entries, style).await?;
        if !edits.is_empty() {
            paint::print(&list::list(&HistoryResponse { edits, truncated: None }, style))?;
        }
        tokio::select! {
            () = watch.ended() => return Ok(()),
            () = tokio::time::sleep(FOLLOW_INTERVAL) => {}
        }
        if !paint::has_reader() {
            return Ok(());
        }
        entries = new_edits(workspace, target.as_ref(), &known).await?;
        known.extend(entries.iter().map(|entry| entry.id));
    }
}

/// Returns the edits, newest first, that are newer than the newest `known` one.
async fn new_edits(
    workspace: &Arc<Workspace>,
    target: Option<&Target>,
    known: &HashSet<EditId>,
) -> Result<Vec<Entry>, Error> {
    let mut number = DEFAULT_NUMBER;
    loop {
        let mut entries = edits(workspace, target.cloned(), number).await?;
        let newest_known = entries.iter().position(|entry| known.contains(&entry.id));
        if newest_known.is_some() || entries.len() <= number || number == MAX_NUMBER {
            entries.truncate(newest_known.unwrap_or(entries.len()));
            return Ok(entries);
        }
        number = MAX_NUMBER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_list_proposes_no_longer_one() {
        let file = Target::File("a".to_owned());
        for (target, next_step) in
            [(None, "a path shows those of one file"), (Some(&file), "no more of them")]
        {
            let listed = HistoryResponse { edits: vec![EditRecord::default()], truncated: Some(true) };
            let text = longest_list(listed, target, Style::Line);
            assert!(text.contains(&format!("there are more edits; {next_step}")), "{text}");
            assert!(!text.contains("-n N"), "{text}");
        }
    }
}
