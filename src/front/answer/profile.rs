//! The names and messages of each tool: field names, success and rejection messages, and the response format.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::ResponseOptions;
use crate::engine::Report;
use crate::error::{Code, Error};

/// The names and messages of one tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolProfile {
    /// The tool's names for the fields of a request.
    pub names: FieldNames,
    /// Returns the message of a written edit, or `None` for the default message.
    pub success_message: fn(&Report) -> Option<String>,
    /// Returns the message of a rejection, or `None` for the error's own message.
    pub rejection_message: fn(&Error, &ResponseOptions) -> Option<String>,
    /// The response format, if it differs from the default.
    pub format: Option<&'static ResponseFormat>,
    /// Additional fields of this tool's answers.
    pub extra_fields: &'static [ExtraField],
}

/// A response format that is compatible with another tool's.
#[derive(Debug)]
pub struct ResponseFormat {
    /// Pairs of a field in messages and notes and the tool's name for it.
    pub fields: &'static [(&'static str, &'static str)],
    /// Maps a code to one of the tool's few codes; the original goes into `detail`.
    pub code: fn(Code) -> Code,
    /// Converts the JSON form into the tool's format.
    pub convert: fn(JsonObject) -> JsonObject,
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

    /// Returns the tool's name for a field of the request.
    fn name<'a>(&self, field: &'a str) -> &'a str {
        let plain = FieldNames::PLAIN;
        let pairs = [
            (plain.path, self.path),
            (plain.content, self.content),
            (plain.search, self.search),
            (plain.replace, self.replace),
            (plain.start, self.start),
            (plain.end, self.end),
        ];
        pairs.into_iter().find(|(name, _)| *name == field).map_or(field, |(_, own)| own)
    }
}

impl ToolProfile {
    /// The default names and messages, with the field names of the request.
    pub const PLAIN: ToolProfile = ToolProfile {
        names: FieldNames::PLAIN,
        success_message: |_| None,
        rejection_message: |_, _| None,
        format: None,
        extra_fields: &[],
    };

    /// True if the tool's answers have this field.
    pub fn has_extra_field(&self, field: ExtraField) -> bool {
        self.extra_fields.contains(&field)
    }

    /// Renames the field at fault, and the fields in the message, to the tool's names.
    pub fn rename_error_fields(&self, mut error: Error) -> Error {
        error.field = error.field.map(|field| self.rename_fields(self.names.name(&field)).into());
        if self.format.is_some() {
            error.message = self.rename_fields(&error.message);
        }
        error
    }

    /// Replaces the field names in a sentence with the tool's names.
    pub(super) fn rename_fields(&self, text: &str) -> String {
        let fields = self.format.map_or(&[][..], |format| format.fields);
        fields.iter().fold(text.to_owned(), |text, (plain, own)| text.replace(plain, own))
    }

    /// Converts the JSON form into the tool's format.
    pub(super) fn converted(&self, fields: JsonObject) -> Value {
        Value::Object(match self.format {
            Some(format) => (format.convert)(fields),
            None => fields,
        })
    }

    /// Returns the code of a rejection, and the original code if the tool has only a few codes.
    pub(super) fn code_pair(&self, code: Code) -> (Code, Option<Code>) {
        self.format.map_or((code, None), |format| ((format.code)(code), Some(code)))
    }
}
