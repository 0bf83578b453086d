//! The edits that the tools of hosts make, read from the arguments of a call.
//!
//! Invariant: an edit is read completely or not at all; a field of the wrong type is an error.

use serde_json::{Map, Value};

use super::host::Host;
use super::patch::Patch;

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
        /// The first path that the call names.
        path: String,
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
}

/// A quoted text, and the file that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileQuote {
    /// The path of the file.
    pub path: String,
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
            HostEdit::ReplaceInFiles { path, quotes } => {
                std::iter::once(path.as_str()).chain(quotes.iter().map(|quote| quote.path.as_str())).collect()
            }
            HostEdit::Patch { patch, .. } => patch.paths(),
        }
    }
}

/// The kinds of edit tools.
enum ToolKind {
    Replace,
    Write,
    Delete,
    Patch,
    Command,
    Notebook,
    Other,
}

const PATH: [&str; 5] = ["file_path", "filePath", "path", "TargetFile", "target_file"];
const OLD: [&str; 5] = ["old_string", "oldString", "old_str", "old_text", "TargetContent"];
const NEW: [&str; 5] = ["new_string", "newString", "new_str", "new_text", "ReplacementContent"];
const CONTENT: [&str; 5] = ["content", "file_text", "CodeContent", "contents", "new_text"];
const EVERY: [&str; 4] = ["replace_all", "replaceAll", "allow_multiple", "AllowMultiple"];
const LISTS: [&str; 3] = ["edits", "replacements", "ReplacementChunks"];

/// Reads the edit of a call; `None` if the tool edits no file.
///
/// Errors: a field that is missing or of the wrong type, in one line.
pub(super) fn read_edit(host: Host, tool: &str, input: &Value) -> Result<Option<HostEdit>, String> {
    let Some(kind) = kind(host, tool, input) else { return Ok(None) };
    match kind {
        ToolKind::Patch => return patch(input).map(Some),
        ToolKind::Command => return Ok(command(input)),
        ToolKind::Replace | ToolKind::Write | ToolKind::Delete | ToolKind::Notebook | ToolKind::Other => {}
    }
    let Value::Object(fields) = input else { return Err(format!("the input of {tool} is not an object")) };
    let path = || {
        let list = LISTS.iter().find_map(|name| fields.get(*name)?.get(0)?.as_object());
        let named = list.filter(|_| name_in(fields, &PATH).is_none());
        required(named.unwrap_or(fields), &PATH, tool)
    };
    Ok(Some(match kind {
        ToolKind::Replace => replace(fields, path()?, tool)?,
        ToolKind::Write => HostEdit::Write { path: path()?, content: required(fields, &CONTENT, tool)? },
        ToolKind::Delete => HostEdit::Delete { path: path()? },
        ToolKind::Notebook => notebook(fields, tool)?,
        ToolKind::Other | ToolKind::Patch | ToolKind::Command => HostEdit::Other { path: path()? },
    }))
}

/// Returns the kind of a host's tool; `None` if it edits no file.
fn kind(host: Host, tool: &str, input: &Value) -> Option<ToolKind> {
    let has = |names: &[&str]| names.iter().any(|name| input.get(name).is_some());
    let by_shape = || {
        if has(&OLD) || has(&["edits"]) {
            Some(ToolKind::Replace)
        } else if has(&CONTENT) {
            Some(ToolKind::Write)
        } else {
            None
        }
    };
    match (host, tool) {
        (Host::ClaudeCode | Host::VsCode | Host::Copilot, "Edit" | "MultiEdit") => {
            by_shape().or(Some(ToolKind::Replace))
        }
        (Host::ClaudeCode | Host::VsCode | Host::Copilot, "Write") => by_shape().or(Some(ToolKind::Write)),
        (Host::ClaudeCode | Host::VsCode, "NotebookEdit") => Some(ToolKind::Notebook),
        (Host::Codex | Host::Copilot | Host::OpenCode | Host::VsCode, "apply_patch") => Some(ToolKind::Patch),
        (Host::Codex, "Bash" | "shell" | "exec_command" | "local_shell") => Some(ToolKind::Command),
        (Host::Gemini, "replace") => Some(ToolKind::Replace),
        (Host::Gemini, "write_file") => Some(ToolKind::Write),
        (Host::OpenCode, "edit") => Some(ToolKind::Replace),
        (Host::OpenCode, "write") => Some(ToolKind::Write),
        (Host::Copilot, "edit") => Some(ToolKind::Replace),
        (Host::Copilot, "create") => Some(ToolKind::Write),
        (Host::VsCode, "replace_string_in_file" | "multi_replace_string_in_file") => Some(ToolKind::Replace),
        (Host::VsCode, "create_file") => Some(ToolKind::Write),
        (Host::VsCode, "insert_edit_into_file" | "edit_notebook_file") => Some(ToolKind::Other),
        (Host::Cursor, "Write") => Some(ToolKind::Write),
        (Host::Cursor, "StrReplace" | "Edit" | "MultiEdit") => Some(ToolKind::Replace),
        (Host::Cursor, "ApplyPatch") => Some(ToolKind::Patch),
        (Host::Cursor, "Delete") => Some(ToolKind::Delete),
        // The name of the tool may be missing.
        (Host::Cursor, "" | "afterFileEdit") => by_shape(),
        (Host::Windsurf, "write_code") => Some(ToolKind::Replace),
        (Host::Cline, "editor" | "replace_in_file" | "write_to_file") => match () {
            () if has(&["insert_line", "diff"]) => Some(ToolKind::Other),
            () if has(&["old_text"]) => Some(ToolKind::Replace),
            () => Some(ToolKind::Write),
        },
        (Host::Antigravity, "replace_file_content") => Some(ToolKind::Replace),
        (Host::Antigravity, "write_to_file") => Some(ToolKind::Write),
        (Host::Antigravity, "multi_replace_file_content") => Some(ToolKind::Replace),
        _ => None,
    }
}

