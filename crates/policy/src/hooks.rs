//! Settings for edits that the tools of an agent's host make, as `lockgate hook` guards them.

use std::time::Duration;

use super::node::{PolicyError, YamlNode};
use super::quantity;
use super::value_shape::Absent::{Described, Is};
use super::value_shape::ValueShape::Words;
use super::value_shape::{Range, Setting, ValueShape, names_of, tables};

/// The settings of `lockgate hook`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookSettings {
    /// The treatment of a quote that differs from the file, where the host can still be given another one.
    pub drift: DriftedQuote,
    /// The treatment of an edit whose tool would change bytes outside of it; `None` if the client's configuration
    /// decides.
    pub bytes: Option<BytesAtRisk>,
    /// The answer if an edit could not be judged.
    pub fail: OnFailure,
    /// The longest time for one answer.
    pub deadline: Duration,
    /// The answer to a bad edit in Cline, where a cancelled call ends the whole task.
    pub cline: ClineAnswer,
}

impl Default for HookSettings {
    fn default() -> HookSettings {
        HookSettings {
            drift: DriftedQuote::default(),
            bytes: None,
            fail: OnFailure::default(),
            deadline: Duration::from_secs(25),
            cline: ClineAnswer::default(),
        }
    }
}

impl HookSettings {
    /// True if these settings let edits pass that the default settings deny, so that they count only if a person trusts the
    /// policy. A project cannot switch off its own guard.
    pub fn need_trust(self) -> bool {
        self != self.without_trust()
    }

    /// Returns the settings that count without trust: those that are at least as strict as the default.
    ///
    /// A shorter deadline leaves edits unjudged, and a longer one outlasts the host.
    #[must_use]
    pub fn without_trust(self) -> HookSettings {
        let bytes = self.bytes.filter(|bytes| *bytes == BytesAtRisk::Deny);
        HookSettings { bytes, deadline: HookSettings::default().deadline, ..self }
    }
}

/// The treatment of a quote that differs from the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DriftedQuote {
    /// The call is rewritten to quote the file, if exactly one place matches.
    #[default]
    Rewrite,
    /// The call stays as it is.
    Keep,
}

/// The treatment of an edit whose tool would change bytes outside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BytesAtRisk {
    /// The edit is denied, with the call that keeps the bytes.
    Deny,
    /// The edit passes, and the model gets a message.
    Report,
}

/// The answer if an edit could not be judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The edit passes, with one line on standard error.
    #[default]
    Open,
    /// The edit is denied, and the reason is given.
    Closed,
}

/// The answer to a bad edit in Cline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClineAnswer {
    /// The edit passes, and the model gets a message.
    #[default]
    Warn,
    /// The call is cancelled, which ends the task.
    Cancel,
}

pub(super) const DRIFTED: [(&str, DriftedQuote); 2] =
    [("rewrite", DriftedQuote::Rewrite), ("keep", DriftedQuote::Keep)];
pub(super) const AT_RISK: [(&str, BytesAtRisk); 2] =
    [("deny", BytesAtRisk::Deny), ("report", BytesAtRisk::Report)];
pub(super) const FAILED: [(&str, OnFailure); 2] = [("open", OnFailure::Open), ("closed", OnFailure::Closed)];
pub(super) const CLINE: [(&str, ClineAnswer); 2] =
    [("warn", ClineAnswer::Warn), ("cancel", ClineAnswer::Cancel)];

/// Parses `hooks`; absent keys keep the value of `base`.
pub(super) fn hooks(node: &YamlNode, base: HookSettings) -> Result<HookSettings, PolicyError> {
    let fields = node.settings("`hooks`", &[HOOKS])?;
    let deadline = |node: &YamlNode, what: &str| quantity::duration(node, what, DEADLINE);
    Ok(HookSettings {
        drift: fields.optional("drift", |node, what| node.one_of(what, &DRIFTED))?.unwrap_or(base.drift),
        bytes: fields.optional("bytes", |node, what| node.one_of(what, &AT_RISK))?.or(base.bytes),
        fail: fields.optional("fail", |node, what| node.one_of(what, &FAILED))?.unwrap_or(base.fail),
        deadline: fields.optional("deadline", deadline)?.unwrap_or(base.deadline),
        cline: fields.optional("cline", |node, what| node.one_of(what, &CLINE))?.unwrap_or(base.cline),
    })
}

tables! {
    /// The guard of the edit tools of an agent's host.
    HOOKS {
        "drift": Words(&names_of(&DRIFTED)), Is("rewrite")
            => "a quote that differs from the file and matches in one place: `rewrite`: the call gets the exact quote, if the host accepts that; `keep`: the call stays as it is";
        "bytes": Words(&names_of(&AT_RISK)), Described("`deny` if the client's configuration has lockgate's server, else `report`")
            => "an edit whose tool would change bytes outside of it, such as line ends: `deny`: it is denied, with the call that keeps them; `report`: it passes, and the model is told; `report` counts only in a trusted policy";
        "fail": Words(&names_of(&FAILED)), Is("open")
            => "an edit that could not be judged in time, or because of an error: `open`: it passes; `closed`: it is denied";
        "deadline": ValueShape::Duration(DEADLINE), Is("25s") => "the longest time for one answer; it must be below the host's own limit, which is 30s or more; another value than the default counts only in a trusted policy";
        "cline": Words(&names_of(&CLINE)), Is("warn")
            => "a bad edit in Cline: `warn`: it passes, and the model is told; `cancel`: the call is cancelled, which ends the task";
    }
}
/// Below the shortest limit that hosts have for a hook, by default 30 seconds.
pub(super) const DEADLINE: Range =
    Range { min: 100, max: 600_000, description: "at least 100ms and at most 10m" };
