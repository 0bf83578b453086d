//! The tools: one file each, and one row here.
//!
//! Invariant: a tool is a wire struct, whose doc comments are what the agent reads, its conversion to what the engine
//! is asked, and its words for what came of it. It decides nothing about the edit.

pub mod ai_edit_code;
pub mod ai_get_code_context;
pub mod create_file;
pub mod delete_content;
pub mod edit_code;
pub mod edit_file;
pub mod edit_files;
pub(in crate::front) mod entity;
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
use crate::error::Error;
use crate::request::{Author, Expect, History, Instruction, Mode, ReadRequest, Request, Revert, Target};

/// Every tool, in the order of the documentation.
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

/// The name under which a tool is listed, where it is called by an older one.
pub fn listed_name(name: &str) -> &str {
    if name == ai_edit_code::OLD_NAME { ai_edit_code::TOOL.name } else { name }
}

/// A tool as it is listed and called.
#[derive(Debug)]
pub struct Tool {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The toolset that it is offered with.
    pub toolset: Toolset,
    /// What a call does to files.
    pub effect: Effect,
    /// What the same call does a second time.
    pub again: Again,
    /// The words in which it speaks.
    pub voice: ToolProfile,
    /// The schema of its arguments; the description at its root is the tool's.
    pub schema: fn() -> JsonObject,
    /// Turns the arguments of a call into what the engine is asked.
    pub ask: fn(JsonObject) -> Result<ToolRequest, Error>,
}

/// What a tool's call does to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It shows what is there.
    Looks,
    /// It adds files and leaves those that are there alone.
    Adds,
    /// It changes what is there.
    Changes,
}

/// What the same call does a second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Nothing more.
    Nothing,
    /// It may change the file again.
    Changes,
}

/// What one call asks.
#[derive(Debug, Clone)]
pub enum ToolRequest {
    /// An edit.
    Edit(Box<EditCall>),
    /// An edit whose code is still to be written.
    Unwritten(Box<Unwritten>),
    /// Several edits, all or none.
    EditAll(Box<AskedAll>),
    /// An edit taken back, or made again.
    Revert(Revert),
    /// A look at lines.
    Look(ReadRequest),
    /// A look at what was edited.
    History(History),
}

impl ToolRequest {
    /// What one text it is about, where that is said.
    pub fn target(&self) -> Option<&Target> {
        match self {
            ToolRequest::Edit(asked) => Some(&asked.request.target),
            ToolRequest::Unwritten(unwritten) => Some(&unwritten.request.target),
            ToolRequest::Look(ReadRequest::Lines(look)) => Some(&look.target),
            ToolRequest::Look(ReadRequest::Whole(target)) => Some(target),
            ToolRequest::Revert(Revert { of, .. }) | ToolRequest::History(History { of, .. }) => of.as_ref(),
            ToolRequest::EditAll(_)
            | ToolRequest::Look(ReadRequest::Search(_) | ReadRequest::List(_) | ReadRequest::Context(_)) => {
                None
            }
        }
    }

    /// The same, asked by somebody.
    #[must_use]
    pub fn by(mut self, author: &Author) -> ToolRequest {
        match &mut self {
            ToolRequest::Edit(asked) => asked.request.author.clone_from(author),
            ToolRequest::Unwritten(unwritten) => unwritten.request.author.clone_from(author),
            ToolRequest::EditAll(all) => {
                all.requests.iter_mut().for_each(|request| request.author.clone_from(author));
            }
            ToolRequest::Revert(revert) => revert.author.clone_from(author),
            ToolRequest::Look(_) | ToolRequest::History(_) => {}
        }
        self
    }
}

/// An edit, and how its answer is to look.
#[derive(Debug, Clone)]
pub struct EditCall {
    /// The edit.
    pub request: Request,
    /// The answer's form.
    pub shape: ResponseOptions,
}

/// An edit whose code is still to be written, and how its answer is to look.
#[derive(Debug, Clone)]
pub struct Unwritten {
    /// The edit, in which a blank line stands for the code.
    pub request: Request,
    /// What the code is to be written by.
    pub instruction: Instruction,
    /// The answer's form.
    pub shape: ResponseOptions,
}

impl Unwritten {
    /// The edit with its code, which was written for this version of the file.
    pub fn written(self, code: String, version: String) -> EditCall {
        let (edit, expect) = (self.instruction.spot.edit(code), Expect::Version(version));
        EditCall { request: Request { edit, expect, ..self.request }, shape: self.shape }
    }
}

/// Several edits, and how their answer is to look.
#[derive(Debug, Clone)]
pub struct AskedAll {
    /// The edits, in the order of the call.
    pub requests: Vec<Request>,
    /// Their files as the caller named them.
    pub paths: Vec<String>,
    /// The answer's form.
    pub shape: ResponseOptions,
}

/// The modes as every edit tool lists them.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WireMode {
    Strict,
    Interactive,
    VerifyOnly,
}

impl WireMode {
    fn raise(self) -> Mode {
        match self {
            WireMode::Strict => Mode::Strict,
            WireMode::Interactive => Mode::Interactive,
            WireMode::VerifyOnly => Mode::VerifyOnly,
        }
    }
}

#[cfg(test)]
impl ToolRequest {
    /// The edit that a test asked for.
    fn into_edit(self) -> EditCall {
        match self {
            ToolRequest::Edit(asked) => *asked,
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(test)]
impl EditCall {
    /// The search that a test asked for.
    fn into_search(self) -> crate::edit::Search {
        match self.request.edit {
            crate::edit::Edit::Search(search) => search,
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
