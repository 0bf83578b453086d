//! `ai_get_code_context`: returns the outline of a file, the uses of a symbol, or symbols that match words.

use schemars::JsonSchema;
use serde::Deserialize;

use super::request::ToolRequest;
use crate::answer::{FieldNames, ToolProfile};
use lockgate_edit::request::{ContextFields, ReadRequest};
use lockgate_error::Error;

tool! {
    GetCodeContext => "ai_get_code_context", "Get the context of code",
    &[Toolset::Look], Effect::Reads, RepeatEffect::NoChange, PROFILE
}

const PROFILE: ToolProfile =
    ToolProfile { names: FieldNames { path: "target_file", ..FieldNames::PLAIN }, ..ToolProfile::PLAIN };

/// Outlines a file, or finds a symbol with its uses, or symbols by words; without arguments, summarises the
/// project.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetCodeContext {
    /// The file to outline; nearby results come first.
    target_file: Option<String>,
    /// Words in names and docs.
    query: Option<String>,
    /// `name` or `Class.method`.
    symbol: Option<String>,
    /// 100 to 50000; 4000 unless given.
    max_tokens: Option<i64>,
}

impl TryFrom<GetCodeContext> for ToolRequest {
    type Error = Error;

    fn try_from(input: GetCodeContext) -> Result<ToolRequest, Error> {
        let GetCodeContext { target_file, query, symbol, max_tokens } = input;
        let fields = ContextFields { target_file, query, symbol, max_tokens };
        fields.into_request().map(ReadRequest::Context).map(ToolRequest::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::request::{ContextRequest, Target};
    use lockgate_error::Code;

    #[test]
    fn it_asks_for_a_look() {
        let parsed =
            parse(rmcp::object!({"target_file": "a.py", "symbol": "A.f", "query": " ", "max_tokens": 500}));
        let ToolRequest::Read(ReadRequest::Context(request)) = parsed.unwrap() else { panic!() };
        let target = Some(Target::File("a.py".into()));
        assert_eq!(request, ContextRequest { target, query: None, symbol: Some("A.f".into()), tokens: 500 });
        for tokens in [99, 50_001] {
            let error = parse(rmcp::object!({"max_tokens": tokens})).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("max_tokens")));
        }
    }

    #[test]
    fn its_listing_is_short() {
        let listed = serde_json::to_string(&SCHEMA.clone()).unwrap();
        assert!(listed.len() <= 520, "{}: {listed}", listed.len());
    }
}
