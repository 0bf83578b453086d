//! `lockgate cache`: lists and removes the caches of gate programs.
//!
//! Invariant: a cache in use is not removed, and the output says so. A cache that cannot be removed keeps no other
//! from being removed. A name of a folder takes one line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ArgAction;
use serde_json::{Value, json};

use super::output_format::OutputFormat;
use super::paint::{self, DONE, FAINT, LABEL, REJECTED, WARNING, labelled, visible};
use super::roots::current_folder;
use super::verbosity::Verbosity;
use lockgate_engine::{Cached, Caches, ProjectRoot};
use lockgate_error::{Code, Error, ErrorFamily};
use lockgate_mcp::answer::age;
use lockgate_text::escape_name;

/// The arguments of `lockgate cache`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = LIMITS_HELP)]
pub(super) struct CacheArgs {
    #[command(subcommand)]
    command: Option<CacheCommand>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Subcommand)]
enum CacheCommand {
    /// Removes the caches of a workspace, or all caches
    #[command(after_help = "Exits with 7 if a gate is using one of the caches; that cache is kept.")]
    Clear {
        /// Folder of the workspace; workspaces below it are included [default: the project around the current folder]
        #[arg(long, value_name = "DIR", conflicts_with = "all")]
        workspace: Option<PathBuf>,
        /// Removes the caches of all workspaces
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        output: OutputArgs,
    },
}

#[derive(Debug, clap::Args)]
struct OutputArgs {
    /// Prints JSON
    #[arg(id = "json", long, action = ArgAction::SetTrue)]
    format: OutputFormat,
}

const LIMITS_HELP: &str = "The caches of a workspace take at most 10 GiB, and all caches 30 GiB. About once an hour, and when \
                      this command lists them, lockgate removes the excess, least recently used first.";

/// Lists the caches or runs the subcommand.
pub(super) fn run(args: CacheArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    let caches = Caches::for_user();
    let (result, format) = match args.command {
        None => (show(&caches, args.output.format), args.output.format),
        Some(CacheCommand::Clear { workspace, all, output }) => {
            let root = if all { Ok(None) } else { root(workspace.as_deref()).map(Some) };
            let cleared = root.and_then(|root| clear(&caches, root.as_deref(), output.format, verbosity));
            (cleared, output.format)
        }
    };
    result.or_else(|error| format.print_error(error))
}

