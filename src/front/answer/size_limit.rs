//! Cuts an answer to its size limit: long lists and texts first, then hunks of the diff.

use super::hunks::first_hunks;
use super::response::EditResponse;
use super::{Answer, DiffDisplay, Forms, ResponseOptions, json, text};
use crate::text::DiffCut;

/// Bytes of a JSON-RPC response apart from the two forms of the answer.
pub(super) const ENVELOPE: usize = 160;

/// Maximum number of times that a diff is rendered again because it was too large.
const MAX_DIFF_ATTEMPTS: usize = 6;

/// Number of levels that keep a proposed call. At smaller levels, the call would displace its own explanation.
const PROPOSAL_LEVELS: usize = 6;

/// The limits of an answer: entries of each list, and bytes of each text and of each sentence.
///
/// A text may be clipped. A sentence, such as a note, is either whole or omitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct FitLevel {
    pub(super) entries: usize,
    pub(super) bytes: usize,
    pub(super) sentence: usize,
}

/// The levels from largest to smallest; the last one fits any limit.
const LEVELS: [FitLevel; 11] = [
    FitLevel { entries: 200, bytes: 1000, sentence: 1000 },
    FitLevel { entries: 60, bytes: 500, sentence: 500 },
    FitLevel { entries: 20, bytes: 300, sentence: 300 },
    FitLevel { entries: 12, bytes: 240, sentence: 300 },
    FitLevel { entries: 8, bytes: 200, sentence: 300 },
    FitLevel { entries: 4, bytes: 160, sentence: 300 },
    FitLevel { entries: 2, bytes: 120, sentence: 300 },
    FitLevel { entries: 1, bytes: 90, sentence: 300 },
    FitLevel { entries: 0, bytes: 28, sentence: 300 },
    FitLevel { entries: 0, bytes: 28, sentence: 28 },
    FitLevel { entries: 0, bytes: 12, sentence: 28 },
];

impl FitLevel {
    fn fits(self, sentence: &str) -> bool {
        escaped(sentence) <= self.sentence + 2
    }

    /// Returns the sentence, or `short` if the sentence is too long.
    fn sentence(self, sentence: String, short: &str) -> String {
        if self.fits(&sentence) { sentence } else { short.to_owned() }
    }
}

/// Renders the response within the limit of the options.
pub(super) fn fit(response: &EditResponse<'_>, options: &ResponseOptions) -> Answer {
    match response.next.entries.is_empty() {
        true => fit_without_proposal(response, options),
        false => fit_with_proposal(response, options)
            .unwrap_or_else(|| fit_without_proposal(&without_call(response), options)),
    }
}

/// Returns the bytes available for the two forms together.
pub(super) fn available(options: &ResponseOptions) -> usize {
    options.limit.saturating_sub(ENVELOPE)
}

const fn copies(forms: Forms) -> usize {
    match forms {
        Forms::Both => 2,
        Forms::Json | Forms::Text => 1,
    }
}

fn fit_without_proposal(response: &EditResponse<'_>, options: &ResponseOptions) -> Answer {
    let whole =
        diff_hunks(response, options.limit).filter(|_| shows_diff(response, options)).map(|(diff, _)| diff);
    let whole = whole.unwrap_or_default();
    let (room, wanted) =
        (available(options), (escaped(&whole) * copies(options.forms)).min(options.limit / 3));
    let mut tight = None;
    for level in LEVELS {
        let bare = SizedAnswer::new(response, level, options);
        if bare.size + wanted <= room {
            return bare.with_diff(room);
        }
        if bare.size <= room {
            tight = tight.or(Some(bare));
        }
    }
    // No level leaves enough bytes for the diff: use the largest level that fits at all.
    let [.., last] = LEVELS;
    tight.unwrap_or_else(|| SizedAnswer::new(response, last, options)).with_diff(room)
}

/// Renders an answer with the whole proposed call, or returns `None` if it does not fit.
fn fit_with_proposal(response: &EditResponse<'_>, options: &ResponseOptions) -> Option<Answer> {
    let (room, copies) = (available(options), copies(options.forms));
    response.next.entries.first().filter(|next| next.to_string().len() * copies <= room)?;
    let mut bare =
        LEVELS.iter().take(PROPOSAL_LEVELS).map(|level| SizedAnswer::new(response, *level, options));
    bare.find(|bare| bare.size <= room).map(|bare| bare.with_diff(room))
}

