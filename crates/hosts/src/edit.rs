//! The edits that the tools of hosts make, read from the arguments of a call.
//!
//! Invariant: an edit is read completely, or only for the paths that it names; nothing is guessed.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::host::Host;
use super::patch::{self, Patch, is_same_path};

/// An edit that the tool of a host is to make.
#[derive(Debug, Clone, PartialEq)]
pub enum HostEdit {
    /// Replaces quoted texts, one after the other.
    Replace {
        /// The path of the file.
        path: String,
        /// The quotes, in their order.
        quotes: Vec<QuotedReplacement>,
        /// The names of the fields, if the call has a single quote.
        fields: Option<QuoteFields>,
    },
    /// Replaces quoted texts in several files.
    ReplaceInFiles {
        /// The paths that the call names beside the quotes.
        paths: Vec<String>,
        /// The quotes, in their order.
        quotes: Vec<FileQuote>,
    },
    /// Writes the whole text of a file.
    Write {
        /// The path of the file.
        path: String,
        /// The text that the tool writes.
        content: String,
    },
    /// The tool deletes a file.
    Delete {
        /// The path of the file.
        path: String,
    },
    /// Applies a patch to several files.
    Patch {
        /// The patch with its files.
        patch: Patch,
        /// The folder that relative paths start from, if it is not that of the session.
        folder: Option<String>,
        /// The form of the arguments.
        form: PatchForm,
    },
    /// Changes a cell of a notebook.
    Notebook {
        /// The path of the notebook.
        path: String,
        /// The change that is to be made.
        cell: CellEdit,
    },
    /// An edit of a file whose result is not known.
    Other {
        /// The path of the file.
        path: String,
    },
    /// An edit whose arguments cannot be read completely, so that its result is not known.
    Unreadable {
        /// The paths that the call names; at least one.
        paths: Vec<String>,
        /// The reason, in one line.
        reason: String,
        /// Set for a patch.
        is_patch: bool,
    },
    /// An edit of one of several files that the call names, as it would be for each of them. Which of them the tool takes is
    /// not known.
    Ambiguous(Vec<HostEdit>),
}

/// A quoted text and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotedReplacement {
    /// The text in the file.
    pub old: String,
    /// The text that the tool writes.
    pub new: String,
    /// The matches that are replaced.
    pub matches: QuoteMatches,
    /// The lines to which the call limits the search, from 1, in the text before the call.
    pub lines: Option<NamedLines>,
}

/// Consecutive lines of a file, from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedLines {
    /// The first line.
    pub start: usize,
    /// The last line.
    pub end: usize,
}

/// A quoted text, and the file that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileQuote {
    /// The paths that the call gives for the file. Which of them the tool takes is not known.
    pub paths: Vec<String>,
    /// The quoted text and its replacement.
    pub quote: QuotedReplacement,
}

/// The matches of a quote that a tool replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteMatches {
    /// The only match; several are an error.
    Only,
    /// The tool replaces every match.
    Every,
}

/// The names that the arguments of a call have for the parts of a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteFields {
    /// The name of the quoted text.
    pub old: &'static str,
    /// The name of the new text.
    pub new: &'static str,
}

impl QuoteFields {
    /// Returns the arguments of a call with another quote, and with its lines where the call names lines; `None` if they
    /// are no object.
    pub(super) fn with_quote(self, input: &Value, quote: &QuotedReplacement) -> Option<Map<String, Value>> {
        let mut input = input.as_object()?.clone();
        input.insert(self.old.to_owned(), quote.old.as_str().into());
        input.insert(self.new.to_owned(), quote.new.as_str().into());
        if let (Some(lines), Some(_)) = (quote.lines, line_range(&input)) {
            input.insert(START_LINE.to_owned(), lines.start.into());
            input.insert(END_LINE.to_owned(), lines.end.into());
        }
        Some(input)
    }
}

/// The form of the arguments of a call with a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchForm {
    /// The arguments are the patch itself.
    Text,
    /// The patch is in the field of this name.
    Field(&'static str),
    /// The field `command` has a shell command with the patch in a heredoc.
    Command,
}

