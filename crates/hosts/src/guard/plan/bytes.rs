//! The bytes outside of an edit that the tool of the host would change.

use serde_json::{Value, json};

use super::{CallPlan, CallPlanner, CallRewrite, is_utf8};
use crate::answer::HookDecision;
use crate::edit::{HostEdit, QuoteMatches};
use crate::guard::{DraftChange, Step, Stop};
use crate::host::TextHabit;
use crate::rewrite;
use crate::simulate::Simulated;
use crate::texts::{self, EditState, OwnTools};
use lockgate_policy::{BytesAtRisk, DriftedQuote};

impl CallPlanner<'_> {
    /// Denies or reports an edit whose tool would change bytes outside of it. Where a smaller quote avoids that, the
    /// call is rewritten.
    pub(in crate::guard) fn check_bytes(&self, plan: &mut CallPlan, notes: &mut Vec<String>) -> Step<()> {
        let by_tools = match self.guard.tools {
            OwnTools::Server => BytesAtRisk::Deny,
            OwnTools::CommandLine => BytesAtRisk::Report,
        };
        let host = self.guard.event.host;
        for draft in &mut plan.drafts {
            let Some(before) = draft.file.bytes.as_deref() else { continue };
            let (kept, written, arguments) = match &draft.change {
                DraftChange::Made(made) if made.is_at_risk() => {
                    if let Some(rewrite) = self.smaller_quote(before, &made.faithful) {
                        plan.rewrite = Some(rewrite);
                        let faithful = made.faithful.clone();
                        draft.change = DraftChange::Made(Simulated { faithful, written: None });
                        continue;
                    }
                    let arguments = keeping_call(&draft.file.path, before, &made.faithful, &self.call.edit);
                    (made.faithful.as_slice(), made.expected(), arguments)
                }
                // The model cannot have read such a file as it is.
                DraftChange::Written(text) if !is_utf8(before) => {
                    let arguments = json!({"path": draft.file.path, "content": text});
                    (before, text.as_bytes(), Some(arguments))
                }
                DraftChange::Made(_)
                | DraftChange::Written(_)
                | DraftChange::Removed
                | DraftChange::Unknown => continue,
            };
            let own = arguments.and_then(|arguments| self.guard.own_call(&arguments));
            let is_notebook = matches!(self.call.edit, HostEdit::Notebook { .. });
            let harm =
                if is_notebook { texts::notebook_harm(kept, written) } else { texts::harm(kept, written) };
            let describe = |own, state| texts::at_risk(host, &draft.file.path, &harm, own, state);
            match self.settings.bytes.unwrap_or(by_tools) {
                BytesAtRisk::Deny => {
                    let state = self.guard.denied(self.settings);
                    return Err(Stop::Answer(HookDecision::Deny(describe(own, state))));
                }
                BytesAtRisk::Report => notes.push(describe(None, EditState::Made)),
            }
        }
        Ok(())
    }

    /// Returns arguments with a quote of fewer lines, with which the tool keeps all other bytes.
    fn smaller_quote(&self, before: &[u8], wanted: &[u8]) -> Option<CallRewrite> {
        let quote = self.call.edit.single_quote()?;
        let host = self.guard.event.host;
        let is_possible = self.settings.drift == DriftedQuote::Rewrite
            && host.accepts_rewrite()
            && quote.matches == QuoteMatches::Only;
        if !is_possible {
            return None;
        }
        let exact = rewrite::quote(before, wanted, host.habit()).ok()?;
        let input = Value::Object(self.call.with_quote(&exact)?);
        let context = "lockgate: the call was made with a quote of fewer lines, because the edit tool would have changed the line \
                       ends of the others."
            .to_owned();
        Some(CallRewrite { input, context })
    }
}

/// Returns the arguments of lockgate's own tool that make the edit and keep all other bytes.
fn keeping_call(path: &str, before: &[u8], faithful: &[u8], edit: &HostEdit) -> Option<Value> {
    if let Ok(exact) = rewrite::quote(before, faithful, TextHabit::Unknown) {
        return Some(texts::quote_arguments(path, &exact.old, &exact.new));
    }
    let quote = edit.single_quote().filter(|quote| quote.matches == QuoteMatches::Only)?;
    Some(texts::quote_arguments(path, &quote.old, &quote.new))
}
