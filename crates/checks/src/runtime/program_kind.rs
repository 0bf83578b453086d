//! The two kinds of programs, with the parts of their definitions that change their answers.

use std::collections::BTreeSet;

use lockgate_policy::{CacheScope, CommandSpec, ServerSpec};

/// The kind of a gate's program, with its definition.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ProgramKind<'a> {
    /// The command of the gate, which runs once for each answer.
    Command(&'a CommandSpec),
    /// The language server of the gate, which keeps running.
    Server(&'a ServerSpec),
}

impl<'a> ProgramKind<'a> {
    /// Returns the name of the kind of program.
    pub(super) fn name(self) -> &'static [u8] {
        match self {
            ProgramKind::Command(_) => b"command",
            ProgramKind::Server(_) => b"server",
        }
    }

    /// Returns which other files change its answers.
    pub(crate) fn scope(self) -> CacheScope {
        match self {
            ProgramKind::Command(command) => command.scope,
            ProgramKind::Server(server) => server.scope,
        }
    }

    /// Returns the names of the files that change its answers.
    pub(super) fn names(self) -> BTreeSet<&'a String> {
        match self {
            ProgramKind::Command(command) => {
                let configuration = command.config.iter().map(|configuration| &configuration.name);
                let values = command.values.iter().flat_map(|value| &value.files);
                configuration
                    .chain(values)
                    .chain(command.environment.cwd.iter().map(|file| &file.name))
                    .collect()
            }
            ProgramKind::Server(server) => {
                let configuration = server.config.iter().map(|configuration| &configuration.name);
                configuration.chain(server.cwd.iter().map(|file| &file.name)).collect()
            }
        }
    }
}
