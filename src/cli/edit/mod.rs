//! `lockgate edit`: applies one edit, or several together.
//!
//! Invariant: every request but a patch becomes the JSON of `safe_edit_file`, `edit_files`, `patch_content` or
//! `replace_content`, and uses the parser of that tool. The exit code reports the result.

mod flags;
mod patch;
mod source;

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgAction;
use serde_json::{Map, Value};

pub(super) use source::parse_request;

use super::async_work::{author, write};
use super::confirm;
use super::outcome;
use super::output_format::OutputFormat;
use super::roots::TrustArgs;
use super::store_args::CommandWorkspace;
use super::verbosity::Verbosity;
use lockgate_edit::request::{Author, Target};
use lockgate_engine::TrustOverride;
use lockgate_error::Error;
use lockgate_mcp::answer::{CallOffers, EditResult, ResponseOptions};
use lockgate_mcp::tools::{Tool, edit_files, patch_content, replace_content, safe_edit_file};

/// The arguments of `lockgate edit`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Either --file, or --patch, or --path with one of --content, --content-from, --new-content, --search."
)]
pub(super) struct EditArgs {
    #[command(flatten)]
    workspace: CommandWorkspace,
    #[command(flatten)]
    trust: TrustArgs,
    /// Prints the answer as JSON, like the MCP tool
    #[arg(id = "json", long, action = ArgAction::SetTrue)]
    format: OutputFormat,
    #[command(flatten)]
    source: source::RequestSource,
}

/// Applies the request and prints the result.
pub(super) fn run(args: EditArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    let EditArgs { workspace, trust, format, source } = args;
    let trust_override = trust.trust_override();
    let applied = source.patch().and_then(|patch| match patch {
        Some((patch, mode)) => Ok(confirm::with_confirmation(|agreed| {
            patch::apply(&workspace, trust_override, &patch, mode, agreed)
        })),
        None => source.into_object().map(|arguments| {
            confirm::with_confirmation(|agreed| apply(&workspace, trust_override, arguments.clone(), agreed))
        }),
    });
    let (result, options) =
        applied.unwrap_or_else(|error| (EditResult::rejected(error), ResponseOptions::default()));
    outcome::print(&result, options, format, verbosity)
}

/// Returns the tool whose JSON format the request has.
fn tool_of(arguments: &Map<String, Value>) -> &'static Tool {
    let has = |name: &str| arguments.contains_key(name);
    // The other names for these fields select the same tool, so its rejection names the right ones.
    let is_patch = || ["old_string", "new_string", "search", "replace"].into_iter().any(has);
    match (has("edits"), has("entity_type"), is_patch() && !has("content")) {
        (true, _, _) => &edit_files::TOOL,
        (false, true, true) => &patch_content::TOOL,
        (false, true, false) => &replace_content::TOOL,
        (false, false, _) => &safe_edit_file::TOOL,
    }
}

/// Applies the request; returns the result and the options of its answer.
fn apply(
    workspace_args: &CommandWorkspace,
    trust_override: TrustOverride,
    arguments: Map<String, Value>,
    agreed: Option<String>,
) -> (EditResult, ResponseOptions) {
    let tool = tool_of(&arguments);
    let path = arguments.get("path").and_then(Value::as_str).map(str::to_owned);
    let options = ResponseOptions { path, ..ResponseOptions::default() };
    let current_call = arguments.contains_key("search").then(|| Arc::new(tool.call(arguments.clone())));
    let author = Author { confirmation_id: agreed, ..author("edit") };
    let request = match (tool.parse)(arguments) {
        Ok(request) => request.with_author(&author),
        Err(error) => return (EditResult::rejected(error), options),
    };
    let entity = request.target().and_then(Target::entity).cloned();
    let offers = CallOffers { current_call, ..CallOffers::default() };
    let options = request.with_options(ResponseOptions { entity, offers, ..options });
    (write(workspace_args.open(trust_override), request), options)
}