/// Removes the proposed call and counts it as omitted.
fn without_call<'a>(response: &EditResponse<'a>) -> EditResponse<'a> {
    let mut response = response.clone();
    response.next.truncate(0);
    response
}

/// True if a diff is shown. A diff of changes made by others is always shown, because it explains the rejection.
fn shows_diff(response: &EditResponse<'_>, options: &ResponseOptions) -> bool {
    options.diff == DiffDisplay::Shown || response.since.is_some()
}

/// Renders as many hunks of the diff as fit into `budget` bytes.
fn diff_hunks(response: &EditResponse<'_>, budget: usize) -> Option<(String, DiffCut)> {
    match response.since {
        Some(since) => Some(first_hunks(&since.diff, budget)),
        None => response.diff.map(|diff| diff.render(budget)),
    }
}

/// The part of the diff that is shown.
struct DiffExcerpt {
    /// The diff text; empty if no hunk fits.
    diff: String,
    /// A note about the missing hunks.
    omitted_note: Option<String>,
}

impl DiffExcerpt {
    fn new(response: &EditResponse<'_>, level: FitLevel, budget: usize) -> DiffExcerpt {
        let Some((diff, cut)) = diff_hunks(response, budget) else {
            return DiffExcerpt { diff: String::new(), omitted_note: None };
        };
        let missing = match cut {
            DiffCut::Whole => None,
            DiffCut::Partial { shown, total: of } => {
                let counted = format!(
                    "the diff is cut: {shown} of {of} hunks are shown, a larger max_bytes shows more"
                );
                let short = if shown == 0 { "the diff is not shown" } else { "the diff is cut" };
                Some(level.sentence(counted, short))
            }
        };
        DiffExcerpt { diff, omitted_note: missing }
    }

    fn hidden(response: &EditResponse<'_>, level: FitLevel, options: &ResponseOptions) -> DiffExcerpt {
        if !shows_diff(response, options) {
            return DiffExcerpt { diff: String::new(), omitted_note: None };
        }
        let DiffExcerpt { diff, omitted_note: missing } = DiffExcerpt::new(response, level, 0);
        let left_out = (!diff.is_empty()).then(|| "the diff is not shown".to_owned());
        DiffExcerpt { diff: String::new(), omitted_note: missing.or(left_out) }
    }
}

/// An answer at one level, without its diff.
struct SizedAnswer<'a> {
    facts: EditResponse<'a>,
    level: FitLevel,
    options: &'a ResponseOptions,
    answer: Answer,
    size: usize,
}

impl<'a> SizedAnswer<'a> {
    fn new(response: &EditResponse<'a>, level: FitLevel, options: &'a ResponseOptions) -> SizedAnswer<'a> {
        let response = cut_lists(response, level);
        let answer = build_answer(&response, level, options, &DiffExcerpt::hidden(&response, level, options));
        let size = size(&answer, options.forms);
        SizedAnswer { facts: response, level, options, answer, size }
    }

    /// Adds as much of the diff as fits.
    fn with_diff(self, room: usize) -> Answer {
        let forms = self.options.forms;
        let Some(spare) = room.checked_sub(self.size).filter(|_| shows_diff(&self.facts, self.options))
        else {
            return self.answer;
        };
        let mut budget = spare;
        for _ in 0..MAX_DIFF_ATTEMPTS {
            let shown = DiffExcerpt::new(&self.facts, self.level, budget);
            if shown.diff.is_empty() {
                break;
            }
            let fuller = build_answer(&self.facts, self.level, self.options, &shown);
            let size = size(&fuller, forms);
            if size <= room {
                return fuller;
            }
            // Escaping and the second form cost more than the diff's own bytes, so scale the next budget by the
            // measured cost.
            budget = shown.diff.len() * spare / (size - self.size).max(1);
        }
        self.answer
    }
}

