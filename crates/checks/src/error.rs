//! The errors of gates that gave no answer, and the outcomes that they lead to.

use super::syntax::ParseFailure;
use super::verdict::{Outcome, RunReason};
use lockgate_sandbox::Halt;

/// The reason that a gate gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GateError {
    /// The gate did not run, for this reason.
    Skipped(String),
    /// The program, or its configuration in the project, leaves the file out; the reason.
    LeftOut(String),
    /// The fixer would change the draft, but only together with lines outside of the edit; the message.
    Partial(&'static str),
    /// The gate did not run, because its program is not trusted.
    Withheld(String),
    /// The gate cannot check the draft, for this reason.
    Unavailable(String),
    /// The program of the gate is not on this machine; where it was looked for.
    NoProgram(String),
    /// The program cannot check the file in this project as it is; the reason, with the next step if there is one.
    Unready(String),
    /// The fixer could not read the draft; the reason.
    Unread(String),
    /// The draft adds a comment that switches the program off for the file.
    SwitchedOff,
    /// The text is a template, which is rendered before anything parses it.
    Template,
    /// This machine cannot isolate the program as the policy requires.
    WeakIsolation(String),
    /// The language server could not be asked; a command can run instead.
    Unreachable(String),
    /// The gate failed, for this reason.
    Broken(String),
    /// The time limit was reached; the step that took too long.
    TimedOut(String),
    /// The time limit was reached on a text that is not the draft.
    TimedOutOn(String),
    /// The caller cancelled the call, or the time limit was reached.
    Halted(Halt),
}

impl GateError {
    /// Adds the text that the error is about, if it is not the draft: `on its canary`.
    pub(super) fn with_context(self, text: &str) -> GateError {
        let on_text = |why: &str| format!("on {text}: {why}");
        match self {
            GateError::Unavailable(why)
            | GateError::NoProgram(why)
            | GateError::Unread(why)
            | GateError::WeakIsolation(why) => GateError::Unavailable(on_text(&why)),
            GateError::Template => GateError::Unavailable(on_text(TEMPLATE)),
            GateError::Unready(why) => GateError::Unready(on_text(&why)),
            GateError::Broken(why) => GateError::Broken(on_text(&why)),
            GateError::TimedOut(why) | GateError::TimedOutOn(why) => GateError::TimedOutOn(on_text(&why)),
            GateError::Halted(Halt::TimedOut) => GateError::TimedOutOn(on_text(LATE)),
            GateError::Skipped(_)
            | GateError::LeftOut(_)
            | GateError::SwitchedOff
            | GateError::Partial(_)
            | GateError::Withheld(_)
            | GateError::Unreachable(_)
            | GateError::Halted(Halt::Cancelled) => self,
        }
    }

    /// Returns the outcome of the gate and the reason, as a category and in words.
    pub(super) fn outcome(&self) -> (Outcome, RunReason, &str) {
        match self {
            GateError::Skipped(why) | GateError::Withheld(why) => (Outcome::Skipped, RunReason::Outcome, why),
            GateError::Partial(why) => (Outcome::Skipped, RunReason::Outcome, why),
            GateError::LeftOut(why) => (Outcome::Skipped, RunReason::LeftOut, why),
            GateError::SwitchedOff => (Outcome::Skipped, RunReason::Project, SWITCHED_OFF),
            GateError::Halted(Halt::Cancelled) => (Outcome::Skipped, RunReason::Outcome, "cancelled"),
            GateError::Unavailable(why) | GateError::Unreachable(why) => {
                (Outcome::Unavailable, RunReason::Outcome, why)
            }
            GateError::NoProgram(why) => (Outcome::Unavailable, RunReason::NoProgram, why),
            GateError::Unready(why) => (Outcome::Unavailable, RunReason::Project, why),
            GateError::Unread(why) => (Outcome::Unavailable, RunReason::Unread, why),
            GateError::WeakIsolation(why) => (Outcome::Unavailable, RunReason::WeakIsolation, why),
            GateError::Template => (Outcome::Unavailable, RunReason::Template, TEMPLATE),
            GateError::Broken(why) => (Outcome::Broken, RunReason::Outcome, why),
            GateError::TimedOut(why) => (Outcome::TimedOut, RunReason::TimeLimit, why),
            GateError::TimedOutOn(why) => (Outcome::TimedOut, RunReason::Outcome, why),
            GateError::Halted(Halt::TimedOut) => (Outcome::TimedOut, RunReason::TimeLimit, LATE),
        }
    }

    /// True if the gate is not meant to check the file.
    pub(super) fn is_skip(&self) -> bool {
        matches!(self, GateError::Skipped(_) | GateError::LeftOut(_))
    }

    /// True if a fixer ran, or was left out, and returned no text of the one that it was given.
    pub(super) fn has_no_text(&self) -> bool {
        self.is_skip() || matches!(self, GateError::Unread(_) | GateError::Broken(_))
    }

    /// True if the gate was meant to run but could not.
    pub(super) fn is_failure(&self) -> bool {
        !self.is_skip() && !matches!(self, GateError::Partial(_) | GateError::Halted(Halt::Cancelled))
    }
}

/// The reason that a template is not parsed.
const TEMPLATE: &str = "a template: its tags are filled in before it is parsed";

/// The reason that a program did not check a draft that switches it off.
const SWITCHED_OFF: &str = "a comment that the edit adds switches it off for this file";

const LATE: &str = "timed out";

impl From<ParseFailure> for GateError {
    fn from(failure: ParseFailure) -> GateError {
        match failure {
            ParseFailure::Unknown(why) => GateError::Skipped(why.to_owned()),
            ParseFailure::Unreadable(why) => GateError::Unavailable(why),
            ParseFailure::TooSlow(time) => GateError::Unavailable(format!(
                "takes more than {:.1} s of processor time to parse",
                time.as_secs_f64()
            )),
            ParseFailure::Template => GateError::Template,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A reason about another text than the draft does not tell that the draft is a template, or that its run was late.
    #[test]
    fn a_reason_is_that_of_the_draft() {
        let why = || "why".to_owned();
        for (error, reason) in [
            (GateError::NoProgram(why()), RunReason::NoProgram),
            (GateError::Template, RunReason::Template),
            (GateError::WeakIsolation(why()), RunReason::WeakIsolation),
            (GateError::Unread(why()), RunReason::Unread),
            (GateError::TimedOut(why()), RunReason::TimeLimit),
            (GateError::Halted(Halt::TimedOut), RunReason::TimeLimit),
        ] {
            let (outcome, known_reason, why) = error.outcome();
            assert_eq!(known_reason, reason, "{error:?}");
            let why = format!("on its canary: {why}");
            let other = error.with_context("its canary");
            assert_eq!(other.outcome(), (outcome, RunReason::Outcome, why.as_str()));
        }
        let left_out = GateError::LeftOut(why()).with_context("its canary");
        assert_eq!((left_out.outcome().1, left_out.is_failure()), (RunReason::LeftOut, false));
        for error in [GateError::Unavailable(why()), GateError::Broken(why()), GateError::Skipped(why())] {
            assert_eq!(error.outcome().1, RunReason::Outcome, "{error:?}");
        }
    }
}
