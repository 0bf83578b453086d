//! Calls of every tool that reach for what is somebody else's: made by numbers, so that each can be made again.

use serde_json::{Map, Value, json};

use crate::suite::random::Random;

pub const ACTOR: &str = "acme";
pub const FOREIGN: &str = "umbra";
pub const ACTORS_APP: &str = "app-acme";
pub const FOREIGN_APP: &str = "app-umbra";
pub const FREE_APP: &str = "app-free";

const APPS: [&str; 5] = [ACTORS_APP, FOREIGN_APP, FOREIGN_APP, FREE_APP, "app-none"];
const ORGANIZATIONS: [Option<&str>; 6] =
    [None, None, Some(ACTOR), Some(FOREIGN), Some(FOREIGN), Some("nemo")];
const FILES: [&str; 6] =
    ["src/own.py", "src/both.py", "src/theirs.py", "lib/theirs.txt", "lib/own.txt", "src/none.py"];
const FLOWS: [&str; 5] =
    ["flows/own.py", "flows/both.py", "flows/theirs.py", "flows/everybody.py", "flows/none.py"];
const MODULES: [&str; 3] = ["mods/everybody.py", "mods/other.py", "flows/both.py"];
const PATTERNS: [&str; 14] = [
    "secret",
    "umbra",
    "acme",
    "def ",
    "f\\d+",
    ".",
    "(?i)UMBRA SECRET \\d",
    "everybody",
    "x = ",
    "^#",
    "app-umbra",
    "@workflow",
    "nothing at all",
    "secret of (acme|umbra)",
];
const PREFIXES: [&str; 8] = ["", "src", "src/", "src/th", "flows/", "lib/theirs.txt", "mods", "none/"];

/// What was learned on the way, which calls may speak of.
#[derive(Default)]
pub struct CallState {
    /// How many edits the actor made; each has a name of its own in each fixture.
    pub own_edits: usize,
    pub own_versions: Vec<String>,
    pub foreign_edits: Vec<String>,
    pub foreign_versions: Vec<String>,
    pub foreign_calls: Vec<(String, Value)>,
}

/// The placeholder for the name of an edit of the actor's, which differs between the fixtures.
pub fn own(edit: usize) -> String {
    format!("{{own:{edit}}}")
}

/// A text of one who keeps a secret.
pub fn text(kind: &str, of: &str, number: usize) -> String {
    let body = format!("x = {number}\n\n\ndef f{number}():\n    # secret of {of} {number}\n    return x\n");
    match kind {
        "workflow" => body.replace("def f", "@workflow\ndef f"),
        _ => body,
    }
}

/// The fields of a thing: its path under `name`, and what sort of thing it is.
fn target(dice: &mut Random, name: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    let path = match dice.below(20) {
        0..9 => {
            fields.insert("entity_type".to_owned(), json!("app_file"));
            fields.insert("app_id".to_owned(), json!(dice.pick(&APPS)));
            dice.pick(&FILES)
        }
        9..16 => {
            fields.insert("entity_type".to_owned(), json!("workflow"));
            if let Some(organization) = dice.pick(&ORGANIZATIONS) {
                fields.insert("organization_id".to_owned(), json!(organization));
            }
            dice.pick(&FLOWS)
        }
        16..18 => {
            fields.insert("entity_type".to_owned(), json!("module"));
            dice.pick(&MODULES)
        }
        18 => dice.pick(&FILES),
        // What does not go together.
        _ => {
            fields.insert(
                "entity_type".to_owned(),
                json!(dice.pick(&["module", "workflow", "app_file", "file", "wrong"])),
            );
            fields.insert("app_id".to_owned(), json!(dice.pick(&APPS)));
            fields.insert("organization_id".to_owned(), json!(FOREIGN));
            dice.pick(&["src/both.py", "", "../theirs.py", "/src/both.py", "src/./both.py", "src/%", "a\\b"])
        }
    };
    fields.insert(name.to_owned(), json!(path));
    fields
}

/// Tools that know of entities; to the others every path is that of a file.
const OF_ENTITIES: [&str; 10] = [
    "get_content",
    "read_content_lines",
    "search_content",
    "list_content",
    "patch_content",
    "replace_content",
    "delete_content",
    "undo_edit",
    "redo_edit",
    "list_edits",
];

/// Tools that can be told which version is meant.
const OF_VERSIONS: [&str; 6] =
    ["patch_content", "replace_content", "delete_content", "safe_edit_file", "edit_file", "edit_code"];

/// The arguments of the next call of a tool.
pub fn call(dice: &mut Random, state: &CallState, tool: &str, number: usize) -> Value {
    if dice.one_in(40) {
        // The very call by which somebody else made something.
        let mut same = state.foreign_calls.iter().filter(|(name, _)| name == tool);
        if let Some((_, arguments)) = same.nth(dice.below(20)) {
            return arguments.clone();
        }
    }
    let mut fields = match tool {
        "edit_file" | "edit_code" => target(dice, "file_path"),
        "ai_edit_code" | "ai_get_code_context" => target(dice, "target_file"),
        "list_content" => target(dice, "path_prefix"),
        "edit_files" => {
            let edits: Vec<Value> = (0..=dice.below(2)).map(|_| Value::Object(searched(dice))).collect();
            Map::from_iter([("edits".to_owned(), json!(edits))])
        }
        _ => target(dice, "path"),
    };
    if !OF_ENTITIES.contains(&tool) && !dice.one_in(4) {
        ["entity_type", "app_id", "organization_id"].iter().for_each(|field| drop(fields.remove(*field)));
    }
    let more = match tool {
        "undo_edit" | "redo_edit" => return history_call(dice, state, fields),
        // Not so many that what does not fit is left out: names of edits have not all one length.
        "list_edits" if dice.one_in(2) => return json!({"max_results": 1 + dice.below(8)}),
        "get_content" | "delete_content" | "edit_files" => json!({}),
        "read_content_lines" | "search_content" | "list_content" | "list_edits" | "ai_get_code_context" => {
            read_call(dice, tool, &mut fields)
        }
        _ => edit(dice, tool, number, &fields),
    };
    fields.extend(more.as_object().unwrap().clone());
    if OF_VERSIONS.contains(&tool) && dice.one_in(3) {
        fields.extend(version(dice, state));
    }
    Value::Object(fields)
}