/// A change of a notebook's cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellEdit {
    /// The id of the cell, or `cell-N` for the cell of that index.
    pub id: Option<String>,
    /// The new source of the cell.
    pub source: String,
    /// The kind of the cell: `code` or `markdown`.
    pub cell_type: Option<String>,
    /// The change that is to be made.
    pub mode: CellMode,
}

/// What happens to a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellMode {
    /// The source of the cell is replaced.
    Replace,
    /// A cell is inserted after it, or at the start.
    Insert,
    /// The cell is removed from the notebook.
    Delete,
}

impl HostEdit {
    /// Returns the paths that the edit names.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            HostEdit::Replace { path, .. }
            | HostEdit::Write { path, .. }
            | HostEdit::Delete { path }
            | HostEdit::Notebook { path, .. }
            | HostEdit::Other { path } => vec![path],
            HostEdit::ReplaceInFiles { paths, quotes } => {
                let own = quotes.iter().flat_map(|quote| &quote.paths);
                paths.iter().chain(own).map(String::as_str).collect()
            }
            HostEdit::Patch { patch, .. } => patch.paths(),
            HostEdit::Unreadable { paths, .. } => paths.iter().map(String::as_str).collect(),
            HostEdit::Ambiguous(edits) => edits.iter().flat_map(HostEdit::paths).collect(),
        }
    }

    /// Returns the quote of an edit of one file that has a single one.
    pub(super) fn single_quote(&self) -> Option<&QuotedReplacement> {
        let HostEdit::Replace { quotes, .. } = self else { return None };
        let [quote] = quotes.as_slice() else { return None };
        Some(quote)
    }
}

/// The kinds of edit tools.
#[derive(Clone, Copy)]
enum ToolKind {
    /// Its arguments are a patch.
    Patch,
    /// It runs a shell command, which may be a patch.
    Command,
    /// Its arguments name one file, or several.
    File(FileTool),
}

/// The tools whose arguments name files.
#[derive(Clone, Copy)]
enum FileTool {
    Replace,
    Write,
    Delete,
    Notebook,
    /// Its result is not known before the call.
    Other,
}

const PATH: [&str; 5] = ["file_path", "filePath", "path", "TargetFile", "target_file"];
const NOTEBOOK_PATH: [&str; 6] =
    ["notebook_path", "file_path", "filePath", "path", "TargetFile", "target_file"];
const OLD: [&str; 5] = ["old_string", "oldString", "old_str", "old_text", "TargetContent"];
const NEW: [&str; 5] = ["new_string", "newString", "new_str", "new_text", "ReplacementContent"];
const CONTENT: [&str; 5] = ["content", "file_text", "CodeContent", "contents", "new_text"];
const EVERY: [&str; 4] = ["replace_all", "replaceAll", "allow_multiple", "AllowMultiple"];
const LISTS: [&str; 3] = ["edits", "replacements", "ReplacementChunks"];
const PATCH: [&str; 4] = ["command", "patchText", "patch", "input"];
/// The tools that search only the lines that a call names.
const TOOLS_WITH_LINES: [&str; 2] = ["replace_file_content", "multi_replace_file_content"];
const START_LINE: &str = "StartLine";
const END_LINE: &str = "EndLine";

/// Reads the edit of a call; `None` if the tool edits no file. A call that cannot be read completely is
/// [`HostEdit::Unreadable`] if it names files.
///
/// Errors: a field that is missing or of the wrong type, in one line, if the call names no file.
pub(super) fn read_edit(host: Host, tool: &str, input: &Value) -> Result<Option<HostEdit>, String> {
    let Some(kind) = tool_kind(host, tool, input) else { return Ok(None) };
    let (edit, paths): (_, fn(&Value) -> Vec<String>) = match kind {
        ToolKind::Patch => (patch(input), patch_paths),
        ToolKind::File(kind) => (file_edit(kind, tool, input), every_path),
        ToolKind::Command => return Ok(command(input)),
    };
    edit.map(Some).or_else(|reason| {
        let paths = paths(input);
        if paths.is_empty() {
            return Err(reason);
        }
        let is_patch = matches!(kind, ToolKind::Patch);
        Ok(Some(HostEdit::Unreadable { paths, reason, is_patch }))
    })
}

