//! Whether a new text is what its entity's type says, asked before the store is looked for in which the entity lies.
//!
//! The rules are gates of the catalogue, which look at the tree of the text: a comment that names the decorator is none.

use super::Workspace;
use crate::edit::Edit;
use crate::error::{Code, Error, Place};
use crate::gate::{Finding, patterned};
use crate::policy::{Catalogue, Owner};
use crate::request::{Entity, EntityKind, Realm, Request, Target};
use crate::store::{Among, RowPlace};

/// Places that a refusal lists.
const PLACES: usize = 20;

/// The gate by which the text of such an entity is held against its type.
fn rule(kind: &EntityKind) -> Option<&'static str> {
    match kind.name() {
        "workflow" => Some("entity-workflow"),
        "module" => Some("entity-module"),
        _ => None,
    }
}

/// Holds the whole new text of an entity against its type.
///
/// Errors: `ENTITY_MISMATCH`, also for a text of which it cannot be seen what it is.
pub(super) fn check(request: &Request) -> Result<(), Error> {
    let (Target::Entity(entity), Edit::Content(text)) = (&request.target, &request.edit) else {
        return Ok(());
    };
    let gate = rule(&entity.kind).and_then(|name| Catalogue::embedded().find(name));
    match gate.map(|gate| patterned(gate, &entity.path, text)) {
        None => Ok(()),
        Some(Ok(findings)) => match findings.first() {
            None => Ok(()),
            Some(first) => Err(mismatch(entity, first, &places(&findings, text))),
        },
        Some(Err(why)) => Err(unseen(entity, &why)),
    }
}

impl Workspace {
    /// Where an entity is.
    ///
    /// Errors: those of [`Workspace::owner`], and of [`Rows::admit`](crate::store::Rows::admit).
    pub(super) fn row(&self, entity: &Entity) -> Result<RowPlace, Error> {
        let Entity { kind, app_id, organization_id, path: _ } = entity;
        let owner = self.owner(kind, app_id.as_deref(), organization_id.as_deref())?;
        self.store.rows.admit(entity, owner)
    }

    /// Whose the entities of a type are, once it is known that there is such a type and that these ids go with it.
    ///
    /// Errors: `INVALID_INPUT`, with the field, for a type that the policy at the top does not have, for an app that is
    /// missing, and for an id that does not go with the type; `POLICY_INVALID`.
    #[expect(clippy::unused_self, reason = "which types there are is in the policy at the top")]
    pub(super) fn owner(
        &self,
        kind: &EntityKind,
        app_id: Option<&str>,
        organization_id: Option<&str>,
    ) -> Result<Owner, Error> {
        let owner = whose(kind).ok_or_else(|| unknown(kind))?;
        let stray = match owner {
            Owner::App => organization_id.map(|_| ("organization_id", EntityKind::WORKFLOW)),
            Owner::Organization => app_id.map(|_| ("app_id", EntityKind::APP_FILE)),
            Owner::Global => app_id
                .map(|_| ("app_id", EntityKind::APP_FILE))
                .or(organization_id.map(|_| ("organization_id", EntityKind::WORKFLOW))),
        };
        match stray {
            Some((field, other)) => Err(strays(kind, field, &other)),
            None if owner == Owner::App && app_id.is_none() => Err(homeless(kind)),
            None => Ok(owner),
        }
    }

    /// Among which entities a look looks; nothing for one at files.
    ///
    /// Errors: those of [`Workspace::owner`].
    pub(super) fn among<'a>(&self, realm: &'a Realm) -> Result<Option<Among<'a>>, Error> {
        let Realm::Entities { kind, app_id, organization_id } = realm else { return Ok(None) };
        let (app_id, organization_id) = (app_id.as_deref(), organization_id.as_deref());
        let owner = self.owner(kind, app_id, organization_id)?;
        Ok(Some(Among { kind, owner, app_id, organization_id }))
    }
}

/// Whose such an entity is.
fn whose(kind: &EntityKind) -> Option<Owner> {
    match kind.name() {
        "app_file" => Some(Owner::App),
        "workflow" => Some(Owner::Organization),
        "module" => Some(Owner::Global),
        _ => None,
    }
}

