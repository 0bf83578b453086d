//! The fields by which some tools name what lies in a database, as each of them lists them.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::request::{EntityFields, EntityKind};

/// What a path can name.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WireEntity {
    File,
    AppFile,
    Workflow,
    Module,
}

impl WireEntity {
    fn raise(self) -> Option<EntityKind> {
        match self {
            WireEntity::File => None,
            WireEntity::AppFile => Some(EntityKind::AppFile),
            WireEntity::Workflow => Some(EntityKind::Workflow),
            WireEntity::Module => Some(EntityKind::Module),
        }
    }
}

/// The fields as they came.
pub(super) fn fields(
    entity_type: Option<WireEntity>,
    app_id: Option<String>,
    organization_id: Option<String>,
) -> EntityFields {
    let entity_type = entity_type.and_then(WireEntity::raise);
    EntityFields { entity_type, app_id, organization_id }
}

/// The names of these fields, which a server that offers files alone accepts and does not list.
pub(in crate::front) const FIELDS: [&str; 3] = ["entity_type", "app_id", "organization_id"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::TOOLS;
    use super::*;

    #[test]
    fn the_listed_kinds_are_the_engine_s() {
        let names: Vec<&str> =
            std::iter::once(EntityKind::FILE).chain(EntityKind::ALL.map(EntityKind::name)).collect();
        for tool in TOOLS {
            let schema = (tool.schema)();
            let listed = FIELDS.map(|field| schema["properties"].get(field).is_some());
            assert!(listed == [true; 3] || listed == [false; 3], "{}", tool.name);
            if listed[0] {
                assert_eq!(schema["properties"]["entity_type"]["enum"], json!(names), "{}", tool.name);
            }
        }
    }
}
