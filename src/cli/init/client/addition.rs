//! The parts of a client's configuration.

/// Name of the server in a configuration, and of the program on the search path.
pub(super) const NAME: &str = "lockgate";

/// The part of a client's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::init) enum Addition {
    /// The entry of the MCP server.
    Server,
    /// The hooks, which judge the edits of the client's own tools.
    Hooks,
    /// The setting that leaves out the client's own edit tools.
    Exclusion,
}

impl Addition {
    pub(super) const ALL: [Addition; 3] = [Addition::Server, Addition::Hooks, Addition::Exclusion];

    pub(super) fn name(self) -> &'static str {
        match self {
            Addition::Server => "server",
            Addition::Hooks => "hooks",
            Addition::Exclusion => "exclusion",
        }
    }
}

/// The configuration that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::init) enum Scope {
    /// The configuration file of the project.
    Project,
    /// The configuration file of the user, for all projects.
    User,
}
