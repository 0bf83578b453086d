//! Adds a server to a client's TOML configuration without changing other bytes, and removes it.
//!
//! Invariant: pure. A table is appended as text, and the result is parsed to check that it says what was wanted.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, Item, TableLike};

use super::addition::NAME;
use super::merge::{ExistingObject, MergeError, MergeResult, position};

/// Adds the server to the table `key` of a text.
pub(super) fn merge(text: &str, key: &str, fields: &Map<String, Value>) -> Result<MergeResult, MergeError> {
    let document = parse(text)?;
    let Some(servers) = document.get(key) else { return append(text, key, fields) };
    let Some(server) = table(text, servers, key)?.get(NAME) else { return append(text, key, fields) };
    let server = table(text, server, NAME)?;
    let mut splices: Vec<(Range<usize>, String)> = Vec::new();
    for (name, value) in fields {
        let existing = server.get(name);
        if existing.and_then(json_value).as_ref() == Some(value) {
            continue;
        }
        let span = existing.and_then(Item::span).ok_or_else(|| MergeError {
            problem: format!("the server `{NAME}` has no `{name}`"),
            at: (1, 1),
        })?;
        splices.push((span, toml_value(value)));
    }
    splices.sort_by_key(|(span, _)| span.start);
    let Some((first, _)) = splices.first() else { return Ok(MergeResult::Unchanged) };
    let at = position(text, first.start);
    let mut new = text.to_owned();
    for (span, value) in splices.into_iter().rev() {
        new.replace_range(span, &value);
    }
    parse(&new)?;
    Ok(MergeResult::Replaced(new, at))
}

/// Returns the server of a text; `None` if the text has none.
pub(super) fn find(text: &str, key: &str) -> Result<Option<ExistingObject>, MergeError> {
    let document = parse(text)?;
    let servers = document.get(key).and_then(Item::as_table_like);
    let Some(server) = servers.and_then(|servers| servers.get(NAME)) else { return Ok(None) };
    let fields = table_value(table(text, server, NAME)?);
    let at = position(text, server.span().map_or(0, |span| span.start));
    Ok(Some(ExistingObject { fields, at }))
}

/// Removes the server with its subtables; `None` if the text has none.
pub(super) fn remove(text: &str, key: &str) -> Result<Option<String>, MergeError> {
    let document = parse(text)?;
    let Some(servers) = document.get(key).and_then(Item::as_table_like) else { return Ok(None) };
    if servers.get(NAME).is_none() {
        return Ok(None);
    }
    let mut wanted = table_value(document.as_table());
    if let Some(servers) = wanted.get_mut(key).and_then(Value::as_object_mut) {
        servers.shift_remove(NAME);
    }
    let mut values = Vec::new();
    collect_values(document.as_item(), &mut values);
    values.sort_by_key(|span| span.start);
    let without = cut_tables(text, &format!("{key}.{NAME}"), &values);
    let mut found = table_value(parse(&without)?.as_table());
    for value in [&mut wanted, &mut found] {
        if value.get(key).and_then(Value::as_object).is_some_and(Map::is_empty) {
            value.shift_remove(key);
        }
    }
    if wanted == found {
        return Ok(Some(without));
    }
    let problem = format!("the server `{NAME}` is not a table of its own");
    Err(MergeError { problem, at: (1, 1) })
}

fn append(text: &str, key: &str, fields: &Map<String, Value>) -> Result<MergeResult, MergeError> {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    let line_end = if first.ends_with("\r\n") { "\r\n" } else { "\n" };
    let open = if text.is_empty() || text.ends_with('\n') { "" } else { line_end };
    let gap = if text.is_empty() { "" } else { line_end };
    let lines: String =
        fields.iter().map(|(name, value)| format!("{name} = {}{line_end}", toml_value(value))).collect();
    let new = format!("{text}{open}{gap}[{key}.{NAME}]{line_end}{lines}");
    parse(&new)?;
    Ok(MergeResult::Added(new))
}

