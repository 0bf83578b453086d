//! `lockgate check`: checks files, or requests without applying them, for people, programs and CI.
//!
//! Invariant: only the file of `--sarif` is written. In every format, the exit code depends on the findings or on the
//! family of the error.

mod fingerprint;
mod github;
mod gitlab;
mod json;
mod junit;
mod progress;
mod requests;
mod results;
mod sarif;
mod text;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;

use self::progress::with_progress_bar;
use self::results::Results;
use super::async_work::work;
use super::output_format;
use super::paint;
use super::roots::{CommandRoots, Roots, TrustArgs};
use super::verbosity::Verbosity;
use lockgate_engine::{AuditTarget, TrustOverride};
use lockgate_error::{Code, Error, ErrorFamily};

/// The arguments of `lockgate check`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Only findings that are new since the base count. Exit codes: 0 if no finding blocks, 1 if a finding blocks \
                  or a required gate could not run."
)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    roots: Roots,
    #[command(flatten)]
    trust: TrustArgs,
    /// Files and folders, relative to the first --root, else to the current folder [default: all files there that differ
    /// from the revision]
    #[arg(value_name = "PATHS")]
    paths: Vec<OsString>,
    /// Revision that the files are compared with, as in HEAD~1 or main... [default: HEAD]
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// Checks a request instead, read from a file or with `-` from standard input: the JSON of safe_edit_file or
    /// edit_files; repeatable
    #[arg(long = "request", value_name = "FILE", conflicts_with_all = ["paths", "base"])]
    requests: Vec<PathBuf>,
    /// Format of the printed results
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: Format,
    /// Prints how often each code was found instead of the findings
    #[arg(long, conflicts_with = "format")]
    statistics: bool,
    /// Also writes the results as SARIF to a file
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

/// The output formats of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people, with the source line
    #[default]
    Text,
    /// One line for each finding
    Concise,
    /// One document for programs
    Json,
    /// SARIF 2.1.0, for GitHub code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// The code quality report of GitLab
    Gitlab,
    /// JUnit XML: a test suite for each file, a test case for each finding
    Junit,
}

/// Runs the check and prints the results.
pub(super) fn run(args: CheckArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    let CheckArgs { roots, trust, paths, base, requests, format, statistics, sarif } = args;
    if sarif.as_deref() == Some(Path::new("-")) {
        return Err(Error::new(Code::InvalidInput, "`-` is no file")
            .field("--sarif")
            .hint("name a file; `--format sarif` prints the log to standard output"));
    }
    let results = if requests.is_empty() {
        audit(&roots, trust.trust_override(), paths, base)
    } else {
        requests::check(&roots, trust.trust_override(), &requests)
    };
    match results {
        Ok(results) => {
            if statistics {
                paint::print(&text::statistics(&results, verbosity))?;
            } else {
                print_results(&results, format, verbosity)?;
            }
            if let Some(file) = sarif {
                write(&file, &sarif::document(&results)?)?;
            }
            Ok(if results.has_blocking() {
                ExitCode::from(ErrorFamily::Gate.exit_code())
            } else {
                ExitCode::SUCCESS
            })
        }
        Err(error) => print_error(error, format, sarif),
    }
}

/// Checks these files and folders, or else all files that differ from the base.
///
/// Errors: those of [`utf8_paths`] and of the check.
fn audit(
    roots: &Roots,
    trust_override: TrustOverride,
    paths: Vec<OsString>,
    base: Option<String>,
) -> Result<Results, Error> {
    let paths_given = !paths.is_empty();
    let (paths, unreadable) = utf8_paths(roots, paths)?;
    let subjects = AuditTarget { paths: paths_given.then_some(paths), base };
    let audit = work(roots.open(trust_override), |workspace, watch| async move {
        workspace.keep_servers();
        with_progress_bar(watch, async |watch| workspace.check(subjects, watch).await).await
    })?;
    Ok(Results::from_audit(audit, unreadable))
}

/// Returns the paths that are UTF-8, and the others, which cannot be checked, in a readable form.
///
/// Errors: `FILE_NOT_FOUND` for one of the others that does not exist, and those of the roots.
fn utf8_paths(roots: &Roots, paths: Vec<OsString>) -> Result<(Vec<String>, Vec<String>), Error> {
    let (mut texts, mut unreadable) = (Vec::new(), Vec::new());
    for path in paths {
        match path.into_string() {
            Ok(text) => texts.push(text),
            Err(other) => {
                let shown = other.to_string_lossy().into_owned();
                let CommandRoots { roots, base } = roots.resolve()?;
                let folder = roots.first().map(|root| root.join(base)).unwrap_or_default();
                if std::fs::symlink_metadata(folder.join(&other)).is_err() {
                    return Err(Error::new(Code::FileNotFound, format!("{shown} does not exist"))
                        .hint("name an existing file or folder"));
                }
                unreadable.push(shown);
            }
        }
    }
    Ok((texts, unreadable))
}

fn print_results(results: &Results, format: Format, verbosity: Verbosity) -> Result<(), Error> {
    let document = match format {
        Format::Text => return paint::print(&text::render(results, verbosity)),
        Format::Concise => return paint::print(&text::concise(results, verbosity)),
        Format::Json => json::document(results),
        Format::Sarif => sarif::document(results)?,
        Format::Github => github::render(results),
        Format::Gitlab => gitlab::document(results),
        Format::Junit => junit::document(results)?,
    };
    paint::print_bytes(document.as_bytes())
}

/// Prints a rejection in the selected format and returns it, because every format also has it on standard error. A file
/// that cannot be written is only reported.
fn print_error(error: Error, format: Format, sarif: Option<PathBuf>) -> Result<ExitCode, Error> {
    if let Some(file) = sarif {
        let written = sarif::render_error(&error).and_then(|log| write(&file, &log));
        written.unwrap_or_else(|unwritten| paint::print_error(&output_format::error_text(&unwritten)));
    }
    let document = match format {
        Format::Text | Format::Concise => return Err(error),
        Format::Json => json::render_error(&error),
        Format::Sarif => sarif::render_error(&error)?,
        Format::Github => github::render_error(&error),
        Format::Gitlab => gitlab::render_error(&error),
        Format::Junit => junit::render_error(&error)?,
    };
    paint::print_bytes(document.as_bytes())?;
    Err(error)
}

fn write(file: &PathBuf, text: &str) -> Result<(), Error> {
    std::fs::write(file, text).map_err(|error| {
        Error::new(Code::IoFailed, format!("cannot write {}: {error}", file.display()))
            .field("--sarif")
            .hint("name a file that can be written, in an existing folder")
    })
}
