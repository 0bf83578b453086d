//! Suggests an existing file for a path that leads to none, and names the roots for a path outside of them.

use std::time::{Duration, Instant};

use super::services::Services;
use lockgate_edit::Edit;
use lockgate_edit::request::{Request, Target};
use lockgate_error::{Code, Error, NextCall};
use lockgate_store::{Clock, Hidden};
use lockgate_text::nearest;

/// The time limit for finding files.
const TIMEOUT: Duration = Duration::from_millis(300);
/// The maximum number of files that are compared.
const MAX_FILES: usize = 20_000;

impl Services {
    /// Adds the path that was probably meant to an error about one of these requests.
    pub(super) fn with_nearest_path_of(&self, requests: &[Request], error: Error) -> Error {
        let entry = error.entry_index().unwrap_or(0);
        let names_entry = |(at, request): &(usize, &Request)| match &request.edit {
            Edit::Several(parts) => parts.iter().any(|part| part.entry == entry),
            _ => *at == entry,
        };
        let request = requests.iter().enumerate().find(names_entry).map(|(_, request)| request);
        let mut error = match request.map(|request| &request.target) {
            Some(Target::File(path)) => self.with_nearest_path(path, error),
            Some(Target::Entity(_)) | None => return error,
        };
        // The same call would replace or remove another file, which only the caller can want.
        let is_other_path = matches!(error.next.as_deref(), Some(NextCall::Path { .. }));
        if is_other_path && request.is_some_and(|request| request.edit.is_whole()) {
            error.next = None;
        }
        error
    }

    /// Adds the path that was probably meant to an error about a path.
    pub(super) fn with_nearest_path(&self, path: &str, error: Error) -> Error {
        match error.code {
            Code::FileNotFound if error.field.as_deref() == Some("path") => match self.nearest_path(path) {
                Some(suggestion) => {
                    let hint = format!("did you mean `{suggestion}`?");
                    error.hint(hint).with_next(NextCall::Path { path: suggestion })
                }
                None => error.with_next_if(self.existing_folder(path)),
            },
            Code::NotAFile => {
                let folder = NextCall::List { folder: path.to_owned() };
                let is_folder =
                    self.store.files.with_prefix(&format!("{}/", path.trim_end_matches('/'))).is_ok();
                error.with_next_if(is_folder.then_some(folder))
            }
            Code::PathOutsideRoot => {
                let roots = self.store.files.root_paths();
                let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
                let hint = format!("use a path inside of a root: {}", roots.join(", "));
                let same_name =
                    self.nearest_path(split(path).1).filter(|file| split(file).1 == split(path).1);
                error.hint(hint).with_next_if(same_name.map(|path| NextCall::Path { path }))
            }
            _ => error,
        }
    }

    /// Returns a list of the nearest folder that has files.
    fn existing_folder(&self, path: &str) -> Option<NextCall> {
        if path.starts_with('/') {
            return None;
        }
        let mut folder = split(path).0;
        while !folder.is_empty() && !self.has_files(folder) {
            folder = split(folder).0;
        }
        Some(NextCall::List { folder: folder.to_owned() })
    }

    fn has_files(&self, folder: &str) -> bool {
        let clock = Clock::new(Instant::now() + TIMEOUT, &());
        self.store.files.with_prefix(&format!("{folder}/")).is_ok_and(|roots| {
            !self.store.files.find(&roots, Hidden::Excluded, self.bounds(1, &clock)).files.is_empty()
        })
    }

    /// Returns the existing file that is most like a path: the one of the same name with the most similar folders, else
    /// one in the same folder with a similar name.
    fn nearest_path(&self, path: &str) -> Option<String> {
        let clock = Clock::new(Instant::now() + TIMEOUT, &());
        let roots = self.store.files.with_prefix("").ok()?;
        let found = self.store.files.find(&roots, Hidden::Excluded, self.bounds(MAX_FILES, &clock));
        let files: Vec<&str> = found.files.iter().map(|(place, _)| place.shown()).collect();
        let (folder, name) = split(path);
        let same_name = files.iter().filter(|file| split(file).1 == name);
        // Folders are compared from the end: `src/a/b.py` is more like `lib/a/b.py` than like `src/c/b.py`.
        let shared = |file: &str| {
            let pairs = split(file).0.rsplit('/').zip(folder.rsplit('/'));
            pairs.take_while(|(one, other)| one == other).count()
        };
        if let Some(file) = same_name.max_by_key(|file| (shared(file), std::cmp::Reverse(file.len()))) {
            return Some((*file).to_owned());
        }
        let siblings = files.iter().filter(|file| split(file).0 == folder).map(|file| split(file).1);
        let sibling = nearest(name, siblings)?;
        Some(if folder.is_empty() { sibling.to_owned() } else { format!("{folder}/{sibling}") })
    }
}

/// Splits a path into its folder, without `./`, and its name.
fn split(path: &str) -> (&str, &str) {
    let path = path.strip_prefix("./").unwrap_or(path);
    path.rsplit_once('/').unwrap_or(("", path))
}
