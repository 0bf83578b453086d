//! Cuts an answer to its size limit: long lists and texts first, then hunks of the diff.

use serde::Serialize;

use super::entity::cut_key;
use super::hunks::first_hunks;
use super::response::{DiffSource, FullResponse};
use super::{DiffDisplay, Forms, ResponseFormat, ResponseOptions, text};
use lockgate_protocol::{AiEditResponse, EditResponse};
use lockgate_text::{Diff, DiffCut};

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

/// A rendered response of an edit, and its size in the forms that are sent.
pub(super) struct SizedEdit {
    pub(super) response: EditResponse,
    pub(super) text: String,
    pub(super) size: usize,
}

impl SizedEdit {
    /// Renders a response that was cut to its size.
    pub(super) fn new(response: EditResponse, options: &ResponseOptions) -> SizedEdit {
        let text = text::render(&response, options.forms);
        let size = match options.profile.format {
            ResponseFormat::Edit => size(&response, &text, options.forms),
            ResponseFormat::AiEdit(_) => size(&AiEditResponse::from(response.clone()), &text, options.forms),
        };
        SizedEdit { response, text, size }
    }
}

/// Renders the response within the limit of the options.
pub(super) fn fit(full: &FullResponse<'_>, options: &ResponseOptions) -> SizedEdit {
    let (room, [first, ..]) = (available(options), LEVELS);
    let diff = DiffExcerpt::new(full, first, room, options);
    if diff.omitted_note.is_none() {
        let whole = CutResponse::new(full, first, options, ShownCall::Whole).render(&diff);
        if whole.size <= room {
            return whole;
        }
    }
    let call = full.response.next.as_ref().filter(|call| json_size(call) <= room);
    let proposal = call.and_then(|_| fit_with_proposal(full, options));
    proposal.unwrap_or_else(|| fit_without_proposal(full, options))
}

/// Returns the bytes available for the two forms together.
pub(super) fn available(options: &ResponseOptions) -> usize {
    options.limit.saturating_sub(ENVELOPE)
}

fn fit_without_proposal(full: &FullResponse<'_>, options: &ResponseOptions) -> SizedEdit {
    let (room, [.., last]) = (available(options), LEVELS);
    let copies = if options.forms == Forms::Both { 2 } else { 1 };
    let whole = DiffExcerpt::new(full, last, options.limit, options);
    let wanted = (escaped(&whole.diff).max(escaped(&whole.changed_lines)) * copies).min(options.limit / 3);
    let bare = |level| {
        let cut = CutResponse::new(full, level, options, ShownCall::Omitted);
        let bare = cut.bare();
        (cut, bare)
    };
    let mut tight = None;
    for level in LEVELS {
        let (cut, bare) = bare(level);
        if bare.size + wanted <= room {
            return cut.with_diff(bare, room);
        }
        if bare.size <= room {
            tight = tight.or(Some((cut, bare)));
        }
    }
    // No level leaves enough bytes for the diff: use the largest level that fits at all.
    let (cut, bare) = tight.unwrap_or_else(|| bare(last));
    cut.with_diff(bare, room)
}

/// Renders an answer with the whole proposed call, or returns `None` if it does not fit.
fn fit_with_proposal(full: &FullResponse<'_>, options: &ResponseOptions) -> Option<SizedEdit> {
    let room = available(options);
    LEVELS.iter().take(PROPOSAL_LEVELS).find_map(|level| {
        let cut = CutResponse::new(full, *level, options, ShownCall::Whole);
        let bare = cut.bare();
        (bare.size <= room).then(|| cut.with_diff(bare, room))
    })
}

/// The part of the diff that is shown.
#[derive(Default)]
struct DiffExcerpt {
    /// The diff text; empty if no hunk fits.
    diff: String,
    /// The changed lines of the same hunks, for the text form.
    changed_lines: String,
    /// A note about the missing hunks.
    omitted_note: Option<String>,
}

