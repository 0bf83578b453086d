//! Writes entities into a new folder.

use super::APPS;
use super::names::{self, EntityPath, FILE_SUFFIX};
use crate::disk::folder::Folder;
use crate::paths::git_layout;
use crate::system_error;
use lockgate_edit::request::Entity;
use lockgate_error::{Code, Error};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// A folder to which entities are exported.
#[derive(Debug)]
pub struct ExportDir {
    top: Folder,
    /// The open folders of the last entity, outermost first.
    last: Vec<(String, Folder)>,
}

impl ExportDir {
    /// Creates a folder with access for this user only, or uses an existing empty one.
    ///
    /// Errors: `FILE_EXISTS` if it is not empty, `NOT_A_FILE` if it is not a folder, and any error of
    /// the operating system.
    pub fn create(path: &Path) -> Result<ExportDir, Error> {
        let shown = path.display().to_string();
        let failed = |error: &std::io::Error| system_error::failed_io("making the folder", &shown, error);
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(&error)),
            Ok(()) | Err(_) => {}
        }
        let taken = |code, reason: &str| {
            Error::new(code, format!("{shown} {reason}")).hint("name a new folder or an empty one")
        };
        let top = Folder::open_at(path).map_err(|errno| match errno {
            Errno::NOTDIR => taken(Code::NotAFile, "is not a folder"),
            errno => system_error::failed("opening the folder", &shown, errno),
        })?;
        let found = top.entries(&mut Vec::new(), |_, _, _| Err(Errno::NOTEMPTY));
        match found {
            Ok(()) => Ok(ExportDir { top, last: Vec::new() }),
            Err(Errno::NOTEMPTY) => Err(taken(Code::FileExists, "is not empty")),
            Err(errno) => Err(system_error::failed("reading the folder", &shown, errno)),
        }
    }

    /// Writes an entity.
    ///
    /// Errors: `INVALID_INPUT` if it cannot be a file, `FILE_EXISTS` if the file system treats its name
    /// as that of another entity. Any other error concerns the folder as a whole.
    pub fn write(&mut self, entity: &Entity, bytes: &[u8]) -> Result<(), Error> {
        let EntityPath { folders, file } = names::from_entity(entity)?;
        let shown = format!("{}/{file}", folders.join("/"));
        let failed = |errno| system_error::failed("writing it", &shown, errno);
        let folder = self.enter(&folders, &shown)?;
        let new = match create(folder, &file) {
            // A folder has this name already.
            Err(Errno::EXIST) if folder.enter(&file).is_ok() => create(folder, &with_suffix(&file)),
            result => result,
        };
        let new = new.map_err(|errno| match errno {
            Errno::EXIST => name_taken(&shown),
            errno => failed(errno),
        })?;
        let result = File::from(new).write_all(bytes);
        result.map_err(|error| system_error::failed_io("writing it", &shown, &error))
    }

    /// Writes the list of apps and flushes everything to the disk.
    ///
    /// Errors: any error of the operating system.
    pub fn close(self, apps: &[(String, Option<String>)]) -> Result<(), Error> {
        let failed = |errno| system_error::failed("writing it", APPS, errno);
        let line = |(id, organization): &(String, Option<String>)| {
            format!("{id}\t{}\n", organization.as_deref().unwrap_or_default())
        };
        let text: String = apps.iter().map(line).collect();
        let new = create(&self.top, APPS).map_err(failed)?;
        let result = File::from(new).write_all(text.as_bytes());
        result.map_err(|error| system_error::failed_io("writing it", APPS, &error))?;
        rustix::fs::syncfs(&self.top).map_err(|errno| system_error::failed("syncfs", APPS, errno))
    }

    /// Opens the folder at these names, creating missing ones.
    fn enter(&mut self, names: &[String], shown: &str) -> Result<&Folder, Error> {
        let failed = |errno| system_error::failed("writing it", shown, errno);
        let same = self.last.iter().zip(names).take_while(|((last, _), name)| last == *name).count();
        self.last.truncate(same);
        for name in names.iter().skip(same) {
            let folder = self.last.last().map_or(&self.top, |(_, folder)| folder);
            let open_new = |()| folder.enter(name).map(|child| (child, true));
            let (child, is_new) = match folder.enter(name) {
                Err(Errno::NOENT) => folder.make(name).and_then(open_new),
                // A file has the name of this folder.
                Err(Errno::NOTDIR) => {
                    let moved = folder.rename_new(name, &with_suffix(name));
                    moved.and_then(|_| folder.make(name)).and_then(open_new)
                }
                result => result.map(|child| (child, false)),
            }
            .map_err(failed)?;
            // Another program may have created the other parts of a git folder.
            if git_layout::is_part(name) && git_layout::is_git_folder(folder).map_err(failed)? {
                if is_new {
                    // If this fails, the folder is not empty, so other programs use it.
                    let _ = folder.remove(name);
                }
                return Err(git_folder(shown));
            }
            self.last.push((name.clone(), child));
        }
        Ok(self.last.last().map_or(&self.top, |(_, folder)| folder))
    }
}

