//! Whether a new text is what its entity's type says, asked before the store is looked for in which the entity lies.
//!
//! The rules are gates of the catalogue, which look at the tree of the text: a comment that names the decorator is none.

use super::Workspace;
use crate::edit::Edit;
use crate::error::{Code, Error, Place};
use crate::gate::{Finding, patterned};
use crate::policy::{Catalogue, Owner};
use crate::request::{Entity, EntityKind, Realm, Request, Target};
use crate::store::RowPlace;

/// Places that a refusal lists.
const PLACES: usize = 20;

/// The gate by which the text of such an entity is held against its type.
const fn rule(kind: EntityKind) -> Option<&'static str> {
    match kind {
        EntityKind::AppFile => None,
        EntityKind::Workflow => Some("entity-workflow"),
        EntityKind::Module => Some("entity-module"),
    }
}

/// Holds the whole new text of an entity against its type.
///
/// Errors: `ENTITY_MISMATCH`, also for a text of which it cannot be seen what it is.
pub(super) fn check(request: &Request) -> Result<(), Error> {
    let (Target::Entity(entity), Edit::Content(text)) = (&request.target, &request.edit) else {
        return Ok(());
    };
    let gate = rule(entity.kind).and_then(|name| Catalogue::embedded().find(name));
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
    /// Errors: those of [`Rows::admit`](crate::store::Rows::admit).
    pub(super) fn row(&self, entity: &Entity) -> Result<RowPlace, Error> {
        self.store.rows.admit(entity, owner(entity.kind))
    }
}

/// Whose such an entity is.
const fn owner(kind: EntityKind) -> Owner {
    match kind {
        EntityKind::AppFile => Owner::App,
        EntityKind::Workflow => Owner::Organization,
        EntityKind::Module => Owner::Global,
    }
}

/// Passes what looks at files alone.
///
/// Errors: `STORE_UNAVAILABLE` for what lies in a database.
pub(super) fn files_only(realm: &Realm) -> Result<(), Error> {
    match realm {
        Realm::Files => Ok(()),
        Realm::Entities { kind, .. } => Err(no_store(*kind)),
    }
}

/// The refusal of an entity where there is no store for it.
pub(super) fn no_store(kind: EntityKind) -> Error {
    let message = format!("there is no store for {}: this server edits files", kind.name());
    Error::new(Code::StoreUnavailable, message)
        .field("entity_type")
        .hint("leave entity_type out, or give `file`")
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
    match entity.kind {
        EntityKind::Module => error.places(places.to_vec()),
        // What is missing stands nowhere.
        EntityKind::AppFile | EntityKind::Workflow => error,
    }
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
        let app_id = (entity_type == Some(EntityKind::AppFile)).then(|| "1".to_owned());
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
        use EntityKind::{AppFile, Module, Workflow};
        let (flow, plain) = ("@workflow\nasync def f(): ...\n", "# @workflow\ndef f(): ...\n");
        for kind in [None, Some(AppFile)] {
            assert_eq!((checked(kind, flow), checked(kind, plain)), (Ok(()), Ok(())));
        }
        assert_eq!((checked(Some(Workflow), flow), checked(Some(Module), plain)), (Ok(()), Ok(())));
        for (kind, text, places) in [(Workflow, plain, 0), (Module, flow, 1)] {
            let refused = checked(Some(kind), text).unwrap_err();
            assert_eq!((refused.code, refused.field.as_deref()), (Code::EntityMismatch, Some("entity_type")));
            assert_eq!(refused.places.len(), places);
        }
    }

    #[test]
    fn a_text_that_cannot_be_read_is_neither() {
        let deep = "let = ;\n".repeat(6_000);
        for kind in [EntityKind::Workflow, EntityKind::Module] {
            let refused = checked(Some(kind), &deep).unwrap_err();
            assert_eq!((refused.code, refused.field.as_deref()), (Code::EntityMismatch, Some("content")));
            let seen = format!("it cannot be seen whether the content is a {}: it ", kind.name());
            assert!(refused.message.starts_with(&seen), "{}", refused.message);
        }
        assert_eq!(checked(None, &deep), Ok(()));
    }

    #[test]
    fn a_search_among_entities_is_refused() {
        assert_eq!(files_only(&Realm::Files), Ok(()));
        let realm = Realm::Entities { kind: EntityKind::Module, app_id: None, organization_id: None };
        assert_eq!(files_only(&realm).unwrap_err().code, Code::StoreUnavailable);
    }
}
