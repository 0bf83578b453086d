//! One answer to an event that belongs to several projects.

use crate::answer::{Guarded, HookDecision};
use crate::texts::EditState;
use lockgate_policy::{BytesAtRisk, ClineAnswer, DriftedQuote, HookSettings, OnFailure};

/// Combines the answers of the guards of several projects to one event: a denial goes first, then all messages.
pub fn combine(answers: Vec<Guarded>) -> Guarded {
    let mut combined = Guarded { decision: HookDecision::Pass, problem: None, cline: ClineAnswer::Warn };
    for Guarded { decision, problem, cline } in answers {
        combined.decision = combine_decisions(combined.decision, decision);
        combined.problem = combined.problem.or(problem);
        if cline == ClineAnswer::Cancel {
            combined.cline = cline;
        }
    }
    combined
}

/// Combines two decisions on one event; their messages follow each other.
pub(super) fn combine_decisions(one: HookDecision, other: HookDecision) -> HookDecision {
    use HookDecision::{Blame, Deny, Forbid, Note, Pass, Rewrite};
    match (one, other) {
        (Forbid(text), _) | (_, Forbid(text)) => Forbid(text),
        (Deny(text), _) | (_, Deny(text)) => Deny(text),
        (Rewrite { .. }, Rewrite { .. }) => Deny(format!(
            "{} lines of the patch are not in files of two projects exactly as sent. Send a patch for each project.",
            EditState::Denied.head()
        )),
        (Pass, decision) | (decision, Pass) => decision,
        (Rewrite { input, context }, Note(text) | Blame(text))
        | (Note(text) | Blame(text), Rewrite { input, context }) => {
            Rewrite { input, context: format!("{context}\n\n{text}") }
        }
        (Note(one), Note(other)) => Note(format!("{one}\n\n{other}")),
        (Blame(one), Blame(other) | Note(other)) | (Note(one), Blame(other)) => {
            Blame(format!("{one}\n\n{other}"))
        }
    }
}

/// Returns the settings that two policies both allow.
pub fn stricter(one: HookSettings, other: HookSettings) -> HookSettings {
    let closed = [one.fail, other.fail].contains(&OnFailure::Closed);
    let denied = [one.bytes, other.bytes].contains(&Some(BytesAtRisk::Deny));
    let kept = [one.drift, other.drift].contains(&DriftedQuote::Keep);
    let cancelled = [one.cline, other.cline].contains(&ClineAnswer::Cancel);
    HookSettings {
        drift: if kept { DriftedQuote::Keep } else { DriftedQuote::Rewrite },
        bytes: if denied { Some(BytesAtRisk::Deny) } else { one.bytes.or(other.bytes) },
        fail: if closed { OnFailure::Closed } else { OnFailure::Open },
        deadline: one.deadline.min(other.deadline),
        cline: if cancelled { ClineAnswer::Cancel } else { ClineAnswer::Warn },
    }
}