/// What else a look says.
fn read_call(dice: &mut Random, tool: &str, fields: &mut Map<String, Value>) -> Value {
    match tool {
        "read_content_lines" => json!({"start_line": 1 + dice.below(9), "end_line": 1 + dice.below(9)}),
        "search_content" => {
            if !dice.one_in(4) {
                fields.remove("path");
            }
            json!({"pattern": dice.pick(&PATTERNS), "max_results": 1 + dice.below(20)})
        }
        "list_content" => json!({"path_prefix": dice.pick(&PREFIXES), "max_results": 1 + dice.below(9)}),
        "list_edits" => json!({"max_results": 1 + dice.below(8)}),
        "ai_get_code_context" => match dice.below(3) {
            0 => json!({"max_tokens": 300, "query": dice.pick(&["secret umbra", "f1", "workflow"])}),
            1 => json!({"max_tokens": 300, "symbol": dice.pick(&["f1", "f2", "x"])}),
            _ => json!({"max_tokens": 300}),
        },
        _ => unreachable!("{tool} has no arm"),
    }
}

/// What else an edit says.
fn edit(dice: &mut Random, tool: &str, number: usize, fields: &Map<String, Value>) -> Value {
    match tool {
        "patch_content" | "edit_file" => {
            let (from, to) = replaced(dice, number);
            json!({"old_string": from, "new_string": to})
        }
        "edit_code" => {
            json!({"search_context": "    return x", "new_content": format!("    return x + {number}")})
        }
        "ai_edit_code" => {
            json!({"edit_instruction": "return another", "code_block": format!("x = {number}\n"),
            "start_line": 1, "end_line": 1})
        }
        "create_file" | "replace_content" => {
            let kind = fields.get("entity_type").and_then(Value::as_str).unwrap_or("file");
            let kind = if dice.one_in(8) { "workflow" } else { kind };
            json!({"content": text(kind, ACTOR, number % 7)})
        }
        "safe_edit_file" => match dice.below(3) {
            0 => json!({"content": text("file", ACTOR, number % 7)}),
            1 => json!({"insert_lines": [{"at_line": 1, "content": format!("# {number}\n")}]}),
            _ => {
                json!({"line_edits": [{"start_line": 1, "end_line": 1, "new_content": format!("x = {number}\n")}]})
            }
        },
        other => panic!("there are no calls of {other}: add them to tests/suite/rows/isolation/calls.rs"),
    }
}

/// What is to be taken back or made again: the last of what is named or of all, or an edit of the actor's, of somebody
/// else's, or of nobody's.
fn history_call(dice: &mut Random, state: &CallState, fields: Map<String, Value>) -> Value {
    match dice.below(8) {
        0 => Value::Object(fields),
        1 => json!({}),
        2..5 if state.own_edits > 0 => {
            let back = dice.below(state.own_edits.min(30));
            json!({"edit_id": own(state.own_edits - 1 - back)})
        }
        2..7 => {
            let id = state.foreign_edits.get(dice.below(state.foreign_edits.len().max(1)));
            json!({"edit_id": id.map_or("0000-1", String::as_str)})
        }
        _ => json!({"edit_id": format!("{:04x}-{}", dice.below(0x1_0000), dice.below(usize::MAX >> 4))}),
    }
}

/// A version of the actor's texts, or of somebody else's.
fn version(dice: &mut Random, state: &CallState) -> Option<(String, Value)> {
    let versions = if dice.one_in(2) { &state.foreign_versions } else { &state.own_versions };
    if versions.is_empty() {
        return None;
    }
    let version = &versions[versions.len() - 1 - dice.below(versions.len().min(20))];
    let length = dice.pick(&[12, 64]);
    Some(("expected_version".to_owned(), json!(version[..length.min(version.len())])))
}

fn searched(dice: &mut Random) -> Map<String, Value> {
    let mut fields = target(dice, "path");
    fields.insert("search".to_owned(), json!("return x"));
    fields.insert("replace".to_owned(), json!("return x + 1"));
    fields
}

/// What a quote is replaced by: what stands there, what somebody else has, and what nobody has.
fn replaced(dice: &mut Random, number: usize) -> (String, String) {
    let from = match dice.below(6) {
        0 => format!("secret of {FOREIGN} {}", dice.below(7)),
        1 => format!("secret of {ACTOR} {}", dice.below(7)),
        2 => "return x".to_owned(),
        3 => "nothing like this anywhere".to_owned(),
        _ => "def f".to_owned(),
    };
    let to = if from == "def f" { format!("def f{}", number % 10) } else { format!("{from} # {number}") };
    (from, to)
}
