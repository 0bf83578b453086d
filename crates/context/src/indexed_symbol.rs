//! A symbol of the index, with its file.

use super::index::{Definition, Index, IndexedFile};

#[derive(Clone, Copy)]
pub(super) struct IndexedSymbol<'i> {
    pub(super) path: &'i str,
    pub(super) file: &'i IndexedFile,
    pub(super) definition: &'i Definition,
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