/// Returns the kind of a host's tool; `None` if it edits no file.
fn tool_kind(host: Host, tool: &str, input: &Value) -> Option<ToolKind> {
    let has = |names: &[&str]| names.iter().any(|name| given(input.get(name)).is_some());
    let by_shape = || {
        if has(&OLD) || has(&["edits"]) {
            Some(FileTool::Replace)
        } else if has(&CONTENT) {
            Some(FileTool::Write)
        } else {
            None
        }
    };
    let file_tool = match (host, tool) {
        (Host::ClaudeCode | Host::VsCode | Host::Copilot, "Edit" | "MultiEdit") => {
            by_shape().unwrap_or(FileTool::Replace)
        }
        (Host::ClaudeCode | Host::VsCode | Host::Copilot, "Write") => by_shape().unwrap_or(FileTool::Write),
        (Host::ClaudeCode | Host::VsCode, "NotebookEdit") => FileTool::Notebook,
        (Host::Codex | Host::Copilot | Host::OpenCode | Host::VsCode, "apply_patch") => {
            return Some(ToolKind::Patch);
        }
        (Host::Codex, "Bash" | "shell" | "exec_command" | "local_shell") => return Some(ToolKind::Command),
        (Host::Gemini, "replace") => FileTool::Replace,
        (Host::Gemini, "write_file") => FileTool::Write,
        (Host::OpenCode | Host::Copilot, "edit") => FileTool::Replace,
        (Host::OpenCode, "write") => FileTool::Write,
        (Host::Copilot, "create") => FileTool::Write,
        (Host::VsCode, "replace_string_in_file" | "multi_replace_string_in_file") => FileTool::Replace,
        (Host::VsCode, "create_file") => FileTool::Write,
        (Host::VsCode, "insert_edit_into_file" | "edit_notebook_file") => FileTool::Other,
        (Host::Cursor, "Write") => FileTool::Write,
        (Host::Cursor, "StrReplace" | "Edit" | "MultiEdit") => FileTool::Replace,
        (Host::Cursor, "ApplyPatch") => return Some(ToolKind::Patch),
        (Host::Cursor, "Delete") => FileTool::Delete,
        // The name of the tool may be missing.
        (Host::Cursor, "" | "afterFileEdit") => by_shape()?,
        (Host::Windsurf, "write_code") => FileTool::Replace,
        (Host::Cline, "editor" | "replace_in_file" | "write_to_file") => {
            if has(&["insert_line", "diff"]) {
                FileTool::Other
            } else if has(&["old_text"]) {
                FileTool::Replace
            } else {
                FileTool::Write
            }
        }
        (Host::Antigravity, "replace_file_content" | "multi_replace_file_content") => FileTool::Replace,
        (Host::Antigravity, "write_to_file") => FileTool::Write,
        _ => return None,
    };
    Some(ToolKind::File(file_tool))
}

/// Returns the paths that a call names, at its top or in an item of its lists.
fn every_path(input: &Value) -> Vec<String> {
    let Value::Object(fields) = input else { return Vec::new() };
    let items = LISTS.iter().filter_map(|name| fields.get(*name)?.as_array()).flatten();
    let objects = std::iter::once(fields).chain(items.filter_map(Value::as_object));
    objects.flat_map(|fields| paths_in(fields, &NOTEBOOK_PATH)).collect()
}

/// Returns the paths in the headers of a call's patch.
fn patch_paths(input: &Value) -> Vec<String> {
    patch_field(input).0.map(patch::header_paths).unwrap_or_default()
}

/// Reads the edit of a call that names files.
fn file_edit(kind: FileTool, tool: &str, input: &Value) -> Result<HostEdit, String> {
    let Value::Object(fields) = input else { return Err(format!("the input of {tool} is not an object")) };
    let list = LISTS.iter().find_map(|name| given(fields.get(*name)));
    if let (FileTool::Replace, Some(list)) = (kind, list) {
        return replace_in_list(fields, list, tool);
    }
    let names: &[&str] = if matches!(kind, FileTool::Notebook) { &NOTEBOOK_PATH } else { &PATH };
    let paths = named_paths(naming_object(fields, list, names), names, tool)?;
    let edits = paths.into_iter().map(|path| edit_at(path, kind, fields, tool));
    Ok(match <[HostEdit; 1]>::try_from(edits.collect::<Result<Vec<HostEdit>, String>>()?) {
        Ok([edit]) => edit,
        Err(edits) => HostEdit::Ambiguous(edits),
    })
}

