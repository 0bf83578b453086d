//! The tenant on whose behalf rows are accessed.

/// The tenant on whose behalf rows are accessed. A token, a flag or the command sets it, never a
/// request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Tenant {
    /// Only global rows, which have no owner.
    #[default]
    Global,
    /// This organisation's rows and global rows.
    Organization(String),
    /// All rows, for administrative commands.
    All,
}

impl Tenant {
    /// The organisation, if the tenant is one.
    pub fn organization(&self) -> Option<&str> {
        match self {
            Tenant::Organization(name) => Some(name),
            Tenant::Global | Tenant::All => None,
        }
    }

    /// True if rows of this organisation are in scope; the empty string means global.
    pub fn can_access(&self, organization: &str) -> bool {
        match self {
            Tenant::Global => organization.is_empty(),
            Tenant::Organization(own) => organization.is_empty() || own == organization,
            Tenant::All => true,
        }
    }
}
