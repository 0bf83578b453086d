//! The fields that name an entity type and its ids, and their conversion to a [`Target`].
//!
//! The policy defines the types and the ids of each; the engine checks that.

use super::target::{Entity, EntityKind, SearchScope, Target, with_article};
use lockgate_error::{Code, Error};

/// The fields that name an entity type and its ids, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct EntityFields {
    /// The type of the entity; `file`, or absent, for a file.
    pub entity_type: Option<String>,
    /// The app that the entity belongs to.
    pub app_id: Option<String>,
    /// The organisation that the entity belongs to.
    pub organization_id: Option<String>,
}

impl EntityFields {
    /// Returns the type name as it appears on the wire.
    pub fn name(&self) -> &str {
        self.entity_type.as_deref().unwrap_or(EntityKind::FILE)
    }

    /// Converts the fields and a path to a target.
    ///
    /// Errors: those of [`EntityFields::into_scope`], and `INVALID_INPUT` for an entity without a path.
    pub fn into_target(self, path: String) -> Result<Target, Error> {
        let SearchScope::Entities { kind, app_id, organization_id } = self.into_scope()? else {
            return Ok(Target::File(path));
        };
        if path.is_empty() {
            let message = format!("path is empty: {} is identified by its path", with_article(kind.name()));
            return Err(Error::new(Code::InvalidInput, message).named_field("path"));
        }
        Ok(Target::Entity(Entity { kind, path, app_id, organization_id }))
    }

    /// Converts the fields to the scope of a search or a list.
    ///
    /// Errors: `INVALID_INPUT`, with the field, for an invalid type name, for an empty id, and for an id with
    /// a file.
    pub fn into_scope(self) -> Result<SearchScope, Error> {
        let kind = self.kind()?;
        let ids = [("app_id", &self.app_id), ("organization_id", &self.organization_id)];
        for (field, id) in ids.into_iter().filter_map(|(field, id)| Some((field, id.as_ref()?))) {
            if kind.is_none() {
                return Err(of_a_file(field));
            }
            if id.is_empty() {
                return Err(Error::new(Code::InvalidInput, format!("{field} is empty")).named_field(field));
            }
        }
        let EntityFields { app_id, organization_id, .. } = self;
        Ok(kind.map_or(SearchScope::Files, |kind| SearchScope::Entities { kind, app_id, organization_id }))
    }

    /// Returns the entity type; `None` for a file.
    fn kind(&self) -> Result<Option<EntityKind>, Error> {
        match self.name() {
            EntityKind::FILE => Ok(None),
            name => EntityKind::from_name(name).map(Some).ok_or_else(no_name),
        }
    }
}

fn of_a_file(field: &str) -> Error {
    let owner = if field == "app_id" { EntityKind::APP_FILE } else { EntityKind::WORKFLOW };
    let message = format!("`{field}` is only for entity_type {}; this is a file", owner.name());
    Error::new(Code::InvalidInput, message).named_field(field).hint(format!("leave {field} out"))
}

fn no_name() -> Error {
    let most = EntityKind::MAX_NAME;
    let message =
        format!("`entity_type` is not a type name: at most {most} lower-case letters, digits and `_`");
    let error = Error::new(Code::InvalidInput, message).named_field("entity_type");
    error.hint("give file, app_file, workflow, module, or a type of the policy")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(entity_type: Option<&str>, app: Option<&str>, organization: Option<&str>) -> EntityFields {
        let owned = |id: Option<&str>| id.map(str::to_owned);
        EntityFields {
            entity_type: owned(entity_type),
            app_id: owned(app),
            organization_id: owned(organization),
        }
    }

    #[test]
    fn without_a_type_it_is_a_file() {
        for entity_type in [None, Some("file")] {
            let parsed = fields(entity_type, None, None);
            assert_eq!(parsed.clone().into_target("a".into()), Ok(Target::File("a".into())));
            assert_eq!((parsed.clone().into_scope(), parsed.name()), (Ok(SearchScope::Files), "file"));
        }
    }

    #[test]
    fn an_entity_has_its_key() {
        for (name, app, organization) in [
            ("app_file", Some("1"), None),
            ("workflow", None, None),
            ("workflow", None, Some("2")),
            ("module", None, None),
            ("some_other_4", Some("1"), Some("2")),
        ] {
            let parsed = fields(Some(name), app, organization);
            let Ok(Target::Entity(entity)) = parsed.clone().into_target("a".into()) else {
                panic!("{parsed:?}")
            };
            assert_eq!(
                (entity.kind.name(), entity.app_id.as_deref(), entity.organization_id.as_deref()),
                (name, app, organization)
            );
            let error = parsed.clone().into_target(String::new()).unwrap_err();
            assert_eq!(error.field.as_deref(), Some("path"));
            let article = if name == "app_file" { "an" } else { "a" };
            assert!(error.message.contains(&format!(": {article} {name} is")), "{}", error.message);
            assert_eq!(parsed.name(), name);
        }
    }

    #[test]
    fn what_cannot_be_a_key_is_refused_by_name() {
        let long = "a".repeat(EntityKind::MAX_NAME + 1);
        for (kind, app, organization, field, message) in [
            (None, Some("1"), None, "app_id", "only for entity_type app_file; this is a file"),
            (
                Some("file"),
                None,
                Some("2"),
                "organization_id",
                "only for entity_type workflow; this is a file",
            ),
            (Some("app_file"), Some(""), None, "app_id", "is empty"),
            (Some("workflow"), None, Some(""), "organization_id", "is empty"),
            (Some(""), None, None, "entity_type", "is not a type name"),
            (Some("Workflow"), None, None, "entity_type", "is not a type name"),
            (Some("work\nflow"), None, None, "entity_type", "is not a type name"),
            (Some("wörk"), None, None, "entity_type", "is not a type name"),
            (Some(long.as_str()), None, None, "entity_type", "is not a type name"),
        ] {
            let error = fields(kind, app, organization).into_scope().unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some(field)));
            assert!(error.message.contains(message), "{}", error.message);
        }
    }
}
