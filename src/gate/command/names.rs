//! Which file a name in an output means: programs call the edited file by its absolute path, by one relative to where
//! they run, by the path in a copy or of the draft, or by a word for standard input.
//!
//! Invariant: a name of the edited file is never taken for another's, for what is found in other files may not count.

use std::path::{Path, PathBuf};

use crate::gate::output::{Whose, uri};
use crate::policy::Input;

/// What programs call a text that came on standard input.
const STDIN: [&str; 8] =
    ["-", "stdin", "<stdin>", "(stdin)", "<standard input>", "standard input", "/dev/stdin", "<text>"];

/// How many names of an absolute path outside of the root are shown.
const SHOWN: usize = 3;

/// The names that a run's program may use.
#[derive(Debug)]
pub(super) struct RunNames {
    /// The edited file, relative to the root.
    path: String,
    /// The root: the real one and the copy, with and without links on the way to it.
    roots: Vec<String>,
    /// What a relative name may be relative to, the likeliest first.
    bases: Vec<String>,
    /// The file of the draft.
    draft: Option<String>,
    /// The files of other drafts, each with the path of the file for which it stands, relative to the root.
    drafts: Vec<(String, String)>,
    on_stdin: bool,
    world: World,
}

/// Where names are looked up.
#[derive(Debug)]
pub(super) enum World {
    /// On disk, below this root.
    Disk(PathBuf),
    /// Among these paths, relative to the root.
    Paper(Vec<String>),
}

impl World {
    fn has(&self, path: &str) -> bool {
        match self {
            World::Disk(root) => root.join(path).symlink_metadata().is_ok(),
            World::Paper(paths) => paths.iter().any(|known| known == path),
        }
    }

    /// The place behind all links, where it is another one.
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
    /// Knows the edited file by its path relative to the roots; `bases` are absolute.
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

    /// The same names, and those of the files in which other drafts lie.
    pub(super) fn with_drafts(mut self, drafts: &[(PathBuf, String)]) -> RunNames {
        let known = |(draft, path): &(PathBuf, String)| (normal(&draft.to_string_lossy()), path.clone());
        self.drafts = drafts.iter().map(known).collect();
        self
    }

    /// Tells which file a name means.
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

    /// The file at an absolute place: the edited one, too, where links lead to it.
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

    /// The file at a place that is the draft's or below a root. The root itself is no file: what is said of it is said
    /// of the project.
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

/// An absolute path without `.`, `..`, doubled slashes and a slash at its end.
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
