//! The fields by which some tools name what lies in a database, as each of them lists them.

use crate::request::EntityFields;

/// The fields as they came.
pub(super) const fn fields(
    entity_type: Option<String>,
    app_id: Option<String>,
    organization_id: Option<String>,
) -> EntityFields {
    EntityFields { entity_type, app_id, organization_id }
}

/// The names of these fields, which a server that offers files alone accepts and does not list.
pub(in crate::front) const FIELDS: [&str; 3] = ["entity_type", "app_id", "organization_id"];

#[cfg(test)]
mod tests {
    use super::super::TOOLS;
    use super::*;
    use crate::request::EntityKind;

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
