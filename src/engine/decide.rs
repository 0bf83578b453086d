//! What happens to a draft, from the mode of the request and the verdict of the gates alone.
#![deny(clippy::disallowed_methods)]

use crate::gate::Verdict;
use crate::request::Mode;

/// What happens to a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is published.
    Write,
    /// It is not published, and the caller is told why.
    Refuse,
    /// It is not published, as the caller asked.
    Show,
}

/// Decides what happens to a draft.
pub fn decide(mode: Mode, verdict: &Verdict) -> Decision {
    match (mode, verdict.refuses()) {
        (Mode::Strict | Mode::Interactive | Mode::VerifyOnly, true) => Decision::Refuse,
        // What refuses in `interactive` is the command that the request itself named.
        (Mode::Strict | Mode::Interactive, false) => Decision::Write,
        (Mode::VerifyOnly, false) => Decision::Show,
    }
}