fn replace(fields: &Map<String, Value>, path: String, tool: &str) -> Result<HostEdit, String> {
    let list = LISTS.iter().find_map(|name| fields.get(*name));
    let Some(list) = list else {
        let (old, new) = (name_in(fields, &OLD), name_in(fields, &NEW));
        let names = old.zip(new).map(|(old, new)| QuoteFields { old, new });
        return Ok(HostEdit::Replace { path, quotes: vec![quote(fields, tool)?], fields: names });
    };
    let wrong = || format!("the edits of {tool} are not a list of objects");
    let mut quotes = Vec::new();
    for item in list.as_array().ok_or_else(wrong)? {
        let item = item.as_object().ok_or_else(wrong)?;
        let own = PATH.iter().find_map(|name| item.get(*name)?.as_str());
        quotes.push(FileQuote { path: own.unwrap_or(&path).to_owned(), quote: quote(item, tool)? });
    }
    if quotes.iter().any(|quote| quote.path != path) {
        return Ok(HostEdit::ReplaceInFiles { path, quotes });
    }
    let quotes = quotes.into_iter().map(|quote| quote.quote).collect();
    Ok(HostEdit::Replace { path, quotes, fields: None })
}

fn quote(fields: &Map<String, Value>, tool: &str) -> Result<QuotedReplacement, String> {
    let every = match EVERY.iter().find_map(|name| fields.get(*name)) {
        None | Some(Value::Null | Value::Bool(false)) => QuoteMatches::Only,
        Some(Value::Bool(true)) => QuoteMatches::Every,
        Some(_) => return Err(format!("the input of {tool} has a flag that is not true or false")),
    };
    Ok(QuotedReplacement {
        old: required(fields, &OLD, tool)?,
        new: required(fields, &NEW, tool)?,
        matches: every,
    })
}

fn patch(input: &Value) -> Result<HostEdit, String> {
    let field = ["command", "patchText", "patch", "input"].into_iter().find(|name| input.get(name).is_some());
    let (text, form) = match (input, field) {
        (Value::String(text), _) => (Some(text.as_str()), PatchForm::Text),
        (_, Some(name)) => (input.get(name).and_then(Value::as_str), PatchForm::Field(name)),
        (_, None) => (None, PatchForm::Text),
    };
    let text = text.ok_or("the input of apply_patch has no patch")?;
    Ok(HostEdit::Patch { patch: Patch::parse(text)?, folder: None, form })
}

/// Reads the patch in a shell command; every other command is no edit that is known before it runs.
fn command(input: &Value) -> Option<HostEdit> {
    let command = match input.get("command").or_else(|| input.get("cmd"))? {
        Value::String(command) => command.as_str(),
        // `bash -lc SCRIPT` as words.
        Value::Array(words) => words.last()?.as_str()?,
        _ => return None,
    };
    let (folder, patch) = Patch::in_command(command)?;
    let form =
        if input.get("command").is_some_and(Value::is_string) { PatchForm::Command } else { PatchForm::Text };
    Some(HostEdit::Patch { patch: patch.ok()?, folder, form })
}

fn notebook(fields: &Map<String, Value>, tool: &str) -> Result<HostEdit, String> {
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
    Ok(HostEdit::Notebook { path: required(fields, &["notebook_path"], tool)?, cell })
}

fn name_in(fields: &Map<String, Value>, names: &[&'static str]) -> Option<&'static str> {
    names.iter().find(|name| fields.contains_key(**name)).copied()
}

fn required(fields: &Map<String, Value>, names: &[&str], tool: &str) -> Result<String, String> {
    let value = names.iter().find_map(|name| fields.get(*name));
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
        let HostEdit::ReplaceInFiles { path, quotes } = read("multi_replace_string_in_file", &several) else {
            panic!()
        };
        let named: Vec<&str> = quotes.iter().map(|quote| quote.path.as_str()).collect();
        assert_eq!((path.as_str(), named), ("/a", vec!["/a", "/b", "/a"]));
        // A path beside the list counts as well, because a tool may take either.
        let beside = json!({"filePath": "/c", "replacements": [item("/a")]});
        assert_eq!(read("multi_replace_string_in_file", &beside).paths(), ["/c", "/a"]);
        let single = json!({"replacements": [item("/a"), item("/a")]});
        let edit = read("multi_replace_string_in_file", &single);
        assert!(matches!(&edit, HostEdit::Replace { path, quotes, .. } if path == "/a" && quotes.len() == 2));
    }
}
