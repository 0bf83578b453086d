//! `lockgate store import`: imports the files of a folder as edits.

use std::path::PathBuf;
use std::process::ExitCode;
use std::slice;

use clap::ArgAction;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value, json};

use super::output::{database, failures, print_rejections, report};
use crate::cli::async_work::{author, work};
use crate::cli::output_format::OutputFormat;
use crate::cli::paint::{DONE, labelled};
use crate::cli::roots::TrustArgs;
use crate::cli::store_args::StoreLocation;
use crate::cli::verbosity::Verbosity;
use lockgate_checks::adopt_orphans;
use lockgate_edit::request::Mode;
use lockgate_engine::{Import, ImportStatus, Imported, OnConflict, Tenant, Workspace};
use lockgate_error::Error;

/// The arguments of `lockgate store import`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Names are those of an export: `%2E` stands for a dot at the beginning, and names that begin with a dot are \
                  skipped. The file apps.tsv lists the organisation of each app."
)]
pub(super) struct ImportArgs {
    /// Folder with the files
    dir: PathBuf,
    #[command(flatten)]
    store: StoreLocation,
    /// Replaces entities that have another text; without it, their files are rejected
    #[arg(long)]
    replace: bool,
    /// Handling of the texts and of findings; verify_only only shows the rejections
    #[arg(long, value_name = "MODE", default_value = Mode::Strict.name())]
    #[arg(value_parser = PossibleValuesParser::new(Mode::ALL.map(Mode::name)))]
    mode: String,
    /// Folder whose policy rules stored content, as the first root does for a server [default: the built-in policy rules]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustArgs,
    /// Prints the counts and the rejected files as JSON
    #[arg(id = "json", long, action = ArgAction::SetTrue)]
    pub(super) format: OutputFormat,
}

/// Imports and prints the result of each file.
pub(super) fn run(args: ImportArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    // This process starts only gate programs.
    adopt_orphans();
    let ImportArgs { dir, store, replace, mode, root, trust, format } = args;
    let (database, mode) = (database(&store)?, Mode::from_name(&mode).unwrap_or_default());
    // `verify_only` writes nothing, not even apps.
    let apps =
        if mode == Mode::VerifyOnly { Vec::new() } else { lockgate_engine::import_apps(&database, &dir)? };
    let opening = match &root {
        Some(root) => Workspace::at(slice::from_ref(root)),
        None => Workspace::without_roots(),
    };
    let opened = opening
        .with_trust_override(trust.trust_override())
        .with_database(database)
        .with_tenant(Tenant::All)
        .open();
    let on_conflict = if replace { OnConflict::Replace } else { OnConflict::Keep };
    let import = Import { folder: dir, on_conflict, mode, author: author("store import") };
    let files = work(opened, |workspace, watch| async move { workspace.import(import, watch).await })?;
    print_results(format, verbosity, &apps, &files)
}

fn print_results(
    format: OutputFormat,
    verbosity: Verbosity,
    apps: &[Imported],
    files: &[Imported],
) -> Result<ExitCode, Error> {
    let (mut counts, mut parts) = (Map::new(), Vec::new());
    for (name, imported, status) in [
        ("created", files, ImportStatus::Created),
        ("replaced", files, ImportStatus::Replaced),
        ("unchanged", files, ImportStatus::Unchanged),
        ("verified", files, ImportStatus::Verified),
        ("new_apps", apps, ImportStatus::Created),
    ] {
        let count = imported.iter().filter(|one| one.result.as_ref() == Ok(&status)).count();
        counts.insert(name.to_owned(), count.into());
        if count > 0 {
            parts.push(format!("{}: {count}", name.replace('_', " ")));
        }
    }
    let imported = || apps.iter().chain(files);
    let failed = || imported().filter_map(|one| Some((one.name.as_str(), one.result.as_ref().err()?)));
    let rejections = failures(failed());
    if !rejections.is_empty() {
        parts.push(format!("refused: {}", rejections.len()));
    }
    counts.insert("failed".to_owned(), json!(rejections));
    let summary =
        if parts.is_empty() { "the folder has nothing to import".to_owned() } else { parts.join(", ") };
    let code = print_rejections(format, failed());
    report(format, verbosity, &Value::Object(counts), &labelled(DONE, "imported", summary))?;
    Ok(code)
}
