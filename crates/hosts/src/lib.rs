//! Guards the edit tools of an agent's host: reads its events, judges the edits, and answers in its format.
//!
//! `event` recognises the host, `edit` reads what its tool is to do, `simulate` makes that edit with the habits of the
//! tool, `guard` decides, and `answer` renders the decision.
//!
//! Invariant: nothing here writes a file of the project, and no part of a payload is run.

pub mod answer;
pub mod edit;
pub mod event;
pub mod guard;
pub mod host;
pub mod locate;
mod notebook;
pub mod patch;
mod record;
mod rewrite;
mod simulate;
pub mod socket;
pub mod texts;
