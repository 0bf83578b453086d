//! Cuts an answer to its size limit.
//!
//! The fields that every answer has come first. The other parts follow in the order of their use for the next call, as
//! long as there is space: the findings that block, where to look, the moved lines, the warnings, the notes, the diff, and
//! then the rest.
//!
//! Invariant: an answer that fits is whole, and of any other one the notes count what is missing.

use std::collections::BTreeSet;

use serde::Serialize;

use super::entity::cut_key;
use super::forms::Forms;
use super::hunks::first_hunks;
use super::json_size::{clip, escaped, json_size};
use super::options::{DiffDisplay, ResponseFormat, ResponseOptions};
use super::response::{DiffSource, FullResponse};
use super::text;
use lockgate_checks::Outcome;
use lockgate_protocol::{AiEditResponse, EditResponse, NearestLines, ReportedGate};
use lockgate_text::{Diff, DiffCut};

/// Bytes of a JSON-RPC response apart from the two forms of the answer.
pub(super) const ENVELOPE: usize = 160;

/// Maximum number of times that a diff is rendered again because it was too large.
const MAX_DIFF_ATTEMPTS: usize = 6;

/// Maximum number of entries of a list.
const MAX_ENTRIES: usize = 200;

/// Maximum bytes of a text in a list, if the answer is cut.
const ENTRY_BYTES: usize = 300;

/// Number of similar lines, and of places, that are more useful than the proposed call.
const EXPLAINING_ENTRIES: usize = 12;

/// The limits of the texts of an answer: bytes of each text, and of each sentence.
///
/// A text may be clipped. A sentence, such as a note, is either whole or omitted.
#[derive(Debug, Clone, Copy)]
struct TextLimits {
    bytes: usize,
    sentence: usize,
}

/// The limits of a whole answer.
const WHOLE: TextLimits = TextLimits { bytes: 1000, sentence: 1000 };

/// The limits from largest to smallest; the last ones fit any answer.
const TEXT_LIMITS: [TextLimits; 10] = [
    WHOLE,
    TextLimits { bytes: 500, sentence: 500 },
    TextLimits { bytes: 300, sentence: 300 },
    TextLimits { bytes: 240, sentence: 300 },
    TextLimits { bytes: 160, sentence: 300 },
    TextLimits { bytes: 120, sentence: 300 },
    TextLimits { bytes: 90, sentence: 300 },
    TextLimits { bytes: 28, sentence: 300 },
    TextLimits { bytes: 28, sentence: 28 },
    TextLimits { bytes: 12, sentence: 28 },
];

impl TextLimits {
    /// Returns the sentence, or `short` if the sentence is too long.
    fn sentence(self, sentence: String, short: &str) -> String {
        if escaped(&sentence) <= self.sentence + 2 { sentence } else { short.to_owned() }
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
    let room = available(options);
    let diff = DiffExcerpt::new(full, WHOLE, room, options);
    if diff.omitted_note.is_none() {
        let draft = CutResponse::new(full, WHOLE, usize::MAX, options);
        let whole = draft.render(&|_, at| at < MAX_ENTRIES, &diff);
        if whole.size <= room {
            return whole;
        }
    }
    fit_in_order(full, room, options)
}

/// Returns the bytes available for the two forms together.
pub(super) fn available(options: &ResponseOptions) -> usize {
    options.limit.saturating_sub(ENVELOPE)
}

/// Renders the common fields, and adds the other parts in order while they fit.
fn fit_in_order(full: &FullResponse<'_>, room: usize, options: &ResponseOptions) -> SizedEdit {
    let mut fallback: Option<(CutResponse<'_>, SizedEdit)> = None;
    for limits in TEXT_LIMITS {
        let draft = CutResponse::new(full, limits, ENTRY_BYTES, options);
        let base = draft.render(&|_, _| false, &draft.hidden_diff());
        if base.size <= room * 2 / 3 {
            return draft.fill(base, room);
        }
        // The first that fits, though tightly, or else the last.
        if fallback.as_ref().is_none_or(|(_, fallback)| fallback.size > room) {
            fallback = Some((draft, base));
        }
    }
    match fallback {
        Some((draft, base)) => draft.fill(base, room),
        None => SizedEdit::new(EditResponse::default(), options),
    }
}

/// The parts of a response that are shown entry by entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    MatchDetails,
    Next,
    /// The similar lines without their texts.
    Best,
    BestLines,
    MatchLocations,
    Edits,
    LineMap,
    Gates,
    Findings,
    Errors,
    Warnings,
    Notes,
}

/// A response that is cut to its size.
struct CutResponse<'a> {
    full: &'a FullResponse<'a>,
    /// The response with clipped texts and all entries, without the notes that are too long for any answer.
    clipped: EditResponse,
    long_notes: usize,
    limits: TextLimits,
    options: &'a ResponseOptions,
}

