//! The typed responses of all tools.
//!
//! [`Response`] is the response of a tool that edits. Each tool that reads has a type of its own.
//! A field without a value is absent from the JSON, and so is a field with `#[serde(skip)]`, which is for the text form.
//! Numbers of lines and columns start at 1, and columns count characters. A version is the content hash that
//! `expected_version` accepts.
//!
//! The crate has data only, and uses no other crate of lockgate: `lockgate-engine` and `lockgate-mcp` build the responses,
//! and `lockgate-mcp` renders their text form.
//!
//! ```
//! use lockgate_protocol::{EditRecord, HistoryResponse};
//!
//! let edits = vec![EditRecord { edit_id: "01-2a".to_owned(), ..EditRecord::default() }];
//! let json = serde_json::to_value(HistoryResponse { edits, truncated: None })?;
//! assert_eq!(json["edits"][0]["edit_id"], "01-2a");
//! assert!(json.get("truncated").is_none());
//! # Ok::<(), serde_json::Error>(())
//! ```

mod edit;
mod history;
mod read;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use edit::{
    AiEditResponse, BatchResponse, ChangedRegion, EditResponse, FileChangesSince, FirstDifference, Headline,
    MatchDetails, MatchLocation, MovedLines, NearestLines, ProposedCall, ReportedFinding, ReportedGate,
    ReportedWarning, TextFields, percent,
};
pub use history::{EditRecord, HistoryResponse, RecordedFile};
// All of it, so that the response of a new tool is a matter of that module alone.
pub use read::*;

/// A name with a fixed set of values, such as an error code.
pub type Name = Cow<'static, str>;

/// Returns the bytes of the JSON form.
pub fn json_size(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |json| json.len())
}

/// The response of a tool that edits, or the error that ended a call of any tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Response {
    /// One edit, or the error that ended a call.
    Edit(Box<EditResponse>),
    /// One edit of `ai_edit_code`, or the error that ended its call.
    AiEdit(Box<AiEditResponse>),
    /// Several edits of one call.
    Batch(Box<BatchResponse>),
}

impl Response {
    /// True if the request succeeded.
    pub fn is_success(&self) -> bool {
        match self {
            Response::Edit(edit) => edit.is_success(),
            Response::AiEdit(edit) => edit.is_success(),
            Response::Batch(batch) => batch.success,
        }
    }
}

/// The key of an entity apart from its path; empty for a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityKey {
    /// The type of the entity, such as `workflow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_type: Option<String>,
    /// The app that the entity belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_id: Option<String>,
    /// The organisation that the entity belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<String>,
}
