//! The other drafts of a call, which a program sees in place of their files.

use std::path::Path;

use lockgate_policy::Language;
use lockgate_text::{Buffer, Version};

/// Another file of the same root, as the call would leave it.
#[derive(Debug, Clone, Copy)]
pub(super) struct DraftOverlay<'a> {
    /// The absolute path of its root.
    pub(super) root: &'a Path,
    /// The path of the file, relative to the root.
    pub(super) path: &'a str,
    /// The language of the file, if known.
    pub(super) language: Option<&'static Language>,
    /// The text; `None` if the call removes the file.
    pub(super) text: Option<&'a Buffer>,
}

/// The overlays that a program sees with one draft.
pub(super) type DraftOverlays<'a> = &'a [&'a DraftOverlay<'a>];

/// Returns a version of the paths and texts of the overlays, for cache keys.
pub(super) fn version(overlays: DraftOverlays<'_>) -> Version {
    let mut all: Vec<(&str, Option<String>)> =
        overlays.iter().map(|other| (other.path, other.text.map(|text| text.version().hex()))).collect();
    all.sort_unstable();
    Version::of_value(&all)
}
