//! `list_edits`: lists the edits, newest first.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::{EntityArgs, target};
use super::request::{ReadCall, ReadFuture, ReadReply, ToolRequest};
use crate::answer::{self, ResponseOptions, ToolProfile};
use lockgate_checks::Watch;
use lockgate_edit::request::{HistoryRequest, Target};
use lockgate_engine::Workspace;
use lockgate_error::{Code, Error};

tool! {
    ListEdits => "list_edits", "List edits",
    &[Toolset::History], Effect::Reads, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// Default and maximum number of listed edits.
const RESULT_LIMITS: (i64, i64) = (20, 100);

/// Lists the edits that lockgate wrote, newest first: each with its `edit_id`, time, author and changes to each file,
/// and whether it was undone.
#[derive(Deserialize, JsonSchema)]
struct ListEdits {
    /// Only those of this file or entity.
    path: Option<String>,
    /// Maximum number, 20 unless given.
    #[schemars(range(min = 1, max = 100))]
    max_results: Option<i64>,
    #[serde(flatten)]
    entity: EntityArgs,
}

impl TryFrom<ListEdits> for ToolRequest {
    type Error = Error;

    fn try_from(input: ListEdits) -> Result<ToolRequest, Error> {
        HistoryRequest::try_from(input).map(|request| ToolRequest::Read(Arc::new(request)))
    }
}

impl ReadCall for HistoryRequest {
    fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    fn run(self: Arc<Self>, workspace: Arc<Workspace>, _watch: Watch) -> ReadFuture {
        Box::pin(async move {
            let most = self.max_entries;
            // One more entry than is shown tells if there are more.
            let request = HistoryRequest { max_entries: most + 1, target: self.target.clone() };
            let entries = workspace.history(request).await?;
            let answer = Box::new(move |options: &ResponseOptions| answer::history(&entries, most, options));
            Ok(ReadReply { size: None, answer })
        })
    }
}

impl TryFrom<ListEdits> for HistoryRequest {
    type Error = Error;

    fn try_from(input: ListEdits) -> Result<HistoryRequest, Error> {
        let target = target(input.path, input.entity.fields())?;
        let (default, most) = RESULT_LIMITS;
        let limit = input.max_results.unwrap_or(default);
        let within = usize::try_from(limit).ok().filter(|_| (1..=most).contains(&limit));
        let rejection = || {
            Error::new(Code::InvalidInput, format!("max_results must be from 1 to {most}, found {limit}"))
                .named_field("max_results")
        };
        Ok(HistoryRequest { target, max_entries: within.ok_or_else(rejection)? })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_of_results_is_within_bounds() {
        let most = |value: serde_json::Value| {
            let arguments = json!({"max_results": value}).as_object().cloned().unwrap();
            let request = parse_input(arguments).and_then(HistoryRequest::try_from);
            request.map(|request| request.max_entries).map_err(|error| error.field)
        };
        assert_eq!((most(json!(null)), most(json!(1)), most(json!(100))), (Ok(20), Ok(1), Ok(100)));
        for wrong in [json!(0), json!(101), json!(-1), json!("x")] {
            assert_eq!(most(wrong), Err(Some("max_results".into())));
        }
    }
}
