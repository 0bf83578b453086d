//! The MCP tools: one file and one row of [`TOOLS`] each.
//!
//! Invariant: a tool consists of a wire struct, whose doc comments are the agent's documentation, its conversion to a
//! request, and its messages. It makes no decision about the edit.

/// Declares the tool of a wire struct that converts into a [`ToolRequest`]: its name, title, toolset, effects and profile.
/// The optional function changes the arguments before they are parsed.
macro_rules! tool {
    (
        $input:ident => $name:literal, $title:literal,
        $toolsets:expr, $effect:expr, $repeat_effect:expr, $profile:expr $(, $prepare:ident)?
    ) => {
        use crate::toolset::Toolset;
        use crate::tools::{Effect, RepeatEffect};

        static SCHEMA: std::sync::LazyLock<rmcp::model::JsonObject> =
            std::sync::LazyLock::new(crate::schema::input_schema::<$input>);

        #[doc = concat!("The definition of `", $name, "` in the list of tools.")]
        pub const TOOL: crate::tools::Tool = crate::tools::Tool {
            name: $name,
            title: $title,
            toolsets: $toolsets,
            effect: $effect,
            repeat_effect: $repeat_effect,
            profile: $profile,
            schema: || SCHEMA.clone(),
            parse,
        };

        fn parse(arguments: rmcp::model::JsonObject) -> Result<ToolRequest, Error> {
            $(let arguments = $prepare(arguments);)?
            ToolRequest::try_from(crate::arguments::read::<$input>(&SCHEMA, arguments)?)
        }
    };
}

pub mod ai_edit_code;
pub mod ai_get_code_context;
pub mod create_file;
pub mod delete_content;
pub mod edit_code;
pub mod edit_file;
pub mod edit_files;
pub(crate) mod entity;
pub mod get_content;
pub mod list_content;
pub mod list_edits;
pub mod patch_content;
pub mod read_content_lines;
pub mod redo_edit;
pub mod replace_content;
pub mod safe_edit_file;
pub mod search_content;
pub mod undo_edit;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{ResponseOptions, ToolProfile};
use super::toolset::Toolset;
use entity::EntityArgs;
use lockgate_edit::Edit;
use lockgate_edit::request::{
    Author, Direction, Expect, FilePermissions, GateOptions, HistoryRequest, Instruction, Mode, ReadRequest,
    Request, Target, UndoRequest, Whose,
};
use lockgate_error::{Code, Error};

/// All tools in the order of the documentation.
pub const TOOLS: &[Tool] = &[
    safe_edit_file::TOOL,
    edit_files::TOOL,
    undo_edit::TOOL,
    search_content::TOOL,
    read_content_lines::TOOL,
    get_content::TOOL,
    ai_get_code_context::TOOL,
    edit_file::TOOL,
    edit_code::TOOL,
    ai_edit_code::TOOL,
    list_content::TOOL,
    patch_content::TOOL,
    replace_content::TOOL,
    delete_content::TOOL,
    list_edits::TOOL,
    redo_edit::TOOL,
    create_file::TOOL,
];

/// Returns the listed name of a tool that may be called by an older name.
pub fn listed_name(name: &str) -> &str {
    if name == ai_edit_code::OLD_NAME { ai_edit_code::TOOL.name } else { name }
}

/// The definition of a tool.
#[derive(Debug)]
pub struct Tool {
    /// Name of the tool in `tools/list` and `tools/call`.
    pub name: &'static str,
    /// Display name that a client may show to people.
    pub title: &'static str,
    /// Toolsets that contain the tool; the first one is its own in the documentation.
    pub toolsets: &'static [Toolset],
    /// Effect of a call on files.
    pub effect: Effect,
    /// Effect of repeating the same call.
    pub repeat_effect: RepeatEffect,
    /// Names and messages of the tool.
    pub profile: ToolProfile,
    /// Returns the schema of the arguments; the description at its root is the tool's.
    pub schema: fn() -> JsonObject,
    /// Parses the arguments of a call.
    pub parse: fn(JsonObject) -> Result<ToolRequest, Error>,
}

/// The effect of a tool's call on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Reads only, without any change.
    Reads,
    /// Adds files without changing existing ones.
    Adds,
    /// Changes or removes existing files or entities.
    Changes,
}

/// The effect of repeating the same call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatEffect {
    /// A repeated call changes nothing further.
    NoChange,
    /// The file may change again.
    Changes,
}

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
    fn new(request: Request, profile: ToolProfile) -> EditCall {
        EditCall { request, options: ResponseOptions { profile, ..ResponseOptions::default() } }
    }
}

impl From<EditCall> for ToolRequest {
    fn from(call: EditCall) -> ToolRequest {
        ToolRequest::Edit(Box::new(call))
    }
}

/// Creates the request of an edit from the fields that most tools have.
fn edit_request(
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
fn undo_request(
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
fn response_limit(max_bytes: Option<i64>) -> Result<usize, Error> {
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
enum WireMode {
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
    fn into_edit(self) -> EditCall {
        match self {
            ToolRequest::Edit(call) => *call,
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(test)]
impl EditCall {
    /// Returns the search of a test request.
    fn into_search(self) -> lockgate_edit::Search {
        match self.request.edit {
            lockgate_edit::Edit::Search(search) => search,
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_listed_modes_are_the_engine_s() {
        let names = Mode::ALL.map(Mode::name);
        for tool in TOOLS
            .iter()
            .filter(|tool| ["safe_edit_file", "edit_file", "edit_code", "ai_edit_code"].contains(&tool.name))
        {
            assert_eq!((tool.schema)()["properties"]["mode"]["enum"], json!(names), "{}", tool.name);
        }
    }
}