fn create(folder: &Folder, name: &str) -> Result<std::os::fd::OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    folder.open(name, flags, Mode::from_raw_mode(0o600))
}

fn with_suffix(name: &str) -> String {
    format!("{name}{FILE_SUFFIX}")
}

fn git_folder(shown: &str) -> Error {
    let message = format!(
        "{shown} is not written: git could treat a folder on its path as a git folder, whose settings run commands"
    );
    Error::new(Code::Protected, message).hint("export into a folder that no other program writes to")
}

fn name_taken(shown: &str) -> Error {
    Error::new(
        Code::FileExists,
        format!("{shown}: the file system treats its name as that of another entity"),
    )
    .hint("export to a case-sensitive file system")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::request::EntityKind;
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    fn entity(path: &str) -> Entity {
        let kind = EntityKind::from_name("module").unwrap();
        Entity { kind, path: path.to_owned(), app_id: None, organization_id: None }
    }

    fn files(below: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(below).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                files.extend(super::tests::files(&entry));
            } else {
                files.insert(entry.clone(), std::fs::read(&entry).unwrap());
            }
        }
        files
    }

    #[test]
    fn a_name_may_be_a_file_and_a_folder_in_any_order() {
        let dir = tempfile::tempdir().unwrap();
        for (number, order) in [["a", "a/b", "a/b/c"], ["a/b/c", "a/b", "a"]].iter().enumerate() {
            let folder = dir.path().join(number.to_string());
            let mut export = ExportDir::create(&folder).unwrap();
            order.iter().for_each(|path| export.write(&entity(path), path.as_bytes()).unwrap());
            export.close(&[("1".into(), Some("acme".into())), ("2".into(), None)]).unwrap();
            let at = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
            let below = |path: &str| at(&format!("module/_global/{path}"));
            assert_eq!(
                (below("a%"), below("a/b%"), below("a/b/c")),
                ("a".into(), "a/b".into(), "a/b/c".into())
            );
            assert_eq!(at("apps.tsv"), "1\tacme\n2\t\n");
            assert_eq!(files(&folder).len(), 4);
            for (path, mode) in [("", 0o700), ("module/_global/a%", 0o600), ("apps.tsv", 0o600)] {
                let found = folder.join(path).metadata().unwrap().permissions().mode();
                assert_eq!(found & 0o777, mode, "{path}");
            }
        }
    }

    #[test]
    fn nothing_is_written_over_or_outside() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("out");
        let mut export = ExportDir::create(&folder).unwrap();
        for path in ["../../../x", "/etc/x", "a/../../x", "a//b", "a\0b", "..", "."] {
            // Some of these keys can be files, under encoded names.
            export.write(&entity(path), b"x").ok();
        }
        export.write(&entity("once"), b"1").unwrap();
        assert_eq!(export.write(&entity("once"), b"2").unwrap_err().code, Code::FileExists);
        export.close(&[]).unwrap();
        let all = files(dir.path());
        assert!(all.keys().all(|path| path.starts_with(&folder)), "{all:?}");
        assert_eq!(all[&folder.join("module/_global/once")], b"1");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    /// Keys that spell a git folder with everything that makes `git status` run a command.
    const PARTS: [(&str, &str); 4] = [
        (
            "v/config",
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = \"touch {ran}; false\"\n",
        ),
        ("v/HEAD", "ref: refs/heads/main\n"),
        ("v/objects/x", "x\n"),
        ("v/refs/x", "x\n"),
    ];

    /// True if `git status` in the folder runs the command; `None` if git is not installed.
    fn runs(folder: &Path, marker: &Path) -> Option<bool> {
        let mut git = std::process::Command::new("git");
        for (name, value) in [("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")] {
            git.env(name, value);
        }
        let _code = git.args(["status"]).current_dir(folder).output().ok()?;
        Some(std::fs::remove_file(marker).is_ok())
    }

    #[test]
    fn entities_whose_keys_spell_a_git_folder_make_none() {
        let dir = tempfile::tempdir().unwrap();
        let marker = dir.path().join("ran");
        let text = |text: &str| text.replace("{ran}", &marker.display().to_string());
        // Control: with the same names unencoded, git runs the command.
        let plain = dir.path().join("plain");
        for (path, content) in PARTS {
            std::fs::create_dir_all(plain.join(path).parent().unwrap()).unwrap();
            std::fs::write(plain.join(path), text(content)).unwrap();
        }
        assert_ne!(runs(&plain.join("v"), &marker), Some(false));
        let folder = dir.path().join("out");
        let mut export = ExportDir::create(&folder).unwrap();
        PARTS
            .iter()
            .for_each(|(path, content)| export.write(&entity(path), text(content).as_bytes()).unwrap());
        export.close(&[]).unwrap();
        assert_eq!(files(&folder).len(), PARTS.len() + 1);
        assert_ne!(runs(&folder.join("module/_global/v"), &marker), Some(true));
    }

    #[test]
    fn a_git_folder_that_another_program_began_is_not_completed() {
        for (theirs, is_refused) in
            [(&["HEAD", "refs"][..], true), (&["HEAD"], false), (&["commondir", "HEAD"], true)]
        {
            let dir = tempfile::tempdir().unwrap();
            let folder = dir.path().join("out");
            let mut export = ExportDir::create(&folder).unwrap();
            export.write(&entity("v/a"), b"x").unwrap();
            for name in theirs {
                std::fs::write(folder.join("module/_global/v").join(name), "x").unwrap();
            }
            let result = export.write(&entity("v/objects/x"), b"x");
            assert_eq!(
                result.map_err(|error| error.code),
                if is_refused { Err(Code::Protected) } else { Ok(()) },
                "{theirs:?}"
            );
            assert_eq!(folder.join("module/_global/v/objects").exists(), !is_refused);
            // The others are still written.
            export.write(&entity("v/b"), b"x").unwrap();
        }
    }

    #[test]
    fn a_folder_with_something_in_it_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("x"), "x").unwrap();
        for (name, code) in [("", Code::FileExists), ("x", Code::NotAFile)] {
            let error = ExportDir::create(&dir.path().join(name)).unwrap_err();
            assert_eq!(
                (error.code, error.next_step()),
                (code, "name a new folder or an empty one"),
                "{error:?}"
            );
        }
        assert!(ExportDir::create(&dir.path().join("no/such")).is_err());
        std::fs::create_dir(dir.path().join("empty")).unwrap();
        assert!(ExportDir::create(&dir.path().join("empty")).is_ok());
    }

    #[test]
    fn a_link_that_somebody_puts_into_the_folder_leads_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, aside) = (dir.path().join("out"), dir.path().join("aside"));
        std::fs::create_dir(&aside).unwrap();
        let mut export = ExportDir::create(&folder).unwrap();
        std::os::unix::fs::symlink(&aside, folder.join("module")).unwrap();
        // It blocks the name just as a file would.
        export.write(&entity("a"), b"x").unwrap();
        assert_eq!(std::fs::read(folder.join("module/_global/a")).unwrap(), b"x");
        assert_eq!(std::fs::read_dir(&aside).unwrap().count(), 0);
    }
}
