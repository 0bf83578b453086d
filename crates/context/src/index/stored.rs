//! The stored form of an index: a sequence of numbers and texts.
//!
//! Invariant: no sequence of bytes makes reading panic, or take more memory than a small multiple of its size. What is
//! read has only numbers that exist.

use super::super::tags::SymbolLocation;
use super::codec::{IndexReader, IndexWriter};
use super::indexed_file::{Definition, IndexedFile, SymbolWords};
use super::names::NameTable;
use super::{Index, grammar_name};
use lockgate_text::{SymbolKind, SymbolRank};

impl Index {
    /// Writes the name of the root, all symbol names, and the files, which refer to the names by number.
    pub fn write_to(&self, out: &mut IndexWriter) {
        out.bytes(self.root_name.as_bytes());
        out.count(self.names.len());
        self.names.all().for_each(|name| out.bytes(name.as_bytes()));
        out.count(self.files.len());
        for (path, file) in &self.files {
            out.bytes(path.as_bytes());
            file.write_to(out);
        }
    }

    /// Reads an index; `None` if the bytes are no index of this program.
    pub fn read_from(bytes: &mut IndexReader<'_>) -> Option<Index> {
        let root_name = bytes.text()?.to_owned();
        let mut names = NameTable::default();
        for number in 0..bytes.count()? {
            let text = bytes.text()?;
            // A name that occurs twice would shift the numbers of all later ones.
            if usize::try_from(names.insert(text)).ok()? != number {
                return None;
            }
        }
        let mut index = Index { in_use: names.len(), names, root_name, ..Index::default() };
        for _ in 0..bytes.count()? {
            let path = bytes.text()?.to_owned();
            let file = IndexedFile::read_from(bytes, index.names.len())?;
            index.files.insert(path, file);
        }
        Some(index)
    }
}

impl IndexedFile {
    fn write_to(&self, out: &mut IndexWriter) {
        out.bytes(self.version.bytes());
        out.bytes(self.language.as_bytes());
        out.number(u64::from(self.whole));
        out.count(self.definitions.len());
        for definition in &self.definitions {
            let Definition { part, name, kind, rank, around, location, words } = *definition;
            let SymbolWords { start, count, own } = words;
            let SymbolLocation { line, first, last, head, body } = location;
            let kind = SymbolKind::ALL.iter().position(|other| *other == kind).unwrap_or_default();
            let around = around.map_or(0, |around| around + 1);
            let kind = u32::try_from(kind).unwrap_or_default();
            for number in [part, name, kind, around, line, first, last, head, body, start] {
                out.number(u64::from(number));
            }
            out.number(u64::from(rank == SymbolRank::Minor));
            out.number(u64::from(count));
            out.number(u64::from(own));
        }
        out.count(self.words.len());
        self.words.iter().for_each(|word| out.number(u64::from(*word)));
        out.count(self.keys.len());
        for (key, end) in &self.keys {
            out.number(u64::from(*key));
            out.number(u64::from(*end));
        }
        out.bytes(&self.lines);
    }

    fn read_from(bytes: &mut IndexReader<'_>, names: usize) -> Option<IndexedFile> {
        let is_name = |name: &u32| usize::try_from(*name).is_ok_and(|name| name < names);
        let version = bytes.version()?;
        let language = grammar_name(bytes.text()?)?;
        let whole = bytes.number()? == 1;
        let mut definitions = Vec::new();
        for at in 0..bytes.count()? {
            let [part, name] = [bytes.small()?, bytes.small()?];
            let kind = SymbolKind::ALL.get(usize::try_from(bytes.number()?).ok()?).copied()?;
            let around = bytes.small()?.checked_sub(1);
            let [line, first, last, head, body] =
                [bytes.small()?, bytes.small()?, bytes.small()?, bytes.small()?, bytes.small()?];
            let start = bytes.small()?;
            let rank = if bytes.number()? == 1 { SymbolRank::Minor } else { SymbolRank::Major };
            let [count, own] = [bytes.number()?, bytes.number()?];
            let words = SymbolWords { start, count: u8::try_from(count).ok()?, own: u8::try_from(own).ok()? };
            let encloses = |around: u32| usize::try_from(around).is_ok_and(|around| around < at);
            let is_valid = is_name(&part) && is_name(&name) && around.is_none_or(encloses);
            let location = SymbolLocation { line, first, last, head, body };
            if !is_valid {
                return None;
            }
            definitions.push(Definition { part, name, kind, rank, around, location, words });
        }
        let words: Vec<u32> =
            (0..bytes.count()?).map(|_| bytes.small().filter(is_name)).collect::<Option<_>>()?;
        let keys: Vec<(u32, u32)> = (0..bytes.count()?)
            .map(|_| Some((bytes.small().filter(is_name)?, bytes.small()?)))
            .collect::<Option<_>>()?;
        if !keys.is_sorted_by(|(one, _), (other, _)| one < other) {
            return None;
        }
        let lines = bytes.bytes()?.into();
        Some(IndexedFile {
            version,
            language,
            definitions: definitions.into(),
            whole,
            words: words.into(),
            keys: keys.into(),
            lines,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tags::reading;
    use super::*;
    use lockgate_text::Version;
    use proptest::prelude::*;

    const TEXTS: [(&str, &str, &str); 3] = [
        (
            "a.py",
            "python",
            "from d import c\nclass A:\n    '''Doc.'''\n    def b(self):\n        self.b()\nprint(A)\n",
        ),
        ("b/c.rs", "rust", "struct S { f: u32 }\nimpl S { fn g(&self) -> u32 { self.f } }\n"),
        ("d.md", "markdown", "# One\n\n## Two\n"),
    ];

    fn index() -> Index {
        let mut index = Index::new("home");
        reading(|reader| {
            for (path, language, text) in TEXTS {
                let tags = reader.tags(language, path, text).unwrap();
                index.put(path, Version::hash(text.as_bytes()), &tags);
            }
        })
        .unwrap();
        index
    }

    fn bytes_of(index: &Index) -> Vec<u8> {
        let mut out = IndexWriter::default();
        index.write_to(&mut out);
        out.into_bytes()
    }

    #[test]
    fn an_index_is_read_as_it_was_written() {
        let index = index();
        let bytes = bytes_of(&index);
        let mut reader = IndexReader::new(&bytes);
        let read = Index::read_from(&mut reader).unwrap();
        assert!(reader.is_at_end());
        assert_eq!(format!("{:?}", read.files), format!("{:?}", index.files));
        assert_eq!(read.names.all().collect::<Vec<_>>(), index.names.all().collect::<Vec<_>>());
        assert_eq!(bytes_of(&read), bytes);
    }

    #[test]
    fn every_beginning_is_incomplete() {
        let bytes = bytes_of(&index());
        for end in 0..bytes.len() {
            assert!(Index::read_from(&mut IndexReader::new(&bytes[..end])).is_none(), "{end}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_reading_or_asking_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let mut bytes = bytes_of(&index());
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(read) = Index::read_from(&mut IndexReader::new(&bytes)) {
                for file in read.files.values() {
                    for definition in &file.definitions {
                        file.path(definition, &read.names);
                        file.words(definition);
                    }
                    file.around(3, &read.names);
                    (0..40).for_each(|key| drop(file.lines(key)));
                }
            }
        }
    }
}
