//! Finds symbols by words.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::index::{Definition, Index, IndexedFile};
use super::indexed_symbol::IndexedSymbol;
use super::near::{Distance, is_test};
use super::words::words;
use lockgate_text::{SymbolKind, common_prefix};

/// The maximum number of words in a query that count.
const MAX_WORDS: usize = 16;
/// The maximum number of symbols shown for a query.
pub(super) const MAX_SYMBOLS: usize = 500;
/// The score of a symbol whose whole name is in the query.
const EXACT_NAME: u64 = 400;
/// The score if that name is as short as an article: it is found, and comes after what matches a word.
const EXACT_SHORT_NAME: u64 = 1;
/// The maximum length of such a name, in bytes.
const SHORT: usize = 2;

/// The symbols that match a query.
pub(super) struct QueryHits<'i> {
    /// Those that match at least half as many words as the best one, or have all words of their name in the query;
    /// the most relevant first.
    pub(super) symbols: Vec<IndexedSymbol<'i>>,
    /// The number of symbols that match any word.
    pub(super) total: usize,
}

/// Returns the symbols that match the words of a query.
pub(super) fn matches<'i>(index: &'i Index, query: &str, near_path: Option<&str>) -> QueryHits<'i> {
    let mut wanted: Vec<String> = Vec::new();
    for word in words(query) {
        if wanted.len() < MAX_WORDS && !wanted.contains(&word) {
            wanted.push(word);
        }
    }
    let terms = QueryTerms::new(index, wanted);
    let exact_names: HashMap<u32, u64> = query
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$' | '-'))
        .filter(|part| !part.is_empty())
        .map(|part| (part, if part.len() > SHORT { EXACT_NAME } else { EXACT_SHORT_NAME }))
        .filter_map(|(part, score)| Some((index.names.number(part)?, score)))
        .collect();
    let mut found: Vec<((usize, u64), IndexedSymbol<'i>)> = Vec::new();
    for (path, file) in &index.files {
        let in_path = terms.of_path(path);
        let path_weight = in_path.iter().map(|word| terms.weight(*word)).sum();
        for definition in &file.definitions {
            let (matched, score) = score(&terms, &exact_names, file, definition, path_weight);
            if score > 0 {
                let score = if is_test(path) { score / 2 } else { score };
                let more = in_path.iter().filter(|word| !matched.contains(word)).count();
                found.push(((matched.len() + more, score), IndexedSymbol { path, file, definition }));
            }
        }
    }
    // A symbol that matches more of the words comes before one that matches fewer of them better.
    let order = |((matched, score), found): &((usize, u64), IndexedSymbol<'i>)| {
        let far = near_path.map(|near_path| Distance::between(near_path, found.path));
        (Reverse(*matched), Reverse(*score), far, found.path, found.definition.location.line)
    };
    found.sort_by_cached_key(order);
    let total = found.len();
    let best = found.first().map_or(0, |((matched, _), _)| *matched);
    // A symbol with all words of its name in the query is not there by chance.
    let is_named = |found: &IndexedSymbol<'_>| {
        let (words, own) = found.file.words(found.definition);
        let in_query = own > 0 && words.iter().take(own).all(|word| terms.hit(*word).is_some());
        in_query || exact_names.contains_key(&found.definition.name)
    };
    found.retain(|((matched, _), found)| matched * 2 >= best || is_named(found));
    QueryHits { symbols: found.into_iter().map(|(_, found)| found).collect(), total }
}

/// The words of a query, resolved in the index.
struct QueryTerms {
    wanted: Vec<String>,
    /// The word of the query that each name matches, by the number of the name.
    hits: Vec<Option<WordHit>>,
    /// The weight of each word of the query; rarer words weigh more.
    weights: Vec<u64>,
}

/// A match of a name with a word of the query.
#[derive(Debug, Clone, Copy)]
struct WordHit {
    /// The index of the word in the query.
    word: u8,
    /// The quality of the match: an equal word counts twice as much as a similar one.
    quality: u8,
}

