//! The outline of one file, reduced to the available space: first without docs, then with short signatures,
//! then without variables and fields, then without deeply nested symbols.

use super::SymbolKind;
use super::budget::ByteBudget;
use super::doc;
use super::tags::{SymbolLocation, Tag, Tags, is_minor};
use super::versioned_text::VersionedText;
use lockgate_protocol::{ContextSymbol, json_size};

/// The part of an outline that fits.
pub(super) struct FittedOutline {
    pub(super) symbols: Vec<ContextSymbol>,
    /// The number of all symbols.
    pub(super) total: usize,
    /// The parts of the shown symbols that are left out.
    pub(super) omitted: Option<&'static str>,
}

/// The lengths to which signatures are cut until an outline fits, in characters.
const SHORT_SIGNATURES: [usize; 3] = [100, 60, 30];

/// Returns the part of the outline that fits.
pub(super) fn outline(text: &VersionedText, tags: &Tags, budget: &mut ByteBudget) -> FittedOutline {
    let all = symbols(text, tags);
    let total = all.len();
    if budget.take(all.iter().map(|(_, symbol)| json_size(symbol) + 1).sum()) {
        let symbols = all.into_iter().map(|(_, symbol)| symbol).collect();
        return FittedOutline { symbols, total, omitted: None };
    }
    let mut omitted = all.iter().any(|(_, symbol)| symbol.doc.is_some()).then_some("docs");
    let mut ranked: Vec<(usize, (OutlineRank, ContextSymbol))> = all.into_iter().enumerate().collect();
    ranked.iter_mut().for_each(|(_, (_, symbol))| symbol.doc = None);
    for most in SHORT_SIGNATURES {
        let size: usize = ranked.iter().map(|(_, (_, symbol))| json_size(symbol) + 1).sum();
        if size <= budget.left() {
            break;
        }
        omitted = Some("docs and the ends of long signatures");
        for (_, (_, symbol)) in &mut ranked {
            symbol.signature = doc::shortened(&symbol.signature, most);
        }
    }
    ranked.sort_by_key(|(_, (rank, _))| *rank);
    let fitting = ranked.iter().take_while(|(_, (_, symbol))| budget.take(json_size(symbol) + 1)).count();
    ranked.truncate(fitting);
    ranked.sort_unstable_by_key(|(place, _)| *place);
    let symbols = ranked.into_iter().map(|(_, (_, symbol))| symbol).collect();
    FittedOutline { symbols, total, omitted }
}

/// Returns the keys of a text that a name selects, each with its location.
pub(super) fn keys<'t>(
    text: &'t VersionedText,
    path: &'t str,
    tags: &'t Tags,
    name: &str,
) -> impl Iterator<Item = (ContextSymbol, SymbolLocation)> {
    let keys = tags.outline.named(name).filter(|(_, symbol)| symbol.kind == SymbolKind::Key);
    keys.filter_map(move |(at, key)| {
        let location = tags.definitions.get(at)?.location;
        Some((text.describe(path, key.path.to_owned(), key.kind, location, tags.language), location))
    })
}

/// What a shortened outline keeps first: the major symbols, the outer ones before the inner ones.
type OutlineRank = (bool, usize);

/// Returns the symbols of a text, each with its rank.
fn symbols(text: &VersionedText, tags: &Tags) -> Vec<(OutlineRank, ContextSymbol)> {
    let mut paths: Vec<(usize, String)> = Vec::with_capacity(tags.definitions.len());
    let mut symbols = Vec::new();
    for Tag { part, kind, around, location, .. } in &tags.definitions {
        let around = around.and_then(|around| paths.get(around));
        let (depth, path) = match around {
            Some((depth, around)) => (depth + 1, format!("{around}.{part}")),
            None => (0, part.clone()),
        };
        let symbol = text.describe("", path.clone(), *kind, *location, tags.language);
        symbols.push(((is_minor(*kind), depth), symbol));
        paths.push((depth, path));
    }
    symbols
}
