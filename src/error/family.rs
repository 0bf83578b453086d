//! The families of refusals.

/// The families of refusals; the command line's exit code is the family's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
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

impl Family {
    /// The family's name in the documentation and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Request => "request",
            Family::Target => "target",
            Family::Access => "access",
            Family::Match => "match",
            Family::Gate => "gate",
            Family::Conflict => "conflict",
            Family::Policy => "policy",
            Family::System => "system",
        }
    }

    /// The exit code of the command line for a refusal of this family.
    pub const fn exit_code(self) -> u8 {
        match self {
            Family::Gate => 1,
            Family::Request => 2,
            Family::Target => 3,
            Family::Access => 4,
            Family::Match => 5,
            Family::Conflict => 7,
            Family::Policy => 8,
            Family::System => 70,
        }
    }
}
