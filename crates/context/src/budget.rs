//! The size limit of a response, and upper bounds for the JSON size of its parts.

use super::{CodeSymbol, FolderSummary, Reference};

/// Bytes that count as one token.
pub(super) const TOKEN: usize = 4;
/// Bytes around the parts of a response: its braces, the names of its lists, `truncated`.
const AROUND: usize = 130;
/// Bytes of a version, with its quotes and separators.
const VERSION_BYTES: usize = 18;
/// Bytes reserved for each number in a response.
const NUMBER: usize = 8;

/// Bytes reserved for notes on omissions, which are needed when nothing else fits.
const NOTES: usize = 240;

/// The bytes that a response may still use.
#[derive(Debug)]
pub(super) struct ByteBudget {
    left: usize,
    notes: usize,
}

impl ByteBudget {
    /// Converts a number of tokens to bytes.
    pub(super) fn from_tokens(tokens: usize) -> ByteBudget {
        let all = tokens.saturating_mul(TOKEN).saturating_sub(AROUND);
        let notes = NOTES.min(all / 3);
        ByteBudget { left: all - notes, notes }
    }

    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Takes the bytes of a note; true if they were available.
    pub(super) fn take_note(&mut self, note: &str) -> bool {
        let bytes = text(note) + 1;
        match self.notes.checked_sub(bytes) {
            Some(remaining) => {
                self.notes = remaining;
                true
            }
            None => self.take(bytes),
        }
    }

    /// Takes these bytes if they are available, and returns true.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(remaining) => {
                self.left = remaining;
                true
            }
            None => false,
        }
    }
}

/// The bytes of a text in JSON, with its quotes.
pub(super) fn text(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    };
    2 + text.bytes().map(escaped).sum::<usize>()
}

/// The bytes of a field: its name with quotes and separators, and its value.
fn field(name: &str, value: usize) -> usize {
    name.len() + 4 + value
}

/// The bytes of a symbol.
pub(super) fn symbol(symbol: &CodeSymbol) -> usize {
    let size_of = |name: &str, value: &str| if value.is_empty() { 0 } else { field(name, text(value)) };
    let start = if symbol.start_line == symbol.line { 0 } else { field("start_line", NUMBER) };
    3 + size_of("path", &symbol.file)
        + size_of("name", &symbol.name)
        + size_of("kind", symbol.kind.name())
        + start
        + field("line", NUMBER)
        + field("end_line", NUMBER)
        + size_of("signature", &symbol.signature)
        + size_of("doc", symbol.doc.as_deref().unwrap_or_default())
        + symbol.code.as_deref().map_or(0, code)
}

/// The bytes of the code of a symbol.
pub(super) fn code(code: &str) -> usize {
    field("code", text(code))
}

/// The bytes of a reference.
pub(super) fn reference(reference: &Reference) -> usize {
    3 + field("path", text(&reference.file))
        + field("line", NUMBER)
        + field("text", text(&reference.text))
        + reference.within.as_deref().map_or(0, |within| field("within", text(within)))
}

/// The bytes of a file's version in the list of versions.
pub(super) fn version(path: &str) -> usize {
    text(path) + VERSION_BYTES
}

/// The bytes of the fixed data about the target file.
pub(super) fn target(path: &str) -> usize {
    field("path", text(path)) + field("version", VERSION_BYTES) + field("total_lines", NUMBER)
}

/// The bytes of a path in a list.
pub(super) fn path(path: &str) -> usize {
    text(path) + 1
}

/// The bytes of a folder.
pub(super) fn folder(folder: &FolderSummary) -> usize {
    let languages = folder.languages.iter().map(|(name, _)| text(name) + NUMBER + 2).sum::<usize>();
    3 + field("path", text(&folder.path)) + field("files", NUMBER) + field("languages", 2 + languages)
}
