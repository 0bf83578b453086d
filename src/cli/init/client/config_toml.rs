//! Adds a server to a client's TOML configuration without changing other bytes, and removes it.
//!
//! Invariant: pure. A table is appended as text, and the result is parsed to check that it says what was wanted.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, InlineTable, Item, Table, TableLike};

use super::addition::NAME;
use super::config_text::{LineColumn, MergeError, position, split_mark};
use super::layout::line_end;
use super::merge::{ExistingObject, MergeResult};
use super::wanted::{is_foreign_field, object_fields};

/// Adds the server to the table `key` of a text.
pub(super) fn merge(text: &str, key: &str, fields: &Map<String, Value>) -> Result<MergeResult, MergeError> {
    let document = parse(text)?;
    let Some(servers) = document.get(key) else { return append(text, key, fields) };
    let Some(server) = table(text, servers, key)?.get(NAME) else {
        if servers.is_inline_table() {
            let problem = format!(
                "`{key}` is an inline table, which no other part of the file can extend; write it as a section `[{key}]`"
            );
            return Err(MergeError { problem, at: start(text, servers) });
        }
        return append(text, key, fields);
    };
    let existing = table(text, server, NAME)?;
    let foreign: Vec<&str> = existing
        .iter()
        .filter(|(name, item)| is_foreign_field(fields, name, &json_value(item)))
        .map(|(name, _)| name)
        .collect();
    let is_wanted =
        |(name, value): (&String, &Value)| existing.get(name).is_some_and(|item| json_value(item) == *value);
    if foreign.is_empty() && fields.iter().all(is_wanted) {
        return Ok(MergeResult::Unchanged);
    }
    let differing = fields.iter().filter(|field| !is_wanted(*field));
    let first =
        differing.clone().filter_map(|(name, _)| existing.get(name)?.span()).map(|span| span.start).min();
    let at = first.map_or_else(|| start(text, server), |first| position(text, first));
    let mut wanted = json_value(document.as_item());
    if let Some(server) = wanted.pointer_mut(&format!("/{key}/{NAME}")).and_then(Value::as_object_mut) {
        server.retain(|name, _| !foreign.contains(&name.as_str()));
        server.extend(fields.clone());
    }
    let new = if let Some(inline) = server.as_inline_table() {
        set_inline(text, inline, fields, &foreign)
    } else if foreign.is_empty() {
        set_fields(text, server, &differing.collect::<Vec<_>>())
    } else {
        let is_foreign = |(name, _): &(&str, &Item)| foreign.contains(name);
        let without = cut(text, existing.iter().filter(is_foreign).map(|(_, item)| item));
        // A field that was not cut would be found again without end.
        let has_foreign =
            |server: &ExistingObject| foreign.iter().any(|name| server.fields.contains_key(*name));
        if find(&without, key)?.as_ref().is_some_and(has_foreign) {
            return Err(not_its_own(at));
        }
        match merge(&without, key, fields)? {
            MergeResult::Unchanged => without,
            MergeResult::Added(new) | MergeResult::Replaced(new, _) => new,
        }
    };
    if parse(&new).is_ok_and(|new| json_value(new.as_item()) == wanted) {
        return Ok(MergeResult::Replaced(new, at));
    }
    Err(not_its_own(at))
}

/// Sets these fields of a server that is a table; a missing one is written below the last of its values.
fn set_fields(text: &str, server: &Item, fields: &[(&String, &Value)]) -> String {
    let values = server.as_table_like().into_iter().flat_map(TableLike::iter);
    let last =
        values.filter(|(_, item)| item.is_value()).filter_map(|(_, item)| item.span()).map(|span| span.end);
    let header =
        server.as_table().filter(|table| !table.is_dotted() && !table.is_implicit()).and_then(Table::span);
    let end = header.map(|header| last.fold(header.end, usize::max));
    let (mut splices, mut missing) = (Vec::new(), String::new());
    for (name, value) in fields {
        let value = toml_value(value);
        match server.get(name.as_str()).and_then(Item::span) {
            Some(span) => splices.push((span, value)),
            None => missing += &format!("{}{name} = {value}", line_end(text)),
        }
    }
    if let Some(end) = end.filter(|_| !missing.is_empty()) {
        let rest = text.get(end..).unwrap_or_default();
        let end = end + rest.find(['\r', '\n']).unwrap_or(rest.len());
        splices.push((end..end, missing));
    }
    splices.sort_by_key(|(span, _)| span.start);
    let mut new = text.to_owned();
    for (span, value) in splices.into_iter().rev() {
        new.replace_range(span, &value);
    }
    new
}

