//! Reads entities from a folder.

use super::APPS;
use super::names::{self, NamedKey};
use crate::disk::folder::Folder;
use crate::paths::file_location::{join, split};
use crate::row_location::non_empty;
use crate::system_error;
use lockgate_error::{Code, Error};
use lockgate_policy::is_id;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The maximum size of the list of apps in bytes.
const LONGEST_LIST: u64 = 64 << 20;

/// A folder from which entities are imported.
#[derive(Debug)]
pub struct ImportDir {
    top: Folder,
}

/// An entry of the folder.
#[derive(Debug)]
pub struct ImportItem {
    /// Its path in the folder, made printable.
    pub name: String,
    /// The key that its name stands for, or the reason why it cannot be an entity.
    pub key: Result<NamedKey, Error>,
}

impl ImportDir {
    /// Opens the folder.
    ///
    /// Errors: any error of the operating system.
    pub fn open(path: &Path) -> Result<ImportDir, Error> {
        let shown = path.display().to_string();
        Folder::open_at(path).map(|top| ImportDir { top }).map_err(|errno| {
            let error = match errno {
                Errno::NOENT => Error::new(Code::FileNotFound, format!("there is no folder {shown}")),
                Errno::NOTDIR => Error::new(Code::NotAFile, format!("{shown} is not a folder")),
                errno => return system_error::failed("opening the folder", &shown, errno),
            };
            error.hint("name the folder of an export")
        })
    }