impl QueryTerms {
    fn new(index: &Index, wanted: Vec<String>) -> QueryTerms {
        let hits = index.names.all().map(|name| hit(name, &wanted)).collect();
        let mut counts = vec![0_u64; wanted.len()];
        let mut terms = QueryTerms { wanted, hits, weights: Vec::new() };
        let mut all = 1_u64;
        for file in index.files.values() {
            for definition in &file.definitions {
                all += 1;
                let (words, _) = file.words(definition);
                for hit in words.iter().filter_map(|word| terms.hit(*word)) {
                    counts.get_mut(usize::from(hit.word)).into_iter().for_each(|count| *count += 1);
                }
            }
        }
        let weight = |count: &u64| u64::from((all / (count + 1)).max(1).ilog2()) + 1;
        terms.weights = counts.iter().map(weight).collect();
        terms
    }

    /// Returns the word of the query that a name matches.
    fn hit(&self, name: u32) -> Option<WordHit> {
        self.hits.get(usize::try_from(name).ok()?).copied().flatten()
    }

    fn weight(&self, word: usize) -> u64 {
        self.weights.get(word).copied().unwrap_or(0)
    }

    /// Returns the query's words in a path.
    fn of_path(&self, path: &str) -> Vec<usize> {
        let mut matched: Vec<usize> =
            words(path).filter_map(|word| self.wanted.iter().position(|wanted| *wanted == word)).collect();
        matched.sort_unstable();
        matched.dedup();
        matched
    }
}

/// Returns the query word that a name matches: an equal one, or one with the same beginning and a
/// similar length.
fn hit(name: &str, wanted: &[String]) -> Option<WordHit> {
    let hit = |at: usize, quality: u8| Some(WordHit { word: u8::try_from(at).ok()?, quality });
    if let Some(same) = wanted.iter().position(|word| word == name) {
        return hit(same, 4);
    }
    let alike = |word: &String| {
        let shared = common_prefix(word.as_bytes(), name.as_bytes());
        shared >= 4 && word.len().max(name.len()) - shared <= 3
    };
    hit(wanted.iter().position(alike)?, 2)
}

/// Returns the words of the query that a symbol matches, and its score: its name counts most, then its doc and its location.
/// A match of several words comes before a repeated match of one.
fn score(
    terms: &QueryTerms,
    exact_names: &HashMap<u32, u64>,
    file: &IndexedFile,
    definition: &Definition,
    path_weight: u64,
) -> (Vec<usize>, u64) {
    let (words, own) = file.words(definition);
    let mut best = [0_u64; MAX_WORDS];
    for (at, word) in words.iter().enumerate() {
        let Some(hit) = terms.hit(*word) else { continue };
        let term = usize::from(hit.word);
        let part_weight = if at < own { 5 } else { 2 };
        let score = u64::from(hit.quality) * part_weight * terms.weight(term);
        best.get_mut(term).into_iter().for_each(|best| *best = (*best).max(score));
    }
    let mut score: u64 = best.iter().sum();
    let matched: Vec<usize> =
        (0..).zip(&best).filter(|(_, score)| **score > 0).map(|(word, _)| word).collect();
    score += exact_names.get(&definition.name).copied().unwrap_or(0);
    if score == 0 {
        return (matched, 0);
    }
    score += path_weight * 2 + 20 * u64::try_from(matched.len().saturating_sub(1)).unwrap_or(0);
    // A shorter name matches with fewer other words.
    score = score * 10 + 10 / u64::try_from(own.max(1)).unwrap_or(1);
    let score = match definition.kind {
        SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Trait
        | SymbolKind::Interface
        | SymbolKind::Enum
        | SymbolKind::Function
        | SymbolKind::Method => score,
        SymbolKind::Type
        | SymbolKind::Module
        | SymbolKind::Constant
        | SymbolKind::Macro
        | SymbolKind::Heading => score * 3 / 4,
        _ => score / 2,
    };
    (matched, score)
}