/// Returns the edit of the file at this path.
fn edit_at(
    path: String,
    kind: FileTool,
    fields: &Map<String, Value>,
    tool: &str,
) -> Result<HostEdit, String> {
    Ok(match kind {
        FileTool::Replace => replace(fields, path, tool)?,
        FileTool::Write => HostEdit::Write { path, content: required(fields, &CONTENT, tool)? },
        FileTool::Delete => HostEdit::Delete { path },
        FileTool::Notebook => notebook(fields, path, tool)?,
        FileTool::Other => HostEdit::Other { path },
    })
}

fn replace(fields: &Map<String, Value>, path: String, tool: &str) -> Result<HostEdit, String> {
    let (old, new) = (name_in(fields, &OLD), name_in(fields, &NEW));
    let names = old.zip(new).map(|(old, new)| QuoteFields { old, new });
    Ok(HostEdit::Replace { path, quotes: vec![quote(fields, tool)?], fields: names })
}

/// Reads a list of quotes, each of them with a path of its own or in the file that the call names.
fn replace_in_list(fields: &Map<String, Value>, list: &Value, tool: &str) -> Result<HostEdit, String> {
    let items: Option<Vec<&Map<String, Value>>> =
        list.as_array().and_then(|items| items.iter().map(Value::as_object).collect());
    let items = items.ok_or_else(|| format!("the edits of {tool} are not a list of objects"))?;
    let beside = paths_in(fields, &PATH);
    let others = named_paths(naming_object(fields, Some(list), &PATH), &PATH, tool)?;
    let mut quotes = Vec::new();
    for item in items {
        let own = paths_in(item, &PATH);
        let paths = if own.is_empty() { others.clone() } else { own };
        quotes.push(FileQuote { paths, quote: quote(item, tool)? });
    }
    let mut named = beside.iter().chain(quotes.iter().flat_map(|quote| &quote.paths));
    match others.first() {
        Some(path) if named.all(|name| name == path) => {
            let quotes = quotes.into_iter().map(|quote| quote.quote).collect();
            Ok(HostEdit::Replace { path: path.clone(), quotes, fields: None })
        }
        _ => Ok(HostEdit::ReplaceInFiles { paths: beside, quotes }),
    }
}

fn quote(fields: &Map<String, Value>, tool: &str) -> Result<QuotedReplacement, String> {
    let matches = match EVERY.iter().find_map(|name| given(fields.get(*name))) {
        None | Some(Value::Bool(false)) => QuoteMatches::Only,
        Some(Value::Bool(true)) => QuoteMatches::Every,
        // Some hosts take a flag as text as well.
        Some(Value::String(text)) if text == "false" => QuoteMatches::Only,
        Some(Value::String(text)) if text == "true" => QuoteMatches::Every,
        Some(_) => return Err(format!("the input of {tool} has a flag that is not true or false")),
    };
    Ok(QuotedReplacement {
        old: required(fields, &OLD, tool)?,
        new: required(fields, &NEW, tool)?,
        matches,
        lines: line_range(fields).filter(|_| TOOLS_WITH_LINES.contains(&tool)),
    })
}

/// Returns the lines to which a call limits the search; `None` if they are no range.
fn line_range(fields: &Map<String, Value>) -> Option<NamedLines> {
    let line = |name: &str| fields.get(name)?.as_u64().and_then(|line| usize::try_from(line).ok());
    let (start, end) = (line(START_LINE)?, line(END_LINE)?);
    (1 <= start && start <= end).then_some(NamedLines { start, end })
}

/// Returns the text of a call's patch, and the form of its arguments.
fn patch_field(input: &Value) -> (Option<&str>, PatchForm) {
    let field = PATCH.into_iter().find(|name| given(input.get(name)).is_some());
    match (input, field) {
        (Value::String(text), _) => (Some(text.as_str()), PatchForm::Text),
        (_, Some(name)) => (input.get(name).and_then(Value::as_str), PatchForm::Field(name)),
        (_, None) => (None, PatchForm::Text),
    }
}

