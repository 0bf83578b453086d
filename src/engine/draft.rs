//! One file of a call in the pipeline, from its current text to its draft.

use super::call::ResolvedTarget;
use super::check::{CurrentText, Drafted};
use super::{Decision, decide};
use crate::edit::PlannedEdit;
use crate::gate::Verdict;
use crate::request::Request;
use crate::text::Buffer;

/// One file of a call in the pipeline.
pub(super) struct FileDraft<'a> {
    pub(super) request: &'a Request,
    pub(super) target: &'a ResolvedTarget,
    pub(super) current: CurrentText,
    /// The text that the caller refers to, if it is not the current one.
    pub(super) base: Option<Buffer>,
    pub(super) planned: PlannedEdit,
    pub(super) drafted: Drafted,
    pub(super) verdict: Verdict,
    /// Set when the draft is written although a gate would reject it in `strict`.
    pub(super) is_overridden: bool,
}

impl FileDraft<'_> {
    pub(super) fn decision(&self) -> Decision {
        decide(self.request.mode, &self.verdict)
    }
}
