//! What the results of several reads have in common.

use lockgate_edit::request::{Entity, EntityKind, SearchScope};
use lockgate_protocol::EntityKey;
use lockgate_store::Skipped;

/// Returns the parts of the key that all results of a search or list share.
pub(super) fn shared_key(scope: &SearchScope) -> EntityKey {
    match scope {
        SearchScope::Files => EntityKey::default(),
        SearchScope::Entities { kind, app_id, organization_id: _ } => EntityKey {
            entity_type: Some(kind.name().to_owned()),
            app_id: app_id.clone(),
            organization_id: None,
        },
    }
}

/// Returns the parts of the key that differ between the results of a search or list.
pub(super) fn distinct_key(entity: Option<&Entity>) -> EntityKey {
    let organization_id = entity.and_then(|entity| entity.organization_id.clone());
    EntityKey { organization_id, ..EntityKey::default() }
}

/// Describes the files that were skipped.
pub(super) fn skipped_notes(skipped: &Skipped, largest: u64, noun: &str) -> Vec<String> {
    let Skipped { large, unreadable, unnamed, slow } = *skipped;
    let files = |count: usize| match count {
        1 => format!("1 {noun} is"),
        count => format!("{count} {noun}s are"),
    };
    let mut notes = Vec::new();
    if large > 0 {
        notes.push(format!("skipped: {} larger than the limit of {largest} bytes", files(large)));
    }
    if unreadable > 0 {
        let what = if noun == EntityKind::FILE { "files and folders".to_owned() } else { format!("{noun}s") };
        notes.push(format!("skipped: {unreadable} of the {what} cannot be read"));
    }
    if unnamed > 0 {
        notes.push(format!("skipped: {unnamed} of the names are not UTF-8"));
    }
    if slow > 0 {
        notes.push(format!("skipped: {} too large for such a slow pattern", files(slow)));
    }
    notes
}
