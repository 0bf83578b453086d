//! The working directory of a draft's gates, and the other drafts of the call that they see.
//!
//! Invariant: a program sees the draft of an entity only at a path that leads into the first root and nowhere
//! else; the file on disk at that path does not change.

use std::borrow::Cow;
use std::path::Path;

use super::Workspace;
use super::call::ResolvedTarget;
use super::draft::FileDraft;
use crate::edit::Edit;
use crate::error::Error;
use crate::gate::{InputLocation, clean};
use crate::request::{Entity, EntityKind};
use crate::store::{DocumentPath, FilePlace};

/// The working directory of a draft's gates.
pub(super) struct GateCwd<'a> {
    /// The place of a file; the top of the first root for an entity.
    pub(super) place: Cow<'a, FilePlace>,
    /// Tells if a file exists on disk at the draft's path; the error is the reason why no program may see a
    /// draft there.
    pub(super) stands: Result<InputLocation, String>,
}

/// The group in which paths are relative to each other: a root, or an entity type with its owner.
#[derive(PartialEq, Eq)]
enum PlaceGroup<'a> {
    Root(&'a Path),
    Type(&'a EntityKind, Option<&'a str>, Option<&'a str>),
}

impl Workspace {
    /// Returns the working directory of a draft's gates; `None` for an entity in a workspace without roots.
    pub(super) fn workplace<'a>(&self, draft: &FileDraft<'a>) -> Result<Option<GateCwd<'a>>, Error> {
        Ok(match &draft.target.place {
            DocumentPath::File(place) => {
                let before = draft.seen.snapshot.as_ref().map(|_| &draft.seen.buffer);
                Some(GateCwd { place: Cow::Borrowed(place), stands: Ok(InputLocation::of_file(before)) })
            }
            DocumentPath::Row(_) if self.store.files.is_empty() => None,
            DocumentPath::Row(row) => {
                let place = self.store.files.stand(".").map(Cow::Owned)?;
                Some(GateCwd { place, stands: self.stands_at(row.path()) })
            }
        })
    }

    /// Tells if a file exists at a path of the first root. The error is the reason why programs must not see
    /// a draft there: a link on the path, or a protected file.
    fn stands_at(&self, path: &str) -> Result<InputLocation, String> {
        let elsewhere = |why: &str| format!("no program is shown an entity at this path: {why}");
        let place = self.store.files.admit_to_read(path).map_err(|why| elsewhere(&clean(&why.message)))?;
        if place.resolved().is_some() || place.in_root() != path {
            return Err(elsewhere("in the root it leads to another one"));
        }
        let is_there = self.store.files.facts(&place).is_some();
        Ok(if is_there { InputLocation::OverFile } else { InputLocation::Alone })
    }

    fn near<'a>(&'a self, place: &'a DocumentPath) -> Option<PlaceGroup<'a>> {
        match place {
            DocumentPath::File(place) => self.store.files.root_path(place).ok().map(PlaceGroup::Root),
            DocumentPath::Row(place) => {
                let Entity { kind, app_id, organization_id, path: _ } = place.entity();
                Some(PlaceGroup::Type(kind, app_id.as_deref(), organization_id.as_deref()))
            }
        }
    }

    /// Assigns a group number to each draft; drafts of one group see each other.
    pub(super) fn neighbours(&self, drafts: &[FileDraft<'_>]) -> Vec<usize> {
        let near: Vec<_> = drafts.iter().map(|draft| self.near(&draft.target.place)).collect();
        let first = |own| near.iter().position(|other| other == own).unwrap_or_default();
        near.iter().map(first).collect()
    }

    /// Tells if a path next to a target will exist after the call.
    pub(super) fn beside<'a>(
        &'a self,
        target: &'a ResolvedTarget,
        drafts: &'a [FileDraft<'_>],
    ) -> impl Fn(&str) -> bool + Sync + use<'a> {
        let near = self.near(&target.place);
        let beside: Vec<(&str, bool)> = drafts
            .iter()
            .filter(|draft| self.near(&draft.target.place) == near)
            .map(|draft| (draft.target.place.in_root(), draft.request.edit != Edit::Remove))
            .collect();
        move |path: &str| {
            let drafted = beside.iter().find(|(known, _)| *known == path);
            drafted.map_or_else(|| self.store.exists(&target.place, path), |(_, stays)| *stays)
        }
    }
}
