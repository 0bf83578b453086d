//! Settings for edits that the tools of an agent's host make, as `lockgate hook` guards them.

use std::time::Duration;

use super::node::{MapFields, PolicyError};
use super::value_shape::{Range, tables};
use super::words::words;

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

words! {
    /// The treatment of a quote that differs from the file.
    #[derive(Default)]
    pub enum DriftedQuote {
        /// The call is rewritten to quote the file, if exactly one place matches.
        #[default]
        Rewrite = "rewrite",
        /// The call stays as it is.
        Keep = "keep",
    }

    /// The treatment of an edit whose tool would change bytes outside of it.
    pub enum BytesAtRisk {
        /// The edit is denied, with the call that keeps the bytes.
        Deny = "deny",
        /// The edit passes, and the model gets a message.
        Report = "report",
    }

    /// The answer if an edit could not be judged.
    #[derive(Default)]
    pub enum OnFailure {
        /// The edit passes, with one line on standard error.
        #[default]
        Open = "open",
        /// The edit is denied, and the reason is given.
        Closed = "closed",
    }

    /// The answer to a bad edit in Cline.
    #[derive(Default)]
    pub enum ClineAnswer {
        /// The edit passes, and the model gets a message.
        #[default]
        Warn = "warn",
        /// The call is cancelled, which ends the task.
        Cancel = "cancel",
    }
}

/// Parses `hooks`; absent keys keep the value of `base`.
pub(super) fn hooks(policy: &MapFields<'_>, base: HookSettings) -> Result<HookSettings, PolicyError> {
    let fields = policy.map("hooks")?;
    Ok(HookSettings {
        drift: fields.read("drift", base.drift)?,
        bytes: fields.read_optional("bytes")?.or(base.bytes),
        fail: fields.read("fail", base.fail)?,
        deadline: fields.read("deadline", base.deadline)?,
        cline: fields.read("cline", base.cline)?,
    })
}

tables! {
    /// The guard of the edit tools of an agent's host.
    HOOKS {
        "drift": Words(DriftedQuote::WORDS), Is("rewrite")
            => "a quote that differs from the file and matches in one place: `rewrite`: the call gets the exact quote, if the host accepts that; `keep`: the call stays as it is";
        "bytes": Words(BytesAtRisk::WORDS), Described("`deny` if the client's configuration has lockgate's server, else `report`")
            => "an edit whose tool would change bytes outside of it, such as line ends: `deny`: it is denied, with the call that keeps them; `report`: it passes, and the model is told; `report` counts only in a trusted policy";
        "fail": Words(OnFailure::WORDS), Is("open")
            => "an edit that could not be judged in time, or because of an error: `open`: it passes; `closed`: it is denied";
        "deadline": Duration(DEADLINE), Is("25s") => "the longest time for one answer; it must be below the host's own limit, which is 30s or more; another value than the default counts only in a trusted policy";
        "cline": Words(ClineAnswer::WORDS), Is("warn")
            => "a bad edit in Cline: `warn`: it passes, and the model is told; `cancel`: the call is cancelled, which ends the task";
    }
}
/// Below the shortest limit that hosts have for a hook, by default 30 seconds.
const DEADLINE: Range = Range { min: 100, max: 600_000, description: "at least 100ms and at most 10m" };
