//! The request of one call, and what most tools need to make it.

use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::{self, EntityArgs};
use crate::answer::{ResponseOptions, ToolProfile};
use lockgate_edit::Edit;
use lockgate_edit::request::{
    Author, Direction, Expect, FilePermissions, GateOptions, HistoryRequest, Instruction, Mode, ReadRequest,
    Request, Target, UndoRequest, Whose,
};
use lockgate_error::{Code, Error};

/// The parsed request of one call.
#[derive(Debug, Clone)]
pub enum ToolRequest {
    /// One edit of one target.
    Edit(Box<EditCall>),
    /// An edit without its code.
    Unwritten(Box<UnwrittenEdit>),
    /// Several edits, all or none.
    Batch(Box<BatchCall>),
    /// An undo or redo of an edit.
    Revert(UndoRequest),
    /// A read of files or entities.
    Read(ReadRequest),
    /// A read of the edit history.
    History(HistoryRequest),
}

impl ToolRequest {
    /// Returns the single target of the request, if it names one.
    pub fn target(&self) -> Option<&Target> {
        match self {
            ToolRequest::Edit(call) => Some(&call.request.target),
            ToolRequest::Unwritten(unwritten_edit) => Some(&unwritten_edit.request.target),
            ToolRequest::Read(ReadRequest::Lines(lines)) => Some(&lines.target),
            ToolRequest::Read(ReadRequest::Whole(whole)) => Some(&whole.target),
            ToolRequest::Revert(UndoRequest { target: of, .. })
            | ToolRequest::History(HistoryRequest { target: of, .. }) => of.as_ref(),
            ToolRequest::Batch(_)
            | ToolRequest::Read(ReadRequest::Search(_) | ReadRequest::List(_) | ReadRequest::Context(_)) => {
                None
            }
        }
    }

    /// Sets the author of the request.
    #[must_use]
    pub fn with_author(mut self, author: &Author) -> ToolRequest {
        match &mut self {
            ToolRequest::Edit(call) => call.request.author.clone_from(author),
            ToolRequest::Unwritten(unwritten_edit) => unwritten_edit.request.author.clone_from(author),
            ToolRequest::Batch(all) => {
                all.requests.iter_mut().for_each(|request| request.author.clone_from(author));
            }
            ToolRequest::Revert(revert) => revert.author.clone_from(author),
            ToolRequest::Read(_) | ToolRequest::History(_) => {}
        }
        self
    }
}

/// An edit with the options of its answer.
#[derive(Debug, Clone)]
pub struct EditCall {
    /// The request of the edit.
    pub request: Request,
    /// The options of the answer, with the profile of the tool.
    pub options: ResponseOptions,
}

impl EditCall {
    /// Creates a call with the default options and a tool's profile.
    pub(super) fn new(request: Request, profile: ToolProfile) -> EditCall {
        EditCall { request, options: ResponseOptions { profile, ..ResponseOptions::default() } }
    }
}

impl From<EditCall> for ToolRequest {
    fn from(call: EditCall) -> ToolRequest {
        ToolRequest::Edit(Box::new(call))
    }
}

/// Creates the request of an edit from the fields that most tools have.
pub(super) fn edit_request(
    target: Target,
    edit: Edit,
    mode: Option<WireMode>,
    expected_version: Option<String>,
) -> Request {
    Request {
        target,
        edit,
        mode: mode.map(Mode::from).unwrap_or_default(),
        expect: expected_version.map_or(Expect::Anything, Expect::Version),
        gate_options: GateOptions::default(),
        permissions: FilePermissions::default(),
        author: Author::default(),
    }
}

/// Creates the request of an undo or redo.
///
/// Errors: those of the entity fields.
pub(super) fn undo_request(
    direction: Direction,
    edit_id: Option<String>,
    path: Option<String>,
    entity: EntityArgs,
) -> Result<ToolRequest, Error> {
    let target = entity::target(path, entity.fields())?;
    let (whose, author) = (Whose::Author, Author::default());
    Ok(ToolRequest::Revert(UndoRequest { direction, edit_id, target, whose, author }))
}

/// Returns the maximum size of the answer; the default if the call sets none.
///
/// Errors: `INVALID_INPUT` for a size outside of [`ResponseOptions::LIMITS`].
pub(super) fn response_limit(max_bytes: Option<i64>) -> Result<usize, Error> {
    let Some(bytes) = max_bytes else { return Ok(ResponseOptions::default().limit) };
    let within = usize::try_from(bytes).ok().filter(|bytes| ResponseOptions::LIMITS.contains(bytes));
    within.ok_or_else(|| {
        let (least, most) = (ResponseOptions::LIMITS.start(), ResponseOptions::LIMITS.end());
        Error::new(Code::InvalidInput, format!("max_bytes must be from {least} to {most}, found {bytes}"))
            .named_field("max_bytes")
    })
}

/// An edit without its code, with the options of its answer.
#[derive(Debug, Clone)]
pub struct UnwrittenEdit {
    /// The edit, with a blank line in place of the code.
    pub request: Request,
    /// The instruction for the code.
    pub instruction: Instruction,
    /// The options of the answer, with the profile of the tool.
    pub options: ResponseOptions,
}

impl UnwrittenEdit {
    /// Returns the edit with its code, which was written for this version of the file.
    pub fn written(self, code: String, version: String) -> EditCall {
        let (edit, expect) = (self.instruction.insert_point.edit(code), Expect::Version(version));
        EditCall { request: Request { edit, expect, ..self.request }, options: self.options }
    }
}

/// Several edits with the options of their answer.
#[derive(Debug, Clone)]
pub struct BatchCall {
    /// The requests in the order of the call.
    pub requests: Vec<Request>,
    /// The paths as the caller named them.
    pub paths: Vec<String>,
    /// Options of the answer that covers all edits.
    pub options: ResponseOptions,
}

/// The modes on the wire.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WireMode {
    Strict,
    Interactive,
    VerifyOnly,
}

impl From<WireMode> for Mode {
    fn from(mode: WireMode) -> Mode {
        match mode {
            WireMode::Strict => Mode::Strict,
            WireMode::Interactive => Mode::Interactive,
            WireMode::VerifyOnly => Mode::VerifyOnly,
        }
    }
}

#[cfg(test)]
impl ToolRequest {
    /// Returns the edit of a test request.
    pub(super) fn into_edit(self) -> EditCall {
        match self {
            ToolRequest::Edit(call) => *call,
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(test)]
impl EditCall {
    /// Returns the search of a test request.
    pub(super) fn into_search(self) -> lockgate_edit::Search {
        match self.request.edit {
            lockgate_edit::Edit::Search(search) => search,
            other => panic!("{other:?}"),
        }
    }
}
