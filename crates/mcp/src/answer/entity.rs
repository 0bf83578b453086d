//! The key of an entity: the fields with which a later call can address it.

use super::clip::{clip, escaped};
use lockgate_edit::request::Entity;
use lockgate_protocol::EntityKey;
use lockgate_text::escape_name;

/// Maximum bytes of an id in the text form.
const MAX_SHOWN_ID: usize = 200;
/// Ids are omitted when an answer allows fewer bytes than this for a text.
const MIN_ID_BYTES: usize = 90;

/// Returns the key of an entity; empty for a file.
pub(crate) fn key(entity: Option<&Entity>) -> EntityKey {
    entity.map_or_else(EntityKey::default, |entity| EntityKey {
        entity_type: Some(entity.kind.name().to_owned()),
        app_id: entity.app_id.clone(),
        organization_id: entity.organization_id.clone(),
    })
}

/// Cuts the key to texts of at most `bytes`. An id is whole or omitted, because a clipped id would name a different
/// entity.
pub(super) fn cut_key(key: &mut EntityKey, bytes: usize) {
    key.entity_type = key.entity_type.as_deref().map(|name| clip(name, bytes));
    for id in [&mut key.app_id, &mut key.organization_id] {
        id.take_if(|id| bytes < MIN_ID_BYTES || escaped(id) > bytes);
    }
}

/// Returns the display name of a document: the path of a file, or the type, path and owner of an entity.
pub fn display_name(path: &str, key: &EntityKey) -> String {
    let kind = key.entity_type.as_ref().map(|kind| format!("{kind} ")).unwrap_or_default();
    let owner = |of: &str, id: &Option<String>| match id {
        Some(id) => format!(" of {of} {}", escape_name(&clip(id, MAX_SHOWN_ID))),
        None => String::new(),
    };
    let owners = owner("app", &key.app_id) + &owner("organisation", &key.organization_id);
    format!("{kind}{}{owners}", escape_name(path))
}

/// Returns the display name of one search or list result: its path, and its organisation if it has one.
pub(crate) fn result_name(path: &str, key: &EntityKey) -> String {
    display_name(path, &EntityKey { organization_id: key.organization_id.clone(), ..EntityKey::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::request::EntityKind;
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
            let key = key(entity.as_ref());
            assert_eq!(serde_json::to_value(&key).unwrap(), fields);
            assert_eq!(display_name("a/b.py", &key), words);
        }
    }
}
