//! The tools: one file each, and one row here.
//!
//! Invariant: a tool is a wire struct, whose doc comments are what the agent reads, and its conversion to a
//! [`Request`]. It decides nothing about the edit.

pub mod create_file;
pub mod safe_edit_file;

use rmcp::model::JsonObject;

use super::answer::Shape;
use super::toolset::Toolset;
use crate::error::Error;
use crate::request::Request;

/// Every tool, in the order of the documentation.
pub const TOOLS: &[Tool] = &[safe_edit_file::TOOL, create_file::TOOL];

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
    /// The schema of its arguments; the description at its root is the tool's.
    pub schema: fn() -> JsonObject,
    /// Turns the arguments of a call into what the engine is asked.
    pub ask: fn(JsonObject) -> Result<Ask, Error>,
}

/// What a tool's call does to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
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

/// What one call asks: an edit, and how its answer is to look.
#[derive(Debug)]
pub struct Ask {
    /// The edit.
    pub request: Request,
    /// The answer's form.
    pub shape: Shape,
}
