//! A decorator, attribute, annotation or directive that stood above a symbol and is gone, where the edit wrote the
//! symbol anew.
//!
//! An edit that takes nothing away but the decorator means it.

use std::collections::HashMap;

use super::lexis::Part;
use super::scene::{Scene, Spot};
use super::symbols::{Symbol, is_mark, symbols};
use crate::text::Lines;

pub(super) fn look(scene: &Scene<'_>) -> Vec<Spot> {
    let Some(before) = scene.before else { return Vec::new() };
    let language = scene.language();
    let took = |old: &(usize, usize)| (old.0..=old.1).any(|line| is_mark(before.text(line).trim(), language));
    if !scene.pieces.iter().any(|piece| took(&piece.old)) {
        return Vec::new();
    }
    let new = symbols(scene.after, language);
    let kept = Kept::new(scene, &new);
    let old = symbols(before, language);
    let mut spots: Vec<Spot> = old.iter().filter_map(|symbol| lost(scene, before, symbol, &kept)).collect();
    spots.dedup_by_key(|spot| spot.line);
    spots
}

/// The symbols after the edit, by their line and by their name.
struct Kept<'k, 't> {
    by_line: HashMap<usize, &'k Symbol<'t>>,
    by_name: HashMap<&'t str, Vec<&'k Symbol<'t>>>,
}

impl<'k, 't> Kept<'k, 't> {
    fn new(scene: &Scene<'_>, new: &'k [Symbol<'t>]) -> Kept<'k, 't> {
        let mut by_name: HashMap<&str, Vec<&Symbol<'_>>> = HashMap::new();
        for symbol in new.iter().filter(|symbol| scene.draft.wrote(symbol.line)) {
            by_name.entry(symbol.name).or_default().push(symbol);
        }
        Kept { by_line: new.iter().map(|symbol| (symbol.line, symbol)).collect(), by_name }
    }

    /// What became of a symbol: the one on its line, else the one of its name in what the edit put in its place.
    fn partner(&self, scene: &Scene<'_>, old: &Symbol<'_>) -> Option<&'k Symbol<'t>> {
        if let Some(line) = scene.draft.map.carry(old.line) {
            return self.by_line.get(&line).copied().filter(|symbol| symbol.name == old.name);
        }
        let piece = scene.pieces.iter().find(|piece| (piece.old.0..=piece.old.1).contains(&old.line))?;
        let inside = |symbol: &&&Symbol<'_>| (piece.new.0..=piece.new.1).contains(&symbol.line);
        self.by_name.get(old.name)?.iter().find(inside).copied()
    }
}

fn lost(scene: &Scene<'_>, before: Lines<'_>, old: &Symbol<'_>, kept: &Kept<'_, '_>) -> Option<Spot> {
    let gone = |(line, _): &&(usize, &str)| scene.draft.map.carry(*line).is_none();
    old.above.iter().find(gone)?;
    let new = kept.partner(scene, old)?;
    if scene.part_of_line(new.line) != Part::Code {
        return None;
    }
    let named = |mark: &str| mark.split(['(', ' ', '=']).next().unwrap_or(mark).to_owned();
    let mut others: Vec<String> = new.above.iter().map(|(_, mark)| named(mark)).collect();
    let mut missing = old.above.iter().filter(|(_, mark)| {
        let partner = others.iter().position(|other| *other == named(mark));
        partner.map(|partner| others.swap_remove(partner)).is_none()
    });
    let missing: Vec<_> = missing.by_ref().collect();
    // What is new above it may stand there in the place of what is gone.
    let (line, mark) = missing.get(others.len())?;
    if !wrote(scene, before, old) || same_line(scene, new, mark) {
        return None;
    }
    let mark: String = mark.chars().take(60).collect();
    let message = format!(
        "`{mark}`, on line {line} before, is gone from above `{}`; send it with the symbol",
        new.name
    );
    let text = scene.after.text(new.line);
    let column = scene.column(new.line, text.len() - text.trim_start().len());
    Some(Spot { line: new.line, column, message })
}

/// Whether the edit changed more of the symbol than what stands above it.
fn wrote(scene: &Scene<'_>, before: Lines<'_>, old: &Symbol<'_>) -> bool {
    let body = (old.line, old.end);
    scene.pieces.iter().any(|piece| {
        let changed = (piece.old.0.max(body.0)..=piece.old.1.min(body.1))
            .any(|line| !before.text(line).trim().is_empty());
        let inserted = piece.old.1 < piece.old.0 && (body.0 < piece.old.0 && piece.old.0 <= body.1);
        changed || inserted
    })
}

/// Whether the mark now stands on the symbol's own line.
fn same_line(scene: &Scene<'_>, new: &Symbol<'_>, mark: &str) -> bool {
    scene.after.text(new.line).contains(mark)
}
