//! Renders a code context as text, with the same content as the JSON form.

use serde_json::{Map, Value};

use crate::text::escape_name;

/// Renders an answer in at most `room` bytes.
pub(super) fn text(json: &Value, room: usize) -> String {
    let empty = Map::new();
    let fields = json.as_object().unwrap_or(&empty);
    let mut lines = Vec::new();
    if let Some(path) = fields.get("path") {
        let (path, count) = (word(path), word(fields.get("total_lines").unwrap_or(&Value::Null)));
        lines.push(format!("{}: {count} lines, version {}", escape_name(&path), field(json, "version")));
    }
    for (name, title) in [
        ("outline", "outline"),
        ("definitions", "definitions"),
        ("references", "references"),
        ("symbols", "symbols"),
        ("uses", "uses, defined elsewhere"),
    ] {
        let Some(entries) = fields.get(name).and_then(Value::as_array) else { continue };
        lines.push(format!("{title}: {}", entries.len()));
        entries.iter().for_each(|entry| lines.extend(self::entry(entry)));
    }
    lines.extend(project(json));
    for (path, version) in fields.get("versions").and_then(Value::as_object).unwrap_or(&empty) {
        lines.push(format!("{}: version {}", escape_name(path), word(version)));
    }
    let notes = fields.get("notes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    lines.extend(notes.iter().map(|note| format!("note: {}", word(note))));
    if json.get("truncated").is_some() {
        lines.push("truncated: not all is shown".to_owned());
    }
    fit(lines, room)
}

fn fit(lines: Vec<String>, room: usize) -> String {
    let mut text = String::new();
    for line in lines {
        if text.len() + line.len() + 1 > room {
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text += &line;
    }
    text
}

/// Renders a symbol or a reference.
fn entry(entry: &Value) -> Vec<String> {
    let path = match field(entry, "path") {
        path if path.is_empty() => path,
        path => format!("{}:", escape_name(&path)),
    };
    let line = field(entry, "line");
    if entry.get("text").is_some() {
        let within = match field(entry, "within") {
            within if within.is_empty() => within,
            within => format!(" ({within})"),
        };
        return vec![format!("{path}{line}{within}: {}", field(entry, "text"))];
    }
    let (kind, name, signature) = (field(entry, "kind"), field(entry, "name"), field(entry, "signature"));
    let start = match field(entry, "start_line") {
        start if start.is_empty() => start,
        start => format!(" (from {start})"),
    };
    let mut lines =
        vec![format!("{path}{line}-{}{start} {kind} {name}: {signature}", field(entry, "end_line"))];
    lines.extend(entry.get("doc").map(|doc| format!("  {}", word(doc))));
    lines.extend(entry.get("code").map(word));
    lines
}

fn project(json: &Value) -> Vec<String> {
    let Some(files) = json.get("files") else { return Vec::new() };
    let mut lines = vec![format!("files: {files}")];
    let list = |name: &str| json.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    lines.extend(list("important").iter().map(|path| format!("important: {}", word(path))));
    for folder in list("folders") {
        let languages = folder.get("languages").and_then(Value::as_object).cloned().unwrap_or_default();
        let languages: Vec<String> =
            languages.iter().map(|(name, files)| format!("{name} {files}")).collect();
        lines.push(format!(
            "{}/: {} files: {}",
            field(&folder, "path"),
            field(&folder, "files"),
            languages.join(", ")
        ));
    }
    lines
}

fn field(value: &Value, name: &str) -> String {
    value.get(name).map(word).unwrap_or_default()
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
