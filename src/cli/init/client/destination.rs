//! Finds and opens the files of a configuration: below the project, or in a folder of the user.
//!
//! Invariant: files are read and written through a workspace, so through no link below its root, and atomically. The root
//! is the project or the folder of the user, which may itself be a link. A folder of the user is created only to write
//! into it.

use std::env;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::addition::{Addition, Scope};
use super::call::{Change, ClientCall, FileChange};
use super::kinds::{FilePath, UserFile};
use super::record::ChangeRecord;
use crate::cli::init::writing::WriteMode;
use lockgate_engine::{OwnFile, OwnWrite, Workspace};
use lockgate_error::{Code, Error};

/// The folder of a configuration, and the path of its file.
pub(super) struct Destination {
    /// Missing if the folder does not exist and need not be created.
    workspace: Option<Arc<Workspace>>,
    path: String,
    /// The path for messages: relative to the project, else absolute.
    pub(super) shown: String,
    /// The folder of the user; `None` for a project.
    user_folder: Option<UserFolder>,
}

/// A folder of the user's configuration.
struct UserFolder {
    path: PathBuf,
    /// The number of folders that were created, this one and those above it.
    made: usize,
}

/// A file of a configuration, as it was read.
pub(super) struct ConfigFile {
    /// The name below the destination; empty for the destination itself.
    pub(super) name: &'static str,
    path: String,
    pub(super) shown: String,
    own: Option<OwnFile>,
    records: Vec<(Addition, ChangeRecord)>,
}

/// A file of a configuration, and its change.
pub(super) struct PlannedConfig {
    pub(super) file: ConfigFile,
    pub(super) change: FileChange,
    /// The permission bits of a new file, if they differ from the default.
    pub(super) mode: Option<u32>,
}

impl PlannedConfig {
    fn own_write(&self) -> Option<OwnWrite<'_>> {
        let file = self.file.own.as_ref()?;
        Some(match &self.change {
            FileChange::Write(text) => OwnWrite { mode: self.mode, ..OwnWrite::new(file, text.as_bytes()) },
            FileChange::Delete { folders, .. } => {
                OwnWrite { file, text: None, mode: None, folders: *folders }
            }
        })
    }
}

impl Destination {
    /// Opens the folder of the call's configuration.
    ///
    /// Errors: `INVALID_INPUT` if the client has no such file; those of creating and opening the folder.
    pub(super) fn open(project: &Arc<Workspace>, call: &ClientCall<'_>) -> Result<Destination, Error> {
        match call.client.file(call.addition, call.scope) {
            FilePath::Project(names) => {
                let path = first_existing(names, |name| project.exists(name));
                Ok(Destination {
                    workspace: Some(Arc::clone(project)),
                    shown: path.clone(),
                    path,
                    user_folder: None,
                })
            }
            FilePath::User(file) => {
                let folder = file.folder()?;
                let path = first_existing(file.names, |name| folder.join(name).symlink_metadata().is_ok());
                let shown = folder.join(&path).display().to_string();
                let made = if call.writing == WriteMode::Write && call.change != Change::Remove {
                    create(&folder)?
                } else {
                    0
                };
                let opened = folder.is_dir().then(|| Workspace::open(std::slice::from_ref(&folder)));
                let workspace = opened.transpose()?;
                let user_folder = Some(UserFolder { path: folder, made });
                Ok(Destination { workspace, path, shown, user_folder })
            }
            FilePath::None(next) => Err(no_such_file(call, next)),
        }
    }

    /// Reads the file of that name; an empty name is the destination itself.
    pub(super) fn file(&self, name: &'static str) -> Result<ConfigFile, Error> {
        let below = |path: &str| if name.is_empty() { path.to_owned() } else { format!("{path}/{name}") };
        let (path, shown) = (below(&self.path), below(&self.shown));
        let own = self.workspace.as_ref().map(|workspace| workspace.own_file(&path)).transpose();
        let own = own.map_err(|error| link_error(&shown, error))?;
        let record = |addition: Addition| {
            let bytes = self.workspace.as_ref()?.setup_record(&record_name(&path, addition))?;
            Some((addition, serde_json::from_slice(&bytes).ok()?))
        };
        let records = Addition::ALL.into_iter().filter_map(record).collect();
        Ok(ConfigFile { name, path, shown, own, records })
    }

    /// Returns the number of folders above a file that do not exist.
    pub(super) fn missing_folders(&self, file: &ConfigFile) -> usize {
        let Some(workspace) = &self.workspace else { return 0 };
        let above = Path::new(&file.path).ancestors().skip(1).filter_map(Path::to_str);
        above.filter(|folder| !folder.is_empty() && !workspace.exists(folder)).count()
    }

    /// Returns the number of folders that were created from the folder of the user upwards.
    pub(super) fn made_user_folders(&self) -> usize {
        self.user_folder.as_ref().map_or(0, |folder| folder.made)
    }

