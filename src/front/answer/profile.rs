//! In which words a tool speaks: what it calls the fields of a request, what it says of an edit, and the form of its answers.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::ResponseOptions;
use crate::engine::Report;
use crate::error::{Code, Error};

/// The words of one tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolProfile {
    /// What it calls the fields of a request.
    pub names: FieldNames,
    /// What it says of an edit that was written; nothing where the plain words do.
    pub written: fn(&Report) -> Option<String>,
    /// What it says of a refusal, of the target as the caller named it; nothing where the error's own message does.
    pub refused: fn(&Error, &ResponseOptions) -> Option<String>,
    /// How its answers differ from the plain form, where they do.
    pub dialect: Option<&'static ResponseFormat>,
    /// What its answers say beside what those of every edit do.
    pub beside: &'static [ExtraField],
}

/// The form of a tool's answers that its callers know from elsewhere.
#[derive(Debug)]
pub struct ResponseFormat {
    /// The fields of a request that stand in messages and notes, each with the tool's name of it.
    pub fields: &'static [(&'static str, &'static str)],
    /// Which of the tool's few codes a refusal has; the precise one is told beside it.
    pub code: fn(Code) -> Code,
    /// Puts what an answer has for programs into the tool's form.
    pub dress: fn(JsonObject) -> JsonObject,
}

/// A field that some tools' answers have, and most do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtraField {
    /// `error` in a refusal: what was seen, without the words that all messages of refusals have.
    Error,
    /// `created` of every success, also where it is false.
    Created,
    /// `entity_type`, also where it is `file`.
    EntityType,
}

/// What a tool calls the fields of a request.
#[derive(Debug, Clone, Copy)]
pub struct FieldNames {
    /// The file.
    pub path: &'static str,
    /// The whole new text.
    pub content: &'static str,
    /// The text to look for.
    pub search: &'static str,
    /// What is to stand in its place.
    pub replace: &'static str,
    /// The first line in which to look.
    pub start: &'static str,
    /// The last line in which to look.
    pub end: &'static str,
}

impl FieldNames {
    /// The names that the request itself has for them.
    pub const PLAIN: FieldNames = FieldNames {
        path: "path",
        content: "content",
        search: "search",
        replace: "replace",
        start: "lines.start",
        end: "lines.end",
    };

    /// The tool's name of a field, by the request's.
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
    /// The plain words, which name the fields as the request does.
    pub const PLAIN: ToolProfile = ToolProfile {
        names: FieldNames::PLAIN,
        written: |_| None,
        refused: |_, _| None,
        dialect: None,
        beside: &[],
    };

    /// Whether its answers have this field.
    pub fn says(&self, field: ExtraField) -> bool {
        self.beside.contains(&field)
    }

    /// A refusal of a request, with the field at fault under the name that the caller knows.
    pub fn renamed(&self, mut refusal: Error) -> Error {
        refusal.field = refusal.field.map(|field| self.reworded(self.names.name(&field)).into());
        if self.dialect.is_some() {
            refusal.message = self.reworded(&refusal.message);
        }
        refusal
    }

    /// A sentence, with the fields of the request under the names that the caller knows.
    pub(super) fn reworded(&self, sentence: &str) -> String {
        let fields = self.dialect.map_or(&[][..], |dialect| dialect.fields);
        fields.iter().fold(sentence.to_owned(), |sentence, (plain, own)| sentence.replace(plain, own))
    }

    /// What an answer has for programs, in the tool's form.
    pub(super) fn dressed(&self, fields: JsonObject) -> Value {
        Value::Object(match self.dialect {
            Some(dialect) => (dialect.dress)(fields),
            None => fields,
        })
    }

    /// The code of a refusal, and the precise one where a caller knows but few.
    pub(super) fn coded(&self, code: Code) -> (Code, Option<Code>) {
        self.dialect.map_or((code, None), |dialect| ((dialect.code)(code), Some(code)))
    }
}
