//! Resolves file names in a program's output. Programs name the edited file by its absolute path, by a path
//! relative to their working directory, by the path of a copy or of the draft, or by a name for standard
//! input.
//!
//! Invariant: a name of the edited file is never resolved to another file, because findings in other files
//! may not count.

use std::path::{Path, PathBuf};

use crate::output::{NamedFile, uri};
use lockgate_policy::Input;

/// Names that programs use for text from standard input.
const STDIN: [&str; 8] =
    ["-", "stdin", "<stdin>", "(stdin)", "<standard input>", "standard input", "/dev/stdin", "<text>"];

/// The number of last components shown of an absolute path outside of the root.
const SHOWN_COMPONENTS: usize = 3;

/// The names that the program of a run may use.
#[derive(Debug)]
pub(super) struct RunNames {
    /// The edited file, relative to the root.
    path: String,
    /// The roots: the real one and the copy, each also with links resolved.
    roots: Vec<String>,
    /// The folders that a relative name may be relative to, the most likely first.
    bases: Vec<String>,
    /// The path of the draft file.
    draft: Option<String>,
    /// The files of other drafts, each with the path of its original, relative to the root.
    drafts: Vec<(String, String)>,
    on_stdin: bool,
    lookup: PathLookup,
}

/// The place to look up paths.
#[derive(Debug)]
pub(super) enum PathLookup {
    /// On disk, below this root.
    Disk(PathBuf),
    /// In this list of paths, relative to the root.
    Listed(Vec<String>),
}

impl PathLookup {
    fn has(&self, path: &str) -> bool {
        match self {
            PathLookup::Disk(root) => root.join(path).symlink_metadata().is_ok(),
            PathLookup::Listed(paths) => paths.iter().any(|known| known == path),
        }
    }

    /// Resolves the links of a path; `None` if there are none.
    fn resolve_links(&self, place: &str) -> Option<String> {
        match self {
            PathLookup::Disk(_) => {
                let real = Path::new(place).canonicalize().ok()?;
                Some(real.to_string_lossy().into_owned()).filter(|real| real != place)
            }
            PathLookup::Listed(_) => None,
        }
    }
}

impl RunNames {
    /// Records the edited file by its path relative to the roots; `bases` are absolute. `drafts` are the files of other
    /// drafts, each with the path of its original.
    pub(super) fn new<'p>(
        path: &str,
        roots: impl Iterator<Item = &'p Path>,
        bases: [&Path; 3],
        draft: Option<&Path>,
        drafts: &[(PathBuf, String)],
        input: Input,
        lookup: PathLookup,
    ) -> RunNames {
        let text = |path: &Path| normalize(&path.to_string_lossy());
        let mut names = RunNames {
            path: path.to_owned(),
            roots: roots.map(text).collect(),
            bases: bases.map(text).to_vec(),
            draft: draft.map(text),
            drafts: drafts.iter().map(|(draft, path)| (text(draft), path.clone())).collect(),
            on_stdin: input == Input::Stdin,
            lookup,
        };
        let behind: Vec<String> =
            names.roots.iter().filter_map(|root| names.lookup.resolve_links(root)).collect();
        names.roots.extend(behind);
        names
    }

    /// Returns the file that a name refers to.
    pub(super) fn resolve(&self, name: &str) -> NamedFile {
        let name = name.trim();
        if name.is_empty() || (self.on_stdin && STDIN.contains(&name)) {
            return NamedFile::Edited;
        }
        let name = uri::path(name).unwrap_or_else(|| name.to_owned());
        if name.starts_with('/') {
            return self.resolve_absolute(&normalize(&name));
        }
        let places: Vec<String> =
            self.bases.iter().map(|base| normalize(&format!("{base}/{name}"))).collect();
        let is_there = |place: &&String| match self.resolve_known(place) {
            Some(NamedFile::Edited) => true,
            Some(NamedFile::Other(path)) => self.lookup.has(&path),
            None => false,
        };
        let place = places.iter().find(is_there).or(places.first());
        place.map_or(NamedFile::Edited, |place| self.resolve_absolute(place))
    }

    /// Returns the file at an absolute path: the edited one also if links lead to it.
    fn resolve_absolute(&self, place: &str) -> NamedFile {
        let file = self.resolve_known(place);
        if file == Some(NamedFile::Edited) {
            return NamedFile::Edited;
        }
        match (self.lookup.resolve_links(place).and_then(|place| self.resolve_known(&place)), file) {
            (Some(NamedFile::Edited), _) => NamedFile::Edited,
            (_, Some(file)) | (Some(file), None) => file,
            (None, None) => NamedFile::Other(shorten(place)),
        }
    }

    /// Returns the file of the draft or below a root. The root itself is not a file: a finding at it is about
    /// the project.
    fn resolve_known(&self, place: &str) -> Option<NamedFile> {
        if self.draft.as_deref() == Some(place) {
            return Some(NamedFile::Edited);
        }
        if let Some((_, path)) = self.drafts.iter().find(|(draft, _)| draft == place) {
            return Some(NamedFile::Other(path.clone()));
        }
        let inside =
            self.roots.iter().find_map(|root| match place.strip_prefix(root.trim_end_matches('/'))? {
                "" => Some(""),
                rest => rest.strip_prefix('/'),
            })?;
        let is_edited = inside.is_empty() || inside == self.path;
        Some(if is_edited { NamedFile::Edited } else { NamedFile::Other(inside.to_owned()) })
    }
}

/// An absolute path without `.`, `..`, doubled slashes and a trailing slash.
fn normalize(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The end of a path outside of the root.
fn shorten(place: &str) -> String {
    let parts: Vec<&str> = place.split('/').filter(|part| !part.is_empty()).collect();
    match parts.len().checked_sub(SHOWN_COMPONENTS).and_then(|cut| parts.get(cut..)) {
        Some(end) if parts.len() > SHOWN_COMPONENTS => format!("\u{2026}/{}", end.join("/")),
        Some(_) | None => place.to_owned(),
    }
}
