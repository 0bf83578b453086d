//! Exports stored content to a folder, and imports the files of a folder, each as an edit.
//!
//! Invariant: an import runs through the pipeline like any edit; a rejected file does not stop the others.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::read::LinesRequest;
use super::report::{Report, Status};
use super::services::{Services, cancelled};
use super::workspace::Workspace;
use lockgate_checks::{Verdict, Watch};
use lockgate_edit::Edit;
use lockgate_edit::request::{Author, Entity, Expect, Mode, Request, Target};
use lockgate_error::{Code, Error};
use lockgate_store::{Added, EntityDatabase, ExportDir, ImportDir, ImportItem, NamedKey};
use lockgate_text::Version;

/// The result of an export.
#[derive(Debug)]
pub struct Exported {
    /// The number of exported entities.
    pub entities: usize,
    /// The number of apps in the list.
    pub apps: usize,
    /// The entities that could not become files, each by its display name, with the error.
    pub failed: Vec<(String, Error)>,
}

/// The options of an import.
#[derive(Debug, Clone)]
pub struct Import {
    /// The folder to import, in the layout of an export.
    pub folder: PathBuf,
    /// The treatment of an existing entity with another text.
    pub on_conflict: OnConflict,
    /// The edit mode of each file.
    pub mode: Mode,
    /// The author of the edits.
    pub author: Author,
}

/// The treatment of existing content that differs from the folder's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Keep it, and reject the file.
    Keep,
    /// Replace it with the content of the folder.
    Replace,
}

/// The result for one file of the folder, or for one line of its list of apps.
#[derive(Debug)]
pub struct Imported {
    /// The name in the folder.
    pub name: String,
    /// The status, or the error.
    pub result: Result<ImportStatus, Error>,
}

/// The status of an imported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportStatus {
    /// The entity did not exist before.
    Created,
    /// The entity had another text.
    Replaced,
    /// The entity already had this text.
    Unchanged,
    /// The file would have been written; the caller asked only to verify.
    Verified,
}

