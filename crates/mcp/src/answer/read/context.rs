//! Renders the answer of `ai_get_code_context`.
//!
//! Invariant: neither form exceeds the requested size. If the estimated size was too small, the least relevant
//! entries are removed first and `truncated` is set.

use super::super::json_size::json_size;
use crate::answer::Answer;
use lockgate_context::FolderSummary;
use lockgate_engine::{CodeContext, CodeSymbol, Reference};
use lockgate_protocol::{ContextFolder, ContextReference, ContextResponse, ContextSymbol, Response};
use lockgate_text::escape_name;

pub(super) fn context(context: &CodeContext) -> Answer {
    let mut response = response(context);
    while json_size(&response) > context.max_bytes && remove_least_relevant(&mut response) {
        response.truncated = Some(true);
    }
    let text = text(&response, context.max_bytes);
    Answer::new(Response::Context(Box::new(response)), text)
}

fn response(context: &CodeContext) -> ContextResponse {
    let (target, project) = (context.target.as_ref(), context.project.as_ref());
    let symbols = |symbols: &Vec<CodeSymbol>| symbols.iter().map(symbol).collect::<Vec<_>>();
    ContextResponse {
        path: target.map(|target| target.path.clone()),
        version: target.map(|target| target.version.to_string()),
        total_lines: target.map(|target| target.lines),
        outline: target.map(|target| symbols(&target.outline)),
        definitions: context.definitions.as_ref().map(symbols),
        symbols: context.found.as_ref().map(symbols),
        references: context.definitions.as_ref().map(|_| context.references.iter().map(reference).collect()),
        uses: Some(&context.uses).filter(|uses| !uses.is_empty()).map(symbols),
        files: project.map(|project| project.files),
        folders: project.map(|project| project.folders.iter().map(folder).collect()),
        important: project.map(|project| project.important.clone()),
        versions: context
            .versions
            .iter()
            .map(|(path, version)| (path.clone(), version.to_string()))
            .collect(),
        notes: Some(&context.notes).filter(|notes| !notes.is_empty()).cloned(),
        truncated: context.truncated.then_some(true),
    }
}

fn symbol(symbol: &CodeSymbol) -> ContextSymbol {
    ContextSymbol {
        path: Some(&symbol.file).filter(|file| !file.is_empty()).cloned(),
        name: symbol.name.clone(),
        kind: symbol.kind.name().into(),
        start_line: Some(symbol.start_line).filter(|start| *start != symbol.line),
        line: symbol.line,
        end_line: symbol.end_line,
        signature: symbol.signature.clone(),
        doc: symbol.doc.clone(),
        code: symbol.code.clone(),
    }
}

fn reference(reference: &Reference) -> ContextReference {
    ContextReference {
        path: reference.file.clone(),
        line: reference.line,
        text: reference.text.clone(),
        within: reference.within.clone(),
    }
}

fn folder(folder: &FolderSummary) -> ContextFolder {
    ContextFolder {
        path: if folder.path.is_empty() { ".".to_owned() } else { folder.path.clone() },
        files: folder.files,
        languages: folder.languages.iter().map(|(name, files)| (name.clone(), (*files).into())).collect(),
    }
}

/// Removes the least relevant entry; returns false if none is left.
fn remove_least_relevant(response: &mut ContextResponse) -> bool {
    let ContextResponse {
        uses, folders, important, references, symbols, outline, definitions, notes, ..
    } = response;
    let is_removed = pop(uses)
        || pop(folders)
        || pop(important)
        || pop(references)
        || pop(symbols)
        || pop(outline)
        || pop(definitions)
        || pop(notes)
        || !std::mem::take(&mut response.versions).is_empty();
    // The caller already knows its own path, so a path that does not fit may be cut.
    let path = response.path.as_mut().filter(|path| !is_removed && path.chars().count() > 80);
    let is_cut = path.map(|path| *path = path.chars().take(79).chain(['…']).collect()).is_some();
    is_removed || is_cut
}

fn pop<T>(list: &mut Option<Vec<T>>) -> bool {
    list.as_mut().is_some_and(|list| list.pop().is_some())
}

/// Renders the text form, with the same content as the JSON form, in at most `room` bytes.
fn text(response: &ContextResponse, room: usize) -> String {
    let ContextResponse { outline, definitions, references, symbols, uses, .. } = response;
    let mut lines = Vec::new();
    if let Some(path) = &response.path {
        let version = response.version.as_deref().unwrap_or_default();
        let count = response.total_lines.unwrap_or_default();
        lines.push(format!("{}: {count} lines, version {version}", escape_name(path)));
    }
    section(&mut lines, "outline", outline, symbol_lines);
    section(&mut lines, "definitions", definitions, symbol_lines);
    section(&mut lines, "references", references, reference_lines);
    section(&mut lines, "symbols", symbols, symbol_lines);
    section(&mut lines, "uses, defined elsewhere", uses, symbol_lines);
    lines.extend(response.files.map(|files| format!("files: {files}")));
    lines.extend(response.important.iter().flatten().map(|path| format!("important: {path}")));
    for ContextFolder { path, files, languages } in response.folders.iter().flatten() {
        let languages: Vec<String> =
            languages.iter().map(|(name, files)| format!("{name} {files}")).collect();
        lines.push(format!("{path}/: {files} files: {}", languages.join(", ")));
    }
    let versions = response.versions.iter();
    lines.extend(versions.map(|(path, version)| format!("{}: version {version}", escape_name(path))));
    lines.extend(response.notes.iter().flatten().map(|note| format!("note: {note}")));
    lines.extend(response.truncated.map(|_| "truncated: not all is shown".to_owned()));
    let mut used = 0;
    let fits = |line: &String| {
        used += line.len() + 1;
        used <= room + 1
    };
    lines.into_iter().take_while(fits).collect::<Vec<_>>().join("\n")
}

fn section<T>(lines: &mut Vec<String>, title: &str, list: &Option<Vec<T>>, entry: fn(&T) -> Vec<String>) {
    if let Some(list) = list {
        lines.push(format!("{title}: {}", list.len()));
        lines.extend(list.iter().flat_map(entry));
    }
}

fn symbol_lines(symbol: &ContextSymbol) -> Vec<String> {
    let ContextSymbol { name, kind, line, end_line, signature, .. } = symbol;
    let path = symbol.path.as_ref().map(|path| format!("{}:", escape_name(path))).unwrap_or_default();
    let start = symbol.start_line.map(|start| format!(" (from {start})")).unwrap_or_default();
    let mut lines = vec![format!("{path}{line}-{end_line}{start} {kind} {name}: {signature}")];
    lines.extend(symbol.doc.as_ref().map(|doc| format!("  {doc}")));
    lines.extend(symbol.code.clone());
    lines
}

fn reference_lines(ContextReference { path, line, text, within }: &ContextReference) -> Vec<String> {
    let path = if path.is_empty() { String::new() } else { format!("{}:", escape_name(path)) };
    let within = within.as_ref().map(|within| format!(" ({within})")).unwrap_or_default();
    vec![format!("{path}{line}{within}: {text}")]
}

#[cfg(test)]
mod tests;