fn build_answer(
    response: &EditResponse<'_>,
    level: FitLevel,
    options: &ResponseOptions,
    shown: &DiffExcerpt,
) -> Answer {
    let mut response = response.clone();
    response.notes.entries.extend(shown.omitted_note.clone());
    Answer {
        success: response.success,
        json: options.profile.converted(json::render(&response, level.bytes, &shown.diff)),
        text: text::render(&response, level.bytes, &shown.diff, options.forms),
    }
}

/// Cuts the lists, and adds a note that counts the omitted entries.
fn cut_lists<'a>(response: &EditResponse<'a>, level: FitLevel) -> EditResponse<'a> {
    let mut pruned = response.clone();
    let FitLevel { entries, .. } = level;
    pruned.errors.truncate(entries);
    pruned.warnings.truncate(entries);
    pruned.findings.truncate(entries);
    pruned.notes.retain(|note| level.fits(note));
    pruned.notes.truncate(entries);
    if let Some(best) = &mut pruned.best {
        best.lines.truncate(entries);
    }
    let lines = pruned.best.as_ref().map_or(0, |best| best.lines.omitted);
    if entries == 0 {
        (pruned.best, pruned.match_info) = (None, None);
    }
    let left_out = [
        (pruned.next.omitted, ["proposed call", "proposed calls"]),
        (lines, ["line of best", "lines of best"]),
        (cut_list(&mut pruned.locations, entries), ["match location", "match locations"]),
        (cut_list(&mut pruned.regions, entries), ["edit", "edits"]),
        (cut_list(&mut pruned.shifts, entries), ["entry of line_map", "entries of line_map"]),
        (cut_list(&mut pruned.runs, entries), ["gate", "gates"]),
        (pruned.findings.omitted, ["finding", "findings"]),
        (pruned.errors.omitted, ["error", "errors"]),
        (pruned.warnings.omitted, ["warning", "warnings"]),
        (pruned.notes.omitted, ["note", "notes"]),
    ];
    let count = |(more, [one, many]): (usize, [&str; 2])| match more {
        0 => None,
        1 => Some(format!("1 {one}")),
        more => Some(format!("{more} {many}")),
    };
    let left_out: Vec<String> = left_out.into_iter().filter_map(count).collect();
    if !left_out.is_empty() {
        let counted = format!("not shown: {}", left_out.join(", "));
        pruned.notes.entries.push(level.sentence(counted, "more is not shown"));
    }
    pruned
}

/// Keeps the first `entries` entries and returns the number of the others.
fn cut_list<T>(list: &mut &[T], entries: usize) -> usize {
    match list.split_at_checked(entries) {
        Some((first, rest)) => {
            *list = first;
            rest.len()
        }
        None => 0,
    }
}

/// Returns a prefix of the text that needs at most `bytes` bytes as JSON, marked with `...` if it was cut.
pub(super) fn clip(text: &str, bytes: usize) -> String {
    const MARK: &str = "...";
    let mut used = 0;
    let mut fitting = 0;
    for character in text.chars() {
        used += char_cost(character);
        if used > bytes {
            let start: String = text.chars().take(fitting).collect();
            return start + MARK;
        }
        fitting += usize::from(used + MARK.len() <= bytes);
    }
    text.to_owned()
}

/// Returns the bytes of an answer in the forms that are sent.
pub(super) fn size(answer: &Answer, forms: Forms) -> usize {
    let json = || answer.json.to_string().len();
    match forms {
        Forms::Both => json() + escaped(&answer.text),
        Forms::Json => json(),
        Forms::Text => escaped(&answer.text),
    }
}

/// Returns the bytes of a text as a JSON string.
pub(super) fn escaped(text: &str) -> usize {
    2 + text.chars().map(char_cost).sum::<usize>()
}

fn char_cost(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => character.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_cost_is_what_serde_writes(text in any::<String>()) {
            prop_assert_eq!(escaped(&text), serde_json::to_string(&text).unwrap().len());
        }

        #[test]
        fn a_clipped_text_is_a_beginning_within_its_bytes(text in any::<String>(), bytes in 3_usize..40) {
            let clipped = clip(&text, bytes);
            prop_assert!(escaped(&clipped) <= bytes + 2);
            prop_assert!(clipped == text || text.starts_with(clipped.strip_suffix("...").unwrap()));
        }
    }
}
