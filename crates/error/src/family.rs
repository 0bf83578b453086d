//! The families of error codes.

/// The families of error codes; each has its own exit code of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorFamily {
    /// The request is invalid: an argument is missing, malformed or contradicts another.
    Request,
    /// The file does not exist, or is not text that can be edited.
    Target,
    /// Access to the path is not allowed.
    Access,
    /// The search text did not match in exactly one place.
    Match,
    /// A quality gate has a new blocking finding.
    Gate,
    /// Another process changed, or is changing, the same file.
    Conflict,
    /// The policy file is invalid.
    Policy,
    /// The operating system or lockgate itself failed.
    System,
}

impl ErrorFamily {
    /// The family's name in the documentation and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorFamily::Request => "request",
            ErrorFamily::Target => "target",
            ErrorFamily::Access => "access",
            ErrorFamily::Match => "match",
            ErrorFamily::Gate => "gate",
            ErrorFamily::Conflict => "conflict",
            ErrorFamily::Policy => "policy",
            ErrorFamily::System => "system",
        }
    }

    /// The exit code of the command line for an error of this family.
    pub const fn exit_code(self) -> u8 {
        match self {
            ErrorFamily::Gate => 1,
            ErrorFamily::Request => 2,
            ErrorFamily::Target => 3,
            ErrorFamily::Access => 4,
            ErrorFamily::Match => 5,
            ErrorFamily::Conflict => 7,
            ErrorFamily::Policy => 8,
            ErrorFamily::System => 70,
        }
    }
}
