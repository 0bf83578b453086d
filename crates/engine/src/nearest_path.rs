//! Suggests an existing file for a path that leads to none, and names the roots for a path outside of them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::services::Services;
use lockgate_edit::request::{Request, Target};
use lockgate_edit::{Edit, Needle, Occurrences, Search};
use lockgate_error::{Code, Error, NextCall};
use lockgate_matching::exact;
use lockgate_store::{Clock, DocumentPath, Hidden, SearchClock, SearchRoots, SearchTarget, path_of_url};
use lockgate_text::{nearest, nearest_all};

/// The time limit for finding files.
const TIMEOUT: Duration = Duration::from_millis(300);
/// The maximum number of files that are compared.
const MAX_FILES: usize = 20_000;
/// The length in characters from which two names with one other letter are alike.
const LONG_NAME: usize = 4;
/// The maximum number of bytes that are searched for the quotes of an edit.
const MAX_SEARCHED: usize = 128 << 20;
/// The maximum number of files that a hint names.
const MAX_NAMED: usize = 4;

impl Services {
    /// Adds the path that was probably meant to an error about one of the requests of a call.
    pub(super) fn with_nearest_path_of(&self, batch: &Batch, error: Error) -> Error {
        let request = batch.request_with(error.entry_index().unwrap_or(0));
        let Some(Request { target: Target::File(named), edit, .. }) = request else { return error };
        let mut error = self.with_nearest_path(named, error, &());
        let Some(NextCall::Path { path }) = error.next.as_deref() else { return error };
        // Only a quote shows that an edit belongs to that file: see `is_quoted`. Without one, only the caller can want it
        // there.
        if edit.is_unquoted() && !edit.is_whole() {
            return path_in_hint(error);
        }
        if edit.is_unquoted() || self.is_edited(&batch.requests, path) {
            error.next = None;
            return error;
        }
        let is_meant = match error.code {
            // The path is that of this file, with a final `/` or as a URL.
            Code::NotAFile | Code::InvalidInput => true,
            // A file outside may have the quote as well: `/etc/hosts` is not the `hosts` of a root.
            Code::PathOutsideRoot => {
                is_below_folder_of(named, path, &self.store.files.root_paths()) && self.is_quoted(edit, path)
            }
            _ => self.is_quoted(edit, path),
        };
        if is_meant { error } else { path_in_hint(error) }
    }

    /// Returns true if the caller may read the file at this path, and each quote of the edit is there literally as often as
    /// the edit says. False if the edit has a pattern, or if the search would take long.
    ///
    /// A similar name does not show that an edit belongs to a file: `test_a.py` is no misspelt `test_b.py`. Its quotes do,
    /// if their number is the one that is meant. A quote that is replaced in every place may be one that many files have: it
    /// is no proof by itself.
    fn is_quoted(&self, edit: &Edit, path: &str) -> bool {
        let Ok(place) = self.store.files.admit_to_read(path) else { return false };
        let Ok(rules) = self.policies.policy(&self.store.files, &place) else { return false };
        let Ok(text) = self.texts.read(&self.store, &place, &rules) else { return false };
        let view = text.view();
        let Some(quotes) = quotes(edit) else { return false };
        let is_there = |quote: &Quote| {
            let most = quote.places.map_or(1, |places| places.saturating_add(1));
            let found = exact::occurrences(view, 0..view.len(), &quote.text).take(most).count();
            quote.places.map_or(found > 0, |places| found == places)
        };
        view.len().saturating_mul(quotes.len()) <= MAX_SEARCHED
            && quotes.iter().any(|quote| quote.places.is_some())
            && quotes.iter().all(is_there)
    }

