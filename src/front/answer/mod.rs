//! What a caller is told: the same facts as JSON and as text, because some clients show their model only the one and
//! some only the other.
//!
//! Invariant: both forms together, as they go over the wire, are no larger than the limit that was asked for. What had
//! to be left out is counted in `notes`, or at least said there when no number fits.

mod batch;
mod entity;
mod fit;
mod gates;
mod hunks;
mod json;
mod listed;
mod look;
mod message;
mod next;
mod past;
mod profile;
mod response;
mod text;
mod when;

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::engine::Report;
use crate::error::Error;
use crate::request::{Entity, EntityKind};
use response::EditResponse;

pub use batch::batch;
pub use gates::{FindingLabel, unsaid};
pub use look::look;
pub use next::{Offers, ToolCall};
pub use past::{RevertedEdit, history, remembered, reverted};
pub use profile::{ExtraField, FieldNames, ResponseFormat, ToolProfile};

/// How an answer is to look.
#[derive(Debug, Clone)]
pub struct ResponseOptions {
    /// Greatest size of the answer in bytes; one of [`Shape::LIMITS`].
    pub limit: usize,
    /// Whether the diff is shown.
    pub diff: DiffWish,
    /// In which forms the answer is sent.
    pub forms: Forms,
    /// The target as the caller named it, for refusals that know no better.
    pub path: Option<String>,
    /// The key of the target as the caller named it, where it lies in a database.
    pub entity: Option<Entity>,
    /// How many lines the request quotes or gives, for the tools that count these as changed, whatever of them stays.
    pub quoted_lines: Option<usize>,
    /// The words of the tool that answers.
    pub voice: ToolProfile,
    /// What a refusal may propose to call.
    pub offers: Offers,
}

impl ResponseOptions {
    /// The path as the caller named it.
    pub fn target(&self) -> &str {
        self.path.as_deref().unwrap_or_default()
    }

    /// What the target is, in a word.
    pub fn noun(&self) -> &str {
        self.entity.as_ref().map_or(EntityKind::FILE, |entity| entity.kind.name())
    }

    /// The limits that can be asked for.
    pub const LIMITS: RangeInclusive<usize> = 1024..=1_048_576;
}

impl Default for ResponseOptions {
    fn default() -> ResponseOptions {
        ResponseOptions {
            limit: 8192,
            diff: DiffWish::Shown,
            forms: Forms::Both,
            path: None,
            entity: None,
            quoted_lines: None,
            voice: ToolProfile::PLAIN,
            offers: Offers::default(),
        }
    }
}

/// Whether the diff is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffWish {
    /// It is shown, as far as it fits.
    Shown,
    /// It is left out.
    Left,
}

/// In which forms an answer is sent; the limit covers what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forms {
    /// As JSON and as text.
    Both,
    /// As JSON only.
    Json,
    /// As text only.
    Text,
}

/// An answer in every form.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Whether the caller got what was asked for.
    pub success: bool,
    /// The answer for programs.
    pub json: Value,
    /// The answer to read.
    pub text: String,
}

/// Renders what became of a request.
pub fn answer(result: &Result<Report, Error>, shape: &ResponseOptions) -> Answer {
    match result {
        Ok(report) => {
            fit::fit(&EditResponse::of_report(report, &report.diff(), &report.regions(), shape), shape)
        }
        Err(error) => refusal(error, shape),
    }
}

/// Renders a refusal.
pub fn refusal(error: &Error, shape: &ResponseOptions) -> Answer {
    fit::fit(&EditResponse::of_error(error, shape), shape)
}

#[cfg(test)]
mod tests;
