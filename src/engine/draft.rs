//! One file of a call on its way through the line, from what stands there to what becomes of it.

use super::call::ResolvedTarget;
use super::check::{CurrentText, Drafted};
use super::{Decision, decide};
use crate::edit::PlannedEdit;
use crate::gate::Verdict;
use crate::request::Request;
use crate::text::Buffer;

/// One file of a call on its way through the line.
pub(super) struct FileDraft<'a> {
    pub(super) request: &'a Request,
    pub(super) target: &'a ResolvedTarget,
    pub(super) seen: CurrentText,
    /// The text that the caller spoke of, where it is another than the one that is there.
    pub(super) base: Option<Buffer>,
    pub(super) planned: PlannedEdit,
    pub(super) drafted: Drafted,
    pub(super) verdict: Verdict,
    /// Whether it is written although a gate would refuse it in `strict`.
    pub(super) overruled: bool,
}

impl FileDraft<'_> {
    /// What happens to it.
    pub(super) fn decision(&self) -> Decision {
        decide(self.request.mode, &self.verdict)
    }
}
