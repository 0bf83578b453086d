//! Cuts an answer to its size limit.
//!
//! The fields that every answer has come first. The other parts follow in the order of their use for the next call, as
//! long as there is space: the findings that block, where to look, the moved lines, the warnings, the notes, the diff, and
//! then the rest.
//!
//! Invariant: an answer that fits is whole, and of any other one the notes count what is missing.

use std::collections::BTreeSet;

use serde::Serialize;

use super::clip::{TEXT_LIMITS, TextLimits, WHOLE, clip_texts, escaped};
use super::diff_excerpt::DiffExcerpt;
use super::entity::cut_key;
use super::forms::Forms;
use super::options::ResponseOptions;
use super::response::FullResponse;
use super::text;
use lockgate_checks::Outcome;
use lockgate_protocol::{EditResponse, ReportedFinding, ReportedGate, json_size};

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
        let size = size(&options.profile.formatted(response.clone()), &text, options.forms);
        SizedEdit { response, text, size }
    }
}

/// Renders the response within `room` bytes.
pub(super) fn fit(full: &FullResponse<'_>, room: usize, options: &ResponseOptions) -> SizedEdit {
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

/// Renders the common fields, and adds the other parts in order while they fit. If not even the shortest common fields
/// fit, the result has these alone.
fn fit_in_order(full: &FullResponse<'_>, room: usize, options: &ResponseOptions) -> SizedEdit {
    let mut base = SizedEdit::new(EditResponse::default(), options);
    for limits in TEXT_LIMITS {
        let draft = CutResponse::new(full, limits, ENTRY_BYTES, options);
        base = draft.render(&|_, _| false, &draft.hidden_diff());
        if base.size <= limits.base_bytes(room) {
            return draft.fill(room);
        }
    }
    base
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

/// An entry of a part, by its index.
type PartEntry = (Part, usize);

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
        clip_texts(&mut clipped, limits, limits.bytes.min(entry_bytes));
        clipped.notes.retain(|note| escaped(note) <= WHOLE.sentence + 2);
        let long_notes = full.response.notes.len() - clipped.notes.len();
        CutResponse { full, clipped, long_notes, limits, options }
    }

    /// Adds the parts in order to the common fields, which fit.
    fn fill(&self, room: usize) -> SizedEdit {
        let (mut chosen, hidden) = (BTreeSet::new(), self.hidden_diff());
        let shows_blocking = self.add(&mut chosen, &[self.blocking()], &hidden, room);
        self.add(&mut chosen, &self.explanation(), &hidden, room);
        if shows_blocking {
            self.add(&mut chosen, &self.remarks(), &hidden, room);
        }
        let diff = self.fitting_diff(&chosen, room);
        if shows_blocking {
            self.add(&mut chosen, &self.rest(), &diff, room);
        }
        self.render_chosen(&chosen, &diff)
    }

    /// Adds the first entries of each group, as many as fit. Returns true if all of them do.
    fn add(
        &self,
        chosen: &mut BTreeSet<PartEntry>,
        groups: &[Vec<PartEntry>],
        diff: &DiffExcerpt,
        room: usize,
    ) -> bool {
        let mut is_whole = true;
        for group in groups {
            let group: Vec<PartEntry> =
                group.iter().copied().filter(|entry| !chosen.contains(entry)).collect();
            let with = |count: usize| chosen.iter().chain(group.iter().take(count)).copied().collect();
            let counts: Vec<usize> = (1..=group.len()).collect();
            let fits = |count: &usize| self.render_chosen(&with(*count), diff).size <= room;
            let fitting = counts.partition_point(fits);
            *chosen = with(fitting);
            is_whole &= fitting == group.len();
        }
        is_whole
    }

    /// Returns the findings that block, new ones first, each with its sentence in `errors`.
    fn blocking(&self) -> Vec<PartEntry> {
        let of = |is_new: bool| indices(&self.clipped.findings, move |it| it.blocking && it.new == is_new);
        let findings = of(true).chain(of(false)).enumerate();
        findings.flat_map(|(error, at)| [(Part::Findings, at), (Part::Errors, error)]).collect()
    }

    /// Returns the entries that tell where to look, in order. After an entry that does not fit, the others of its group are
    /// not shown.
    fn explanation(&self) -> [Vec<PartEntry>; 8] {
        let response = &self.clipped;
        let (first, most) = if response.is_success() { (0, 0) } else { (EXPLAINING_ENTRIES, MAX_ENTRIES) };
        [
            entries(Part::Errors, 0..response.errors.len()),
            entries(Part::MatchDetails, 0..1),
            self.best(EXPLAINING_ENTRIES),
            self.locations(first),
            entries(Part::Next, 0..1),
            self.best(most),
            self.locations(most),
            entries(Part::LineMap, 0..response.line_map.len()),
        ]
    }

    /// Returns what else the next call needs, in order and in groups.
    fn remarks(&self) -> Vec<Vec<PartEntry>> {
        let response = &self.clipped;
        let findings = indices(&response.findings, |it| it.counts && !it.blocking);
        let warnings = 0..response.validation_warnings.len();
        let lists = [entries(Part::Findings, findings), entries(Part::Warnings, warnings)];
        let gates = indices(&response.gates, |run| !is_usual(run)).map(|at| vec![(Part::Gates, at)]);
        let notes = (0..response.notes.len()).map(|at| vec![(Part::Notes, at)]);
        lists.into_iter().chain(gates).chain(notes).collect()
    }

    /// Returns the entries that tell least, in order and in groups.
    fn rest(&self) -> Vec<Vec<PartEntry>> {
        let response = &self.clipped;
        let most = if response.is_success() { MAX_ENTRIES } else { 0 };
        let gates = indices(&response.gates, is_usual).map(|at| vec![(Part::Gates, at)]);
        let lists = [
            entries(Part::Edits, 0..response.edits.len()),
            self.locations(most),
            self.best(most),
            entries(Part::Findings, 0..response.findings.len()),
        ];
        gates.chain(lists).collect()
    }

    /// Returns the entries of at most this many similar lines.
    fn best(&self, most: usize) -> Vec<PartEntry> {
        let lines = self.clipped.best.as_ref().map_or(0, |best| best.lines.len().max(best.excerpt.len()));
        let lines = entries(Part::BestLines, 0..lines.min(most));
        std::iter::once((Part::Best, 0)).chain(lines).collect()
    }

    fn locations(&self, most: usize) -> Vec<PartEntry> {
        entries(Part::MatchLocations, 0..self.clipped.match_locations.len().min(most))
    }

    fn render_chosen(&self, chosen: &BTreeSet<PartEntry>, diff: &DiffExcerpt) -> SizedEdit {
        self.render(&|part, at| chosen.contains(&(part, at)), diff)
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
                response.for_text.changed_lines =
                    Some(diff.changed_lines.clone()).filter(|lines| !lines.is_empty());
                response.diff = text;
            }
        }
        SizedEdit::new(response, self.options)
    }

    /// Returns as much of the diff as fits with the chosen entries.
    fn fitting_diff(&self, chosen: &BTreeSet<PartEntry>, room: usize) -> DiffExcerpt {
        let hidden = self.hidden_diff();
        let bare = self.render_chosen(chosen, &hidden).size;
        let spare = room.saturating_sub(bare);
        let mut budget = spare;
        for _ in 0..MAX_DIFF_ATTEMPTS {
            let diff = DiffExcerpt::new(self.full, self.limits, budget, self.options);
            if diff.size() == 0 {
                break;
            }
            let fuller = self.render_chosen(chosen, &diff).size;
            if fuller <= room {
                return diff;
            }
            // Escaping and the second form cost more than the diff's own bytes, so scale the next budget by the
            // measured cost.
            budget = diff.size() * spare / (fuller - bare).max(1);
        }
        hidden
    }

    /// Returns the response with the shown entries, and a note that counts the omitted ones. The text form needs no ranges
    /// if it shows the changed lines.
    fn select(&self, is_shown: &impl Fn(Part, usize) -> bool, has_lines: bool) -> EditResponse {
        let (full, mut response) = (self.full, self.clipped.clone());
        response.for_text.match_details.take_if(|_| !is_shown(Part::MatchDetails, 0));
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
        for warning in &mut response.validation_warnings {
            warning.finding.take_if(|at| !is_shown(Part::Findings, *at));
        }
        let errors = keep(&mut response.errors, Part::Errors, is_shown);
        // The text form shows the findings instead of their sentences.
        let errors = if self.options.forms == Forms::Text { 0 } else { errors + full.omitted.errors };
        let match_locations = keep(&mut response.match_locations, Part::MatchLocations, is_shown);
        let line_map = keep(&mut response.line_map, Part::LineMap, is_shown);
        let gates = keep(&mut response.gates, Part::Gates, is_shown);
        // The text form has no line for a finding that does not count.
        let is_listed = |found: &&ReportedFinding| self.options.forms != Forms::Text || found.counts;
        let listed = response.findings.iter().filter(is_listed).count() + full.omitted.findings;
        keep(&mut response.findings, Part::Findings, is_shown);
        let findings = listed - response.findings.iter().filter(is_listed).count();
        let warnings =
            keep(&mut response.validation_warnings, Part::Warnings, is_shown) + full.omitted.warnings;
        let notes = keep(&mut response.notes, Part::Notes, is_shown) + self.long_notes;
        response.notes.extend(self.omitted_note([
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
        ]));
        response
    }

    /// Returns the note with the numbers of the omitted entries, each with its noun and the plural; `None` if there are
    /// none.
    fn omitted_note(&self, omitted: [(usize, &str, &str); 10]) -> Option<String> {
        let count = |(more, one, many): (usize, &str, &str)| match more {
            0 => None,
            1 => Some(format!("1 {one}")),
            more => Some(format!("{more} {many}")),
        };
        let omitted: Vec<String> = omitted.into_iter().filter_map(count).collect();
        let note = || self.limits.sentence(format!("not shown: {}", omitted.join(", ")), "more is not shown");
        (!omitted.is_empty()).then(note)
    }
}

