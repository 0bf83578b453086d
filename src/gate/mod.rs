//! Who checks: the gates look at a draft before anything is written, and say what the edit would break.
//!
//! A gate is given the draft and the text before it, never the file, and only what is new counts: an edit is refused
//! for what it breaks, not for what was broken before.
//!
//! Invariant: nothing here writes, and nothing here fails; trouble in a gate is that gate's outcome.

mod delta;
mod draft;
mod finding;
mod judge;
mod markdown;
mod pattern;
mod syntax;
mod verdict;
mod watch;

pub use draft::Draft;
pub use finding::{Finding, Severity, clean};
pub use judge::judge;
pub use verdict::{Outcome, Run, Verdict};
pub use watch::{Progress, Watch};
