//! Finds typographic quotes where the language requires plain ones.

use super::lexical_syntax::TextKind;
use super::text_pair::{DamageFinding, TextPair};
use crate::gate::delta::ReplacedLines;

const QUOTES: [char; 4] = ['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}'];

pub(super) fn look(scene: &TextPair<'_>) -> Vec<DamageFinding> {
    match scene.sort {
        TextKind::Code | TextKind::Data | TextKind::Prose => {}
        TextKind::Patch | TextKind::Unknown => return Vec::new(),
    }
    if matches!(scene.language(), "markdown" | "text" | "csv") || !has_any(scene.draft.after.view()) {
        return Vec::new();
    }
    let mut spots = Vec::new();
    for (line, piece) in scene.written().filter(|(line, _)| has_any(scene.after.text(*line))) {
        if had(scene, piece) || scene.was_there(scene.after.text(line)) {
            continue;
        }
        let start = scene.after.span(line).start;
        let text = scene.after.text(line);
        let mut places = text.match_indices(QUOTES);
        let Some((at, quote)) = places.find(|(at, _)| is_meant(scene, text, start, *at)) else { continue };
        let plain = if matches!(quote, "\u{2018}" | "\u{2019}") { "'" } else { "\"" };
        let message = format!("the typographic quote {quote} in code; write {plain}");
        spots.push(DamageFinding { line, column: scene.column(line, at), message });
    }
    spots
}

fn has_any(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"\xE2\x80").is_some() && text.contains(QUOTES)
}

/// True if the replaced text already had such quotes.
fn had(scene: &TextPair<'_>, piece: &ReplacedLines) -> bool {
    let Some(before) = scene.before else { return false };
    (piece.old.0..=piece.old.1).any(|line| has_any(before.text(line)))
}

/// True if a plain quote is valid at this place, so that it was probably meant.
fn is_meant(scene: &TextPair<'_>, text: &str, start: usize, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end();
    match scene.language() {
        // In HTML and YAML most text needs no quotes and may contain any character.
        "html" => before.ends_with('=') && before.contains('<'),
        "yaml" => {
            let wrapped = text.trim_end().ends_with(QUOTES) && before.ends_with([':', '-']);
            wrapped && scene.is_surely_code(start + at)
        }
        _ => scene.is_surely_code(start + at),
    }
}
