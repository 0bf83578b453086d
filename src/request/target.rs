//! What a request edits or looks at.

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

/// What an entity is to the application platform whose code it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntityKind {
    /// A file of an app, by `app_id` and `path`.
    AppFile,
    /// Python with a function that is decorated with `@workflow`, by `path` and perhaps `organization_id`.
    Workflow,
    /// Python without one, by `path`; global.
    Module,
}

/// Where a search or a list looks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Realm {
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

    /// Every kind, in the order of the documentation.
    pub const ALL: [EntityKind; 3] = [EntityKind::AppFile, EntityKind::Workflow, EntityKind::Module];

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            EntityKind::AppFile => "app_file",
            EntityKind::Workflow => "workflow",
            EntityKind::Module => "module",
        }
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