fn show(caches: &Caches, format: OutputFormat) -> Result<ExitCode, Error> {
    caches.bound();
    let (folder, all) = (caches.folder()?.display().to_string(), caches.list()?);
    let size: u64 = all.iter().map(|cached| cached.size).sum();
    let limits = Caches::limits();
    match format {
        OutputFormat::Json => paint::print_json(&json!({
            "folder": folder,
            "size": size,
            "limits": { "workspace": limits.workspace, "all": limits.all },
            "caches": all.iter().map(cache_json).collect::<Vec<_>>(),
        }))?,
        OutputFormat::Text => {
            let summary = format!(
                "{} of {} in {} (a workspace: {})",
                bytes(size),
                bytes(limits.all),
                escape_name(&folder),
                bytes(limits.workspace)
            );
            let caches: String = all.iter().map(cache_text).collect();
            paint::print(&(caches + &labelled(LABEL, "in all", summary)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes the caches of the workspaces in a folder, or all.
fn clear(
    caches: &Caches,
    folder: Option<&Path>,
    format: OutputFormat,
    verbosity: Verbosity,
) -> Result<ExitCode, Error> {
    let mut selected = caches.list()?;
    selected.retain(|cached| match folder {
        Some(folder) => cached.root.as_ref().is_some_and(|root| root.starts_with(folder)),
        None => true,
    });
    let mut cleared = ClearResult::default();
    for cached in selected {
        match caches.clear(&cached) {
            Ok(true) => cleared.removed.push(cached),
            Ok(false) => cleared.in_use.push(cached),
            Err(error) => cleared.failed.push((cached, error)),
        }
    }
    match format {
        OutputFormat::Json => paint::print_json(&cleared.json())?,
        OutputFormat::Text => paint::print(&cleared.text(folder, verbosity))?,
    }
    let busy = (!cleared.in_use.is_empty()).then_some(ErrorFamily::Conflict);
    let family = cleared.failed.first().map(|(_, error)| error.code.family()).or(busy);
    Ok(family.map_or(ExitCode::SUCCESS, |family| ExitCode::from(family.exit_code())))
}

/// The caches that were to be removed.
#[derive(Default)]
struct ClearResult {
    removed: Vec<Cached>,
    /// A gate uses them, so they were kept.
    in_use: Vec<Cached>,
    failed: Vec<(Cached, Error)>,
}

impl ClearResult {
    fn json(&self) -> Value {
        let listed = |list: &[Cached]| list.iter().map(cache_json).collect::<Vec<_>>();
        let errors = self.failed.iter().map(|(cached, error)| {
            json!({ "folder": cached.folder.display().to_string(), "code": error.code.name(), "message": error.message })
        });
        json!({
            "removed": listed(&self.removed),
            "in_use": listed(&self.in_use),
            "failed": errors.collect::<Vec<_>>(),
        })
    }

    /// Renders the caches; `folder` is that of the selected workspaces.
    fn text(&self, folder: Option<&Path>, verbosity: Verbosity) -> String {
        let mut text = String::new();
        let is_quiet = verbosity == Verbosity::Quiet;
        for cached in self.removed.iter().filter(|_| !is_quiet) {
            text += &labelled(DONE, "removed", format!("{}  {}", name(cached), bytes(cached.size)));
        }
        for cached in &self.in_use {
            let message = format!("{}: a gate uses it; try again when its call has ended", name(cached));
            text += &labelled(WARNING, "in use", message);
        }
        for (cached, error) in &self.failed {
            let message = format!("{}: {}", error.code.name(), visible(&error.message));
            text += &labelled(REJECTED, "failed", format!("{}: {message}", name(cached)));
        }
        if text.is_empty() && !is_quiet {
            let suffix = folder.map(|folder| format!(" for {}", escape_name(&folder.display().to_string())));
            let suffix = suffix.unwrap_or_default();
            text = labelled(DONE, "removed", format!("nothing: gates have no caches{suffix}"));
        }
        text
    }
}

/// Returns the root of the selected workspace.
///
/// Errors: `FILE_NOT_FOUND` when a named folder does not exist.
fn root(workspace: Option<&Path>) -> Result<PathBuf, Error> {
    let Some(folder) = workspace else { return Ok(ProjectRoot::around(&current_folder()?).root) };
    folder.canonicalize().map_err(|error| {
        Error::new(Code::FileNotFound, format!("{}: {error}", folder.display()))
            .field("--workspace")
            .hint("name an existing folder, or clear all caches with --all")
    })
}

fn cache_json(cached: &Cached) -> Value {
    let parts = cached
        .parts
        .iter()
        .map(|part| json!({ "gate": part.name, "size": part.size, "last_use": seconds(part.used) }));
    json!({
        "workspace": cached.root.as_ref().map(|root| root.display().to_string()),
        "folder": cached.folder.display().to_string(),
        "size": cached.size,
        "last_use": seconds(cached.used),
        "in_use": cached.in_use,
        "gates": parts.collect::<Vec<_>>(),
    })
}

fn cache_text(cached: &Cached) -> String {
    let use_now = if cached.in_use { ", in use" } else { "" };
    let line = format!("{}  {}{use_now}", bytes(cached.size), ago(cached.used));
    let mut text = labelled(LABEL, "cache", format!("{}  {}", name(cached), paint::paint(FAINT, line)));
    for part in &cached.parts {
        let (size, name) = (bytes(part.size), escape_name(&part.name));
        text += &format!("          {size:>10}  {name}  {}\n", ago(part.used));
    }
    text
}

fn name(cached: &Cached) -> String {
    match &cached.root {
        Some(root) if root.is_absolute() => escape_name(&root.display().to_string()).into_owned(),
        Some(_) => "samples of gates".to_owned(),
        None => "an unknown workspace".to_owned(),
    }
}

/// Returns the seconds since 1970.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Formats the age of a timestamp in the largest unit that fits, from a minute on.
fn ago(time: SystemTime) -> String {
    let is_recent = time.elapsed().map_or(true, |age| age.as_secs() < 60);
    if is_recent { "just now".to_owned() } else { age(time) }
}

/// Formats a number of bytes in the largest unit that fits, with one decimal.
fn bytes(size: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| size >= *unit) {
        Some((unit, name)) => {
            let tenths = size.saturating_mul(10) / unit;
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{size} B"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn sizes_and_ages_use_the_largest_unit_that_fits() {
        assert_eq!([0, 1023, 1024, 10 << 30].map(bytes), ["0 B", "1023 B", "1.0 KiB", "10.0 GiB"]);
        let tenths = [1000 << 10, 1023 << 20, 1_100_000, 1535].map(bytes);
        assert_eq!(tenths, ["1000.0 KiB", "1023.0 MiB", "1.0 MiB", "1.4 KiB"]);
        let age = |seconds| ago(SystemTime::now() - Duration::from_secs(seconds));
        assert_eq!([1, 60, 7200, 86_400].map(age), ["just now", "1 minute ago", "2 hours ago", "1 day ago"]);
        assert_eq!(ago(SystemTime::now() + Duration::from_secs(60)), "just now", "a clock that was set back");
    }
}
