//! Renders the answer of `ai_get_code_context`.
//!
//! Invariant: neither form exceeds the requested size. If the estimated size was too small, the least relevant
//! entries are removed first and `truncated` is set.

use serde_json::{Map, Value, json};

use super::Answer;
use crate::context::{FolderSummary, TargetFile};
use crate::engine::{CodeContext, CodeSymbol, ProjectSummary, Reference};

pub(super) fn context(context: &CodeContext) -> Answer {
    let mut json = json(context);
    while json.to_string().len() > context.max_bytes && remove_least_relevant(&mut json) {
        if let Some(fields) = json.as_object_mut() {
            fields.insert("truncated".to_owned(), Value::Bool(true));
        }
    }
    let text = super::context_text::text(&json, context.max_bytes);
    Answer { success: true, json, text }
}

fn json(context: &CodeContext) -> Value {
    let mut fields = Map::new();
    if let Some(TargetFile { path, version, lines, outline }) = &context.target {
        fields.insert("path".to_owned(), path.as_str().into());
        fields.insert("version".to_owned(), version.to_string().into());
        fields.insert("total_lines".to_owned(), (*lines).into());
        fields.insert("outline".to_owned(), list(outline, symbol));
    }
    for (name, symbols) in [("definitions", &context.definitions), ("symbols", &context.found)] {
        if let Some(symbols) = symbols {
            fields.insert(name.to_owned(), list(symbols, symbol));
        }
    }
    if context.definitions.is_some() {
        fields.insert("references".to_owned(), list(&context.references, reference));
    }
    if !context.uses.is_empty() {
        fields.insert("uses".to_owned(), list(&context.uses, symbol));
    }
    if let Some(ProjectSummary { files, folders, important }) = &context.project {
        fields.insert("files".to_owned(), (*files).into());
        fields.insert("folders".to_owned(), list(folders, folder));
        fields.insert("important".to_owned(), important.as_slice().into());
    }
    if !context.versions.is_empty() {
        let versions =
            context.versions.iter().map(|(path, version)| (path.clone(), version.to_string().into()));
        fields.insert("versions".to_owned(), Value::Object(versions.collect()));
    }
    if !context.notes.is_empty() {
        fields.insert("notes".to_owned(), context.notes.as_slice().into());
    }
    if context.truncated {
        fields.insert("truncated".to_owned(), Value::Bool(true));
    }
    Value::Object(fields)
}

fn list<T>(entries: &[T], entry: impl Fn(&T) -> Value) -> Value {
    entries.iter().map(entry).collect()
}

fn symbol(symbol: &CodeSymbol) -> Value {
    let mut fields = Map::new();
    if !symbol.file.is_empty() {
        fields.insert("path".to_owned(), symbol.file.as_str().into());
    }
    fields.insert("name".to_owned(), symbol.name.as_str().into());
    fields.insert("kind".to_owned(), symbol.kind.name().into());
    if symbol.start_line != symbol.line {
        fields.insert("start_line".to_owned(), symbol.start_line.into());
    }
    fields.insert("line".to_owned(), symbol.line.into());
    fields.insert("end_line".to_owned(), symbol.end_line.into());
    fields.insert("signature".to_owned(), symbol.signature.as_str().into());
    for (name, text) in [("doc", &symbol.doc), ("code", &symbol.code)] {
        if let Some(text) = text {
            fields.insert(name.to_owned(), text.as_str().into());
        }
    }
    Value::Object(fields)
}

fn reference(reference: &Reference) -> Value {
    let mut fields = Map::new();
    fields.insert("path".to_owned(), reference.file.as_str().into());
    fields.insert("line".to_owned(), reference.line.into());
    fields.insert("text".to_owned(), reference.text.as_str().into());
    if let Some(within) = &reference.within {
        fields.insert("within".to_owned(), within.as_str().into());
    }
    Value::Object(fields)
}

fn folder(folder: &FolderSummary) -> Value {
    let languages: Map<String, Value> =
        folder.languages.iter().map(|(name, files)| (name.clone(), (*files).into())).collect();
    let path = if folder.path.is_empty() { "." } else { folder.path.as_str() };
    json!({"path": path, "files": folder.files, "languages": languages})
}

/// Removes the least relevant entry; returns false if none is left.
fn remove_least_relevant(json: &mut Value) -> bool {
    const LISTS: [&str; 8] =
        ["uses", "folders", "important", "references", "symbols", "outline", "definitions", "notes"];
    for name in LISTS {
        if json.get_mut(name).and_then(Value::as_array_mut).is_some_and(|entries| entries.pop().is_some()) {
            return true;
        }
    }
    let Some(fields) = json.as_object_mut() else { return false };
    if fields.remove("versions").is_some() {
        return true;
    }
    // The caller already knows its own path, so a path that does not fit may be cut.
    match fields.get_mut("path") {
        Some(Value::String(path)) if path.chars().count() > 80 => {
            *path = path.chars().take(79).chain(['…']).collect();
            true
        }
        Some(_) | None => false,
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
