//! Cuts an answer to its size limit.
//!
//! The fields that every answer has come first. The other parts follow in the order of their use for the next call, as
//! long as there is space: the findings that block, where to look, the moved lines, the warnings, the notes, the diff, and
//! then the rest. The cost of each entry is computed once.
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
use lockgate_protocol::{AiEditResponse, EditResponse};
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
        let whole = draft.render(&Shown::all(&draft.clipped), &diff);
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
    let mut tight = None;
    let mut smallest = None;
    for limits in TEXT_LIMITS {
        let draft = CutResponse::new(full, limits, ENTRY_BYTES, options);
        let base = draft.render(&Shown::default(), &draft.hidden_diff());
        if base.size <= room * 2 / 3 {
            return draft.fill(base, room);
        }
        if base.size <= room {
            tight = tight.or(Some((draft, base)));
        } else {
            smallest = Some(base);
        }
    }
    match (tight, smallest) {
        (Some((draft, base)), _) => draft.fill(base, room),
        (None, Some(base)) => base,
        (None, None) => SizedEdit::new(EditResponse::default(), options),
    }
}

/// The entries of a response that are shown.
#[derive(Debug, Clone, Default)]
struct Shown {
    errors: usize,
    /// The indices of the findings.
    findings: BTreeSet<usize>,
    match_details: bool,
    next: bool,
    best: bool,
    best_lines: usize,
    match_locations: usize,
    line_map: usize,
    warnings: usize,
    /// The indices of the notes.
    notes: BTreeSet<usize>,
    /// The indices of the gates.
    gates: BTreeSet<usize>,
    edits: usize,
}

impl Shown {
    /// Returns all entries, as far as a list may have as many.
    fn all(response: &EditResponse) -> Shown {
        let first = |count: usize| (0..count.min(MAX_ENTRIES)).collect();
        let is_short =
            |at: &usize| response.notes.get(*at).is_some_and(|note| escaped(note) <= WHOLE.sentence + 2);
        Shown {
            errors: response.errors.len().min(MAX_ENTRIES),
            findings: first(response.findings.len()),
            match_details: true,
            next: true,
            best: true,
            best_lines: MAX_ENTRIES,
            match_locations: response.match_locations.len().min(MAX_ENTRIES),
            line_map: response.line_map.len().min(MAX_ENTRIES),
            warnings: response.validation_warnings.len().min(MAX_ENTRIES),
            notes: (0..response.notes.len()).filter(is_short).take(MAX_ENTRIES).collect(),
            gates: first(response.gates.len()),
            edits: response.edits.len().min(MAX_ENTRIES),
        }
    }
}

/// Counts the bytes that are left.
struct Allowance {
    forms: Forms,
    spare: usize,
}

impl Allowance {
    /// Takes the bytes of an entry; returns false if they are not left.
    fn take(&mut self, cost: usize) -> bool {
        let rest = self.spare.checked_sub(cost);
        self.spare = rest.unwrap_or(self.spare);
        rest.is_some()
    }

    /// Returns the bytes of an entry in the forms that are sent: as JSON with a comma, and as text with a line end.
    fn cost(&self, json: &impl Serialize, text: Option<&str>) -> usize {
        let json = || json_size(json) + 1;
        let text = || text.map_or(0, escaped);
        match self.forms {
            Forms::Both => json() + text(),
            Forms::Json | Forms::Compact => json(),
            Forms::Text => text(),
        }
    }

    /// Returns the bytes of an empty list of this name; text forms have none.
    fn list_cost(&self, name: &str) -> usize {
        match self.forms {
            Forms::Both | Forms::Json | Forms::Compact => name.len() + 6,
            Forms::Text => 0,
        }
    }

    /// Takes entries of a list from `shown` on until one does not fit, and returns the number of shown entries.
    fn take_list<T: Serialize>(
        &mut self,
        name: &str,
        entries: &[T],
        shown: usize,
        line: impl Fn(&T) -> Option<String>,
    ) -> usize {
        let mut count = shown;
        for entry in entries.iter().skip(shown) {
            let list = if count == 0 { self.list_cost(name) } else { 0 };
            if !self.take(self.cost(entry, line(entry).as_deref()) + list) {
                break;
            }
            count += 1;
        }
        count
    }
}

