//! Finds a decorator, attribute, annotation or directive that is missing above a symbol that the edit rewrote.
//!
//! An edit that removes only the decorator is intended.

use std::collections::HashMap;

use super::lexis::LexicalPart;
use super::symbols::{LineSymbol, is_mark, symbols};
use super::text_pair::{DamageFinding, TextPair, excerpt, indent};
use crate::pieces::piece_at;
use lockgate_text::Lines;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let Some(before) = texts.before else { return Vec::new() };
    let language = texts.language();
    let is_decorator = |line: usize| is_mark(before.text(line).trim(), language);
    if !texts.pieces.iter().any(|piece| piece.old_lines().any(is_decorator)) {
        return Vec::new();
    }
    let new = symbols(texts.after, language);
    let new_symbols = DecoratedSymbols::new(texts, &new);
    let old = symbols(before, language);
    let mut findings: Vec<Vec<DamageFinding>> = old
        .iter()
        .map(|symbol| lost(texts, before, symbol, &new_symbols))
        .filter(|lost| !lost.is_empty())
        .collect();
    findings.dedup_by_key(|lost| lost.first().map(|finding| finding.line));
    findings.into_iter().flatten().collect()
}

/// The symbols after the edit, by their line and by their name.
struct DecoratedSymbols<'k, 't> {
    by_line: HashMap<usize, &'k LineSymbol<'t>>,
    /// Those that the edit wrote, in text order.
    by_name: HashMap<&'t str, Vec<&'k LineSymbol<'t>>>,
}

impl<'k, 't> DecoratedSymbols<'k, 't> {
    fn new(texts: &TextPair<'_>, new: &'k [LineSymbol<'t>]) -> DecoratedSymbols<'k, 't> {
        let mut by_name: HashMap<&str, Vec<&LineSymbol<'_>>> = HashMap::new();
        for symbol in new.iter().filter(|symbol| texts.draft.wrote(symbol.line)) {
            by_name.entry(symbol.name).or_default().push(symbol);
        }
        DecoratedSymbols { by_line: new.iter().map(|symbol| (symbol.line, symbol)).collect(), by_name }
    }

    /// Returns the symbol after the edit that corresponds to an old one: the one on its line, else the one with its name in
    /// the replacing lines.
    fn partner(&self, texts: &TextPair<'_>, old: &LineSymbol<'_>) -> Option<&'k LineSymbol<'t>> {
        if let Some(line) = texts.draft.map.new_line_of(old.line) {
            return self.by_line.get(&line).copied().filter(|symbol| symbol.name == old.name);
        }
        let piece = piece_at(&texts.pieces, |piece| piece.old, old.line)?;
        let named = self.by_name.get(old.name)?;
        let first = named.partition_point(|symbol| symbol.line < piece.new.0);
        named.get(first).copied().filter(|symbol| symbol.line <= piece.new.1)
    }
}

/// Returns a finding for each decorator that is missing above a symbol.
fn lost(
    texts: &TextPair<'_>,
    before: Lines<'_>,
    old: &LineSymbol<'_>,
    new_symbols: &DecoratedSymbols<'_, '_>,
) -> Vec<DamageFinding> {
    let is_removed = |(line, _): &(usize, &str)| texts.draft.map.new_line_of(*line).is_none();
    if !old.above.iter().any(is_removed) {
        return Vec::new();
    }
    let Some(new) = new_symbols.partner(texts, old) else { return Vec::new() };
    if texts.part_of_line(new.line) != LexicalPart::Code || !wrote(texts, before, old) {
        return Vec::new();
    }
    let name_of = |decorator: &str| decorator.split(['(', ' ', '=']).next().unwrap_or(decorator).to_owned();
    let mut unmatched: Vec<String> = new.above.iter().map(|(_, decorator)| name_of(decorator)).collect();
    let missing = old.above.iter().filter(|(_, decorator)| {
        let partner = unmatched.iter().position(|other| *other == name_of(decorator));
        partner.map(|partner| unmatched.swap_remove(partner)).is_none()
    });
    let missing: Vec<_> = missing.collect();
    let text = texts.after.text(new.line);
    // A new decorator may replace a missing one.
    let missing = missing.into_iter().skip(unmatched.len());
    // A decorator may now be on the symbol's own line.
    let missing = missing.filter(|(_, decorator)| !text.contains(decorator));
    missing
        .map(|(line, decorator)| {
            let message = format!(
                "`{}`, on line {line} before the edit, is missing above `{}`; send it with the symbol",
                excerpt(decorator, 60),
                new.name
            );
            texts.finding_at(new.line, indent(text).len(), message)
        })
        .collect()
}

/// True if the edit changed more of the symbol than its decorators.
fn wrote(texts: &TextPair<'_>, before: Lines<'_>, old: &LineSymbol<'_>) -> bool {
    let body = old.line..=old.end;
    texts.pieces.iter().any(|piece| {
        let mut changed = piece.old.0.max(old.line)..=piece.old.1.min(old.end);
        let is_inserted = piece.is_insertion() && piece.old.0 > old.line && body.contains(&piece.old.0);
        is_inserted || changed.any(|line| !before.text(line).trim().is_empty())
    })
}
