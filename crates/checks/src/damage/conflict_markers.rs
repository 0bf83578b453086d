//! Finds the markers of a merge conflict at the start of new lines.
//!
//! Seven `=` alone underline a heading in Markdown and reStructuredText, so they count only with another marker.

use super::lexical_syntax::TextKind;
use super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair, excerpt};

/// The maximum distance between the markers of one conflict, in lines.
const FARTHEST: usize = 5_000;

/// The number of lines of a side that are checked.
const SIDE: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Ours,
    Base,
    Between,
    Theirs,
}

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    if texts.kind == TextKind::Patch {
        return Vec::new();
    }
    let new = texts.written().filter_map(|(line, _)| Some((line, marker(texts.after.text(line))?)));
    let new: Vec<(usize, Marker)> = new.collect();
    let counts =
        |&(line, marker): &(usize, Marker)| marker != Marker::Between && !is_shown(texts, line, marker);
    let of_one = |lines: &[(usize, Marker)]| lines.iter().any(counts);
    let mut findings = Vec::new();
    let mut rest = new.as_slice();
    while let Some(((line, _), _)) = rest.split_first().filter(|_| findings.len() < MAX_FINDINGS) {
        let next = rest
            .iter()
            .skip(1)
            .position(|(at, marker)| *marker == Marker::Ours || at.saturating_sub(*line) > FARTHEST);
        let (one, after_next) = rest.split_at(next.map_or(rest.len(), |next| next + 1));
        rest = after_next;
        if of_one(one) {
            findings.push(finding_at(
                texts,
                one.iter().find(|marker| counts(marker)).map_or(*line, |(line, _)| *line),
            ));
        }
    }
    findings
}

fn finding_at(texts: &TextPair<'_>, line: usize) -> DamageFinding {
    let message = format!(
        "`{}` is a conflict marker; keep one side of the conflict, and remove its markers",
        excerpt(texts.after.text(line), 40).trim_end()
    );
    DamageFinding { line, column: 1, message }
}

/// Returns the marker at the very start of a line; only a name may follow it.
fn marker(text: &str) -> Option<Marker> {
    let (symbols, rest) = (text.get(..7)?, text.get(7..)?);
    let is_label = rest.is_empty() || rest.starts_with(' ');
    match symbols {
        "<<<<<<<" if is_label => Some(Marker::Ours),
        ">>>>>>>" if is_label => Some(Marker::Theirs),
        "|||||||" if is_label => Some(Marker::Base),
        "=======" if rest.trim_end().is_empty() => Some(Marker::Between),
        _ => None,
    }
}

/// True if the marker is an example, in a string or in a fenced block of a page. It is a conflict there as well if one of its
/// sides stood at this place before.
fn is_shown(texts: &TextPair<'_>, line: usize, found: Marker) -> bool {
    // A side ends at the next marker, or with the fence of its block.
    let is_fenced = texts.is_fenced(line);
    let is_inside =
        |line: &usize| marker(texts.after.text(*line)).is_none() && texts.is_fenced(*line) == is_fenced;
    let is_old = |line: usize| texts.after.text(line).trim().len() > 2 && texts.stood_at(line);
    let has_old_side = match found {
        Marker::Ours | Marker::Base | Marker::Between => {
            (line + 1..=line + SIDE).take_while(is_inside).any(is_old)
        }
        Marker::Theirs => (line.saturating_sub(SIDE)..line).rev().take_while(is_inside).any(is_old),
    };
    (is_fenced || texts.is_in_string(line)) && !has_old_side
}
