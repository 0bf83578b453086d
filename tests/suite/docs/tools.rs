//! The page of the tools: what each says of itself, and one real call with its real answer.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use lockgate_mcp::selection::Selection;
use lockgate_mcp::tools::{Effect, RepeatEffect, TOOLS, Tool};
use lockgate_mcp::toolset::Toolset;
use serde_json::{Map, Value, json};

use super::page;
use crate::suite::wire::Server;

/// The project that the calls are about.
const PROJECT: [(&str, &str); 3] = [
    ("quality.yaml", "quality_gates:\n  python: [{ tool: syntax }]\n"),
    (
        "stock.py",
        "\"\"\"What is in stock.\"\"\"\n\n\ndef take(stock, item, count):\n    \"\"\"Takes items out of the stock.\"\"\"\n    \
         if count > stock[item]:\n        raise ValueError(item)\n    stock[item] -= count\n",
    ),
    (
        "orders.py",
        "from stock import take\n\n\ndef order(stock, item):\n    \"\"\"Orders one item.\"\"\"\n    take(stock, item, 1)\n",
    ),
];

/// A call: the tool, and its arguments.
type Call = (&'static str, &'static str);

/// One call for each tool: what is called before it, and its arguments.
const CALLS: &[(&str, &[Call], &str)] = &[
    (
        "safe_edit_file",
        &[],
        r#"{"path": "stock.py", "line_edits": [{"start_line": 7, "end_line": 7,
            "new_content": "        raise ValueError(f\"not enough of {item}\")\n", "expect": "        raise ValueError(item)"}]}"#,
    ),
    (
        "edit_files",
        &[],
        r#"{"edits": [{"path": "stock.py", "search": "def take(", "replace": "def remove("},
            {"path": "orders.py", "search": "take", "replace": "remove"}]}"#,
    ),
    ("undo_edit", &[("safe_edit_file", RENAMED)], "{}"),
    ("search_content", &[], r#"{"pattern": "\\btake\\(", "context_lines": 1}"#),
    ("read_content_lines", &[], r#"{"path": "stock.py", "start_line": 6, "end_line": 8}"#),
    ("get_content", &[], r#"{"path": "orders.py"}"#),
    ("ai_get_code_context", &[], r#"{"symbol": "take", "max_tokens": 500}"#),
    (
        "edit_file",
        &[],
        r#"{"file_path": "orders.py", "old_string": "    take(stock, item, 1)", "new_string": "    return take(stock, item, 1)"}"#,
    ),
    (
        "edit_code",
        &[],
        r#"{"file_path": "stock.py", "search_context": "    if count > stock[item]:\n        raise ValeuError(item)\n    stock[item] -= count",
            "new_content": "    if count > stock[item]:\n        raise ValeuError(item)\n    stock[item] -= max(count, 0)"}"#,
    ),
    (
        "ai_edit_code",
        &[],
        r#"{"target_file": "orders.py", "edit_instruction": "Order as many as are asked for.", "start_line": 4, "end_line": 6,
            "code_block": "def order(stock, item, count=1):\n    \"\"\"Orders items.\"\"\"\n    take(stock, item, count)\n"}"#,
    ),
    (
        "patch_content",
        &[("replace_content", STORED)],
        r#"{"entity_type": "workflow", "path": "flows/restock.py", "old_string": "count=10", "new_string": "count=20"}"#,
    ),
    ("replace_content", &[], STORED),
    ("delete_content", &[], r#"{"path": "orders.py"}"#),
    (
        "list_content",
        &[("replace_content", STORED)],
        r#"{"entity_type": "workflow", "path_prefix": "flows"}"#,
    ),
    ("list_edits", &[("safe_edit_file", RENAMED)], "{}"),
    ("redo_edit", &[("safe_edit_file", RENAMED), ("undo_edit", "{}")], "{}"),
    ("create_file", &[], r##"{"path": "notes/todo.md", "content": "# To do\n"}"##),
];

const STORED: &str = r#"{"entity_type": "workflow", "path": "flows/restock.py",
    "content": "@workflow\nasync def restock(item, count=10):\n    await order(item, count)\n"}"#;

const RENAMED: &str = r#"{"path": "stock.py", "search": "count", "replace": "number"}"#;

/// What an answer says differently each time, or on each machine, and what the page says instead.
const MARKS: [(&str, &str); 3] = [("ms", "0"), ("level", "\"exchange\""), ("at", "\"2026-01-01T12:00:00Z\"")];

#[test]
fn the_page_of_tools_is_what_they_say_and_do() {
    let (path, expected) = (page("tools.md"), tools());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let page_text = fs::read_to_string(&path).unwrap_or_default();
    assert!(page_text == expected, "docs/tools.md is out of step; rewrite it with cargo xtask docs");
}

fn tools() -> String {
    let mut text = String::from(
        "# Tools\n\n\
         Generated from the tools' own schemas, and from calls of a real server; `cargo xtask docs` rewrites it.\n\n\
         A server offers the toolsets of `lockgate serve --tools`, else those of `server.tools` in the policy, else\n",
    );
    let default = Selection::default().to_string();
    write!(text, "`{default}`, and `content` with a store or an organization.\n`all` is every tool. `--read-only` leaves out the tools that write.\n\n")
        .unwrap();
    text.push_str("| toolset | tools |\n|---|---|\n");
    for toolset in Toolset::ALL {
        let names: Vec<String> = TOOLS
            .iter()
            .filter(|tool| tool.toolsets.contains(&toolset))
            .map(|tool| format!("[`{0}`](#{0})", tool.name))
            .collect();
        writeln!(text, "| `{}` | {} |", toolset.name(), names.join(", ")).unwrap();
    }
    text.push_str(
        "\nSee [errors.md](errors.md) for rejections, [locating.md](locating.md) for matching, and [modes.md](modes.md) for the edit modes.\n\
         Every tool that has `entity_type`, `app_id` and `organization_id` accepts them.\n\
         They are listed only with the toolset `content`, and only if a database (`--store`) or an organisation (`--organization`) is configured.\n\
         In the examples, values that differ between calls and machines (times, edit ids, the guard level) are fixed.\n\
         A `diff` is shown below its answer, where `...` stands for it.\n\
         Each call starts from a new copy of this small project.\n",
    );
    for (name, content) in PROJECT {
        write!(text, "\n`{name}`:\n\n```{}\n{content}```\n", name.rsplit('.').next().unwrap()).unwrap();
    }
    TOOLS.iter().for_each(|tool| text.push_str(&section(tool)));
    text
}

fn section(tool: &Tool) -> String {
    let schema = Value::Object((tool.schema)().clone());
    let mut text = format!("\n## {}\n\n", tool.name);
    let hints = [
        ("readOnlyHint", tool.effect == Effect::Reads),
        ("destructiveHint", tool.effect == Effect::Changes),
        ("idempotentHint", tool.repeat_effect == RepeatEffect::NoChange),
    ];
    let hints: Vec<String> = hints.into_iter().map(|(name, holds)| format!("`{name}: {holds}`")).collect();
    writeln!(text, "{}. Toolset `{}`; {}.\n", tool.title, tool.toolsets[0].name(), hints.join(", ")).unwrap();
    let sentences = schema["description"].as_str().unwrap().replace(". ", ".\n");
    writeln!(text, "{sentences}\n").unwrap();
    text.push_str("| parameter | type | |\n|---|---|---|\n");
    for (name, field) in schema["properties"].as_object().unwrap() {
        let about = field["description"].as_str().unwrap_or_default().replace('|', "\\|").replace('<', "\\<");
        let needed = if is_required(&schema, name) { "**required**. " } else { "" };
        writeln!(text, "| `{name}` | {} | {needed}{about} |", kind(field).replace('|', "\\|")).unwrap();
    }
    let (arguments, answer) = called(tool.name);
    write!(text, "\nA call:\n\n```json\n{}\n```\n", shown(&arguments)).unwrap();
    let mut diffs = Vec::new();
    let answer = without_diffs(&answer, "", &mut diffs);
    write!(text, "\nIts answer:\n\n```json\n{}\n```\n", shown(&answer)).unwrap();
    for (path, diff) in diffs {
        write!(text, "\nIts `{path}`:\n\n```diff\n{diff}```\n").unwrap();
    }
    text
}

/// Replaces each `diff` by `...`, and appends it to `diffs` with its path in the value.
fn without_diffs(value: &Value, path: &str, diffs: &mut Vec<(String, String)>) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let value = match value {
                    Value::String(diff) if name == "diff" => {
                        diffs.push((path, diff.clone()));
                        json!("...")
                    }
                    _ => without_diffs(value, &path, diffs),
                };
                (name.clone(), value)
            };
            Value::Object(fields.iter().map(field).collect::<Map<_, _>>())
        }
        Value::Array(items) => {
            let item =
                |(index, item): (usize, &Value)| without_diffs(item, &format!("{path}[{index}]"), diffs);
            Value::Array(items.iter().enumerate().map(item).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)))
}

