//! Why a gate gave no answer.

use super::syntax::ParseFailure;
use super::verdict::Outcome;
use super::watch::Halt;

/// The reason that a gate gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GateError {
    /// It was not asked.
    Skipped(String),
    /// It would mend the draft, but only together with lines that the edit left alone; what is said of it.
    Partial(&'static str),
    /// It was not asked, because nobody has allowed its program to run.
    Withheld(String),
    /// Its program is not to be had here.
    Unavailable(String),
    /// Its language server could not be asked, so that its command may be.
    Unreachable(String),
    /// It failed.
    Broken(String),
    /// Its time was up, and what it was at then.
    TimedOut(String),
    /// The caller has gone, or the time is up.
    Halted(Halt),
}

impl GateError {
    /// The same, said of another text than the draft, as in `on its canary`.
    pub(super) fn with_context(self, text: &str) -> GateError {
        match self {
            GateError::Unavailable(why) => GateError::Unavailable(format!("on {text}: {why}")),
            GateError::Broken(why) => GateError::Broken(format!("on {text}: {why}")),
            GateError::Unreachable(_) => self,
            GateError::TimedOut(why) => GateError::TimedOut(format!("on {text}: {why}")),
            GateError::Halted(Halt::TimedOut) => GateError::TimedOut(format!("on {text}: {LATE}")),
            GateError::Skipped(_)
            | GateError::Partial(_)
            | GateError::Withheld(_)
            | GateError::Halted(Halt::Cancelled) => self,
        }
    }

    /// Gives what became of the gate, and why.
    pub(super) fn outcome(&self) -> (Outcome, &str) {
        match self {
            GateError::Skipped(why) | GateError::Withheld(why) => (Outcome::Skipped, why),
            GateError::Partial(why) => (Outcome::Skipped, why),
            GateError::Unavailable(why) | GateError::Unreachable(why) => (Outcome::Unavailable, why),
            GateError::Broken(why) => (Outcome::Broken, why),
            GateError::TimedOut(why) => (Outcome::TimedOut, why),
            GateError::Halted(Halt::TimedOut) => (Outcome::TimedOut, LATE),
            GateError::Halted(Halt::Cancelled) => (Outcome::Skipped, "cancelled"),
        }
    }

    /// True if the gate was meant to run but could not.
    pub(super) fn is_failure(&self) -> bool {
        match self {
            GateError::Skipped(_) | GateError::Partial(_) | GateError::Halted(Halt::Cancelled) => false,
            GateError::Withheld(_)
            | GateError::Unavailable(_)
            | GateError::Unreachable(_)
            | GateError::Broken(_)
            | GateError::TimedOut(_)
            | GateError::Halted(Halt::TimedOut) => true,
        }
    }
}

/// The reason that a template is not parsed.
pub(super) const TEMPLATE: &str = "a template: its tags are filled in before it is parsed";

const LATE: &str = "no answer in time";

impl From<ParseFailure> for GateError {
    fn from(trouble: ParseFailure) -> GateError {
        match trouble {
            ParseFailure::Unknown(why) => GateError::Skipped(why.to_owned()),
            ParseFailure::Unreadable(why) => GateError::Unavailable(why),
            ParseFailure::Template => GateError::Unavailable(TEMPLATE.to_owned()),
            ParseFailure::Broken(why) => GateError::Broken(why),
            ParseFailure::Halted(halt) => GateError::Halted(halt),
        }
    }
}

impl From<Halt> for GateError {
    fn from(halt: Halt) -> GateError {
        GateError::Halted(halt)
    }
}
