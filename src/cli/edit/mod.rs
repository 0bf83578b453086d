//! `lockgate edit`: applies one edit, or several together.
//!
//! Invariant: every request but a patch becomes the JSON of `safe_edit_file` or `edit_files` and uses the parser of that
//! tool.
//! The exit code reports the result.

mod flags;
mod patch;
mod source;

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgAction;
use serde_json::{Map, Value};

pub(super) use source::parse_request;

use super::async_work::{author, work};
use super::confirm;
use super::outcome::CommandOutcome;
use super::output_format::OutputFormat;
use super::roots::TrustArgs;
use super::spinner::with_spinner;
use super::store_args::CommandWorkspace;
use super::verbosity::Verbosity;
use lockgate_edit::request::Author;
use lockgate_engine::TrustOverride;
use lockgate_error::Error;
use lockgate_mcp::answer::{CallOffers, ResponseOptions, ToolCall};
use lockgate_mcp::tools::{
    BatchCall, EditCall, Tool, ToolRequest, edit_files, patch_content, replace_content, safe_edit_file,
};

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
    let (outcome, options) =
        applied.unwrap_or_else(|error| (CommandOutcome::rejected(error), ResponseOptions::default()));
    outcome.print(options, format, verbosity)
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
    place: &CommandWorkspace,
    trust_override: TrustOverride,
    arguments: Map<String, Value>,
    agreed: Option<String>,
) -> (CommandOutcome, ResponseOptions) {
    let tool = tool_of(&arguments);
    let path = arguments.get("path").and_then(Value::as_str).map(str::to_owned);
    let again = arguments.contains_key("search").then(|| {
        let (arguments, schema, check) = (arguments.clone(), tool.schema, tool.check);
        Arc::new(ToolCall { tool: tool.name, arguments, schema, check })
    });
    let offers = CallOffers { current_call: again, ..CallOffers::default() };
    match (tool.parse)(arguments)
        .map(|call| call.with_author(&Author { confirmation_id: agreed, ..author("edit") }))
    {
        Ok(ToolRequest::Edit(call)) => {
            let EditCall { request, options } = *call;
            let entity = request.target.entity().cloned();
            let edited = work(place.open(trust_override), |workspace, watch| async move {
                with_spinner(watch, async |watch| workspace.edit(request, watch).await).await
            });
            (CommandOutcome::Single(Box::new(edited)), ResponseOptions { path, entity, offers, ..options })
        }
        Ok(ToolRequest::Batch(all)) => {
            let BatchCall { requests, paths, options } = *all;
            let edited = work(place.open(trust_override), |workspace, watch| async move {
                with_spinner(watch, async |watch| workspace.edit_all(requests, watch).await).await
            });
            (CommandOutcome::Batch(edited, paths), options)
        }
        // These tools create only edit requests.
        Ok(ToolRequest::Unwritten(_) | ToolRequest::Revert(_) | ToolRequest::Read(_)) => {
            let error = Error::new(lockgate_error::Code::Internal, "the request is not an edit");
            (CommandOutcome::rejected(error), ResponseOptions::default())
        }
        Err(error) => {
            (CommandOutcome::rejected(error), ResponseOptions { path, ..ResponseOptions::default() })
        }
    }
}
