//! The environment of gates that run programs: directory, permission and state kept between calls.

use std::path::Path;

use super::command::ProgramInput;
use super::programs::ResolvedPrograms;
use super::runtime::GateRuntime;
use super::server;
use crate::policy::{EffectiveRules, Isolation, Language, Rule};
use crate::text::{Buffer, Hints};

/// The environment in which gates of the kind `command` judge one draft.
#[derive(Debug, Clone, Copy)]
pub struct GateEnv<'a> {
    /// The absolute path of the root in which the file really lies.
    pub root: &'a Path,
    /// Permission to run programs.
    pub exec_permission: &'a ExecPermission,
    /// State kept between calls: caches, slots and servers.
    pub runtime: &'a GateRuntime,
    /// The minimum isolation of programs.
    pub isolation: Isolation,
    /// A folder of lockgate's own in which programs may keep what they know of this root; absent where there is none.
    pub cache: Option<&'a Path>,
}

impl GateEnv<'_> {
    /// Starts the language servers that would be asked about a file, where servers are kept and these may run.
    pub fn prewarm(&self, terms: &EffectiveRules<'_>, path: &str, language: Option<&'static Language>) {
        let ExecPermission::Granted(pins) = self.exec_permission else { return };
        let Ok(text) = Buffer::read(Vec::new(), Hints::default()) else { return };
        let asked = |rule: &&&Rule| rule.enabled && rule.args.is_empty() && rule.gate.covers(language);
        for rule in terms.rules.iter().filter(asked) {
            let Some(server) = rule.gate.server().filter(|_| self.runtime.keeps_servers()) else { continue };
            let Some(program) = pins.program(&ResolvedPrograms::server_name(&rule.gate.name)) else {
                continue;
            };
            let ask = ProgramInput {
                rule,
                program,
                search: pins.path(),
                root: self.root,
                path,
                language,
                text: &text,
                on_disk: true,
                is_removed: false,
                overlays: &[],
                batched: &[],
                isolation: self.isolation,
                ceiling: self.runtime.ceiling,
                cache: self.cache,
                versions: &self.runtime.versions,
            };
            server::prewarm(&ask, server, &self.runtime.pool);
        }
    }
}

/// Permission to run the programs that a policy names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecPermission {
    /// A person allowed these programs.
    Granted(ResolvedPrograms),
    /// No person allowed them; the reason, for the answer.
    Untrusted(String),
    /// There is no place where they could see the draft, whoever allows it; why, for the answer.
    NoDirectory(String),
}