/// Sets the fields of a server that is an inline table, and leaves out the foreign ones.
fn set_inline(text: &str, server: &InlineTable, fields: &Map<String, Value>, foreign: &[&str]) -> String {
    let names = server.iter().map(|(name, _)| name).filter(|name| !foreign.contains(name));
    let kept = names.filter(|name| !fields.contains_key(*name)).filter_map(|name| {
        let (key, item) = server.get_key_value(name)?;
        Some(text.get(key.span()?.start..item.span()?.end)?.to_owned())
    });
    let set = fields.iter().map(|(name, value)| format!("{name} = {}", toml_value(value)));
    let items: Vec<String> = set.chain(kept).collect();
    let mut new = text.to_owned();
    if let Some(span) = server.span() {
        new.replace_range(span, &format!("{{ {} }}", items.join(", ")));
    }
    new
}

fn start(text: &str, item: &Item) -> LineColumn {
    position(text, item.span().map_or(0, |span| span.start))
}

fn not_its_own(at: LineColumn) -> MergeError {
    MergeError { problem: format!("the server `{NAME}` is not a table of its own"), at }
}

/// Returns the server of a text; `None` if the text has none.
pub(super) fn find(text: &str, key: &str) -> Result<Option<ExistingObject>, MergeError> {
    let document = parse(text)?;
    let servers = document.get(key).and_then(Item::as_table_like);
    let Some(server) = servers.and_then(|servers| servers.get(NAME)) else { return Ok(None) };
    table(text, server, NAME)?;
    Ok(Some(ExistingObject { fields: object_fields(json_value(server)), at: start(text, server) }))
}

/// Removes the server with its subtables; `None` if the text has none.
pub(super) fn remove(text: &str, key: &str) -> Result<Option<String>, MergeError> {
    let document = parse(text)?;
    let servers = document.get(key).and_then(Item::as_table_like);
    let Some(server) = servers.and_then(|servers| servers.get(NAME)) else { return Ok(None) };
    let mut wanted = json_value(document.as_item());
    if let Some(servers) = wanted.get_mut(key).and_then(Value::as_object_mut) {
        servers.shift_remove(NAME);
    }
    let is_own_table = server.as_table().is_some_and(|table| !table.is_dotted());
    let without = cut(text, Some(server).filter(|_| is_own_table).into_iter());
    let mut found = json_value(parse(&without)?.as_item());
    for value in [&mut wanted, &mut found].into_iter().filter_map(Value::as_object_mut) {
        if value.get(key).and_then(Value::as_object).is_some_and(Map::is_empty) {
            value.shift_remove(key);
        }
    }
    if wanted == found {
        return Ok(Some(without));
    }
    Err(not_its_own((1, 1)))
}

fn append(text: &str, key: &str, fields: &Map<String, Value>) -> Result<MergeResult, MergeError> {
    let line_end = line_end(text);
    let open = if text.is_empty() || text.ends_with('\n') { "" } else { line_end };
    let gap = if text.is_empty() { "" } else { line_end };
    let lines: String =
        fields.iter().map(|(name, value)| format!("{name} = {}{line_end}", toml_value(value))).collect();
    let new = format!("{text}{open}{gap}[{key}.{NAME}]{line_end}{lines}");
    parse(&new)?;
    Ok(MergeResult::Added(new))
}

/// Cuts the lines of these items and of the tables below them, with the blank line that [`append`] writes before a header.
/// Comments and other blank lines stay.
fn cut<'d>(text: &str, items: impl Iterator<Item = &'d Item>) -> String {
    let (mut headers, mut values) = (Vec::new(), Vec::new());
    items.for_each(|item| collect_spans(item, &mut headers, &mut values));
    let (mark, body) = split_mark(text);
    let (mut kept, mut start) = (mark.to_owned(), mark.len());
    for line in body.split_inclusive('\n') {
        let (begin, end) = (start, start + line.len());
        start = end;
        let has = |spans: &[Range<usize>]| spans.iter().any(|span| span.start < end && begin < span.end);
        if has(&headers) {
            let last = kept.split_inclusive('\n').next_back().unwrap_or_default();
            let blank = if matches!(last, "\n" | "\r\n") { last.len() } else { 0 };
            kept.truncate(kept.len() - blank);
        } else if !has(&values) {
            kept += line;
        }
    }
    kept
}

/// Collects the range of a value, or of the header of a table, and those of all headers and values below it.
fn collect_spans(item: &Item, headers: &mut Vec<Range<usize>>, values: &mut Vec<Range<usize>>) {
    match item {
        Item::Value(value) => values.extend(value.span()),
        Item::Table(table) => {
            headers.extend(table.span().filter(|_| !table.is_implicit() && !table.is_dotted()));
            table.iter().for_each(|(_, item)| collect_spans(item, headers, values));
        }
        Item::ArrayOfTables(_) | Item::None => {}
    }
}