impl<'a> CutResponse<'a> {
    fn new(
        full: &'a FullResponse<'a>,
        limits: TextLimits,
        entry_bytes: usize,
        options: &'a ResponseOptions,
    ) -> CutResponse<'a> {
        let mut clipped = full.response.clone();
        cut_key(&mut clipped.key, limits.bytes);
        clip_texts(&mut clipped, limits.bytes, limits.bytes.min(entry_bytes));
        clipped.notes.retain(|note| escaped(note) <= WHOLE.sentence + 2);
        let long_notes = full.response.notes.len() - clipped.notes.len();
        CutResponse { full, clipped, long_notes, limits, options }
    }

    /// Adds the parts in order to the common fields, which are rendered as `base`.
    fn fill(&self, base: SizedEdit, room: usize) -> SizedEdit {
        let Some(spare) = room.checked_sub(base.size) else { return base };
        let mut selection =
            EntrySelection { draft: self, chosen: BTreeSet::new(), spare, shows_lines: false };
        selection.take_needed();
        let bare = selection.render(&self.hidden_diff());
        if bare.size > room {
            return base;
        }
        let (diff, with_diff) = self.with_diff(&selection, bare, room);
        selection.spare = room.saturating_sub(with_diff.size);
        selection.shows_lines = !diff.changed_lines.is_empty();
        selection.take_rest();
        let filled = selection.render(&diff);
        if filled.size <= room { filled } else { with_diff }
    }

    /// Returns only the note that the diff is not shown, which is at most as long as that of a part.
    fn hidden_diff(&self) -> DiffExcerpt {
        let excerpt = DiffExcerpt::new(self.full, self.limits, 0, self.options);
        let (is_shown, omitted_note) = (excerpt.size() > 0, excerpt.omitted_note);
        let hidden = is_shown.then(|| "the diff is not shown".to_owned());
        DiffExcerpt { omitted_note: omitted_note.or(hidden), ..DiffExcerpt::default() }
    }

    /// Renders the shown entries, with a note that counts the others.
    fn render(&self, is_shown: &impl Fn(Part, usize) -> bool, diff: &DiffExcerpt) -> SizedEdit {
        let mut response = self.select(is_shown, !diff.changed_lines.is_empty());
        response.notes.extend(diff.omitted_note.clone());
        let text = Some(&diff.diff).filter(|diff| !diff.is_empty()).cloned();
        match &mut response.since {
            Some(since) => since.diff = text,
            None => {
                response.changed_lines = Some(diff.changed_lines.clone()).filter(|lines| !lines.is_empty());
                response.diff = text;
            }
        }
        SizedEdit::new(response, self.options)
    }

    /// Adds as much of the diff as fits.
    fn with_diff(
        &self,
        selection: &EntrySelection<'_>,
        bare: SizedEdit,
        room: usize,
    ) -> (DiffExcerpt, SizedEdit) {
        let hidden = self.hidden_diff();
        let Some(spare) = room.checked_sub(bare.size) else { return (hidden, bare) };
        let mut budget = spare;
        for _ in 0..MAX_DIFF_ATTEMPTS {
            let diff = DiffExcerpt::new(self.full, self.limits, budget, self.options);
            if diff.size() == 0 {
                break;
            }
            let fuller = selection.render(&diff);
            if fuller.size <= room {
                return (diff, fuller);
            }
            // Escaping and the second form cost more than the diff's own bytes, so scale the next budget by the
            // measured cost.
            budget = diff.size() * spare / (fuller.size - bare.size).max(1);
        }
        (hidden, bare)
    }

    /// Returns the response with the shown entries, and a note that counts the omitted ones. The text form needs no ranges
    /// if it shows the changed lines.
    fn select(&self, is_shown: &impl Fn(Part, usize) -> bool, has_lines: bool) -> EditResponse {
        let (full, mut response) = (self.full, self.clipped.clone());
        response.match_details.take_if(|_| !is_shown(Part::MatchDetails, 0));
        let calls = usize::from(response.next.take_if(|_| !is_shown(Part::Next, 0)).is_some());
        let best = match &mut response.best {
            Some(best) if is_shown(Part::Best, 0) => {
                keep(&mut best.excerpt, Part::BestLines, is_shown);
                keep(&mut best.lines, Part::BestLines, is_shown)
            }
            Some(best) => best.lines.len().max(1),
            None => 0,
        };
        response.best.take_if(|_| !is_shown(Part::Best, 0));
        let edits = keep(&mut response.edits, Part::Edits, is_shown);
        let edits = if has_lines && self.options.forms == Forms::Text { 0 } else { edits };
        let positions: Vec<usize> =
            (0..response.findings.len()).filter(|at| is_shown(Part::Findings, *at)).collect();
        for warning in &mut response.validation_warnings {
            warning.finding = warning.finding.and_then(|at| positions.binary_search(&at).ok());
        }
        let errors = keep(&mut response.errors, Part::Errors, is_shown);
        // The text form shows the findings instead of their sentences.
        let errors = if self.options.forms == Forms::Text { 0 } else { errors + full.omitted.errors };
        let match_locations = keep(&mut response.match_locations, Part::MatchLocations, is_shown);
        let line_map = keep(&mut response.line_map, Part::LineMap, is_shown);
        let gates = keep(&mut response.gates, Part::Gates, is_shown);
        let findings = keep(&mut response.findings, Part::Findings, is_shown) + full.omitted.findings;
        let warnings =
            keep(&mut response.validation_warnings, Part::Warnings, is_shown) + full.omitted.warnings;
        let notes = keep(&mut response.notes, Part::Notes, is_shown) + self.long_notes;
        let omitted = [
            (calls, "proposed call", "proposed calls"),
            (best, "line of best", "lines of best"),
            (match_locations, "match location", "match locations"),
            (edits, "edit", "edits"),
            (line_map, "entry of line_map", "entries of line_map"),
            (gates, "gate", "gates"),
            (findings, "finding", "findings"),
            (errors, "error", "errors"),
            (warnings, "warning", "warnings"),
            (notes, "note", "notes"),
        ];
        let count = |(more, one, many): (usize, &str, &str)| match more {
            0 => None,
            1 => Some(format!("1 {one}")),
            more => Some(format!("{more} {many}")),
        };
        let omitted: Vec<String> = omitted.into_iter().filter_map(count).collect();
        if !omitted.is_empty() {
            let note = format!("not shown: {}", omitted.join(", "));
            response.notes.push(self.limits.sentence(note, "more is not shown"));
        }
        response
    }
}

