//! Whose rows a caller reaches.

/// Whose rows a caller reaches; it is said by a token, by a flag or by the command, and never by a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Tenant {
    /// What is no organisation's.
    #[default]
    Nobody,
    /// What is this organisation's, and what is no organisation's.
    Organization(String),
    /// Everything: for commands that only a person runs.
    Everybody,
}

impl Tenant {
    /// The organisation, where it is one.
    pub fn organization(&self) -> Option<&str> {
        match self {
            Tenant::Organization(name) => Some(name),
            Tenant::Nobody | Tenant::Everybody => None,
        }
    }

    /// Whether what is this organisation's is reached; the empty one is nobody.
    pub fn reaches(&self, organization: &str) -> bool {
        match self {
            Tenant::Nobody => organization.is_empty(),
            Tenant::Organization(own) => organization.is_empty() || own == organization,
            Tenant::Everybody => true,
        }
    }
}
