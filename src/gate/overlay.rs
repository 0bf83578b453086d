//! The other drafts of a call, which a program sees in the places of their files.

use std::path::Path;

use crate::policy::Language;
use crate::text::{Buffer, Version};

/// Another file of the same root as the call would leave it.
#[derive(Debug, Clone, Copy)]
pub(super) struct DraftOverlay<'a> {
    /// The absolute path of its root.
    pub(super) root: &'a Path,
    /// Where it lies, relative to the root.
    pub(super) path: &'a str,
    /// Its language, where it is known.
    pub(super) language: Option<&'static Language>,
    /// Its text; nothing where the file goes.
    pub(super) text: Option<&'a Buffer>,
}

/// The companions of one draft.
pub(super) type DraftOverlays<'a> = &'a [&'a DraftOverlay<'a>];

/// Stamps what an answer rests on of a draft's company.
pub(super) fn version(company: DraftOverlays<'_>) -> Version {
    let mut all: Vec<(&str, Option<String>)> =
        company.iter().map(|other| (other.path, other.text.map(|text| text.version().hex()))).collect();
    all.sort_unstable();
    Version::of_value(&all)
}
