//! The parts of a gate's definition that change the answers of its program.

use std::collections::BTreeSet;

use lockgate_policy::{CacheScope, CommandSpec, ServerSpec};

/// The program whose answers are cached.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CacheInputs<'a> {
    /// The command of the gate, which runs once for each answer.
    Command(&'a CommandSpec),
    /// The language server of the gate, which keeps running.
    Server(&'a ServerSpec),
}

impl<'a> CacheInputs<'a> {
    /// Returns the name of the kind of program.
    pub(super) fn name(self) -> &'static [u8] {
        match self {
            CacheInputs::Command(_) => b"command",
            CacheInputs::Server(_) => b"server",
        }
    }

    /// Returns which other files change its answers.
    pub(super) fn scope(self) -> CacheScope {
        match self {
            CacheInputs::Command(command) => command.scope,
            CacheInputs::Server(server) => server.scope,
        }
    }

    /// Returns the names of the files that change its answers.
    pub(super) fn names(self) -> BTreeSet<&'a String> {
        match self {
            CacheInputs::Command(command) => {
                let configuration = command.config.iter().map(|configuration| &configuration.name);
                let values = command.values.iter().flat_map(|value| &value.files);
                configuration.chain(values).chain(&command.environment.cwd).collect()
            }
            CacheInputs::Server(server) => {
                let configuration = server.config.iter().map(|configuration| &configuration.name);
                configuration.chain(&server.cwd).collect()
            }
        }
    }
}
