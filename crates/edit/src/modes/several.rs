//! Several edits of one text in one call.

use crate::planned::{MAX_MATCH_LINES, PlannedEdit, PlannedEnd, SearchMatches};
use lockgate_error::{Code, Error, EvidenceLine, NextCall};
use lockgate_matching::MatchInfo;
use lockgate_text::{Buffer, Plan, Splice};
use std::cmp::Reverse;
use std::ops::{Range, RangeInclusive};

/// One of several edits of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Part<E> {
    /// The index of the edit in the call's list, for errors.
    pub entry: usize,
    /// The edit itself, on the text before the call.
    pub edit: E,
}

/// Plans every edit on the same text with `plan`, and joins the plans.
///
/// `is_whole` tells if an edit replaces the whole text, and `is_every` if it replaces every match of a search.
///
/// Errors: those of each edit, with its index; `RANGE_OVERLAP` if two of them touch the same text; `MODE_CONFLICT` if
/// one of several replaces the whole text.
pub fn plan<E>(
    parts: &[Part<E>],
    buffer: &Buffer,
    (is_whole, is_every): (impl Fn(&E) -> bool, impl Fn(&E) -> bool),
    plan: impl Fn(&E) -> Result<PlannedEdit, Error>,
) -> Result<PlannedEdit, Error> {
    if let [only] = parts {
        return plan(&only.edit).map_err(|error| error.with_entry(only.entry));
    }
    if let Some(whole) = parts.iter().find(|part| is_whole(&part.edit)) {
        let message = "an edit of the whole text cannot be combined with others of the same file";
        return Err(Error::new(Code::ModeConflict, message).with_named_entry(whole.entry));
    }
    let mut planned = Vec::with_capacity(parts.len());
    for part in parts {
        let own = plan(&part.edit).map_err(|error| error.with_named_entry(part.entry))?;
        planned.push(own);
    }
    join(planned, buffer).map_err(|Overlap { parts: [one, other], error }| {
        match (parts.get(one), parts.get(other)) {
            (Some(one), Some(other)) if one.entry != other.entry => {
                let error = error.with_named_entries([one.entry, other.entry]);
                match (is_every(&one.edit), is_every(&other.edit)) {
                    (true, false) => error.hint(every_match_hint(one.entry, other.entry)),
                    (false, true) => error.hint(every_match_hint(other.entry, one.entry)),
                    (true, true) | (false, false) => error,
                }
            }
            _ => *error,
        }
    })
}

fn every_match_hint(every: usize, other: usize) -> String {
    format!(
        "edits[{every}] replaces every match, also in text that edits[{other}] changes; send edits[{other}] in a call of its own, and quote the text that edits[{every}] writes"
    )
}

/// An error about two parts of an edit.
pub(super) struct Overlap {
    /// The indices of the parts.
    parts: [usize; 2],
    error: Box<Error>,
}

/// Joins the plans of the parts of an edit. Where the text that a search replaces overlaps that of another part, only the lines
/// that the search changes count.
pub(super) fn join(mut parts: Vec<PlannedEdit>, buffer: &Buffer) -> Result<PlannedEdit, Overlap> {
    // The lines of the quotes of each part that is a search.
    let quoted: Vec<Option<Vec<RangeInclusive<usize>>>> = parts
        .iter_mut()
        .map(|part| part.matches.replacements.map(|_| std::mem::take(&mut part.matches.spans)))
        .collect();
    let sum = |count: fn(&PlannedEdit) -> Option<usize>| {
        parts.iter().any(|part| count(part).is_some()).then(|| parts.iter().filter_map(count).sum())
    };
    let mut lines: Vec<EvidenceLine> = parts.iter().flat_map(|part| part.matches.lines.clone()).collect();
    lines.sort_by_key(|place| place.line);
    lines.truncate(MAX_MATCH_LINES);
    let infos = parts.iter().filter_map(|part| part.matches.info);
    let matches = SearchMatches {
        replacements: sum(|part| part.matches.replacements),
        total: sum(|part| part.matches.total),
        lines,
        spans: Vec::new(),
        info: infos.max_by_key(|info: &MatchInfo| (info.level, Reverse(info.score))),
    };
    let [notes, warnings] = [
        parts.iter().flat_map(|part| part.notes.clone()).collect(),
        parts.iter().flat_map(|part| part.warnings.clone()).collect(),
    ];
    let (mut plans, ends): (Vec<Plan>, Vec<PlannedEnd>) =
        parts.into_iter().map(|part| (part.plan, part.end)).unzip();
    let mut spans = PartSpan::of_plans(&plans, buffer);
    if overlapping(&spans).is_some() {
        let changed = |(plan, quoted): (&Plan, &Option<_>)| match quoted {
            Some(_) => plan.clone().without_kept_lines(buffer),
            None => plan.clone(),
        };
        let changed: Vec<Plan> = plans.iter().zip(&quoted).map(changed).collect();
        let changed_spans = PartSpan::of_plans(&changed, buffer);
        if overlapping(&changed_spans).is_none() && !adds_twice(&changed) {
            (plans, spans) = (changed, changed_spans);
        }
    }
    if let Some([one, other]) = joined_lines(&spans) {
        let error = Box::new(joined_lines_error(&one.span, &other.span, buffer));
        return Err(Overlap { parts: [one.part, other.part], error });
    }
    let overlapping = overlapping(&spans).unwrap_or_default();
    let line = |splice: &Splice| buffer.lines().line_at(buffer.offset(splice.span.start));
    let order = |index: usize, splice: &Splice| {
        insertion_order(quoted.get(index).and_then(Option::as_deref), line(splice))
    };
    let plan = Plan::join_by(buffer, plans.into_iter(), order);
    let plan = plan.map_err(|error| Overlap { parts: overlapping, error: Box::new(error) })?;
    let end = PlannedEnd::join(ends.into_iter());
    check_anchors(&quoted, spans, buffer)?;
    Ok(PlannedEdit { notes, warnings, matches, end, ..PlannedEdit::new(plan) })
}

