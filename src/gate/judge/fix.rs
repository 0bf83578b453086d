//! Gates that mend: what a program would make of the draft, before the checks look at it.
//!
//! Invariant: what a program could not have meant changes nothing: an empty text, one that the file cannot hold, or one
//! that a gate in process refuses.

use std::collections::BTreeSet;

use super::program::{Program, Proven};
use crate::error::Error;
use crate::gate::draft::Draft;
use crate::gate::silence::Silence;
use crate::text::{Buffer, LineMap};

/// A draft as a program left it.
pub(super) struct Mended {
    /// The text.
    pub(super) text: Buffer,
    /// How the lines of the text before the edit became those of this one.
    pub(super) map: LineMap,
    /// How many lines the program changed.
    pub(super) lines: usize,
}

impl Mended {
    /// The draft with this text for the one after the edit.
    pub(super) fn draft<'a>(&'a self, draft: &Draft<'a>) -> Draft<'a> {
        Draft { after: &self.text, map: &self.map, ..*draft }
    }

    /// What is said of the program: `changed 3 lines`.
    pub(super) fn told(&self) -> String {
        match self.lines {
            1 => "changed 1 line".to_owned(),
            lines => format!("changed {lines} lines"),
        }
    }
}

/// Has a program mend a draft; nothing where it leaves the text as it is.
pub(super) fn fix(program: &Program<'_>, draft: &Draft<'_>) -> Result<Option<Mended>, Silence> {
    let view = program.mend()?;
    if view == draft.after.view() {
        let proven = program.prove(&[], BTreeSet::from([0])).pop();
        return proven.unwrap_or(Ok(Proven::Works)).map(|_| None);
    }
    if view.trim().is_empty() && !draft.after.view().trim().is_empty() {
        return Err(Silence::Broken("gave an empty text for one that is not".to_owned()));
    }
    let mended = take(draft, &view).map_err(|error| Silence::Broken(error.message))?;
    if mended.text.view() != view {
        return Err(Silence::Broken("gave a text with line ends of its own".to_owned()));
    }
    if !mended.text.reads_back() {
        let why = format!("gave a text that would no longer be read as {}", draft.after.encoding());
        return Err(Silence::Broken(why));
    }
    Ok(Some(mended))
}

fn take(draft: &Draft<'_>, view: &str) -> Result<Mended, Error> {
    let plan = draft.after.revise(view)?;
    let text = draft.after.apply(&plan)?;
    let map = match draft.before {
        Some(before) => before.toward(&text)?.line_map(before, &text),
        None => LineMap::default(),
    };
    let regions = plan.regions(draft.after, &text);
    let touched = regions.iter().map(|region| {
        let [old, new] = [(region.start_line, region.end_line), (region.new_start_line, region.new_end_line)];
        (old.1 + 1).saturating_sub(old.0).max((new.1 + 1).saturating_sub(new.0))
    });
    Ok(Mended { lines: touched.sum(), text, map })
}
