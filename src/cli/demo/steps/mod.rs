//! The steps of the demo, each with its call and expected outcome.

mod history;
mod modes;
mod programs;
mod step;

pub(super) use step::{DemoOutcome, DemoStep};

/// Returns the steps: the edit modes, an inexact search text, a blocked edit, a verification, three gates that run
/// programs, and a batch with its undo.
pub(super) fn steps() -> Vec<DemoStep> {
    let modes =
        [modes::search(), modes::misquoted(), modes::line_edits(), modes::insert_lines(), modes::content()];
    let judged =
        [modes::refused(), modes::verified(), programs::ruff(), programs::gofmt(), programs::pyright()];
    modes.into_iter().chain(judged).chain([history::batch(), history::undo()]).collect()
}
