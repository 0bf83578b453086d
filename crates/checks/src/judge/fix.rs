//! Fixers: programs that change the draft before the checks run.
//!
//! Invariant: a result that cannot be intended changes nothing: an empty text, one that the file cannot hold,
//! or one that an in-process gate rejects. With `scope: edit`, a part of the changes is applied only if the
//! program makes the same text of it as of the draft.

use std::collections::BTreeSet;

use super::input::GateResults;
use super::partial::{Changes, writes_most};
use super::program::GateProgram;
use super::prove::prove;
use crate::draft::Draft;
use crate::error::GateError;
use crate::wording::counted;
use lockgate_error::Error;
use lockgate_policy::FixScope;
use lockgate_text::{Buffer, LineMap};

/// The message for a draft that stays as it is, because the changes to its lines do not hold alone.
const ALL_OR_NOTHING: &str = "left the edit unformatted: its changes to the edited lines are not stable without those \
                              outside of the edit (`scope: file` applies all)";

/// A draft as a fixer left it.
pub(super) struct FixedText {
    pub(super) text: Buffer,
    /// Maps the lines of the text before the edit to those of this text.
    pub(super) map: LineMap,
    /// The number of lines that the program changed.
    pub(super) lines: usize,
}

impl FixedText {
    /// Returns the draft with this text as the one after the edit.
    pub(super) fn draft<'a>(&'a self, draft: &Draft<'a>) -> Draft<'a> {
        Draft { after: &self.text, map: &self.map, ..*draft }
    }

    /// Describes the run of the program: `changed 3 lines`.
    pub(super) fn describe(&self) -> String {
        format!("changed {}", counted(self.lines, "line"))
    }
}

/// The result of a fixer, with the number of lines outside of the edit that it would also change.
pub(super) struct Fixed {
    /// The new text with the reports of the in-process gates; `None` if the draft stays unchanged.
    pub(super) accepted: Option<(FixedText, GateResults)>,
    /// The number of lines that were left unchanged.
    pub(super) left: usize,
}

impl Fixed {
    /// Describes the run of the program: `changed 3 lines; left 20 lines outside of the edit`.
    pub(super) fn describe(&self) -> Option<String> {
        let changed = self.accepted.as_ref().map(|(fixed, _)| fixed.describe());
        let left = (self.left > 0).then(|| {
            let lines = counted(self.left, "line");
            format!("left {lines} outside of the edit unchanged (`scope: file` changes them)")
        });
        let notes: Vec<String> = changed.into_iter().chain(left).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

/// Runs the in-process gates on the text of a fixer; an error if they reject it.
pub(super) type Accept<'f> = &'f dyn Fn(FixedText) -> Result<(FixedText, GateResults), GateError>;

/// Runs a fixer on a draft, and applies as much as its rule allows.
pub(super) fn fix(
    program: &GateProgram<'_>,
    draft: &Draft<'_>,
    accept: Accept<'_>,
) -> Result<Fixed, GateError> {
    let view = match program.run_fixer() {
        // The fault is older than the edit.
        Err(GateError::Unread(why)) if could_not_read_before(program, draft) => {
            return Err(GateError::Skipped(why));
        }
        other => other?,
    };
    if view == draft.after.view() {
        let proven = prove(program, &[], BTreeSet::from([0])).pop();
        return proven.unwrap_or(Ok(None)).map(|_| Fixed { accepted: None, left: 0 });
    }
    if view.trim().is_empty() && !draft.after.view().trim().is_empty() {
        return Err(GateError::Broken("gave an empty text for a draft that is not empty".to_owned()));
    }
    let whole = |view: &str| {
        let fixed = accept(apply_view(draft, view)?)?;
        Ok(Fixed { accepted: Some(fixed), left: 0 })
    };
    let Some(before) = draft.before.filter(|_| program.rule.scope == FixScope::Edit) else {
        return whole(&view);
    };
    let changes = Changes::new(draft.after.view(), &view);
    if writes_most(draft, draft.after) || !changes.touches_other_lines(draft) {
        return whole(&view);
    }
    let formatted_before = match program.formatted(before) {
        Ok(formatted) => Some(formatted),
        // Its changes to a text that it cannot read are unknown.
        Err(error) if error.has_no_text() => None,
        Err(error) => return Err(error),
    };
    let due = formatted_before.as_deref().map(|formatted| Changes::new(before.view(), formatted));
    let selection = changes.select(draft, due.as_ref());
    if selection.is_all() {
        return whole(&view);
    }
    let left = selection.lines_left();
    if selection.is_none() {
        return Ok(Fixed { accepted: None, left });
    }
    for text in selection.texts() {
        if text == draft.after.view() {
            return Ok(Fixed { accepted: None, left });
        }
        if let Some(fixed) = stable(program, draft, (&text, &view), accept)? {
            return Ok(Fixed { accepted: Some(fixed), left });
        }
    }
    Err(GateError::Partial(ALL_OR_NOTHING))
}

/// True if the fixer cannot read the text before the edit.
fn could_not_read_before(program: &GateProgram<'_>, draft: &Draft<'_>) -> bool {
    let formatted = draft.before.map(|before| program.formatted(before));
    matches!(formatted, Some(Err(GateError::Unread(_))))
}

/// Applies a part of a fixer's changes, if it is as good as all of them: the in-process gates accept it, and
/// the fixer makes the same text of it as of the draft. So it has the meaning of the draft.
fn stable(
    program: &GateProgram<'_>,
    draft: &Draft<'_>,
    (part, view): (&str, &str),
    accept: Accept<'_>,
) -> Result<Option<(FixedText, GateResults)>, GateError> {
    let Ok(fixed) = apply_view(draft, part) else { return Ok(None) };
    let (fixed, results) = match accept(fixed) {
        Ok(accepted) => accepted,
        Err(GateError::Broken(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    match program.formatted(&fixed.text) {
        Ok(again) if *again == *view => Ok(Some((fixed, results))),
        Ok(_) => Ok(None),
        Err(error) if error.has_no_text() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Applies the text that a fixer made to the draft.
fn apply_view(draft: &Draft<'_>, view: &str) -> Result<FixedText, GateError> {
    let fixed = try_apply_view(draft, view).map_err(|error| GateError::Broken(error.message))?;
    if fixed.text.view() != view {
        return Err(GateError::Broken("gave a text with other line endings".to_owned()));
    }
    if !fixed.text.reads_back() {
        let why = format!("returned a text that could no longer be decoded as {}", draft.after.encoding());
        return Err(GateError::Broken(why));
    }
    Ok(fixed)
}

fn try_apply_view(draft: &Draft<'_>, view: &str) -> Result<FixedText, Error> {
    let plan = draft.after.revise(view)?;
    let text = draft.after.apply(&plan)?;
    let map = match draft.before {
        Some(before) => before.plan_to(&text)?.line_map(before, &text),
        None => LineMap::default(),
    };
    let regions = plan.regions(draft.after, &text);
    let touched = regions.iter().map(|region| {
        let [old, new] = [(region.start_line, region.end_line), (region.new_start_line, region.new_end_line)];
        (old.1 + 1).saturating_sub(old.0).max((new.1 + 1).saturating_sub(new.0))
    });
    Ok(FixedText { lines: touched.sum(), text, map })
}
