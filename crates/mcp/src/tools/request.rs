//! The request of one call, and what most tools need to make it.

use std::fmt;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::{self, EntityArgs};
use crate::answer::{self, Answer, ResponseOptions, ToolOptions, ToolProfile};
use lockgate_checks::Watch;
use lockgate_edit::Edit;
use lockgate_edit::request::{
    Author, Direction, Expect, Instruction, Mode, Request, Target, UndoRequest, Whose,
};
use lockgate_engine::{ReadRequest, Workspace};
use lockgate_error::{Code, Error, FieldValue, NextCall};

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
    /// A read of files, entities or the history.
    Read(Arc<dyn ReadCall>),
}

/// A read, with the rendering of its answer.
pub trait ReadCall: fmt::Debug + Send + Sync {
    /// Returns the single target of the request, if it names one.
    fn target(&self) -> Option<&Target>;

    /// Reads.
    fn run(self: Arc<Self>, workspace: Arc<Workspace>, watch: Watch) -> ReadFuture;
}

/// The future of a [`ReadCall`].
pub type ReadFuture = Pin<Box<dyn Future<Output = Result<CallReply, Error>> + Send>>;

/// The reply to a call, which is still to be rendered.
pub struct CallReply {
    /// The approximate size of the answer, or of the change, in bytes; `None` if it is not known beforehand.
    pub size: Option<usize>,
    /// Renders the answer.
    pub render: Box<dyn FnOnce(&ResponseOptions) -> Answer + Send>,
}

impl From<Error> for CallReply {
    fn from(error: Error) -> CallReply {
        CallReply { size: None, render: Box::new(move |options| answer::render_error(&error, options)) }
    }
}

/// A request to the engine, and the function that renders the engine's response.
struct EngineRead<R, F> {
    request: R,
    render: F,
}

impl<R: fmt::Debug, F> fmt::Debug for EngineRead<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.request.fmt(f)
    }
}

impl<R, F> ReadCall for EngineRead<R, F>
where
    R: ReadRequest + Clone + fmt::Debug,
    F: Fn(&R::Output, &ResponseOptions) -> Answer + Send + Sync + 'static,
{
    fn target(&self) -> Option<&Target> {
        self.request.target()
    }

    fn run(self: Arc<Self>, workspace: Arc<Workspace>, watch: Watch) -> ReadFuture {
        Box::pin(async move {
            let output = workspace.read(self.request.clone(), watch).await?;
            let size = R::size(&output);
            let render = Box::new(move |options: &ResponseOptions| (self.render)(&output, options));
            Ok(CallReply { size, render })
        })
    }
}

impl ToolRequest {
    /// Creates a read from a request to the engine and the function that renders the engine's response.
    pub(super) fn read<R: ReadRequest + Clone + fmt::Debug>(
        request: R,
        render: impl Fn(&R::Output, &ResponseOptions) -> Answer + Send + Sync + 'static,
    ) -> ToolRequest {
        ToolRequest::Read(Arc::new(EngineRead { request, render }))
    }

    /// Returns the single target of the request, if it names one.
    pub fn target(&self) -> Option<&Target> {
        match self {
            ToolRequest::Edit(call) => Some(&call.request.target),
            ToolRequest::Unwritten(unwritten_edit) => Some(&unwritten_edit.request.target),
            ToolRequest::Read(read) => read.target(),
            ToolRequest::Revert(UndoRequest { target, .. }) => target.as_ref(),
            ToolRequest::Batch(_) => None,
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
            ToolRequest::Read(_) => {}
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
    pub options: ToolOptions,
}

impl EditCall {
    /// Creates a call with the default options and a tool's profile.
    pub(super) fn new(request: Request, profile: ToolProfile) -> EditCall {
        EditCall { request, options: ToolOptions::new(profile) }
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
        mode: mode.map(Mode::from).unwrap_or_default(),
        expect: expected_version.map_or(Expect::Anything, Expect::Version),
        ..Request::new(target, edit)
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

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 100;

/// Checks the number of edits of a call with a list of them.
///
/// Errors: `INVALID_INPUT` for an empty list, and for one that is too long.
pub(super) fn check_edit_count(count: usize) -> Result<(), Error> {
    let message = match count {
        0 => "`edits` is an empty list".to_owned(),
        1..=MAX_EDITS => return Ok(()),
        _ => format!("`edits` has {count} entries, more than the {MAX_EDITS} of one call"),
    };
    Err(Error::new(Code::InvalidInput, message).named_field("edits"))
}

/// Returns the maximum size of the answer; the default if the call sets none.
///
/// Errors: `INVALID_INPUT` for a size outside of [`ResponseOptions::LIMITS`].
pub(super) fn response_limit(max_bytes: Option<i64>) -> Result<usize, Error> {
    parse_number(max_bytes, ResponseOptions::default().limit, &ResponseOptions::LIMITS, "max_bytes")
}

/// Returns a number within a range, or its default.
///
/// Errors: `INVALID_INPUT` with the field and the nearest number in the range.
pub(super) fn parse_number(
    value: Option<i64>,
    default: usize,
    range: &RangeInclusive<usize>,
    field: &str,
) -> Result<usize, Error> {
    let Some(value) = value else { return Ok(default) };
    let number = usize::try_from(value).unwrap_or(0);
    if value >= 0 && range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = (*range.start(), *range.end());
    let message = format!("{field} must be from {least} to {most}, found {value}");
    let nearest = number.clamp(least, most) as u64;
    let next = NextCall::Correct { field: field.to_owned(), value: FieldValue::Number(nearest) };
    Err(Error::new(Code::InvalidInput, message).named_field(field).with_next(next))
}

/// An edit without its code, with the options of its answer.
#[derive(Debug, Clone)]
pub struct UnwrittenEdit {
    /// The edit, with a blank line in place of the code.
    pub request: Request,
    /// The instruction for the code.
    pub instruction: Instruction,
    /// The options of the answer, with the profile of the tool.
    pub options: ToolOptions,
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
    pub options: ToolOptions,
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
