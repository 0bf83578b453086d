//! Why a gate gave no answer.

use super::syntax::Trouble;
use super::verdict::Outcome;
use super::watch::Halt;

/// Why a gate gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Silence {
    /// It was not asked.
    Skipped(String),
    /// It would mend the draft, but only together with lines that the edit left alone; what is said of it.
    Partial(&'static str),
    /// It was not asked, because nobody has allowed its program to run.
    Withheld(String),
    /// Its program is not to be had here.
    Unavailable(String),
    /// Its language server could not be asked, so that its command may be.
    Away(String),
    /// It failed.
    Broken(String),
    /// Its time was up, and what it was at then.
    Late(String),
    /// The caller has gone, or the time is up.
    Halted(Halt),
}

impl Silence {
    /// The same, said of another text than the draft, as in `on its canary`.
    pub(super) fn on(self, text: &str) -> Silence {
        match self {
            Silence::Unavailable(why) => Silence::Unavailable(format!("on {text}: {why}")),
            Silence::Broken(why) => Silence::Broken(format!("on {text}: {why}")),
            Silence::Away(_) => self,
            Silence::Late(why) => Silence::Late(format!("on {text}: {why}")),
            Silence::Halted(Halt::TimedOut) => Silence::Late(format!("on {text}: {LATE}")),
            Silence::Skipped(_)
            | Silence::Partial(_)
            | Silence::Withheld(_)
            | Silence::Halted(Halt::Cancelled) => self,
        }
    }

    /// Gives what became of the gate, and why.
    pub(super) fn told(&self) -> (Outcome, &str) {
        match self {
            Silence::Skipped(why) | Silence::Withheld(why) => (Outcome::Skipped, why),
            Silence::Partial(why) => (Outcome::Skipped, why),
            Silence::Unavailable(why) | Silence::Away(why) => (Outcome::Unavailable, why),
            Silence::Broken(why) => (Outcome::Broken, why),
            Silence::Late(why) => (Outcome::TimedOut, why),
            Silence::Halted(Halt::TimedOut) => (Outcome::TimedOut, LATE),
            Silence::Halted(Halt::Cancelled) => (Outcome::Skipped, "cancelled"),
        }
    }

    /// Whether the gate would have looked, had it been able to.
    pub(super) fn is_trouble(&self) -> bool {
        match self {
            Silence::Skipped(_) | Silence::Partial(_) | Silence::Halted(Halt::Cancelled) => false,
            Silence::Withheld(_)
            | Silence::Unavailable(_)
            | Silence::Away(_)
            | Silence::Broken(_)
            | Silence::Late(_)
            | Silence::Halted(Halt::TimedOut) => true,
        }
    }
}

/// Why a text was not read that is filled in first.
pub(super) const TEMPLATE: &str = "a template: its tags are filled in before it is parsed";

const LATE: &str = "no answer in time";

impl From<Trouble> for Silence {
    fn from(trouble: Trouble) -> Silence {
        match trouble {
            Trouble::Unknown(why) => Silence::Skipped(why.to_owned()),
            Trouble::Unreadable(why) => Silence::Unavailable(why),
            Trouble::Template => Silence::Unavailable(TEMPLATE.to_owned()),
            Trouble::Broken(why) => Silence::Broken(why),
            Trouble::Halted(halt) => Silence::Halted(halt),
        }
    }
}

impl From<Halt> for Silence {
    fn from(halt: Halt) -> Silence {
        Silence::Halted(halt)
    }
}
