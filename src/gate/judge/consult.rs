//! What a program says of a draft: what it finds in the text after the edit, and which of that is new.
//!
//! Invariant: nothing is called new or old without an answer about the text before, but where there was none, where it
//! did not parse or was none of the program's; and nothing is called clean by a program that was not seen to find
//! anything.

use super::program::Program;
use super::repair::Repair;
use crate::gate::delta::{self, Mark};
use crate::gate::draft::Draft;
use crate::gate::output::Seen;
use crate::gate::silence::Silence;
use crate::policy::Baseline;
use crate::text::Buffer;

/// Has a program look at a draft; each finding with whether the edit brought it.
pub(super) fn consult(
    program: &Program<'_>,
    draft: &Draft<'_>,
    repair: &Repair<'_>,
) -> Result<Vec<(Mark, bool)>, Silence> {
    let seen = program.look(draft.after)?;
    let after = marks(&seen, draft.after);
    let new = match draft.before {
        None => vec![true; after.len()],
        // Whatever was there before: nobody asks for it.
        Some(_) if program.rule.baseline == Some(Baseline::All) => vec![true; after.len()],
        Some(_) if after.is_empty() || draft.changes_nothing() => vec![false; after.len()],
        Some(before) => {
            let lines = (before.lines().count(), draft.after.lines().count());
            delta::brought(&past(program, before, repair)?, &after, draft.map, lines)
        }
    };
    let found: Vec<(Mark, bool)> = after.into_iter().zip(new).collect();
    // What was there before says nothing of the draft: a program that reads the file on disk finds it, too.
    if !found.iter().any(|(mark, new)| *new && mark.elsewhere.is_none()) {
        program.prove(draft.after, &seen)?;
    }
    Ok(found)
}

/// What was found before. A program that did not look at such a text, or fails over one that does not parse, found
/// nothing there that it could name.
fn past(program: &Program<'_>, before: &Buffer, repair: &Repair<'_>) -> Result<Vec<Mark>, Silence> {
    match program.look_before(before) {
        Ok(seen) => Ok(marks(&seen, before)),
        Err(Silence::Skipped(_)) => Ok(Vec::new()),
        Err(Silence::Broken(_)) if !repair.parsed_before() => Ok(Vec::new()),
        Err(silence) => Err(silence.on("the text before the edit")),
    }
}

fn marks(seen: &[Seen], text: &Buffer) -> Vec<Mark> {
    seen.iter().map(|seen| mark(seen, text)).collect()
}

fn mark(seen: &Seen, text: &Buffer) -> Mark {
    let (place, message) = ((seen.line, seen.column), seen.message.clone());
    let mark = match &seen.elsewhere {
        None => Mark::new(text.lines(), place, message),
        Some(path) => Mark::elsewhere(path.clone(), place, message),
    };
    Mark { code: seen.code.clone(), severity: seen.severity, ..mark }
}