/// Keeps the shown entries of a part and returns the number of the others.
fn keep<T>(list: &mut Vec<T>, part: Part, is_shown: &impl Fn(Part, usize) -> bool) -> usize {
    let all = list.len();
    let mut at = 0..;
    list.retain(|_| at.next().is_some_and(|at| is_shown(part, at)));
    all - list.len()
}

/// The entries that are chosen as long as bytes are left.
struct EntrySelection<'a> {
    draft: &'a CutResponse<'a>,
    chosen: BTreeSet<(Part, usize)>,
    /// The bytes that are left.
    spare: usize,
    /// True if the text form shows the changed lines, and so needs no ranges.
    shows_lines: bool,
}

impl EntrySelection<'_> {
    /// Renders the chosen entries with this part of the diff.
    fn render(&self, diff: &DiffExcerpt) -> SizedEdit {
        self.draft.render(&|part, at| self.chosen.contains(&(part, at)), diff)
    }

    /// Takes the parts that the next call needs, in order.
    fn take_needed(&mut self) {
        let draft = self.draft;
        let (response, is_refused) = (&draft.clipped, !draft.clipped.is_success());
        self.take_blocking();
        self.take(Part::MatchDetails, 0);
        self.take_best(EXPLAINING_ENTRIES);
        if is_refused {
            self.take_first(Part::MatchLocations, 0..EXPLAINING_ENTRIES);
        }
        self.take(Part::Next, 0);
        if is_refused {
            self.take_best(MAX_ENTRIES);
            self.take_first(Part::MatchLocations, 0..MAX_ENTRIES);
        }
        self.take_first(Part::LineMap, 0..);
        self.take_first(Part::Findings, indices(&response.findings, |it| it.counts && !it.blocking));
        self.take_first(Part::Warnings, 0..);
        self.take_each(Part::Gates, indices(&response.gates, |run| !is_usual(run)));
        self.take_each(Part::Notes, 0..response.notes.len());
    }

    /// Takes the parts that tell least, in order.
    fn take_rest(&mut self) {
        let draft = self.draft;
        self.take_each(Part::Gates, indices(&draft.clipped.gates, is_usual));
        self.take_first(Part::Edits, 0..);
        if draft.clipped.is_success() {
            self.take_first(Part::MatchLocations, 0..);
            self.take_best(MAX_ENTRIES);
        }
        self.take_first(Part::Findings, 0..);
    }

    /// Takes the findings that block, new ones first, each with its sentence in `errors`.
    fn take_blocking(&mut self) {
        let draft = self.draft;
        let of = |is_new: bool| indices(&draft.clipped.findings, move |it| it.blocking && it.new == is_new);
        for (error, at) in of(true).chain(of(false)).enumerate() {
            if !self.take(Part::Findings, at) {
                break;
            }
            self.take_first(Part::Errors, 0..=error);
        }
        self.take_first(Part::Errors, 0..);
    }

    /// Takes at most this many of the similar lines.
    fn take_best(&mut self, most: usize) {
        if self.take(Part::Best, 0) {
            self.take_first(Part::BestLines, 0..most);
        }
    }

    /// Takes the entries in order until one does not fit.
    fn take_first(&mut self, part: Part, entries: impl IntoIterator<Item = usize>) {
        for at in entries {
            if !self.take(part, at) {
                break;
            }
        }
    }

    /// Takes each of the entries that fits.
    fn take_each(&mut self, part: Part, entries: impl IntoIterator<Item = usize>) {
        for at in entries {
            self.take(part, at);
        }
    }

    /// Takes an entry if its bytes are left; returns true if the entry is shown.
    fn take(&mut self, part: Part, at: usize) -> bool {
        if self.chosen.contains(&(part, at)) {
            return true;
        }
        let rest = self.cost(part, at).and_then(|cost| self.spare.checked_sub(cost));
        if let Some(rest) = rest {
            self.spare = rest;
            self.chosen.insert((part, at));
        }
        rest.is_some()
    }

    /// Returns the bytes of an entry in the forms that are sent: as JSON with a comma, and as text with a line end. The
    /// first entry of a part needs its list as well. `None` if there is no such entry.
    fn cost(&self, part: Part, at: usize) -> Option<usize> {
        let (response, forms) = (&self.draft.clipped, self.draft.options.forms);
        let (list, json, line) = match part {
            Part::MatchDetails => {
                let line = text::match_line(response.match_details.as_ref()?).unwrap_or_default();
                return Some(if forms == Forms::Json { 0 } else { escaped(&line) });
            }
            Part::Next => {
                let json = serde_json::to_string(response.next.as_ref()?).unwrap_or_default();
                (list_cost("next"), json.len(), Some(format!("next: {json}")))
            }
            Part::Best => {
                let best = response.best.clone()?;
                let head = NearestLines { lines: Vec::new(), excerpt: Vec::new(), ..best };
                let lines = text::nearest(&head, forms).join("\n");
                (list_cost("best") + list_cost("lines"), json_size(&head), Some(lines))
            }
            Part::BestLines => {
                let best = response.best.as_ref()?;
                let (line, numbered) = (best.lines.get(at), best.excerpt.get(at));
                if line.is_none() && numbered.is_none() {
                    return None;
                }
                let json = json_size(&line.map(String::as_str).unwrap_or_default());
                (0, json, numbered.map(|(line, text)| format!("{line}: {text}")))
            }
            Part::MatchLocations => {
                let place = response.match_locations.get(at)?;
                let label = text::match_label(response);
                let line = (!response.is_success()).then(|| text::location(place, label));
                (list_cost("match_locations"), json_size(place), line)
            }
            Part::Edits => {
                let region = response.edits.get(at)?;
                let line = if self.shows_lines { None } else { text::moved_region(region) };
                (list_cost("edits"), json_size(region), line)
            }
            Part::LineMap => {
                let moved = response.line_map.get(at)?;
                let line = response.is_success().then(|| format!("lines moved: {}", text::shift(moved)));
                (list_cost("line_map"), json_size(moved), line)
            }
            Part::Gates => {
                let run = response.gates.get(at)?;
                let line = format!("gates: ok ({}, {}); ", text::gate(run), text::passed_gate(run));
                (list_cost("gates"), json_size(run), Some(line))
            }
            Part::Findings => {
                let finding = response.findings.get(at)?;
                let is_listed = finding.counts || finding.blocking;
                let line = is_listed.then(|| text::finding(finding, response, forms));
                (list_cost("findings"), json_size(finding), line)
            }
            Part::Errors => (list_cost("validation_warnings"), json_size(response.errors.get(at)?), None),
            Part::Warnings => {
                let warning = response.validation_warnings.get(at)?;
                let repeats = |at| self.chosen.contains(&(Part::Findings, at));
                let is_shown = warning.in_message || warning.finding.is_some_and(repeats);
                let line = (!is_shown).then(|| format!("warning: {}", warning.text));
                (list_cost("validation_warnings"), json_size(warning), line)
            }
            Part::Notes => {
                let note = response.notes.get(at)?;
                (list_cost("notes"), json_size(note), Some(format!("note: {note}")))
            }
        };
        let is_first = self.chosen.range((part, 0_usize)..).next().is_none_or(|(next, _)| *next != part);
        // The first finding may also replace the message by the headline.
        let headline = response.headline.as_ref().filter(|_| is_first && part == Part::Findings);
        let headline = headline.map_or(0, |it| it.preface.len() + escaped(&it.summary));
        let json = json + 1 + if is_first { list } else { 0 };
        let text = line.as_deref().map_or(0, escaped);
        Some(match forms {
            Forms::Both => headline + json + text,
            Forms::Json | Forms::Compact => headline + json,
            Forms::Text => headline + text,
        })
    }
}

