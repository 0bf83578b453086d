//! The policy as a whole: its page, its schema, and what a server takes from it.

pub mod page;
mod schema;

use std::fs;
use std::path::Path;

use lockgate_mcp::selection::{Selection, WriteAccess};
use serde_json::json;

use super::wire::Server;

/// The tools that a server offers in a root with this policy.
fn offered(policy: Option<&str>, arguments: &[&str]) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    if let Some(policy) = policy {
        fs::write(root.path().join("quality.yaml"), policy).unwrap();
    }
    listed(root.path(), arguments)
}

fn listed(root: &Path, arguments: &[&str]) -> Vec<String> {
    let mut server = Server::start_bare(root, arguments);
    let id = server.post("tools/list", json!({}));
    let answer = server.wait(id).unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap();
    let mut names: Vec<String> = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// The tools of these toolsets.
fn tools(toolsets: &str) -> Vec<String> {
    let toolsets: Selection = toolsets.parse().unwrap();
    let mut names: Vec<String> =
        toolsets.tools(WriteAccess::Write).map(|tool| tool.name.to_owned()).collect();
    names.sort();
    names
}

/// The toolsets that are offered where nothing is said.
const DEFAULT: &str = "edit,text,look";

#[test]
fn the_policy_names_the_toolsets_unless_the_command_line_does() {
    let all: Vec<String> = offered(None, &["--tools", "all"]);
    assert!(all.len() > 8 && all.contains(&"list_edits".to_owned()), "{all:?}");
    assert_eq!(offered(None, &[]), tools(DEFAULT));
    assert_eq!(offered(Some("server: { tools: [look, legacy] }"), &[]), tools("look,legacy"));
    assert_eq!(offered(Some("server: { tools: [content] }"), &[]), tools("content"));
    assert_eq!(offered(Some("server: { tools: [history] }"), &[]), ["list_edits", "redo_edit"]);
    assert_eq!(offered(Some("server: { tools: [all] }"), &[]), all);
    assert_eq!(offered(Some("server: { tools: [legacy] }"), &["--tools", "edit"]), tools("edit"));
    assert_eq!(offered(Some("server: { tools: [legacy] }"), &[]), ["create_file"]);
    assert_eq!(
        offered(Some("server: { tools: [legasy] }"), &[]),
        tools(DEFAULT),
        "an invalid policy stops no server"
    );
}

#[test]
fn the_toolsets_are_those_of_the_top_of_the_first_root() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("sub")).unwrap();
    fs::write(root.path().join("sub/quality.yaml"), "server: { tools: [legacy] }").unwrap();
    assert_eq!(listed(root.path(), &[]), tools(DEFAULT));
    fs::write(root.path().join("quality.yaml"), "extends: parent\nserver: { tools: [legacy] }").unwrap();
    assert_eq!(listed(root.path(), &[]), ["create_file"]);
}
