//! `create_file`: a deprecated tool for older clients.

use super::request::{EditCall, ToolRequest};
use crate::answer::ToolProfile;
use lockgate_edit::Edit;
use lockgate_edit::request::{Expect, Request, Target};
use lockgate_error::Error;

tool! {
    CreateFile => "create_file", "Create a file (deprecated)",
    &[Toolset::Legacy], Effect::Adds, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// Deprecated: use `safe_edit_file` with `content`. Creates a file and its folders; an existing file is never replaced.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateFile {
    /// Path of the new file: absolute, or relative to the first root.
    path: String,
    /// The file's text.
    content: String,
}

fn into_request(CreateFile { path, content }: CreateFile) -> Result<ToolRequest, Error> {
    let request = Request::new(Target::File(path), Edit::Content(content));
    Ok(EditCall::new(Request { expect: Expect::Absent, ..request }, ToolProfile::PLAIN).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_requires_an_absent_file() {
        let request = parse(rmcp::object!({"path": "a/b", "content": ""})).unwrap();
        let ToolRequest::Edit(request) = request else { panic!("{request:?}") };
        let request = request.request;
        assert_eq!(request.edit, Edit::Content(String::new()));
        assert_eq!(request.expect, Expect::Absent);
        assert_eq!(request.target.display_path(), "a/b");
    }

    #[test]
    fn both_fields_are_needed() {
        let missing = |arguments: serde_json::Value| {
            parse(arguments.as_object().cloned().unwrap_or_default()).unwrap_err().field
        };
        assert_eq!(missing(json!({"path": "a"})).as_deref(), Some("content"));
        assert_eq!(missing(json!({"content": "a"})).as_deref(), Some("path"));
        assert_eq!(missing(json!({"path": "a", "content": "a", "mode": "strict"})).as_deref(), Some("mode"));
    }
}
