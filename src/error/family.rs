//! The families of refusals.

/// The families of refusals; the command line's exit code is the family's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorFamily {
    /// The request itself cannot be carried out as it stands.
    Request,
    /// The file is not there, or is not text that can be edited.
    Target,
    /// The path, or the file behind it, may not be touched.
    Access,
    /// The text to be replaced was not found in exactly one place.
    Match,
    /// A quality gate found something new.
    Gate,
    /// Somebody else changed, or is changing, the same file.
    Conflict,
    /// The policy file cannot be understood.
    Policy,
    /// The machine refused.
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

    /// The exit code of the command line for a refusal of this family.
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
