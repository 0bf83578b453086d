//! The fields that say what sort of thing a path names, and the one place where they are raised to a [`Target`].

use super::target::{Entity, EntityKind, Realm, Target};
use crate::error::{Code, Error};

/// The fields that say what sort of thing a path names, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct EntityFields {
    /// What lies in a database; absent for a file.
    pub entity_type: Option<EntityKind>,
    /// The app that an app file belongs to.
    pub app_id: Option<String>,
    /// The organisation that a workflow belongs to.
    pub organization_id: Option<String>,
}

impl EntityFields {
    /// The name of what `entity_type` says, as it stands on the wire.
    pub const fn name(&self) -> &'static str {
        match self.entity_type {
            Some(kind) => kind.name(),
            None => EntityKind::FILE,
        }
    }

    /// Raises the fields to what this path names.
    ///
    /// Errors: those of [`EntityFields::realm`], and `INVALID_INPUT` for an entity without a path.
    pub fn raise(self, path: String) -> Result<Target, Error> {
        let Realm::Entities { kind, app_id, organization_id } = self.realm()? else {
            return Ok(Target::File(path));
        };
        if path.is_empty() {
            let message = format!("path is empty: a {} is known by its path", kind.name());
            return Err(Error::new(Code::InvalidInput, message).field("path"));
        }
        Ok(Target::Entity(Entity { kind, path, app_id, organization_id }))
    }

    /// Raises the fields to where a search or a list looks.
    ///
    /// Errors: `INVALID_INPUT`, with the field, for an `app_file` without `app_id`, for an id that is empty, and for one
    /// that does not go with the type.
    pub fn realm(self) -> Result<Realm, Error> {
        let name = self.name();
        let ids = [("app_id", &self.app_id), ("organization_id", &self.organization_id)];
        for (field, id) in ids.into_iter().filter_map(|(field, id)| Some((field, id.as_ref()?))) {
            if !takes(self.entity_type, field) {
                return Err(stray(name, field));
            }
            if id.is_empty() {
                return Err(Error::new(Code::InvalidInput, format!("{field} is empty")).field(field));
            }
        }
        match self {
            EntityFields { entity_type: None, .. } => Ok(Realm::Files),
            EntityFields { entity_type: Some(EntityKind::AppFile), app_id: None, .. } => {
                let message = "app_id is missing: an app_file is known by its app and its path";
                Err(Error::new(Code::InvalidInput, message).field("app_id"))
            }
            EntityFields { entity_type: Some(kind), app_id, organization_id } => {
                Ok(Realm::Entities { kind, app_id, organization_id })
            }
        }
    }
}

/// Whether this id is a part of such a thing's key.
fn takes(kind: Option<EntityKind>, field: &str) -> bool {
    match kind {
        Some(EntityKind::AppFile) => field == "app_id",
        Some(EntityKind::Workflow) => field == "organization_id",
        Some(EntityKind::Module) | None => false,
    }
}

fn stray(name: &str, field: &str) -> Error {
    let owner = if field == "app_id" { EntityKind::AppFile } else { EntityKind::Workflow };
    let message = format!("`{field}` goes with entity_type {} only, and this is a {name}", owner.name());
    Error::new(Code::InvalidInput, message).field(field).hint(format!("leave {field} out"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(
        entity_type: Option<EntityKind>,
        app: Option<&str>,
        organization: Option<&str>,
    ) -> EntityFields {
        let owned = |id: Option<&str>| id.map(str::to_owned);
        EntityFields { entity_type, app_id: owned(app), organization_id: owned(organization) }
    }

    #[test]
    fn without_a_type_it_is_a_file() {
        assert_eq!(EntityFields::default().raise("a".into()), Ok(Target::File("a".into())));
        assert_eq!(EntityFields::default().realm(), Ok(Realm::Files));
        assert_eq!(EntityFields::default().name(), "file");
    }

    #[test]
    fn an_entity_has_its_key() {
        use EntityKind::{AppFile, Module, Workflow};
        for (kind, app, organization) in [
            (AppFile, Some("1"), None),
            (Workflow, None, None),
            (Workflow, None, Some("2")),
            (Module, None, None),
        ] {
            let given = fields(Some(kind), app, organization);
            let Ok(Target::Entity(entity)) = given.clone().raise("a".into()) else { panic!("{given:?}") };
            assert_eq!(
                (entity.kind, entity.app_id.as_deref(), entity.organization_id.as_deref()),
                (kind, app, organization)
            );
            assert_eq!(given.clone().raise(String::new()).unwrap_err().field.as_deref(), Some("path"));
            assert_eq!(given.name(), kind.name());
        }
    }

    #[test]
    fn what_is_no_part_of_the_key_is_refused_by_name() {
        use EntityKind::{AppFile, Module, Workflow};
        for (kind, app, organization, field, said) in [
            (None, Some("1"), None, "app_id", "this is a file"),
            (None, None, Some("2"), "organization_id", "this is a file"),
            (Some(AppFile), None, None, "app_id", "app_id is missing"),
            (Some(AppFile), Some(""), None, "app_id", "is empty"),
            (Some(AppFile), Some("1"), Some("2"), "organization_id", "workflow only"),
            (Some(Workflow), Some("1"), None, "app_id", "app_file only"),
            (Some(Workflow), None, Some(""), "organization_id", "is empty"),
            (Some(Module), Some("1"), None, "app_id", "this is a module"),
            (Some(Module), None, Some("2"), "organization_id", "this is a module"),
        ] {
            let refused = fields(kind, app, organization).realm().unwrap_err();
            assert_eq!((refused.code, refused.field.as_deref()), (Code::InvalidInput, Some(field)));
            assert!(refused.message.contains(said), "{}", refused.message);
        }
    }
}
