//! Resolves file names in a program's output. Programs name the edited file by its absolute path, by a path
//! relative to their working directory, by the path of a copy or of the draft, or by a name for standard
//! input.
//!
//! Invariant: a name of the edited file is never resolved to another file, because findings in other files
//! may not count.

use std::path::{Path, PathBuf};

use crate::gate::output::{Whose, uri};
use crate::policy::Input;

/// Names that programs use for text from standard input.
const STDIN: [&str; 8] =
    ["-", "stdin", "<stdin>", "(stdin)", "<standard input>", "standard input", "/dev/stdin", "<text>"];

/// The number of last components shown of an absolute path outside of the root.
const SHOWN: usize = 3;

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
    world: World,
}

/// The place to look up paths.
#[derive(Debug)]
pub(super) enum World {
    /// On disk, below this root.
    Disk(PathBuf),
    /// In this list of paths, relative to the root.
    Paper(Vec<String>),
}

impl World {
    fn has(&self, path: &str) -> bool {
        match self {
            World::Disk(root) => root.join(path).symlink_metadata().is_ok(),
            World::Paper(paths) => paths.iter().any(|known| known == path),
        }
    }

    /// Resolves the links of a path; `None` if there are none.
    fn behind(&self, place: &str) -> Option<String> {
        match self {
            World::Disk(_) => {
                let real = Path::new(place).canonicalize().ok()?;
                Some(real.to_string_lossy().into_owned()).filter(|real| real != place)
            }
            World::Paper(_) => None,
        }
    }
}

impl RunNames {
    /// Records the edited file by its path relative to the roots; `bases` are absolute.
    pub(super) fn new<'p>(
        path: &str,
        roots: impl Iterator<Item = &'p Path>,
        bases: [&Path; 3],
        draft: Option<&Path>,
        input: Input,
        world: World,
    ) -> RunNames {
        let text = |path: &Path| normal(&path.to_string_lossy());
        let mut names = RunNames {
            path: path.to_owned(),
            roots: roots.map(text).collect(),
            bases: bases.map(text).to_vec(),
            draft: draft.map(text),
            drafts: Vec::new(),
            on_stdin: input == Input::Stdin,
            world,
        };
        let behind: Vec<String> = names.roots.iter().filter_map(|root| names.world.behind(root)).collect();
        names.roots.extend(behind);
        names
    }

    /// Adds the files of other drafts.
    pub(super) fn with_drafts(mut self, drafts: &[(PathBuf, String)]) -> RunNames {
        let known = |(draft, path): &(PathBuf, String)| (normal(&draft.to_string_lossy()), path.clone());
        self.drafts = drafts.iter().map(known).collect();
        self
    }

    /// Returns the file that a name refers to.
    pub(super) fn whose(&self, name: &str) -> Whose {
        let name = name.trim();
        if name.is_empty() || (self.on_stdin && STDIN.contains(&name)) {
            return Whose::Edited;
        }
        let name = uri::path(name).unwrap_or_else(|| name.to_owned());
        if name.starts_with('/') {
            return self.at(&normal(&name));
        }
        let places: Vec<String> = self.bases.iter().map(|base| normal(&format!("{base}/{name}"))).collect();
        let is_there = |place: &&String| match self.known(place) {
            Some(Whose::Edited) => true,
            Some(Whose::Other(path)) => self.world.has(&path),
            None => false,
        };
        let place = places.iter().find(is_there).or(places.first());
        place.map_or(Whose::Edited, |place| self.at(place))
    }

    /// Returns the file at an absolute path: the edited one also if links lead to it.
    fn at(&self, place: &str) -> Whose {
        let named = self.known(place);
        if named == Some(Whose::Edited) {
            return Whose::Edited;
        }
        match (self.world.behind(place).and_then(|place| self.known(&place)), named) {
            (Some(Whose::Edited), _) => Whose::Edited,
            (_, Some(named)) | (Some(named), None) => named,
            (None, None) => Whose::Other(shortened(place)),
        }
    }

    /// Returns the file of the draft or below a root. The root itself is not a file: a finding at it is about
    /// the project.
    fn known(&self, place: &str) -> Option<Whose> {
        if self.draft.as_deref() == Some(place) {
            return Some(Whose::Edited);
        }
        if let Some((_, path)) = self.drafts.iter().find(|(draft, _)| draft == place) {
            return Some(Whose::Other(path.clone()));
        }
        let inside =
            self.roots.iter().find_map(|root| match place.strip_prefix(root.trim_end_matches('/'))? {
                "" => Some(""),
                rest => rest.strip_prefix('/'),
            })?;
        let is_edited = inside.is_empty() || inside == self.path;
        Some(if is_edited { Whose::Edited } else { Whose::Other(inside.to_owned()) })
    }
}

/// An absolute path without `.`, `..`, doubled slashes and a trailing slash.
fn normal(path: &str) -> String {
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
fn shortened(place: &str) -> String {
    let parts: Vec<&str> = place.split('/').filter(|part| !part.is_empty()).collect();
    match parts.len().checked_sub(SHOWN).and_then(|cut| parts.get(cut..)) {
        Some(end) if parts.len() > SHOWN => format!("\u{2026}/{}", end.join("/")),
        Some(_) | None => place.to_owned(),
    }
}
