//! Several edits of one text in one call.

use crate::planned::{PlannedEdit, PlannedEnd, SearchMatches};
use lockgate_error::{Code, Error, EvidenceLine};
use lockgate_matching::MatchInfo;
use lockgate_text::{Buffer, Plan, Splice};
use std::cmp::Reverse;

/// The maximum number of matched lines that a report lists.
const MAX_MATCH_LINES: usize = 20;

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
/// Errors: those of each edit, with its index; `RANGE_OVERLAP` if two of them touch the same text; `MODE_CONFLICT` if
/// one of several replaces the whole text.
pub fn plan<E>(
    parts: &[Part<E>],
    buffer: &Buffer,
    is_whole: impl Fn(&E) -> bool,
    plan: impl Fn(&E) -> Result<PlannedEdit, Error>,
) -> Result<PlannedEdit, Error> {
    if let [only] = parts {
        return plan(&only.edit).map_err(|error| error.with_entry(only.entry));
    }
    if let Some(whole) = parts.iter().find(|part| is_whole(&part.edit)) {
        let message =
            format!("edits[{}] replaces the whole text, so no other edit fits beside it", whole.entry);
        return Err(Error::new(Code::ModeConflict, message).with_entry(whole.entry));
    }
    let mut planned = Vec::with_capacity(parts.len());
    for part in parts {
        let own = plan(&part.edit).map_err(|error| error.with_named_entry(part.entry))?;
        planned.push(own);
    }
    join(planned, buffer)
}

pub(super) fn join(mut parts: Vec<PlannedEdit>, buffer: &Buffer) -> Result<PlannedEdit, Error> {
    // The first lines of the quotes of each part that is a search.
    let quoted: Vec<Option<Vec<usize>>> = parts
        .iter_mut()
        .map(|part| part.matches.replacements.map(|_| std::mem::take(&mut part.matches.starts)))
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
        starts: Vec::new(),
        info: infos.max_by_key(|info: &MatchInfo| (info.level, Reverse(info.score))),
    };
    let [notes, warnings] = [
        parts.iter().flat_map(|part| part.notes.clone()).collect(),
        parts.iter().flat_map(|part| part.warnings.clone()).collect(),
    ];
    let (plans, ends): (Vec<Plan>, Vec<PlannedEnd>) =
        parts.into_iter().map(|part| (part.plan, part.end)).unzip();
    let line = |splice: &Splice| buffer.lines().line_at(buffer.offset(splice.span.start));
    let order = |index: usize, splice: &Splice| {
        insertion_order(quoted.get(index).and_then(Option::as_deref), line(splice))
    };
    let (plan, end) = (Plan::join_by(buffer, plans.into_iter(), order)?, PlannedEnd::join(ends.into_iter()));
    Ok(PlannedEdit { notes, warnings, matches, end, ..PlannedEdit::new(plan, Vec::new()) })
}

/// Returns the order of what a part inserts before this line, among the parts that insert there: behind the text that it
/// quotes, on its own, or before the text that it quotes.
fn insertion_order(quoted: Option<&[usize]>, line: usize) -> usize {
    match quoted {
        Some(lines) if lines.binary_search(&line).is_err() => 0,
        None => 1,
        Some(_) => 2,
    }
}