fn unknown(kind: &EntityKind) -> Error {
    let known: Vec<&str> = EntityKind::ALL.iter().map(EntityKind::name).collect();
    let message =
        format!("there is no entity_type `{}`: must be one of file, {}", kind.name(), known.join(", "));
    Error::new(Code::InvalidInput, message).field("entity_type")
}

fn homeless(kind: &EntityKind) -> Error {
    let message = format!("app_id is missing: an {} is known by its app and its path", kind.name());
    Error::new(Code::InvalidInput, message).field("app_id")
}

fn strays(kind: &EntityKind, field: &'static str, other: &EntityKind) -> Error {
    let (name, other) = (kind.name(), other.name());
    let message = format!("`{field}` goes with entity_type {other} only, and this is a {name}");
    Error::new(Code::InvalidInput, message).field(field).hint(format!("leave {field} out"))
}

fn places(findings: &[Finding], text: &str) -> Vec<Place> {
    let place = |finding: &Finding| {
        let line = text.lines().nth(finding.line.saturating_sub(1)).unwrap_or_default();
        Place { line: finding.line, preview: line.trim_end().chars().take(60).collect(), symbol: None }
    };
    findings.iter().take(PLACES).map(place).collect()
}

fn mismatch(entity: &Entity, first: &Finding, places: &[Place]) -> Error {
    let error = Error::new(Code::EntityMismatch, first.message.clone()).field("entity_type");
    // What is missing stands nowhere.
    if entity.kind == EntityKind::MODULE { error.places(places.to_vec()) } else { error }
}

fn unseen(entity: &Entity, why: &str) -> Error {
    let message = format!("it cannot be seen whether the content is a {}: it {why}", entity.kind.name());
    Error::new(Code::EntityMismatch, message).field("content").hint("write it plainer, or in parts")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Author, EntityFields, Expect, Mode, Scrutiny};

    fn checked(entity_type: Option<EntityKind>, text: &str) -> Result<(), Error> {
        let app_id = (entity_type == Some(EntityKind::APP_FILE)).then(|| "1".to_owned());
        let entity_type = entity_type.map(|kind| kind.name().to_owned());
        let fields = EntityFields { entity_type, app_id, organization_id: None };
        check(&Request {
            target: fields.raise("a.py".to_owned()).unwrap(),
            edit: Edit::Content(text.to_owned()),
            mode: Mode::default(),
            expect: Expect::default(),
            scrutiny: Scrutiny::default(),
            author: Author::default(),
        })
    }

    #[test]
    fn a_text_is_held_against_the_rule_of_its_type_alone() {
        let (app_file, workflow, module) = (EntityKind::APP_FILE, EntityKind::WORKFLOW, EntityKind::MODULE);
        let (flow, plain) = ("@workflow\nasync def f(): ...\n", "# @workflow\ndef f(): ...\n");
        for kind in [None, Some(app_file)] {
            assert_eq!((checked(kind.clone(), flow), checked(kind, plain)), (Ok(()), Ok(())));
        }
        assert_eq!(
            (checked(Some(workflow.clone()), flow), checked(Some(module.clone()), plain)),
            (Ok(()), Ok(()))
        );
        for (kind, text, places) in [(workflow, plain, 0), (module, flow, 1)] {
            let refused = checked(Some(kind), text).unwrap_err();
            assert_eq!((refused.code, refused.field.as_deref()), (Code::EntityMismatch, Some("entity_type")));
            assert_eq!(refused.places.len(), places);
        }
    }

    #[test]
    fn a_text_that_cannot_be_read_is_neither() {
        let deep = "let = ;\n".repeat(6_000);
        for kind in [EntityKind::WORKFLOW, EntityKind::MODULE] {
            let refused = checked(Some(kind.clone()), &deep).unwrap_err();
            assert_eq!((refused.code, refused.field.as_deref()), (Code::EntityMismatch, Some("content")));
            let seen = format!("it cannot be seen whether the content is a {}: it ", kind.name());
            assert!(refused.message.starts_with(&seen), "{}", refused.message);
        }
        assert_eq!(checked(None, &deep), Ok(()));
    }
}
