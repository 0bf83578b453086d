//! What is judged, and what the gates report.

use std::collections::BTreeMap;

use super::report::GateReport;
use crate::draft::Draft;
use crate::gate_env::GateEnv;
use crate::links::DeadLinks;
use crate::lost::Lost;
use lockgate_policy::EffectiveRules;

/// One draft of a call, with its rules and its environment.
#[derive(Debug)]
pub struct GateInput<'a> {
    /// The draft to judge, with the text before the edit.
    pub draft: Draft<'a>,
    /// The rules that apply to the draft.
    pub rules: EffectiveRules<'a>,
    /// The environment of its programs.
    pub env: GateEnv<'a>,
    /// Set when the edit removes the file, so that there is no text after it.
    pub removed: bool,
    /// The number of a group: programs see drafts of one group and root together, and never those of another
    /// group.
    pub group: usize,
    /// The text of the draft that is on disk.
    pub on_disk: OnDisk,
    /// Links of other pages to targets in this file that the call would remove.
    pub dead_links: &'a [DeadLinks],
    /// The definitions that the edit removes and that are known to be missed.
    pub lost: &'a Lost,
}

/// The text of a draft that is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisk {
    /// The text before: the edit is not made yet.
    Before,
    /// The text after: the edit was made already.
    After,
}

/// The report of each gate, by its position in the policy.
pub(super) type GateResults = BTreeMap<usize, GateReport>;