/// The most fields of an object that are listed with their types.
const FEW: usize = 4;

/// What may stand there, in words.
fn kind(schema: &Value) -> String {
    if let Some(names) = schema["enum"].as_array() {
        return names
            .iter()
            .map(|name| format!("`{}`", name.as_str().unwrap()))
            .collect::<Vec<_>>()
            .join(", ");
    }
    match schema["type"].as_str().unwrap() {
        "array" => format!("list of {}", kind(&schema["items"])),
        "object" => {
            let fields = schema["properties"].as_object().unwrap();
            let short = fields.len() <= FEW;
            let field = |(name, field): (&String, &Value)| {
                let suffix = if is_required(schema, name) { "" } else { "?" };
                let kind = if short { format!(": {}", kind(field)) } else { String::new() };
                format!("`{name}{suffix}`{kind}")
            };
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_owned(),
    }
}

/// Makes the call of a tool on a project of its own.
fn called(tool: &str) -> (Value, Value) {
    let row = CALLS.iter().find(|(name, ..)| *name == tool);
    let (_, before, arguments) =
        row.unwrap_or_else(|| panic!("{tool} has no call in tests/suite/docs/tools.rs"));
    let root = tempfile::tempdir().unwrap();
    for (name, content) in PROJECT {
        fs::write(root.path().join(name), content).unwrap();
    }
    let mut server = Server::start(root.path(), &[]);
    let mut edits = BTreeMap::new();
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    for (tool, arguments) in *before {
        let answer = server.call(tool, &serde_json::from_str(arguments).unwrap());
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        steady(&answer.structured, &mut edits);
    }
    let answer = server.call(tool, &arguments).structured;
    (arguments, steady(&answer, &mut edits))
}

/// An answer without what differs each time; edits are numbered in the order in which they were named.
fn steady(value: &Value, edits: &mut BTreeMap<String, usize>) -> Value {
    match value {
        Value::Object(fields) => {
            let with_placeholder = |(name, value): (&String, &Value)| {
                let placeholder = MARKS.iter().find(|(field, _)| field == name);
                let value = match placeholder {
                    Some((_, placeholder)) if !value.is_object() && value != "transaction" => {
                        serde_json::from_str(placeholder).unwrap()
                    }
                    _ => steady(value, edits),
                };
                (name.clone(), value)
            };
            Value::Object(fields.iter().map(with_placeholder).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| steady(item, edits)).collect()),
        Value::String(text) => {
            let words = text.split_inclusive([' ', ':', ',']).map(|word| replace_edit_ids(word, edits));
            Value::String(words.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A word, or the number of the edit that it names.
fn replace_edit_ids(word: &str, edits: &mut BTreeMap<String, usize>) -> String {
    let bare = word.trim_end_matches([' ', ':', ',']);
    let is_edit = bare.split_once('-').is_some_and(|(start, number)| {
        start.len() == 4 && start.chars().all(|c| c.is_ascii_hexdigit()) && number.parse::<u64>().is_ok()
    });
    if !is_edit {
        return word.to_owned();
    }
    let next = edits.len() + 1;
    let number = *edits.entry(bare.to_owned()).or_insert(next);
    word.replacen(bare, &format!("7f3a-{number}"), 1)
}

/// JSON as people write it: what fits on a line stands on one.
fn shown(value: &Value) -> String {
    lines(value, 0)
}

fn lines(value: &Value, depth: usize) -> String {
    let flat = flat(value);
    let (inner, outer) = ("  ".repeat(depth + 1), "  ".repeat(depth));
    if depth > 0 && flat.len() + inner.len() <= 110 {
        return flat;
    }
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let field = |(name, value): (&String, &Value)| {
                format!("{inner}{}: {}", json!(name), lines(value, depth + 1))
            };
            format!("{{\n{}\n{outer}}}", fields.iter().map(field).collect::<Vec<_>>().join(",\n"))
        }
        Value::Array(items) if !items.is_empty() => {
            let item = |item: &Value| format!("{inner}{}", lines(item, depth + 1));
            format!("[\n{}\n{outer}]", items.iter().map(item).collect::<Vec<_>>().join(",\n"))
        }
        _ => flat,
    }
}

fn flat(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{}: {}", json!(name), flat(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flat).collect::<Vec<_>>().join(", ")),
        _ => value.to_string(),
    }
}
