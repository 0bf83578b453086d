//! The fields with which some tools address an entity.

use schemars::JsonSchema;
use serde::Deserialize;

use lockgate_edit::request::{Entity, EntityFields, EntityKind, SearchScope, Target, with_article};
use lockgate_error::{Code, Error};

/// Declares groups of fields that address an entity, with the description of each field.
macro_rules! entity_args {
    ($($(#[$about:meta])* $name:ident($kind:literal, $app:literal, $organization:literal);)*) => {$(
        $(#[$about])*
        #[derive(Deserialize, JsonSchema)]
        pub(super) struct $name {
            #[doc = $kind]
            entity_type: Option<String>,
            #[doc = $app]
            app_id: Option<String>,
            #[doc = $organization]
            organization_id: Option<String>,
        }

        impl $name {
            /// Returns the fields of the request.
            pub(super) fn fields(self) -> EntityFields {
                let $name { entity_type, app_id, organization_id } = self;
                EntityFields { entity_type, app_id, organization_id }
            }
        }
    )*};
}

entity_args! {
    /// The fields that address one entity.
    EntityArgs(
        "file (unless given), app_file, workflow, module, or a type of the policy.",
        "The app of an app_file.",
        "The organization of a workflow; your own, else global, unless given."
    );
    /// The fields that address one entity, for tools that change it.
    RequiredEntityArgs(
        "file (unless given), app_file, workflow, module, or a type of the policy.",
        "The app of an app_file, which requires it.",
        "The organization of a workflow; your own, else global, unless given."
    );
    /// The fields that address one entity, for tools that write its whole text.
    WrittenEntityArgs(
        "file (unless given), app_file, workflow (Python with a function decorated with @workflow), module (without one), or a type of the policy.",
        "The app of an app_file, which requires it.",
        "The organization of a workflow; your own, else global, unless given."
    );
    /// The fields that select the entities of a search or a list.
    AnyEntityArgs(
        "file (unless given), app_file, workflow, module, or a type of the policy.",
        "The app of an app_file.",
        "The organization of a workflow; all unless given."
    );
}

/// Returns the target of these fields; the path is optional for files.
///
/// An entity of a type that only a policy can have stays without a path: the engine checks the type first.
///
/// Errors: those of [`EntityFields::into_target`], and `INVALID_INPUT` for another entity without a path.
pub(super) fn target(path: Option<String>, fields: EntityFields) -> Result<Option<Target>, Error> {
    if let Some(path) = path {
        return fields.into_target(path).map(Some);
    }
    match fields.into_scope()? {
        SearchScope::Files => Ok(None),
        SearchScope::Entities { kind, app_id, organization_id } if !EntityKind::ALL.contains(&kind) => {
            Ok(Some(Target::Entity(Entity { kind, path: String::new(), app_id, organization_id })))
        }
        SearchScope::Entities { kind, .. } => {
            let message = format!("path is missing: {} is identified by its path", with_article(kind.name()));
            Err(Error::new(Code::InvalidInput, message).named_field("path"))
        }
    }
}

/// Names of the fields; a server without entity tools accepts them but does not list them.
pub(crate) const FIELDS: [&str; 3] = ["entity_type", "app_id", "organization_id"];

#[cfg(test)]
mod tests {
    use super::super::TOOLS;
    use super::*;

    fn fields(
        entity_type: Option<String>,
        app_id: Option<String>,
        organization_id: Option<String>,
    ) -> EntityFields {
        EntityFields { entity_type, app_id, organization_id }
    }

    #[test]
    fn fields_that_need_a_path_are_refused_without_one() {
        let parse_entity = |kind: Option<&str>, path: Option<&str>| {
            target(path.map(str::to_owned), fields(kind.map(str::to_owned), None, None))
        };
        assert_eq!(parse_entity(None, None), Ok(None));
        assert_eq!(parse_entity(None, Some("a")), Ok(Some(Target::File("a".to_owned()))));
        assert_eq!(parse_entity(Some("file"), Some("a")), Ok(Some(Target::File("a".to_owned()))));
        assert_eq!(parse_entity(Some("module"), Some("a")).unwrap().unwrap().noun(), "module");
        let error = parse_entity(Some("module"), None).unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("path")));
        let error = parse_entity(Some("app_file"), None).unwrap_err();
        assert_eq!(error.message, "path is missing: an app_file is identified by its path");
        assert_eq!(
            parse_entity(Some("form"), None).unwrap().unwrap().display_path(),
            "",
            "the engine decides"
        );
        assert!(target(None, fields(None, Some("1".to_owned()), None)).is_err());
    }

    #[test]
    fn the_kinds_that_are_known_without_a_policy_are_named() {
        let known = EntityKind::ALL;
        for tool in TOOLS {
            let schema = (tool.schema)();
            let listed = FIELDS.map(|field| schema["properties"].get(field).is_some());
            assert!(listed == [true; 3] || listed == [false; 3], "{}", tool.name);
            if listed[0] {
                let described = schema["properties"]["entity_type"]["description"].as_str().unwrap();
                let names = std::iter::once(EntityKind::FILE).chain(known.iter().map(EntityKind::name));
                let mut at = 0;
                for name in names {
                    let found = described.get(at..).and_then(|rest| rest.find(name));
                    at += found.unwrap_or_else(|| panic!("{}: {name}: {described}", tool.name)) + name.len();
                }
            }
        }
    }
}