    /// Names the path that was probably meant in an error about the target of a call for the history. No call is
    /// proposed: nothing shows that an edit of the other file is meant.
    pub(super) fn with_nearest_path_in_hint(&self, target: &Target, error: Error) -> Error {
        match target {
            Target::File(path) => path_in_hint(self.with_nearest_path(path, error, &())),
            Target::Entity(_) => error,
        }
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

    /// Adds the path that was probably meant to an error about a path, unless the caller no longer waits.
    pub(super) fn with_nearest_path(&self, path: &str, error: Error, waiting: &dyn SearchClock) -> Error {
        let clock = Clock::new(Instant::now() + TIMEOUT, waiting);
        match error.code {
            Code::FileNotFound if error.field.as_deref() == Some("path") => {
                // A program that saves by renaming leaves no file for a moment.
                if self.existing_file(path).is_some() {
                    return error.hint("the file exists now: send the request again");
                }
                let nearest = self.nearest_paths(path, &clock);
                if nearest.is_empty() {
                    let folder = self.nearest_folder(path, &clock);
                    return error.with_next_if(folder.map(|folder| NextCall::List { folder }));
                }
                let names: Vec<String> = nearest.iter().map(|file| format!("`{file}`")).collect();
                let error = error.hint(format!("did you mean {}?", names.join(" or ")));
                error.with_next_if(only(nearest).map(|path| NextCall::Path { path }))
            }
            Code::NotAFile if self.folder(path).is_some() => {
                error.with_next(NextCall::List { folder: path.to_owned() })
            }
            Code::NotAFile => {
                let file = Some(path.trim_end_matches('/')).filter(|file| file.len() < path.len());
                error.with_next_if(file.and_then(|file| self.existing_file(file)))
            }
            Code::PathOutsideRoot => {
                let roots = self.store.files.root_paths();
                if roots.is_empty() {
                    return error.hint("there are no roots, so only stored content can be reached");
                }
                let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
                let hint = format!("use a path inside of a root: {}", roots.join(", "));
                let name = split(path).1;
                let nearest = self.nearest_paths(name, &clock);
                let same_name = only(nearest).filter(|file| split(file).1 == name);
                error.hint(hint).with_next_if(same_name.map(|path| NextCall::Path { path }))
            }
            Code::InvalidInput if error.field.as_deref() == Some("path") => {
                error.with_next_if(path_of_url(path).and_then(|file| self.existing_file(file)))
            }
            _ => error,
        }
    }

    /// Returns the nearest folder of a relative path that has files, empty for the root. If the time is up, it is only
    /// known to exist.
    pub(super) fn nearest_folder(&self, path: &str, clock: &Clock<'_>) -> Option<String> {
        if path.starts_with('/') {
            return None;
        }
        let folder = split(path).0;
        let ends = folder.match_indices('/').map(|(end, _)| end).chain([folder.len()]);
        let folders: Vec<&str> =
            ends.filter_map(|end| folder.get(..end)).filter(|folder| !folder.is_empty()).collect();
        // Every attempt walks the whole path, and below a missing folder there is none: a binary search has few.
        let existing = folders.partition_point(|folder| self.folder(folder).is_some());
        let mut upwards = folders.into_iter().take(existing).rev();
        let nearest = upwards.find(|folder| !clock.may_continue() || self.has_files(folder, clock));
        Some(nearest.unwrap_or_default().to_owned())
    }

    fn has_files(&self, folder: &str, clock: &Clock<'_>) -> bool {
        self.folder(folder).is_some_and(|roots| {
            !self.store.files.find(&roots, Hidden::Excluded, self.bounds(1, clock)).files.is_empty()
        })
    }

    /// Returns the folder at a path, if there is one that may be searched.
    fn folder(&self, path: &str) -> Option<SearchRoots> {
        match self.store.files.search_target(Some(path)) {
            // A path that does not exist may be a glob.
            Ok(SearchTarget::Roots(roots)) => (!roots.is_narrowed()).then_some(roots),
            Ok(SearchTarget::File(_)) | Err(_) => None,
        }
    }

    /// Returns the path of an existing file as the next call's.
    fn existing_file(&self, path: &str) -> Option<NextCall> {
        let is_file = matches!(self.store.files.search_target(Some(path)), Ok(SearchTarget::File(_)));
        is_file.then(|| NextCall::Path { path: path.to_owned() })
    }

    /// Returns the existing files that are most like a path: those of the same name with the most similar folders, else
    /// those in the same folder with a similar name. There are several if they are equally like it.
    fn nearest_paths(&self, path: &str, clock: &Clock<'_>) -> Vec<String> {
        let Ok(roots) = self.store.files.with_prefix("") else { return Vec::new() };
        let found = self.store.files.find(&roots, Hidden::Excluded, self.bounds(MAX_FILES, clock));
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
        let siblings = siblings.filter(|sibling| is_alike(name, sibling) && !is_backup_of(name, sibling));
        let siblings = nearest_all(name, siblings);
        let in_folder =
            |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        siblings.into_iter().map(in_folder).collect()
    }
}

/// A literal quote of an edit.
struct Quote {
    /// The text, with LF line ends.
    text: String,
    /// The number of places in which the edit expects it; `None` for any.
    places: Option<usize>,
}

/// Returns the literal quotes of an edit; `None` if it has a part without one, or one whose quote must be in certain lines.
fn quotes(edit: &Edit) -> Option<Vec<Quote>> {
    match edit {
        Edit::Several(parts) => {
            let quotes: Option<Vec<_>> = parts.iter().map(|part| quotes(&part.edit)).collect();
            quotes.map(|quotes| quotes.into_iter().flatten().collect())
        }
        Edit::Search(search @ Search { needle: Needle::Literal(quote), lines: None, within: None, .. }) => {
            let places = match (search.expect_matches, search.occurrences) {
                (Some(expected), _) => Some(expected.get()),
                (None, Occurrences::EveryBlock) => None,
                (None, Occurrences::Matches | Occurrences::Block) => Some(1),
            };
            Some(vec![Quote { text: quote.replace("\r\n", "\n"), places }])
        }
        _ => None,
    }
}

/// Moves a proposed path from the next call of an error into its hint.
pub(super) fn path_in_hint(mut error: Error) -> Error {
    let Some(NextCall::Path { path }) = error.next.as_deref() else { return error };
    let unnamed = error.hint.as_deref().filter(|hint| !hint.contains(path.as_str()));
    if let Some(hint) = unnamed.map(|hint| format!("{hint}; did you mean `{path}`?")) {
        error.hint = Some(hint.into_boxed_str());
    }
    error.next = None;
    error
}

/// Returns true if a path ends in the name of a root's folder and then the path of a file in it, as in
/// `/elsewhere/project/src/a.py` for `src/a.py`. Nothing is looked up: the answer must not tell what exists outside.
fn is_below_folder_of(path: &str, file: &str, roots: &[PathBuf]) -> bool {
    let names = roots.iter().filter_map(|root| root.file_name());
    names.map(|name| Path::new(name).join(file)).any(|end| Path::new(path).ends_with(end))
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

/// Returns true for the names that editors give the backup and the swap file of a file.
fn is_backup_of(name: &str, other: &str) -> bool {
    let backup = other.strip_prefix(name);
    let swap = other.strip_prefix('.').and_then(|other| other.strip_prefix(name)?.strip_prefix(".sw"));
    matches!(backup, Some("~" | ".orig" | ".bak")) || swap.is_some_and(|last| last.chars().count() == 1)
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
    use crate::tests::Fixture;
    use lockgate_checks::Watch;
    use lockgate_edit::request::BlockFields;
    use lockgate_edit::{Occurrences, OnDuplicate};
    use std::process::Command;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn missing(path: &str) -> Error {
        Error::new(Code::FileNotFound, format!("there is no file: {path}")).field("path")
    }

    #[test]
    fn the_folders_of_a_deep_path_are_not_searched_one_by_one() {
        let fixture = Fixture::new(&[("a.txt", "")]);
        fixture.write("have/b.txt", "");
        std::fs::create_dir_all(fixture.root().join("have/empty/inner")).unwrap();
        for (path, folder) in [
            ("none/".repeat(400) + "x", ""),
            (format!("have/{}x", "none/".repeat(400)), "have"),
            ("have/empty/inner/none/x".to_owned(), "have"),
        ] {
            let checks = AtomicUsize::new(0);
            let waiting = || checks.fetch_add(1, Ordering::Relaxed) == usize::MAX;
            let error = fixture.services.with_nearest_path(&path, missing(&path), &waiting);
            let list = NextCall::List { folder: folder.to_owned() };
            assert_eq!(error.next.as_deref(), Some(&list), "{path:.40}");
            assert!(checks.into_inner() < 100, "{path:.40}");
        }
    }

    #[test]
    fn a_file_that_is_being_saved_is_not_taken_for_its_backup() {
        let fixture = Fixture::new(&[("notes.txt~", ""), ("notes.txt.orig", ""), (".notes.txt.swp", "")]);
        let nearest = || fixture.services.with_nearest_path("notes.txt", missing("notes.txt"), &());
        assert_eq!(nearest().next.as_deref(), Some(&NextCall::List { folder: String::new() }));
        fixture.write("notes.txt", "");
        let error = nearest();
        assert_eq!(error.hint.as_deref(), Some("the file exists now: send the request again"));
        assert_eq!(error.next, None);
        std::fs::remove_file(fixture.root().join("notes.txt")).unwrap();
        fixture.write("nots.txt", "");
        let control = NextCall::Path { path: "nots.txt".to_owned() };
        assert_eq!(nearest().next.as_deref(), Some(&control));
    }

    #[test]
    fn only_a_folder_is_listed() {
        let fixture = Fixture::new(&[("b.txt", "")]);
        fixture.write("sub/c.txt", "");
        assert!(Command::new("mkfifo").arg(fixture.root().join("fifo")).status().unwrap().success());
        let list = |folder: &str| NextCall::List { folder: folder.to_owned() };
        for (path, next) in [
            ("sub", Some(list("sub"))),
            ("sub/", Some(list("sub/"))),
            ("b.txt/", Some(NextCall::Path { path: "b.txt".to_owned() })),
            ("fifo", None),
            ("fifo/", None),
            ("none/", None),
            ("[b].txt/", None),
        ] {
            let error = Error::new(Code::NotAFile, format!("not a file: {path}"));
            let error = fixture.services.with_nearest_path(path, error, &());
            assert_eq!(error.next.as_deref(), next.as_ref(), "{path}");
        }
    }

    #[test]
    fn the_history_of_another_file_is_not_proposed() {
        let fixture = Fixture::new(&[]);
        fixture.write("x/only.txt", "");
        let target = Target::File("/elsewhere/only.txt".to_owned());
        let error = Error::new(Code::PathOutsideRoot, "/elsewhere/only.txt is outside every root");
        let error = fixture.services.with_nearest_path_in_hint(&target, error);
        assert_eq!(error.next, None);
        let hint = error.next_step();
        assert!(hint.ends_with("/root; did you mean `x/only.txt`?"), "{hint}");
    }

    #[tokio::test]
    async fn an_edit_of_a_file_outside_is_proposed_only_below_the_name_of_the_root() {
        let fixture = Fixture::new(&[("hosts", "one\n")]);
        fixture.write("x/only.txt", "one\n");
        let edit = |path: &str| {
            let fields = BlockFields {
                search: "one".to_owned(),
                replace: "two".to_owned(),
                occurrences: Occurrences::Block,
                tolerance: None,
                start_line: None,
                end_line: None,
                within: None,
                on_duplicate: OnDuplicate::Reject,
            };
            Request::new(Target::File(path.to_owned()), fields.into_edit().unwrap())
        };
        for (path, file, is_proposed) in [
            ("/etc/hosts", "hosts", false),
            ("/elsewhere/hosts", "hosts", false),
            ("../hosts", "hosts", false),
            ("/elsewhere/x/only.txt", "x/only.txt", false),
            ("/elsewhere/root/hosts", "hosts", true),
            ("/elsewhere/root/x/only.txt", "x/only.txt", true),
            ("/elsewhere/root/y/only.txt", "x/only.txt", false),
            ("/elsewhere/myroot/hosts", "hosts", false),
        ] {
            let error = fixture.services.edit(edit(path), Watch::idle()).await.unwrap_err();
            assert_eq!(error.code, Code::PathOutsideRoot, "{path}");
            let next = is_proposed.then(|| NextCall::Path { path: file.to_owned() });
            assert_eq!(error.next.as_deref(), next.as_ref(), "{path}");
            let is_named = error.next_step().ends_with(&format!("; did you mean `{file}`?"));
            assert_eq!(is_named, !is_proposed, "{path}: {}", error.next_step());
        }
    }

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
