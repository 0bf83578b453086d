//! A text that a response quotes.

use super::doc;
use super::index::{Definition, IndexedFile, NameTable};
use super::line_starts::{LineStarts, wide};
use super::tags::SymbolLocation;
use lockgate_protocol::ContextSymbol;
use lockgate_text::{SymbolKind, Version};

/// A text with its lines and its version.
#[derive(Debug)]
pub struct VersionedText {
    view: String,
    version: Version,
    line_starts: LineStarts,
}

impl VersionedText {
    /// Takes a view of a text, whose line ends are `\n`.
    pub fn new(view: String, version: Version) -> VersionedText {
        VersionedText { line_starts: LineStarts::new(&view), view, version }
    }

    /// Returns the text, whose line ends are `\n`.
    pub fn view(&self) -> &str {
        &self.view
    }

    /// The version of the text.
    pub fn version(&self) -> Version {
        self.version
    }

    pub(super) fn line_count(&self) -> usize {
        wide(self.line_starts.count)
    }

    /// Returns a line without surrounding white space, cut to the maximum length.
    pub(super) fn line(&self, line: u32) -> String {
        doc::clipped(self.lines(line, line).trim())
    }

    /// Returns whole lines, without the last line end.
    pub(super) fn lines(&self, first: u32, last: u32) -> &str {
        let start = self.line_starts.start(first).unwrap_or(self.view.len());
        let end = self.line_starts.start(last.saturating_add(1)).unwrap_or(self.view.len());
        self.view.get(start..end).unwrap_or_default().trim_end_matches('\n')
    }

    /// Describes a symbol of the index as it is declared here.
    pub(super) fn symbol(
        &self,
        path: &str,
        file: &IndexedFile,
        definition: &Definition,
        names: &NameTable,
    ) -> ContextSymbol {
        let name = file.path(definition, names);
        self.describe(path, name, definition.kind, definition.location, file.language)
    }

    /// Describes the symbol at a location in the text.
    pub(super) fn describe(
        &self,
        path: &str,
        name: String,
        kind: SymbolKind,
        place: SymbolLocation,
        language: &str,
    ) -> ContextSymbol {
        let extent = self.line_starts.start(place.first).unwrap_or(0)..self.view.len();
        let head = wide(place.head)..wide(place.body);
        ContextSymbol {
            path: path.to_owned(),
            name,
            kind: kind.name().into(),
            start_line: (place.first != place.line).then(|| wide(place.first)),
            line: wide(place.line),
            end_line: wide(place.last),
            signature: doc::signature(&self.view, &head, kind),
            doc: doc::doc(&self.view, &extent, &head, language),
            code: None,
        }
    }
}
