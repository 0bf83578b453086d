//! The index data of one file: numbers only, no text.

use std::collections::HashSet;

use super::super::line_starts::wide;
use super::super::tags::{SymbolLocation, Tag, Tags, is_minor};
use super::codec::{IndexReader, IndexWriter};
use super::names::NameTable;
use lockgate_text::{Outline, OutlineEntry, SymbolKind, SymbolRank, Version};

/// The maximum number of symbols and of uses indexed per file.
const MAX_SYMBOLS: usize = 10_000;
const MAX_USES: usize = 100_000;
/// The maximum depth of indexed keys in data files; deeper ones name parts of values.
pub(crate) const MAX_KEYS: usize = 2;

/// A file in the index.
#[derive(Debug)]
pub(crate) struct IndexedFile {
    pub(crate) version: Version,
    pub(crate) language: &'static str,
    pub(crate) definitions: Box<[Definition]>,
    /// Set when nothing of the file was left out.
    pub(crate) whole: bool,
    /// The words of all symbols, concatenated.
    pub(super) words: Box<[u32]>,
    /// The used keys in ascending order, each with the end of its lines in `lines`.
    pub(super) keys: Keys,
    pub(super) lines: Box<[u8]>,
}

/// Key numbers, each with the end offset of its data.
pub(super) type Keys = Box<[(u32, u32)]>;

/// A symbol in the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Definition {
    /// Its name relative to the symbol around it.
    pub(crate) part: u32,
    /// The last part of its name.
    pub(crate) name: u32,
    pub(crate) kind: SymbolKind,
    pub(crate) rank: SymbolRank,
    pub(crate) around: Option<u32>,
    pub(crate) location: SymbolLocation,
    pub(super) words: SymbolWords,
}

/// The words of a symbol, in the words of its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct SymbolWords {
    pub(super) start: u32,
    pub(super) count: u8,
    /// The number of those that belong to its name.
    pub(super) own: u8,
}

/// The symbols of a file, and the words of all of them.
struct IndexedSymbols {
    definitions: Vec<Definition>,
    words: Vec<u32>,
    /// Set when no symbol was left out because there were too many.
    is_complete: bool,
}

/// The used keys of a file, each with the end of its lines in `lines`.
struct PackedUses {
    keys: Keys,
    lines: Box<[u8]>,
}

impl IndexedFile {
    pub(super) fn new(version: Version, tags: &Tags, names: &mut NameTable) -> IndexedFile {
        let symbols = definitions(tags, names);
        let PackedUses { keys, lines } = uses(tags, names);
        let has_all_uses = tags.uses.values().map(Vec::len).sum::<usize>() < MAX_USES;
        IndexedFile {
            version,
            language: tags.language,
            whole: tags.whole && symbols.is_complete && has_all_uses,
            definitions: symbols.definitions.into(),
            words: symbols.words.into(),
            keys,
            lines,
        }
    }

    /// Copies this file with name numbers of another table.
    pub(super) fn with_numbers_of(&self, from: &NameTable, to: &mut NameTable) -> IndexedFile {
        let mut moved = |name: &u32| to.insert(from.text(*name));
        let words = self.words.iter().map(&mut moved).collect();
        let definition = |it: &Definition| Definition { part: moved(&it.part), name: moved(&it.name), ..*it };
        let definitions = self.definitions.iter().map(definition).collect();
        let mut sorted: Vec<(u32, Vec<u32>)> =
            self.keys.iter().map(|(key, _)| (to.insert(from.text(*key)), self.lines(*key))).collect();
        sorted.sort_unstable();
        let PackedUses { keys, lines } = packed(sorted.iter().map(|(key, lines)| (*key, lines.as_slice())));
        let IndexedFile { version, language, whole, .. } = *self;
        IndexedFile { version, language, definitions, whole, words, keys, lines }
    }

    pub(crate) fn definition(&self, at: u32) -> Option<&Definition> {
        self.definitions.get(usize::try_from(at).ok()?)
    }

    /// Returns the words of a symbol, and the number of them that belong to its name.
    pub(crate) fn words(&self, of: &Definition) -> (&[u32], usize) {
        let SymbolWords { start, count, own } = of.words;
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let words = self.words.get(start..start.saturating_add(usize::from(count)));
        (words.unwrap_or_default(), usize::from(own))
    }

    /// Returns the path of a symbol, as in `Class.method`.
    pub(crate) fn path(&self, of: &Definition, names: &NameTable) -> String {
        let mut parts = vec![names.text(of.part)];
        let mut around = of.around;
        while let Some(outer) = around.and_then(|around| self.definition(around)) {
            parts.push(names.text(outer.part));
            around = outer.around;
        }
        parts.reverse();
        parts.join(".")
    }

    /// Returns the indexed symbols as an outline. Its ranges are of line numbers, not of bytes.
    pub(crate) fn outline(&self, names: &NameTable) -> Outline {
        let mut paths = String::new();
        let entry = |definition: &Definition| {
            let start = paths.len();
            paths.push_str(&self.path(definition, names));
            let lines = wide(definition.location.first)..wide(definition.location.last).saturating_add(1);
            OutlineEntry {
                extent: lines.clone(),
                lines: lines.clone(),
                path: start..paths.len(),
                enclosing: definition.around.map(wide),
                kind: definition.kind,
                rank: definition.rank,
                name: lines.clone(),
                head: lines,
            }
        };
        let symbols = self.definitions.iter().map(entry).collect();
        Outline::new(symbols, paths, Vec::new())
    }