impl DiffExcerpt {
    /// Renders as many hunks as fit into `budget` bytes. A diff of changes made by others is always shown, because it
    /// explains the rejection.
    fn new(
        full: &FullResponse<'_>,
        level: FitLevel,
        budget: usize,
        options: &ResponseOptions,
    ) -> DiffExcerpt {
        let lines = |diff: &Diff<'_>| full.extent.as_ref().map(|extent| diff.numbered(budget, extent));
        let (diff, changed_lines, cut) = match (&full.diff, options.diff, options.forms) {
            (DiffSource::Since(diff), ..) => {
                let (diff, cut) = first_hunks(diff, budget);
                (diff, String::new(), cut)
            }
            (DiffSource::Edit(diff), DiffDisplay::Shown, Forms::Text) => {
                let (lines, cut) = lines(diff).unwrap_or((String::new(), DiffCut::Whole));
                (String::new(), lines, cut)
            }
            (DiffSource::Edit(diff), DiffDisplay::Shown, Forms::Both | Forms::Json | Forms::Compact) => {
                let (shown, cut) = diff.render(budget);
                let lines = lines(diff).filter(|_| !shown.is_empty()).map(|(lines, _)| lines);
                (shown, lines.unwrap_or_default(), cut)
            }
            (DiffSource::Edit(_), DiffDisplay::Omitted, _) | (DiffSource::None, ..) => {
                return DiffExcerpt::default();
            }
        };
        let omitted_note = match cut {
            DiffCut::Whole => None,
            DiffCut::Partial { shown, total: of } => {
                let counted = format!(
                    "the diff is cut: {shown} of {of} hunks are shown, a larger max_bytes shows more"
                );
                let short = if shown == 0 { "the diff is not shown" } else { "the diff is cut" };
                Some(level.sentence(counted, short))
            }
        };
        DiffExcerpt { diff, changed_lines, omitted_note }
    }

    /// Returns the bytes of the larger of its forms.
    fn size(&self) -> usize {
        self.diff.len().max(self.changed_lines.len())
    }

    /// Returns only the note that the diff is not shown.
    fn hidden(full: &FullResponse<'_>, level: FitLevel, options: &ResponseOptions) -> DiffExcerpt {
        let excerpt = DiffExcerpt::new(full, level, 0, options);
        let (is_shown, omitted_note) = (excerpt.size() > 0, excerpt.omitted_note);
        let hidden = is_shown.then(|| "the diff is not shown".to_owned());
        DiffExcerpt { omitted_note: omitted_note.or(hidden), ..DiffExcerpt::default() }
    }
}

/// Selects whether the proposed call is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShownCall {
    Whole,
    /// Counts the call as omitted.
    Omitted,
}

/// A response that was cut to a level, without its diff.
struct CutResponse<'a> {
    full: &'a FullResponse<'a>,
    response: EditResponse,
    level: FitLevel,
    options: &'a ResponseOptions,
}

impl<'a> CutResponse<'a> {
    fn new(
        full: &'a FullResponse<'a>,
        level: FitLevel,
        options: &'a ResponseOptions,
        call: ShownCall,
    ) -> CutResponse<'a> {
        CutResponse { full, response: cut(full, level, call), level, options }
    }

    /// Renders the response with a note that its diff is not shown.
    fn bare(&self) -> SizedEdit {
        self.render(&DiffExcerpt::hidden(self.full, self.level, self.options))
    }

    fn render(&self, shown: &DiffExcerpt) -> SizedEdit {
        let mut response = self.response.clone();
        response.notes.extend(shown.omitted_note.clone());
        let diff = Some(&shown.diff).filter(|diff| !diff.is_empty()).cloned();
        match &mut response.since {
            Some(since) => since.diff = diff,
            None => {
                response.changed_lines = Some(shown.changed_lines.clone()).filter(|lines| !lines.is_empty());
                response.diff = diff;
            }
        }
        SizedEdit::new(response, self.options)
    }

    /// Adds as much of the diff as fits.
    fn with_diff(&self, bare: SizedEdit, room: usize) -> SizedEdit {
        let Some(spare) = room.checked_sub(bare.size) else { return bare };
        let mut budget = spare;
        for _ in 0..MAX_DIFF_ATTEMPTS {
            let shown = DiffExcerpt::new(self.full, self.level, budget, self.options);
            if shown.size() == 0 {
                break;
            }
            let fuller = self.render(&shown);
            if fuller.size <= room {
                return fuller;
            }
            // Escaping and the second form cost more than the diff's own bytes, so scale the next budget by the
            // measured cost.
            budget = shown.size() * spare / (fuller.size - bare.size).max(1);
        }
        bare
    }
}

