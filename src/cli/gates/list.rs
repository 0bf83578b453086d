//! Lists the gates in a table, one row for each.
//!
//! Invariant: a row has at most [`WIDTH`] characters; longer cells are cut and marked.

use clap::builder::styling::Style;
use serde_json::{Value, json};

use super::gate_list::GateList;
use crate::cli::paint::{DONE, FAINT, LABEL, TITLE, WARNING, paint, visible_line};
use lockgate_policy::{Gate, GateKind, Languages, languages};

/// Maximum width of a row, in characters.
const WIDTH: usize = 100;
/// Width of the languages cell; longer lists are replaced by a count.
const LANGUAGES: usize = 12;
/// Widths of the other cells; the last cell takes the rest.
const KIND: usize = 7;
const ROLE: usize = 5;
const PROGRAM: usize = 8;
/// Width of the name cell; a policy may define longer names.
const NAMES: std::ops::RangeInclusive<usize> = 4..=24;

pub(super) fn text(gate_list: &GateList) -> String {
    let longest = gate_list.gates.iter().map(|gate| gate.name.chars().count()).max().unwrap_or_default();
    let name = longest.clamp(*NAMES.start(), *NAMES.end());
    let about = WIDTH - [name, KIND, ROLE, LANGUAGES, PROGRAM].map(|cell| cell + 2).iter().sum::<usize>();
    let cells = [name, KIND, ROLE, LANGUAGES, PROGRAM, about];
    let titles = ["gate", "kind", "role", "languages", "program", "what it does"].map(str::to_owned);
    let mut text = row(&titles, [TITLE; 6], cells);
    for gate in &gate_list.gates {
        let (program, style) = program(gate_list, gate);
        let words = [&gate.name, kind(gate), gate.role.name(), &languages_cell(gate), program, &gate.about];
        let styles = [LABEL, Style::new(), Style::new(), Style::new(), style, Style::new()];
        text += &row(&words.map(visible_line), styles, cells);
    }
    text
}

fn row(words: &[String; 6], styles: [Style; 6], cells: [usize; 6]) -> String {
    let painted = words.iter().zip(styles).zip(cells).map(|((word, style), width)| {
        let word = cut(word, width);
        let space = " ".repeat(width - word.chars().count());
        paint(style, word) + &space
    });
    painted.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
}

fn cut(word: &str, width: usize) -> String {
    if word.chars().count() <= width {
        return word.to_owned();
    }
    word.chars().take(width.saturating_sub(1)).chain(['\u{2026}']).collect()
}

/// Returns the kind of a gate as a word.
pub(super) fn kind(gate: &Gate) -> &'static str {
    match gate.kind {
        GateKind::Syntax => "syntax",
        GateKind::Pattern(_) => "pattern",
        GateKind::Damage => "damage",
        GateKind::Command(_) => "command",
        GateKind::Server(_) => "server",
    }
}

/// Returns the names of the languages that a gate checks.
pub(super) fn language_names(gate: &Gate) -> Vec<&str> {
    match &gate.languages {
        Languages::Every => vec!["*"],
        Languages::Only(names) => names.iter().map(String::as_str).collect(),
    }
}

fn languages_cell(gate: &Gate) -> String {
    let names = language_names(gate);
    let all = names.join(", ");
    match names.as_slice() {
        ["*"] => "every text".to_owned(),
        names if names.len() == languages().len() => "all known".to_owned(),
        _ if all.chars().count() <= LANGUAGES => all,
        names => format!("{} languages", names.len()),
    }
}

fn program(gate_list: &GateList, gate: &Gate) -> (&'static str, Style) {
    match (gate.runs_program(), gate_list.program(gate)) {
        (false, _) => ("built in", FAINT),
        (true, Some(_)) => ("here", DONE),
        (true, None) => ("missing", WARNING),
    }
}

/// Renders the same content as JSON.
pub(super) fn json(gate_list: &GateList) -> Value {
    json!({ "gates": gate_list.gates.iter().map(|gate| entry(gate_list, gate)).collect::<Vec<_>>() })
}

/// Renders one gate as JSON.
pub(super) fn entry(gate_list: &GateList, gate: &Gate) -> Value {
    let program = gate_list.program(gate);
    json!({
        "name": gate.name,
        "about": gate.about,
        "kind": kind(gate),
        "role": gate.role.name(),
        "languages": language_names(gate),
        "from": if gate_list.is_defined_by_policy(gate) { "policy" } else { "catalogue" },
        "here": !gate.runs_program() || program.is_some(),
        "program": program.map(|program| program.program.display().to_string()),
        "real_path": program.map(|program| program.real.display().to_string()),
        "inside_repository": program.is_some_and(|program| program.inside),
        "passed_over": gate_list.skipped_paths(gate),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_never_too_wide() {
        let long = "\u{e9}".repeat(200);
        let words = [&long, &long, &long, &long, &long, &long].map(String::clone);
        let cells = [18, KIND, ROLE, LANGUAGES, PROGRAM, 40];
        let shown = row(&words, [Style::new(); 6], cells);
        assert_eq!(shown.chars().count(), WIDTH + 1, "{shown}");
        assert_eq!(shown.matches('\u{2026}').count(), 6);
        assert_eq!(cut("exact", 5), "exact");
    }
}