/// A response that is cut to its size.
struct CutResponse<'a> {
    full: &'a FullResponse<'a>,
    /// The response with clipped texts and all entries.
    clipped: EditResponse,
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
        CutResponse { full, clipped, limits, options }
    }

    /// Adds the parts in order to the common fields, which are rendered as `base`.
    fn fill(&self, base: SizedEdit, room: usize) -> SizedEdit {
        let Some(spare) = room.checked_sub(base.size) else { return base };
        let mut left = Allowance { forms: self.options.forms, spare };
        let mut shown = Shown::default();
        self.take_blocking(&mut shown, &mut left);
        self.take_places(&mut shown, &mut left);
        self.take_lines_and_warnings(&mut shown, &mut left);
        self.take_gates(&mut shown, &mut left, GateGroup::Needed);
        self.take_notes(&mut shown, &mut left);
        let bare = self.render(&shown, &self.hidden_diff());
        if bare.size > room {
            return base;
        }
        let (diff, with_diff) = self.with_diff(&shown, bare, room);
        left.spare = room.saturating_sub(with_diff.size);
        self.take_rest(&mut shown, &mut left, &diff);
        let filled = self.render(&shown, &diff);
        if filled.size <= room { filled } else { with_diff }
    }

    /// Takes the findings that block, new ones first, each with its sentence in `errors`.
    fn take_blocking(&self, shown: &mut Shown, left: &mut Allowance) {
        let findings = &self.clipped.findings;
        let of = |is_new: bool| {
            (0..findings.len())
                .filter(move |at| findings.get(*at).is_some_and(|it| it.blocking && it.new == is_new))
        };
        let mut errors = self.clipped.errors.iter();
        for at in of(true).chain(of(false)) {
            if !self.take_finding(at, shown, left) {
                break;
            }
            if let Some(error) = errors.next() {
                self.take_error(error, shown, left);
            }
        }
        for error in errors {
            self.take_error(error, shown, left);
        }
    }

    fn take_error(&self, error: &String, shown: &mut Shown, left: &mut Allowance) {
        let list = if shown.errors == 0 { left.list_cost("validation_warnings") } else { 0 };
        let is_next = self.clipped.errors.get(shown.errors) == Some(error);
        if is_next && left.take(left.cost(error, None) + list) {
            shown.errors += 1;
        }
    }

    fn take_finding(&self, at: usize, shown: &mut Shown, left: &mut Allowance) -> bool {
        let Some(finding) = self.clipped.findings.get(at) else { return false };
        let line = (finding.counts || finding.blocking)
            .then(|| text::finding(finding, &self.clipped, self.options.forms));
        // The first one may also replace the message by the headline.
        let list = if shown.findings.is_empty() {
            let headline =
                self.clipped.headline.as_ref().map_or(0, |it| it.preface.len() + escaped(&it.summary));
            left.list_cost("findings") + headline
        } else {
            0
        };
        let fits = left.take(left.cost(finding, line.as_deref()) + list);
        if fits {
            shown.findings.insert(at);
        }
        fits
    }

    /// Takes what shows where to look: the similar lines, the places, and the proposed call.
    fn take_places(&self, shown: &mut Shown, left: &mut Allowance) {
        let response = &self.clipped;
        if let Some(details) = &response.match_details {
            let line = text::match_line(details).unwrap_or_default();
            shown.match_details = left.take(if left.forms == Forms::Json { 0 } else { escaped(&line) });
        }
        self.take_best(EXPLAINING_ENTRIES, shown, left);
        let refused = !response.is_success();
        let places = response.match_locations.as_slice();
        let label = text::match_label(response);
        let take = |most: usize, shown: &mut Shown, left: &mut Allowance| {
            let places = places.get(..most.min(places.len())).unwrap_or_default();
            shown.match_locations = left.take_list("match_locations", places, shown.match_locations, |it| {
                Some(text::location(it, label))
            });
        };
        if refused {
            take(EXPLAINING_ENTRIES, shown, left);
        }
        if let Some(next) = &response.next {
            let json = serde_json::to_string(next).unwrap_or_default();
            shown.next = left.take(left.cost(next, Some(&format!("next: {json}"))) + left.list_cost("next"));
        }
        if refused {
            self.take_best(MAX_ENTRIES, shown, left);
            take(MAX_ENTRIES, shown, left);
        }
    }

    /// Takes at most this many of the similar lines.
    fn take_best(&self, most: usize, shown: &mut Shown, left: &mut Allowance) {
        let Some(best) = &self.clipped.best else { return };
        if !shown.best {
            let mut head = best.clone();
            (head.lines, head.excerpt) = (Vec::new(), Vec::new());
            let lines = text::nearest(&head, self.options.forms).join("\n");
            shown.best =
                left.take(left.cost(&head, Some(&lines)) + left.list_cost("best") + left.list_cost("lines"));
        }
        while shown.best && shown.best_lines < most {
            let (line, numbered) = (best.lines.get(shown.best_lines), best.excerpt.get(shown.best_lines));
            let numbered = numbered.map(|(line, text)| format!("{line}: {text}"));
            let is_last = line.is_none() && numbered.is_none();
            let json = line.map(String::as_str).unwrap_or_default();
            if is_last || !left.take(left.cost(&json, numbered.as_deref())) {
                break;
            }
            shown.best_lines += 1;
        }
    }

    fn take_lines_and_warnings(&self, shown: &mut Shown, left: &mut Allowance) {
        let response = &self.clipped;
        let succeeded = response.is_success();
        let moved = |it: &_| succeeded.then(|| format!("lines moved: {}", text::shift(it)));
        shown.line_map = left.take_list("line_map", &response.line_map, 0, moved);
        let counted = (0..response.findings.len())
            .filter(|at| response.findings.get(*at).is_some_and(|it| it.counts && !it.blocking));
        for at in counted {
            if !self.take_finding(at, shown, left) {
                break;
            }
        }
        let line = |it: &lockgate_protocol::ReportedWarning| {
            let is_shown = it.in_message || it.finding.is_some_and(|at| shown.findings.contains(&at));
            (!is_shown).then(|| format!("warning: {}", it.text))
        };
        shown.warnings = left.take_list("validation_warnings", &response.validation_warnings, 0, line);
    }

    /// Takes the gates that passed or were skipped, or the other ones.
    fn take_gates(&self, shown: &mut Shown, left: &mut Allowance, group: GateGroup) {
        for (at, run) in self.clipped.gates.iter().enumerate() {
            let is_usual = [Outcome::Passed.name(), Outcome::Skipped.name()].contains(&&*run.outcome);
            if is_usual != (group == GateGroup::Rest) {
                continue;
            }
            let list = if shown.gates.is_empty() { left.list_cost("gates") } else { 0 };
            let line = format!("gates: ok ({}, {}); ", text::gate(run), text::passed_gate(run));
            if left.take(left.cost(run, Some(&line)) + list) {
                shown.gates.insert(at);
            }
        }
    }

    fn take_notes(&self, shown: &mut Shown, left: &mut Allowance) {
        for (at, note) in self.clipped.notes.iter().enumerate() {
            let is_short = escaped(note) <= WHOLE.sentence + 2;
            let list = if shown.notes.is_empty() { left.list_cost("notes") } else { 0 };
            if is_short && left.take(left.cost(note, Some(&format!("note: {note}"))) + list) {
                shown.notes.insert(at);
            }
        }
    }

    /// Takes the parts that tell least.
    fn take_rest(&self, shown: &mut Shown, left: &mut Allowance, diff: &DiffExcerpt) {
        let response = &self.clipped;
        self.take_gates(shown, left, GateGroup::Rest);
        let has_lines = !diff.changed_lines.is_empty();
        let region = |it: &_| if has_lines { None } else { text::moved_region(it) };
        shown.edits = left.take_list("edits", &response.edits, shown.edits, region);
        if response.is_success() {
            let places = &response.match_locations;
            shown.match_locations =
                left.take_list("match_locations", places, shown.match_locations, |_| None);
            self.take_best(MAX_ENTRIES, shown, left);
        }
        for at in 0..response.findings.len() {
            if !shown.findings.contains(&at) && !self.take_finding(at, shown, left) {
                break;
            }
        }
    }

    /// Returns only the note that the diff is not shown, which is at most as long as that of a part.
    fn hidden_diff(&self) -> DiffExcerpt {
        let excerpt = DiffExcerpt::new(self.full, self.limits, 0, self.options);
        let (is_shown, omitted_note) = (excerpt.size() > 0, excerpt.omitted_note);
        let hidden = is_shown.then(|| "the diff is not shown".to_owned());
        DiffExcerpt { omitted_note: omitted_note.or(hidden), ..DiffExcerpt::default() }
    }

    /// Renders the shown entries, with a note that counts the others.
    fn render(&self, shown: &Shown, diff: &DiffExcerpt) -> SizedEdit {
        let mut response = self.select(shown, !diff.changed_lines.is_empty());
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
    fn with_diff(&self, shown: &Shown, bare: SizedEdit, room: usize) -> (DiffExcerpt, SizedEdit) {
        let hidden = self.hidden_diff();
        let Some(spare) = room.checked_sub(bare.size) else { return (hidden, bare) };
        let mut budget = spare;
        for _ in 0..MAX_DIFF_ATTEMPTS {
            let diff = DiffExcerpt::new(self.full, self.limits, budget, self.options);
            if diff.size() == 0 {
                break;
            }
            let fuller = self.render(shown, &diff);
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
    fn select(&self, shown: &Shown, has_lines: bool) -> EditResponse {
        let (full, mut response) = (self.full, self.clipped.clone());
        let calls = response.next.take_if(|_| !shown.next).map_or(0, |_| 1);
        if !shown.match_details {
            response.match_details = None;
        }
        let best = match &mut response.best {
            Some(best) if shown.best => {
                best.excerpt.truncate(shown.best_lines);
                shorten(&mut best.lines, shown.best_lines)
            }
            Some(best) => best.lines.len().max(1),
            None => 0,
        };
        response.best.take_if(|_| !shown.best);
        let edits = shorten(&mut response.edits, shown.edits);
        let edits = if has_lines && self.options.forms == Forms::Text { 0 } else { edits };
        let positions: Vec<usize> = shown.findings.iter().copied().collect();
        for warning in &mut response.validation_warnings {
            warning.finding = warning.finding.and_then(|at| positions.binary_search(&at).ok());
        }
        let errors = shorten(&mut response.errors, shown.errors);
        // The text form shows the findings instead of their sentences.
        let errors = if self.options.forms == Forms::Text { 0 } else { errors + full.omitted.errors };
        let omitted = [
            (calls, ["proposed call", "proposed calls"]),
            (best, ["line of best", "lines of best"]),
            (
                shorten(&mut response.match_locations, shown.match_locations),
                ["match location", "match locations"],
            ),
            (edits, ["edit", "edits"]),
            (shorten(&mut response.line_map, shown.line_map), ["entry of line_map", "entries of line_map"]),
            (keep(&mut response.gates, &shown.gates), ["gate", "gates"]),
            (keep(&mut response.findings, &shown.findings) + full.omitted.findings, ["finding", "findings"]),
            (errors, ["error", "errors"]),
            (
                shorten(&mut response.validation_warnings, shown.warnings) + full.omitted.warnings,
                ["warning", "warnings"],
            ),
            (keep(&mut response.notes, &shown.notes), ["note", "notes"]),
        ];
        let count = |(more, [one, many]): (usize, [&str; 2])| match more {
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

/// A group of gates in the order in which an answer makes room for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GateGroup {
    /// The gates that neither passed nor were skipped.
    Needed,
    /// The gates that passed or were skipped.
    Rest,
}

/// Keeps the first `entries` entries and returns the number of the others.
fn shorten<T>(list: &mut Vec<T>, entries: usize) -> usize {
    let omitted = list.len().saturating_sub(entries);
    list.truncate(entries);
    omitted
}

/// Keeps the entries with these indices and returns the number of the others.
fn keep<T>(list: &mut Vec<T>, indices: &BTreeSet<usize>) -> usize {
    let omitted = list.len().saturating_sub(indices.len());
    let mut at = 0..;
    list.retain(|_| at.next().is_some_and(|at| indices.contains(&at)));
    omitted
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
