//! The MCP tools: one file and one row of [`TOOLS`] each.
//!
//! Invariant: a tool consists of a wire struct, whose doc comments are the agent's documentation, its conversion to a
//! request, and its messages. A tool that reads also renders its answer. No tool makes a decision about the edit.

/// Declares the tool of a wire struct, which the function `into_request` of its module converts into a [`ToolRequest`]: its
/// name, title, toolset, effects and profile. The optional function changes the arguments before they are parsed.
///
/// It imports the derive macros of the struct, and the types of the definition.
macro_rules! tool {
    (
        $input:ident => $name:literal, $title:literal,
        $toolsets:expr, $effect:expr, $repeat_effect:expr, $profile:expr $(, $prepare:ident)?
    ) => {
        use schemars::JsonSchema;
        use serde::Deserialize;

        use crate::toolset::Toolset;
        use crate::tools::effect::{Effect, RepeatEffect};

        static SCHEMA: std::sync::LazyLock<rmcp::model::JsonObject> =
            std::sync::LazyLock::new(crate::schema::input_schema::<$input>);

        #[doc = concat!("The definition of `", $name, "` in the list of tools.")]
        pub const TOOL: crate::tools::definition::Tool = crate::tools::definition::Tool {
            name: $name,
            title: $title,
            toolsets: $toolsets,
            effect: $effect,
            repeat_effect: $repeat_effect,
            profile: $profile,
            schema: || &SCHEMA,
            parse,
            check: |arguments| parse(arguments).map(drop),
        };

        fn parse(arguments: rmcp::model::JsonObject) -> Result<ToolRequest, Error> {
            into_request(parse_input(arguments)?)
        }

        fn parse_input(arguments: rmcp::model::JsonObject) -> Result<$input, Error> {
            $(let arguments = $prepare(arguments);)?
            crate::arguments::read(&SCHEMA, arguments)
        }
    };
}

/// Declares the tool of a wire struct that converts into a request to the engine, with the function that returns the text
/// form of the engine's response.
macro_rules! read_tool {
    ($input:ident => $request:ident => $text:path, $($definition:tt)*) => {
        tool! { $input => $($definition)* }

        fn into_request(input: $input) -> Result<ToolRequest, Error> {
            let render = |response: &_, _: &_| crate::answer::Answer::from_response(response, $text(response));
            $request::try_from(input).map(|request| ToolRequest::read(request, render))
        }
    };
}

pub mod ai_edit_code;
pub mod ai_get_code_context;
pub mod create_file;
mod definition;
pub mod delete_content;
pub mod edit_code;
pub mod edit_file;
pub mod edit_files;
pub(crate) mod effect;
pub(crate) mod entity;
mod fields;
pub mod get_content;
pub mod list_content;
pub mod list_edits;
pub mod patch_content;
pub mod read_content_lines;
mod read_text;
pub mod redo_edit;
pub mod replace_content;
mod request;
pub mod safe_edit_file;
pub mod search_content;
pub mod undo_edit;

pub use definition::Tool;
pub use effect::{Effect, RepeatEffect};
pub use request::{BatchCall, CallReply, EditCall, ReadCall, ReadFuture, ToolRequest, UnwrittenEdit};

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

/// The instructions for the main tools by their names, in the order of an agent's work.
pub(crate) const INSTRUCTIONS: &[(&str, &str)] = &[
    ("search_content", "Find places with search_content."),
    ("ai_get_code_context", "ai_get_code_context outlines files and finds definitions and uses."),
    ("read_content_lines", "read_content_lines: numbered lines, and their `version`."),
    ("edit_file", "Edit with edit_file: old_string and new_string, or several as edits."),
    ("safe_edit_file", "safe_edit_file creates files, edits by line number, replaces every match."),
    ("edit_files", "edit_files edits several files, all or none."),
    ("undo_edit", "undo_edit takes an edit back."),
];

/// Returns the listed name of a tool that may be called by an older name.
pub(crate) fn listed_name(name: &str) -> &str {
    if name == ai_edit_code::OLD_NAME { ai_edit_code::TOOL.name } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Forms, ResponseOptions};
    use lockgate_edit::request::Mode;
    use lockgate_engine::ReadLines;
    use lockgate_text::{Buffer, Hints};
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

    /// A toolset can be offered alone. The deprecated tool names the one that replaces it.
    #[test]
    fn a_description_names_only_tools_of_its_toolsets() {
        for tool in TOOLS.iter().filter(|tool| tool.name != create_file::TOOL.name) {
            let schema = serde_json::to_string((tool.schema)()).unwrap();
            let words: Vec<&str> = schema.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            for named in TOOLS.iter().filter(|named| words.contains(&named.name)) {
                let is_offered = tool.toolsets.iter().all(|toolset| named.toolsets.contains(toolset));
                assert!(is_offered, "{} names {}", tool.name, named.name);
            }
        }
    }

    #[test]
    fn a_text_that_is_sent_alone_fits_with_its_first_lines() {
        let reading = |lines: usize| ReadLines {
            path: "a.txt".into(),
            entity: None,
            resolved_path: None,
            start_line: 1,
            end_line: lines,
            text: Buffer::read("0123456789\n".repeat(lines).into_bytes(), Hints::default()).unwrap().into(),
        };
        for (lines, max_chars) in [(20_000, 40_000), (3_635, 40_000), (3_630, 40_000), (200, 2_000)] {
            for render in [get_content::render, read_content_lines::render] {
                let length = |forms| {
                    let options = ResponseOptions { forms, ..ResponseOptions::default() };
                    render(&reading(lines), max_chars, &options).text.chars().count()
                };
                assert!((max_chars - 140..=max_chars).contains(&length(Forms::Text)), "{lines}");
                assert!(length(Forms::Both) >= length(Forms::Text), "{lines}");
            }
        }
        let short = ResponseOptions { forms: Forms::Text, ..ResponseOptions::default() };
        let answer = get_content::render(&reading(9), 22, &short);
        assert_eq!(answer.json["content"], "0123456789\n0123456789\n");
    }
}