fn parse(text: &str) -> Result<Document<&str>, MergeError> {
    Document::parse(text).map_err(|error| MergeError {
        problem: error.message().to_owned(),
        at: position(text, error.span().map_or(text.len(), |span| span.start)),
    })
}

fn table<'d>(text: &str, item: &'d Item, name: &str) -> Result<&'d dyn TableLike, MergeError> {
    item.as_table_like()
        .ok_or_else(|| MergeError { problem: format!("`{name}` is not a table"), at: start(text, item) })
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

fn json_value(item: &Item) -> Value {
    item.clone().into_value().map_or(Value::Null, |value| value_of(&value))
}

fn value_of(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(flag) => Value::from(*flag.value()),
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
        toml_edit::Value::Array(items) => items.iter().map(value_of).collect(),
        toml_edit::Value::InlineTable(table) => {
            table.iter().map(|(name, value)| (name.to_owned(), value_of(value))).collect()
        }
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
    fn a_server_gets_the_fields_that_it_lacks() {
        const ARGS: &str = "args = [\"serve\", \"--root\", \".\"]";
        for (other, wanted, at) in [
            (
                "[mcp_servers.lockgate]\ncommand = \"other\" # own\n\n[tui]\n",
                format!("[mcp_servers.lockgate]\ncommand = \"lockgate\" # own\n{ARGS}\n\n[tui]\n"),
                (2, 11),
            ),
            (
                "[mcp_servers.lockgate]\r\nenabled = false",
                format!("[mcp_servers.lockgate]\r\nenabled = false\r\ncommand = \"lockgate\"\r\n{ARGS}"),
                (1, 1),
            ),
            (
                "[mcp_servers.lockgate]\n[mcp_servers.lockgate.env]\nA = 'b'\n",
                format!(
                    "[mcp_servers.lockgate]\ncommand = \"lockgate\"\n{ARGS}\n[mcp_servers.lockgate.env]\nA = 'b'\n"
                ),
                (1, 1),
            ),
            (
                "[mcp_servers]\nlockgate = { command = 'a', env = { A = 'b' } } # own\n",
                format!(
                    "[mcp_servers]\nlockgate = {{ command = \"lockgate\", {ARGS}, env = {{ A = 'b' }} }} # own\n"
                ),
                (2, 24),
            ),
        ] {
            assert_eq!(merged(other), Ok(MergeResult::Replaced(wanted.clone(), at)), "{other}");
            assert_eq!(merged(&wanted), Ok(MergeResult::Unchanged), "{wanted}");
        }
    }

    #[test]
    fn the_fields_of_a_server_in_the_network_are_cut() {
        const FIELDS: &str = "command = \"lockgate\"\nargs = [\"serve\", \"--root\", \".\"]\n";
        for (other, wanted, at) in [
            (
                "[mcp_servers.lockgate]\nurl = 'https://a.example' # old\nenabled = true\n\n[mcp_servers.lockgate.http_headers]\nA = 'b'\n",
                format!("[mcp_servers.lockgate]\nenabled = true\n{FIELDS}"),
                (1, 1),
            ),
            (
                "[mcp_servers]\nlockgate = { url = 'https://a.example', enabled = true }\n",
                format!(
                    "[mcp_servers]\nlockgate = {{ {}, enabled = true }}\n",
                    FIELDS.trim_end().replace('\n', ", ")
                ),
                (2, 12),
            ),
            (
                "mcp_servers.lockgate.url = 'https://a.example'\n",
                format!("\n[mcp_servers.lockgate]\n{FIELDS}").trim_start().to_owned(),
                (1, 13),
            ),
        ] {
            assert_eq!(merged(other), Ok(MergeResult::Replaced(wanted.clone(), at)), "{other}");
            assert_eq!(merged(&wanted), Ok(MergeResult::Unchanged), "{wanted}");
        }
    }

    #[test]
    fn what_cannot_be_understood_is_refused_with_its_place() {
        for (text, at) in [
            ("a = \n", (1, 5)),
            ("mcp_servers = 1\n", (1, 15)),
            ("mcp_servers = { other = { command = 'a' } }\n", (1, 15)),
            ("# mine\nmcp_servers = {}\n", (2, 15)),
            ("mcp_servers.lockgate.command = 'a'\n", (1, 32)),
            ("[mcp_servers]\nlockgate = 1\n", (2, 12)),
        ] {
            assert_eq!(merged(text).map_err(|error| error.at), Err(at), "{text}");
        }
        // A server within an inline table is not cut out of it.
        assert!(remove("mcp_servers = { lockgate = { command = 'a' } }\n", KEY).is_err());
    }
}