    /// Returns all entries of the folder, sorted by name. Names with a leading dot are skipped.
    ///
    /// Errors: any error of the operating system.
    pub fn items(&self) -> Result<Vec<ImportItem>, Error> {
        let (mut items, mut space) = (Vec::new(), Vec::new());
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let shown = if folder.is_empty() { "." } else { &folder };
            let failed = |errno| system_error::failed("reading the folder", shown, errno);
            let opened = self.top.descend(&folder).map_err(failed)?;
            let mut found = Vec::new();
            let result = opened.entries(&mut space, |_, kind, name| {
                found.push((kind, name.to_owned()));
                Ok(())
            });
            result.map_err(failed)?;
            for (kind, name) in found {
                match FolderEntry::from_name(opened.kind(kind, &name), &folder, &name) {
                    FolderEntry::Folder(below) => folders.push(below),
                    FolderEntry::Item(item) => items.push(item),
                    FolderEntry::Nothing => {}
                }
            }
        }
        items.sort_by(|one: &ImportItem, other| one.name.cmp(&other.name));
        reject_repeated(&mut items);
        Ok(items)
    }

    /// Returns the content of a file in the folder, at most `limit` bytes.
    ///
    /// Errors: `TOO_LARGE`, `NOT_A_FILE`, and any error of the operating system.
    pub fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, Error> {
        let failed = |errno| system_error::failed("reading it", name, errno);
        let (folder, file) = split(name);
        let file = self.top.descend(folder).and_then(|folder| folder.open_to_read(file)).map_err(failed)?;
        let file = File::from(file);
        let fails = |error: std::io::Error| system_error::failed_io("reading it", name, &error);
        if !file.metadata().map_err(fails)?.is_file() {
            return Err(system_error::not_a_file(name, "not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(fails)?;
        if u64::try_from(bytes.len()).is_ok_and(|size| size > limit) {
            return Err(Error::new(Code::TooLarge, format!("{name} is too large: limit {limit} bytes")));
        }
        Ok(bytes)
    }

    /// Returns the apps and their organisations, if the folder lists them.
    ///
    /// Errors: `INVALID_INPUT` for a malformed line, and any error of the operating system.
    pub fn apps(&self) -> Result<Vec<(String, Option<String>)>, Error> {
        if let Err(Errno::NOENT) = self.top.stat(APPS) {
            return Ok(Vec::new());
        }
        let text = String::from_utf8(self.read(APPS, LONGEST_LIST)?);
        let wrong = |line: usize| {
            let message = format!("{APPS}:{line}: expected an app id, a tab and an optional organisation");
            Error::new(Code::InvalidInput, message)
        };
        let text = text.map_err(|_| wrong(1))?;
        let app = |(at, line): (usize, &str)| {
            let (id, organization) = line.split_once('\t').unwrap_or((line, ""));
            let organization = non_empty(organization.to_owned());
            let known = is_id(id) && organization.as_deref().is_none_or(is_id);
            if known { Ok((id.to_owned(), organization)) } else { Err(wrong(at + 1)) }
        };
        text.lines().enumerate().map(app).collect()
    }
}

/// Rejects each entry whose key an earlier one has. An export writes no such names, but other programs can.
fn reject_repeated(items: &mut [ImportItem]) {
    let mut names: HashMap<NamedKey, String> = HashMap::new();
    for item in items {
        let Ok(key) = &item.key else { continue };
        match names.entry(key.clone()) {
            Entry::Vacant(free) => {
                free.insert(item.name.clone());
            }
            Entry::Occupied(first) => {
                let message = format!("{} is the same entity as {}", item.name, first.get());
                let error = Error::new(Code::InvalidInput, message);
                item.key = Err(error.hint("keep one of the two files"));
            }
        }
    }
}

/// The handling of a folder's entry.
enum FolderEntry {
    Folder(String),
    Item(ImportItem),
    Nothing,
}

impl FolderEntry {
    fn from_name(file_type: FileType, folder: &str, name: &CStr) -> FolderEntry {
        let shown = name.to_string_lossy();
        let path = join(folder, &shown);
        // Repositories and editors leave such files.
        if name.to_bytes().starts_with(b".") || path == APPS {
            return FolderEntry::Nothing;
        }
        let rejected = |reason: &str| {
            let error = Error::new(Code::InvalidInput, format!("{path} {reason}"));
            FolderEntry::Item(ImportItem { name: path.clone(), key: Err(error) })
        };
        if name.to_str().is_err() {
            return rejected("has a name that is not UTF-8");
        }
        match file_type {
            FileType::Directory => FolderEntry::Folder(path),
            FileType::RegularFile => {
                let names: Vec<&str> = path.split('/').collect();
                match names::read(&names) {
                    Ok(key) => FolderEntry::Item(ImportItem { name: path, key: Ok(key) }),
                    Err(reason) => rejected(reason),
                }
            }
            FileType::Symlink => rejected("is a symlink; symlinks are not followed"),
            // None of rustix's other file types holds a text.
            _ => rejected("is not a regular file"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::Mode;
    use std::os::unix::ffi::OsStrExt;

    fn import_dir(files: &[(&str, &str)]) -> (tempfile::TempDir, ImportDir) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let import = ImportDir::open(dir.path()).unwrap();
        (dir, import)
    }

    #[test]
    fn files_are_found_in_the_order_of_their_names() {
        let (_dir, import) = import_dir(&[
            ("workflow/acme/b.py", "b"),
            ("workflow/acme/a/x.py", "x"),
            ("workflow/acme/a%", "a"),
            ("app_file/7/src/index.tsx", "i"),
            ("apps.tsv", "7\tacme\n8\n9\t\n"),
            (".git/config", "g"),
            ("workflow/.hidden/x", "h"),
        ]);
        let items = import.items().unwrap();
        let names: Vec<&str> = items.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(
            names,
            ["app_file/7/src/index.tsx", "workflow/acme/a%", "workflow/acme/a/x.py", "workflow/acme/b.py"]
        );
        let key = items[1].key.as_ref().unwrap();
        assert_eq!((key.scope.as_deref(), key.path.as_str()), (Some("acme"), "a"));
        assert_eq!(import.read("workflow/acme/a%", 1).unwrap(), b"a");
        let acme = || Some("acme".to_owned());
        assert_eq!(import.apps().unwrap(), [("7".into(), acme()), ("8".into(), None), ("9".into(), None)]);
    }

    #[test]
    fn of_two_files_with_one_key_only_the_first_is_an_entity() {
        let (_dir, import) = import_dir(&[
            ("module/_global/a", "x = 1"),
            ("module/_global/a%", "y = 1"),
            ("module/_global/%61%", "z = 1"),
            ("module/acme/a", "of an organisation"),
        ]);
        let items = import.items().unwrap();
        let rejected: Vec<String> =
            items.into_iter().filter_map(|item| Some(item.key.err()?.message)).collect();
        let same = |name: &str| format!("module/_global/{name} is the same entity as module/_global/%61%");
        assert_eq!(rejected, [same("a"), same("a%")]);
    }

    #[test]
    fn what_cannot_be_an_entity_is_named_and_not_read() {
        let (dir, import) =
            import_dir(&[("README.md", "r"), ("module/top", "t"), ("Module/_global/a", "m"), ("x", "0123")]);
        let at = |name: &str| dir.path().join(name);
        std::os::unix::fs::symlink("/etc/passwd", at("module/link")).unwrap();
        std::os::unix::fs::symlink("/etc", at("folder")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
        let items = import.items().unwrap();
        assert!(items.iter().all(|item| item.key.is_err()), "{items:?}");
        let names: Vec<&str> = items.iter().map(|item| item.name.as_str()).collect();
        let expected =
            ["Module/_global/a", "README.md", "folder", "module/link", "module/top", "pipe", "x", "\u{fffd}"];
        assert_eq!(names, expected);
        for (name, code) in [
            ("module/link", Code::IoFailed),
            ("folder/passwd", Code::NotAFile),
            ("pipe", Code::NotAFile),
            ("x", Code::TooLarge),
            ("../x", Code::PathOutsideRoot),
        ] {
            let error = import.read(name, 3).unwrap_err();
            assert_eq!(error.code, code, "{name}: {error:?}");
        }
        for apps in ["\tacme\n", "7\ta\tb\n", "\n", &format!("{}\n", "x".repeat(200))] {
            std::fs::write(at("apps.tsv"), apps).unwrap();
            assert_eq!(import.apps().unwrap_err().code, Code::InvalidInput, "{apps}");
        }
        for (name, code) in [("none", Code::FileNotFound), ("x", Code::NotAFile)] {
            let error = ImportDir::open(&at(name)).unwrap_err();
            assert_eq!((error.code, error.next_step()), (code, "name the folder of an export"), "{error:?}");
        }
    }
}
