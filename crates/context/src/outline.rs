//! The outline of one file, reduced to the available space: first without docs, then without variables and
//! fields, then without deeply nested symbols.

use super::budget::{self, ByteBudget};
use super::tags::{Tag, Tags};
use super::versioned_text::VersionedText;
use super::{CodeSymbol, SymbolKind};

/// The part of an outline that fits.
pub(super) struct FittedOutline {
    pub(super) symbols: Vec<CodeSymbol>,
    /// The number of all symbols.
    pub(super) total: usize,
    /// Set when docs are left out.
    pub(super) omits_docs: bool,
}

/// Returns the part of the outline that fits.
pub(super) fn outline(page: &VersionedText, tags: &Tags, budget: &mut ByteBudget) -> FittedOutline {
    let all: Vec<(usize, CodeSymbol)> = symbols(page, tags);
    let total = all.len();
    if budget.take(all.iter().map(|(_, symbol)| budget::symbol(symbol)).sum()) {
        let symbols = all.into_iter().map(|(_, symbol)| symbol).collect();
        return FittedOutline { symbols, total, omits_docs: false };
    }
    let omits_docs = all.iter().any(|(_, symbol)| symbol.doc.is_some());
    let mut ranked: Vec<(usize, (usize, CodeSymbol))> = all.into_iter().enumerate().collect();
    ranked.iter_mut().for_each(|(_, (_, symbol))| symbol.doc = None);
    ranked.sort_by_key(|(_, (depth, symbol))| (is_minor(symbol.kind), *depth));
    let fitting = ranked.iter().take_while(|(_, (_, symbol))| budget.take(budget::symbol(symbol))).count();
    ranked.truncate(fitting);
    ranked.sort_unstable_by_key(|(place, _)| *place);
    let symbols = ranked.into_iter().map(|(_, (_, symbol))| symbol).collect();
    FittedOutline { symbols, total, omits_docs }
}

/// True for the variables and fields, which a shortened outline loses first.
fn is_minor(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field | SymbolKind::Variant)
}

/// Returns the symbols of a text, each with its depth.
fn symbols(page: &VersionedText, tags: &Tags) -> Vec<(usize, CodeSymbol)> {
    let mut paths: Vec<(usize, String)> = Vec::with_capacity(tags.definitions.len());
    let mut symbols = Vec::new();
    for Tag { part, kind, around, location: place, .. } in &tags.definitions {
        let around = around.and_then(|around| paths.get(around));
        let (depth, path) = match around {
            Some((depth, around)) => (depth + 1, format!("{around}.{part}")),
            None => (0, part.clone()),
        };
        symbols.push((depth, page.describe("", path.clone(), *kind, *place, tags.language)));
        paths.push((depth, path));
    }
    symbols
}
