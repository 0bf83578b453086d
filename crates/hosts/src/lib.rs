//! Guards the edit tools of an agent's host: reads its events, judges the edits, and answers in its format.
//!
//! `event` recognises the host, `edit` reads what its tool is to do, `simulate` makes that edit with the habits of the
//! tool, `guard` decides, and `answer` renders the decision.
//!
//! Invariant: nothing here writes a file of the project, and no part of a payload is run.
//!
//! ```
//! use lockgate_hosts::patch::Patch;
//!
//! let patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-a = 1\n+a = 2\n*** End Patch\n";
//! assert_eq!(Patch::parse(patch)?.paths(), ["a.py"]);
//! # Ok::<(), String>(())
//! ```

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
mod simulate_patch;
pub mod socket;
pub mod texts;