/// Cuts the lists and texts of a response, and adds a note that counts the omitted entries.
fn cut(full: &FullResponse<'_>, level: FitLevel, call: ShownCall) -> EditResponse {
    let (mut response, FitLevel { entries, bytes, .. }) = (full.response.clone(), level);
    let calls = response.next.take_if(|_| call == ShownCall::Omitted).map_or(0, |_| 1);
    let notes = response.notes.len();
    response.notes.retain(|note| level.fits(note));
    response.notes.truncate(entries);
    let omitted = [
        (calls, ["proposed call", "proposed calls"]),
        (
            response.best.as_mut().map_or(0, |best| {
                best.excerpt.truncate(entries);
                shorten(&mut best.lines, entries)
            }),
            ["line of best", "lines of best"],
        ),
        (shorten(&mut response.match_locations, entries), ["match location", "match locations"]),
        (shorten(&mut response.edits, entries), ["edit", "edits"]),
        (shorten(&mut response.line_map, entries), ["entry of line_map", "entries of line_map"]),
        (shorten(&mut response.gates, entries), ["gate", "gates"]),
        (shorten(&mut response.findings, entries) + full.omitted.findings, ["finding", "findings"]),
        (shorten(&mut response.errors, entries) + full.omitted.errors, ["error", "errors"]),
        (
            shorten(&mut response.validation_warnings, entries) + full.omitted.warnings,
            ["warning", "warnings"],
        ),
        (notes - response.notes.len(), ["note", "notes"]),
    ];
    let count = |(more, [one, many]): (usize, [&str; 2])| match more {
        0 => None,
        1 => Some(format!("1 {one}")),
        more => Some(format!("{more} {many}")),
    };
    let omitted: Vec<String> = omitted.into_iter().filter_map(count).collect();
    if !omitted.is_empty() {
        response
            .notes
            .push(level.sentence(format!("not shown: {}", omitted.join(", ")), "more is not shown"));
    }
    if entries == 0 {
        (response.best, response.match_details) = (None, None);
    }
    cut_key(&mut response.key, bytes);
    clip_texts(&mut response, bytes);
    response
}

/// Keeps the first `entries` entries and returns the number of the others.
fn shorten<T>(list: &mut Vec<T>, entries: usize) -> usize {
    let omitted = list.len().saturating_sub(entries);
    list.truncate(entries);
    omitted
}

/// Clips every text to `bytes`. Notes, the diff and the proposed call are never clipped.
fn clip_texts(response: &mut EditResponse, bytes: usize) {
    let EditResponse {
        headline, message, error, hint, field, path, resolved_path, bytes_outside_edit, ..
    } = response;
    let single = [message, error, hint, field, path, resolved_path, bytes_outside_edit].into_iter().flatten();
    let headline = headline.iter_mut().flat_map(|it| [&mut it.summary, &mut it.details]);
    let single = single.chain(headline);
    let places =
        response.match_locations.iter_mut().flat_map(|it| [Some(&mut it.preview), it.symbol.as_mut()]);
    let best = response.best.iter_mut().flat_map(|best| {
        let difference = best.first_difference.iter_mut().flat_map(|it| [&mut it.asked, &mut it.found]);
        let excerpt = best.excerpt.iter_mut().map(|(_, line)| line);
        best.lines.iter_mut().chain(excerpt).chain(difference)
    });
    let findings = response
        .findings
        .iter_mut()
        .flat_map(|it| [Some(&mut it.gate), it.path.as_mut(), it.code.as_mut(), Some(&mut it.message)]);
    let gates = response.gates.iter_mut().flat_map(|it| [Some(&mut it.gate), it.why.as_mut()]);
    let warnings = response.validation_warnings.iter_mut().map(|it| &mut it.text);
    let optional = places.chain(findings).chain(gates).flatten();
    let texts = single.chain(best).chain(&mut response.errors).chain(warnings).chain(optional);
    texts.for_each(|text| *text = clip(text, bytes));
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
pub(super) fn size(response: &impl Serialize, text: &str, forms: Forms) -> usize {
    match forms {
        Forms::Both => json_size(response) + escaped(text),
        Forms::Compact => json_size(response) + escaped(text::first_line(text)),
        Forms::Json => json_size(response),
        Forms::Text => escaped(text),
    }
}

/// Returns the bytes of the JSON form.
pub(super) fn json_size(response: &impl Serialize) -> usize {
    serde_json::to_string(response).map_or(0, |json| json.len())
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
