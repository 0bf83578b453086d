//! The working directory of a draft's gates, and the other drafts of the call that they see.
//!
//! Invariant: a program sees the draft of an entity only at a path that leads into the first root and nowhere
//! else; the file on disk at that path does not change.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

use super::plan::FileDraft;
use super::resolve::ResolvedTarget;
use super::services::Services;
use lockgate_checks::{InputLocation, sanitize};
use lockgate_edit::Edit;
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_error::Error;
use lockgate_store::{DocumentPath, FileLocation};

/// The working directory of a draft's gates.
#[expect(clippy::large_enum_variant, reason = "a draft has one, and only while its gates are prepared")]
pub(super) enum GateCwd<'a> {
    Folder {
        /// The place of a file; the top of the first root for an entity.
        place: Cow<'a, FileLocation>,
        /// Tells if a file exists on disk at the draft's path.
        location: InputLocation,
    },
    /// No program may see the draft, for this reason.
    Unavailable(String),
}

/// The group in which paths are relative to each other: a root, or an entity type with its owner.
#[derive(PartialEq, Eq)]
enum PlaceGroup<'a> {
    Root(&'a Path),
    Type { kind: &'a EntityKind, app_id: Option<&'a str>, organization_id: Option<&'a str> },
}

impl Services {
    /// Returns the working directory of a draft's gates.
    pub(super) fn gate_cwd<'a>(&self, draft: &FileDraft<'a>) -> Result<GateCwd<'a>, Error> {
        Ok(match &draft.target.place {
            DocumentPath::File(place) => {
                let location = InputLocation::of_file(draft.current.text());
                GateCwd::Folder { place: Cow::Borrowed(place), location }
            }
            DocumentPath::Row(_) if self.store.files.is_empty() => {
                GateCwd::Unavailable("there is no folder for a command to run in".to_owned())
            }
            DocumentPath::Row(row) => {
                let place = self.store.files.find_folder(".").map(Cow::Owned)?;
                match self.input_location(row.path()) {
                    Ok(location) => GateCwd::Folder { place, location },
                    Err(why) => GateCwd::Unavailable(why),
                }
            }
        })
    }

    /// Tells if a file exists at a path of the first root. The error is the reason why programs must not see
    /// a draft there: a link on the path, or a protected file.
    fn input_location(&self, path: &str) -> Result<InputLocation, String> {
        let elsewhere = |why: &str| format!("programs cannot check an entity at this path: {why}");
        let place = self.store.files.admit_to_read(path).map_err(|why| elsewhere(&sanitize(&why.message)))?;
        if place.resolved().is_some() || place.in_root() != path {
            return Err(elsewhere("in the root it resolves to another path"));
        }
        let is_there = self.store.files.fingerprint(&place).is_some();
        Ok(if is_there { InputLocation::OverFile } else { InputLocation::Alone })
    }

    fn group_of<'a>(&'a self, place: &'a DocumentPath) -> Option<PlaceGroup<'a>> {
        match place {
            DocumentPath::File(place) => self.store.files.root_path(place).ok().map(PlaceGroup::Root),
            DocumentPath::Row(place) => {
                let Entity { kind, app_id, organization_id, path: _ } = place.entity();
                let (app_id, organization_id) = (app_id.as_deref(), organization_id.as_deref());
                Some(PlaceGroup::Type { kind, app_id, organization_id })
            }
        }
    }

    /// Assigns a group number to each draft; drafts of one group see each other.
    pub(super) fn groups(&self, drafts: &[FileDraft<'_>]) -> Vec<usize> {
        let groups: Vec<_> = drafts.iter().map(|draft| self.group_of(&draft.target.place)).collect();
        let first = |own| groups.iter().position(|other| other == own).unwrap_or_default();
        groups.iter().map(first).collect()
    }

    /// Tells if a path next to a target will exist after the call. An error of the store is kept in `failure`: what was
    /// judged with the answer does not count then.
    pub(super) fn overlays<'a>(
        &'a self,
        target: &'a ResolvedTarget,
        drafts: &'a [FileDraft<'_>],
        failure: &'a OnceLock<Error>,
    ) -> impl Fn(&str) -> bool + Sync + use<'a> {
        let group = self.group_of(&target.place);
        let overlays: Vec<(&str, bool)> = drafts
            .iter()
            .filter(|draft| self.group_of(&draft.target.place) == group)
            .map(|draft| (draft.target.place.in_root(), draft.request.edit != Edit::Remove))
            .collect();
        move |path: &str| {
            let overlay = overlays.iter().find(|(known, _)| *known == path);
            let exists = match overlay {
                Some((_, exists)) => Ok(*exists),
                None => target.place.exists(&self.store, path),
            };
            exists.map_err(|error| failure.set(error)).unwrap_or(false)
        }
    }
}
