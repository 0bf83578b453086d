//! The environment of gates that run programs: directory, permission and state kept between calls.

use std::path::Path;

use super::command::ProgramInput;
use super::programs::ResolvedPrograms;
use super::runtime::GateRuntime;
use super::server;
use lockgate_policy::{EffectiveRules, Language, RequiredIsolation, Rule};
use lockgate_sandbox::Isolation;
use lockgate_text::{Buffer, Hints};

/// The environment in which gates of the kind `command` judge one draft.
#[derive(Debug, Clone, Copy)]
pub struct GateEnv<'a> {
    /// The absolute path of the root that really contains the file.
    pub root: &'a Path,
    /// The permission to run the programs of the gates.
    pub exec_permission: &'a ExecPermission,
    /// State kept between calls: caches, slots and servers.
    pub runtime: &'a GateRuntime,
    /// The minimum isolation of programs.
    pub isolation: Isolation,
    /// A folder owned by lockgate for the caches of programs in this root; `None` if there is none.
    pub cache: Option<&'a Path>,
}

/// The isolation of programs that a policy requires.
pub fn required_isolation(required: RequiredIsolation) -> Isolation {
    match required {
        RequiredIsolation::None => Isolation::None,
        RequiredIsolation::Landlock => Isolation::Landlock,
        RequiredIsolation::Bubblewrap => Isolation::Bubblewrap,
    }
}

impl GateEnv<'_> {
    /// Starts the language servers for a file, if servers are kept running and these are trusted.
    pub fn prewarm(&self, rules: &EffectiveRules<'_>, path: &str, language: Option<&'static Language>) {
        let ExecPermission::Granted(programs) = self.exec_permission else { return };
        let Ok(text) = Buffer::read(Vec::new(), Hints::default()) else { return };
        let applies = |rule: &&&Rule| rule.enabled && rule.args.is_empty() && rule.gate.covers(language);
        for rule in rules.rules.iter().filter(applies) {
            let Some(server) = rule.gate.server().filter(|_| self.runtime.keeps_servers()) else { continue };
            let Some(program) = programs.program(&ResolvedPrograms::server_name(&rule.gate.name)) else {
                continue;
            };
            let input = ProgramInput {
                rule,
                program,
                search: programs.path(),
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
            server::prewarm(&input, server, &self.runtime.pool);
        }
    }
}

/// Permission to run the programs that a policy names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecPermission {
    /// The programs that a person trusts.
    Granted(ResolvedPrograms),
    /// No person trusts them; the reason to report.
    Untrusted(String),
    /// There is no directory in which the programs could see the draft, trusted or not; the reason to report.
    NoDirectory(String),
}
