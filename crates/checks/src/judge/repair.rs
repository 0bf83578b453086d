//! Detects an edit that repairs a text that did not parse: programs could not report much of what they find
//! after it before.

use std::sync::OnceLock;

use super::baseline::TextBefore;
use crate::delta::{self, ComparedFinding, MarkedFinding};
use crate::draft::Draft;
use crate::syntax;
use lockgate_sandbox::Limit;
use lockgate_text::Buffer;

/// The parse result of the text before an edit, computed on first use.
pub(super) struct Repair<'a> {
    draft: &'a Draft<'a>,
    limit: Limit<'a>,
    /// How much could be found in a text before that did not parse; `None` if it parsed.
    cached: OnceLock<Option<TextBefore>>,
}

impl<'a> Repair<'a> {
    pub(super) fn new(draft: &'a Draft<'a>, limit: Limit<'a>) -> Repair<'a> {
        Repair { draft, limit, cached: OnceLock::new() }
    }

    /// True if the text before parsed, as far as the parsers can tell.
    pub(super) fn parsed_before(&self) -> bool {
        self.broken_text().is_none()
    }

    /// Returns how much could be found in the text before: not everything if the edit removed a syntax error
    /// and added none.
    pub(super) fn text_before(&self) -> TextBefore {
        self.broken_text().unwrap_or(TextBefore::Plain)
    }

    fn broken_text(&self) -> Option<TextBefore> {
        *self.cached.get_or_init(|| self.compute())
    }

    /// Parses both texts; `None` if no parser reads the language, there was no text, or it parsed.
    fn compute(&self) -> Option<TextBefore> {
        let before = self.faults(self.draft.before?)?;
        if before.is_empty() {
            return None;
        }
        let after = self.faults(self.draft.after)?;
        let repairs = delta::unmatched(&before, &after, self.draft.map).gone.contains(&true);
        let findings = syntax::judge(self.draft, self.limit).ok()?.marks;
        let adds = findings.iter().any(MarkedFinding::is_certain_and_fresh);
        Some(if repairs && !adds { TextBefore::Hidden } else { TextBefore::Plain })
    }

    fn faults(&self, text: &Buffer) -> Option<Vec<ComparedFinding>> {
        let alone = Draft { before: None, after: text, ..*self.draft };
        let findings = syntax::judge(&alone, self.limit).ok()?.marks;
        Some(findings.into_iter().map(|mark| mark.finding).collect())
    }
}
