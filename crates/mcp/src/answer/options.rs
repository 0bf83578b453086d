//! The names and messages of each tool: field names, success and rejection messages, and the response format.

use std::ops::RangeInclusive;

use super::forms::Forms;
use super::offers::CallOffers;
use super::shown_parts::ShownParts;
use crate::tools::effect::Effect;
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_engine::Report;
use lockgate_error::{Code, Error};
use lockgate_protocol::{EditResponse, Name, Response};

/// Options that control the content and size of an answer.
#[derive(Debug, Clone)]
pub struct ResponseOptions {
    /// Maximum size of the answer in bytes; must lie within [`ResponseOptions::LIMITS`].
    pub limit: usize,
    /// Controls whether the diff is shown.
    pub diff: DiffDisplay,
    /// The forms in which the answer is sent.
    pub forms: Forms,
    /// The effect of the called tool.
    pub effect: Effect,
    /// The target as the caller named it, for errors that do not name it.
    pub path: Option<String>,
    /// Key of the target as the caller named it, if the target is in a database.
    pub entity: Option<Entity>,
    /// Number of lines that the request quotes or supplies. Set for tools that report these as changed, even if some
    /// stay the same.
    pub quoted_line_count: Option<usize>,
    /// The names and messages of the called tool.
    pub profile: ToolProfile,
    /// The calls that a rejection may propose.
    pub offers: CallOffers,
    /// The parts that earlier answers have shown.
    pub shown_parts: ShownParts,
}

impl ResponseOptions {
    /// Returns the path as the caller named it.
    pub fn target(&self) -> &str {
        self.path.as_deref().unwrap_or_default()
    }

    /// Returns the type of the target, such as `file`.
    pub fn noun(&self) -> &str {
        self.entity.as_ref().map_or(EntityKind::FILE, |entity| entity.kind.name())
    }

    /// Sets the options that the tool of the call sets.
    #[must_use]
    pub(crate) fn with_tool(self, tool: ToolOptions) -> ResponseOptions {
        let ToolOptions { limit, diff, quoted_line_count, profile } = tool;
        ResponseOptions { limit, diff, quoted_line_count, profile, ..self }
    }

    /// The valid range of `limit`, in bytes.
    pub const LIMITS: RangeInclusive<usize> = 1024..=1_048_576;
}

impl Default for ResponseOptions {
    fn default() -> ResponseOptions {
        let ToolOptions { limit, diff, quoted_line_count, profile } = ToolOptions::new(ToolProfile::PLAIN);
        ResponseOptions {
            limit,
            diff,
            forms: Forms::Both,
            effect: Effect::Changes,
            path: None,
            entity: None,
            quoted_line_count,
            profile,
            offers: CallOffers::default(),
            shown_parts: ShownParts::default(),
        }
    }
}

/// The options of an answer that a tool sets, from its own names and the arguments of the call.
#[derive(Debug, Clone, Copy)]
pub struct ToolOptions {
    /// See [`ResponseOptions::limit`].
    pub limit: usize,
    /// See [`ResponseOptions::diff`].
    pub diff: DiffDisplay,
    /// See [`ResponseOptions::quoted_line_count`].
    pub quoted_line_count: Option<usize>,
    /// See [`ResponseOptions::profile`].
    pub profile: ToolProfile,
}

impl ToolOptions {
    /// Creates the default options of a tool with this profile.
    pub const fn new(profile: ToolProfile) -> ToolOptions {
        ToolOptions { limit: 8192, diff: DiffDisplay::Shown, quoted_line_count: None, profile }
    }
}

/// Controls whether the diff is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffDisplay {
    /// Shows the diff as far as it fits.
    Shown,
    /// Omits the diff from the answer.
    Omitted,
}

/// The names and messages of one tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolProfile {
    /// The tool's names for the fields of a request.
    pub names: FieldNames,
    /// Returns the message of a written edit, or `None` for the default message.
    pub success_message: fn(&Report) -> Option<String>,
    /// Returns the message of a rejection, or `None` for the error's own message. An error about `within` always has its own.
    pub rejection_message: fn(&Error, &ResponseOptions) -> Option<String>,
    /// The format of the response.
    pub format: ResponseFormat,
    /// Additional fields of this tool's answers.
    pub extra_fields: &'static [ExtraField],
}

/// The format of the response to an edit.
#[derive(Debug, Clone, Copy)]
pub enum ResponseFormat {
    /// The fields of [`Response::Edit`].
    Edit,
    /// [`Response::AiEdit`]. The function maps each code to one of the tool's few codes; the original goes into
    /// `detail`.
    AiEdit(fn(Code) -> Code),
}

/// A field that only some tools return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtraField {
    /// `error` in a rejection: the message without the common prefix.
    Error,
    /// `created` in every success, even if it is false.
    Created,
    /// `entity_type`, even if it is `file`.
    EntityType,
}

/// A tool's names for the fields of a request.
#[derive(Debug, Clone, Copy)]
pub struct FieldNames {
    /// Field for the path of the file.
    pub path: &'static str,
    /// Field for the whole new text.
    pub content: &'static str,
    /// Field for the text to search.
    pub search: &'static str,
    /// Field for the text that replaces it.
    pub replace: &'static str,
    /// Field for the first line of the search range.
    pub start: &'static str,
    /// Field for the last line of the search range.
    pub end: &'static str,
}

impl FieldNames {
    /// The field names of the request itself.
    pub const PLAIN: FieldNames = FieldNames {
        path: "path",
        content: "content",
        search: "search",
        replace: "replace",
        start: "lines.start",
        end: "lines.end",
    };

    const fn all(&self) -> [&'static str; 6] {
        [self.path, self.content, self.search, self.replace, self.start, self.end]
    }
}

impl ToolProfile {
    /// The default names and messages, with the field names of the request.
    pub const PLAIN: ToolProfile = ToolProfile {
        names: FieldNames::PLAIN,
        success_message: |_| None,
        rejection_message: |_, _| None,
        format: ResponseFormat::Edit,
        extra_fields: &[],
    };

    /// True if the tool's answers have this field.
    pub(super) fn has_extra_field(&self, field: ExtraField) -> bool {
        self.extra_fields.contains(&field)
    }

    /// Replaces the field at fault with the tool's name for it.
    pub(crate) fn rename_error_field(&self, mut error: Error) -> Error {
        let names = FieldNames::PLAIN.all().into_iter().zip(self.names.all());
        let mut renamed = names.filter(|(plain, own)| plain != own);
        if let Some((_, own)) = renamed.find(|(plain, _)| error.field.as_deref() == Some(*plain)) {
            error.rename_field(own);
        }
        error
    }

    /// Converts the response of an edit into the tool's format.
    pub(super) fn formatted(&self, response: EditResponse) -> Response {
        match self.format {
            ResponseFormat::Edit => Response::Edit(Box::new(response)),
            ResponseFormat::AiEdit(_) => Response::AiEdit(Box::new(response.into())),
        }
    }

    /// Returns the code of a rejection, and the original code if the tool has only a few codes.
    pub(super) fn code_pair(&self, code: Code) -> (Option<Name>, Option<Name>) {
        match self.format {
            ResponseFormat::Edit => (Some(code.name().into()), None),
            ResponseFormat::AiEdit(few) => (Some(few(code).name().into()), Some(code.name().into())),
        }
    }
}