    /// Returns the path of the innermost container around a line.
    pub(crate) fn around(&self, line: u32, names: &NameTable) -> Option<String> {
        let before = self.definitions.partition_point(|symbol| symbol.location.first <= line);
        let holds = |symbol: &&Definition| symbol.location.last >= line && !is_minor(symbol.kind);
        let around = self.definitions.get(..before)?.iter().rev().take(MAX_SYMBOLS).find(holds);
        around.map(|symbol| self.path(symbol, names))
    }

    /// True if the file uses a key.
    pub(crate) fn uses(&self, key: u32) -> bool {
        self.keys.binary_search_by_key(&key, |(key, _)| *key).is_ok()
    }

    /// Returns those of the keys that the file uses.
    pub(crate) fn used_of(&self, keys: &HashSet<u32>) -> Vec<u32> {
        if keys.len() < self.keys.len() {
            return keys.iter().copied().filter(|key| self.uses(*key)).collect();
        }
        self.keys.iter().map(|(key, _)| *key).filter(|key| keys.contains(key)).collect()
    }

    /// Returns the lines that use a key, from 1.
    pub(crate) fn lines(&self, key: u32) -> Vec<u32> {
        let Ok(at) = self.keys.binary_search_by_key(&key, |(key, _)| *key) else { return Vec::new() };
        let end = |at: usize| self.keys.get(at).and_then(|(_, end)| usize::try_from(*end).ok());
        let start = at.checked_sub(1).and_then(end).unwrap_or(0);
        let packed = self.lines.get(start..end(at).unwrap_or(start)).unwrap_or_default();
        unpacked(packed)
    }
}

fn definitions(tags: &Tags, names: &mut NameTable) -> IndexedSymbols {
    let mut symbols = IndexedSymbols { definitions: Vec::new(), words: Vec::new(), is_complete: true };
    // The number and the depth of each indexed symbol.
    let mut numbers: Vec<Option<(u32, usize)>> = Vec::new();
    for tag in &tags.definitions {
        let around = tag.around.map(|around| numbers.get(around).copied().flatten());
        let depth = around.map_or(0, |around| around.map_or(MAX_KEYS, |(_, depth)| depth + 1));
        let wanted = tag.kind != SymbolKind::Key || depth < MAX_KEYS;
        if !wanted || symbols.definitions.len() >= MAX_SYMBOLS {
            symbols.is_complete &= !wanted;
            numbers.push(None);
            continue;
        }
        let number = u32::try_from(symbols.definitions.len()).unwrap_or(u32::MAX);
        numbers.push(Some((number, depth)));
        let start = u32::try_from(symbols.words.len()).unwrap_or(u32::MAX);
        symbols.words.extend(tag.words.iter().map(|word| names.insert(word)));
        let count = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        symbols.definitions.push(Definition {
            part: names.insert(&tag.part),
            name: names.insert(last(tag)),
            kind: tag.kind,
            rank: tag.rank,
            around: around.flatten().map(|(around, _)| around),
            location: tag.location,
            words: SymbolWords { start, count: count(tag.words.len()), own: count(tag.own_words) },
        });
    }
    symbols
}

/// The last part of a symbol's name.
fn last(tag: &Tag) -> &str {
    let last = if tag.kind.is_code() { tag.part.rsplit('.').next() } else { None };
    last.filter(|last| !last.is_empty()).unwrap_or(&tag.part)
}

fn uses(tags: &Tags, names: &mut NameTable) -> PackedUses {
    let mut sorted: Vec<(u32, &[u32])> = Vec::new();
    let mut remaining = MAX_USES;
    for (key, lines) in &tags.uses {
        remaining = remaining.saturating_sub(lines.len());
        if remaining > 0 {
            sorted.push((names.insert(key), lines));
        }
    }
    sorted.sort_unstable_by_key(|(key, _)| *key);
    packed(sorted)
}

/// Packs the lines of each key.
fn packed<'l>(sorted: impl IntoIterator<Item = (u32, &'l [u32])>) -> PackedUses {
    let (mut keys, mut packed) = (Vec::new(), IndexWriter::default());
    for (key, lines) in sorted {
        pack(lines, &mut packed);
        keys.push((key, u32::try_from(packed.length()).unwrap_or(u32::MAX)));
    }
    PackedUses { keys: keys.into(), lines: packed.into_bytes().into() }
}

/// Writes each line as its distance from the previous one.
fn pack(lines: &[u32], packed: &mut IndexWriter) {
    let mut last = 0;
    for line in lines {
        packed.number(u64::from(line - last));
        last = *line;
    }
}

fn unpacked(packed: &[u8]) -> Vec<u32> {
    let (mut steps, mut last) = (IndexReader::new(packed), 0_u32);
    let next = || {
        last = last.saturating_add(steps.small()?);
        Some(last)
    };
    std::iter::from_fn(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_unpacked_as_they_were_packed() {
        let lines = [1, 2, 2, 129, 130, 20_000, 3_000_000, u32::MAX];
        let mut packed = IndexWriter::default();
        pack(&lines, &mut packed);
        let packed = packed.into_bytes();
        assert_eq!(unpacked(&packed), lines);
        assert!(packed.len() < 20, "{}", packed.len());
    }
}
