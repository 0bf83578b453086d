//! The in-memory index of a workspace: definitions of symbols, and uses of names by file.
//!
//! Invariant: of a file's text the index stores only names. Its data about a file belongs to the
//! version stored with it.

mod codec;
mod indexed_file;
mod names;
mod stored;

use std::collections::BTreeMap;

use super::tags::Tags;
use lockgate_text::Version;

pub use codec::{IndexReader, IndexWriter};
pub(super) use indexed_file::{Definition, IndexedFile, MAX_KEYS};
pub(super) use names::NameTable;

/// The number of unused names tolerated, in addition to twice the names in use, before unused names are
/// removed.
const SLACK: usize = 20_000;

/// Returns the name of a language that has a grammar.
fn grammar_name(language: &str) -> Option<&'static str> {
    lockgate_syntax::find(language).map(|grammar| grammar.language)
}

/// The index of a workspace.
#[derive(Debug, Default)]
pub struct Index {
    pub(super) names: NameTable,
    pub(super) files: BTreeMap<String, IndexedFile>,
    /// The name of the first root's folder, with which names may begin.
    pub(super) root_name: String,
    /// The number of names when all of them were in use.
    in_use: usize,
}

impl Index {
    /// Returns an empty index of a workspace whose first root has this name.
    pub fn new(home: &str) -> Index {
        Index { root_name: home.to_owned(), ..Index::default() }
    }

    /// Stores the tags of a file and replaces earlier ones.
    pub fn put(&mut self, path: &str, version: Version, tags: &Tags) {
        let file = IndexedFile::new(version, tags, &mut self.names);
        self.files.insert(path.to_owned(), file);
        if self.names.len() > 2 * self.in_use + SLACK {
            self.tidy();
        }
    }

    /// Removes a file and its tags; does nothing if the file is not indexed.
    pub fn remove(&mut self, path: &str) {
        self.files.remove(path);
    }

    /// Returns the indexed version of a file.
    pub fn version(&self, path: &str) -> Option<Version> {
        self.files.get(path).map(|file| file.version)
    }

    /// Returns the number of indexed files.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// Removes the names that no file has any more.
    fn tidy(&mut self) {
        let mut names = NameTable::default();
        for file in self.files.values_mut() {
            *file = file.with_numbers_of(&self.names, &mut names);
        }
        self.in_use = names.len();
        self.names = names;
    }

    /// Returns the files that are indexed incompletely.
    pub fn incomplete_files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|(_, file)| !file.whole).map(|(path, _)| path.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tags::reading;
    use super::*;

    fn put(index: &mut Index, path: &str, text: &str) {
        let tags = reading(|reader| reader.tags("python", path, text)).unwrap().unwrap();
        index.put(path, Version::hash(text.as_bytes()), &tags);
    }

    /// Returns everything that an index stores about a file.
    fn stored_data(index: &Index, path: &str) -> Vec<String> {
        let file = &index.files[path];
        let mut stored: Vec<String> = file.definitions.iter().map(|it| file.path(it, &index.names)).collect();
        for definition in &file.definitions {
            stored.extend(file.words(definition).0.iter().map(|word| index.names.text(*word).to_owned()));
        }
        for name in ["print", ".b", "A.b", "+c<d", "x"] {
            let lines = index.names.number(name).map(|key| file.lines(key));
            stored.push(format!("{name}: {:?}", lines.unwrap_or_default()));
        }
        stored
    }

    #[test]
    fn names_that_no_file_has_any_more_are_forgotten() {
        let mut index = Index::default();
        let text =
            "from d import c\nclass A:\n    def b(self):\n        self.b(); x.b()\nprint(A)\nprint(c)\n";
        put(&mut index, "a.py", text);
        let before = stored_data(&index, "a.py");
        for iteration in 0..40 {
            let many: String = (0..1_000).map(|n| format!("n{iteration}_{n} = 1\n")).collect();
            put(&mut index, "b.py", &many);
            assert!(index.names.len() < 60_000, "{}", index.names.len());
        }
        assert!(index.names.len() < 40_000, "40,000 names and their words came by");
        index.remove("b.py");
        index.tidy();
        assert_eq!(stored_data(&index, "a.py"), before);
        assert!(index.names.len() < 30);
    }
}
