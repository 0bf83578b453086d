//! Finds a decorator, attribute, annotation or directive that is missing above a symbol that the edit rewrote.
//!
//! An edit that removes only the decorator is intended.

use std::collections::HashMap;

use super::lexis::LexicalPart;
use super::symbols::{LineSymbol, is_mark, symbols};
use super::text_pair::{DamageFinding, TextPair};
use crate::text::Lines;

pub(super) fn look(scene: &TextPair<'_>) -> Vec<DamageFinding> {
    let Some(before) = scene.before else { return Vec::new() };
    let language = scene.language();
    let took = |old: &(usize, usize)| (old.0..=old.1).any(|line| is_mark(before.text(line).trim(), language));
    if !scene.pieces.iter().any(|piece| took(&piece.old)) {
        return Vec::new();
    }
    let new = symbols(scene.after, language);
    let kept = DecoratedSymbols::new(scene, &new);
    let old = symbols(before, language);
    let mut spots: Vec<DamageFinding> =
        old.iter().filter_map(|symbol| lost(scene, before, symbol, &kept)).collect();
    spots.dedup_by_key(|spot| spot.line);
    spots
}

/// The symbols after the edit, by their line and by their name.
struct DecoratedSymbols<'k, 't> {
    by_line: HashMap<usize, &'k LineSymbol<'t>>,
    by_name: HashMap<&'t str, Vec<&'k LineSymbol<'t>>>,
}

impl<'k, 't> DecoratedSymbols<'k, 't> {
    fn new(scene: &TextPair<'_>, new: &'k [LineSymbol<'t>]) -> DecoratedSymbols<'k, 't> {
        let mut by_name: HashMap<&str, Vec<&LineSymbol<'_>>> = HashMap::new();
        for symbol in new.iter().filter(|symbol| scene.draft.wrote(symbol.line)) {
            by_name.entry(symbol.name).or_default().push(symbol);
        }
        DecoratedSymbols { by_line: new.iter().map(|symbol| (symbol.line, symbol)).collect(), by_name }
    }

    /// Returns the symbol after the edit that corresponds to an old one: the one on its line, else the one with its name in
    /// the replacing lines.
    fn partner(&self, scene: &TextPair<'_>, old: &LineSymbol<'_>) -> Option<&'k LineSymbol<'t>> {
        if let Some(line) = scene.draft.map.new_line_of(old.line) {
            return self.by_line.get(&line).copied().filter(|symbol| symbol.name == old.name);
        }
        let piece = scene.pieces.iter().find(|piece| (piece.old.0..=piece.old.1).contains(&old.line))?;
        let inside = |symbol: &&&LineSymbol<'_>| (piece.new.0..=piece.new.1).contains(&symbol.line);
        self.by_name.get(old.name)?.iter().find(inside).copied()
    }
}

fn lost(
    scene: &TextPair<'_>,
    before: Lines<'_>,
    old: &LineSymbol<'_>,
    kept: &DecoratedSymbols<'_, '_>,
) -> Option<DamageFinding> {
    let gone = |(line, _): &&(usize, &str)| scene.draft.map.new_line_of(*line).is_none();
    old.above.iter().find(gone)?;
    let new = kept.partner(scene, old)?;
    if scene.part_of_line(new.line) != LexicalPart::Code {
        return None;
    }
    let named = |mark: &str| mark.split(['(', ' ', '=']).next().unwrap_or(mark).to_owned();
    let mut others: Vec<String> = new.above.iter().map(|(_, mark)| named(mark)).collect();
    let mut missing = old.above.iter().filter(|(_, mark)| {
        let partner = others.iter().position(|other| *other == named(mark));
        partner.map(|partner| others.swap_remove(partner)).is_none()
    });
    let missing: Vec<_> = missing.by_ref().collect();
    // A new decorator may replace a missing one.
    let (line, mark) = missing.get(others.len())?;
    if !wrote(scene, before, old) || same_line(scene, new, mark) {
        return None;
    }
    let mark: String = mark.chars().take(60).collect();
    let message = format!(
        "`{mark}`, on line {line} before the edit, is missing above `{}`; send it with the symbol",
        new.name
    );
    let text = scene.after.text(new.line);
    let column = scene.column(new.line, text.len() - text.trim_start().len());
    Some(DamageFinding { line: new.line, column, message })
}

/// True if the edit changed more of the symbol than its decorators.
fn wrote(scene: &TextPair<'_>, before: Lines<'_>, old: &LineSymbol<'_>) -> bool {
    let body = (old.line, old.end);
    scene.pieces.iter().any(|piece| {
        let changed = (piece.old.0.max(body.0)..=piece.old.1.min(body.1))
            .any(|line| !before.text(line).trim().is_empty());
        let inserted = piece.old.1 < piece.old.0 && (body.0 < piece.old.0 && piece.old.0 <= body.1);
        changed || inserted
    })
}

/// True if the mark is now on the symbol's own line.
fn same_line(scene: &TextPair<'_>, new: &LineSymbol<'_>, mark: &str) -> bool {
    scene.after.text(new.line).contains(mark)
}