/// Writes every row into a new or empty folder, with the list of apps and their owners.
///
/// Errors: `FILE_EXISTS` for a folder that is not empty, `STORE_UNAVAILABLE`, and errors that end the
/// export, such as `NO_SPACE`.
pub fn export(database: &EntityDatabase, folder: &Path) -> Result<Exported, Error> {
    let apps = database.apps()?;
    let mut export_dir = ExportDir::create(folder)?;
    let mut exported = Exported { entities: 0, apps: apps.len(), failed: Vec::new() };
    let mut ended = None;
    database.each_row(&mut |entity, bytes| {
        match export_dir.write(&entity, &bytes) {
            Ok(()) => exported.entities += 1,
            // This entity cannot be a file; others can.
            Err(why) if matches!(why.code, Code::InvalidInput | Code::FileExists) => {
                exported.failed.push((describe_entity(&entity), why));
            }
            Err(why) => {
                ended = Some(why);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    match ended {
        Some(why) => Err(why),
        None => export_dir.close(&apps).map(|()| exported),
    }
}

/// Registers the apps of a folder's list.
///
/// Errors: those of reading the list; an error in one app is part of its result.
pub fn import_apps(database: &EntityDatabase, folder: &Path) -> Result<Vec<Imported>, Error> {
    let add = |(id, organization): (String, Option<String>)| {
        let result = database.add_app(&id, organization.as_deref()).map(|added| match added {
            Added::New => ImportStatus::Created,
            Added::Existing => ImportStatus::Unchanged,
        });
        Imported { name: format!("app {id}"), result }
    };
    Ok(ImportDir::open(folder)?.apps()?.into_iter().map(add).collect())
}

impl Workspace {
    /// Imports the files of a folder, each as an edit of its own. The workspace must reach all stored
    /// content.
    ///
    /// Errors: those of reading the folder; an error in one file is part of its result.
    pub async fn import(&self, import: Import, watch: Watch) -> Result<Vec<Imported>, Error> {
        let folder = import.folder.clone();
        let opened = self.services.off_reactor(move |_| {
            let import_dir = ImportDir::open(&folder)?;
            let items = import_dir.items()?;
            Ok((Arc::new(import_dir), items))
        });
        let (import_dir, items) = opened.await?;
        let mut imported = Vec::with_capacity(items.len());
        for ImportItem { name, key } in items {
            if watch.cancelled() {
                imported.push(Imported { name, result: Err(cancelled(&watch)) });
                break;
            }
            let result = match key {
                Ok(key) => self.services.import_one(&import_dir, &name, key, &import, &watch).await,
                Err(why) => Err(why),
            };
            imported.push(Imported { name, result });
        }
        Ok(imported)
    }
}

impl Services {
    async fn import_one(
        self: &Arc<Self>,
        import_dir: &Arc<ImportDir>,
        name: &str,
        key: NamedKey,
        import: &Import,
        watch: &Watch,
    ) -> Result<ImportStatus, Error> {
        let (import_dir, file) = (Arc::clone(import_dir), name.to_owned());
        let read = self.off_reactor(move |workspace| {
            let limit = workspace.policy_at_top()?.limits.file;
            Ok((workspace.entity_of(key), import_dir.read(&file, limit)?))
        });
        let (entity, bytes) = read.await?;
        let version = Version::hash(&bytes);
        let mut request = Request {
            mode: import.mode,
            expect: Expect::Absent,
            author: import.author.clone(),
            ..Request::new(Target::Entity(entity), Edit::Restore(bytes))
        };
        match self.edit(request.clone(), watch.without_progress()).await {
            Ok(report) => return import_status(&report, ImportStatus::Created),
            Err(error) if error.code == Code::FileExists => {}
            Err(error) => return Err(error),
        }
        let whole = LinesRequest::from(request.target.clone());
        let existing = self.read(whole, watch.without_progress()).await?;
        match (existing.text.version() == version, import.on_conflict) {
            (true, _) => Ok(ImportStatus::Unchanged),
            (false, OnConflict::Keep) => Err(differs()),
            (false, OnConflict::Replace) => {
                request.expect = Expect::Version(existing.text.version().hex());
                import_status(&self.edit(request, watch.without_progress()).await?, ImportStatus::Replaced)
            }
        }
    }

    /// Returns the entity of a name in a folder. Its scope is an app if entities of its type belong to apps.
    fn entity_of(&self, NamedKey { kind, scope, path }: NamedKey) -> Entity {
        let of_app = scope.as_deref().is_some_and(|id| self.owner(&kind, Some(id), None).is_ok());
        let (app_id, organization_id) = if of_app { (scope, None) } else { (None, scope) };
        Entity { kind, path, app_id, organization_id }
    }
}

/// Converts the report of a file's edit to its status.
fn import_status(report: &Report, status: ImportStatus) -> Result<ImportStatus, Error> {
    match report.status {
        Status::Written => Ok(status),
        Status::Unchanged | Status::AlreadyApplied => Ok(ImportStatus::Unchanged),
        Status::Verified => Ok(ImportStatus::Verified),
        Status::Refused => Err(refused(&report.verdict)),
    }
}

/// Describes a rejection by gates in one line, with the first blocking finding.
fn refused(verdict: &Verdict) -> Error {
    let finding = verdict.findings.iter().find(|finding| finding.blocking);
    let run = verdict.runs.iter().find(|run| run.blocking);
    let message = match (finding, run) {
        (Some(finding), _) => format!("{}: line {}: {}", finding.gate, finding.line, finding.message),
        (None, Some(run)) => format!("{}: {}", run.gate, run.why.as_deref().unwrap_or("it could not run")),
        (None, None) => "a gate rejected it".to_owned(),
    };
    Error::new(Code::GateRefused, message)
}

fn differs() -> Error {
    Error::new(Code::FileExists, "the database has another text for it")
        .hint("compare the two, and use --replace to import the file's")
}

/// Describes an entity in one line: the path of its file in an export, without encoding.
fn describe_entity(Entity { kind, path, app_id, organization_id }: &Entity) -> String {
    let scope = app_id.as_deref().or(organization_id.as_deref()).unwrap_or("_global");
    format!("{}/{scope}/{path}", kind.name())
}
