//! Renders the key of an entity: the fields with which a later call can address it.

use serde_json::{Map, Value};

use super::size_limit::{clip, escaped};
use crate::request::{Entity, SearchScope};
use crate::text::escape_name;

/// Maximum bytes of an id in the text form.
const MAX_SHOWN_ID: usize = 200;
/// Ids are omitted when an answer allows fewer bytes than this for a text.
const MIN_ID_BYTES: usize = 90;

/// The parts of an entity key apart from the path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EntityKeyParts<'a> {
    pub(super) entity_type: Option<&'a str>,
    pub(super) app_id: Option<&'a str>,
    pub(super) organization_id: Option<&'a str>,
}

impl<'a> EntityKeyParts<'a> {
    /// Returns the key of an entity; empty for a file.
    pub(super) fn new(entity: Option<&'a Entity>) -> EntityKeyParts<'a> {
        entity.map_or_else(EntityKeyParts::default, |entity| EntityKeyParts {
            entity_type: Some(entity.kind.name()),
            app_id: entity.app_id.as_deref(),
            organization_id: entity.organization_id.as_deref(),
        })
    }

    /// Returns the parts of the key that all results of a search or list share.
    pub(super) fn shared(scope: &'a SearchScope) -> EntityKeyParts<'a> {
        match scope {
            SearchScope::Files => EntityKeyParts::default(),
            SearchScope::Entities { kind, app_id, organization_id: _ } => EntityKeyParts {
                entity_type: Some(kind.name()),
                app_id: app_id.as_deref(),
                organization_id: None,
            },
        }
    }

    /// Returns the parts of the key that differ between the results of a search or list.
    pub(super) fn distinct(entity: Option<&'a Entity>) -> EntityKeyParts<'a> {
        EntityKeyParts {
            organization_id: entity.and_then(|entity| entity.organization_id.as_deref()),
            ..EntityKeyParts::default()
        }
    }

    /// Returns the wire fields, none longer than `bytes`. An id is whole or omitted, because a clipped id would name
    /// a different entity.
    pub(super) fn fields(self, bytes: usize) -> [(&'static str, Option<Value>); 3] {
        let id = |id: &&str| bytes >= MIN_ID_BYTES && escaped(id) <= bytes;
        [
            ("entity_type", self.entity_type.map(|name| clip(name, bytes).into())),
            ("app_id", self.app_id.filter(id).map(Value::from)),
            ("organization_id", self.organization_id.filter(id).map(Value::from)),
        ]
    }

    /// Adds the fields to an answer.
    pub(super) fn add_to(self, fields: &mut Map<String, Value>) {
        let present = self.fields(usize::MAX).into_iter();
        fields.extend(present.filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
}

/// Returns the display name of a document: the path of a file, or the type, path and owner of an entity.
pub(super) fn display_name(path: &str, entity: Option<&Entity>) -> String {
    let path = escape_name(path);
    let Some(entity) = entity else { return path.into_owned() };
    let owner = [(" of app ", &entity.app_id), (" of organisation ", &entity.organization_id)]
        .into_iter()
        .filter_map(|(of, id)| Some(format!("{of}{}", escape_name(&clip(id.as_deref()?, MAX_SHOWN_ID)))));
    format!("{} {path}{}", entity.kind.name(), owner.collect::<String>())
}

/// Returns the display name of one search or list result: its path, and its organisation if it has one.
pub(super) fn result_name(path: &str, entity: Option<&Entity>) -> String {
    let organization = entity.and_then(|entity| entity.organization_id.as_deref());
    let of = organization.map(|id| format!(" of organisation {}", escape_name(&clip(id, MAX_SHOWN_ID))));
    format!("{}{}", escape_name(path), of.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::EntityKind;
    use serde_json::json;

    fn entity(kind: EntityKind, app: Option<&str>, organization: Option<&str>) -> Entity {
        let owned = |id: Option<&str>| id.map(str::to_owned);
        Entity { kind, path: "a/b.py".to_owned(), app_id: owned(app), organization_id: owned(organization) }
    }

    #[test]
    fn a_key_names_what_a_further_call_needs() {
        for (entity, fields, words) in [
            (None, json!({}), "a/b.py"),
            (
                Some(entity(EntityKind::WORKFLOW, None, Some("acme"))),
                json!({"entity_type": "workflow", "organization_id": "acme"}),
                "workflow a/b.py of organisation acme",
            ),
            (
                Some(entity(EntityKind::WORKFLOW, None, None)),
                json!({"entity_type": "workflow"}),
                "workflow a/b.py",
            ),
            (
                Some(entity(EntityKind::APP_FILE, Some("c\u{202e}rm"), None)),
                json!({"entity_type": "app_file", "app_id": "c\u{202e}rm"}),
                "app_file a/b.py of app \"c\\u{202e}rm\"",
            ),
        ] {
            let mut put = Map::new();
            EntityKeyParts::new(entity.as_ref()).add_to(&mut put);
            assert_eq!(Value::Object(put), fields);
            assert_eq!(display_name("a/b.py", entity.as_ref()), words);
        }
    }
}
