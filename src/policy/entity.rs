//! What sorts of entities there are, and whose each is.

/// Whose an entity is, by its sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// That of its app: its key is `app_id` and `path`.
    App,
    /// An organisation's, or nobody's: its key is `path` and perhaps `organization_id`.
    Organization,
    /// Nobody's: its key is `path`.
    Global,
}
