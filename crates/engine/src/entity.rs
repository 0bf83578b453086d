//! Resolves entities by their type. The policy at the top of the first root defines the types and the ids of
//! each.

use super::services::Services;
use lockgate_edit::request::{Entity, EntityKind, SearchScope, Target, with_article};
use lockgate_error::{Code, Error, FieldValue, NextCall};
use lockgate_policy::{EntityOwner, EntityType, Policy};
use lockgate_store::{DefaultOwner, EntityFilter, RowLocation};
use lockgate_text::correction;

/// The most types that an error names.
const MAX_NAMED: usize = 20;

impl Services {
    /// Resolves an entity to its row.
    ///
    /// Errors: those of [`Services::owner`], `INVALID_INPUT` for an entity without a path, and those of
    /// [`EntityStore::admit`](lockgate_store::EntityStore::admit).
    pub(super) fn row(&self, entity: &Entity, default_owner: DefaultOwner) -> Result<RowLocation, Error> {
        let Entity { kind, app_id, organization_id, path } = entity;
        let owner = self.owner(kind, app_id.as_deref(), organization_id.as_deref())?;
        if path.is_empty() {
            let message = format!("path is missing: {} is identified by its path", with_article(kind.name()));
            return Err(Error::new(Code::InvalidInput, message).named_field("path"));
        }
        self.store.rows.admit(entity, owner, default_owner)
    }

    /// Returns the owner of a type's entities, after checking that the type exists and that the given ids go
    /// with it.
    ///
    /// Errors: `INVALID_INPUT`, with the field, for a type that the policy at the top does not have, for a
    /// missing app, and for an id that does not go with the type; `POLICY_INVALID`.
    pub(super) fn owner(
        &self,
        kind: &EntityKind,
        app_id: Option<&str>,
        organization_id: Option<&str>,
    ) -> Result<EntityOwner, Error> {
        let policy = self.policy_at_top()?;
        let known = policy.entity_type(kind.name()).ok_or_else(|| unknown_type(kind, &policy))?;
        let (field, alternatives) = match (known.owner, app_id, organization_id) {
            (EntityOwner::Organization | EntityOwner::Global, Some(_), _) => ("app_id", EntityOwner::App),
            (EntityOwner::App, _, Some(_)) | (EntityOwner::Global, None, Some(_)) => {
                ("organization_id", EntityOwner::Organization)
            }
            (EntityOwner::App, None, None) => return Err(missing_owner(known)),
            (EntityOwner::App, Some(_), None)
            | (EntityOwner::Organization, None, _)
            | (EntityOwner::Global, None, None) => return Ok(known.owner),
        };
        Err(unexpected_owner(known, field, &list_types(&policy, Some(alternatives))))
    }

    /// Returns the filter for the entities of a scope; `None` for files.
    ///
    /// Errors: those of [`Services::owner`].
    pub(super) fn resolve_scope<'a>(
        &self,
        scope: &'a SearchScope,
    ) -> Result<Option<EntityFilter<'a>>, Error> {
        let SearchScope::Entities { kind, app_id, organization_id } = scope else { return Ok(None) };
        let (app_id, organization_id) = (app_id.as_deref(), organization_id.as_deref());
        let owner = self.owner(kind, app_id, organization_id)?;
        Ok(Some(EntityFilter { kind, owner, app_id, organization_id }))
    }
}

/// Lists the names of the types with this owner, or of all types.
fn list_types(policy: &Policy, owner: Option<EntityOwner>) -> String {
    let fits = |known: &&EntityType| owner.is_none_or(|owner| known.owner == owner);
    let names: Vec<&str> = policy.entity_types().filter(fits).map(|known| known.name.as_str()).collect();
    let more = match names.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ") + &more
}

fn unknown_type(kind: &EntityKind, policy: &Policy) -> Error {
    let (name, known) = (kind.name(), list_types(policy, None));
    let message = format!("there is no entity_type `{name}`: must be one of {}, {known}", EntityKind::FILE);
    let names = policy.entity_types().map(|known| known.name.as_str()).chain([EntityKind::FILE]);
    let next = correction(name, names).map(|meant| NextCall::Correct {
        field: "entity_type".to_owned(),
        value: FieldValue::Text(meant.to_owned()),
    });
    Error::new(Code::InvalidInput, message).named_field("entity_type").with_next_if(next)
}

fn missing_owner(known: &EntityType) -> Error {
    let message =
        format!("app_id is missing: {} is identified by its app and its path", with_article(&known.name));
    Error::new(Code::InvalidInput, message).named_field("app_id")
}

fn unexpected_owner(known: &EntityType, field: &'static str, alternatives: &str) -> Error {
    let message =
        format!("`{field}` is only for entity_type {alternatives}; this is {}", with_article(&known.name));
    Error::new(Code::InvalidInput, message).named_field(field).hint(format!("leave {field} out"))
}

/// Describes a target to a person: the path of a file, or the type, the path and the owner of an entity.
pub(super) fn describe(target: &Target) -> String {
    let Target::Entity(Entity { kind, path, app_id, organization_id }) = target else {
        return target.display_path().to_owned();
    };
    let of = |owner: &str, id: &Option<String>| match id {
        Some(id) => format!(" of {owner} {id}"),
        None => String::new(),
    };
    format!("{} {path}{}{}", kind.name(), of("app", app_id), of("organisation", organization_id))
}
