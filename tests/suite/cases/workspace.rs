//! The folders in which a case happens, and what stands in them at one moment.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::entry::{CaseEntry, Kind};
use super::stored;

/// Files longer than this are compared by length, times and number only.
pub const READ_AT_MOST: u64 = 64 << 20;

/// A root, a folder beside it that no edit may reach, and the user's own folders.
pub struct CaseWorkspace {
    home: TempDir,
    root: PathBuf,
    outside: PathBuf,
}

/// All files of a workspace at one moment, by path.
pub type State = BTreeMap<String, Entry>;

/// One thing that stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Its permissions.
    pub mode: u32,
    /// The number of its inode, its seconds and nanoseconds of change; zeros for a folder, which changes with what
    /// stands in it.
    pub identity: (u64, i64, i64),
}

impl CaseWorkspace {
    /// Makes the folders.
    pub fn new() -> CaseWorkspace {
        let home = tempfile::tempdir().unwrap();
        let home_path = home.path().canonicalize().unwrap();
        let (root, outside) = (home_path.join("root"), home_path.join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        CaseWorkspace { home, root, outside }
    }

    /// The root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the user's own files: every call of a case is of the same user.
    pub fn user(&self) -> PathBuf {
        self.home.path().join("user")
    }

    /// Puts `{root}`, `{outside}` and `{version PATH}` in a text in their places.
    pub fn fill(&self, text: &str) -> String {
        let text = text
            .replace("{root}", &self.root.display().to_string())
            .replace("{outside}", &self.outside.display().to_string());
        let mut filled = String::new();
        let mut rest = text.as_str();
        while let Some((head, tail)) = rest.split_once("{version ") {
            let Some((path, tail)) = tail.split_once('}') else { break };
            filled.push_str(head);
            filled.push_str(&version(&self.text(path).unwrap_or_default()));
            rest = tail;
        }
        filled + rest
    }

    /// The bytes of a file or an entity of no unusual length; a pipe would never end.
    pub fn text(&self, name: &str) -> Option<Vec<u8>> {
        if stored::is_name(name) {
            let mut state = State::new();
            stored::read_entities(&self.user(), &mut state);
            return match state.remove(name)?.kind {
                Kind::File(bytes) => Some(bytes),
                _ => None,
            };
        }
        let path = self.root.join(name);
        let found = fs::metadata(&path).ok()?;
        if found.is_file() && found.len() <= READ_AT_MOST { fs::read(path).ok() } else { None }
    }

    /// The path of something that a block names.
    pub fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("{outside}/") {
            Some(name) => self.outside.join(name),
            None => self.root.join(name),
        }
    }

    /// Puts something there, in place of what stood there.
    pub fn put(&self, entry: &CaseEntry) -> std::io::Result<()> {
        if stored::is_name(&entry.path) {
            return Err(std::io::Error::other("an entity is put there by a call"));
        }
        let path = self.path(&entry.path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        match &entry.kind {
            Kind::File(bytes) => fs::write(&path, bytes)?,
            Kind::Sparse(size) => fs::File::create(&path)?.set_len(*size)?,
            Kind::Folder => fs::create_dir_all(&path)?,
            Kind::Link(target) => symlink(self.fill(target), &path)?,
            Kind::HardLink(target) => fs::hard_link(self.path(target), &path)?,
            Kind::Pipe => rustix::fs::mknodat(
                rustix::fs::CWD,
                &path,
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o644),
                0,
            )?,
            Kind::Absent => fs::remove_file(&path)?,
        }
        match entry.mode {
            Some(mode) => fs::set_permissions(&path, fs::Permissions::from_mode(mode)),
            None => Ok(()),
        }
    }

    /// Looks at everything that stands there.
    pub fn read_state(&self) -> std::io::Result<State> {
        let mut state = State::new();
        read_folder(&self.root, "", &mut state)?;
        read_folder(&self.outside, "{outside}/", &mut state)?;
        stored::read_entities(&self.user(), &mut state);
        Ok(state)
    }
}

/// The version that lockgate gives to these bytes.
pub fn version(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..12].to_owned()
}

fn read_folder(folder: &Path, prefix: &str, state: &mut State) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = format!("{prefix}{}", path.file_name().unwrap_or_default().to_string_lossy());
        let entry = read_entry(&path)?;
        if entry.kind == Kind::Folder {
            read_folder(&path, &format!("{name}/"), state)?;
        }
        state.insert(name, entry);
    }
    Ok(())
}

fn read_entry(path: &Path) -> std::io::Result<Entry> {
    let found = fs::symlink_metadata(path)?;
    let kind = if found.is_dir() {
        Kind::Folder
    } else if found.is_symlink() {
        Kind::Link(fs::read_link(path)?.display().to_string())
    } else if !found.is_file() {
        Kind::Pipe
    } else if found.len() > READ_AT_MOST {
        Kind::Sparse(found.len())
    } else {
        Kind::File(fs::read(path)?)
    };
    let identity =
        if kind == Kind::Folder { (0, 0, 0) } else { (found.ino(), found.mtime(), found.mtime_nsec()) };
    Ok(Entry { kind, mode: found.mode() & 0o7777, identity })
}
