//! The files of a project as a call would leave them, and the packages that they declare.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use crate::command::{ProgramInput, project};
use crate::finding::sanitize;
use crate::overlay::DraftOverlays;
use crate::regular;

/// The largest part of a manifest that is read, in bytes.
const MAX_MANIFEST: u64 = 1 << 20;
/// The same for a lock file, which lists the packages of packages as well.
const MAX_LOCK: u64 = 8 << 20;

/// A package that is declared and not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Uninstalled {
    /// The package's name in the manifest.
    pub(super) package: String,
    /// The manifest that declares it, relative to the root.
    pub(super) manifest: String,
    /// The command that installs it.
    pub(super) install: String,
    /// The folder to run that command in, relative to the root.
    pub(super) folder: String,
}

impl Uninstalled {
    pub(super) fn describe(&self) -> String {
        let Uninstalled { package, manifest, install, folder } = self;
        let place = if folder.is_empty() { String::new() } else { format!(" in {folder}") };
        sanitize(&format!(
            "{manifest} declares {package}, which is not installed: run `{install}`{place}, then retry"
        ))
    }
}

/// The files of the project as the call would leave them; each is read and parsed once.
pub(super) struct DraftFiles<'a> {
    pub(super) root: &'a Path,
    overlays: DraftOverlays<'a>,
    texts: RefCell<HashMap<String, Option<Rc<str>>>>,
    declared: RefCell<HashMap<String, Rc<[String]>>>,
}

impl<'a> DraftFiles<'a> {
    /// Returns the files of the project that a program checks.
    pub(super) fn new(input: &ProgramInput<'a>) -> DraftFiles<'a> {
        let ProgramInput { root, overlays, .. } = *input;
        DraftFiles { root, overlays, texts: RefCell::default(), declared: RefCell::default() }
    }

    /// Returns the text of a manifest, from its draft if the call has one.
    pub(super) fn manifest(&self, path: &str) -> Option<Rc<str>> {
        self.text(path, MAX_MANIFEST)
    }

    /// Returns the text of a lock file, from its draft if the call has one.
    pub(super) fn lock_file(&self, path: &str) -> Option<Rc<str>> {
        self.text(path, MAX_LOCK)
    }

    /// Returns the packages that a manifest declares, as `parse` finds them in its text; none without a manifest.
    pub(super) fn declared(&self, path: &str, parse: fn(&str) -> Vec<String>) -> Rc<[String]> {
        if let Some(known) = self.declared.borrow().get(path) {
            return Rc::clone(known);
        }
        let names: Rc<[String]> = self.manifest(path).map_or_else(Vec::new, |text| parse(&text)).into();
        self.declared.borrow_mut().insert(path.to_owned(), Rc::clone(&names));
        names
    }

    fn text(&self, path: &str, most: u64) -> Option<Rc<str>> {
        if let Some(known) = self.texts.borrow().get(path) {
            return known.clone();
        }
        let text = match self.overlays.iter().find(|other| other.path == path) {
            Some(draft) => draft.text.map(|text| text.view().into()),
            None => read(&self.root.join(path), most).map(String::into),
        };
        self.texts.borrow_mut().insert(path.to_owned(), text.clone());
        text
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// Returns the nearest folder, from this one up to the root, that has one of these files, with the value
    /// of that file.
    pub(super) fn nearest<T: Copy>(&self, folder: &str, files: &[(&str, T)]) -> Option<(String, T)> {
        let own = join(folder, "x");
        let mut folders = project::folders_above(&own);
        folders.find_map(|folder| {
            let (_, value) = files.iter().find(|(name, _)| self.exists(&join(folder, name)))?;
            Some((folder.to_owned(), *value))
        })
    }
}

/// Reads at most the first `most` bytes of a text; if these end within a character, those before it.
fn read(path: &Path, most: u64) -> Option<String> {
    String::from_utf8(regular::read(path, most).ok()?).map_or_else(
        |error| {
            let (cut, mut bytes) = (error.utf8_error(), error.into_bytes());
            bytes.truncate(cut.valid_up_to());
            String::from_utf8(bytes).ok().filter(|_| cut.error_len().is_none())
        },
        Some,
    )
}

pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn files(root: &Path) -> DraftFiles<'_> {
        DraftFiles { root, overlays: &[], texts: RefCell::default(), declared: RefCell::default() }
    }

    #[test]
    fn a_cut_within_a_character_loses_that_character_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a");
        fs::write(&path, "a\u{e9}\u{20ac}").unwrap();
        for (most, expected) in [
            (1, "a"),
            (2, "a"),
            (3, "a\u{e9}"),
            (5, "a\u{e9}"),
            (6, "a\u{e9}\u{20ac}"),
            (9, "a\u{e9}\u{20ac}"),
        ] {
            assert_eq!(read(&path, most).as_deref(), Some(expected), "{most}");
        }
        fs::write(&path, b"a\xFFb").unwrap();
        assert_eq!(read(&path, 9), None);
    }

    #[test]
    fn a_lock_file_is_read_beyond_the_limit_of_manifests() {
        let root = tempfile::tempdir().unwrap();
        let text = "\u{20ac}".repeat(1 << 20) + "end";
        fs::write(root.path().join("a.lock"), &text).unwrap();
        assert!(files(root.path()).lock_file("a.lock").unwrap().ends_with("end"));
        let limit = usize::try_from(MAX_MANIFEST).unwrap();
        assert_eq!(files(root.path()).manifest("a.lock").unwrap().len(), limit - limit % 3);
    }

    #[test]
    fn a_file_is_read_and_parsed_once() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a.txt");
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        let files = files(root.path());
        fs::write(&path, "one\ntwo\n").unwrap();
        let first = files.declared("a.txt", lines);
        assert_eq!(*first, ["one", "two"]);
        fs::remove_file(&path).unwrap();
        assert!(Rc::ptr_eq(&first, &files.declared("a.txt", lines)));
        assert_eq!(files.manifest("a.txt").as_deref(), Some("one\ntwo\n"));
        assert_eq!(*files.declared("b.txt", lines), [""; 0], "the control");
    }
}
