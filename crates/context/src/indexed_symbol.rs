//! A symbol of the index, with its file.

use super::index::{Definition, Index, IndexedFile};
use lockgate_text::SymbolKind;

#[derive(Clone, Copy)]
pub(super) struct IndexedSymbol<'i> {
    pub(super) path: &'i str,
    pub(super) file: &'i IndexedFile,
    pub(super) definition: &'i Definition,
}

impl IndexedSymbol<'_> {
    /// Returns the lines that name the members of a symbol; a function has none.
    pub(super) fn member_lines(&self) -> Vec<u32> {
        let definitions = &self.file.definitions;
        if matches!(self.definition.kind, SymbolKind::Function | SymbolKind::Method) {
            return Vec::new();
        }
        let own = definitions.iter().position(|definition| std::ptr::eq(definition, self.definition));
        let own = own.and_then(|own| u32::try_from(own).ok());
        let members = definitions.iter().filter(|definition| own.is_some() && definition.around == own);
        members.map(|definition| definition.location.line).collect()
    }
}

/// Returns all symbols, in the order of their files.
pub(super) fn symbols(index: &Index) -> impl Iterator<Item = IndexedSymbol<'_>> {
    index.files.iter().flat_map(|(path, file)| {
        file.definitions.iter().map(move |definition| IndexedSymbol { path, file, definition })
    })
}

/// Returns the names of the module in a file: those of its folders, and that of the file.
pub(super) fn owners<'p>(index: &'p Index, path: &'p str) -> Vec<&'p str> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let home = (!path.starts_with('/')).then_some(index.root_name.as_str());
    home.into_iter().chain(folders.split('/')).chain([stem]).filter(|name| !name.is_empty()).collect()
}
