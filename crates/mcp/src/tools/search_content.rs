//! `search_content`: finds the lines that match a pattern.

use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::AnyEntityArgs;
use super::request::ToolRequest;
use super::safe_edit_file::SearchFlags;
use crate::answer::ToolProfile;
use lockgate_edit::request::{ReadRequest, SearchFields};
use lockgate_error::Error;

tool! {
    SearchContent => "search_content", "Search files",
    &[Toolset::Look], Effect::Reads, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// Finds the lines that a regex matches, with the lines around them and each file's `version`. Files that git ignores
/// are left out.
#[derive(Deserialize, JsonSchema)]
struct SearchContent {
    /// Regex without look-around; `^` and `$` match at line ends.
    pattern: String,
    /// `pattern` is a text, not a regex.
    literal: Option<bool>,
    /// As in safe_edit_file.
    search_flags: Option<SearchFlags>,
    /// File, folder or glob (`src/**/*.py`).
    path: Option<String>,
    /// Lines around each match, 3 unless given.
    context_lines: Option<i64>,
    /// Maximum number, 20 unless given.
    max_results: Option<i64>,
    /// Skip this many matches.
    offset: Option<i64>,
    /// Also hidden files.
    hidden: Option<bool>,
    /// A match may span lines.
    multiline: Option<bool>,
    #[serde(flatten)]
    entity: AnyEntityArgs,
}

impl TryFrom<SearchContent> for ToolRequest {
    type Error = Error;

    fn try_from(input: SearchContent) -> Result<ToolRequest, Error> {
        let fields = SearchFields {
            pattern: input.pattern,
            path: input.path,
            scope: input.entity.fields(),
            context_lines: input.context_lines,
            max_results: input.max_results,
            hidden: input.hidden.unwrap_or(false),
            multiline: input.multiline.unwrap_or(false),
            literal: input.literal.unwrap_or(false),
            flags: input.search_flags.map(|SearchFlags(flags)| flags),
            offset: input.offset,
        };
        fields.into_request().map(ReadRequest::Search).map(ToolRequest::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_error::Code;
    use serde_json::json;

    fn parse_args(arguments: serde_json::Value) -> Result<lockgate_edit::request::SearchRequest, Error> {
        match parse(arguments.as_object().cloned().unwrap())? {
            ToolRequest::Read(ReadRequest::Search(request)) => Ok(request),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_absent_has_its_default() {
        let request = parse_args(json!({"pattern": "a"})).unwrap();
        assert_eq!(
            (request.context, request.max_matches, request.hidden, request.multiline),
            (3, 20, false, false)
        );
        let request =
            parse_args(json!({"pattern": "a", "context_lines": 0, "max_results": 1000, "hidden": true}))
                .unwrap();
        assert_eq!(
            (request.context, request.max_matches, request.hidden, request.path),
            (0, 1000, true, None)
        );
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_by_name() {
        for (field, value) in [
            ("pattern", json!("")),
            ("context_lines", json!(-1)),
            ("context_lines", json!(51)),
            ("max_results", json!(0)),
            ("max_results", json!(1001)),
            ("organization_id", json!("x")),
        ] {
            let mut arguments = json!({"pattern": "a"});
            arguments[field] = value;
            let error = parse_args(arguments).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some(field)));
        }
    }
}