/// Returns the order of what a part inserts before this line, among the parts that insert there: behind the text that it
/// quotes, on its own, or before the text that it quotes.
fn insertion_order(quoted: Option<&[RangeInclusive<usize>]>, line: usize) -> usize {
    match quoted {
        Some(quoted) if quoted.binary_search_by_key(&line, |lines| *lines.start()).is_err() => 0,
        None => 1,
        Some(_) => 2,
    }
}

/// The bytes of the view that one splice of a part replaces.
struct PartSpan {
    /// The index of the part.
    part: usize,
    span: Range<usize>,
    /// Set if the splice has fewer lines than it replaces.
    removes_lines: bool,
    /// Set if the splice replaces a line end.
    takes_line_end: bool,
    /// Set if the splice replaces whole lines up to a line end, and leaves none: it joins the line with the next.
    joins_lines: bool,
}

/// Returns the parts of two splices of the same text; the splices are sorted.
fn overlapping(spans: &[PartSpan]) -> Option<[usize; 2]> {
    let mut pairs = spans.iter().zip(spans.iter().skip(1));
    let (one, other) = pairs.find(|(one, other)| one.span.end > other.span.start)?;
    Some([one.part, other.part])
}

/// True if two parts add text at one place, or one adds what another one has there.
fn adds_twice(plans: &[Plan]) -> bool {
    let of_plan = |(part, plan): (usize, &Plan)| -> Vec<(usize, Splice)> {
        plan.splices().iter().map(|splice| (part, splice.clone())).collect()
    };
    let mut splices: Vec<(usize, Splice)> = plans.iter().enumerate().flat_map(of_plan).collect();
    splices.sort_by_key(|(_, splice)| (splice.span.start, splice.span.end));
    let mut pairs = splices.iter().zip(splices.iter().skip(1));
    pairs.any(|((part, one), (other_part, other))| {
        let is_added = match (one.span.is_empty(), other.span.is_empty()) {
            (true, true) => true,
            (true, false) => other.bytes.starts_with(&one.bytes),
            (false, true) => one.bytes.ends_with(&other.bytes),
            (false, false) => false,
        };
        part != other_part && one.span.end == other.span.start && is_added
    })
}

/// Returns two splices of different parts, the first of which joins a line with one whose line end the second replaces. The
/// splices are sorted.
fn joined_lines(spans: &[PartSpan]) -> Option<[&PartSpan; 2]> {
    let mut pairs = spans.iter().zip(spans.iter().skip(1));
    let is_joined = |(one, other): &(&PartSpan, &PartSpan)| {
        one.part != other.part && one.span.end == other.span.start && one.joins_lines && other.takes_line_end
    };
    pairs.find(is_joined).map(|(one, other)| [one, other])
}