/// Keeps the shown entries of a part and returns the number of the others.
fn keep<T>(list: &mut Vec<T>, part: Part, is_shown: &impl Fn(Part, usize) -> bool) -> usize {
    let all = list.len();
    let mut at = 0..;
    list.retain(|_| at.next().is_some_and(|at| is_shown(part, at)));
    all - list.len()
}

/// Returns the entries of a part.
fn entries(part: Part, indices: impl IntoIterator<Item = usize>) -> Vec<PartEntry> {
    indices.into_iter().map(|at| (part, at)).collect()
}

/// Returns the indices of the selected entries.
fn indices<T>(list: &[T], is_selected: impl Fn(&T) -> bool) -> impl Iterator<Item = usize> {
    list.iter().enumerate().filter(move |(_, entry)| is_selected(entry)).map(|(at, _)| at)
}

/// True for a gate that passed or was skipped.
fn is_usual(run: &ReportedGate) -> bool {
    [Outcome::Passed.name(), Outcome::Skipped.name()].contains(&&*run.outcome)
}

/// Returns the bytes of an answer in the forms that are sent.
pub(super) fn size(response: &impl Serialize, text: &str, forms: Forms) -> usize {
    let json = if forms.has_json() { json_size(response) } else { 0 };
    json + forms.sent_text(text).map_or(0, escaped)
}
