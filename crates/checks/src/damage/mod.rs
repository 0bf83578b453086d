//! Gates of the kind `damage`: they find accidents of agents by comparing a text with the text before the edit.
//!
//! Each rule has its own file and checks only the lines that the edit wrote: older text is no accident of this edit.
//! docs/decisions/0010-damage.md gives the precision of each rule and the method of measurement.
//!
//! Invariant: the time of every rule is linear in both texts, except for tree lookups, whose steps are limited. However long
//! the text is, a rule stops soon after [`MAX_FINDINGS`] findings. It reads only the draft and the list of definitions that
//! the edit removes.

mod code_files;
mod conflict_markers;
mod doubled_lines;
mod dropped_definitions;
mod elided_code;
mod elided_words;
mod escaped_newlines;
mod lexical_syntax;
mod lexis;
mod line_prefixes;
mod lost_decorators;
mod lost_indentation;
mod missing_separators;
mod nul_bytes;
mod parsed_text;
mod patches;
mod shrunk_file;
mod symbols;
mod tabs_to_spaces;
#[cfg(test)]
mod tests;
mod text_pair;
mod typographic_quotes;
mod used_definitions;
#[cfg(test)]
mod valid_texts;

use self::text_pair::{DamageFinding, MAX_FINDINGS, TextPair};
use super::delta::{ComparedFinding, MarkedFinding};
use super::draft::Draft;
use super::finding::Severity;
use super::lost::Lost;
use super::syntax::ParseFailure;
use lockgate_policy::{Accident, Damage, Weight};
use lockgate_sandbox::Limit;
use lockgate_text::Buffer;

/// Returns the function that finds an accident.
const fn rule(accident: Accident) -> fn(&TextPair<'_>) -> Vec<DamageFinding> {
    match accident {
        Accident::LinePrefixes => line_prefixes::look,
        Accident::ElidedCode => elided_code::look,
        Accident::ConflictMarkers => conflict_markers::look,
        Accident::DoubledLines => doubled_lines::look,
        Accident::ShrunkFile => shrunk_file::look,
        Accident::TypographicQuotes => typographic_quotes::look,
        Accident::EscapedNewlines => escaped_newlines::look,
        Accident::TabsToSpaces => tabs_to_spaces::look,
        Accident::LostDecorators => lost_decorators::look,
        Accident::NulBytes => nul_bytes::look,
        Accident::LostIndentation => lost_indentation::look,
        Accident::MissingSeparators => missing_separators::look,
        Accident::UsedDefinitions => used_definitions::look,
        Accident::DroppedDefinitions => dropped_definitions::look,
    }
}

/// Finds the accidents that the policy enables. Every finding is new. `own` is the text as the
/// edit left it if a formatter changed it since: the indentation of a formatter is no accident of the edit.
pub(super) fn judge(
    draft: &Draft<'_>,
    own: Option<&Buffer>,
    damage: &Damage,
    lost: &Lost,
    limit: Limit<'_>,
) -> Result<Vec<MarkedFinding>, ParseFailure> {
    if draft.changes_nothing() {
        return Ok(Vec::new());
    }
    let texts = TextPair::new(draft, lost).formatted(own);
    let mut marks = Vec::new();
    for (accident, _) in Accident::ALL {
        let severity = match damage.weight(accident) {
            Weight::Block => Severity::Error,
            Weight::Warn => Severity::Warning,
            Weight::Off => continue,
        };
        if let Some(halt) = limit.reached() {
            return Err(ParseFailure::Halted(halt));
        }
        let findings = rule(accident)(&texts).into_iter().take(MAX_FINDINGS);
        marks.extend(
            findings
                .map(|finding| MarkedFinding::fresh(compared_finding(&texts, accident, severity, finding))),
        );
    }
    marks.sort_by_key(|mark| (mark.finding.line, mark.finding.column));
    Ok(marks)
}

fn compared_finding(
    texts: &TextPair<'_>,
    accident: Accident,
    severity: Severity,
    finding: DamageFinding,
) -> ComparedFinding {
    let finding = ComparedFinding::new(texts.after, (finding.line, finding.column), finding.message);
    ComparedFinding { code: Some(accident.name().to_owned()), severity, ..finding }
}
