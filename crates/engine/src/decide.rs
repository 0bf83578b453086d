//! Decides if a draft is written, from the mode of the request and the verdict of the gates alone.
#![deny(clippy::disallowed_methods)]

use lockgate_checks::Verdict;
use lockgate_edit::request::Mode;

/// The decision on a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Publish the draft, because nothing blocks it.
    Write,
    /// Do not publish the draft, and report the findings.
    Refuse,
    /// Do not publish the draft, because the caller asked only to verify it.
    Show,
}

/// Decides if a draft is published.
pub fn decide(mode: Mode, verdict: &Verdict) -> Decision {
    match (mode, verdict.refuses()) {
        (Mode::Strict | Mode::Interactive | Mode::VerifyOnly, true) => Decision::Refuse,
        // In `interactive`, only the command that the request itself named can reject.
        (Mode::Strict | Mode::Interactive, false) => Decision::Write,
        (Mode::VerifyOnly, false) => Decision::Show,
    }
}