/// Cuts the headers and keys of the tables of that name, and of those below it, with the blank line that [`append`]
/// writes before a table. Comments and other blank lines stay. `values` has the ranges of all values, in order.
fn cut_tables(text: &str, name: &str, values: &[Range<usize>]) -> String {
    let mut kept = String::new();
    let (mut is_cut, mut start) = (false, 0);
    for line in text.split_inclusive('\n') {
        let before = values.partition_point(|value| value.start < start).checked_sub(1);
        let is_in_value = before.and_then(|at| values.get(at)).is_some_and(|value| start < value.end);
        start += line.len();
        let trimmed = line.trim();
        if let Some(header) = trimmed.strip_prefix('[').filter(|_| !is_in_value) {
            let header = header.split(']').next().unwrap_or_default().replace([' ', '\t', '"', '\''], "");
            is_cut = header == name || header.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
            if is_cut {
                let last = kept.split_inclusive('\n').next_back().unwrap_or_default();
                let blank = if matches!(last, "\n" | "\r\n") { last.len() } else { 0 };
                kept.truncate(kept.len() - blank);
            }
        }
        let has_content = is_in_value || !(trimmed.is_empty() || trimmed.starts_with('#'));
        if !is_cut || !has_content {
            kept += line;
        }
    }
    kept
}

/// Collects the ranges of all values below an item, in any order.
fn collect_values(item: &Item, values: &mut Vec<Range<usize>>) {
    if item.is_value() {
        values.extend(item.span());
    } else if let Some(table) = item.as_table_like() {
        table.iter().for_each(|(_, item)| collect_values(item, values));
    } else if let Some(tables) = item.as_array_of_tables() {
        tables.iter().flat_map(|table| table.iter()).for_each(|(_, item)| collect_values(item, values));
    }
}

fn parse(text: &str) -> Result<Document<&str>, MergeError> {
    Document::parse(text).map_err(|error| MergeError {
        problem: error.message().to_owned(),
        at: position(text, error.span().map_or(text.len(), |span| span.start)),
    })
}

fn table<'d>(text: &str, item: &'d Item, name: &str) -> Result<&'d dyn TableLike, MergeError> {
    item.as_table_like().ok_or_else(|| MergeError {
        problem: format!("`{name}` is not a table"),
        at: position(text, item.span().map_or(0, |span| span.start)),
    })
}

/// Formats a text, or a list of texts.
fn toml_value(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(toml_value).collect::<Vec<_>>().join(", "))
        }
        // A basic string of TOML has the escapes of JSON, except for the solidus, which JSON need not escape.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

fn table_value(table: &dyn TableLike) -> Map<String, Value> {
    table.iter().filter_map(|(name, item)| Some((name.to_owned(), json_value(item)?))).collect()
}

fn json_value(item: &Item) -> Option<Value> {
    if let Some(table) = item.as_table_like() {
        return Some(Value::Object(table_value(table)));
    }
    if let Some(tables) = item.as_array_of_tables() {
        return Some(tables.iter().map(|table| Value::Object(table_value(table))).collect());
    }
    item.as_value().map(value_of)
}

