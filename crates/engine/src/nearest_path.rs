//! Suggests an existing file for a path that leads to none, and names the roots for a path outside of them.

use std::time::{Duration, Instant};

use super::services::Services;
use lockgate_edit::Edit;
use lockgate_edit::request::{Request, Target};
use lockgate_error::{Code, Error, NextCall};
use lockgate_store::{Clock, DocumentPath, Hidden};
use lockgate_text::{nearest, nearest_all};

/// The time limit for finding files.
const TIMEOUT: Duration = Duration::from_millis(300);
/// The maximum number of files that are compared.
const MAX_FILES: usize = 20_000;
/// The length in characters from which two names with one other letter are alike.
const LONG_NAME: usize = 4;
/// The maximum number of files that a hint names.
const MAX_NAMED: usize = 4;

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
        let Some(NextCall::Path { path }) = error.next.as_deref() else { return error };
        // Only a quote shows that an edit belongs to that file; without one, only the caller can want it there.
        let is_unquoted = request.is_some_and(|request| request.edit.is_unquoted());
        let is_by_line = is_unquoted && request.is_some_and(|request| !request.edit.is_whole());
        let unnamed = error.hint.as_deref().filter(|hint| is_by_line && !hint.contains(path));
        if let Some(hint) = unnamed.map(|hint| format!("{hint}; did you mean `{path}`?")) {
            error.hint = Some(hint.into_boxed_str());
        }
        if is_unquoted || self.is_edited(requests, path) {
            error.next = None;
        }
        error
    }

    /// Returns true if one of the requests names the file at this path, which must exist.
    fn is_edited(&self, requests: &[Request], path: &str) -> bool {
        let key = |path: &str| {
            let place = self.store.files.admit_to_read(path).ok()?;
            Some(DocumentPath::File(place).key())
        };
        let file = key(path);
        requests.iter().filter_map(|request| request.target.file()).any(|other| key(other) == file)
    }

    /// Adds the path that was probably meant to an error about a path.
    pub(super) fn with_nearest_path(&self, path: &str, error: Error) -> Error {
        match error.code {
            Code::FileNotFound if error.field.as_deref() == Some("path") => {
                let nearest = self.nearest_paths(path);
                if nearest.is_empty() {
                    return error.with_next_if(self.existing_folder(path));
                }
                let names: Vec<String> = nearest.iter().map(|file| format!("`{file}`")).collect();
                let error = error.hint(format!("did you mean {}?", names.join(" or ")));
                error.with_next_if(only(nearest).map(|path| NextCall::Path { path }))
            }
            Code::NotAFile => {
                let folder = NextCall::List { folder: path.to_owned() };
                let is_folder =
                    self.store.files.with_prefix(&format!("{}/", path.trim_end_matches('/'))).is_ok();
                error.with_next_if(is_folder.then_some(folder))
            }
            Code::PathOutsideRoot => {
                let roots = self.store.files.root_paths();
                if roots.is_empty() {
                    return error.hint("there are no roots, so only stored content can be reached");
                }
                let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
                let hint = format!("use a path inside of a root: {}", roots.join(", "));
                let name = split(path).1;
                let same_name = only(self.nearest_paths(name)).filter(|file| split(file).1 == name);
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

    /// Returns the existing files that are most like a path: those of the same name with the most similar folders, else
    /// those in the same folder with a similar name. There are several if they are equally like it.
    fn nearest_paths(&self, path: &str) -> Vec<String> {
        let clock = Clock::new(Instant::now() + TIMEOUT, &());
        let Ok(roots) = self.store.files.with_prefix("") else { return Vec::new() };
        let found = self.store.files.find(&roots, Hidden::Excluded, self.bounds(MAX_FILES, &clock));
        let files: Vec<&str> = found.files.iter().map(|(place, _)| place.shown()).collect();
        let (folder, name) = split(path);
        // Folders are compared from the end: `src/a/b.py` is more like `lib/a/b.py` than like `src/c/b.py`.
        let shared = |file: &str| {
            let pairs = split(file).0.rsplit('/').zip(folder.rsplit('/'));
            pairs.take_while(|(one, other)| one == other).count()
        };
        let same_name = || files.iter().filter(move |file| split(file).1 == name);
        if let Some(most) = same_name().map(|file| shared(file)).max() {
            let most_like = same_name().filter(|file| shared(file) == most);
            return most_like.take(MAX_NAMED).map(|file| (*file).to_owned()).collect();
        }
        let siblings = files.iter().filter(|file| split(file).0 == folder).map(|file| split(file).1);
        let siblings = nearest_all(name, siblings.filter(|sibling| is_alike(name, sibling)));
        let in_folder =
            |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        siblings.into_iter().map(in_folder).collect()
    }
}

/// Returns the only one of some paths.
fn only(paths: Vec<String>) -> Option<String> {
    <[String; 1]>::try_from(paths).ok().map(|[path]| path)
}

/// Returns true if two names of files are alike without their extensions. Short names with another letter are not: too
/// many differ only in one.
fn is_alike(one: &str, other: &str) -> bool {
    let (one, other) = (stem(one).to_lowercase(), stem(other).to_lowercase());
    let sorted = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    let (letters, others) = (sorted(&one), sorted(&other));
    let has_other_letter = letters.len() == others.len() && letters != others;
    let is_long = letters.len().min(others.len()) >= LONG_NAME;
    (is_long || !has_other_letter) && (one == other || nearest(&one, [other.as_str()]).is_some())
}

/// Returns the name of a file without its extension.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// Splits a path into its folder, without `./`, and its name.
fn split(path: &str) -> (&str, &str) {
    let path = path.strip_prefix("./").unwrap_or(path);
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_alike_without_their_extensions() {
        for (one, other, wanted) in [
            ("ap.txt", "app.txt", true),
            ("ba.txt", "ab.txt", true),
            ("app.pyy", "app.py", true),
            ("log.txt", "logs.txt", true),
            ("mian.rs", "main.rs", true),
            ("setings.json", "settings.json", true),
            (".gitignor", ".gitignore", true),
            ("nope.txt", "e.txt", false),
            ("g.txt", "f.txt", false),
            ("f1.txt", "f2.txt", false),
            ("api.py", "app.py", false),
            ("mail.template", "note.template", false),
        ] {
            assert_eq!(is_alike(one, other), wanted, "{one} {other}");
        }
    }
}
