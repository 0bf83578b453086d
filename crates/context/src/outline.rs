//! The outline of one file, reduced to the available space: first without docs, then without leaf
//! symbols, then without deep ones.

use super::budget::{self, ByteBudget};
use super::tags::{Tag, Tags};
use super::versioned_text::VersionedText;
use super::{CodeSymbol, SymbolKind};

/// The level of detail of an outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Measure {
    docs: bool,
    minors: bool,
    depth: usize,
}

/// From the most detail to the least.
const MEASURES: [Measure; 5] = [
    Measure { docs: true, minors: true, depth: usize::MAX },
    Measure { docs: false, minors: true, depth: usize::MAX },
    Measure { docs: false, minors: false, depth: usize::MAX },
    Measure { docs: false, minors: false, depth: 2 },
    Measure { docs: false, minors: false, depth: 1 },
];

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
    let room = budget.left();
    for measure in MEASURES {
        let shown: Vec<CodeSymbol> =
            all.iter().filter_map(|(depth, symbol)| measure.apply(*depth, symbol)).collect();
        let bytes: usize = shown.iter().map(budget::symbol).sum();
        if bytes <= room && !shown.is_empty() {
            budget.take(bytes);
            let omits_docs = !measure.docs && all.iter().any(|(_, symbol)| symbol.doc.is_some());
            return FittedOutline { symbols: shown, total, omits_docs };
        }
    }
    let [.., least] = MEASURES;
    let (mut remaining, mut shown) = (room, Vec::new());
    for symbol in all.iter().filter_map(|(depth, symbol)| least.apply(*depth, symbol)) {
        let Some(less) = remaining.checked_sub(budget::symbol(&symbol)) else { break };
        remaining = less;
        shown.push(symbol);
    }
    budget.take(room - remaining);
    FittedOutline { symbols: shown, total, omits_docs: true }
}

impl Measure {
    fn apply(self, depth: usize, symbol: &CodeSymbol) -> Option<CodeSymbol> {
        let minor = matches!(
            symbol.kind,
            SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field | SymbolKind::Variant
        );
        if depth >= self.depth || (minor && !self.minors) {
            return None;
        }
        let doc = symbol.doc.clone().filter(|_| self.docs);
        Some(CodeSymbol { doc, ..symbol.clone() })
    }
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
