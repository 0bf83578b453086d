//! What a request edits or looks at.

use std::borrow::Cow;

/// The thing that a request is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A file, by its path: absolute inside a root, or relative to the first root.
    File(String),
    /// Code that is kept in a database.
    Entity(Entity),
}

/// Code that is kept in a database, by its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entity {
    /// What it is, as in `workflow`.
    pub kind: EntityKind,
    /// Its path.
    pub path: String,
    /// The app that it belongs to; that of an `app_file`.
    pub app_id: Option<String>,
    /// The organisation that it belongs to; nothing where it is global.
    pub organization_id: Option<String>,
}

/// What an entity is to the application platform whose code it is, by the name of its type; what a type asks is in the
/// policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntityKind(Cow<'static, str>);

/// Where a search or a list looks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum SearchScope {
    /// The files of the roots.
    #[default]
    Files,
    /// Code that is kept in a database.
    Entities {
        /// What it is.
        kind: EntityKind,
        /// The app whose files are meant; that of an `app_file`.
        app_id: Option<String>,
        /// The organisation whose entities are meant; every one that the caller may see, where it is absent.
        organization_id: Option<String>,
    },
}

impl EntityKind {
    /// What a file is called where an entity's kind could stand.
    pub const FILE: &'static str = "file";

    /// A file of an app, by `app_id` and `path`.
    pub const APP_FILE: EntityKind = EntityKind(Cow::Borrowed("app_file"));

    /// Python with a function that is decorated with `@workflow`, by `path` and perhaps `organization_id`.
    pub const WORKFLOW: EntityKind = EntityKind(Cow::Borrowed("workflow"));

    /// Python without one, by `path`; global.
    pub const MODULE: EntityKind = EntityKind(Cow::Borrowed("module"));

    /// Every kind that is known without a policy, in the order of the documentation.
    pub const ALL: [EntityKind; 3] = [EntityKind::APP_FILE, EntityKind::WORKFLOW, EntityKind::MODULE];

    /// The greatest length of a name.
    pub const LONGEST: usize = 40;

    /// The kind of this name, where it can be one; whether there is such a kind, the policy says.
    pub fn named(name: &str) -> Option<EntityKind> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let fits = (1..=EntityKind::LONGEST).contains(&name.len()) && name.bytes().all(plain);
        let known = || EntityKind::ALL.into_iter().find(|kind| kind.name() == name);
        (fits && name != EntityKind::FILE)
            .then(|| known().unwrap_or_else(|| EntityKind(Cow::Owned(name.to_owned()))))
    }

    /// Its name on the wire.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Target {
    /// The target as the caller named it.
    pub fn shown(&self) -> &str {
        match self {
            Target::File(path) | Target::Entity(Entity { path, .. }) => path,
        }
    }

    /// The key of what lies in a database.
    pub fn entity(&self) -> Option<&Entity> {
        match self {
            Target::File(_) => None,
            Target::Entity(entity) => Some(entity),
        }
    }

    /// What it is, in a word: a file, or the sort of the entity.
    pub fn noun(&self) -> &str {
        match self {
            Target::File(_) => EntityKind::FILE,
            Target::Entity(entity) => entity.kind.name(),
        }
    }
}
