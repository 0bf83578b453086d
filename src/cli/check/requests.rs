//! Checks requests without applying them: the results are those of `verify_only`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::results::Results;
use crate::cli::async_work::{author, work};
use crate::cli::edit::parse_request;
use crate::cli::roots::Roots;
use lockgate_edit::request::Mode;
use lockgate_engine::{Report, TrustOverride};
use lockgate_error::Error;
use lockgate_mcp::tools::{ToolRequest, edit_files, safe_edit_file};

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
        .collect::<Result<Vec<ToolRequest>, Error>>()?;
    let reports = work(roots.open(trust_override), |workspace, watch| async move {
        let mut reports: Vec<Report> = Vec::new();
        for request in requests {
            reports.extend(request.write(&workspace, watch.without_progress()).await.reports?);
        }
        Ok(reports)
    })?;
    Ok(Results::from_reports(reports))
}

fn parse_source(source: &Path) -> Result<ToolRequest, Error> {
    let mut arguments: Map<String, Value> = parse_request(source, "--request")?;
    arguments.insert("mode".to_owned(), Mode::VerifyOnly.name().into());
    let tool = if arguments.contains_key("edits") { &edit_files::TOOL } else { &safe_edit_file::TOOL };
    Ok((tool.parse)(arguments)?.with_author(&author("check")))
}