fn patch(input: &Value) -> Result<HostEdit, String> {
    let (text, form) = patch_field(input);
    let text = text.ok_or("the input of apply_patch has no patch")?;
    Ok(HostEdit::Patch { patch: Patch::parse(text)?, folder: None, form })
}

/// Reads the patch in a shell command; every other command is no edit that is known before it runs.
fn command(input: &Value) -> Option<HostEdit> {
    let command = match given(input.get("command")).or_else(|| input.get("cmd"))? {
        Value::String(command) => command.as_str(),
        // `bash -lc SCRIPT` as words.
        Value::Array(words) => words.last()?.as_str()?,
        _ => return None,
    };
    let (folder, patch) = Patch::in_command(command)?;
    let form =
        if input.get("command").is_some_and(Value::is_string) { PatchForm::Command } else { PatchForm::Text };
    match patch {
        Ok(patch) => Some(HostEdit::Patch { patch, folder, form }),
        Err(reason) => {
            let folder = PathBuf::from(folder.unwrap_or_default());
            let absolute = |path: String| folder.join(path).to_string_lossy().into_owned();
            let paths: Vec<String> = patch::header_paths(command).into_iter().map(absolute).collect();
            (!paths.is_empty()).then_some(HostEdit::Unreadable { paths, reason, is_patch: true })
        }
    }
}

fn notebook(fields: &Map<String, Value>, path: String, tool: &str) -> Result<HostEdit, String> {
    let optional = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let mode = match fields.get("edit_mode").and_then(Value::as_str) {
        None | Some("replace") => CellMode::Replace,
        Some("insert") => CellMode::Insert,
        Some("delete") => CellMode::Delete,
        Some(_) => return Err(format!("the input of {tool} has an unknown edit_mode")),
    };
    let source = match mode {
        CellMode::Delete => optional("new_source").unwrap_or_default(),
        CellMode::Replace | CellMode::Insert => required(fields, &["new_source"], tool)?,
    };
    let cell = CellEdit { id: optional("cell_id"), source, cell_type: optional("cell_type"), mode };
    Ok(HostEdit::Notebook { path, cell })
}

