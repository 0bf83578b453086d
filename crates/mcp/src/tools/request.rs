//! The request of one call.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::answer::{self, Answer, ResponseOptions, ToolOptions, ToolProfile};
use lockgate_checks::Watch;
use lockgate_edit::request::{Author, Expect, Instruction, Request, Target, UndoRequest};
use lockgate_engine::{ReadRequest, Workspace};
use lockgate_error::Error;

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
