//! Tests of the tool list and the instructions.

use super::*;
use crate::tools::Tool;
use crate::toolset::Toolset;

#[test]
fn the_default_tools_and_the_instructions_stay_small() {
    // The default tools leave room for a field.
    for (tools, most) in [("edit,text,look", 10 * 1024 - 200), ("edit", 6 * 1024), ("all", 24 * 1024)] {
        let listed = serde_json::to_string(&listed(
            &tools.parse().unwrap(),
            WriteAccess::Write,
            EntityStorage::Configured,
        ))
        .unwrap();
        assert!(
            listed.len() <= most,
            "the list of the tools {tools} has {} bytes, and may have {most}: shorten descriptions, or put a tool into \
             another toolset",
            listed.len()
        );
    }
    assert_eq!(Selection::default(), "edit,text,look".parse().unwrap());
    for tools in Toolset::ALL.map(Toolset::name).into_iter().chain(["edit,text,look", "all"]) {
        let instructions_text = instructions(&tools.parse().unwrap(), WriteAccess::Write);
        assert!(instructions_text.len() < 600, "{tools}: {} characters", instructions_text.len());
    }
}

/// A nested field without a description has that of the field around it.
#[test]
fn a_nested_description_is_listed_once() {
    let listed = listed(&Selection::default(), WriteAccess::Write, EntityStorage::Configured);
    let tools = listed["tools"].as_array().unwrap();
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    let entry = &tool("edit_files")["inputSchema"]["properties"]["edits"]["items"]["properties"];
    assert_eq!(entry["line_edits"]["description"], "Same.");
    assert_eq!(entry["line_edits"]["items"]["properties"]["start_line"], json!({"type": "integer"}));
    let own = &tool("safe_edit_file")["inputSchema"]["properties"]["line_edits"]["items"]["properties"];
    assert_eq!(own["start_line"]["description"], "The first line.");
}

/// Clients cut longer texts: Claude Code descriptions and instructions at 2 KiB each.
#[test]
fn no_client_cuts_a_description_or_the_instructions() {
    const MOST: usize = 2048;
    for tools in Toolset::ALL.map(Toolset::name).into_iter().chain(["edit,text,look", "all"]) {
        let selection: Selection = tools.parse().unwrap();
        assert!(instructions(&selection, WriteAccess::Write).len() < MOST, "{tools}");
        let listed = listed(&selection, WriteAccess::Write, EntityStorage::Configured);
        for tool in listed["tools"].as_array().unwrap() {
            let description = tool["description"].as_str().unwrap();
            assert!((1..MOST).contains(&description.len()), "{}: {}", tool["name"], description.len());
        }
    }
}

#[test]
fn the_two_main_tools_are_never_loaded_late() {
    let listed = listed(&"all".parse().unwrap(), WriteAccess::Write, EntityStorage::Configured);
    let marked = listed["tools"].as_array().unwrap().iter().filter(|tool| !tool["_meta"].is_null());
    let mut marked: Vec<_> =
        marked.map(|tool| (tool["name"].as_str().unwrap(), tool["_meta"].clone())).collect();
    marked.sort_by_key(|(name, _)| *name);
    let meta = json!({"anthropic/alwaysLoad": true});
    assert_eq!(marked, [("edit_file", meta.clone()), ("safe_edit_file", meta)]);
}

#[test]
fn what_names_an_entity_is_listed_beside_the_tools_of_content_alone() {
    let fields = |tools: &str, tool: &str| {
        let listed = listed(&tools.parse().unwrap(), WriteAccess::Write, EntityStorage::Configured);
        let tools = listed["tools"].as_array().unwrap();
        let found = tools.iter().find(|listed| listed["name"] == tool).unwrap();
        let fields = found["inputSchema"]["properties"].as_object().unwrap();
        fields.keys().filter(|name| ["entity_type", "app_id", "organization_id"].contains(&&***name)).count()
    };
    assert_eq!(fields("content", "patch_content"), 3);
    let scoped: Vec<&Tool> =
        TOOLS.iter().filter(|tool| (tool.schema)()["properties"]["entity_type"].is_object()).collect();
    for tool in scoped {
        assert_eq!(fields("all", tool.name), 3, "{}", tool.name);
        if !tool.toolsets.contains(&Toolset::Content) {
            let alone = tool.toolsets[0].name();
            assert_eq!(fields(alone, tool.name), 0, "{}", tool.name);
            assert_eq!(fields(&format!("{alone},content"), tool.name), 3, "{}", tool.name);
        }
    }
}

#[test]
fn what_names_an_entity_is_not_listed_without_a_database() {
    let all: Selection = "all".parse().unwrap();
    let listed = listed(&all, WriteAccess::Write, EntityStorage::Unconfigured).to_string();
    for name in ["entity_type", "app_id", "organization_id"] {
        assert!(!listed.contains(name), "{name}");
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

#[test]
fn the_instructions_name_only_offered_tools() {
    for tools in Toolset::ALL.map(Toolset::name).into_iter().chain(["edit,text,look", "text,code"]) {
        for access in [WriteAccess::Write, WriteAccess::ReadOnly] {
            let selection: Selection = tools.parse().unwrap();
            let instructions_text = instructions(&selection, access);
            for tool in TOOLS.iter().filter(|tool| words(&instructions_text).contains(&tool.name)) {
                assert!(
                    selection.tools(access).any(|offered| offered.name == tool.name),
                    "{tools}: {instructions_text}"
                );
            }
        }
    }
}

#[test]
fn the_hints_are_honest() {
    let hints = |name: &str| {
        let tool = TOOLS.iter().find(|tool| tool.name == name).unwrap();
        serde_json::to_value(crate::rpc::listing::listing(
            tool,
            &Selection::default(),
            EntityStorage::Configured,
        ))
        .unwrap()["annotations"]
            .clone()
    };
    assert_eq!(hints("safe_edit_file"), json!({"title": "Edit a file", "openWorldHint": false}));
    assert_eq!(
        hints("read_content_lines"),
        json!({"title": "Read lines of a file", "readOnlyHint": true, "openWorldHint": false})
    );
    // The protocol's defaults: not read-only, destructive, not idempotent.
    let flags = |name: &str| {
        let hints = hints(name);
        let flag = |hint: &str, default: bool| hints[hint].as_bool().unwrap_or(default);
        [flag("readOnlyHint", false), flag("destructiveHint", true), flag("idempotentHint", false)]
    };
    for name in ["edit_files", "undo_edit", "redo_edit", "patch_content"] {
        assert_eq!(flags(name), [false, true, false], "{name}");
    }
    assert!(flags("list_edits")[0], "it only reads");
    for name in ["replace_content", "delete_content"] {
        assert_eq!(flags(name), [false, true, true], "{name}");
    }
    assert_eq!(
        hints("create_file"),
        json!({"title": "Create a file (deprecated)", "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": false})
    );
}