fn value_of(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(flag) => Value::from(*flag.value()),
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
        toml_edit::Value::Array(items) => items.iter().map(value_of).collect(),
        toml_edit::Value::InlineTable(table) => Value::Object(table_value(table)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KEY: &str = "mcp_servers";

    fn fields() -> Map<String, Value> {
        let Value::Object(fields) = json!({"command": "lockgate", "args": ["serve", "--root", "."]}) else {
            panic!()
        };
        fields
    }

    fn merged(text: &str) -> Result<MergeResult, MergeError> {
        merge(text, KEY, &fields())
    }

    #[test]
    fn a_server_is_appended_and_leaves_no_trace_when_it_is_removed() {
        const TABLE: &str =
            "[mcp_servers.lockgate]\ncommand = \"lockgate\"\nargs = [\"serve\", \"--root\", \".\"]\n";
        for before in [
            "",
            "model = \"x\" # mine\n",
            "[mcp_servers.other]\ncommand = 'a'\n",
            "[mcp_servers]\n# none\n",
            "[a]\r\nb = 1\r\n",
            "[[a]]\nb = '''\n[c]\n'''\n",
            "[[a]]\nb = '''\n[mcp_servers.lockgate]\nc\n'''\n",
            "a = 1\n\n\n",
            "# only a comment\n",
        ] {
            let Ok(MergeResult::Added(after)) = merged(before) else { panic!("{before}") };
            assert!(after.starts_with(before) && after.replace('\r', "").ends_with(TABLE), "{after}");
            assert_eq!(merged(&after), Ok(MergeResult::Unchanged));
            assert_eq!(remove(&after, KEY), Ok(Some(before.to_owned())));
        }
        assert_eq!(remove("[mcp_servers]\n", KEY), Ok(None));
        // A table below another name stays.
        let Ok(MergeResult::Added(after)) = merged("a = 1\n") else { panic!() };
        let more =
            format!("{after}\n[mcp_servers.lockgate.env]\nA = \"b\"\n\n[mcp_servers.lockgate2]\nx = 1\n");
        assert_eq!(remove(&more, KEY), Ok(Some("a = 1\n\n[mcp_servers.lockgate2]\nx = 1\n".to_owned())));
    }

    #[test]
    fn comments_and_blank_lines_of_a_person_stay() {
        let before = "model = \"x\"\n";
        let Ok(MergeResult::Added(after)) = merged(before) else { panic!() };
        for later in [
            "\n# my other server\n[mcp_servers.other]\ncommand = \"o\"\n\n# at the end\n",
            "# at the end",
            "\n\n",
        ] {
            let text = format!("{after}{later}");
            assert_eq!(remove(&text, KEY), Ok(Some(format!("{before}{later}"))), "{text}");
        }
        let commented = after.replace("\nargs", "\n# mine\nargs");
        assert_eq!(remove(&commented, KEY), Ok(Some(format!("{before}# mine\n"))));
        // Lines within a value are a part of it.
        let lines = after.replace("\"serve\", ", "\n[\"serve\"],\n\n# all\n");
        assert_eq!(remove(&lines, KEY), Ok(Some(before.to_owned())));
    }

    #[test]
    fn a_server_is_found_with_its_place() {
        let other = "a = 1\n[mcp_servers.lockgate]\ncommand = 'x'\nenv = { A = 'b' }\n";
        let found = find(other, KEY).unwrap().unwrap();
        assert_eq!(Value::Object(found.fields), json!({"command": "x", "env": {"A": "b"}}));
        assert_eq!(found.at, (2, 1));
        assert_eq!(find("[mcp_servers.other]\n", KEY), Ok(None));
        assert!(find("[mcp_servers]\nlockgate = 1\n", KEY).is_err());
    }

    #[test]
    fn another_server_of_that_name_is_found_and_only_its_command_is_replaced() {
        let other = "[mcp_servers.lockgate]\ncommand = '/opt/lockgate' # own\nargs = []\nenabled = false\n";
        let wanted = "[mcp_servers.lockgate]\ncommand = \"lockgate\" # own\nargs = [\"serve\", \"--root\", \".\"]\nenabled = false\n";
        assert_eq!(merged(other), Ok(MergeResult::Replaced(wanted.to_owned(), (2, 11))));
        assert_eq!(merged(wanted), Ok(MergeResult::Unchanged));
    }

    #[test]
    fn what_cannot_be_understood_is_refused_with_its_place() {
        for (text, at) in [
            ("a = \n", (1, 5)),
            ("mcp_servers = 1\n", (1, 15)),
            ("mcp_servers = { other = { command = 'a' } }\n", (3, 2)),
            ("[mcp_servers]\nlockgate = 1\n", (2, 12)),
        ] {
            assert_eq!(merged(text).map_err(|error| error.at), Err(at), "{text}");
        }
        // A server within an inline table is not cut out of it.
        assert!(remove("mcp_servers = { lockgate = { command = 'a' } }\n", KEY).is_err());
    }
}