/// Returns the bytes of an empty list of this name as JSON.
const fn list_cost(name: &str) -> usize {
    name.len() + 6
}

/// Returns the indices of the selected entries.
fn indices<T>(list: &[T], is_selected: impl Fn(&T) -> bool) -> impl Iterator<Item = usize> {
    list.iter().enumerate().filter(move |(_, entry)| is_selected(entry)).map(|(at, _)| at)
}

/// True for a gate that passed or was skipped.
fn is_usual(run: &ReportedGate) -> bool {
    [Outcome::Passed.name(), Outcome::Skipped.name()].contains(&&*run.outcome)
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
    /// Renders as many hunks as fit into `budget` bytes: those of a rejection that have findings, or the first ones. A diff
    /// of changes made by others is always shown, because it explains the rejection.
    fn new(
        full: &FullResponse<'_>,
        limits: TextLimits,
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
                let (shown, cut) = match diff.render(budget) {
                    (_, DiffCut::Partial { .. }) if full.extent.is_some() => {
                        diff.render_near(budget, full.extent.as_ref())
                    }
                    whole => whole,
                };
                // Changed lines may fit where a hunk does not, because its context is long.
                let lines = lines(diff).map(|(lines, _)| lines);
                (shown, lines.unwrap_or_default(), cut)
            }
            (DiffSource::Edit(_), DiffDisplay::Omitted, _) | (DiffSource::None, ..) => {
                return DiffExcerpt::default();
            }
        };
        let omitted_note = match cut {
            DiffCut::Whole => None,
            DiffCut::Partial { shown, total: of } => {
                let more = if options.offers.has_max_bytes { ", a larger max_bytes shows more" } else { "" };
                let counted = format!("the diff is cut: {shown} of {of} hunks are shown{more}");
                let short = if shown == 0 { "the diff is not shown" } else { "the diff is cut" };
                Some(limits.sentence(counted, short))
            }
        };
        DiffExcerpt { diff, changed_lines, omitted_note }
    }

    /// Returns the bytes of the larger of its forms.
    fn size(&self) -> usize {
        self.diff.len().max(self.changed_lines.len())
    }
}

/// Clips every text to `bytes`, and those of lists to `entry_bytes`. Notes, the diff and the proposed call are never
/// clipped.
fn clip_texts(response: &mut EditResponse, bytes: usize, entry_bytes: usize) {
    let EditResponse {
        headline, message, error, hint, field, path, resolved_path, bytes_outside_edit, ..
    } = response;
    let single = [message, error, hint, field, path, resolved_path, bytes_outside_edit].into_iter().flatten();
    let headline = headline.iter_mut().flat_map(|it| [&mut it.summary, &mut it.details]);
    single.chain(headline).for_each(|text| *text = clip(text, bytes));
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
    let texts = best.chain(&mut response.errors).chain(warnings).chain(optional);
    texts.for_each(|text| *text = clip(text, entry_bytes));
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