/// Returns the value of a field; `None` for `null`, which some hosts send for a field that a call leaves out.
pub(super) fn given(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

fn name_in(fields: &Map<String, Value>, names: &[&'static str]) -> Option<&'static str> {
    names.iter().find(|name| given(fields.get(**name)).is_some()).copied()
}

/// Returns the texts of all these fields, each of them once: a tool may take any of them for the path of its file.
fn paths_in(fields: &Map<String, Value>, names: &[&str]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for path in names.iter().filter_map(|name| fields.get(*name)?.as_str()) {
        if !paths.iter().any(|other| is_same_path(other, path)) {
            paths.push(path.to_owned());
        }
    }
    paths
}

/// Returns the object that names the file of a call: the call, or the first item of its list if that alone does.
fn naming_object<'a>(
    fields: &'a Map<String, Value>,
    list: Option<&'a Value>,
    names: &[&str],
) -> &'a Map<String, Value> {
    let first = list.and_then(|list| list.get(0)?.as_object());
    first.filter(|_| paths_in(fields, names).is_empty()).unwrap_or(fields)
}

/// Returns the paths of [`paths_in`]; an error if there is none.
fn named_paths(fields: &Map<String, Value>, names: &[&str], tool: &str) -> Result<Vec<String>, String> {
    let paths = paths_in(fields, names);
    if paths.is_empty() { required(fields, names, tool).map(|path| vec![path]) } else { Ok(paths) }
}

fn required(fields: &Map<String, Value>, names: &[&str], tool: &str) -> Result<String, String> {
    let value = names.iter().find_map(|name| given(fields.get(*name)));
    let text = value.and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| format!("the input of {tool} has no text `{}`", names.first().unwrap_or(&"")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(tool: &str, input: &Value) -> HostEdit {
        read_edit(Host::VsCode, tool, input).unwrap().unwrap()
    }

    #[test]
    fn every_file_of_a_list_of_replacements_is_named() {
        let item = |path: &str| json!({"filePath": path, "oldString": "x", "newString": "y"});
        let several = json!({"explanation": "z", "replacements": [item("/a"), item("/b"), item("/a")]});
        let HostEdit::ReplaceInFiles { paths, quotes } = read("multi_replace_string_in_file", &several)
        else {
            panic!()
        };
        let named: Vec<&str> = quotes.iter().flat_map(|quote| &quote.paths).map(String::as_str).collect();
        assert_eq!((paths.len(), named), (0, vec!["/a", "/b", "/a"]));
        // A path beside the list counts as well, because a tool may take either.
        let beside = json!({"filePath": "/c", "replacements": [item("/a")]});
        assert_eq!(read("multi_replace_string_in_file", &beside).paths(), ["/c", "/a"]);
        let single = json!({"replacements": [item("/a"), item("/a")]});
        let edit = read("multi_replace_string_in_file", &single);
        assert!(matches!(&edit, HostEdit::Replace { path, quotes, .. } if path == "/a" && quotes.len() == 2));
    }

    #[test]
    fn a_call_that_cannot_be_read_still_names_its_files() {
        let patch = "*** Begin Patch\n*** Frobnicate\n*** Add File: /a\n*** Update File: /b\n*** End Patch";
        let heredoc = format!("cd /sub && apply_patch <<'EOF'\n{}\nEOF\n", patch.replace("/b", "b"));
        let item = json!({"filePath": "/b", "oldString": "x", "newString": 1});
        for (host, tool, input, paths) in [
            (
                Host::ClaudeCode,
                "Edit",
                json!({"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": 1}),
                &["/a"][..],
            ),
            (Host::ClaudeCode, "Write", json!({"file_path": "/a"}), &["/a"]),
            (
                Host::ClaudeCode,
                "NotebookEdit",
                json!({"notebook_path": "/a", "new_source": "", "edit_mode": "foo"}),
                &["/a"],
            ),
            (
                Host::VsCode,
                "multi_replace_string_in_file",
                json!({"filePath": "/a", "replacements": [item]}),
                &["/a", "/b"],
            ),
            (Host::Codex, "apply_patch", json!({"command": patch}), &["/a", "/b"]),
            (Host::Copilot, "apply_patch", json!(patch), &["/a", "/b"]),
            (Host::Codex, "Bash", json!({"command": heredoc}), &["/a", "/sub/b"]),
        ] {
            let edit = read_edit(host, tool, &input).unwrap().unwrap();
            assert!(matches!(edit, HostEdit::Unreadable { .. }), "{tool}: {edit:?}");
            assert_eq!(edit.paths(), paths, "{tool}");
        }
        assert!(read_edit(Host::Codex, "apply_patch", &json!({"command": "what"})).is_err());
    }

    #[test]
    fn a_flag_may_be_a_text() {
        for (flag, expected) in [("true", QuoteMatches::Every), ("false", QuoteMatches::Only)] {
            let input = json!({"filePath": "/a", "oldString": "x", "newString": "y", "replaceAll": flag});
            let HostEdit::Replace { quotes, .. } =
                read_edit(Host::OpenCode, "edit", &input).unwrap().unwrap()
            else {
                panic!("{flag}")
            };
            assert_eq!(quotes[0].matches, expected);
        }
    }

    #[test]
    fn a_field_that_is_null_counts_as_left_out() {
        let quote = json!({"old_string": "x", "new_string": "y"});
        for (host, tool, input, without) in [
            (
                Host::Cline,
                "editor",
                json!({"path": "/a", "old_text": "x", "new_text": "y", "insert_line": null}),
                json!({"path": "/a", "old_text": "x", "new_text": "y"}),
            ),
            (
                Host::Cline,
                "editor",
                json!({"path": "/a", "old_text": null, "new_text": "y", "diff": null}),
                json!({"path": "/a", "new_text": "y"}),
            ),
            (
                Host::ClaudeCode,
                "Edit",
                json!({"file_path": "/a", "old_string": "x", "new_string": "y", "edits": null, "replace_all": null}),
                json!({"file_path": "/a", "old_string": "x", "new_string": "y"}),
            ),
            (
                Host::Cursor,
                "Edit",
                json!({"file_path": "/a", "replacements": null, "edits": null, "ReplacementChunks": [quote]}),
                json!({"file_path": "/a", "edits": [quote]}),
            ),
            (
                Host::VsCode,
                "replace_string_in_file",
                json!({"filePath": "/a", "old_string": null, "oldString": "x", "new_string": null, "newString": "y"}),
                json!({"filePath": "/a", "oldString": "x", "newString": "y"}),
            ),
            (
                Host::Cursor,
                "",
                json!({"file_path": "/a", "old_string": null, "edits": null, "content": "x"}),
                json!({"file_path": "/a", "content": "x"}),
            ),
            (
                Host::OpenCode,
                "edit",
                json!({"filePath": "/a", "oldString": "x", "newString": "y", "replace_all": null, "replaceAll": true}),
                json!({"filePath": "/a", "oldString": "x", "newString": "y", "replaceAll": true}),
            ),
            (
                Host::OpenCode,
                "apply_patch",
                json!({"command": null, "patchText": "*** Begin Patch\n*** Delete File: /a\n*** End Patch"}),
                json!({"patchText": "*** Begin Patch\n*** Delete File: /a\n*** End Patch"}),
            ),
            (
                Host::Codex,
                "exec_command",
                json!({"command": null, "cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: /a\n*** End Patch\nEOF"}),
                json!({"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: /a\n*** End Patch\nEOF"}),
            ),
        ] {
            let expected = read_edit(host, tool, &without);
            assert!(!matches!(
                expected,
                Ok(None | Some(HostEdit::Other { .. } | HostEdit::Unreadable { .. }))
            ));
            assert_eq!(read_edit(host, tool, &input), expected, "{tool}: {input}");
        }
    }

    #[test]
    fn only_a_tool_that_searches_lines_has_a_range() {
        let input = json!({
            "TargetFile": "/a", "TargetContent": "x", "ReplacementContent": "y", "StartLine": 2, "EndLine": 3,
        });
        let range = |host, tool| match read_edit(host, tool, &input).unwrap().unwrap() {
            HostEdit::Replace { quotes, .. } => quotes[0].lines,
            other => panic!("{other:?}"),
        };
        let lines = Some(NamedLines { start: 2, end: 3 });
        assert_eq!(range(Host::Antigravity, "replace_file_content"), lines);
        assert_eq!(range(Host::ClaudeCode, "Edit"), None);
    }

    #[test]
    fn every_path_of_a_call_is_named() {
        let item = json!({"filePath": "/a", "path": "/b", "oldString": "x", "newString": "y"});
        let edit = read("multi_replace_string_in_file", &json!({"replacements": [item]}));
        let HostEdit::ReplaceInFiles { quotes, .. } = &edit else { panic!("{edit:?}") };
        assert_eq!((edit.paths(), quotes.len(), quotes[0].quote.new.as_str()), (vec!["/a", "/b"], 1, "y"));
        let two = json!({"filePath": "/a", "path": "/b", "edits": [{"oldString": "x", "newString": "y"}]});
        assert_eq!(read("multi_replace_string_in_file", &two).paths(), ["/a", "/b", "/a", "/b"]);
        let paths = json!({"path": "/b", "file_path": "/a", "filePath": 1, "TargetFile": "/a"});
        for (tool, rest) in [
            ("replace_string_in_file", json!({"oldString": "x", "newString": "y"})),
            ("create_file", json!({"content": "x"})),
            ("insert_edit_into_file", json!({"code": "x"})),
            ("NotebookEdit", json!({"new_source": "x"})),
        ] {
            let mut input = paths.clone();
            input.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            let edit = read(tool, &input);
            assert!(matches!(&edit, HostEdit::Ambiguous(edits) if edits.len() == 2), "{edit:?}");
            assert_eq!(edit.paths(), ["/a", "/b"], "{tool}");
        }
        let same = json!({"filePath": "/a", "path": "/a", "content": "x"});
        assert!(matches!(read("create_file", &same), HostEdit::Write { path, .. } if path == "/a"));
        assert!(read_edit(Host::VsCode, "create_file", &json!({"path": 1, "content": "x"})).is_err());
    }
}
