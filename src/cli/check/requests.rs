//! Checks requests without applying them: the results are those of `verify_only`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::results::Results;
use crate::cli::async_work::{author, work};
use crate::cli::edit::parse_request;
use crate::cli::roots::Roots;
use lockgate_edit::request::{Mode, Request};
use lockgate_engine::{Report, TrustOverride};
use lockgate_error::{Code, Error};
use lockgate_mcp::tools::{ToolRequest, edit_files, safe_edit_file};

/// The content of one `--request`: a single edit or a batch.
enum RequestInput {
    Single(Box<Request>),
    Batch(Vec<Request>),
}

/// Checks the requests independently.
///
/// Errors: that of the first request that fails.
pub(super) fn check(
    roots: &Roots,
    trust_override: TrustOverride,
    sources: &[PathBuf],
) -> Result<Results, Error> {
    let requests = sources
        .iter()
        .map(|source| parse_source(source.as_path()))
        .collect::<Result<Vec<RequestInput>, Error>>()?;
    let reports = work(roots.open(trust_override), |workspace, watch| async move {
        let mut reports: Vec<Report> = Vec::new();
        for request in requests {
            match request {
                RequestInput::Single(one) => {
                    reports.push(workspace.edit(*one, watch.without_progress()).await?)
                }
                RequestInput::Batch(all) => {
                    reports.extend(workspace.edit_all(all, watch.without_progress()).await?)
                }
            }
        }
        Ok(reports)
    })?;
    Ok(Results::of_reports(reports))
}

fn parse_source(source: &Path) -> Result<RequestInput, Error> {
    let mut arguments: Map<String, Value> = parse_request(source, "--request")?;
    arguments.insert("mode".to_owned(), Mode::VerifyOnly.name().into());
    let tool = if arguments.contains_key("edits") { &edit_files::TOOL } else { &safe_edit_file::TOOL };
    match (tool.parse)(arguments)?.with_author(&author("check")) {
        ToolRequest::Edit(call) => Ok(RequestInput::Single(Box::new(call.request))),
        ToolRequest::Batch(all) => Ok(RequestInput::Batch(all.requests)),
        // These tools create only edit requests.
        ToolRequest::Unwritten(_) | ToolRequest::Revert(_) | ToolRequest::Read(_) => {
            Err(Error::new(Code::Internal, "the request is not an edit"))
        }
    }
}