    /// Returns the folders of a file from the inside to the outside: those below the project or the folder of the user, and
    /// from the folder of the user upwards.
    pub(super) fn folders(&self, file: &ConfigFile) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let top = match (&self.user_folder, &self.workspace) {
            (Some(folder), _) => folder.path.clone(),
            (None, Some(workspace)) => workspace.top(),
            (None, None) => return (Vec::new(), Vec::new()),
        };
        let inside = Path::new(&file.path).ancestors().skip(1).filter(|folder| *folder != Path::new(""));
        let above = self.user_folder.iter().flat_map(|folder| folder.path.ancestors());
        (inside.map(|folder| top.join(folder)).collect(), above.map(Path::to_owned).collect())
    }

    /// Removes this many folders from the folder of the user upwards, as long as they are empty.
    pub(super) fn remove_user_folders(&self, count: usize) {
        let folders = self.user_folder.iter().flat_map(|folder| folder.path.ancestors()).take(count);
        for folder in folders {
            // The system removes no folder with content, and no link.
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }

    /// Writes or deletes all files, or none.
    pub(super) fn write(&self, changes: &[PlannedConfig]) -> Result<(), Error> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let writes: Vec<OwnWrite<'_>> = changes.iter().filter_map(PlannedConfig::own_write).collect();
        workspace.write_own(&writes)
    }

    /// Sets the record of an addition to a file, or removes it.
    pub(super) fn set_record(
        &self,
        file: &ConfigFile,
        addition: Addition,
        record: Option<&ChangeRecord>,
    ) -> Result<(), Error> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let name = record_name(&file.path, addition);
        let to_json = |record: &ChangeRecord| {
            serde_json::to_vec(record).map_err(|error| Error::new(Code::Internal, error.to_string()))
        };
        let bytes = record.map(to_json).transpose()?;
        workspace.set_setup_record(&name, bytes.as_deref())
    }
}

impl ConfigFile {
    /// Returns the text; `None` if there is no such file.
    ///
    /// Errors: `NOT_TEXT` if it is not UTF-8.
    pub(super) fn text(&self) -> Result<Option<&str>, Error> {
        let Some(bytes) = self.own.as_ref().and_then(OwnFile::bytes) else { return Ok(None) };
        std::str::from_utf8(bytes).map(Some).map_err(|_| {
            Error::new(Code::NotText, format!("{} is not UTF-8", self.shown))
                .hint("have a person look at the file")
        })
    }

    /// Returns the record of an addition to this file.
    pub(super) fn record(&self, wanted: Addition) -> Option<&ChangeRecord> {
        self.records.iter().find(|(addition, _)| *addition == wanted).map(|(_, record)| record)
    }

    /// Returns the records of all additions to this file.
    pub(super) fn records(&self) -> impl Iterator<Item = &ChangeRecord> {
        self.records.iter().map(|(_, record)| record)
    }
}

impl UserFile {
    /// Returns the folder of the user's configuration.
    pub(super) fn folder(&self) -> Result<PathBuf, Error> {
        let set = self.variable.and_then(|(name, below)| {
            env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .map(|path| path.join(below))
        });
        let home = || env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(self.folder));
        set.or_else(home).ok_or_else(|| Error::new(Code::InvalidInput, "HOME names no folder"))
    }
}

fn no_such_file(call: &ClientCall<'_>, next: &str) -> Error {
    let scope = match call.scope {
        Scope::Project => "of a project",
        Scope::User => "of a user",
    };
    let what = match call.addition {
        Addition::Server => "servers",
        Addition::Hooks => "hooks",
        Addition::Exclusion => "excluded edit tools",
    };
    let name = call.client.kind().name;
    Error::new(Code::InvalidInput, format!("{name} has no file for the {what} {scope}")).hint(next)
}

/// Names the cause of a path that leads out of the folder of a configuration: its own names do not, so it is a link.
fn link_error(shown: &str, error: Error) -> Error {
    if error.code != Code::PathOutsideRoot {
        return error;
    }
    Error::new(error.code, format!("{shown} is a link, or behind one, which this command does not follow"))
        .hint("put a file in its place, or add the output of `--print` in an empty folder by hand")
}

fn record_name(path: &str, addition: Addition) -> String {
    format!("{path}:{}", addition.name())
}

/// Returns the first name that exists, else the last.
pub(super) fn first_existing(names: &[&str], exists: impl Fn(&str) -> bool) -> String {
    let found = names.iter().find(|name| exists(name)).or(names.last());
    found.copied().unwrap_or_default().to_owned()
}

/// Creates a folder of the user, for the user alone. Returns the number of folders that were created: it, and those above
/// it.
fn create(folder: &Path) -> Result<usize, Error> {
    let missing = folder.ancestors().take_while(|folder| folder.symlink_metadata().is_err()).count();
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
        Error::new(Code::IoFailed, format!("{} cannot be created: {error}", folder.display()))
    })?;
    Ok(missing)
}
