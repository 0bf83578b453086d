//! The target of a request: a file or an entity.

use std::borrow::Cow;

/// The file or entity that a request names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A file, by its path: absolute inside a root, or relative to the first root.
    File(String),
    /// Code that is stored in a database.
    Entity(Entity),
}

/// An entity: code that is stored in a database, by its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entity {
    /// The entity type, as in `workflow`.
    pub kind: EntityKind,
    /// The path in the key.
    pub path: String,
    /// The app that it belongs to; only for types that belong to apps, such as `app_file`.
    pub app_id: Option<String>,
    /// The organisation that it belongs to; `None` if it is global.
    pub organization_id: Option<String>,
}

/// The type of an entity, by name; the policy says what each type requires.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntityKind(Cow<'static, str>);

/// The scope of a search or a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum SearchScope {
    /// The files of the roots.
    #[default]
    Files,
    /// Code that is stored in a database.
    Entities {
        /// The type of the entities in scope.
        kind: EntityKind,
        /// The app whose files are searched; for an `app_file`.
        app_id: Option<String>,
        /// The organisation whose entities are searched; if absent, all that the caller may see.
        organization_id: Option<String>,
    },
}

impl EntityKind {
    /// The name of a file where an entity type could be given.
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
    pub const MAX_NAME: usize = 40;

    /// Returns the type of this name, if the name is valid; the policy decides if the type exists.
    pub fn from_name(name: &str) -> Option<EntityKind> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let fits = (1..=EntityKind::MAX_NAME).contains(&name.len()) && name.bytes().all(plain);
        let known = || EntityKind::ALL.into_iter().find(|kind| kind.name() == name);
        (fits && name != EntityKind::FILE)
            .then(|| known().unwrap_or_else(|| EntityKind(Cow::Owned(name.to_owned()))))
    }

    /// The name on the wire.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// Puts the article before the name of a type: `a module`, `an app_file`.
pub fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {name}")
}

impl Target {
    /// Returns the target as the caller named it.
    pub fn display_path(&self) -> &str {
        match self {
            Target::File(path) | Target::Entity(Entity { path, .. }) => path,
        }
    }

    /// Returns the path of a file; `None` for an entity.
    pub fn file(&self) -> Option<&str> {
        match self {
            Target::File(path) => Some(path),
            Target::Entity(_) => None,
        }
    }

    /// Returns the key of an entity; `None` for a file.
    pub fn entity(&self) -> Option<&Entity> {
        match self {
            Target::File(_) => None,
            Target::Entity(entity) => Some(entity),
        }
    }

    /// Returns a noun for the target: `file`, or the name of its type.
    pub fn noun(&self) -> &str {
        match self {
            Target::File(_) => EntityKind::FILE,
            Target::Entity(entity) => entity.kind.name(),
        }
    }
}