impl PartSpan {
    /// Returns the splices of all parts, in the order of the text.
    fn of_plans(plans: &[Plan], buffer: &Buffer) -> Vec<PartSpan> {
        let of_plan = |(part, plan): (usize, &Plan)| -> Vec<PartSpan> {
            plan.splices().iter().map(|splice| PartSpan::new(part, splice, buffer)).collect()
        };
        let mut spans: Vec<PartSpan> = plans.iter().enumerate().flat_map(of_plan).collect();
        spans.sort_by_key(|one| (one.span.start, one.span.end));
        spans
    }

    fn new(part: usize, splice: &Splice, buffer: &Buffer) -> PartSpan {
        let span = buffer.offset(splice.span.start)..buffer.offset(splice.span.end);
        let lines = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').count();
        let replaced = buffer.bytes().get(splice.span.clone()).unwrap_or_default();
        let removes_lines = lines(&splice.bytes) < lines(replaced);
        let view = buffer.view();
        let takes_line_end = view.get(span.clone()).is_some_and(|replaced| replaced.ends_with('\n'));
        let joins_lines = takes_line_end && !splice.ends_line(buffer);
        PartSpan { part, span, removes_lines, takes_line_end, joins_lines }
    }
}

/// Checks that the other parts do not remove all lines beside which a part inserts text and that its quote has and keeps.
/// The splices are disjoint.
///
/// Errors: `RANGE_OVERLAP`.
fn check_anchors(
    quoted: &[Option<Vec<RangeInclusive<usize>>>],
    spans: Vec<PartSpan>,
    buffer: &Buffer,
) -> Result<(), Overlap> {
    let lines = buffer.lines();
    let (inserted, mut removed): (Vec<PartSpan>, Vec<PartSpan>) =
        spans.into_iter().partition(|one| one.span.is_empty());
    removed.retain(|one| one.removes_lines);
    removed.sort_unstable_by_key(|one| one.span.start);
    for PartSpan { part, span, .. } in inserted {
        let Some(Some(quoted)) = quoted.get(part) else { continue };
        let line = lines.line_at(span.start);
        let first = if lines.starts_at(span.start) { line.saturating_sub(1) } else { line };
        let quote_of = |anchor: usize| {
            let before = quoted.partition_point(|quote| *quote.start() <= anchor);
            let quote = before.checked_sub(1).and_then(|last| quoted.get(last));
            quote.filter(|quote| quote.contains(&anchor))
        };
        let removal_of = |anchor: usize| {
            let start = lines.span(anchor).start;
            let end = start + lines.text(anchor).len().max(1);
            let before = removed.partition_point(|one| one.span.start <= start);
            let removal = before.checked_sub(1).and_then(|last| removed.get(last));
            removal.filter(|one| one.part != part && one.span.end >= end)
        };
        // One quoted line that stays is enough to say where the text belongs.
        let anchors = (first..=line).filter_map(|anchor| Some((anchor, quote_of(anchor)?)));
        let gone: Option<Vec<_>> =
            anchors.map(|(anchor, quote)| Some((anchor, quote, removal_of(anchor)?))).collect();
        if let Some((anchor, quote, removal)) = gone.unwrap_or_default().pop() {
            let other = lines.lines_at(&removal.span);
            let error = Box::new(removed_anchor(quote, &other, anchor, lines.count()));
            return Err(Overlap { parts: [part, removal.part], error });
        }
    }
    Ok(())
}

fn removed_anchor(
    quote: &RangeInclusive<usize>,
    removed: &RangeInclusive<usize>,
    anchor: usize,
    count: usize,
) -> Error {
    let [quoted, gone] = [quote, removed].map(|lines| format!("{}-{}", lines.start(), lines.end()));
    let message = format!(
        "Overlapping edits detected: lines {quoted} and {gone}; the first adds text beside line {anchor}, which the other removes"
    );
    let (first, last) = (*quote.start().min(removed.start()), *quote.end().max(removed.end()));
    Error::new(Code::RangeOverlap, message).with_next_if(NextCall::read_around(first, last, count))
}

fn joined_lines_error(one: &Range<usize>, other: &Range<usize>, buffer: &Buffer) -> Error {
    let lines = buffer.lines();
    let [one, other] = [one, other].map(|span| lines.lines_at(span));
    let (line, next) = (*one.end(), *other.start());
    let message = format!(
        "Overlapping edits detected: one joins line {line} with line {next}, which the other replaces or removes"
    );
    Error::new(Code::RangeOverlap, message).with_next_if(NextCall::read_around(
        *one.start(),
        *other.end(),
        lines.count(),
    ))
}
